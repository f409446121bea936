//! Positions, the policies of all roles in them, and the belief of one role.

use super::Question;
use crate::strategy::Strategy;
use crate::{Error, Game};
use game::{Fault, MoveId, PerceptId, RoleId, Simulator, State, StopFlag, Told};
use search::ViewPolicy;
use std::collections::HashMap;
use std::sync::Arc;

/// Histories that a belief may have.
const MOST_HISTORIES: usize = 100_000;
/// Joint moves that may be followed for the values of all moves.
pub(super) const MOST_STEPS: u64 = 2_000_000;

/// A state and the views of all roles.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Position {
    pub(super) state: State,
    pub(super) views: Vec<u32>,
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
pub(super) type Choice = Vec<(MoveId, f64)>;

pub(super) struct World {
    pub(super) sim: Box<dyn Simulator>,
    pub(super) tables: Vec<Option<Arc<dyn ViewPolicy>>>,
    pub(super) nature: Option<RoleId>,
    /// Views, by number less one; 0 is the empty view.
    steps: Vec<Step>,
    numbers: HashMap<Step, u32>,
    pub(super) values: HashMap<Position, f64>,
    pub(super) followed: u64,
    pub(super) stop: StopFlag,
}

impl World {
    pub(super) fn new(game: &Game, strategy: &Strategy, stop: StopFlag) -> Result<World, Error> {
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
    pub(super) fn knows(&self, role: RoleId, at: &Position) -> bool {
        let table = self.tables[usize::from(role.0)].as_ref();
        let told = self.told(role, at.views[usize::from(role.0)]);
        table.is_some_and(|table| table.policy(&told).is_some())
    }

    /// The moves of a role with their probabilities, all legal moves in the order of the rules; those of nature and
    /// of views that the strategy does not know are equally likely.
    pub(super) fn policy(&mut self, role: RoleId, at: &Position) -> Result<Choice, Fault> {
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
    pub(super) fn joints(
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
    pub(super) fn after(&mut self, at: &Position, joint: &[MoveId]) -> Result<Position, Fault> {
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
    pub(super) fn belief(&mut self, question: &Question<'_>, mistake: f64) -> Result<Vec<(Position, f64)>, Error> {
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
}
