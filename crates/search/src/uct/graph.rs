//! The graph of UCT: a node for every state, whatever the path to it, with statistics of moves.
//!
//! Nodes, moves and states lie in three lists of equal elements, so that a descent reads one node and one row of moves
//! a round and nothing else. A new node has only a state. Its legal moves are found when a descent arrives for the
//! second time; most nodes are never passed. Successors are stored with the moves.
//!
//! In most states at most one role has a choice. Such a node keeps the moves of that role as a row in the list of
//! moves; where several roles choose at once, the node refers to a [`JointNode`].

use crate::pieces::Pieces;
use game::{MoveId, State};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::Hasher;

/// A node, by its place.
pub(super) type NodeId = u32;

/// No node, proof or move.
pub(super) const NONE: u32 = u32::MAX;

/// All nodes.
#[derive(Default)]
pub(super) struct Graph {
    nodes: Pieces<Node>,
    states: Pieces<State>,
    moves: Rows,
    joints: Pieces<JointNode>,
    proofs: Pieces<Proof>,
    /// By hash of the state, in [`SHARDS`] parts; the next number is free or taken by another state of the same hash.
    places: Vec<FxHashMap<u64, NodeId>>,
    /// What was discarded, freed little by little.
    retired: Retired,
}

#[derive(Default)]
struct Retired {
    states: Pieces<State>,
    joints: Pieces<JointNode>,
    proofs: Pieces<Proof>,
    moves: Vec<Vec<MoveStats>>,
    nodes: Pieces<Node>,
}

/// A state.
#[derive(Clone, Copy)]
pub(super) struct Node {
    /// Playouts begun from here or below.
    pub visits: u32,
    pub stage: Stage,
    /// The place of the proven outcome under best play, if there is one.
    proof: u32,
    /// The first move of the role that chooses, or the place of the joint node.
    pub row: u32,
    /// Number of moves of the role that chooses.
    width: u32,
    /// Those of them that have no finished playout.
    pub blank: u32,
}

/// How far a node is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Not at all.
    New,
    /// At most one role has a choice: this one.
    Turn(u16),
    /// Several roles have a choice.
    Joint,
    /// The game is over.
    Over,
    /// Some role cannot move although the game is not over.
    Stuck,
}

/// Statistics of a move.
#[derive(Clone, Copy, Debug)]
pub(super) struct MoveStats {
    /// The role's mean payoff over finished playouts; 0 if there are none.
    pub mean: f64,
    /// Playouts that began with it.
    pub visits: u32,
    /// Those of them that have not come back yet.
    pub flying: u32,
    pub mv: MoveId,
    /// The node that it leads to, if it was made and the other roles have no choice.
    pub child: NodeId,
    /// If the move leads to a state with a proven outcome: the role's payoff and the rounds until the end.
    pub known: Option<(u8, u16)>,
}

/// A state in which several roles have a choice.
pub(super) struct JointNode {
    /// Moves of all roles, one role after the other, in canonical order.
    choices: Box<[MoveStats]>,
    /// Where each role's moves end.
    ends: SmallVec<[u32; 4]>,
    /// Successors, by the number of the joint move.
    children: FxHashMap<u64, NodeId>,
}

/// A proven outcome.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Proof {
    /// Points of each role.
    pub points: SmallVec<[u8; 4]>,
    /// Rounds until then.
    pub rounds: u16,
}

/// Rows of moves, none of which is moved once it is made.
#[derive(Default)]
struct Rows(Vec<Vec<MoveStats>>);

/// Bits of the place of a move within its piece.
const PIECE_BITS: u32 = 14;
/// Parts of the table of states, so that none is large.
const SHARDS: usize = 64;
/// States that the table has room for before it grows: growing takes as long as filling.
const STATES_AT_FIRST: usize = 56 * SHARDS;

impl Rows {
    /// Makes room for a row of so many moves; longer rows than a piece get a piece of their own. Returns where the row
    /// begins, and the piece to which the moves are to be added.
    fn begin(&mut self, n: usize) -> (u32, &mut Vec<MoveStats>) {
        let piece = 1 << PIECE_BITS;
        if self.0.last().is_none_or(|last| last.len() + n > piece) {
            self.0.push(Vec::with_capacity(n.max(piece)));
        }
        let number = self.0.len() - 1;
        let last = &mut self.0[number];
        ((number as u32) << PIECE_BITS | last.len() as u32, last)
    }

    /// A move of a row, by the place of the row.
    #[inline]
    fn at_mut(&mut self, place: u32, at: usize) -> &mut MoveStats {
        let start = (place & ((1 << PIECE_BITS) - 1)) as usize;
        &mut self.0[(place >> PIECE_BITS) as usize][start + at]
    }

    fn row(&self, place: u32, width: u32) -> &[MoveStats] {
        let start = (place & ((1 << PIECE_BITS) - 1)) as usize;
        &self.0[(place >> PIECE_BITS) as usize][start..start + width as usize]
    }

    fn row_mut(&mut self, place: u32, width: u32) -> &mut [MoveStats] {
        let start = (place & ((1 << PIECE_BITS) - 1)) as usize;
        &mut self.0[(place >> PIECE_BITS) as usize][start..start + width as usize]
    }
}

impl Graph {
    /// Roughly the memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.nodes.len() * (size_of::<Node>() + size_of::<State>() + 24)
            + self.moves.0.len() * (size_of::<MoveStats>() << PIECE_BITS)
            + self.joints.len() * (size_of::<JointNode>() + 1_024)
            + self.proofs.len() * size_of::<Proof>()
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        let mut retired = std::mem::take(&mut self.retired);
        let old = std::mem::take(self);
        retired.states.swallow(old.states);
        retired.joints.swallow(old.joints);
        retired.proofs.swallow(old.proofs);
        retired.moves.extend(old.moves.0);
        retired.nodes.swallow(old.nodes);
        self.retired = retired;
    }

    /// Frees a little of what was discarded.
    fn sweep(&mut self) {
        let retired = &mut self.retired;
        retired.states.shrink(4);
        retired.joints.shrink(4);
        retired.proofs.shrink(4);
        retired.nodes.shrink(1 << 10);
        if self.nodes.len().is_multiple_of(64) {
            retired.moves.pop();
        }
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id]
    }

    pub(super) fn state(&self, id: NodeId) -> &State {
        &self.states[id]
    }

    pub(super) fn proof(&self, id: NodeId) -> Option<&Proof> {
        let place = self.nodes[id].proof;
        (place != NONE).then(|| &self.proofs[place])
    }

    #[inline]
    pub(super) fn is_proven(&self, id: NodeId) -> bool {
        self.nodes[id].proof != NONE
    }

    fn set_proof(&mut self, id: NodeId, proof: Proof) {
        self.nodes[id].proof = self.proofs.len() as u32;
        self.proofs.push(proof);
    }

    /// The node of a state, and whether it was made now.
    pub(super) fn place(&mut self, state: State) -> (NodeId, bool) {
        let mut hasher = FxHasher::default();
        state.0.iter().for_each(|&word| hasher.write_u64(word));
        let mut key = hasher.finish();
        if self.places.is_empty() {
            let room = || FxHashMap::with_capacity_and_hasher(STATES_AT_FIRST / SHARDS, FxBuildHasher);
            self.places.resize_with(SHARDS, room);
        }
        let shard = &mut self.places[(key >> 32) as usize % SHARDS];
        loop {
            match shard.get(&key) {
                None => break,
                Some(&id) if self.states[id] == state => return (id, false),
                Some(_) => key = key.wrapping_add(1),
            }
        }
        let id = self.nodes.len() as NodeId;
        shard.insert(key, id);
        self.sweep();
        self.states.push(state);
        self.nodes.push(Node {
            visits: 0,
            stage: Stage::New,
            proof: NONE,
            row: NONE,
            width: 0,
            blank: 0,
        });
        (id, true)
    }

    /// Records that the game is over, with these points.
    pub(super) fn end(&mut self, id: NodeId, points: SmallVec<[u8; 4]>) {
        self.nodes[id].stage = Stage::Over;
        self.set_proof(id, Proof { points, rounds: 0 });
    }

    /// Records the legal moves of all roles.
    pub(super) fn open(&mut self, id: NodeId, legal: &[Vec<MoveId>]) {
        if legal.iter().any(Vec::is_empty) {
            self.nodes[id].stage = Stage::Stuck;
            return;
        }
        let mut choosing = (0..legal.len()).filter(|&role| legal[role].len() > 1);
        let (first, second) = (choosing.next().unwrap_or(0), choosing.next());
        if second.is_none() {
            // The single moves of the others come first, role by role.
            let (place, row) = self.moves.begin(legal.len() - 1 + legal[first].len());
            for (_, moves) in legal.iter().enumerate().filter(|(role, _)| *role != first) {
                row.push(MoveStats::new(moves[0]));
            }
            row.extend(legal[first].iter().map(|&mv| MoveStats::new(mv)));
            let node = &mut self.nodes[id];
            node.stage = Stage::Turn(first as u16);
            node.row = place + (legal.len() - 1) as u32;
            node.width = legal[first].len() as u32;
            node.blank = node.width;
            return;
        }
        let mut ends: SmallVec<[u32; 4]> = SmallVec::new();
        for moves in legal {
            ends.push(ends.last().unwrap_or(&0) + moves.len() as u32);
        }
        let node = &mut self.nodes[id];
        node.stage = Stage::Joint;
        node.row = self.joints.len() as u32;
        self.joints.push(JointNode {
            choices: legal.iter().flatten().map(|&mv| MoveStats::new(mv)).collect(),
            ends,
            children: FxHashMap::default(),
        });
    }

    /// The moves of the only role that has a choice.
    pub(super) fn row(&self, node: Node) -> &[MoveStats] {
        self.moves.row(node.row, node.width)
    }

    /// The moves of the only role that has a choice.
    pub(super) fn row_mut(&mut self, node: Node) -> &mut [MoveStats] {
        self.moves.row_mut(node.row, node.width)
    }

    /// The statistics of a move of the role that chooses, by the row of the node and the place in it.
    #[inline]
    pub(super) fn choice_mut(&mut self, row: u32, at: u64) -> &mut MoveStats {
        self.moves.at_mut(row, at as usize)
    }

    pub(super) fn joint_mut(&mut self, node: Node) -> &mut JointNode {
        &mut self.joints[node.row]
    }

    /// The moves of a role, in canonical order; none if the node is not open.
    pub(super) fn moves(&self, id: NodeId, role: usize, n_roles: usize) -> Option<&[MoveStats]> {
        let node = self.nodes[id];
        match node.stage {
            Stage::Turn(chooser) if role == usize::from(chooser) => Some(self.row(node)),
            Stage::Turn(chooser) => Some(self.moves.row(single(node, usize::from(chooser), role, n_roles), 1)),
            Stage::Joint => Some(self.joints[node.row].moves(role)),
            _ => None,
        }
    }

    /// The moves of a role.
    pub(super) fn moves_mut(&mut self, id: NodeId, role: usize, n_roles: usize) -> Option<&mut [MoveStats]> {
        let node = self.nodes[id];
        match node.stage {
            Stage::Turn(chooser) if role == usize::from(chooser) => Some(self.row_mut(node)),
            Stage::Turn(chooser) => {
                let place = single(node, usize::from(chooser), role, n_roles);
                Some(self.moves.row_mut(place, 1))
            }
            Stage::Joint => Some(self.joints[node.row].moves_mut(role)),
            _ => None,
        }
    }

    /// The node after a joint move, by the number of the joint move.
    pub(super) fn child(&self, id: NodeId, number: u64) -> Option<NodeId> {
        let node = self.nodes[id];
        match node.stage {
            Stage::Turn(_) => Some(self.row(node)[number as usize].child).filter(|&child| child != NONE),
            _ => self.joints[node.row].children.get(&number).copied(),
        }
    }

    pub(super) fn set_child(&mut self, id: NodeId, number: u64, child: NodeId) {
        let node = self.nodes[id];
        match node.stage {
            Stage::Turn(_) => self.row_mut(node)[number as usize].child = child,
            _ => {
                self.joints[node.row].children.insert(number, child);
            }
        }
    }

    /// The moves of all roles in a joint move, by its number.
    pub(super) fn joint_move(&self, id: NodeId, number: u64, n_roles: usize, out: &mut Vec<MoveId>) {
        let node = self.nodes[id];
        match node.stage {
            Stage::Turn(chooser) => {
                // The single moves of the others stand before the row.
                let others = n_roles - 1;
                let moves = self.moves.row(node.row - others as u32, others as u32 + node.width);
                let chooser = usize::from(chooser).min(others);
                for (role, choice) in moves[..others].iter().enumerate() {
                    if role == chooser {
                        out.push(moves[others + number as usize].mv);
                    }
                    out.push(choice.mv);
                }
                if chooser == others {
                    out.push(moves[others + number as usize].mv);
                }
            }
            _ => {
                let joint = &self.joints[node.row];
                let picks = joint.picks(number);
                out.extend(picks.iter().enumerate().map(|(role, &at)| joint.moves(role)[at].mv));
            }
        }
    }

    /// The place of each role's move in a joint move, by its number.
    pub(super) fn picks(&self, id: NodeId, number: u64, n_roles: usize) -> SmallVec<[usize; 4]> {
        let node = self.nodes[id];
        match node.stage {
            Stage::Turn(chooser) => (0..n_roles)
                .map(|role| {
                    if role == usize::from(chooser) {
                        number as usize
                    } else {
                        0
                    }
                })
                .collect(),
            _ => self.joints[node.row].picks(number),
        }
    }

    /// Tries to prove the outcome of a node from proven successors: the role that chooses can reach the maximum, or all
    /// its moves are proven. Only where a single role has a choice, and not nature. Returns whether the node is newly
    /// proven.
    ///
    /// If several moves are best for that role, the others' payoffs are those of one of them.
    pub(super) fn prove(&mut self, id: NodeId, nature: Option<usize>) -> bool {
        let node = self.nodes[id];
        let Stage::Turn(chooser) = node.stage else {
            return false;
        };
        let role = usize::from(chooser);
        if node.proof != NONE || (Some(role) == nature && node.width > 1) {
            return false;
        }
        let mut best: Option<&Proof> = None;
        let mut all = true;
        let row = self.moves.row_mut(node.row, node.width);
        for choice in row {
            let place = match choice.child {
                NONE => NONE,
                child => self.nodes[child].proof,
            };
            if place == NONE {
                all = false;
                continue;
            }
            let proof = &self.proofs[place];
            choice.known = Some((proof.points[role], proof.rounds));
            if best.is_none_or(|than| proof.is_better(than, role)) {
                best = Some(proof);
            }
        }
        let proof = best
            .filter(|proof| all || proof.points[role] == 100)
            .map(|proof| Proof {
                points: proof.points.clone(),
                rounds: proof.rounds.saturating_add(1),
            });
        match proof {
            Some(proof) => self.set_proof(id, proof),
            None => return false,
        }
        true
    }
}

/// The place of the only move of a role, in a node in which another role chooses.
fn single(node: Node, chooser: usize, role: usize, n_roles: usize) -> u32 {
    let first = node.row + 1 - n_roles as u32;
    first + (role - usize::from(role > chooser)) as u32
}

impl MoveStats {
    pub(super) fn new(mv: MoveId) -> MoveStats {
        MoveStats {
            mean: 0.0,
            visits: 0,
            flying: 0,
            mv,
            child: NONE,
            known: None,
        }
    }

    /// Finished playouts.
    pub(super) fn back(&self) -> u32 {
        self.visits - self.flying
    }

    /// Whether it was never made, and nothing is proven of it.
    #[inline]
    pub(super) fn is_fresh(&self) -> bool {
        (self.visits == 0) & self.known.is_none()
    }

    /// Counts visits that go down.
    #[inline]
    pub(super) fn send(&mut self, n: u32) {
        self.visits += n;
        self.flying += n;
    }

    /// Records playouts that have come back, `done` of them with this sum of points; the others are forgotten. Returns
    /// whether they are the first ones.
    #[inline]
    pub(super) fn land(&mut self, n: u32, done: u32, sum: f64) -> bool {
        let first = done > 0 && self.back() == 0;
        self.flying -= n;
        self.visits -= n - done;
        if done > 0 {
            self.mean += (sum - f64::from(done) * self.mean) / f64::from(self.back());
        }
        first
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

impl JointNode {
    fn range(&self, role: usize) -> std::ops::Range<usize> {
        let start = if role == 0 { 0 } else { self.ends[role - 1] };
        start as usize..self.ends[role] as usize
    }

    pub(super) fn n_roles(&self) -> usize {
        self.ends.len()
    }

    fn moves(&self, role: usize) -> &[MoveStats] {
        &self.choices[self.range(role)]
    }

    pub(super) fn moves_mut(&mut self, role: usize) -> &mut [MoveStats] {
        let range = self.range(role);
        &mut self.choices[range]
    }

    /// Joint moves in the order of the first role's moves, then the second's, and so on. Where there are too many to
    /// number (more than 64 bits), numbers may repeat; no state of any game we know comes near.
    pub(super) fn number(&self, picks: &[usize]) -> u64 {
        let add = |n: u64, (role, &at): (usize, &usize)| {
            let radix = self.range(role).len() as u64;
            n.wrapping_mul(radix).wrapping_add(at as u64)
        };
        picks.iter().enumerate().fold(0, add)
    }

    /// The place of each role's move, by the number of the joint move.
    pub(super) fn picks(&self, mut number: u64) -> SmallVec<[usize; 4]> {
        let mut picks: SmallVec<[usize; 4]> = SmallVec::from_elem(0, self.n_roles());
        for role in (0..self.n_roles()).rev() {
            let radix = self.range(role).len() as u64;
            picks[role] = (number % radix) as usize;
            number /= radix;
        }
        picks
    }
}
