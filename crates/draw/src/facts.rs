//! What a picture is made from: what a role knows, or the whole state. Two types, so that neither can stand for the
//! other.

use std::collections::BTreeMap;

/// What one role knows of a state: fluents with their probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    role: String,
    fluents: BTreeMap<String, f64>,
}

impl Known {
    /// What a role believes: probabilities of fluents, from a belief. Probabilities outside 0..=1 are clamped, fluents
    /// of probability 0 are left out.
    pub fn believed(role: impl Into<String>, fluents: &BTreeMap<String, f64>) -> Known {
        let possible = fluents.iter().filter(|(_, p)| **p > 0.0);
        Known {
            role: role.into(),
            fluents: possible.map(|(fluent, p)| (fluent.clone(), certainty(*p))).collect(),
        }
    }

    /// What a role is certain of: the fluents of a belief that hold in every state held possible.
    pub fn certain(role: impl Into<String>, fluents: &BTreeMap<String, f64>) -> Known {
        let mut known = Known::believed(role, fluents);
        known.fluents.retain(|_, p| *p == 1.0);
        known
    }

    /// The role.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// Probabilities of the fluents.
    pub fn fluents(&self) -> &BTreeMap<String, f64> {
        &self.fluents
    }
}

/// Sums of probabilities are 1 up to rounding.
const ROUNDING: f64 = 1e-9;

fn certainty(p: f64) -> f64 {
    match p >= 1.0 - ROUNDING {
        true => 1.0,
        false => p,
    }
}

/// The true state: for referees and finished games. A picture of it is for nobody who still plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullState {
    fluents: Vec<String>,
    mover: Option<String>,
}

impl FullState {
    /// The fluents that hold, as canonical text.
    pub fn of_referee(fluents: impl IntoIterator<Item = String>) -> FullState {
        let mut fluents: Vec<String> = fluents.into_iter().collect();
        fluents.sort();
        fluents.dedup();
        FullState { fluents, mover: None }
    }

    /// The same state, with the role whose legal moves are drawn.
    pub fn with_mover(self, role: impl Into<String>) -> FullState {
        FullState {
            mover: Some(role.into()),
            ..self
        }
    }

    /// The fluents.
    pub fn fluents(&self) -> &[String] {
        &self.fluents
    }

    /// The role whose legal moves are drawn.
    pub fn mover(&self) -> Option<&str> {
        self.mover.as_deref()
    }
}
