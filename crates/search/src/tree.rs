//! The graph of UCT and minimax: a node for every state, whatever the path to it, with statistics for each role's
//! moves.
//!
//! A new node holds only its state. Whether the game is over and which moves are legal is computed when a descent
//! passes through the node for the first time; most nodes are never passed. Successors are stored, so that a descent
//! asks the simulator about one new state at most.

use crate::Tools;
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
    nodes: Pieces,
    /// Discarded nodes, freed little by little.
    retired: Pieces,
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
    /// Playouts begun from here or below.
    pub(crate) visits: u32,
    /// Playouts in flight: begun and not yet finished.
    pub(crate) flying: u32,
    pub(crate) stage: NodeStage,
    /// The proven outcome under best play, if there is one.
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
    choices: Box<[MoveStats]>,
    /// Where each role's moves end.
    ends: SmallVec<[u32; 4]>,
    /// The only role that has a choice, if it is one, and not nature.
    pub(crate) mover: Option<usize>,
    /// Whether no role has a choice.
    forced: bool,
    children: Children,
}

/// Statistics of a move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MoveStats {
    pub(crate) mv: MoveId,
    /// Playouts that began with it.
    pub(crate) visits: u32,
    /// Those of them that have not come back yet.
    pub(crate) flying: u32,
    /// If the move leads to a state with a proven outcome: the role's payoff and the rounds until the end.
    pub(crate) known: Option<(u8, u16)>,
    /// The role's mean payoff over finished playouts; 0 if there are none.
    pub(crate) mean: f64,
}

/// A proven outcome.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Proof {
    /// Points of each role.
    pub(crate) points: SmallVec<[u8; 4]>,
    /// Rounds until then.
    pub(crate) rounds: u16,
}

/// Successors, by the number of the joint move.
enum Children {
    Few(Box<[StateNodeId]>),
    Many(FxHashMap<u64, StateNodeId>),
}

/// Nodes in pieces of equal length.
#[derive(Default)]
struct Pieces(Vec<Vec<StateNode>>);

/// Nodes in a piece.
const PIECE: usize = 1 << 12;
/// Parts of the table of states, so that none is large.
const SHARDS: usize = 256;
const NONE: StateNodeId = StateNodeId::MAX;
/// Joint moves of a state that get a place each.
const FEW: u64 = 512;

impl Pieces {
    fn len(&self) -> usize {
        self.0.last().map_or(0, |last| (self.0.len() - 1) * PIECE + last.len())
    }

    fn push(&mut self, node: StateNode) {
        match self.0.last_mut().filter(|last| last.len() < PIECE) {
            Some(last) => last.push(node),
            None => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push(node);
                self.0.push(piece);
            }
        }
    }

    /// Frees a node from the end.
    fn pop(&mut self) {
        if let Some(last) = self.0.last_mut() {
            last.pop();
            if last.is_empty() {
                self.0.pop();
            }
        }
    }
}

impl std::ops::Index<StateNodeId> for Pieces {
    type Output = StateNode;

    fn index(&self, id: StateNodeId) -> &StateNode {
        &self.0[id as usize / PIECE][id as usize % PIECE]
    }
}

impl std::ops::IndexMut<StateNodeId> for Pieces {
    fn index_mut(&mut self, id: StateNodeId) -> &mut StateNode {
        &mut self.0[id as usize / PIECE][id as usize % PIECE]
    }
}

impl SearchTree {
    /// Roughly the memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.nodes.len() * (size_of::<StateNode>() + size_of::<OpenNode>() + 24)
            + self.choices * (size_of::<MoveStats>() + 8)
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        let nodes = std::mem::take(&mut self.nodes);
        self.retired.0.extend(nodes.0);
        self.places.clear();
        self.choices = 0;
    }

    pub(crate) fn node(&self, id: StateNodeId) -> &StateNode {
        &self.nodes[id]
    }

    pub(crate) fn node_mut(&mut self, id: StateNodeId) -> &mut StateNode {
        &mut self.nodes[id]
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
        (0..4).for_each(|_| self.retired.pop());
        self.nodes.push(StateNode {
            state,
            visits: 0,
            flying: 0,
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
            node.proof = Some(Box::new(Proof { points, rounds: 0 }));
            return Ok(());
        }
        let (mut choices, mut ends) = (Vec::new(), SmallVec::new());
        for role in 0..n_roles {
            tools.sim.legal(&node.state, RoleId(role as u16), &mut self.legal)?;
            if self.legal.is_empty() {
                node.stage = NodeStage::Stuck;
                return Ok(());
            }
            choices.extend(self.legal.iter().map(|&mv| MoveStats::new(mv)));
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
        let mv = |(role, &at): (usize, &u32)| open.moves(role)[at as usize].mv;
        let joint: SmallVec<[MoveId; 4]> = picks.iter().enumerate().map(mv).collect();
        let next = tools.sim.next(&node.state, &joint)?;
        let child = self.place(next);
        if let Some(open) = self.open_mut(id) {
            open.set_child(number, child);
        }
        Ok(child)
    }

    /// Tries to prove the outcome of a node from proven successors: the mover can reach the maximum, or all its moves
    /// are proven. Only where a single role has a choice. Returns whether the node is newly proven.
    ///
    /// If several moves are best for the mover, the others' payoffs are those of one of them.
    pub(crate) fn prove(&mut self, id: StateNodeId) -> bool {
        let node = &self.nodes[id];
        let NodeStage::OpenNode(open) = &node.stage else {
            return false;
        };
        if node.proof.is_some() || (open.mover.is_none() && !open.forced) {
            return false;
        }
        let role = open.mover.unwrap_or(0);
        let known = self.known(open, role);
        let mut best: Option<&Proof> = None;
        for proof in known.iter().flatten() {
            if best.is_none_or(|than| proof.is_better(than, role)) {
                best = Some(proof);
            }
        }
        let all = known.iter().all(Option::is_some);
        let proof = best
            .filter(|proof| all || proof.points[role] == 100)
            .map(|proof| Proof {
                points: proof.points.clone(),
                rounds: proof.rounds.saturating_add(1),
            });
        let marks: SmallVec<[_; 32]> = known.iter().map(|k| k.map(|p| (p.points[role], p.rounds))).collect();
        drop(known);
        let node = &mut self.nodes[id];
        if let NodeStage::OpenNode(open) = &mut node.stage {
            open.moves_mut(role)
                .iter_mut()
                .zip(marks)
                .for_each(|(choice, mark)| choice.known = mark);
        }
        node.proof = proof.map(Box::new);
        node.proof.is_some()
    }

    /// The proven outcomes after each move of a role, where the others have no choice.
    fn known(&self, open: &OpenNode, role: usize) -> SmallVec<[Option<&Proof>; 32]> {
        let mut picks: Picks = SmallVec::from_elem(0, open.n_roles());
        let proof = |at| {
            picks[role] = at;
            let child = open.child(open.number(&picks))?;
            self.nodes[child].proof.as_deref()
        };
        (0..open.moves(role).len() as u32).map(proof).collect()
    }
}

impl MoveStats {
    fn new(mv: MoveId) -> MoveStats {
        MoveStats {
            mv,
            visits: 0,
            flying: 0,
            known: None,
            mean: 0.0,
        }
    }

    /// Finished playouts.
    pub(crate) fn back(&self) -> u32 {
        self.visits - self.flying
    }

    /// Records a finished playout, or forgets one that was abandoned.
    pub(crate) fn land(&mut self, points: Option<f64>) {
        self.flying -= 1;
        match points {
            Some(points) => self.mean += (points - self.mean) / f64::from(self.back()),
            None => self.visits -= 1,
        }
    }
}

impl Proof {
    /// More points first; a win early, a loss late.
    fn is_better(&self, than: &Proof, role: usize) -> bool {
        let (mine, theirs) = (self.points[role], than.points[role]);
        match mine == theirs {
            true if mine > 50 => self.rounds < than.rounds,
            true => self.rounds > than.rounds,
            false => mine > theirs,
        }
    }
}

impl OpenNode {
    fn new(choices: Box<[MoveStats]>, ends: SmallVec<[u32; 4]>, nature: Option<RoleId>) -> OpenNode {
        let mut open = OpenNode {
            choices,
            ends,
            mover: None,
            forced: false,
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
        open.forced = first.is_none();
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
    pub(crate) fn moves(&self, role: usize) -> &[MoveStats] {
        &self.choices[self.range(role)]
    }

    /// The moves of a role.
    pub(crate) fn moves_mut(&mut self, role: usize) -> &mut [MoveStats] {
        let range = self.range(role);
        &mut self.choices[range]
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
