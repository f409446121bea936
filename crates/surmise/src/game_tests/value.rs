//! The value of a game, by the simplest exact way that applies.
//!
//! One player: dynamic programming over beliefs, which is exact because the only other role is nature. Two players in
//! an open game in which one moves at a time: backward induction over states. Two players otherwise: the game tree and
//! its linear program (crate `solve`). All of them count joint moves, and give up beyond what is allowed.

use super::enumerate::{Allowance, Unanswered, each_joint, options};
use crate::{Error, Game, SolveOptions};
use game::{Fault, PerceptId, RoleId, Simulator, State, StopFlag};
use gdl::Information;
use std::collections::BTreeMap;

/// Rounds after which the recursions below give up: they use the stack.
const DEEPEST: usize = 300;

/// What the value of a role is known to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ValueBounds {
    pub low: f64,
    pub high: f64,
}

impl ValueBounds {
    fn exact(value: f64) -> ValueBounds {
        ValueBounds {
            low: value,
            high: value,
        }
    }
}

/// Players of a game: the roles that are not nature.
pub(super) fn players(sim: &dyn Simulator) -> Vec<RoleId> {
    let all = (0..sim.roles().len()).map(|role| RoleId(role as u16));
    all.filter(|&role| sim.nature() != Some(role)).collect()
}

/// The best expected payoff of the only player, by dynamic programming over its beliefs.
pub(super) fn against_nature(
    sim: &mut dyn Simulator,
    role: RoleId,
    work: &mut Allowance<'_>,
) -> Result<ValueBounds, Unanswered> {
    let start = vec![(sim.initial()?, 1.0)];
    let mut planner = Planner {
        sim,
        role,
        known: BTreeMap::new(),
        work,
    };
    planner.best(start, 0).map(ValueBounds::exact)
}

/// Best play of one role against nature.
struct Planner<'a, 'w> {
    sim: &'a mut dyn Simulator,
    role: RoleId,
    /// Values of beliefs: different views often leave the same belief.
    known: BTreeMap<Vec<(State, u64)>, f64>,
    work: &'a mut Allowance<'w>,
}

impl Planner<'_, '_> {
    /// Expected payoff of the best play from a belief: states with their probabilities, not normalised.
    fn best(&mut self, belief: Vec<(State, f64)>, depth: usize) -> Result<f64, Unanswered> {
        if depth > DEEPEST {
            return Err(Unanswered::Work);
        }
        let mut ended = 0.0;
        let mut open: Vec<(State, f64)> = Vec::new();
        for (state, p) in belief {
            match self.sim.terminal(&state)? {
                true => ended += p * f64::from(self.sim.goal(&state, self.role)?.points()),
                false => open.push((state, p)),
            }
        }
        if open.is_empty() {
            return Ok(ended);
        }
        let mass: f64 = open.iter().map(|(_, p)| p).sum();
        open.iter_mut().for_each(|(_, p)| *p /= mass);
        // Beliefs that differ by rounding only are one belief.
        let key: Vec<(State, u64)> = open
            .iter()
            .map(|(state, p)| (state.clone(), (p * 1e9).round() as u64))
            .collect();
        let value = match self.known.get(&key) {
            Some(&value) => value,
            None => {
                let value = self.best_move(&open, depth)?;
                self.known.insert(key, value);
                value
            }
        };
        Ok(ended + mass * value)
    }

    fn best_move(&mut self, open: &[(State, f64)], depth: usize) -> Result<f64, Unanswered> {
        let at = usize::from(self.role.0);
        let mut choices = Vec::with_capacity(open.len());
        for (state, _) in open {
            choices.push(options(self.sim, state)?);
        }
        let own = choices[0][at].clone();
        if choices.iter().any(|options| options[at] != own) {
            let why = "the role cannot always know its legal moves";
            return Err(Unanswered::None(why.to_owned()));
        }
        if own.is_empty() {
            return Err(Fault::no_move(Some(&self.sim.roles()[at])).into());
        }
        let mut value = f64::MIN;
        for mv in own {
            let mut views: BTreeMap<Vec<PerceptId>, BTreeMap<State, f64>> = BTreeMap::new();
            for ((state, p), options) in open.iter().zip(&mut choices) {
                options[at] = vec![mv];
                let joints: f64 = options.iter().map(|moves| moves.len() as f64).product();
                let (sim, work, role) = (&mut *self.sim, &mut *self.work, self.role);
                each_joint(options, |joint| {
                    work.spend()?;
                    let mut sees = Vec::new();
                    sim.percepts(state, joint, role, &mut sees)?;
                    let next = sim.next(state, joint)?;
                    *views.entry(sees).or_default().entry(next).or_insert(0.0) += p / joints;
                    Ok(())
                })?;
            }
            let mut total = 0.0;
            for belief in views.into_values() {
                total += self.best(belief.into_iter().collect(), depth + 1)?;
            }
            value = value.max(total);
        }
        Ok(value)
    }
}

/// The value of an open game of two players with constant sum, by backward induction; for games in which at most one
/// player has a choice at a time.
pub(super) fn backward(
    sim: &mut dyn Simulator,
    role: RoleId,
    work: &mut Allowance<'_>,
) -> Result<ValueBounds, Unanswered> {
    let players = players(sim);
    let start = sim.initial()?;
    let mut induction = Induction {
        sim,
        players,
        known: BTreeMap::new(),
        sum: None,
        work,
    };
    let values = induction.values(&start, 0)?;
    let at = induction.players.iter().position(|&player| player == role);
    let at = at.ok_or_else(|| Unanswered::None("nature has no value".to_owned()))?;
    Ok(ValueBounds::exact(values[at]))
}

struct Induction<'a, 'w> {
    sim: &'a mut dyn Simulator,
    players: Vec<RoleId>,
    known: BTreeMap<State, Vec<f64>>,
    /// The sum of payoffs, once an end was seen.
    sum: Option<f64>,
    work: &'a mut Allowance<'w>,
}

impl Induction<'_, '_> {
    fn values(&mut self, state: &State, depth: usize) -> Result<Vec<f64>, Unanswered> {
        if let Some(known) = self.known.get(state) {
            return Ok(known.clone());
        }
        if depth > DEEPEST {
            return Err(Unanswered::Work);
        }
        let values = match self.sim.terminal(state)? {
            true => self.payoffs(state)?,
            false => self.choose(state, depth)?,
        };
        self.known.insert(state.clone(), values.clone());
        Ok(values)
    }

    fn payoffs(&mut self, state: &State) -> Result<Vec<f64>, Unanswered> {
        let mut payoffs = Vec::with_capacity(self.players.len());
        for &player in &self.players {
            payoffs.push(f64::from(self.sim.goal(state, player)?.points()));
        }
        let sum: f64 = payoffs.iter().sum();
        match *self.sum.get_or_insert(sum) == sum {
            true => Ok(payoffs),
            false => Err(not_unique()),
        }
    }

    fn choose(&mut self, state: &State, depth: usize) -> Result<Vec<f64>, Unanswered> {
        let options = options(self.sim, state)?;
        let mut deciders = self
            .players
            .iter()
            .enumerate()
            .filter(|(_, player)| options[usize::from(player.0)].len() > 1);
        let (decider, more) = (deciders.next().map(|(at, p)| (at, *p)), deciders.next().is_some());
        let chance = self
            .sim
            .nature()
            .map_or(1, |nature| options[usize::from(nature.0)].len());
        if more || (decider.is_some() && chance > 1) {
            let why = "several roles choose at the same time".to_owned();
            return Err(Unanswered::None(why));
        }
        let mut successors = Vec::new();
        each_joint(&options, |joint| {
            self.work.spend()?;
            successors.push(self.sim.next(state, joint)?);
            Ok(())
        })?;
        let mut results = Vec::with_capacity(successors.len());
        for next in &successors {
            results.push(self.values(next, depth + 1)?);
        }
        let best = match decider {
            Some((at, _)) => results.into_iter().max_by(|a, b| a[at].total_cmp(&b[at])),
            None => {
                let n = results.len() as f64;
                let mean = |at: usize| results.iter().map(|values| values[at]).sum::<f64>() / n;
                (n > 0.0).then(|| (0..self.players.len()).map(mean).collect())
            }
        };
        best.ok_or_else(|| Fault::no_move(None).into())
    }
}

fn not_unique() -> Unanswered {
    Unanswered::None("the payoffs have no constant sum, so that the value is not unique".to_owned())
}

/// The value of a game for a role, by the way that suits the game, on its own engine.
pub(super) fn of_game(game: &Game, role: RoleId, work: u64, stop: &StopFlag) -> Result<ValueBounds, Unanswered> {
    let mut sim = game.simulator();
    let players = players(sim.as_ref());
    match players.len() {
        _ if !players.contains(&role) => Err(Unanswered::None("nature has no value".to_owned())),
        1 => against_nature(sim.as_mut(), role, &mut Allowance::new(work, stop)),
        2 => {
            if game.information() == Information::Open {
                match backward(sim.as_mut(), role, &mut Allowance::new(work, stop)) {
                    Err(Unanswered::Work | Unanswered::None(_)) => {}
                    found => return found,
                }
            }
            equilibrium(game, role, work, stop)
        }
        n => Err(Unanswered::None(format!(
            "the value of a game of {n} players is not unique"
        ))),
    }
}

/// The value of a game of two players, from its tree.
pub(super) fn equilibrium(game: &Game, role: RoleId, work: u64, stop: &StopFlag) -> Result<ValueBounds, Unanswered> {
    let options = SolveOptions {
        histories: work,
        stop: stop.clone(),
        ..SolveOptions::default()
    };
    let failed = |error: Error| match error {
        error if error.is_stop() => Unanswered::Stopped,
        Error::Tree(solve::BuildError::TooLarge { .. }) => Unanswered::Work,
        Error::Fault(fault) => Unanswered::Fault(fault),
        error => Unanswered::None(error.to_string()),
    };
    let tree = game.tree(&options, &mut |_| {}).map_err(failed)?;
    let Some(sum) = tree.tree.constant_sum() else {
        return Err(not_unique());
    };
    let at = tree.tree.players.iter().position(|&player| player == role);
    let at = at.ok_or_else(|| Unanswered::None("nature has no value".to_owned()))?;
    let solution = tree.solve(&options, &mut |_| {}).map_err(failed)?;
    if stop.is_raised() {
        return Err(Unanswered::Stopped);
    }
    // A strategy guarantees what the opponent's best response leaves.
    let bounds = ValueBounds {
        low: f64::from(sum) - solution.best[1 - at],
        high: solution.best[at],
    };
    Ok(bounds)
}
