//! What moves are worth, exactly or by sampled games, and how the game is likely to go on.

use super::world::{MOST_STEPS, Position, World};
use super::{MoveReason, Possible, Question};
use crate::Error;
use game::{Fault, MoveId, Rng, RoleId, State};
use search::Line;
use std::collections::BTreeMap;

/// Sampled games for each move, where there are more.
const SAMPLES: u64 = 2_000;

/// Values by move and history.
type ExactValues = Vec<Vec<f64>>;

impl World {
    /// The moves with their values; and by move and history, if these are exact.
    pub(super) fn moves(
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
    pub(super) fn possible(
        &mut self,
        question: &Question<'_>,
        belief: &[(Position, f64)],
    ) -> Result<Vec<Possible>, Error> {
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
