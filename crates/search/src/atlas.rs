//! A cache of the visited part of a game: states, legal moves, successors and percepts, each computed once.
//!
//! Players that visit the same states thousands of times use it ([`HyperPlayII`](crate::HyperPlayII),
//! [`IsMcts`](crate::IsMcts)). The atlas counts every step as a node touched; the simulator counts the steps that were
//! computed.

use crate::Tools;
use crate::wide::{Outlooks, Steps};
use game::{Budget, Fault, MoveId, PerceptId, RoleId, Simulator, State, StopFlag};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::hash::BuildHasher;
use std::sync::Arc;

/// Number of steps, states and views from which on a player empties its caches before the next decision. It is smaller
/// under a clock, because growing and freeing a large table takes long.
pub(crate) fn memory(budget: &Budget) -> usize {
    if budget.timed { 80_000 } else { 4_000_000 }
}

/// One over the share of that number that histories may keep.
pub(crate) const KEPT: usize = 4;

/// Share of the remaining time for following the histories of a belief.
pub(crate) const FOLLOWING: f64 = 0.3;

/// A state of the atlas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(u32);

impl NodeId {
    /// No state of the atlas.
    pub(crate) const NONE: NodeId = NodeId(u32::MAX);
}

/// A set of percepts, interned: equal sets of one role have equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SeenId(u32);

impl SeenId {
    /// No percepts: a role remembers which illegal move it tried.
    pub(crate) const TRIED: SeenId = SeenId(u32::MAX);
}

/// A state with its legal moves, or with its payoffs.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub state: State,
    /// Whether play ends here: the game is over, or some role has no legal move (then every payoff is 0).
    pub over: bool,
    /// Points per role if play ends here, else empty.
    pub points: SmallVec<[u8; 4]>,
    /// Legal moves per role unless play ends here.
    pub legal: SmallVec<[Arc<[MoveId]>; 3]>,
}

/// Legal moves from which on a list is shared between the states that have it. In a game of 60,000 moves a list for
/// each state would take gigabytes within a second; looking for short lists would cost more than they take.
const LONG: usize = 256;

/// Moves of long lists that count as much as a state.
const MOVES_A_STATE: usize = 64;

impl Node {
    /// The place of a move among a role's legal ones.
    pub(crate) fn place(&self, role: usize, mv: MoveId) -> Option<usize> {
        self.legal.get(role)?.iter().position(|&m| m == mv)
    }

    /// Joint moves in the order of the first role's moves, then the second's, and so on. None if 64 bits are too few
    /// for such a number.
    fn number(&self, places: &Places) -> Option<u64> {
        let mut joint = self.legal.iter().zip(places);
        joint.try_fold(0_u64, |number, (legal, &at)| {
            number.checked_mul(legal.len() as u64)?.checked_add(u64::from(at))
        })
    }
}

/// A joint move as places among the legal moves, one for each role.
pub(crate) type Places = SmallVec<[u32; 4]>;

/// Where a joint move leads, and what each role perceives of it.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub to: NodeId,
    pub sees: SmallVec<[SeenId; 4]>,
}

/// Steps computed at once, between two looks at the flag: with lanes, and one by one.
const TOGETHER: usize = 1024;
const FEW: usize = 16;

/// Room for [`Atlas::prepare`].
#[derive(Default)]
pub(crate) struct WideSteps {
    asked: FxHashSet<(NodeId, u64)>,
    joints: Vec<MoveId>,
    steps: Steps,
    outlooks: Outlooks,
}

/// States and steps visited so far.
#[derive(Default)]
pub(crate) struct Atlas {
    nodes: Vec<Node>,
    /// By hash of a state: the last node with that hash. States themselves would be hashed again whenever the map
    /// grows, which takes long.
    heads: FxHashMap<u64, NodeId>,
    /// For each node, the node of the same hash entered before it.
    earlier: Vec<Option<NodeId>>,
    /// By state and number of the joint move.
    edges: FxHashMap<(NodeId, u64), Edge>,
    /// Sets of percepts, by role.
    seen: Vec<FxHashMap<Arc<[PerceptId]>, SeenId>>,
    /// The same sets with their roles, by number.
    sets: Vec<(u16, Arc<[PerceptId]>)>,
    /// Long lists of legal moves, and the number of their moves.
    lists: FxHashSet<Arc<[MoveId]>>,
    listed: usize,
    start: Option<NodeId>,
    /// Steps made, cache hits included.
    pub touches: u64,
    /// Steps computed.
    pub computed: u64,
}

impl Atlas {
    /// Number of states and steps in the cache; long lists of moves count as several.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len() + self.edges.len() + self.listed / MOVES_A_STATE
    }

    /// A list of legal moves; a long one is shared with other states.
    fn list(&mut self, moves: &[MoveId]) -> Arc<[MoveId]> {
        if moves.len() < LONG {
            return moves.into();
        }
        self.lists.get(moves).cloned().unwrap_or_else(|| moves.into())
    }

    /// An atlas of these states only, without steps, and their new numbers. This one loses them: it is of use for
    /// [`Atlas::adopt`] and to be dropped.
    pub(crate) fn successor(&mut self, kept: &[NodeId]) -> (Atlas, FxHashMap<NodeId, NodeId>) {
        let mut new = Atlas {
            touches: self.touches,
            computed: self.computed,
            ..Atlas::default()
        };
        let renamed = new.take_nodes(kept, &mut self.nodes);
        new.start = self.start.and_then(|start| renamed.get(&start).copied());
        (new, renamed)
    }

    /// The number here of a set of percepts of another atlas.
    pub(crate) fn adopt(&mut self, from: &Atlas, sees: SeenId) -> SeenId {
        let (role, set) = &from.sets[sees.0 as usize];
        self.intern(*role, set)
    }

    /// Adds nodes of another atlas.
    fn take_nodes(&mut self, kept: &[NodeId], from: &mut [Node]) -> FxHashMap<NodeId, NodeId> {
        let mut renamed: FxHashMap<NodeId, NodeId> = FxHashMap::default();
        for &id in kept {
            renamed
                .entry(id)
                .or_insert_with(|| self.push(std::mem::take(&mut from[id.0 as usize])));
        }
        renamed
    }

    /// Adds a node whose state is not known.
    fn push(&mut self, node: Node) -> NodeId {
        for list in node.legal.iter().filter(|list| list.len() >= LONG) {
            if self.lists.insert(list.clone()) {
                self.listed += list.len();
            }
        }
        let id = NodeId(self.nodes.len() as u32);
        let before = self.heads.insert(FxBuildHasher.hash_one(&node.state), id);
        self.earlier.push(before);
        self.nodes.push(node);
        id
    }

    fn find(&self, state: &State) -> Option<NodeId> {
        let mut at = self.heads.get(&FxBuildHasher.hash_one(state)).copied();
        while let Some(id) = at.filter(|id| self.node(*id).state != *state) {
            at = self.earlier[id.0 as usize];
        }
        at
    }

    /// Keeps only these states and the steps between them. Returns their new numbers.
    pub(crate) fn retain(&mut self, kept: &[NodeId]) -> FxHashMap<NodeId, NodeId> {
        let mut old = std::mem::take(&mut self.nodes);
        (self.heads, self.earlier) = (FxHashMap::default(), Vec::new());
        (self.lists, self.listed) = (FxHashSet::default(), 0);
        let renamed = self.take_nodes(kept, &mut old);
        let edges = std::mem::take(&mut self.edges).into_iter();
        self.edges = edges
            .filter_map(|((from, number), edge)| {
                let (from, to) = (*renamed.get(&from)?, *renamed.get(&edge.to)?);
                Some(((from, number), Edge { to, ..edge }))
            })
            .collect();
        self.start = self.start.and_then(|start| renamed.get(&start).copied());
        renamed
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The initial state.
    pub(crate) fn start(&mut self, sim: &mut dyn Simulator) -> Result<NodeId, Fault> {
        if let Some(start) = self.start {
            return Ok(start);
        }
        let state = sim.initial()?;
        let start = self.enter(sim, state)?;
        self.start = Some(start);
        Ok(start)
    }

    /// A state, known or new.
    pub(crate) fn enter(&mut self, sim: &mut dyn Simulator, state: State) -> Result<NodeId, Fault> {
        if let Some(id) = self.find(&state) {
            return Ok(id);
        }
        let (over, mut legal) = (sim.terminal(&state)?, Vec::new());
        if !over {
            for role in (0..sim.roles().len()).map(|role| RoleId(role as u16)) {
                let mut moves = Vec::new();
                sim.legal(&state, role, &mut moves)?;
                legal.push(moves);
            }
        }
        self.add(sim, state, over, &legal)
    }

    /// A state, known or new, of which it is known whether the game is over and else what is legal.
    pub(crate) fn insert(
        &mut self,
        sim: &mut dyn Simulator,
        state: State,
        over: bool,
        legal: &[Vec<MoveId>],
    ) -> Result<NodeId, Fault> {
        match self.find(&state) {
            Some(id) => Ok(id),
            None => self.add(sim, state, over, legal),
        }
    }

    fn add(
        &mut self,
        sim: &mut dyn Simulator,
        state: State,
        over: bool,
        legal: &[Vec<MoveId>],
    ) -> Result<NodeId, Fault> {
        let n_roles = sim.roles().len();
        let stuck = !over && legal.iter().any(Vec::is_empty);
        let mut points = SmallVec::new();
        if over {
            for role in (0..n_roles).map(|role| RoleId(role as u16)) {
                points.push(sim.goal(&state, role)?.points());
            }
        } else if stuck {
            points.resize(n_roles, 0);
        }
        let goes_on = !over && !stuck;
        let legal = legal.iter().filter(|_| goes_on).map(|moves| self.list(moves)).collect();
        Ok(self.push(Node {
            over: !goes_on,
            points,
            legal,
            state,
        }))
    }

    /// Makes a joint move.
    pub(crate) fn step(&mut self, sim: &mut dyn Simulator, from: NodeId, places: &Places) -> Result<Edge, Fault> {
        self.touches += 1;
        let key = self.node(from).number(places).map(|number| (from, number));
        if let Some(edge) = key.and_then(|key| self.edges.get(&key)) {
            return Ok(edge.clone());
        }
        self.computed += 1;
        let node = self.node(from);
        let moves = node.legal.iter().zip(places).map(|(legal, &at)| legal[at as usize]);
        let joint: SmallVec<[MoveId; 4]> = moves.collect();
        let state = node.state.clone();
        let mut sees = SmallVec::new();
        let mut percepts = Vec::new();
        for role in 0..joint.len() as u16 {
            sim.percepts(&state, &joint, RoleId(role), &mut percepts)?;
            sees.push(self.intern(role, &percepts));
        }
        let next = sim.next(&state, &joint)?;
        let edge = Edge {
            to: self.enter(sim, next)?,
            sees,
        };
        if let Some(key) = key {
            self.edges.insert(key, edge.clone());
        }
        Ok(edge)
    }

    /// Computes those of these steps that are not known yet, all together. False if time was up. Steps whose joint
    /// moves have no number are left to [`Atlas::step`].
    pub(crate) fn prepare(
        &mut self,
        tools: &mut Tools,
        wanted: &[(NodeId, Places)],
        wide: &mut WideSteps,
        stop: &StopFlag,
    ) -> Result<bool, Fault> {
        let mut missing: Vec<(NodeId, u64, usize)> = Vec::new();
        wide.asked.clear();
        for (at, (from, places)) in wanted.iter().enumerate() {
            let Some(number) = self.node(*from).number(places) else {
                continue;
            };
            let key = (*from, number);
            if !self.edges.contains_key(&key) && wide.asked.insert(key) {
                missing.push((key.0, key.1, at));
            }
        }
        let together = if tools.batch.is_some() { TOGETHER } else { FEW };
        for group in missing.chunks(together) {
            if stop.is_raised() {
                return Ok(false);
            }
            self.compute(tools, group, wanted, wide)?;
        }
        Ok(true)
    }

    /// Steps, by state, number of the joint move, and place in the list.
    fn compute(
        &mut self,
        tools: &mut Tools,
        group: &[(NodeId, u64, usize)],
        wanted: &[(NodeId, Places)],
        wide: &mut WideSteps,
    ) -> Result<(), Fault> {
        self.computed += group.len() as u64;
        wide.joints.clear();
        for &(from, _, at) in group {
            let moves = self.node(from).legal.iter().zip(&wanted[at].1);
            wide.joints.extend(moves.map(|(legal, &at)| legal[at as usize]));
        }
        let from: Vec<&State> = group.iter().map(|&(from, ..)| &self.node(from).state).collect();
        tools.steps(&from, &wide.joints, &mut wide.steps)?;
        // Most states are new: looking for the others first would take as long.
        let states: Vec<&State> = wide.steps.states.iter().collect();
        tools.look(&states, true, &mut wide.outlooks)?;
        for (row, &(from, number, _)) in group.iter().enumerate() {
            let n_roles = self.node(from).legal.len();
            let sees = (0..n_roles).map(|role| self.intern(role as u16, wide.steps.sees(row, role)));
            let sees = sees.collect();
            let state = std::mem::take(&mut wide.steps.states[row]);
            let (over, legal) = (wide.outlooks.over[row], wide.outlooks.legal(row));
            let to = self.insert(tools.sim.as_mut(), state, over, legal)?;
            self.edges.insert((from, number), Edge { to, sees });
        }
        Ok(())
    }

    /// The number of a set of percepts, in whatever order they come.
    pub(crate) fn intern(&mut self, role: u16, percepts: &[PerceptId]) -> SeenId {
        let at = usize::from(role);
        if self.seen.len() <= at {
            self.seen.resize_with(at + 1, FxHashMap::default);
        }
        let mut sorted: SmallVec<[PerceptId; 16]> = SmallVec::from_slice(percepts);
        sorted.sort_unstable();
        if let Some(&known) = self.seen[at].get(&sorted[..]) {
            return known;
        }
        let fresh = SeenId(self.sets.len() as u32);
        let set: Arc<[PerceptId]> = sorted.as_slice().into();
        self.sets.push((role, set.clone()));
        self.seen[at].insert(set, fresh);
        fresh
    }

    /// The places of a joint move among the legal ones; none if some move of it is not legal here.
    pub(crate) fn places(&self, at: NodeId, joint: &[MoveId]) -> Option<Places> {
        let node = self.node(at);
        let places = joint.iter().enumerate();
        places
            .map(|(role, &mv)| node.place(role, mv).map(|at| at as u32))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use game::Seed;
    use propnet::{CompileOptions, Lanes, Scalar, compile};

    /// Steps that were prepared on lanes, or one by one, are those that `step` computes.
    #[test]
    fn prepared_steps_are_those_of_the_simulator() {
        for name in ["phantom-tictactoe", "kuhn-poker", "krieg-tictactoe:size=3,line=3"] {
            let rules = gdl::read(&catalogue::rules(name).unwrap(), &gdl::Options::default()).rules;
            let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {}).unwrap();
            let game = compile(&program, &CompileOptions::default());
            let mut tools = [true, false].map(|lanes| Tools {
                sim: Box::new(Scalar::new(&game)),
                batch: lanes.then(|| Box::new(Lanes::new(&game, Seed(1))) as _),
                playouts: None,
                others: None,
                role: RoleId(0),
                seed: Seed(1),
            });
            let mut slow = Scalar::new(&game);
            let mut atlases = [(); 3].map(|()| Atlas::default());
            let mut at = atlases[2].start(&mut slow).unwrap();
            for (atlas, tools) in atlases.iter_mut().zip(&mut tools) {
                assert_eq!(atlas.start(tools.sim.as_mut()).unwrap(), at);
            }
            for _ in 0..3 {
                let legal: Vec<u32> = atlases[2].node(at).legal.iter().map(|l| l.len() as u32).collect();
                let most = *legal.iter().max().unwrap();
                let places = |n: u32| legal.iter().map(|&l| n.min(l - 1)).collect::<Places>();
                // Each twice: steps in one batch are computed once.
                let wanted: Vec<(NodeId, Places)> = (0..2 * most).map(|n| (at, places(n % most))).collect();
                let known: Vec<Edge> = (0..most)
                    .map(|n| atlases[2].step(&mut slow, at, &places(n)).unwrap())
                    .collect();
                for (atlas, tools) in atlases.iter_mut().zip(&mut tools) {
                    let mut wide = WideSteps::default();
                    assert!(atlas.prepare(tools, &wanted, &mut wide, &StopFlag::default()).unwrap());
                    let computed = atlas.computed;
                    for (n, edge) in (0..).zip(&known) {
                        let found = atlas.step(tools.sim.as_mut(), at, &places(n)).unwrap();
                        assert_eq!((found.to, &found.sees), (edge.to, &edge.sees), "{name}");
                    }
                    assert_eq!(atlas.computed, computed, "nothing is computed again");
                }
                for (number, edge) in known.iter().enumerate() {
                    let id = edge.to;
                    for atlas in &atlases[..2] {
                        let (a, b) = (atlas.node(id), atlases[2].node(id));
                        assert_eq!(
                            (&a.state, a.over, &a.points, &a.legal),
                            (&b.state, b.over, &b.points, &b.legal)
                        );
                    }
                    if !atlases[2].node(id).over && number > 0 {
                        at = id;
                    }
                }
            }
        }
    }

    #[test]
    fn states_share_long_lists_of_moves() {
        let numbers: String = (0..20).map(|n| format!("(n {n}) ")).collect();
        let text = numbers
            + "(role a) (init (s 0)) (<= (legal a (go ?x ?y)) (n ?x) (n ?y)) (<= (next (s ?x)) (does a (go ?x ?y)))
               (<= terminal (true (s 19))) (<= (goal a 100) (true (s 19)))";
        let rules = gdl::read(&text, &gdl::Options::default()).rules;
        let mut sim = ground::Reference::new(&rules).unwrap();
        let mut atlas = Atlas::default();
        let start = atlas.start(&mut sim).unwrap();
        let mut visited = vec![start];
        for at in [60, 120, 350] {
            let places = SmallVec::from_slice(&[at]);
            visited.push(atlas.step(&mut sim, start, &places).unwrap().to);
        }
        let lists: Vec<Arc<[MoveId]>> = visited.iter().map(|&at| atlas.node(at).legal[0].clone()).collect();
        assert_eq!(lists[0].len(), 400);
        assert!(lists.iter().all(|list| Arc::ptr_eq(list, &lists[0])));
        assert_eq!(atlas.len(), 4 + 3 + 400 / MOVES_A_STATE);
        atlas.retain(&visited[..2]);
        assert_eq!(atlas.len(), 2 + 1 + 400 / MOVES_A_STATE);
    }
}
