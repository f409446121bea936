//! Pictures of a game: from a belief, or of the whole state.

use crate::{BeliefOptions, BeliefTracker, Error, Game};
use draw::{FullState, Known, Layout, LayoutOptions, Picture};
use game::{RoleId, StopFlag, Told};

/// What of a belief is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Showing {
    /// Fluents that hold in every state held possible.
    #[default]
    Certain,
    /// Every fluent that may hold, with its probability.
    Belief,
}

/// A position that a line of play leads to.
#[derive(Clone, Debug)]
pub struct PlayedLine {
    /// The fluents that hold: for referees only.
    pub fluents: Vec<String>,
    /// What each role was told, in role order.
    pub told: Vec<Vec<Told>>,
}

impl Game {
    /// Plays a line from the start: each round has a legal move of every role, in role order.
    ///
    /// # Errors
    /// With the round, if it has another number of moves or one that is not legal.
    pub fn play_line(&self, rounds: &[Vec<String>]) -> Result<PlayedLine, Error> {
        let mut sim = self.simulator();
        let mut state = sim.initial()?;
        let mut told = vec![Vec::new(); self.roles().len()];
        let (mut legal, mut percepts) = (Vec::new(), Vec::new());
        for (number, moves) in rounds.iter().enumerate() {
            let wrong = |wrong: String| Error::View {
                round: number + 1,
                wrong,
            };
            if moves.len() != told.len() {
                let roles = self.roles().join(", ");
                return Err(wrong(format!(
                    "it has {} moves, one for each of {roles} is needed",
                    moves.len()
                )));
            }
            if sim.terminal(&state)? {
                return Err(wrong("the game is over by then".to_owned()));
            }
            let mut joint = Vec::with_capacity(moves.len());
            for (role, text) in moves.iter().enumerate() {
                let id = RoleId(role as u16);
                sim.legal(&state, id, &mut legal)?;
                let found = legal.iter().copied().find(|&mv| sim.move_text(id, mv) == text);
                joint.push(found.ok_or_else(|| wrong(format!("`{text}` is no legal move of {}", self.roles()[role])))?);
            }
            for (role, told) in told.iter_mut().enumerate() {
                let id = RoleId(role as u16);
                sim.percepts(&state, &joint, id, &mut percepts)?;
                let sees = percepts.iter().map(|&percept| sim.percept_text(id, percept).to_owned());
                told.push(Told::new(moves[role].clone(), sees));
            }
            state = sim.next(&state, &joint)?;
        }
        Ok(PlayedLine {
            fluents: sim.fluents(&state),
            told,
        })
    }

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
        let states = self.sampler.posterior();
        let role = self.role;
        Ok(belief::possible_moves(&mut self.world(), role, &states)?)
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
