//! Beliefs round by round, as the 2017 study measures them (Schofield and Thielscher, *The Efficiency of the HyperPlay
//! Technique over Random Sampling*).
//!
//! The match is played first. A bag of models then follows the view of the focused role, one update a round, with the
//! options of the paper: weights by choice factor, and models that are off line are not resumed. Round r is the
//! position after r joint moves.

use crate::error::MatchProblem;
use crate::unit::MOST;
use crate::{Measure, OpenGame};
use belief::{BeliefError, EnumerateError, Now, Options, SamplerKind, Weights, World, chi2, make};
use game::{Batch, Budget, Fault, RoleId, Round, Seed, Simulator, StopFlag, View};
use referee::Record;
use serde::{Deserialize, Serialize};

/// A belief after a round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundReport {
    /// Rounds played so far.
    pub round: usize,
    /// First joint moves that were tried for a model in this round. `fit` over `tried` is P(valid) of the round.
    pub tried: u64,
    /// Tried joint moves that gave the percepts of this round.
    pub fit: u64,
    /// Nodes touched by the update of the belief.
    pub touches: u64,
    /// Models that explain the view.
    pub live: usize,
    /// Number of models that the belief should have.
    pub models: usize,
    /// Mean logarithm of the choice factor, which bounds the number of histories from above.
    pub log_choice: f64,
    /// Histories in the information set, if it was enumerated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histories: Option<usize>,
    /// p of the χ² test of the bag against the uniform distribution, if the bag is large enough for the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// p of the χ² test of the weighted bag against the true posterior, if the bag is large enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_weighted: Option<f64>,
    /// Nodes that random games touched and models that they found, if random games were played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub naive: Option<(u64, usize)>,
}

impl RoundReport {
    /// Whether all counts are such that a report can add them up.
    pub(crate) fn is_countable(&self) -> bool {
        let (touched, found) = self.naive.unwrap_or_default();
        let counts = [self.tried, self.fit, self.touches, touched];
        let sizes = [self.live, self.models, self.histories.unwrap_or(0), found];
        counts.into_iter().chain(sizes.map(|n| n as u64)).all(|n| n <= MOST)
    }
}

/// Random games begun before random sampling gives up.
const NAIVE_ATTEMPTS: u64 = 20_000;

/// Follows a finished match.
///
/// # Errors
/// If the belief fails; [`Fault::Stopped`] if it was stopped.
pub fn beliefs(
    game: &dyn OpenGame,
    record: &Record,
    role: usize,
    measure: &Measure,
    seed: Seed,
    stop: &StopFlag,
) -> Result<Vec<RoundReport>, MatchProblem> {
    let Measure::Belief {
        sampler,
        models,
        nodes,
        naive,
    } = *measure
    else {
        return Ok(Vec::new());
    };
    let mut sim = game.simulator();
    let mut batch = game.batch(seed.child("lanes"));
    let me = RoleId(role as u16);
    let whole = view(sim.as_mut(), record, role)?;
    let mut bag = make(sampler, &faithful(models), me, seed.child("measure"))?;
    let mut reports = Vec::new();
    for round in 1..whole.rounds.len() {
        if stop.is_raised() {
            return Err(Fault::Stopped.into());
        }
        let now = View {
            rounds: whole.rounds[..round].to_vec(),
        };
        let budget = Budget::until(stop.clone());
        let mut world = world(sim.as_mut(), &mut batch);
        bag.update(&mut world, &now, Now::Playing, &budget)?;
        let belief = bag.belief();
        let tries = belief.report.first_tries.get(round - 1).copied().unwrap_or_default();
        let live = belief.models.len();
        let log_choice: f64 = belief.models.iter().map(|m| m.log_choice).sum();
        let mut report = RoundReport {
            round,
            tried: tries.tried,
            fit: tries.fit,
            touches: belief.report.update_touches,
            live,
            models,
            log_choice: log_choice / live.max(1) as f64,
            ..RoundReport::default()
        };
        if nodes > 0 {
            match belief::enumerate(sim.as_mut(), me, &now, Now::Playing, None, &Budget::iterations(nodes)) {
                Err(EnumerateError::TooLarge) => {}
                Err(error) => return Err(MatchProblem::Enumeration(error)),
                Ok(set) => {
                    report.histories = Some(set.histories.len());
                    let (uniform, weighted) = (
                        chi2::against_uniform(&set, &bag.belief().models),
                        chi2::against_posterior(&set, &bag.belief().models),
                    );
                    report.p = Some(uniform.p).filter(|_| uniform.reliable && live > 0);
                    report.p_weighted = Some(weighted.p).filter(|_| weighted.reliable && live > 0);
                }
            }
        }
        if naive > 0 {
            let seed = seed.child("naive").nth(round as u64);
            report.naive = Some(random_games(sim.as_mut(), &mut batch, me, &now, naive, seed, stop)?);
        }
        reports.push(report);
    }
    Ok(reports)
}

/// The options of the paper.
fn faithful(models: usize) -> Options {
    Options {
        models,
        weights: Weights::ChoiceFactor,
        resume: 0,
        ..Options::default()
    }
}

fn world<'a>(sim: &'a mut dyn Simulator, batch: &'a mut Option<Box<dyn Batch>>) -> World<'a> {
    match batch {
        Some(batch) => World::with_batch(sim, batch.as_mut()),
        None => World::new(sim),
    }
}

/// Nodes that random games touch until they have found so many models, and the number of models found.
fn random_games(
    sim: &mut dyn Simulator,
    batch: &mut Option<Box<dyn Batch>>,
    role: RoleId,
    view: &View,
    models: usize,
    seed: Seed,
    stop: &StopFlag,
) -> Result<(u64, usize), MatchProblem> {
    let options = Options {
        attempts: NAIVE_ATTEMPTS,
        ..faithful(models)
    };
    let mut sampler = make(SamplerKind::Naive, &options, role, seed)?;
    let before = successors(sim, batch);
    let updated = sampler.update(&mut world(sim, batch), view, Now::Playing, &Budget::until(stop.clone()));
    match updated {
        Ok(()) => {
            let report = &sampler.belief().report;
            // Models of a relaxed view do not count.
            let found = if report.relaxed.is_empty() { report.live } else { 0 };
            Ok((report.update_touches, found))
        }
        // Random sampling gave up. The nodes that it touched still count.
        Err(BeliefError::Impossible { .. } | BeliefError::OutOfBudget) => Ok((successors(sim, batch) - before, 0)),
        Err(error) => Err(error.into()),
    }
}

fn successors(sim: &dyn Simulator, batch: &Option<Box<dyn Batch>>) -> u64 {
    sim.meter().states + batch.as_ref().map_or(0, |b| b.meter().states)
}

/// The view of a role at the end of a match.
fn view(sim: &mut dyn Simulator, record: &Record, role: usize) -> Result<View, MatchProblem> {
    let id = RoleId(role as u16);
    let mut view = View::default();
    for round in &record.rounds {
        let text = &round.moves[role];
        let own = sim.find_move(id, text);
        let own = own.ok_or_else(|| MatchProblem::UnknownMove(text.clone()))?;
        let mut sees = Vec::new();
        for text in &round.percepts[role] {
            let percept = sim.find_percept(id, text);
            sees.push(percept.ok_or_else(|| MatchProblem::UnknownPercept(text.clone()))?);
        }
        sees.sort();
        view.rounds.push(Round { own, sees });
    }
    Ok(view)
}
