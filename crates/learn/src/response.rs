//! The exploitability of a table: the value of a best response of one role to all others playing by the table.
//!
//! The best response is found by walking the views of one role, depth first. A view comes with the histories that
//! explain it and the probabilities with which the others and nature play them. Every move of the role is tried on all
//! of these histories, and its percepts divide them. Only one path is kept in memory, so this works for games whose
//! tree would not fit, if there is time to visit every history once.
//!
//! Histories with a probability below a limit are not followed: they count as lost for the lower bound and as won for
//! the upper bound. Views with the same histories in the same proportions have the same value, whatever the role did
//! and saw before (dice that were rolled again do not matter). Such views are visited once.

use crate::blueprint::LearnedHorizon;
use crate::table::{ViewKey, mix};
use game::{Fault, MoveId, PerceptId, RoleId, Simulator, State, StopFlag};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Bounds on the value of a best response, in points, and the cost of computing them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// States visited.
    pub states: u64,
}

impl LearnedHorizon {
    /// The value of a best response of a role if the others play by the table, and uniformly in views that are not in
    /// it. Histories with a probability below `ignore` are not followed.
    ///
    /// # Errors
    /// If the simulator fails, or [`Fault::Stopped`] if the flag was raised before the end.
    pub fn best_response(
        &self,
        sim: &mut dyn Simulator,
        role: RoleId,
        ignore: f64,
        stop: &StopFlag,
    ) -> Result<Response, Fault> {
        let n_roles = sim.roles().len();
        let nature = sim.nature().map(|r| usize::from(r.0));
        let start = WeightedHistory {
            state: sim.initial()?,
            keys: (0..n_roles).map(ViewKey::start).collect(),
            weight: 1.0,
        };
        let before = sim.meter().states;
        let mut walk = ResponseSearch {
            sim,
            table: self,
            me: usize::from(role.0),
            nature,
            ignore,
            stop,
            known: FxHashMap::default(),
        };
        let worth = walk.best(vec![start])?;
        Ok(Response {
            low: 100.0 * worth.low,
            high: 100.0 * worth.high,
            states: sim.meter().states - before,
        })
    }
}

/// A history that explains a view: its state, the views of the others, and its probability by the others and nature.
#[derive(Clone, Debug)]
struct WeightedHistory {
    state: State,
    keys: SmallVec<[ViewKey; 4]>,
    weight: f64,
}

/// Bounds on a value in 0..1, times its weight.
#[derive(Clone, Copy, Debug, Default)]
struct ValueBounds {
    low: f64,
    high: f64,
}

impl ValueBounds {
    fn add(&mut self, other: ValueBounds) {
        self.low += other.low;
        self.high += other.high;
    }
}

/// The histories after a move, by what the role perceives.
#[derive(Default)]
struct Branch {
    /// Terminal histories, and histories that are not followed.
    worth: ValueBounds,
    groups: Vec<(SmallVec<[PerceptId; 4]>, PerceptGroup)>,
}

#[derive(Default)]
struct PerceptGroup {
    histories: Vec<WeightedHistory>,
    /// Indices of histories by state and views, to merge histories that differ in nature's moves only.
    places: FxHashMap<(State, SmallVec<[ViewKey; 4]>), u32>,
    weight: f64,
}

struct ResponseSearch<'a> {
    sim: &'a mut dyn Simulator,
    table: &'a LearnedHorizon,
    me: usize,
    nature: Option<usize>,
    ignore: f64,
    stop: &'a StopFlag,
    /// Values of views per unit of weight, by [`fingerprint`].
    known: FxHashMap<u64, ValueBounds>,
}

/// Largest number of cached views: about 200 MB.
const REMEMBERED: usize = 4_000_000;

/// A hash of histories and their proportions: states, views of the others, and weights to about seven digits.
/// (Proportions that differ only in rounding may get different numbers, which costs time only.)
fn fingerprint(histories: &[WeightedHistory], all: f64) -> u64 {
    let mut number = histories.len() as u64;
    for history in histories {
        let share = ((history.weight / all) as f32).to_bits() >> 3;
        let words = history.state.0.iter().copied();
        let keys = history.keys.iter().map(|k| k.0);
        for word in words.chain(keys).chain([u64::from(share)]) {
            number = mix(number ^ word);
        }
    }
    number
}

/// A joint move, with the probability of the others' moves.
type JointChance = (SmallVec<[MoveId; 4]>, f64);

impl ResponseSearch<'_> {
    /// The value of the best continuation from a view, given the histories that explain it, none of which has ended.
    fn best(&mut self, histories: Vec<WeightedHistory>) -> Result<ValueBounds, Fault> {
        if self.stop.is_raised() {
            return Err(Fault::Stopped);
        }
        let all: f64 = histories.iter().map(|h| h.weight).sum();
        let fingerprint = fingerprint(&histories, all);
        if let Some(each) = self.known.get(&fingerprint) {
            return Ok(ValueBounds {
                low: each.low * all,
                high: each.high * all,
            });
        }
        let mut own = Vec::new();
        if let Some(first) = histories.first() {
            self.sim.legal(&first.state, RoleId(self.me as u16), &mut own)?;
        }
        let mut branches: Vec<Branch> = own.iter().map(|_| Branch::default()).collect();
        for history in &histories {
            for (mut joint, p) in self.joints(history)? {
                for (&mv, branch) in own.iter().zip(&mut branches) {
                    joint[self.me] = mv;
                    self.follow(history, &joint, p, branch)?;
                }
            }
        }
        drop(histories);
        let mut best = ValueBounds::default();
        for branch in branches {
            let worth = self.try_out(branch, best)?;
            best.low = best.low.max(worth.low);
            best.high = best.high.max(worth.high);
            // A certain win cannot be improved.
            if best.low >= all {
                break;
            }
        }
        if self.known.len() < REMEMBERED {
            let each = ValueBounds {
                low: best.low / all,
                high: best.high / all,
            };
            self.known.insert(fingerprint, each);
        }
        Ok(best)
    }

    /// The value of a move; incomplete if the move cannot be better than another.
    fn try_out(&mut self, branch: Branch, known: ValueBounds) -> Result<ValueBounds, Fault> {
        let mut worth = branch.worth;
        let mut left: f64 = branch.groups.iter().map(|(_, g)| g.weight).sum();
        for (_, group) in branch.groups {
            if worth.high + left <= known.low {
                return Ok(known);
            }
            left -= group.weight;
            worth.add(self.best(group.histories)?);
        }
        Ok(worth)
    }

    /// All moves of the others and nature; my own entry is set later.
    fn joints(&mut self, history: &WeightedHistory) -> Result<Vec<JointChance>, Fault> {
        let n_roles = history.keys.len();
        let mut joints: Vec<JointChance> = vec![(SmallVec::from_elem(MoveId(0), n_roles), 1.0)];
        let mut legal = Vec::new();
        for role in (0..n_roles).filter(|&r| r != self.me) {
            self.sim.legal(&history.state, RoleId(role as u16), &mut legal)?;
            let policy = match Some(role) == self.nature || legal.len() < 2 {
                true => None,
                false => self.table.learned(history.keys[role], legal.len()),
            };
            let even = 1.0 / legal.len() as f64;
            let mut longer = Vec::with_capacity(joints.len() * legal.len());
            for (joint, p) in &joints {
                for (at, &mv) in legal.iter().enumerate() {
                    let chance = policy.as_ref().map_or(even, |policy| f64::from(policy[at]));
                    if chance > 0.0 {
                        let mut joint = joint.clone();
                        joint[role] = mv;
                        longer.push((joint, p * chance));
                    }
                }
            }
            joints = longer;
        }
        Ok(joints)
    }

    /// Extends a history by a joint move and adds it to its group.
    fn follow(
        &mut self,
        history: &WeightedHistory,
        joint: &[MoveId],
        p: f64,
        branch: &mut Branch,
    ) -> Result<(), Fault> {
        let weight = history.weight * p;
        let state = self.sim.next(&history.state, joint)?;
        if self.sim.terminal(&state)? {
            let points = self.sim.goal(&state, RoleId(self.me as u16))?.points();
            let worth = weight * f64::from(points) / 100.0;
            branch.worth.add(ValueBounds {
                low: worth,
                high: worth,
            });
            return Ok(());
        }
        if weight < self.ignore {
            branch.worth.high += weight;
            return Ok(());
        }
        let mut sees = Vec::new();
        let mut keys = history.keys.clone();
        for role in (0..keys.len()).filter(|&r| r != self.me && Some(r) != self.nature) {
            self.sim
                .percepts(&history.state, joint, RoleId(role as u16), &mut sees)?;
            keys[role] = keys[role].after(joint[role], &sees);
        }
        self.sim
            .percepts(&history.state, joint, RoleId(self.me as u16), &mut sees)?;
        let at = branch.groups.iter().position(|(known, _)| known.as_slice() == sees);
        let at = at.unwrap_or_else(|| {
            branch.groups.push((sees.as_slice().into(), PerceptGroup::default()));
            branch.groups.len() - 1
        });
        let group = &mut branch.groups[at].1;
        group.weight += weight;
        if self.nature.is_some() {
            let next = group.histories.len() as u32;
            let place = *group.places.entry((state.clone(), keys.clone())).or_insert(next);
            if let Some(known) = group.histories.get_mut(place as usize) {
                known.weight += weight;
                return Ok(());
            }
        }
        group.histories.push(WeightedHistory { state, keys, weight });
        Ok(())
    }
}
