//! The graph of minimax: a node for every state, whatever the path to it. [`uct`](crate::uct) has a flatter one of its
//! own.
//!
//! A new node holds only its state. Whether the game is over and which moves are legal is computed when a search passes
//! through the node for the first time; most nodes are never passed. Successors are stored.

use crate::Tools;
use crate::pieces::Pieces;
use game::{Fault, MoveId, RoleId, State};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// A node, by its place.
pub(crate) type StateNodeId = u32;

/// A payoff for each role.
pub(crate) type Payoffs = SmallVec<[f64; 4]>;

/// One index for each role, into its moves.
pub(crate) type Picks = SmallVec<[u32; 4]>;

/// All nodes. They are allocated and freed in small pieces: moving or freeing all of them at once could take longer
/// than the time for a move.
#[derive(Default)]
pub(crate) struct SearchTree {
    nodes: Pieces<StateNode>,
    /// Discarded nodes, freed little by little.
    retired: Pieces<StateNode>,
    /// By hash of the state, in [`SHARDS`] parts; the next number is free or taken by another state of the same hash.
    places: Vec<FxHashMap<u64, StateNodeId>>,
    /// Moves kept, to know how large the tree is.
    choices: usize,
    /// Moves of the role at hand.
    legal: Vec<MoveId>,
}

/// A state.
pub(crate) struct StateNode {
    pub(crate) state: State,
    pub(crate) stage: NodeStage,
    /// The outcome, if the game is over.
    pub(crate) proof: Option<Box<Proof>>,
}

/// How far a node is expanded.
pub(crate) enum NodeStage {
    /// Nothing.
    New,
    /// What can be done there.
    OpenNode(Box<OpenNode>),
    /// The game is over.
    Over,
    /// Some role cannot move although the game is not over.
    Stuck,
}

/// A state in which the game goes on.
pub(crate) struct OpenNode {
    /// Moves of all roles, one role after the other, in canonical order.
    choices: Box<[MoveId]>,
    /// Where each role's moves end.
    ends: SmallVec<[u32; 4]>,
    /// The only role that has a choice, if it is one, and not nature.
    pub(crate) mover: Option<usize>,
    children: Children,
}

/// An outcome.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Proof {
    /// Points of each role.
    pub(crate) points: SmallVec<[u8; 4]>,
}

/// Successors, by the number of the joint move.
enum Children {
    Few(Box<[StateNodeId]>),
    Many(FxHashMap<u64, StateNodeId>),
}

/// Parts of the table of states, so that none is large.
const SHARDS: usize = 256;
const NONE: StateNodeId = StateNodeId::MAX;
/// Joint moves of a state that get a place each.
const FEW: u64 = 512;

impl SearchTree {
    /// Roughly the memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.nodes.len() * (size_of::<StateNode>() + size_of::<OpenNode>() + 24)
            + self.choices * (size_of::<MoveId>() + 8)
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        let nodes = std::mem::take(&mut self.nodes);
        self.retired.swallow(nodes);
        self.places.clear();
        self.choices = 0;
    }

    pub(crate) fn node(&self, id: StateNodeId) -> &StateNode {
        &self.nodes[id]
    }

    pub(crate) fn open(&self, id: StateNodeId) -> Option<&OpenNode> {
        match &self.nodes[id].stage {
            NodeStage::OpenNode(open) => Some(open),
            _ => None,
        }
    }

    pub(crate) fn open_mut(&mut self, id: StateNodeId) -> Option<&mut OpenNode> {
        match &mut self.nodes[id].stage {
            NodeStage::OpenNode(open) => Some(open),
            _ => None,
        }
    }

    /// The node of a state, made if there is none.
    pub(crate) fn place(&mut self, state: State) -> StateNodeId {
        let mut hasher = FxHasher::default();
        state.hash(&mut hasher);
        let mut key = hasher.finish();
        if self.places.is_empty() {
            self.places.resize_with(SHARDS, FxHashMap::default);
        }
        let shard = &mut self.places[(key >> 32) as usize % SHARDS];
        loop {
            match shard.get(&key) {
                None => break,
                Some(&id) if self.nodes[id].state == state => return id,
                Some(_) => key = key.wrapping_add(1),
            }
        }
        let id = self.nodes.len() as StateNodeId;
        shard.insert(key, id);
        self.retired.shrink(4);
        self.nodes.push(StateNode {
            state,
            stage: NodeStage::New,
            proof: None,
        });
        id
    }

    /// Expands a new node.
    pub(crate) fn look(&mut self, tools: &mut Tools, id: StateNodeId) -> Result<(), Fault> {
        let node = &mut self.nodes[id];
        if !matches!(node.stage, NodeStage::New) {
            return Ok(());
        }
        let n_roles = tools.sim.roles().len();
        if tools.sim.terminal(&node.state)? {
            let mut points = SmallVec::new();
            for role in 0..n_roles {
                points.push(tools.sim.goal(&node.state, RoleId(role as u16))?.points());
            }
            node.stage = NodeStage::Over;
            node.proof = Some(Box::new(Proof { points }));
            return Ok(());
        }
        let (mut choices, mut ends) = (Vec::new(), SmallVec::new());
        for role in 0..n_roles {
            tools.sim.legal(&node.state, RoleId(role as u16), &mut self.legal)?;
            if self.legal.is_empty() {
                node.stage = NodeStage::Stuck;
                return Ok(());
            }
            choices.extend_from_slice(&self.legal);
            ends.push(choices.len() as u32);
        }
        self.choices += choices.len();
        node.stage = NodeStage::OpenNode(Box::new(OpenNode::new(choices.into(), ends, tools.sim.nature())));
        Ok(())
    }

    /// The state after a joint move.
    pub(crate) fn follow(&mut self, tools: &mut Tools, id: StateNodeId, picks: &Picks) -> Result<StateNodeId, Fault> {
        let node = &self.nodes[id];
        let NodeStage::OpenNode(open) = &node.stage else {
            return Err(Fault::Foreign("a state that is not open"));
        };
        let number = open.number(picks);
        if let Some(child) = open.child(number) {
            return Ok(child);
        }
        let mv = |(role, &at): (usize, &u32)| open.moves(role)[at as usize];
        let joint: SmallVec<[MoveId; 4]> = picks.iter().enumerate().map(mv).collect();
        let next = tools.sim.next(&node.state, &joint)?;
        let child = self.place(next);
        if let Some(open) = self.open_mut(id) {
            open.set_child(number, child);
        }
        Ok(child)
    }
}

impl OpenNode {
    fn new(choices: Box<[MoveId]>, ends: SmallVec<[u32; 4]>, nature: Option<RoleId>) -> OpenNode {
        let mut open = OpenNode {
            choices,
            ends,
            mover: None,
            children: Children::Many(FxHashMap::default()),
        };
        let roles = 0..open.n_roles();
        let mut choosing = roles.clone().filter(|&r| open.moves(r).len() > 1);
        let (first, second) = (choosing.next(), choosing.next());
        let nature = nature.map(|r| r.0 as usize);
        let joints = roles
            .clone()
            .try_fold(1_u64, |n, r| n.checked_mul(open.moves(r).len() as u64));
        if let Some(n) = joints.filter(|&n| n <= FEW) {
            open.children = Children::Few(vec![NONE; n as usize].into());
        }
        open.mover = first.filter(|&r| second.is_none() && Some(r) != nature);
        open
    }

    pub(crate) fn n_roles(&self) -> usize {
        self.ends.len()
    }

    fn range(&self, role: usize) -> std::ops::Range<usize> {
        let start = if role == 0 { 0 } else { self.ends[role - 1] };
        start as usize..self.ends[role] as usize
    }

    /// The moves of a role.
    pub(crate) fn moves(&self, role: usize) -> &[MoveId] {
        &self.choices[self.range(role)]
    }

    /// Joint moves in the order of the first role's moves, then the second's, and so on. Where there are too many to
    /// number (more than 64 bits), numbers may repeat; no state of any game we know comes near.
    fn number(&self, picks: &Picks) -> u64 {
        let add = |n: u64, (role, &at): (usize, &u32)| {
            let radix = self.range(role).len() as u64;
            n.wrapping_mul(radix).wrapping_add(u64::from(at))
        };
        picks.iter().enumerate().fold(0, add)
    }

    fn child(&self, number: u64) -> Option<StateNodeId> {
        match &self.children {
            Children::Few(few) => few.get(number as usize).copied().filter(|&id| id != NONE),
            Children::Many(many) => many.get(&number).copied(),
        }
    }

    fn set_child(&mut self, number: u64, child: StateNodeId) {
        match &mut self.children {
            Children::Few(few) => few[number as usize] = child,
            Children::Many(many) => {
                many.insert(number, child);
            }
        }
    }
}
