//! Algorithms by name.

use crate::cfr::Cfr;
use crate::cfr_plus::CfrPlus;
use crate::discounted::Discounted;
use crate::external::External;
use crate::form::{Form, Policy};
use crate::outcome::Outcome;
use crate::sweep::Sweep;
use game::Seed;
use std::str::FromStr;

/// Something that approaches an equilibrium, an iteration at a time. An iteration updates each player once.
pub trait Solver {
    /// Some more iterations.
    fn iterate(&mut self, n: u64);

    /// Iterations so far.
    fn iterations(&self) -> u64;

    /// The average strategy so far: the one that approaches an equilibrium.
    fn average(&self) -> Policy;
}

/// Which algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Plain CFR.
    Cfr,
    /// CFR+.
    #[default]
    CfrPlus,
    /// Linear CFR.
    Linear,
    /// Discounted CFR.
    Discounted,
    /// Monte Carlo CFR with external sampling.
    External,
    /// Monte Carlo CFR with outcome sampling.
    Outcome,
}

impl Algorithm {
    /// Every algorithm, with its name.
    pub const ALL: [(Algorithm, &'static str); 6] = [
        (Algorithm::Cfr, "cfr"),
        (Algorithm::CfrPlus, "cfr+"),
        (Algorithm::Linear, "linear"),
        (Algorithm::Discounted, "discounted"),
        (Algorithm::External, "external"),
        (Algorithm::Outcome, "outcome"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        let named = Algorithm::ALL.iter().find(|(a, _)| *a == self);
        named.map_or("", |(_, name)| name)
    }

    /// Whether an iteration looks only at a sample of the game.
    pub fn samples(self) -> bool {
        matches!(self, Algorithm::External | Algorithm::Outcome)
    }

    /// A solver that has not begun. Only those that sample use the seed.
    pub fn solver<'a>(self, form: &'a Form<'a>, seed: Seed) -> Box<dyn Solver + 'a> {
        match self {
            Algorithm::Cfr => Box::new(Sweep::new(form, Cfr)),
            Algorithm::CfrPlus => Box::new(Sweep::new(form, CfrPlus::default())),
            Algorithm::Linear => Box::new(Sweep::new(form, Discounted::linear())),
            Algorithm::Discounted => Box::new(Sweep::new(form, Discounted::default())),
            Algorithm::External => Box::new(External::new(form.tree(), seed)),
            Algorithm::Outcome => Box::new(Outcome::new(form.tree(), seed)),
        }
    }
}

impl FromStr for Algorithm {
    type Err = String;

    fn from_str(text: &str) -> Result<Algorithm, String> {
        let named = Algorithm::ALL.iter().find(|(_, name)| *name == text);
        named.map(|(algorithm, _)| *algorithm).ok_or_else(|| {
            let names: Vec<&str> = Algorithm::ALL.iter().map(|(_, name)| *name).collect();
            format!("there is no algorithm `{text}`; choose one of {}", names.join(", "))
        })
    }
}
