//! Beliefs round by round: what the 2017 study measures (Schofield and Thielscher, *The Efficiency of the HyperPlay Technique over Random
//! Sampling*).
//!
//! The match is played first; then a bag of models follows the focused role's view, one update a round, as faithful to the paper as the sampler is:
//! weights by choice factor, no remedy, models that go off line stay off. Round r is the position after r joint moves.

use crate::error::MatchProblem;
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
    /// First tries of a joint move against this round's percepts, and how many fitted: P(valid) of the round.
    pub tried: u64,
    /// See `tried`.
    pub fit: u64,
    /// Nodes touched by the update.
    pub touches: u64,
    /// Models that explain the view.
    pub live: usize,
    /// Models asked for.
    pub models: usize,
    /// Mean log of the choice factor: an upper bound on the number of histories.
    pub log_choice: f64,
    /// Histories in the information set, if it was listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histories: Option<usize>,
    /// χ² of the bag against uniform, if the bag is large enough for the test (decision 11).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// χ² of the weighted bag against the true posterior, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_weighted: Option<f64>,
    /// Nodes that random games touched, and models they found, where that was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub naive: Option<(u64, usize)>,
}

/// Games begun by random sampling before it gives up.
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

/// The bag of the papers.
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

/// Nodes that random games touch until they have found so many models, and how many they did find.
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
            // Constraints that were relaxed because nothing was found are not what was asked for.
            let found = if report.relaxed.is_empty() { report.live } else { 0 };
            Ok((report.update_touches, found))
        }
        // It gave up; what it had tried until then still counts.
        Err(BeliefError::Impossible { .. } | BeliefError::OutOfBudget) => Ok((successors(sim, batch) - before, 0)),
        Err(error) => Err(error.into()),
    }
}

fn successors(sim: &dyn Simulator, batch: &Option<Box<dyn Batch>>) -> u64 {
    sim.meter().states + batch.as_ref().map_or(0, |b| b.meter().states)
}

/// What a role knew at the end of a match.
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
