//! The choice of a sampler and its settings.

use crate::cached::Cached;
use crate::driver::Driven;
use crate::hyperplay::Hyperplay;
use crate::naive::Naive;
use crate::trellis::Trellis;
use crate::{BeliefError, Sampler};
use game::{RoleId, Seed, UnknownWord, by_word};
use std::fmt;
use std::str::FromStr;

/// The samplers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SamplerKind {
    /// Random games until one matches the view.
    Naive,
    /// The papers' bag of models.
    Hyperplay,
    /// Random games that avoid what is known to be dead.
    Cached,
    /// Filtering over distinct states.
    #[default]
    Trellis,
}

impl SamplerKind {
    /// All of them.
    pub const ALL: [SamplerKind; 4] = [
        SamplerKind::Naive,
        SamplerKind::Hyperplay,
        SamplerKind::Cached,
        SamplerKind::Trellis,
    ];

    fn name(self) -> &'static str {
        match self {
            SamplerKind::Naive => "naive",
            SamplerKind::Hyperplay => "hyperplay",
            SamplerKind::Cached => "cached",
            SamplerKind::Trellis => "trellis",
        }
    }
}

impl fmt::Display for SamplerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SamplerKind {
    type Err = UnknownWord;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let choices = SamplerKind::ALL.map(|kind| (kind.name(), kind));
        by_word("sampler", name, &choices)
    }
}

/// Models that a belief may have.
pub const MAX_MODELS: usize = 10_000_000;

/// How models of `hyperplay` are weighted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Weights {
    /// 1 / (choice factor × probability with which the search produces the model). Unbiased.
    #[default]
    Proposal,
    /// 1 / choice factor, as in the paper. Unbiased only if the bag is uniform over histories.
    ChoiceFactor,
    /// All alike.
    Equal,
}

impl FromStr for Weights {
    type Err = UnknownWord;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        by_word(
            "weights",
            name,
            &[
                ("proposal", Weights::Proposal),
                ("choice-factor", Weights::ChoiceFactor),
                ("equal", Weights::Equal),
            ],
        )
    }
}

/// What `hyperplay` does about histories that several models share. The choice factor assumes that they are rare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Remedy {
    /// Nothing.
    #[default]
    None,
    /// Divides the choice-factor weight by the number of copies.
    Weight,
    /// Overwrites surplus copies by the least frequent histories.
    Balance,
}

impl FromStr for Remedy {
    type Err = UnknownWord;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        by_word(
            "remedy",
            name,
            &[
                ("none", Remedy::None),
                ("weight", Remedy::Weight),
                ("balance", Remedy::Balance),
            ],
        )
    }
}

/// Settings of a sampler. Fields that begin with a sampler's name are read by that sampler only.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Models to keep or to draw.
    pub models: usize,
    /// `hyperplay`: how models are weighted.
    pub weights: Weights,
    /// `hyperplay`: what is done about copies.
    pub remedy: Remedy,
    /// `hyperplay`: node touches of one model in one update after which it goes off line.
    pub offline_after: u64,
    /// `hyperplay`: node touches of one update that may go into bringing models back on line; 0 leaves them off.
    pub resume: u64,
    /// `hyperplay`: whether dead ends that one model found are shared with all models.
    pub share_dead: bool,
    /// `trellis`: states per layer beyond which layers are resampled.
    pub layer_limit: usize,
    /// `naive` and `cached`: games begun in one update after which missing models are given up.
    pub attempts: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            models: 100,
            weights: Weights::default(),
            remedy: Remedy::default(),
            offline_after: 100_000,
            resume: 100_000,
            share_dead: false,
            layer_limit: 20_000,
            attempts: 100_000,
        }
    }
}

/// Makes a sampler for a role. Same kind, options, role, seed and views: same beliefs, to the bit, on any engine of the
/// same game that numbers its moves alike.
///
/// # Errors
/// If no models are asked for, or a limit is zero.
pub fn make(kind: SamplerKind, options: &Options, role: RoleId, seed: Seed) -> Result<Box<dyn Sampler>, BeliefError> {
    if options.models == 0 {
        return Err(BeliefError::NoModels);
    }
    if options.models > MAX_MODELS {
        return Err(BeliefError::TooManyModels(options.models));
    }
    let limits = [
        (options.offline_after, "offline_after"),
        (options.layer_limit as u64, "layer_limit"),
        (options.attempts, "attempts"),
    ];
    if let Some((_, what)) = limits.into_iter().find(|(limit, _)| *limit == 0) {
        return Err(BeliefError::ZeroLimit(what));
    }
    let seed = seed.child("belief");
    Ok(match kind {
        SamplerKind::Naive => Box::new(Driven::new(Naive::new(options, seed), role, options)),
        SamplerKind::Hyperplay => Box::new(Driven::new(Hyperplay::new(options, seed), role, options)),
        SamplerKind::Cached => Box::new(Driven::new(Cached::new(options, seed), role, options)),
        SamplerKind::Trellis => Box::new(Driven::new(Trellis::new(options, seed), role, options)),
    })
}
