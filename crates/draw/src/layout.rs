//! How the states of a game are drawn: found once from the rules, used for every picture.

use crate::picture::{Fact, List, Part, Picture, PlacedMove};
use crate::{FullState, Known};
use game::{Fault, Simulator, StopFlag};
use gdl::Rules;
use std::collections::BTreeMap;

/// Bounds of the work of [`Layout::new`]. The defaults give the same layout on every machine.
#[derive(Clone, Debug)]
pub struct LayoutOptions {
    /// Random games to look at.
    pub games: usize,
    /// States to look at in all games together.
    pub states: usize,
    /// Ends the work.
    pub stop: StopFlag,
}

impl Default for LayoutOptions {
    fn default() -> Self {
        LayoutOptions {
            games: 40,
            states: 1_500,
            stop: StopFlag::default(),
        }
    }
}

/// How the states of one game are drawn.
#[derive(Clone, Debug)]
pub struct Layout {
    roles: Vec<String>,
}

impl Layout {
    /// Finds boards, hands and counters in rules, by the rules themselves and by random games from a fixed seed. Any
    /// simulator of the rules gives the same layout.
    ///
    /// # Errors
    /// [`Fault::Stopped`] if the flag was raised; there is no other error. A fault of the rules ends a random game.
    pub fn new(_rules: &Rules, sim: &mut dyn Simulator, options: &LayoutOptions) -> Result<Layout, Fault> {
        if options.stop.is_raised() {
            return Err(Fault::Stopped);
        }
        Ok(Layout {
            roles: sim.roles().to_vec(),
        })
    }

    /// The roles of the game.
    pub fn roles(&self) -> &[String] {
        &self.roles
    }

    /// What a seat is shown: drawn from what its role knows, with the moves it may make.
    pub fn seat_picture(&self, known: &Known, legal: &[String]) -> Picture {
        self.picture(known.fluents(), Some(known.role()), legal)
    }

    /// What a referee is shown, or anybody when the game is over.
    pub fn full_picture(&self, state: &FullState, legal: &[String]) -> Picture {
        let fluents = state.fluents().iter().map(|f| (f.clone(), 1.0)).collect();
        self.picture(&fluents, state.mover(), legal)
    }

    fn picture(&self, fluents: &BTreeMap<String, f64>, _mover: Option<&str>, legal: &[String]) -> Picture {
        let mut lists: BTreeMap<String, Vec<Fact>> = BTreeMap::new();
        for (fluent, &p) in fluents {
            let name = fluent
                .trim_start_matches('(')
                .split([' ', ')'])
                .next()
                .unwrap_or_default();
            let text = fluent.clone();
            lists.entry(name.to_owned()).or_default().push(Fact { text, p });
        }
        let list = |(name, facts)| Part::List(List { name, facts });
        let button = |text: &String| PlacedMove {
            text: text.clone(),
            label: text.trim_matches(['(', ')']).to_owned(),
            part: None,
            from: None,
            to: None,
        };
        Picture {
            parts: lists.into_iter().map(list).collect(),
            moves: legal.iter().map(button).collect(),
        }
    }
}
