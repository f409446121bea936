//! The interface between the scalar simulator and its ways of evaluating a network.
//!
//! A way of evaluating consists of a prepared network, which all simulators of a game share, and the values of one
//! state. [`Values`] is the part in which ways differ. [`Evaluation`] owns a network with its values and answers all
//! questions of a simulator. [`Evaluator`] is the only enum of all ways: a `match` on it gives both the network and the
//! values.

use super::cones::Cones;
use super::events::Events;
use super::guards::Guards;
use super::plain::PlainValues;
use super::step::{nth_set, random_rank};
use super::words::Words;
use game::Rng;
use game::limits::PLAYOUT_ROUNDS;
use std::sync::Arc;

/// How far values are brought up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Legal moves and terminal, which depend on the state alone.
    Legal,
    /// The next state as well.
    Next,
    /// Percepts as well.
    Sees,
}

/// The values of one state and joint move, and how they are computed from a prepared network.
pub(super) trait Values: Clone {
    /// The network, prepared once per game.
    type Net;

    /// Values of no particular state.
    fn start(net: &Self::Net) -> Self;

    /// Places of the outputs.
    fn words(net: &Self::Net) -> &Words;

    /// Guards that are left out of legal moves and terminal, if there are any.
    fn guards(net: &Self::Net) -> Option<&Guards>;

    /// The state that the values belong to.
    fn state(&self) -> &[u64];

    /// Output bits.
    fn outputs(&self) -> &[u64];

    /// The fluents of the state, one byte each, if they are kept that way.
    fn fluent_bytes(&self, net: &Self::Net) -> Option<&[u8]>;

    /// Changes the state.
    fn move_to(&mut self, net: &Self::Net, state: &[u64]);

    /// Makes a joint move in the present state, and computes what depends on it up to a stage.
    fn make(&mut self, net: &Self::Net, joint: &[u32], stage: Stage);

    /// Changes the state to the one that the last joint move leads to; [`Stage::Next`] must have been reached.
    fn advance(&mut self, net: &Self::Net);

    /// Takes over the values of another evaluation of the same game.
    fn copy_from(&mut self, other: &Self);
}

/// The end of a random game, apart from goals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarPlayout {
    /// Joint moves made.
    pub moves: u32,
    /// Whether some role had no legal move, or the game was given up because it did not end.
    pub stuck: bool,
}

/// A prepared network with the values of the present state.
#[derive(Debug)]
pub(super) struct Evaluation<V: Values> {
    net: Arc<V::Net>,
    now: V,
    /// The values of the state that playouts last began with.
    root: Option<V>,
}

impl<V: Values> Clone for Evaluation<V> {
    fn clone(&self) -> Evaluation<V> {
        Evaluation {
            net: self.net.clone(),
            now: self.now.clone(),
            root: self.root.clone(),
        }
    }
}

impl<V: Values> Evaluation<V> {
    /// An evaluation of no particular state.
    pub fn new(net: V::Net) -> Evaluation<V> {
        Evaluation {
            now: V::start(&net),
            net: Arc::new(net),
            root: None,
        }
    }

    #[inline(always)]
    fn move_to(&mut self, state: &[u64]) {
        self.now.move_to(&self.net, state);
    }

    #[inline(always)]
    fn move_to_root(&mut self, state: &[u64]) {
        match &mut self.root {
            Some(root) if root.state() == state => self.now.copy_from(root),
            root => {
                self.now.move_to(&self.net, state);
                match root {
                    Some(root) => root.copy_from(&self.now),
                    None => *root = Some(self.now.clone()),
                }
            }
        }
    }

    #[inline(always)]
    fn make(&mut self, joint: &[u32], stage: Stage) {
        self.now.make(&self.net, joint, stage);
    }

    fn next_state(&self) -> &[u64] {
        let first = V::words(&self.net).next;
        &self.now.outputs()[first..first + self.now.state().len()]
    }

    fn percept_words(&self, role: usize) -> &[u64] {
        let (first, n) = V::words(&self.net).sees[role];
        &self.now.outputs()[first..first + n]
    }

    #[inline(always)]
    fn is_terminal(&self) -> bool {
        let (words, outputs) = (V::words(&self.net), self.now.outputs());
        match V::guards(&self.net) {
            Some(guards) => outputs[words.ends()] >> guards.case(self.now.state()) & 1 == 1,
            None => outputs[words.terminal] & 1 == 1,
        }
    }

    #[inline(always)]
    fn legal_words(&self, role: usize) -> impl Iterator<Item = u64> + '_ {
        let (first, n) = V::words(&self.net).legal[role];
        let words = &self.now.outputs()[first..first + n];
        let visible = V::guards(&self.net).map(|guards| guards.roles[role].visible(self.now.state()));
        words
            .iter()
            .enumerate()
            .map(move |(at, &word)| word & visible.map_or(u64::MAX, |visible| visible[at]))
    }

    /// A random legal move.
    #[inline(always)]
    fn pick(&self, role: usize, rng: &mut Rng) -> Option<u32> {
        let count = self.legal_words(role).map(u64::count_ones).sum();
        let mut rank = random_rank(count, rng)?;
        for (at, word) in self.legal_words(role).enumerate() {
            let here = word.count_ones();
            if rank < here {
                return Some(at as u32 * 64 + nth_set(word, rank));
            }
            rank -= here;
        }
        None
    }

    #[inline(always)]
    fn play(&mut self, joint: &mut [u32], stage: Stage, rng: &mut Rng) -> ScalarPlayout {
        let mut moves = 0;
        while !self.is_terminal() {
            for (role, mv) in joint.iter_mut().enumerate() {
                let Some(picked) = self.pick(role, rng) else {
                    return ScalarPlayout { moves, stuck: true };
                };
                *mv = picked;
            }
            self.make(joint, stage);
            self.now.advance(&self.net);
            moves += 1;
            if moves >= PLAYOUT_ROUNDS as u32 {
                return ScalarPlayout { moves, stuck: true };
            }
        }
        ScalarPlayout { moves, stuck: false }
    }
}

/// A way of evaluating: its network and the values of the present state.
#[derive(Clone, Debug)]
pub(super) enum Evaluator {
    /// Machine code for each fluent.
    Cones(Evaluation<Cones>),
    /// Changes that are propagated from gate to gate.
    Events(Evaluation<Events>),
    /// All gates in order, for networks with positive cycles.
    Plain(Evaluation<PlainValues>),
}

/// Runs the same expression for every way.
macro_rules! each_way {
    ($evaluator:expr, $evaluation:ident => $do:expr) => {
        match $evaluator {
            Evaluator::Cones($evaluation) => $do,
            Evaluator::Events($evaluation) => $do,
            Evaluator::Plain($evaluation) => $do,
        }
    };
}

impl Evaluator {
    /// The state that the values belong to.
    #[inline(always)]
    pub fn state(&self) -> &[u64] {
        each_way!(self, evaluation => evaluation.now.state())
    }

    /// The fluents of the state, one byte each, if they are kept that way.
    #[inline(always)]
    pub fn fluent_bytes(&self) -> Option<&[u8]> {
        each_way!(self, evaluation => evaluation.now.fluent_bytes(&evaluation.net))
    }

    /// Changes the state.
    #[inline(always)]
    pub fn move_to(&mut self, state: &[u64]) {
        each_way!(self, evaluation => evaluation.move_to(state))
    }

    /// Changes the state to one from which more than one playout may begin: its values are kept.
    #[inline(always)]
    pub fn move_to_root(&mut self, state: &[u64]) {
        each_way!(self, evaluation => evaluation.move_to_root(state))
    }

    /// Makes a joint move in the present state, and computes what depends on it up to a stage.
    #[inline(always)]
    pub fn make(&mut self, joint: &[u32], stage: Stage) {
        each_way!(self, evaluation => evaluation.make(joint, stage))
    }

    /// Whether the present state is terminal.
    #[inline(always)]
    pub fn is_terminal(&self) -> bool {
        each_way!(self, evaluation => evaluation.is_terminal())
    }

    /// Calls a function with each word of a role's legal moves.
    pub fn each_legal_word(&self, role: usize, mut f: impl FnMut(u64)) {
        each_way!(self, evaluation => evaluation.legal_words(role).for_each(&mut f))
    }

    /// The next state, after a joint move was made.
    pub fn next_state(&self) -> &[u64] {
        each_way!(self, evaluation => evaluation.next_state())
    }

    /// The words of a role's percepts, after a joint move was made.
    pub fn percept_words(&self, role: usize) -> &[u64] {
        each_way!(self, evaluation => evaluation.percept_words(role))
    }

    /// Plays random legal moves from the present state to the end; `joint` is room for the joint moves.
    #[inline(always)]
    pub fn play(&mut self, joint: &mut [u32], stage: Stage, rng: &mut Rng) -> ScalarPlayout {
        each_way!(self, evaluation => evaluation.play(joint, stage, rng))
    }
}
