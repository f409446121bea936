//! Reasons for a decision if the strategies of all roles are known: what the role should believe, what each of its
//! moves is worth, and what would have to be different for another move to be best.
//!
//! The histories that explain the view of the role are followed from the start: the own moves as they were made, the
//! moves of the others with the probabilities of their strategies, and nature's moves equally likely. From each of them
//! the game is played to its end by the strategies of all roles. Both are exact while they stay within limits; beyond,
//! the values are estimated by sampled games, and a belief that is too large is an error.

use crate::strategy::Strategy;
use crate::{Error, Game};
use game::{Fault, MoveId, PerceptId, Rng, RoleId, Seed, Simulator, State, StopFlag, Told};
use search::{Line, ViewPolicy};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Values by move and history.
type ExactValues = Vec<Vec<f64>>;

/// Reasons for a decision under the strategies of all roles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasons {
    /// The file of the strategies.
    pub strategy: String,
    /// Whether the strategy knows this situation. If not, its player moves at random here.
    pub known: bool,
    /// Whether the others' strategies lead here at all. If not, the belief assumes small mistakes of theirs.
    pub expected: bool,
    /// Histories that explain the view, those of equal state and equal views of all roles counted once.
    pub histories: usize,
    /// The moves, the best first.
    pub moves: Vec<MoveReason>,
    /// Facts of which another probability would make another move the best, the closest first.
    pub flips: Vec<Flip>,
}

/// A move under the strategies.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveReason {
    /// The move.
    pub mv: String,
    /// How often the strategy makes it here.
    pub frequency: f64,
    /// Expected points if the role makes it and keeps to its strategy later.
    pub value: f64,
    /// Standard error of `value`; 0 if it is exact.
    pub stderr: f64,
}

/// A fact whose probability decides between the best move and another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Flip {
    /// The fact.
    pub fluent: String,
    /// Its probability.
    pub now: f64,
    /// The probability at which both moves are worth the same.
    pub at: f64,
    /// The move that is better beyond.
    pub mv: String,
}

/// A possible state with how the game is likely to go on.
pub(crate) struct Possible {
    pub p: f64,
    pub fluents: Vec<String>,
    pub line: Line,
}

/// What [`explain`] found.
pub(crate) struct Found {
    pub reasons: Reasons,
    pub possible: Vec<Possible>,
    pub uncertain: BTreeMap<String, f64>,
}

/// Histories that a belief may have.
const MOST_HISTORIES: usize = 100_000;
/// Joint moves that may be followed for the values of all moves.
const MOST_STEPS: u64 = 2_000_000;
/// Sampled games for each move, where there are more.
const SAMPLES: u64 = 2_000;
/// Probability of a random move, where the others' strategies never lead to a view.
const MISTAKE: f64 = 1e-3;
/// Differences of values that count as none.
const EQUAL: f64 = 1e-6;
/// Facts to name at most.
const FLIPS: usize = 3;

/// What is asked.
pub(crate) struct Question<'q> {
    pub role: RoleId,
    pub told: &'q [Told],
    /// The move that is made.
    pub chosen: &'q str,
    pub top: usize,
    pub ahead: usize,
    pub seed: Seed,
    pub stop: StopFlag,
}

/// Explains a decision by the strategies of all roles.
pub(crate) fn explain(game: &Game, strategy: &Strategy, question: &Question<'_>) -> Result<Found, Error> {
    let mut world = World::new(game, strategy, question.stop.clone())?;
    let mut belief = world.belief(question, 0.0)?;
    let expected = !belief.is_empty();
    if !expected {
        belief = world.belief(question, MISTAKE)?;
    }
    if belief.is_empty() {
        return Err(Error::OtherMatch(
            "no history explains what the role was told".to_owned(),
        ));
    }
    let total: f64 = belief.iter().map(|(_, p)| p).sum();
    belief.iter_mut().for_each(|(_, p)| *p /= total);
    let own = world.policy(question.role, &belief[0].0)?;
    let known = world.knows(question.role, &belief[0].0);
    let (moves, values) = world.moves(question, &belief, &own)?;
    let fluents: Vec<Vec<String>> = belief.iter().map(|(at, _)| world.sim.fluents(&at.state)).collect();
    let uncertain = marginals(&fluents, &belief);
    let flips = match &values {
        Some(values) => flips(&fluents, &belief, &uncertain, &own, values, &world, question.role),
        None => Vec::new(),
    };
    let possible = world.possible(question, &belief)?;
    Ok(Found {
        reasons: Reasons {
            strategy: strategy.path().display().to_string(),
            known,
            expected,
            histories: belief.len(),
            moves,
            flips,
        },
        possible,
        uncertain,
    })
}

/// A state and the views of all roles.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Position {
    state: State,
    views: Vec<u32>,
}

/// One more round of a view.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Step {
    role: u16,
    before: u32,
    own: MoveId,
    sees: Vec<PerceptId>,
}

/// Moves with probabilities.
type Choice = Vec<(MoveId, f64)>;

struct World {
    sim: Box<dyn Simulator>,
    tables: Vec<Option<Arc<dyn ViewPolicy>>>,
    nature: Option<RoleId>,
    /// Views, by number less one; 0 is the empty view.
    steps: Vec<Step>,
    numbers: HashMap<Step, u32>,
    values: HashMap<Position, f64>,
    followed: u64,
    stop: StopFlag,
}

impl World {
    fn new(game: &Game, strategy: &Strategy, stop: StopFlag) -> Result<World, Error> {
        let mut sim = game.simulator();
        let nature = sim.nature();
        let mut tables = Vec::new();
        for role in (0..game.roles().len()).map(|r| RoleId(r as u16)) {
            let table = match Some(role) == nature {
                true => None,
                false => Some(strategy.table(game.roles(), role)?),
            };
            if let Some(table) = &table {
                table
                    .check(sim.as_mut(), role)
                    .map_err(|fault| strategy.does_not_fit(fault))?;
            }
            tables.push(table);
        }
        Ok(World {
            sim,
            tables,
            nature,
            steps: Vec::new(),
            numbers: HashMap::new(),
            values: HashMap::new(),
            followed: 0,
            stop,
        })
    }

    /// What a role was told, from the number of its view.
    fn told(&self, role: RoleId, mut view: u32) -> Vec<Told> {
        let mut told = Vec::new();
        while view > 0 {
            let step = &self.steps[view as usize - 1];
            let sees = step.sees.iter().map(|&p| self.sim.percept_text(role, p).to_owned());
            told.push(Told {
                own: self.sim.move_text(role, step.own).to_owned(),
                sees: sees.collect(),
            });
            view = step.before;
        }
        told.reverse();
        told
    }

    fn number(&mut self, step: Step) -> u32 {
        let next = self.steps.len() as u32 + 1;
        match self.numbers.get(&step) {
            Some(&number) => number,
            None => {
                self.steps.push(step.clone());
                self.numbers.insert(step, next);
                next
            }
        }
    }

    /// Whether the strategy of a role knows a position, or there is nothing to choose.
    fn knows(&self, role: RoleId, at: &Position) -> bool {
        let table = self.tables[usize::from(role.0)].as_ref();
        let told = self.told(role, at.views[usize::from(role.0)]);
        table.is_some_and(|table| table.policy(&told).is_some())
    }

    /// The moves of a role with their probabilities, all legal moves in the order of the rules; those of nature and
    /// of views that the strategy does not know are equally likely.
    fn policy(&mut self, role: RoleId, at: &Position) -> Result<Choice, Fault> {
        let mut legal = Vec::new();
        self.sim.legal(&at.state, role, &mut legal)?;
        if legal.is_empty() {
            return Err(Fault::no_move(None));
        }
        let uniform = 1.0 / legal.len() as f64;
        let even = || legal.iter().map(|&mv| (mv, uniform)).collect();
        let Some(table) = self.tables[usize::from(role.0)].clone() else {
            return Ok(even());
        };
        if legal.len() == 1 {
            return Ok(even());
        }
        let told = self.told(role, at.views[usize::from(role.0)]);
        let Some(policy) = table.policy(&told) else {
            return Ok(even());
        };
        let total: f64 = policy.iter().map(|(_, p)| p).sum();
        let p = |mv: MoveId| {
            let text = self.sim.move_text(role, mv);
            policy.iter().find(|(m, _)| m == text).map_or(0.0, |(_, p)| p / total)
        };
        Ok(legal.iter().map(|&mv| (mv, p(mv))).collect())
    }

    /// All joint moves from a position with their probabilities. The move of one role may be fixed.
    fn joints(
        &mut self,
        at: &Position,
        fixed: Option<(RoleId, MoveId)>,
        mistake: f64,
    ) -> Result<Vec<(Vec<MoveId>, f64)>, Fault> {
        let mut joints = vec![(Vec::new(), 1.0)];
        for role in (0..self.tables.len()).map(|r| RoleId(r as u16)) {
            let choice = match fixed {
                Some((who, mv)) if who == role => vec![(mv, 1.0)],
                _ => {
                    let policy = self.policy(role, at)?;
                    let even = mistake / policy.len() as f64;
                    let mixed = policy.into_iter().map(|(mv, p)| (mv, (1.0 - mistake) * p + even));
                    mixed.filter(|(_, p)| *p > 0.0).collect()
                }
            };
            let longer = |(joint, p): (Vec<MoveId>, f64)| {
                let add = move |&(mv, q): &(MoveId, f64)| {
                    let mut joint = joint.clone();
                    joint.push(mv);
                    (joint, p * q)
                };
                choice.iter().map(add).collect::<Vec<_>>()
            };
            joints = joints.into_iter().flat_map(longer).collect();
        }
        Ok(joints)
    }

    /// The position after a joint move.
    fn after(&mut self, at: &Position, joint: &[MoveId]) -> Result<Position, Fault> {
        let mut views = Vec::with_capacity(at.views.len());
        for (role, &own) in joint.iter().enumerate() {
            let id = RoleId(role as u16);
            if Some(id) == self.nature {
                views.push(0);
                continue;
            }
            let mut sees = Vec::new();
            self.sim.percepts(&at.state, joint, id, &mut sees)?;
            views.push(self.number(Step {
                role: id.0,
                before: at.views[role],
                own,
                sees,
            }));
        }
        let state = self.sim.next(&at.state, joint)?;
        self.followed += 1;
        Ok(Position { state, views })
    }

    /// The positions that explain a view, with the probabilities that nature and the others lead there.
    fn belief(&mut self, question: &Question<'_>, mistake: f64) -> Result<Vec<(Position, f64)>, Error> {
        let start = Position {
            state: self.sim.initial()?,
            views: vec![0; self.tables.len()],
        };
        let me = usize::from(question.role.0);
        let mut belief = vec![(start, 1.0)];
        for (number, round) in question.told.iter().enumerate() {
            let wrong = |wrong: String| Error::View {
                round: number + 1,
                wrong,
            };
            let own = self.sim.find_move(question.role, &round.own);
            let own = own.ok_or_else(|| wrong(format!("`{}` is never a move of the role", round.own)))?;
            let mut sees: Vec<&str> = round.sees.iter().map(String::as_str).collect();
            sees.sort_unstable();
            let mut next: Vec<(Position, f64)> = Vec::new();
            let mut places: HashMap<Position, usize> = HashMap::new();
            for (at, p) in &belief {
                if self.sim.terminal(&at.state)? {
                    continue;
                }
                for (joint, q) in self.joints(at, Some((question.role, own)), mistake)? {
                    self.check(next.len())?;
                    let after = self.after(at, &joint)?;
                    let step = &self.steps[after.views[me] as usize - 1];
                    let seen = step.sees.iter().map(|&s| self.sim.percept_text(question.role, s));
                    let mut seen: Vec<&str> = seen.collect();
                    seen.sort_unstable();
                    if seen != sees {
                        continue;
                    }
                    match places.get(&after) {
                        Some(&place) => next[place].1 += p * q,
                        None => {
                            places.insert(after.clone(), next.len());
                            next.push((after, p * q));
                        }
                    }
                }
            }
            belief = next;
        }
        Ok(belief)
    }

    fn check(&self, histories: usize) -> Result<(), Error> {
        if self.stop.is_raised() {
            return Err(Error::Stopped {
                progress: format!("{histories} histories of the belief"),
            });
        }
        if histories > MOST_HISTORIES || self.followed > 10 * MOST_STEPS {
            return Err(Error::OtherMatch(format!(
                "more than {MOST_HISTORIES} histories explain this view: too many to follow the strategy in each"
            )));
        }
        Ok(())
    }

    /// The moves with their values; and by move and history, if these are exact.
    fn moves(
        &mut self,
        question: &Question<'_>,
        belief: &[(Position, f64)],
        own: &[(MoveId, f64)],
    ) -> Result<(Vec<MoveReason>, Option<ExactValues>), Error> {
        self.followed = 0;
        let exact = self.exact_values(question.role, belief, own)?;
        let mut moves = Vec::new();
        for (number, &(mv, frequency)) in own.iter().enumerate() {
            let (value, stderr) = match &exact {
                Some(values) => {
                    let parts = values[number].iter().zip(belief).map(|(v, (_, p))| v * p);
                    (parts.sum(), 0.0)
                }
                None => self.sampled(question, belief, mv)?,
            };
            moves.push(MoveReason {
                mv: self.sim.move_text(question.role, mv).to_owned(),
                frequency,
                value,
                stderr,
            });
        }
        moves.sort_by(|a, b| b.value.total_cmp(&a.value).then_with(|| a.mv.cmp(&b.mv)));
        Ok((moves, exact))
    }

    /// Values by move and history; none if there is too much to follow.
    fn exact_values(
        &mut self,
        role: RoleId,
        belief: &[(Position, f64)],
        own: &[(MoveId, f64)],
    ) -> Result<Option<Vec<Vec<f64>>>, Error> {
        let mut values = vec![Vec::with_capacity(belief.len()); own.len()];
        for (at, _) in belief {
            for (row, &(mv, _)) in values.iter_mut().zip(own) {
                match self.value_after(role, at, Some((role, mv)))? {
                    Some(value) => row.push(value),
                    None => return Ok(None),
                }
            }
        }
        Ok(Some(values))
    }

    /// Expected points of a role from a position that is not over.
    fn value_after(
        &mut self,
        role: RoleId,
        at: &Position,
        fixed: Option<(RoleId, MoveId)>,
    ) -> Result<Option<f64>, Error> {
        let mut sum = 0.0;
        for (joint, p) in self.joints(at, fixed, 0.0)? {
            if self.followed > MOST_STEPS || self.stop.is_raised() {
                return Ok(None);
            }
            let next = self.after(at, &joint)?;
            let Some(value) = self.value(role, next)? else {
                return Ok(None);
            };
            sum += p * value;
        }
        Ok(Some(sum))
    }

    fn value(&mut self, role: RoleId, at: Position) -> Result<Option<f64>, Error> {
        if self.sim.terminal(&at.state)? {
            return Ok(Some(f64::from(self.sim.goal(&at.state, role)?.points())));
        }
        if let Some(&value) = self.values.get(&at) {
            return Ok(Some(value));
        }
        let value = self.value_after(role, &at, None)?;
        if let Some(value) = value {
            self.values.insert(at, value);
        }
        Ok(value)
    }

    /// Mean and standard error of sampled games after a move.
    fn sampled(
        &mut self,
        question: &Question<'_>,
        belief: &[(Position, f64)],
        mv: MoveId,
    ) -> Result<(f64, f64), Error> {
        let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for sample in 0..SAMPLES {
            if self.stop.is_raised() && sample > 0 {
                break;
            }
            let mut rng = question.seed.child("reasons").nth(sample).rng();
            let mut at = drawn(&mut rng, belief).clone();
            let mut fixed = Some((question.role, mv));
            while !self.sim.terminal(&at.state)? {
                let joint = self.draw_joint(&at, fixed.take(), &mut rng)?;
                at = self.after(&at, &joint)?;
            }
            let points = f64::from(self.sim.goal(&at.state, question.role)?.points());
            (n, sum, squares) = (n + 1.0, sum + points, squares + points * points);
        }
        let mean = sum / n;
        let variance = (squares / n - mean * mean).max(0.0);
        Ok((mean, (variance / n).sqrt()))
    }

    fn draw_joint(
        &mut self,
        at: &Position,
        fixed: Option<(RoleId, MoveId)>,
        rng: &mut Rng,
    ) -> Result<Vec<MoveId>, Error> {
        let mut joint = Vec::new();
        for role in (0..self.tables.len()).map(|r| RoleId(r as u16)) {
            let mv = match fixed {
                Some((who, mv)) if who == role => mv,
                _ => *drawn(rng, &self.policy(role, at)?),
            };
            joint.push(mv);
        }
        Ok(joint)
    }

    /// The likeliest states, with the likeliest continuation after the move that is made. Nature draws.
    fn possible(&mut self, question: &Question<'_>, belief: &[(Position, f64)]) -> Result<Vec<Possible>, Error> {
        let mut states: BTreeMap<&State, (f64, &Position, f64)> = BTreeMap::new();
        for (at, p) in belief {
            let one = states.entry(&at.state).or_insert((0.0, at, 0.0));
            one.0 += p;
            if *p > one.2 {
                (one.1, one.2) = (at, *p);
            }
        }
        let mut states: Vec<(f64, &Position)> = states.into_values().map(|(p, at, _)| (p, at)).collect();
        states.sort_by(|(p, a), (q, b)| q.total_cmp(p).then_with(|| a.state.cmp(&b.state)));
        let mut possible = Vec::new();
        for (p, at) in states.into_iter().take(question.top) {
            let fluents = self.sim.fluents(&at.state);
            let line = self.line(question, at)?;
            possible.push(Possible { p, fluents, line });
        }
        Ok(possible)
    }

    fn line(&mut self, question: &Question<'_>, from: &Position) -> Result<Line, Error> {
        let mut line = Line::default();
        let mut at = from.clone();
        let mut rng = question.seed.child("line").rng();
        let mut fixed = self.sim.find_move(question.role, question.chosen);
        for _ in 0..question.ahead {
            if self.sim.terminal(&at.state)? {
                break;
            }
            let mut joint = Vec::new();
            for role in (0..self.tables.len()).map(|r| RoleId(r as u16)) {
                let policy = self.policy(role, &at)?;
                let likeliest = |best: (MoveId, f64), one: &(MoveId, f64)| if one.1 > best.1 { *one } else { best };
                joint.push(match fixed {
                    Some(mv) if role == question.role => mv,
                    _ if Some(role) == self.nature => *drawn(&mut rng, &policy),
                    _ => policy.iter().fold((policy[0].0, f64::NEG_INFINITY), likeliest).0,
                });
            }
            fixed = None;
            let text = |(role, &mv): (usize, &MoveId)| self.sim.move_text(RoleId(role as u16), mv).to_owned();
            line.rounds.push(joint.iter().enumerate().map(text).collect());
            at = self.after(&at, &joint)?;
        }
        if self.sim.terminal(&at.state)? {
            let roles = 0..self.tables.len();
            let points: Result<Vec<u8>, Fault> = roles
                .map(|role| Ok(self.sim.goal(&at.state, RoleId(role as u16))?.points()))
                .collect();
            line.points = Some(points?);
        }
        Ok(line)
    }
}

/// Draws one of a list with probabilities.
fn drawn<'l, T>(rng: &mut Rng, list: &'l [(T, f64)]) -> &'l T {
    let total: f64 = list.iter().map(|(_, p)| p).sum();
    let mut left = rng.unit() * total;
    let found = list.iter().find(|(_, p)| {
        left -= p;
        left < 0.0
    });
    &found.unwrap_or(&list[list.len() - 1]).0
}

/// Facts that hold in some of the possible states and not in others, with their probabilities.
fn marginals(fluents: &[Vec<String>], belief: &[(Position, f64)]) -> BTreeMap<String, f64> {
    let mut weights = BTreeMap::new();
    for (fluents, (_, p)) in fluents.iter().zip(belief) {
        for fluent in fluents {
            *weights.entry(fluent.clone()).or_insert(0.0) += p;
        }
    }
    weights.retain(|_, p| *p < 1.0 - 1e-9);
    weights
}

/// For each uncertain fact, the probability at which another move becomes the best: the belief is shifted towards the
/// histories in which the fact holds, or away from them, and stays as it is within both parts.
fn flips(
    fluents: &[Vec<String>],
    belief: &[(Position, f64)],
    uncertain: &BTreeMap<String, f64>,
    own: &[(MoveId, f64)],
    values: &[Vec<f64>],
    world: &World,
    role: RoleId,
) -> Vec<Flip> {
    let mean = |row: &[f64], with: &dyn Fn(usize) -> bool| -> f64 {
        let chosen = || (0..belief.len()).filter(|&h| with(h));
        let mass: f64 = chosen().map(|h| belief[h].1).sum();
        chosen().map(|h| belief[h].1 * row[h]).sum::<f64>() / mass
    };
    let all = |row: &Vec<f64>| mean(row, &|_| true);
    let Some(best) = (0..own.len()).max_by(|&a, &b| all(&values[a]).total_cmp(&all(&values[b])).then(b.cmp(&a))) else {
        return Vec::new();
    };
    let mut found: Vec<Flip> = Vec::new();
    for (fluent, &now) in uncertain {
        let holding: Vec<bool> = fluents.iter().map(|f| f.binary_search(fluent).is_ok()).collect();
        let holds = |h: usize| holding[h];
        let mut closest: Option<Flip> = None;
        for (other, row) in values.iter().enumerate().filter(|&(other, _)| other != best) {
            let gap = |with: &dyn Fn(usize) -> bool| mean(&values[best], with) - mean(row, with);
            let (inside, outside) = (gap(&holds), gap(&|h| !holds(h)));
            if gap(&|_| true) < EQUAL || inside * outside >= 0.0 || inside.abs().min(outside.abs()) < EQUAL {
                continue;
            }
            let at = outside / (outside - inside);
            let flip = Flip {
                fluent: fluent.clone(),
                now,
                at,
                mv: world.sim.move_text(role, own[other].0).to_owned(),
            };
            if closest.as_ref().is_none_or(|c| (at - now).abs() < (c.at - now).abs()) {
                closest = Some(flip);
            }
        }
        found.extend(closest);
    }
    found.sort_by(|a, b| (a.at - a.now).abs().total_cmp(&(b.at - b.now).abs()));
    let same = |a: &Flip, b: &Flip| a.mv == b.mv && (a.now - b.now).abs() < 1e-9 && (a.at - b.at).abs() < 1e-9;
    let mut distinct: Vec<Flip> = Vec::new();
    for flip in found {
        if !distinct.iter().any(|one| same(one, &flip)) {
            distinct.push(flip);
        }
    }
    distinct.truncate(FLIPS);
    distinct
}
