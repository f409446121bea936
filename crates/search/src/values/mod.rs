//! Linear values of states, learned from games before play.
//!
//! The value of a state for a role is a logistic function of a sum: a weight for each fluent that holds. The first
//! games are random. In later ones, moves are the best of a few random moves by the values found so far, so that more
//! of the games are decided and a mistake is punished more often than by chance. Weights are fitted to how decided
//! games ended, from positions on the way; games in which all roles earn the same say nothing. Fluents that share
//! constants share weights (`features`).
//!
//! Values from games of the player itself: Samuel, *Some Studies in Machine Learning Using the Game of Checkers*
//! (1959); from rules alone: Finnsson and Björnsson, *Learning Simulation Control in General Game-Playing Agents* (AAAI
//! 2010), and Waledzik and Mandziuk, *An Automatically Generated Evaluation Function in General Game Playing* (2014).
//! We differ in that weights are fitted by logistic regression, and are not used unless they predict games that they
//! were not fitted to better than a constant does.

mod features;
mod fit;
#[cfg(test)]
mod tests;

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
    /// Weights of the fluents, role after role, each with a constant.
    roles: Vec<(Vec<f32>, f64)>,
}

impl LinearValues {
    /// From weights of features, role after role, with the constants at their ends.
    fn new(features: &Features, models: &[Vec<f64>]) -> LinearValues {
        let role = |model: &Vec<f64>| (per_fluent(features, model), model[features.n]);
        LinearValues {
            roles: models.iter().map(role).collect(),
        }
    }

    /// Expected points of each role.
    pub fn of(&self, state: &State) -> Values {
        (0..self.roles.len()).map(|role| self.of_role(state, role)).collect()
    }

    /// Expected points of a role.
    fn of_role(&self, state: &State, role: usize) -> f64 {
        100.0 * logistic(self.sum(state, role))
    }

    /// The weights of all fluents that hold.
    fn sum(&self, state: &State, role: usize) -> f64 {
        let (weights, constant) = &self.roles[role];
        let held = fluents(state).filter_map(|fluent| weights.get(fluent));
        f64::from(held.sum::<f32>()) + constant
    }
}

/// The fluents that hold in a state, by number.
fn fluents(state: &State) -> impl Iterator<Item = usize> + '_ {
    state.0.iter().enumerate().flat_map(|(at, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| at * 64 + rest.trailing_zeros() as usize);
            rest &= rest.wrapping_sub(1);
            bit
        })
    })
}

/// How values are learned.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// Rounds of games, each with the values of the rounds before.
    pub rounds: usize,
    /// States computed in each round, about.
    pub states: u64,
    /// Decided games of a round, at most.
    pub games: usize,
    /// Moves of which the best is made.
    pub choices: usize,
}

/// The usual plan: some seconds, in chess five.
pub(crate) const PLAN: Plan = Plan {
    rounds: 4,
    states: 1_500_000,
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
/// Positions held out below which nothing is believed.
const FEW: usize = 50;
/// The part of the loss of the constant by which the loss of a model has to be lower.
const BETTER: f64 = 0.01;
/// A decided game: some of its states, and the points of each role.
struct Decided {
    states: Vec<State>,
    points: Vec<u8>,
}

/// Games in which moves are to be made: where each is, and the joint moves to choose from.
#[derive(Default)]
struct Turns {
    games: Vec<Vec<State>>,
    joints: Vec<MoveId>,
    /// Number of joint moves of each game, and the role that chooses.
    choices: Vec<(usize, usize)>,
}

/// Learns values, step by step.
pub(crate) struct Learner {
    plan: Plan,
    /// None if states have no numbered fluents, or too many.
    features: Option<Features>,
    rng: Rng,
    states: u64,
    /// Games in progress.
    open: Vec<Vec<State>>,
    /// Decided games of this round.
    games: Vec<Decided>,
    /// Decided games of the rounds before, the last one first.
    older: Vec<Vec<Decided>>,
    models: Vec<Vec<f64>>,
    values: Option<LinearValues>,
    /// Losses of the constant and of the model, on games held out.
    losses: (f64, f64),
    outlooks: Outlooks,
}

impl Learner {
    /// Knows nothing yet.
    pub fn new(tools: &Tools, seed: Seed, plan: Plan) -> Learner {
        Learner {
            plan,
            features: tools.sim.fluent_names().and_then(Features::new),
            rng: seed.rng(),
            states: 0,
            open: Vec::new(),
            games: Vec::new(),
            older: Vec::new(),
            models: Vec::new(),
            values: None,
            losses: (0.0, 0.0),
            outlooks: Outlooks::default(),
        }
    }

    /// The values found so far, if they predict how games end.
    pub fn values(&self) -> Option<&LinearValues> {
        self.values.as_ref()
    }

    /// What was learned, for people.
    pub fn report(&self) -> String {
        let games: usize = self.older.iter().map(Vec::len).sum();
        let (constant, loss) = self.losses;
        match (&self.features, &self.values) {
            (None, _) => "leaves by playouts: the engine has no numbered fluents, or too many".to_owned(),
            (_, None) => format!("leaves by playouts: {games} decided games say nothing about values of states"),
            (_, Some(_)) => format!(
                "leaves by values learned from {games} decided games; loss {loss:.3} on games held out, {constant:.3} \
                 without knowing the state"
            ),
        }
    }

    /// Goes on until everything is learned or the flag is raised. Returns whether values have changed.
    pub fn learn(&mut self, tools: &mut Tools, stop: &StopFlag) -> Result<bool, Fault> {
        let rounds = self.older.len();
        while self.features.is_some() && self.older.len() < self.plan.rounds {
            while self.states < self.plan.states && self.games.len() < self.plan.games {
                if stop.is_raised() {
                    return Ok(self.older.len() > rounds);
                }
                self.step(tools)?;
            }
            if !self.fit(tools, stop) {
                break;
            }
            self.states = 0;
            self.older.insert(0, std::mem::take(&mut self.games));
            self.open.clear();
        }
        Ok(self.older.len() > rounds)
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
        let mut turns = Turns::default();
        for (at, game) in std::mem::take(&mut self.open).into_iter().enumerate() {
            let legal = outlooks.legal(at);
            if outlooks.over[at] {
                self.finish(tools, &game)?;
            } else if game.len() <= LONGEST && legal.iter().all(|moves| !moves.is_empty()) {
                self.draw(tools, legal, &mut turns);
                turns.games.push(game);
            }
        }
        self.advance(tools, &mut turns, &mut outlooks)?;
        self.open = turns.games;
        self.outlooks = outlooks;
        Ok(())
    }

    /// Random joint moves of a state: several if there are values and a single role, not nature, has a choice.
    fn draw(&mut self, tools: &Tools, legal: &[Vec<MoveId>], turns: &mut Turns) {
        let mut choosing = (0..legal.len()).filter(|&role| legal[role].len() > 1);
        let alone = choosing.next().filter(|_| choosing.next().is_none());
        let chooser = alone.filter(|&role| tools.sim.nature() != Some(RoleId(role as u16)));
        let n = match chooser {
            Some(role) if self.values.is_some() => self.plan.choices.min(legal[role].len()),
            _ => 1,
        };
        for _ in 0..n {
            turns.joints.extend(legal.iter().map(|moves| *self.rng.pick(moves)));
        }
        turns.choices.push((n, chooser.unwrap_or(0)));
    }

    /// Makes the best of the joint moves in each game, by the value for the role that chooses.
    fn advance(&mut self, tools: &mut Tools, turns: &mut Turns, outlooks: &mut Outlooks) -> Result<(), Fault> {
        let choices = turns.games.iter().zip(&turns.choices);
        let from: Vec<&State> = choices
            .flat_map(|(game, &(n, _))| std::iter::repeat_n(&game[game.len() - 1], n))
            .collect();
        let mut next = Vec::new();
        tools.successors(&from, &turns.joints, &mut next)?;
        self.states += next.len() as u64;
        if self.values.is_some() {
            let states: Vec<&State> = next.iter().collect();
            tools.look(&states, false, outlooks)?;
        }
        let mut next = next.into_iter().enumerate();
        for (game, &(n, role)) in turns.games.iter_mut().zip(&turns.choices) {
            let mut best: Option<(f64, State)> = None;
            for (at, state) in next.by_ref().take(n) {
                let value = match &self.values {
                    Some(_) if n > 1 && outlooks.over[at] => {
                        f64::from(tools.sim.goal(&state, RoleId(role as u16))?.points())
                    }
                    Some(values) if n > 1 => values.of_role(&state, role),
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

    /// Keeps some states of a game that is over, if it is decided. The end itself is none of them: its value is known.
    fn finish(&mut self, tools: &mut Tools, game: &[State]) -> Result<(), Fault> {
        let Some((end, game)) = game.split_last().filter(|(_, game)| !game.is_empty()) else {
            return Ok(());
        };
        let mut points = Vec::new();
        for role in (0..tools.sim.roles().len()).map(|role| RoleId(role as u16)) {
            points.push(tools.sim.goal(end, role)?.points());
        }
        let players = players(tools);
        let differs = |role: &usize| points[*role] != points[players[0]];
        if players.len() > 1 && !players.iter().any(differs) {
            return Ok(());
        }
        let n = game.len().min(POSITIONS);
        let offset = self.rng.unit();
        let place = |k: usize| ((k as f64 + offset) * game.len() as f64 / n as f64) as usize;
        let states = (0..n).map(|k| game[place(k).min(game.len() - 1)].clone()).collect();
        self.games.push(Decided { states, points });
        Ok(())
    }

    /// Fits weights to the games of this round and, with less weight, of those before. Returns false if the flag was
    /// raised.
    fn fit(&mut self, tools: &Tools, stop: &StopFlag) -> bool {
        let Some(features) = &self.features else {
            return true;
        };
        let players = players(tools);
        let rounds = || std::iter::once(&self.games).chain(&self.older);
        let sum = |game: &Decided| players.iter().map(|&role| u32::from(game.points[role])).sum::<u32>();
        let opposed = players.len() == 2 && rounds().flatten().all(|game| sum(game) == 100);
        let mut models = vec![vec![0.0; features.n + 1]; tools.sim.roles().len()];
        let mut losses = (0.0, 0.0);
        for &role in &players {
            if opposed && role == players[1] {
                models[role] = models[players[0]].iter().map(|weight| -weight).collect();
                continue;
            }
            let (known, held) = examples(features, rounds(), role);
            let before = self.models.get(role).unwrap_or(&models[role]).clone();
            let Some((loss, model)) = best_fit(&known, &held, before, stop) else {
                return false;
            };
            let mut flat = vec![0.0; features.n + 1];
            flat[features.n] = known.constant();
            losses = (held.loss(&flat), loss);
            if held.len() < FEW || loss >= (1.0 - BETTER) * losses.0 {
                self.values = None;
                return true;
            }
            models[role] = model;
        }
        let values = LinearValues::new(features, &models);
        (self.models, self.values, self.losses) = (models, Some(values), losses);
        true
    }
}

/// The roles that are not nature.
fn players(tools: &Tools) -> Vec<usize> {
    let nature = tools.sim.nature().map(|role| usize::from(role.0));
    (0..tools.sim.roles().len())
        .filter(|&role| Some(role) != nature)
        .collect()
}

/// States with what a role earned in the end: those to fit to, and those held out. Games count half as much in each
/// round further back.
fn examples<'a>(
    features: &Features,
    rounds: impl Iterator<Item = &'a Vec<Decided>>,
    role: usize,
) -> (Examples, Examples) {
    let (mut known, mut held) = (Examples::default(), Examples::default());
    let mut counts = Counts::new(features.n);
    let mut weight = 1.0;
    for games in rounds {
        for (number, game) in games.iter().enumerate() {
            let out = if number % HELD_OUT == 0 { &mut held } else { &mut known };
            let target = f64::from(game.points[role]) / 100.0;
            for state in &game.states {
                out.add(counts.of(features, state), target, weight / game.states.len() as f64);
            }
        }
        weight /= 2.0;
    }
    (known, held)
}

/// The fit with the ridge that predicts best what was held out, with its loss. None if the flag was raised.
fn best_fit(known: &Examples, held: &Examples, mut model: Vec<f64>, stop: &StopFlag) -> Option<(f64, Vec<f64>)> {
    let mut best = (f64::INFINITY, Vec::new());
    for ridge in RIDGES {
        if !known.fit(ridge, &mut model, stop) {
            return None;
        }
        let loss = held.loss(&model);
        if loss < best.0 {
            best = (loss, model.clone());
        }
    }
    Some(best)
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
        for &feature in fluents(state).flat_map(|fluent| features.of(fluent)) {
            if self.count[feature as usize] == 0 {
                self.seen.push(feature);
            }
            self.count[feature as usize] += 1;
        }
        let count = &mut self.count;
        let take = |&feature: &u32| (feature, std::mem::take(&mut count[feature as usize]) as f32);
        self.seen.iter().map(take)
    }
}
