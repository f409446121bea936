//! How much is hidden, and how much moves tell, in bits (Shannon 1948).
//!
//! Beliefs are followed through random games, in which all roles choose uniformly, as beliefs assume. What is hidden
//! from a role is the entropy of its belief over states. What a move tells is the entropy of the percepts that it may
//! bring: percepts are a function of state and joint move, so this is the expected information that they give about
//! both. Where a belief is sampled and not exact, its entropy is an estimate that errs to the low side.

use super::{ReportOptions, interval_json};
use crate::{BeliefOptions, Error, Game};
use game::{Fault, MoveId, PerceptId, RoleId, Seed, Simulator, State, StopFlag, Told};
use gdl::Information;
use lab::stats::{self, Interval};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What is hidden from a role, round by round.
#[derive(Clone, Debug)]
pub struct RoleHidden {
    /// The role.
    pub role: String,
    /// After 0, 1, 2, … rounds.
    pub rounds: Vec<HiddenRound>,
}

/// What is hidden from a role after so many rounds.
#[derive(Clone, Debug)]
pub struct HiddenRound {
    /// Rounds played.
    pub round: usize,
    /// Entropy of the belief over states, in bits; games are the observations.
    pub bits: Interval,
    /// States held possible.
    pub states: Interval,
    /// Share of beliefs that were exact.
    pub exact: f64,
}

/// What a kind of move tells the role that makes it.
#[derive(Clone, Debug)]
pub struct MoveInformation {
    /// The role.
    pub role: String,
    /// Name of the move without its arguments.
    pub name: String,
    /// Expected information of the percepts that follow the move, in bits; games are the observations, each the mean
    /// over its positions and moves of this name.
    pub bits: Interval,
    /// The most that a move of this name told in a position.
    pub most: f64,
    /// Positions and moves that were weighed.
    pub weighed: u64,
}

impl RoleHidden {
    pub(super) fn json(&self) -> Value {
        let round = |r: &HiddenRound| {
            json!({
                "round": r.round, "bits": interval_json(&r.bits), "states": interval_json(&r.states),
                "exact": r.exact,
            })
        };
        json!({"role": self.role, "rounds": self.rounds.iter().map(round).collect::<Vec<_>>()})
    }
}

impl MoveInformation {
    pub(super) fn json(&self) -> Value {
        json!({
            "role": self.role, "move": self.name, "bits": interval_json(&self.bits), "most": self.most,
            "weighed": self.weighed,
        })
    }
}

/// Joint moves that are tried to find what the moves of one position tell.
const POSITION_WORK: usize = 20_000;

/// Observations of one role.
#[derive(Default)]
struct Observed {
    /// Bits, states and exactness by rounds played.
    rounds: Vec<Vec<(f64, f64, bool)>>,
    /// By name of the move: what moves told in each game, and the most.
    tells: BTreeMap<String, NamedMoves>,
}

/// What moves of one name told.
#[derive(Default)]
struct NamedMoves {
    /// Mean of each game that is over.
    means: Vec<f64>,
    /// Sum and number in the current game.
    current: (f64, u64),
    most: f64,
    weighed: u64,
}

impl NamedMoves {
    fn add(&mut self, bits: f64) {
        self.current = (self.current.0 + bits, self.current.1 + 1);
        self.most = self.most.max(bits);
        self.weighed += 1;
    }

    fn end_game(&mut self) {
        let (sum, n) = std::mem::take(&mut self.current);
        if n > 0 {
            self.means.push(sum / n as f64);
        }
    }
}

/// Follows the beliefs of all players through random games.
pub(super) fn follow(
    game: &Game,
    options: &ReportOptions,
    progress: &dyn Fn(u64),
) -> Result<(Vec<RoleHidden>, Vec<MoveInformation>), Error> {
    if game.information() == Information::Open {
        return Ok((Vec::new(), Vec::new()));
    }
    let players = game.seating().played().to_vec();
    let mut observed: Vec<Observed> = players.iter().map(|_| Observed::default()).collect();
    let mut work = options.work;
    for number in 0..u64::from(options.beliefs) {
        if options.stop.is_raised() {
            break;
        }
        progress(number);
        let seed = Seed(options.seed).child("report beliefs").nth(number);
        let rounds = random_game(game, options, seed)?;
        for (&role, observed) in players.iter().zip(&mut observed) {
            let followed = follow_role(game, role, &rounds, options, seed, observed, &mut work);
            observed.tells.values_mut().for_each(NamedMoves::end_game);
            match followed {
                Err(error) if error.is_stop() => break,
                // A sampler may lose its way in a large game; the game then ends for this role.
                Err(Error::Belief(_)) => {}
                followed => followed?,
            }
        }
    }
    let mut hidden = Vec::new();
    let mut tells = Vec::new();
    for (&role, observed) in players.iter().zip(&observed) {
        let role = &game.roles()[role];
        hidden.push(RoleHidden {
            role: role.clone(),
            rounds: hidden_rounds(observed, options.level),
        });
        let told = observed.tells.iter().map(|(name, moves)| MoveInformation {
            role: role.clone(),
            name: name.clone(),
            bits: at_least_zero(stats::student(&moves.means, options.level)),
            most: moves.most,
            weighed: moves.weighed,
        });
        tells.extend(told);
    }
    Ok((hidden, tells))
}

fn hidden_rounds(observed: &Observed, level: f64) -> Vec<HiddenRound> {
    let round = |(round, seen): (usize, &Vec<(f64, f64, bool)>)| {
        let bits: Vec<f64> = seen.iter().map(|s| s.0).collect();
        let states: Vec<f64> = seen.iter().map(|s| s.1).collect();
        HiddenRound {
            round,
            bits: at_least_zero(stats::student(&bits, level)),
            states: at_least_zero(stats::student(&states, level)),
            exact: seen.iter().filter(|s| s.2).count() as f64 / seen.len().max(1) as f64,
        }
    };
    observed.rounds.iter().enumerate().map(round).collect()
}

fn at_least_zero(interval: Interval) -> Interval {
    Interval {
        low: interval.low.max(0.0),
        ..interval
    }
}

/// A round of a random game in words: the joint move, and what each role perceives.
type SaidRound = (Vec<String>, Vec<Vec<String>>);

fn random_game(game: &Game, options: &ReportOptions, seed: Seed) -> Result<Vec<SaidRound>, Error> {
    let mut sim = game.simulator();
    let mut rng = seed.rng();
    let mut state = sim.initial()?;
    let mut rounds = Vec::new();
    while rounds.len() < options.max_rounds && !sim.terminal(&state)? && !options.stop.is_raised() {
        let mut joint: Vec<MoveId> = Vec::new();
        let mut legal = Vec::new();
        for role in 0..sim.roles().len() {
            sim.legal(&state, RoleId(role as u16), &mut legal)?;
            if legal.is_empty() {
                return Ok(rounds);
            }
            joint.push(*rng.pick(&legal));
        }
        let (mut moves, mut percepts) = (Vec::new(), Vec::new());
        for (role, &mv) in joint.iter().enumerate() {
            let role = RoleId(role as u16);
            let mut seen = Vec::new();
            sim.percepts(&state, &joint, role, &mut seen)?;
            percepts.push(seen.iter().map(|&p| sim.percept_text(role, p).to_owned()).collect());
            moves.push(sim.move_text(role, mv).to_owned());
        }
        state = sim.next(&state, &joint)?;
        rounds.push((moves, percepts));
    }
    Ok(rounds)
}

fn follow_role(
    game: &Game,
    role: usize,
    rounds: &[SaidRound],
    options: &ReportOptions,
    seed: Seed,
    observed: &mut Observed,
    work: &mut u64,
) -> Result<(), Error> {
    let belief = BeliefOptions {
        options: belief::Options {
            models: options.models,
            ..belief::Options::default()
        },
        seed: seed.0,
        stop: options.stop.clone(),
        ..BeliefOptions::default()
    };
    let mut tracker = game.follow(&game.roles()[role], &belief)?;
    let told: Vec<Told> = rounds
        .iter()
        .map(|(moves, percepts)| Told::new(moves[role].clone(), percepts[role].clone()))
        .collect();
    for round in 0..=told.len() {
        tracker.update(&told[..round])?;
        let mut states = tracker.sampler.posterior();
        states.sort_by(|a, b| a.0.cmp(&b.0));
        if observed.rounds.len() <= round {
            observed.rounds.push(Vec::new());
        }
        let exact = tracker.sampler.belief().report.exact;
        let bits = entropy(states.iter().map(|(_, p)| *p));
        observed.rounds[round].push((bits, states.len() as f64, exact));
        if round < told.len() {
            let role = RoleId(role as u16);
            moves_tell(tracker.sim.as_mut(), role, &states, &options.stop, observed, work)?;
        }
    }
    Ok(())
}

/// Entropy of a distribution, in bits. Weights are divided by their sum.
fn entropy(weights: impl Iterator<Item = f64> + Clone) -> f64 {
    let sum: f64 = weights.clone().sum();
    let bits: f64 = weights
        .filter(|p| *p > 0.0)
        .map(|p| -(p / sum) * (p / sum).log2())
        .sum();
    bits.max(0.0)
}

/// What each legal move of a role tells in expectation. Moves that are not legal in all states that the role holds
/// possible are left out, and so are positions with too many joint moves. `work` is how many may be tried in all.
fn moves_tell(
    sim: &mut dyn Simulator,
    role: RoleId,
    states: &[(State, f64)],
    stop: &StopFlag,
    observed: &mut Observed,
    work: &mut u64,
) -> Result<(), Error> {
    let at = usize::from(role.0);
    let mut open: Vec<(&State, f64, Vec<Vec<MoveId>>)> = Vec::new();
    let mut joints = 0_usize;
    for (state, p) in states {
        if sim.terminal(state)? {
            continue;
        }
        let mut options = Vec::new();
        for other in 0..sim.roles().len() {
            let mut legal = Vec::new();
            sim.legal(state, RoleId(other as u16), &mut legal)?;
            options.push(legal);
        }
        joints = options
            .iter()
            .map(Vec::len)
            .fold(1, usize::saturating_mul)
            .saturating_add(joints);
        if joints > POSITION_WORK || joints as u64 > *work {
            return Ok(());
        }
        open.push((state, *p, options));
    }
    let Some((_, _, first)) = open.first() else {
        return Ok(());
    };
    let own = first[at].clone();
    if own.len() < 2 {
        return Ok(());
    }
    *work -= joints as u64;
    let mut seen = Vec::new();
    for mv in own {
        if !open.iter().all(|(_, _, options)| options[at].contains(&mv)) {
            continue;
        }
        let mut percepts: BTreeMap<Vec<PerceptId>, f64> = BTreeMap::new();
        for (state, p, options) in &open {
            let mut options = options.clone();
            options[at] = vec![mv];
            let n: usize = options.iter().map(Vec::len).product();
            let mut visit = |joint: &[MoveId]| -> Result<(), Error> {
                if stop.is_raised() {
                    return Err(Fault::Stopped.into());
                }
                sim.percepts(state, joint, role, &mut seen)?;
                *percepts.entry(seen.clone()).or_insert(0.0) += p / n as f64;
                Ok(())
            };
            each(&options, &mut visit)?;
        }
        let text = sim.move_text(role, mv);
        let name = text.trim_start_matches('(').split([' ', ')']).next().unwrap_or(text);
        let bits = entropy(percepts.values().copied());
        observed.tells.entry(name.to_owned()).or_default().add(bits);
    }
    Ok(())
}

/// Visits every joint move.
fn each(options: &[Vec<MoveId>], visit: &mut dyn FnMut(&[MoveId]) -> Result<(), Error>) -> Result<(), Error> {
    let all: usize = options.iter().map(Vec::len).product();
    let mut joint = Vec::with_capacity(options.len());
    for number in 0..all {
        joint.clear();
        let mut rest = number;
        for moves in options {
            joint.push(moves[rest % moves.len()]);
            rest /= moves.len();
        }
        visit(&joint)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::entropy;

    #[test]
    fn entropies_of_known_distributions() {
        let of = |weights: &[f64]| entropy(weights.iter().copied());
        assert!((of(&[0.5, 0.5]) - 1.0).abs() < 1e-12);
        assert!((of(&[3.0, 3.0, 3.0, 3.0]) - 2.0).abs() < 1e-12);
        assert!((of(&[2.0 / 3.0, 1.0 / 3.0]) - 0.918_295_834).abs() < 1e-8);
        assert_eq!((of(&[1.0]), of(&[1.0, 0.0])), (0.0, 0.0));
    }
}
