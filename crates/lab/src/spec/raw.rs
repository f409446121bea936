//! The text of a spec as TOML has it, before anything is filled in.

use super::problem::{MOST_MODELS, SpecProblem};
use super::{Claim, Ladder, Measure, PaperValue, Plot};
use crate::error::{Error, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSpec {
    pub name: Spanned<String>,
    pub title: String,
    pub paper: Option<String>,
    #[serde(default)]
    pub about: String,
    pub bibtex: Option<String>,
    #[serde(default = "one")]
    pub seed: u64,
    pub level: Option<Spanned<f64>>,
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    pub sweep: Vec<Spanned<RawSweep>>,
    pub ladder: Option<Ladder>,
    #[serde(default)]
    pub plot: Vec<Spanned<Plot>>,
    #[serde(default)]
    pub claim: Vec<Spanned<Claim>>,
    #[serde(default)]
    pub reference: Vec<Spanned<PaperValue>>,
}

fn one() -> u64 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSweep {
    pub game: Spanned<String>,
    pub players: Vec<Spanned<String>>,
    #[serde(default)]
    pub swap: bool,
    pub focus: Option<Spanned<usize>>,
    pub games: Spanned<u64>,
    pub until: Option<Spanned<f64>>,
    /// Seconds for a move: a number, or a text that is filled in.
    pub seconds: Option<Spanned<toml::Value>>,
    /// Players of which every two meet, as the variables `first` and `second`.
    pub pairs: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    pub over: toml::Table,
    pub quick: Option<RawSize>,
    pub paper: Option<RawSize>,
    pub belief: Option<Spanned<RawBelief>>,
    pub needs: Option<Spanned<String>>,
    pub optional: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSize {
    pub games: Option<Spanned<u64>>,
    pub until: Option<Spanned<f64>>,
    pub pairs: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    pub over: toml::Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBelief {
    #[serde(default = "hyperplay")]
    pub sampler: String,
    pub models: usize,
    #[serde(default)]
    pub nodes: u64,
    #[serde(default)]
    pub naive: usize,
}

fn hyperplay() -> String {
    "hyperplay".to_owned()
}

impl RawBelief {
    /// What is measured.
    pub fn measure(&self) -> Result<Measure, SpecProblem> {
        let sampler = self.sampler.parse();
        let sampler = sampler.map_err(|_| SpecProblem::UnknownSampler(self.sampler.clone()))?;
        if self.models == 0 || self.models > MOST_MODELS {
            return Err(SpecProblem::Models(self.models));
        }
        Ok(Measure::Belief {
            sampler,
            models: self.models,
            nodes: self.nodes,
            naive: self.naive,
        })
    }
}

/// Reads the TOML of a spec.
pub(super) fn read(origin: &str, text: &str) -> Result<RawSpec> {
    toml::from_str(text).map_err(|error| Error::Spec {
        origin: origin.to_owned(),
        line: Some(error.span().map_or(1, |span| line_of(text, span.start))),
        problem: SpecProblem::Toml(error.message().to_owned()),
    })
}

/// The line of a place in the text, from 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|&b| b == b'\n').count()
}
