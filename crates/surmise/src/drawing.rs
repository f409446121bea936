//! Pictures of a game: from a belief, or of the whole state.

use crate::{BeliefOptions, BeliefTracker, Error, Game};
use draw::{FullState, Known, Layout, LayoutOptions, Picture};
use game::{StopFlag, Told};
use std::collections::BTreeSet;

/// What of a belief is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Showing {
    /// Fluents that hold in every state held possible.
    #[default]
    Certain,
    /// Every fluent that may hold, with its probability.
    Belief,
}

impl Game {
    /// How the states of this game are drawn. Costs random games, once; the same rules give the same layout.
    ///
    /// # Errors
    /// If the work was stopped.
    pub fn layout(&self, stop: &StopFlag) -> Result<Layout, Error> {
        let options = LayoutOptions {
            stop: stop.clone(),
            ..LayoutOptions::default()
        };
        Ok(Layout::new(&self.engine().rules, self.simulator().as_mut(), &options)?)
    }

    /// What a seat may be shown, from what its role was told and nothing else, with the moves that may be legal.
    ///
    /// # Errors
    /// If what the role was told does not fit the rules, or the belief could not be kept.
    pub fn seat_picture(
        &self,
        layout: &Layout,
        role: &str,
        told: &[Told],
        showing: Showing,
        options: &BeliefOptions,
    ) -> Result<Picture, Error> {
        let mut tracker = self.follow(role, options)?;
        tracker.update(told)?;
        tracker.picture(layout, showing)
    }

    /// The whole state as a referee sees it, without moves.
    pub fn full_picture(&self, layout: &Layout, fluents: &[String]) -> Picture {
        layout.full_picture(&FullState::of_referee(fluents.iter().cloned()), &[])
    }

    /// The moves of a role that are legal in some state that it holds possible, in canonical order: a function of what
    /// the role was told and of the options, never of the true state. In a state that is over no move is legal.
    ///
    /// # Errors
    /// If what the role was told does not fit the rules, or the belief could not be kept.
    pub fn known_legal(&self, role: &str, told: &[Told], options: &BeliefOptions) -> Result<Vec<String>, Error> {
        let mut tracker = self.follow(role, options)?;
        tracker.update(told)?;
        tracker.legal()
    }
}

impl BeliefTracker<'_> {
    /// The moves of the role that are legal in some state held possible, in canonical order.
    ///
    /// # Errors
    /// If the rules cannot be evaluated in one of the states.
    pub fn legal(&mut self) -> Result<Vec<String>, Error> {
        let mut texts = BTreeSet::new();
        let mut moves = Vec::new();
        for (state, _) in self.sampler.posterior() {
            if self.sim.terminal(&state)? {
                continue;
            }
            self.sim.legal(&state, self.role, &mut moves)?;
            texts.extend(moves.iter().map(|&mv| self.sim.move_text(self.role, mv).to_owned()));
        }
        Ok(texts.into_iter().collect())
    }

    /// What the role knows now, for a picture.
    pub fn known(&self, showing: Showing) -> Known {
        let role = &self.game.roles()[usize::from(self.role.0)];
        let fluents = self.report().fluents;
        match showing {
            Showing::Certain => Known::certain(role, &fluents),
            Showing::Belief => Known::believed(role, &fluents),
        }
    }

    /// The picture of what the role knows now, with the moves that may be legal.
    ///
    /// # Errors
    /// If the rules cannot be evaluated in one of the states held possible.
    pub fn picture(&mut self, layout: &Layout, showing: Showing) -> Result<Picture, Error> {
        let legal = self.legal()?;
        Ok(layout.seat_picture(&self.known(showing), &legal))
    }
}
