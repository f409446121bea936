//! Exact rating of a policy by a walk over histories, for games of any number of roles whose tree does not fit.
//!
//! The walk follows the views of one role, depth first. A view comes with the histories that explain it, each as a
//! state, the views of all roles, and its probability by the others and nature. Histories of a view that agree in state
//! and views are merged; where the policy is uniform, views do not matter, and states suffice. Every own move is tried
//! on all histories of the view, and what is perceived divides them. Views with the same histories in the same
//! proportions have the same value, and are walked once while there is memory to remember them. Only one path of views
//! is kept: memory depends on the histories of single views, and is bounded.

use game::{Fault, MoveId, PacedStop, PerceptId, RoleId, Round, Simulator, State, StopFlag};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::fmt;

/// A policy for all roles, by hashes of their views.
#[derive(Clone, Debug, Default)]
pub struct WalkPolicy {
    /// Probabilities of moves after a view. Without any entry the policy is uniform.
    moves: FxHashMap<(RoleId, u64), Vec<(MoveId, f64)>>,
}

impl WalkPolicy {
    /// All moves equally often.
    pub fn uniform() -> WalkPolicy {
        WalkPolicy::default()
    }

    /// The policy of a role after a view; where nothing is given, moves are equally likely. Returns false if the view
    /// was given before.
    pub fn insert(&mut self, role: RoleId, view: &[Round], moves: &[(MoveId, f64)]) -> bool {
        let key = view.iter().fold(0, |key, round| after(key, round.own, &round.sees));
        self.moves.insert((role, key), moves.to_vec()).is_none()
    }

    /// Number of views that were given.
    pub fn len(&self) -> usize {
        self.moves.len()
    }

    /// Whether nothing was given.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// Probabilities of legal moves.
    fn probabilities(&self, role: RoleId, key: u64, legal: &[MoveId]) -> SmallVec<[f64; 8]> {
        let even = 1.0 / legal.len() as f64;
        match self.moves.get(&(role, key)).filter(|_| legal.len() > 1) {
            None => SmallVec::from_elem(even, legal.len()),
            Some(given) => legal
                .iter()
                .map(|mv| given.iter().find(|(m, _)| m == mv).map_or(0.0, |(_, p)| *p))
                .collect(),
        }
    }
}

/// The hash of a view after one more round.
fn after(key: u64, own: MoveId, sees: &[PerceptId]) -> u64 {
    // The order of percepts must not matter, but a percept must not pass for a move: their numbers are kept apart.
    let percept = |p: &PerceptId| mix(u64::from(p.0) | 1 << 40);
    let percepts = sees.iter().fold(0_u64, |sum, p| sum.wrapping_add(percept(p)));
    mix(mix(key ^ u64::from(own.0)).wrapping_add(percepts).wrapping_add(1))
}

/// The finaliser of SplitMix64.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What a policy is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkRating {
    /// Expected payoff of each role that is not nature.
    pub values: Vec<f64>,
    /// What each of them can get by best response.
    pub best: Vec<f64>,
    /// Views walked, of all roles.
    pub views: u64,
}

impl WalkRating {
    /// The sum of what each role could gain by a best response.
    pub fn nash_conv(&self) -> f64 {
        let gains = self.best.iter().zip(&self.values).map(|(best, value)| best - value);
        gains.sum::<f64>().max(0.0)
    }
}

/// Why there is no rating.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkError {
    /// The histories of the views on one path do not fit.
    Memory {
        /// Bytes allowed.
        limit: u64,
    },
    /// A role has no legal move although the game is not over, or cannot tell which moves are legal.
    Moves(RoleId),
    /// Some history does not end.
    Endless {
        /// Rounds after which it was given up.
        rounds: u32,
    },
    /// The simulator could not answer, or the work was stopped.
    Fault(Fault),
}

impl fmt::Display for WalkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WalkError::Memory { limit } => write!(
                f,
                "the game is too large: the histories of some views need more than the {} MiB that are allowed \
                 (`--memory MIB` allows more)",
                limit >> 20
            ),
            WalkError::Moves(_) => f.write_str(
                "the game cannot be rated: some role has no legal move, or cannot tell which moves are legal \
                 (`surmise check --simulate` tells more)",
            ),
            WalkError::Endless { rounds } => {
                write!(f, "the game cannot be rated: it does not end within {rounds} rounds")
            }
            WalkError::Fault(fault) => write!(f, "{fault}"),
        }
    }
}

impl std::error::Error for WalkError {}

impl From<Fault> for WalkError {
    fn from(fault: Fault) -> Self {
        WalkError::Fault(fault)
    }
}

/// Rounds after which a game is taken not to end: walks recurse.
const MAX_ROUNDS: u32 = 1_000;

/// Bytes of a view that is remembered, roughly.
const PER_KNOWN: u64 = 64;

/// The value of a policy and best responses of all roles, by walks in at most so many bytes. `progress` gets the views
/// walked so far.
///
/// # Errors
/// If memory does not suffice, the rules are broken, or the flag was raised.
pub fn rate_by_walk(
    sim: &mut dyn Simulator,
    policy: &WalkPolicy,
    bytes: u64,
    stop: &StopFlag,
    progress: &mut dyn FnMut(u64),
) -> Result<WalkRating, WalkError> {
    let roles = sim.roles().len() as u16;
    let players: Vec<RoleId> = (0..roles)
        .map(RoleId)
        .filter(|&role| sim.nature() != Some(role))
        .collect();
    let mut rating = WalkRating {
        values: Vec::new(),
        best: Vec::new(),
        views: 0,
    };
    for me in players {
        let state = sim.initial()?;
        if sim.terminal(&state)? {
            let points = f64::from(sim.goal(&state, me)?.points());
            rating.values.push(points);
            rating.best.push(points);
            continue;
        }
        let keys = if policy.is_empty() { 0 } else { usize::from(roles) };
        let start = History {
            state,
            keys: SmallVec::from_elem(0, keys),
            weight: 1.0,
        };
        let mut walk = HistoryWalk {
            me,
            nature: sim.nature(),
            n_roles: usize::from(roles),
            sim: &mut *sim,
            policy,
            stop: PacedStop::new(stop, 64),
            known: FxHashMap::default(),
            most_known: (bytes / 2 / PER_KNOWN) as usize,
            held: 0,
            bytes,
            views: rating.views,
            progress,
        };
        let worth = walk.view(vec![start], 0)?;
        rating.views = walk.views;
        rating.values.push(worth.value);
        rating.best.push(worth.best);
    }
    Ok(rating)
}

/// A history that explains a view.
struct History {
    state: State,
    /// Hashes of the views of all roles; none if the policy is uniform.
    keys: SmallVec<[u64; 4]>,
    weight: f64,
}

/// Moves of a role with their probabilities.
type MoveChances = SmallVec<[(MoveId, f64); 8]>;

/// Points times weight.
#[derive(Clone, Copy, Default)]
struct WalkWorth {
    best: f64,
    value: f64,
}

/// Histories after a move that are perceived alike.
#[derive(Default)]
struct Alike {
    histories: Vec<History>,
    places: FxHashMap<(State, SmallVec<[u64; 4]>), usize>,
}

/// What follows a move.
#[derive(Default)]
struct AfterMove {
    ended: f64,
    groups: Vec<(Vec<PerceptId>, Alike)>,
}

struct HistoryWalk<'a> {
    me: RoleId,
    nature: Option<RoleId>,
    n_roles: usize,
    sim: &'a mut dyn Simulator,
    policy: &'a WalkPolicy,
    stop: PacedStop<'a>,
    /// Worth of views per unit of weight.
    known: FxHashMap<u64, WalkWorth>,
    most_known: usize,
    /// Bytes of the histories on the path, roughly.
    held: u64,
    bytes: u64,
    views: u64,
    progress: &'a mut dyn FnMut(u64),
}

impl HistoryWalk<'_> {
    fn view(&mut self, histories: Vec<History>, round: u32) -> Result<WalkWorth, WalkError> {
        if self.stop.is_raised() {
            return Err(Fault::Stopped.into());
        }
        if round > MAX_ROUNDS {
            return Err(WalkError::Endless { rounds: MAX_ROUNDS });
        }
        let all: f64 = histories.iter().map(|h| h.weight).sum();
        let print = fingerprint(&histories, all);
        if let Some(each) = self.known.get(&print) {
            return Ok(WalkWorth {
                best: each.best * all,
                value: each.value * all,
            });
        }
        self.views += 1;
        if self.views.is_multiple_of(1024) {
            (self.progress)(self.views);
        }
        let own = self.own_moves(&histories)?;
        let key = histories.first().and_then(|h| h.keys.get(usize::from(self.me.0)));
        let chances = self.policy.probabilities(self.me, key.copied().unwrap_or(0), &own);
        let before = self.held;
        let mut after: Vec<AfterMove> = own.iter().map(|_| AfterMove::default()).collect();
        for history in &histories {
            self.follow_all(history, &own, &mut after)?;
        }
        drop(histories);
        let mut worth = WalkWorth {
            best: f64::NEG_INFINITY,
            value: 0.0,
        };
        for (after, chance) in after.into_iter().zip(chances) {
            let mut this = WalkWorth {
                best: after.ended,
                value: after.ended,
            };
            for (_, alike) in after.groups {
                let below = self.view(alike.histories, round + 1)?;
                this.best += below.best;
                this.value += below.value;
            }
            worth.best = worth.best.max(this.best);
            worth.value += chance * this.value;
        }
        self.held = before;
        if self.known.len() < self.most_known {
            let each = WalkWorth {
                best: worth.best / all,
                value: worth.value / all,
            };
            self.known.insert(print, each);
        }
        Ok(worth)
    }

    /// The own legal moves, which must be the same in all histories of a view.
    fn own_moves(&mut self, histories: &[History]) -> Result<Vec<MoveId>, WalkError> {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for (number, history) in histories.iter().enumerate() {
            self.sim.legal(&history.state, self.me, &mut others)?;
            match number {
                0 => std::mem::swap(&mut own, &mut others),
                _ if own != others => return Err(WalkError::Moves(self.me)),
                _ => {}
            }
        }
        match own.is_empty() {
            true => Err(WalkError::Moves(self.me)),
            false => Ok(own),
        }
    }

    /// The moves of the others and nature with their probabilities, by role; the own row is empty.
    fn rows(&mut self, history: &History) -> Result<Vec<MoveChances>, WalkError> {
        let mut rows = Vec::with_capacity(self.n_roles);
        let mut legal = Vec::new();
        for role in (0..self.n_roles as u16).map(RoleId) {
            if role == self.me {
                rows.push(MoveChances::new());
                continue;
            }
            self.sim.legal(&history.state, role, &mut legal)?;
            if legal.is_empty() {
                return Err(WalkError::Moves(role));
            }
            let key = history.keys.get(usize::from(role.0)).copied().unwrap_or(0);
            let chances = match Some(role) == self.nature {
                true => SmallVec::from_elem(1.0 / legal.len() as f64, legal.len()),
                false => self.policy.probabilities(role, key, &legal),
            };
            let both = legal.iter().copied().zip(chances);
            rows.push(both.filter(|(_, chance)| *chance > 0.0).collect());
        }
        Ok(rows)
    }

    /// All own moves after all joint moves of the others. The joint moves are counted through, never listed: their
    /// number has no bound.
    fn follow_all(&mut self, history: &History, own: &[MoveId], after: &mut [AfterMove]) -> Result<(), WalkError> {
        let rows = self.rows(history)?;
        let me = usize::from(self.me.0);
        let mut places: SmallVec<[usize; 4]> = SmallVec::from_elem(0, rows.len());
        let mut joint: SmallVec<[MoveId; 4]> = SmallVec::from_elem(MoveId(0), rows.len());
        // A policy without any move that is possible leads nowhere.
        if (0..rows.len()).any(|role| role != me && rows[role].is_empty()) {
            return Ok(());
        }
        loop {
            let mut p = history.weight;
            for (role, row) in rows.iter().enumerate().filter(|(role, _)| *role != me) {
                let (mv, chance) = row[places[role]];
                joint[role] = mv;
                p *= chance;
            }
            for (&mv, after) in own.iter().zip(after.iter_mut()) {
                if self.stop.is_raised() {
                    return Err(Fault::Stopped.into());
                }
                joint[me] = mv;
                self.follow(history, &joint, p, after)?;
            }
            let next = (0..rows.len()).rev().find(|&role| places[role] + 1 < rows[role].len());
            let Some(next) = next else { return Ok(()) };
            places[next] += 1;
            places[next + 1..].fill(0);
        }
    }

    /// A history after a joint move.
    fn follow(
        &mut self,
        history: &History,
        joint: &[MoveId],
        weight: f64,
        after_move: &mut AfterMove,
    ) -> Result<(), WalkError> {
        let state = self.sim.next(&history.state, joint)?;
        if self.sim.terminal(&state)? {
            after_move.ended += weight * f64::from(self.sim.goal(&state, self.me)?.points());
            return Ok(());
        }
        let mut sees = Vec::new();
        let mut keys = history.keys.clone();
        for (role, key) in keys.iter_mut().enumerate() {
            if Some(RoleId(role as u16)) != self.nature {
                self.sim
                    .percepts(&history.state, joint, RoleId(role as u16), &mut sees)?;
                *key = after(*key, joint[role], &sees);
            }
        }
        self.sim.percepts(&history.state, joint, self.me, &mut sees)?;
        let at = after_move.groups.iter().position(|(known, _)| *known == sees);
        let at = at.unwrap_or_else(|| {
            after_move.groups.push((sees, Alike::default()));
            after_move.groups.len() - 1
        });
        let alike = &mut after_move.groups[at].1;
        let next = alike.histories.len();
        let place = *alike.places.entry((state.clone(), keys.clone())).or_insert(next);
        if place < next {
            alike.histories[place].weight += weight;
            return Ok(());
        }
        // State and keys are stored twice.
        self.held += 160 + 16 * state.0.len() as u64;
        alike.histories.push(History { state, keys, weight });
        match self.held > self.bytes / 2 {
            true => Err(WalkError::Memory { limit: self.bytes }),
            false => Ok(()),
        }
    }
}

/// A hash of histories and their proportions, to twelve digits. Their order does not matter.
fn fingerprint(histories: &[History], all: f64) -> u64 {
    let mut sum = histories.len() as u64;
    for history in histories {
        let share = (history.weight / all).to_bits() >> 12;
        let words = history.state.0.iter().chain(&history.keys);
        sum = sum.wrapping_add(words.fold(mix(share), |number, word| mix(number ^ word)));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{Form, Policy};
    use crate::tests::{simulator, tree};
    use game::Seed;

    const MEMORY: u64 = 64 << 20;

    /// Values and best responses are those of the tree, for one role and two. (Three: crates/cli/tests/large.rs.)
    #[test]
    fn walks_agree_with_the_tree() {
        for spec in [
            "kuhn-poker",
            "liars-dice:sides=3",
            "goofspiel:cards=3",
            "monty-hall",
            "matching-pennies",
        ] {
            let tree = tree(spec);
            let form = Form::new(&tree);
            let mut rng = Seed(4).rng();
            let drawn: Vec<f64> = (0..tree.n_sequences()).map(|_| (rng.unit() - 0.3).max(0.0)).collect();
            for policy in [Policy::uniform(&tree), Policy::proportional(&tree, &drawn)] {
                let mut walked = WalkPolicy::uniform();
                for set in tree.infosets() {
                    let moves: Vec<_> = set.sequences().map(|s| (tree.move_of(s), policy.0[s])).collect();
                    assert!(walked.insert(tree.players[set.player as usize], &tree.view(set), &moves));
                }
                check(spec, &form, &policy, &walked);
            }
            check(spec, &form, &Policy::uniform(&tree), &WalkPolicy::uniform());
        }
    }

    fn check(spec: &str, form: &Form<'_>, policy: &Policy, walked: &WalkPolicy) {
        let mut sim = simulator(spec);
        let rating = rate_by_walk(&mut sim, walked, MEMORY, &StopFlag::default(), &mut |_| {}).unwrap();
        for (player, value) in form.values(policy).iter().enumerate() {
            let best = form.best_response(player, &mut policy.clone());
            assert!(
                (rating.values[player] - value).abs() < 1e-9,
                "{spec}: {rating:?}, value {value}"
            );
            assert!(
                (rating.best[player] - best).abs() < 1e-9,
                "{spec}: {rating:?}, best {best}"
            );
        }
    }

    #[test]
    fn memory_and_the_flag_end_a_walk() {
        let rate = |bytes: u64, stop: &StopFlag| {
            rate_by_walk(
                &mut simulator("leduc-poker"),
                &WalkPolicy::uniform(),
                bytes,
                stop,
                &mut |_| {},
            )
        };
        let few = rate(1_000, &StopFlag::default());
        assert_eq!(few, Err(WalkError::Memory { limit: 1_000 }));
        let raised = StopFlag::default();
        raised.raise();
        assert_eq!(rate(MEMORY, &raised), Err(WalkError::Fault(Fault::Stopped)));
    }
}
