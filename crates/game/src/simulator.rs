//! The trait through which all players and referees see a game.

use crate::{Fault, Meter};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A role, by its place in the order of the `role` facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RoleId(pub u16);

/// A move of one role. Only meaningful together with the role and the simulator that named it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MoveId(pub u32);

impl MoveId {
    /// In a view: a move that is not known. No simulator gives this id to a move.
    pub const UNKNOWN: MoveId = MoveId(u32::MAX);
}

/// A percept of one role. Only meaningful together with the role and the simulator that named it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PerceptId(pub u32);

impl PerceptId {
    /// In a view: something that the rules do not know; alone, that it is not known what was perceived. No simulator
    /// gives it to a percept.
    pub const UNKNOWN: PerceptId = PerceptId(u32::MAX);
}

/// A state in the form its simulator chose: a bitset for compiled games, packed ids for the reference.
///
/// Two states of one simulator are the same set of fluents exactly if they are equal.
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct State(pub SmallVec<[u64; 6]>);

impl Clone for State {
    /// Copies all words at once, which the derived function would do one by one.
    #[inline]
    fn clone(&self) -> State {
        State(SmallVec::from_slice(&self.0))
    }
}

/// The payoff of a role in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The rules give exactly one integer (clamped to 0..=100 in play).
    Value(i32),
    /// The rules give none: counts as 0.
    None,
    /// The rules give several; this is the largest, which counts.
    Many(i32),
}

impl Goal {
    /// The payoff that counts in play: missing is 0, several is the maximum, always within 0..=100.
    pub fn points(self) -> u8 {
        match self {
            Goal::None => 0,
            Goal::Value(v) | Goal::Many(v) => v.clamp(0, 100) as u8,
        }
    }

    /// The single value that the rules give, if they do.
    pub fn exact(self) -> Option<i32> {
        match self {
            Goal::Value(v) => Some(v),
            _ => None,
        }
    }
}

/// The rules of a game as functions of states. Every engine answers alike.
///
/// Methods take `&mut self` because engines keep scratch space and name tables; an engine is cheap to fork for
/// another thread with [`Simulator::fork`].
pub trait Simulator: Send {
    /// Canonical names of the roles, in joint-move order.
    fn roles(&self) -> &[String];

    /// The role that is nature, if the game has one.
    fn nature(&self) -> Option<RoleId> {
        let at = self.roles().iter().position(|r| r == "random")?;
        Some(RoleId(at as u16))
    }

    /// The initial state.
    fn initial(&mut self) -> Result<State, Fault>;

    /// Whether the game is over.
    fn terminal(&mut self, state: &State) -> Result<bool, Fault>;

    /// The legal moves of a role, sorted by canonical text, without repetition. Replaces what is in `out`.
    fn legal(&mut self, state: &State, role: RoleId, out: &mut Vec<MoveId>) -> Result<(), Fault>;

    /// The state after a joint move, one move per role. Counts one state visited.
    fn next(&mut self, state: &State, joint: &[MoveId]) -> Result<State, Fault>;

    /// What a role perceives of a joint move, sorted by canonical text. Replaces what is in `out`.
    fn percepts(
        &mut self,
        state: &State,
        joint: &[MoveId],
        role: RoleId,
        out: &mut Vec<PerceptId>,
    ) -> Result<(), Fault>;

    /// The payoff of a role; also answered for states that are not terminal, where it is only a hint.
    fn goal(&mut self, state: &State, role: RoleId) -> Result<Goal, Fault>;

    /// The fluents that hold, as sorted canonical text.
    fn fluents(&self, state: &State) -> Vec<String>;

    /// The canonical texts of all fluents in the order of the bits of a state, if a state is a set of bits.
    fn fluent_names(&self) -> Option<&[String]> {
        None
    }

    /// The weight of every fluent that holds in some of these states: the sum of the weights of the states in which it
    /// holds, added in the order of the states.
    fn marginals(&self, states: &[(State, f64)]) -> BTreeMap<String, f64> {
        let mut weights = BTreeMap::new();
        for (state, weight) in states {
            for fluent in self.fluents(state) {
                *weights.entry(fluent).or_insert(0.0) += weight;
            }
        }
        weights
    }

    /// The state in which exactly these fluents hold, if the engine can represent it.
    fn state_of(&mut self, fluents: &[String]) -> Option<State>;

    /// Canonical text of a move.
    fn move_text(&self, role: RoleId, mv: MoveId) -> &str;

    /// The move with this canonical text, if it can ever be legal.
    fn find_move(&mut self, role: RoleId, text: &str) -> Option<MoveId>;

    /// Canonical text of a percept.
    fn percept_text(&self, role: RoleId, percept: PerceptId) -> &str;

    /// The percept with this canonical text, if it can ever be seen.
    fn find_percept(&mut self, role: RoleId, text: &str) -> Option<PerceptId>;

    /// Work done so far.
    fn meter(&self) -> &Meter;

    /// A simulator of the same game for another thread, with a meter at zero. Ids mean the same in both for
    /// everything named before the fork.
    fn fork(&self) -> Box<dyn Simulator>;
}
