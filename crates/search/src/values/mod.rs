//! Linear values of states, learned from games before play.
//!
//! The value of a state for a role is a logistic function of a sum: a weight for each fluent that holds. The first games
//! are random. In later ones, moves are the best of a few random moves by the values found so far, so that more of the
//! games are decided and a mistake is punished more often than by chance. Weights are fitted to how decided games ended,
//! from positions on the way; games in which all roles earn the same say nothing. Fluents that share constants share
//! weights (`features`).
//!
//! Values from games of the player itself: Samuel, *Some Studies in Machine Learning Using the Game of Checkers* (1959);
//! from rules alone: Finnsson and Björnsson, *Learning Simulation Control in General Game-Playing Agents* (AAAI 2010),
//! and Waledzik and Mandziuk, *An Automatically Generated Evaluation Function in General Game Playing* (2014). We differ
//! in that weights are fitted by logistic regression, and are not used unless they predict games that they were not
//! fitted to better than a constant does.

mod features;
mod fit;

use crate::Tools;
use crate::wide::Outlooks;
use features::Features;
use fit::{Examples, logistic};
use game::{Fault, MoveId, Rng, RoleId, Seed, State, StopFlag};
use smallvec::SmallVec;

/// A value for each role.
pub(crate) type Values = SmallVec<[f64; 4]>;

/// Values of states by the fluents that hold.
pub(crate) struct LinearValues {
    /// Weights of the fluents, role after role.
    weights: Vec<Vec<f32>>,
    constants: Vec<f64>,
}

impl LinearValues {
    /// Expected points of each role.
    pub fn of(&self, state: &State) -> Values {
        let role = |(weights, constant): (&Vec<f32>, &f64)| {
            let mut sum = 0.0;
            for (at, &word) in state.0.iter().enumerate() {
                let mut rest = word;
                while rest != 0 {
                    sum += weights.get(at * 64 + rest.trailing_zeros() as usize).unwrap_or(&0.0);
                    rest &= rest - 1;
                }
            }
            100.0 * logistic(f64::from(sum) + constant)
        };
        self.weights.iter().zip(&self.constants).map(role).collect()
    }
}

/// How values are learned.
#[derive(Clone, Copy)]
struct Plan {
    /// Rounds of games, each with the values of the rounds before.
    rounds: u32,
    /// States computed in each round, about.
    states: u64,
    /// Decided games of a round, at most.
    games: usize,
    /// Moves of which the best is made.
    choices: usize,
}

const PLAN: Plan = Plan {
    rounds: 4,
    states: 200_000,
    games: 1_000,
    choices: 8,
};

/// Games that are played at once.
const TOGETHER: usize = 64;
/// Positions of each game that are looked at.
const POSITIONS: usize = 12;
/// Rounds of a game, at most.
const LONGEST: usize = 1_000;
/// Every so many games are held out.
const HELD_OUT: usize = 4;
/// Strengths of the ridge that are tried, in games.
const RIDGES: [f64; 3] = [30.0, 3.0, 0.3];

/// A decided game: some of its states, and the points of each role.
struct Decided {
    states: Vec<State>,
    points: Vec<u8>,
}

/// Learns values, step by step.
pub(crate) struct Learner {
    plan: Plan,
    features: Option<Features>,
    rng: Rng,
    round: u32,
    states: u64,
    /// Games in progress.
    open: Vec<Vec<State>>,
    games: Vec<Decided>,
    /// The games of the round before.
    older: Vec<Decided>,
    models: Vec<Vec<f64>>,
    values: Option<LinearValues>,
    outlooks: Outlooks,
}

impl Learner {
    pub fn new(tools: &Tools, seed: Seed) -> Learner {
        let mut plan = PLAN;
        if let Ok(text) = std::env::var("VALUES_PLAN") {
            let n: Vec<u64> = text.split(',').map(|n| n.parse().unwrap()).collect();
            (plan.rounds, plan.states, plan.games, plan.choices) = (n[0] as u32, n[1], n[2] as usize, n[3] as usize);
        }
        Learner {
            plan,
            features: tools.sim.fluent_names().and_then(Features::new),
            rng: seed.rng(),
            round: 0,
            states: 0,
            open: Vec::new(),
            games: Vec::new(),
            older: Vec::new(),
            models: Vec::new(),
            values: None,
            outlooks: Outlooks::default(),
        }
    }

    /// The values found so far, if they predict how games end.
    pub fn values(&self) -> Option<&LinearValues> {
        self.values.as_ref()
    }

    /// Goes on until everything is learned or the flag is raised.
    pub fn learn(&mut self, tools: &mut Tools, stop: &StopFlag) -> Result<(), Fault> {
        while self.features.is_some() && self.round < self.plan.rounds {
            while self.states < self.plan.states && self.games.len() < self.plan.games {
                if stop.is_raised() {
                    return Ok(());
                }
                self.step(tools)?;
            }
            if !self.fit(tools, stop) {
                return Ok(());
            }
            self.round += 1;
            self.states = 0;
            self.older = std::mem::take(&mut self.games);
            self.open.clear();
        }
        Ok(())
    }

    /// A move in every game.
    fn step(&mut self, tools: &mut Tools) -> Result<(), Fault> {
        while self.open.len() < TOGETHER {
            self.open.push(vec![tools.sim.initial()?]);
        }
        let mut outlooks = std::mem::take(&mut self.outlooks);
        let now: Vec<&State> = self.open.iter().filter_map(|game| game.last()).collect();
        tools.look(&now, true, &mut outlooks)?;
        self.states += now.len() as u64;
        let mut at = 0;
        let mut going = Vec::with_capacity(self.open.len());
        let (mut joints, mut counts, mut choosers) = (Vec::new(), Vec::new(), Vec::new());
        for game in std::mem::take(&mut self.open) {
            let (over, legal) = (outlooks.over[at], outlooks.legal(at));
            at += 1;
            if over {
                self.finish(tools, game)?;
                continue;
            }
            if game.len() > LONGEST || legal.iter().any(Vec::is_empty) {
                continue;
            }
            let mut choosing = (0..legal.len()).filter(|&role| legal[role].len() > 1);
            let chooser = choosing.next().filter(|_| choosing.next().is_none());
            let chooser = chooser.filter(|&role| tools.sim.nature() != Some(RoleId(role as u16)));
            let n = match (chooser, &self.values) {
                (Some(role), Some(_)) => self.plan.choices.min(legal[role].len()),
                _ => 1,
            };
            for _ in 0..n {
                joints.extend(legal.iter().map(|moves| *self.rng.pick(moves)));
            }
            counts.push(n);
            choosers.push(chooser.unwrap_or(0));
            going.push(game);
        }
        self.advance(tools, &mut going, &joints, &counts, &choosers, &mut outlooks)?;
        self.open = going;
        self.outlooks = outlooks;
        Ok(())
    }

    /// Makes the best of some joint moves in each game, by the value for the role that chooses.
    fn advance(
        &mut self,
        tools: &mut Tools,
        games: &mut [Vec<State>],
        joints: &[MoveId],
        counts: &[usize],
        choosers: &[usize],
        outlooks: &mut Outlooks,
    ) -> Result<(), Fault> {
        let last = games.iter().zip(counts);
        let from: Vec<&State> = last.flat_map(|(game, &n)| std::iter::repeat_n(&game[game.len() - 1], n)).collect();
        let mut next = Vec::new();
        tools.successors(&from, joints, &mut next)?;
        self.states += next.len() as u64;
        if let Some(_) = &self.values {
            let states: Vec<&State> = next.iter().collect();
            tools.look(&states, false, outlooks)?;
        }
        let mut next = next.into_iter().enumerate();
        for ((game, &n), &role) in games.iter_mut().zip(counts).zip(choosers) {
            let mut best: Option<(f64, State)> = None;
            for (at, state) in next.by_ref().take(n) {
                let value = match &self.values {
                    Some(_) if n > 1 && outlooks.over[at] => {
                        f64::from(tools.sim.goal(&state, RoleId(role as u16))?.points())
                    }
                    Some(values) if n > 1 => values.of(&state)[role],
                    _ => 0.0,
                };
                if best.as_ref().is_none_or(|(than, _)| value > *than) {
                    best = Some((value, state));
                }
            }
            game.extend(best.map(|(_, state)| state));
        }
        Ok(())
    }

    /// Keeps some states of a game that is over, if it is decided.
    fn finish(&mut self, tools: &mut Tools, game: Vec<State>) -> Result<(), Fault> {
        let Some(end) = game.last() else {
            return Ok(());
        };
        let nature = tools.sim.nature();
        let mut points = Vec::new();
        for role in (0..tools.sim.roles().len()).map(|role| RoleId(role as u16)) {
            points.push(tools.sim.goal(end, role)?.points());
        }
        let mut players = (0..points.len()).filter(|&role| nature != Some(RoleId(role as u16)));
        let first = players.next().map_or(0, |role| points[role]);
        let alone = points.len() - usize::from(nature.is_some()) < 2;
        if !alone && players.all(|role| points[role] == first) {
            return Ok(());
        }
        // All but the end, whose value is known.
        let game = &game[..game.len() - 1];
        let n = game.len().min(POSITIONS);
        let offset = self.rng.unit();
        let place = |k: usize| ((k as f64 + offset) * game.len() as f64 / n as f64) as usize;
        let states: Vec<State> = (0..n).map(|k| game[place(k).min(game.len() - 1)].clone()).collect();
        if !states.is_empty() {
            self.games.push(Decided { states, points });
        }
        Ok(())
    }

    /// Fits weights to the games of this round and the one before. Returns false if the flag was raised.
    fn fit(&mut self, tools: &mut Tools, stop: &StopFlag) -> bool {
        let Some(features) = &self.features else {
            return true;
        };
        let n_roles = tools.sim.roles().len();
        let mut models = Vec::new();
        let players: Vec<usize> = (0..n_roles).filter(|&role| tools.sim.nature() != Some(RoleId(role as u16))).collect();
        let sum = |game: &Decided| players.iter().map(|&role| u32::from(game.points[role])).sum::<u32>();
        let opposed = players.len() == 2 && self.games.iter().chain(&self.older).all(|game| sum(game) == 100);
        for role in 0..n_roles {
            if opposed && role == players[1] {
                let model: &Vec<f64> = &models[players[0]];
                models.push(model.iter().map(|w| -w).collect());
                continue;
            }
            if tools.sim.nature() == Some(RoleId(role as u16)) {
                models.push(vec![0.0; features.n + 1]);
                continue;
            }
            let (mut known, mut held) = (Examples::default(), Examples::default());
            let mut counts = Counts::new(features.n);
            for (age, games) in [&self.games, &self.older].into_iter().enumerate() {
                for (number, game) in games.iter().enumerate() {
                    let out = if number % HELD_OUT == 0 { &mut held } else { &mut known };
                    let weight = 0.5_f64.powi(age as i32) / game.states.len() as f64;
                    for state in &game.states {
                        out.add(counts.of(features, state), f64::from(game.points[role]) / 100.0, weight);
                    }
                }
            }
            let mut model = match self.models.get(role) {
                Some(model) => model.clone(),
                None => vec![0.0; features.n + 1],
            };
            let mut best: Option<(f64, Vec<f64>)> = None;
            for ridge in RIDGES {
                if !known.fit(ridge, &mut model, stop) {
                    return false;
                }
                let loss = held.loss(&model);
                if std::env::var_os("VALUES_LOG").is_some() {
                    eprintln!("round {} role {role} ridge {ridge} games {} train {:.4} held {loss:.4}", self.round, self.games.len(), known.loss(&model));
                }
                if best.as_ref().is_none_or(|(than, _)| loss < *than) {
                    best = Some((loss, model.clone()));
                }
            }
            let mut flat = vec![0.0; features.n + 1];
            flat[features.n] = known.constant();
            let Some((loss, model)) = best.filter(|(loss, _)| *loss < held.loss(&flat)) else {
                self.values = None;
                return true;
            };
            if std::env::var_os("VALUES_LOG").is_some() {
                eprintln!("round {} role {role} constant {:.4} best {loss:.4}", self.round, held.loss(&flat));
            }
            models.push(model);
        }
        self.values = Some(LinearValues {
            weights: models.iter().map(|model| per_fluent(features, model)).collect(),
            constants: models.iter().map(|model| model[features.n]).collect(),
        });
        if std::env::var_os("VALUES_LOG").is_some() && let Some(values) = &self.values {
            for role in players.iter().copied().take(1) {
                let held: Vec<&Decided> = self.games.iter().step_by(HELD_OUT).collect();
                let roots: Vec<State> = held.iter().map(|game| game.states[self.rng.below(game.states.len())].clone()).collect();
                for n in [1, 8, 32] {
                    let totals = tools.play_out(&roots, n, Seed(5), stop).unwrap();
                    let mut ex: [Examples; 3] = Default::default();
                    for ((game, root), total) in held.iter().zip(&roots).zip(&totals) {
                        let y = f64::from(game.points[role]) / 100.0;
                        let v = values.of(root)[role] / 100.0;
                        let z = (v / (1.0 - v)).ln() as f32;
                        let m = total.points[role] as f32 / 100.0 / n as f32 - 0.5;
                        ex[0].add([(0, z)].into_iter(), y, 1.0);
                        ex[1].add([(0, m)].into_iter(), y, 1.0);
                        ex[2].add([(0, z), (1, m)].into_iter(), y, 1.0);
                    }
                    let mut out = Vec::new();
                    for (e, k) in ex.iter().zip([1, 1, 2]) {
                        let mut model = vec![0.0; k + 1];
                        e.fit(1e-3, &mut model, stop);
                        out.push(format!("{:.4}", e.loss(&model)));
                    }
                    eprintln!("CHECK round {} playouts {n}: const linear playout both {:.4} {}", self.round, {
                        let mut flat = vec![0.0, ex[0].constant()];
                        flat[0] = 0.0;
                        ex[0].loss(&flat)
                    }, out.join(" "));
                }
            }
        }
        self.models = models;
        if std::env::var_os("VALUES_LOG").is_some() && let (Some(names), Some(values)) = (tools.sim.fluent_names(), &self.values) {
            let mut groups: std::collections::BTreeMap<String, (f32, u32)> = Default::default();
            for (name, weight) in names.iter().zip(&values.weights[0]) {
                let mut parts: Vec<&str> = name.trim_matches(['(', ')']).split(' ').collect();
                let rel = parts.remove(0);
                let from = parts.len().saturating_sub(2).max(parts.len().min(2));
                let key = format!("{rel} {}", parts[from..].join(" "));
                let e = groups.entry(key).or_default();
                e.0 += weight;
                e.1 += 1;
            }
            let line: Vec<String> = groups.iter().filter(|(k, _)| !k.starts_with("ply") && !k.starts_with("step")).take(40)
                .map(|(k, (w, n))| format!("{k} {:.2}", w / *n as f32)).collect();
            eprintln!("{}", line.join("; "));
        }
        true
    }
}

/// The sum of the weights of each fluent's features.
fn per_fluent(features: &Features, model: &[f64]) -> Vec<f32> {
    let sum = |fluent: usize| features.of(fluent).iter().map(|&f| model[f as usize]).sum::<f64>() as f32;
    (0..features.fluents()).map(sum).collect()
}

/// Room for counting features.
struct Counts {
    count: Vec<u32>,
    seen: Vec<u32>,
}

impl Counts {
    fn new(n: usize) -> Counts {
        Counts {
            count: vec![0; n],
            seen: Vec::new(),
        }
    }

    /// The features of a state with their counts.
    fn of<'a>(&'a mut self, features: &Features, state: &State) -> impl Iterator<Item = (u32, f32)> + 'a {
        self.seen.clear();
        for (at, &word) in state.0.iter().enumerate() {
            for bit in (0..64).filter(|bit| word >> bit & 1 == 1) {
                let fluent = at * 64 + bit;
                for &feature in features.of(fluent) {
                    if self.count[feature as usize] == 0 {
                        self.seen.push(feature);
                    }
                    self.count[feature as usize] += 1;
                }
            }
        }
        let count = &mut self.count;
        let take = |&feature: &u32| (feature, std::mem::take(&mut count[feature as usize]) as f32);
        self.seen.iter().map(take)
    }
}
