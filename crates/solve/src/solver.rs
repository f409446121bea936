//! The solvers and their names.

use crate::cfr::PlainCfr;
use crate::cfr_plus::CfrPlus;
use crate::discounted::Discounted;
use crate::external::ExternalSampling;
use crate::form::{Form, Policy};
use crate::outcome::OutcomeSampling;
use crate::sweep::Sweep;
use game::Seed;
use std::fmt;
use std::str::FromStr;

/// An iterative solver. One iteration updates each player once.
pub trait Solver {
    /// Runs more iterations.
    fn iterate(&mut self, n: u64);

    /// Iterations so far.
    fn iterations(&self) -> u64;

    /// The average strategy so far. The average, not the current strategy, approaches an equilibrium.
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

    /// Whether an iteration visits only a sample of the game.
    pub fn samples(self) -> bool {
        matches!(self, Algorithm::External | Algorithm::Outcome)
    }

    /// A new solver. Only the sampling algorithms use the seed, and the threads of the form.
    pub fn solver<'a>(self, form: &'a Form<'a>, seed: Seed) -> Box<dyn Solver + 'a> {
        match self {
            Algorithm::Cfr => Box::new(Sweep::new(form, PlainCfr)),
            Algorithm::CfrPlus => Box::new(Sweep::new(form, CfrPlus::default())),
            Algorithm::Linear => Box::new(Sweep::new(form, Discounted::linear())),
            Algorithm::Discounted => Box::new(Sweep::new(form, Discounted::default())),
            Algorithm::External => Box::new(ExternalSampling::new(form.tree(), seed, form.threads().n)),
            Algorithm::Outcome => Box::new(OutcomeSampling::new(form.tree(), seed, form.threads().n)),
        }
    }
}

/// A name that no [`Algorithm`] has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAlgorithm(pub String);

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Algorithm::ALL.iter().map(|(_, name)| *name).collect();
        write!(
            f,
            "there is no algorithm `{}`; choose one of {}",
            self.0,
            names.join(", ")
        )
    }
}

impl std::error::Error for UnknownAlgorithm {}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(text: &str) -> Result<Algorithm, UnknownAlgorithm> {
        let named = Algorithm::ALL.iter().find(|(_, name)| *name == text);
        let unknown = || UnknownAlgorithm(text.to_owned());
        named.map(|(algorithm, _)| *algorithm).ok_or_else(unknown)
    }
}
