//! Groups of visits on their way: down, expanded, played out, and back up.

use super::choose::{Spreading, most_promising, most_promising_of_known, spread};
use super::graph::{Graph, NONE, NodeId, Stage};
use super::{PlayoutPolicy, Uct};
use crate::Tools;
use crate::values::Learner;
use crate::wide::Outlooks;
use game::{Budget, Fault, GameEnds, MoveId, PacedStop, Rng, RoleId, Seed, State};
use smallvec::SmallVec;

/// Playouts of a leaf for which idle lanes are used, at most.
const MOST_PLAYOUTS: u64 = 8;
/// Rounds that a descent may take: states may lead back to themselves.
const MAX_DEPTH: u32 = 1_000;
/// Nodes passed between two looks at the stop flag.
const LOOK_EVERY: u32 = 64;

/// Visits on their way down: groups that have chosen a move, groups that wait, and groups at leaves.
#[derive(Default)]
pub(super) struct Flights {
    steps: Vec<Step>,
    waiting: Vec<Arrival>,
    /// Arrivals at nodes whose moves are not known yet.
    unopened: Vec<Arrival>,
    leaves: Vec<Leaf>,
    /// For every step: visits that came back, and whether something below it was proven.
    back: Vec<(u32, bool)>,
    /// For every step, the sum of points of each role.
    sums: Vec<f64>,
    n_roles: usize,
    /// Leaves that are played out.
    open: Vec<Leaf>,
    spreading: Spreading,
}

/// A joint move that a group of visits has chosen.
#[derive(Clone, Copy)]
struct Step {
    node: NodeId,
    /// The step that led to the node.
    up: u32,
    n: u32,
    /// The row of moves of the only role that chooses.
    row: u32,
    /// That role, or [`ALL`].
    chooser: u16,
    /// The number of the joint move; where one role chooses, the place of its move.
    number: u64,
}

/// Several roles choose.
const ALL: u16 = u16::MAX;

/// A group of visits at a node.
#[derive(Clone, Copy)]
struct Arrival {
    by: u32,
    node: NodeId,
    n: u32,
    depth: u32,
}

/// A group of visits that goes no further.
#[derive(Clone, Copy)]
struct Leaf {
    by: u32,
    n: u32,
    at: LeafKind,
}

#[derive(Clone, Copy)]
enum LeafKind {
    /// Behind a move that was not made before.
    Fresh,
    /// At a node that is known: proven, stuck, or deep.
    Node(NodeId),
    /// In a state that is not kept, because there is no memory: its place among such states.
    Loose(u32),
    /// Given up, because there is no time.
    Lost,
}

/// Room for questions about many states.
#[derive(Default)]
pub(super) struct Wide {
    outlooks: Outlooks,
    joints: Vec<MoveId>,
    states: Vec<State>,
    ends: GameEnds,
    /// States of leaves that are not kept, each with the points of an end of the game.
    loose: Vec<(State, Option<SmallVec<[u8; 4]>>)>,
}

/// A payoff for each role.
type Payoffs = SmallVec<[f64; 4]>;

impl Uct {
    /// Sends a group of visits down to its leaves.
    pub(super) fn descend(
        &mut self,
        tools: &mut Tools,
        root: NodeId,
        n: u32,
        rng: &mut Rng,
        budget: &Budget,
    ) -> Result<(), Fault> {
        let nature = tools.sim.nature().map(|r| usize::from(r.0));
        let mut stop = PacedStop::new(&budget.stop, LOOK_EVERY);
        let first = Arrival {
            by: NONE,
            node: root,
            n,
            depth: 0,
        };
        self.pass(first, nature, rng);
        let mut stopped = false;
        loop {
            while let Some(arrival) = self.flights.waiting.pop() {
                // A single descent is always finished.
                stopped = stopped || (n > 1 && stop.is_raised());
                if stopped {
                    self.flights.leaf(arrival.by, arrival.n, LeafKind::Lost);
                } else {
                    self.arrive(arrival, nature, rng);
                }
            }
            if self.flights.unopened.is_empty() {
                return Ok(());
            }
            let nodes: Vec<NodeId> = self.flights.unopened.iter().map(|arrival| arrival.node).collect();
            self.open(tools, &nodes)?;
            let Flights { waiting, unopened, .. } = &mut self.flights;
            waiting.extend(unopened.drain(..).rev());
        }
    }

    /// A group reaches a node.
    #[inline]
    fn arrive(&mut self, arrival: Arrival, nature: Option<usize>, rng: &mut Rng) {
        let node = *self.graph.node(arrival.node);
        match node.stage {
            _ if self.graph.is_proven(arrival.node) || arrival.depth >= MAX_DEPTH => {}
            Stage::Over | Stage::Stuck => {}
            Stage::New if self.is_full() => {}
            Stage::New => return self.flights.unopened.push(arrival),
            Stage::Turn(_) | Stage::Joint => return self.pass(arrival, nature, rng),
        }
        self.flights.leaf(arrival.by, arrival.n, LeafKind::Node(arrival.node));
    }

    /// A single visit goes down, as long as one role chooses and successors are known.
    fn walk(&mut self, arrival: Arrival, nature: Option<usize>, rng: &mut Rng) {
        let full = self.is_full();
        let exploration = self.exploration();
        let Flights {
            steps,
            waiting,
            unopened,
            leaves,
            ..
        } = &mut self.flights;
        let mut here = arrival;
        loop {
            let node = self.graph.node_mut(here.node);
            let Stage::Turn(chooser) = node.stage else {
                return waiting.push(here);
            };
            node.visits += 1;
            let node = *node;
            let row = self.graph.row_mut(node);
            let at = match row.len() {
                1 => 0,
                n if Some(usize::from(chooser)) == nature => rng.below(n),
                _ => {
                    let width = exploration * self.roots.log(node.visits);
                    match node.blank {
                        0 => most_promising_of_known(row, width, self.roots),
                        _ => most_promising(row, width, self.roots, rng),
                    }
                }
            };
            let choice = &mut row[at];
            choice.send(1);
            let child = choice.child;
            let by = steps.len() as u32;
            steps.push(Step {
                node: here.node,
                up: here.by,
                n: 1,
                row: node.row,
                chooser,
                number: at as u64,
            });
            if child == NONE {
                let at = LeafKind::Fresh;
                return leaves.push(Leaf { by, n: 1, at });
            }
            here = Arrival {
                by,
                node: child,
                n: 1,
                depth: here.depth + 1,
            };
            if self.graph.is_proven(child) || here.depth >= MAX_DEPTH {
                let at = LeafKind::Node(child);
                return leaves.push(Leaf { by, n: 1, at });
            }
            match self.graph.node(child).stage {
                Stage::Turn(_) => {}
                Stage::Joint => return waiting.push(here),
                Stage::New if !full => return unopened.push(here),
                _ => {
                    let at = LeafKind::Node(child);
                    return leaves.push(Leaf { by, n: 1, at });
                }
            }
        }
    }

    /// A group chooses moves at a node.
    fn pass(&mut self, arrival: Arrival, nature: Option<usize>, rng: &mut Rng) {
        let stage = self.graph.node(arrival.node).stage;
        if arrival.n == 1 && stage != Stage::Joint {
            return self.walk(arrival, nature, rng);
        }
        let node = self.graph.node_mut(arrival.node);
        node.visits += arrival.n;
        let node = *node;
        let width = self.exploration() * self.roots.log(node.visits);
        let Flights {
            steps,
            waiting,
            leaves,
            spreading,
            ..
        } = &mut self.flights;
        let chooser = match node.stage {
            Stage::Turn(chooser) => chooser,
            _ => ALL,
        };
        let mut go = |number: u64, n: u32, child: NodeId| {
            let by = steps.len() as u32;
            steps.push(Step {
                node: arrival.node,
                up: arrival.by,
                n,
                row: node.row,
                chooser,
                number,
            });
            match child {
                NONE => leaves.push(Leaf {
                    by,
                    n,
                    at: LeafKind::Fresh,
                }),
                node => waiting.push(Arrival {
                    by,
                    node,
                    n,
                    depth: arrival.depth + 1,
                }),
            }
        };
        if let Stage::Turn(chooser) = node.stage {
            let row = self.graph.row_mut(node);
            if row.len() == 1 {
                row[0].send(arrival.n);
                return go(0, arrival.n, row[0].child);
            }
            spreading.taken.clear();
            spreading.taken.resize(row.len(), 0);
            if Some(usize::from(chooser)) == nature {
                (0..arrival.n).for_each(|_| spreading.taken[rng.below(row.len())] += 1);
                let drawn = row.iter_mut().zip(&spreading.taken);
                drawn.for_each(|(choice, &n)| choice.send(n));
            } else {
                spread(row, node.blank > 0, arrival.n, width, self.roots, rng, spreading);
            }
            for (at, &n) in spreading.taken.iter().enumerate().filter(|(_, n)| **n > 0) {
                go(at as u64, n, row[at].child);
            }
            return;
        }
        // Several roles choose at once: each visit by itself, and equal joint moves go on together.
        let joint = self.graph.joint_mut(node);
        let mut numbers: SmallVec<[u64; 16]> = SmallVec::new();
        for _ in 0..arrival.n {
            let mut picks: SmallVec<[usize; 4]> = SmallVec::new();
            for role in 0..joint.n_roles() {
                let choices = joint.moves_mut(role);
                let at = match choices.len() {
                    1 => 0,
                    n if Some(role) == nature => rng.below(n),
                    _ => most_promising(choices, width, self.roots, rng),
                };
                choices[at].send(1);
                picks.push(at);
            }
            numbers.push(joint.number(&picks));
        }
        numbers.sort_unstable();
        for same in numbers.chunk_by(|a, b| a == b) {
            let child = self.graph.child(arrival.node, same[0]).unwrap_or(NONE);
            go(same[0], same.len() as u32, child);
        }
    }

    /// Finds the legal moves of nodes.
    pub(super) fn open(&mut self, tools: &mut Tools, nodes: &[NodeId]) -> Result<(), Fault> {
        let states: Vec<&State> = nodes.iter().map(|&id| self.graph.state(id)).collect();
        tools.look(&states, true, &mut self.wide.outlooks)?;
        for (at, &id) in nodes.iter().enumerate() {
            // Two paths may lead to one node.
            if self.graph.node(id).stage == Stage::New {
                self.graph.open(id, self.wide.outlooks.legal(at));
            }
        }
        Ok(())
    }

    /// Finds out which new nodes are ends of the game.
    pub(super) fn see_ends(&mut self, tools: &mut Tools, nodes: &[NodeId]) -> Result<(), Fault> {
        let states: Vec<&State> = nodes.iter().map(|&id| self.graph.state(id)).collect();
        tools.look(&states, false, &mut self.wide.outlooks)?;
        for (&id, _) in nodes.iter().zip(&self.wide.outlooks.over).filter(|(_, over)| **over) {
            let points = points_of(tools, self.graph.state(id))?;
            self.graph.end(id, points);
        }
        Ok(())
    }

    /// Makes the nodes behind moves that were made for the first time.
    pub(super) fn expand(&mut self, tools: &mut Tools) -> Result<(), Fault> {
        let n_roles = tools.sim.roles().len();
        let is_fresh = |leaf: &Leaf| matches!(leaf.at, LeafKind::Fresh);
        let mut from: Vec<&State> = Vec::new();
        self.wide.joints.clear();
        for leaf in self.flights.leaves.iter().filter(|leaf| is_fresh(leaf)) {
            let step = self.flights.steps[leaf.by as usize];
            from.push(self.graph.state(step.node));
            self.graph
                .joint_move(step.node, step.number, n_roles, &mut self.wide.joints);
        }
        let mut states = std::mem::take(&mut self.wide.states);
        tools.successors(&from, &self.wide.joints, &mut states)?;
        let full = self.is_full();
        self.wide.loose.clear();
        let mut made = Vec::new();
        let mut states_of = states.drain(..);
        for leaf in self.flights.leaves.iter_mut().filter(|leaf| is_fresh(leaf)) {
            let (Some(state), step) = (states_of.next(), self.flights.steps[leaf.by as usize]) else {
                break;
            };
            if full {
                leaf.at = LeafKind::Loose(self.wide.loose.len() as u32);
                self.wide.loose.push((state, None));
                continue;
            }
            let (child, new) = self.graph.place(state);
            self.graph.set_child(step.node, step.number, child);
            leaf.at = LeafKind::Node(child);
            if new {
                made.push(child);
            }
        }
        drop(states_of);
        self.wide.states = states;
        self.touched += (self.flights.steps.len() - self.wide.joints.len() / n_roles) as u64;
        self.see_ends(tools, &made)?;
        self.see_loose_ends(tools)
    }

    /// Finds out which leaves that are not kept are ends of the game.
    fn see_loose_ends(&mut self, tools: &mut Tools) -> Result<(), Fault> {
        let Wide { loose, outlooks, .. } = &mut self.wide;
        let states: Vec<&State> = loose.iter().map(|(state, _)| state).collect();
        tools.look(&states, false, outlooks)?;
        for ((state, points), _) in loose.iter_mut().zip(&outlooks.over).filter(|(_, over)| **over) {
            *points = Some(points_of(tools, state)?);
        }
        Ok(())
    }

    /// Evaluates all leaves and backs up their values.
    pub(super) fn land(&mut self, tools: &mut Tools, seed: Seed, budget: &Budget) -> Result<(), Fault> {
        let n_roles = tools.sim.roles().len();
        let flights = &mut self.flights;
        flights.back.clear();
        flights.back.resize(flights.steps.len(), (0, false));
        flights.sums.clear();
        flights.sums.resize(flights.steps.len() * n_roles, 0.0);
        flights.n_roles = n_roles;
        let mut open = std::mem::take(&mut flights.open);
        open.clear();
        for at in 0..flights.leaves.len() {
            let leaf = flights.leaves[at];
            let id = match leaf.at {
                LeafKind::Node(id) => id,
                LeafKind::Loose(at) => {
                    match &self.wide.loose[at as usize].1 {
                        Some(points) => flights.count(leaf, points.iter().map(|&p| f64::from(p))),
                        None => open.push(leaf),
                    }
                    continue;
                }
                LeafKind::Fresh | LeafKind::Lost => continue,
            };
            match self.graph.proof(id) {
                Some(proof) => {
                    let points = proof.points.iter().map(|&p| f64::from(p));
                    flights.back[leaf.by as usize].1 |= self.options.solve;
                    flights.count(leaf, points);
                }
                // As in playouts: a game that cannot go on earns nothing.
                None if self.graph.node(id).stage == Stage::Stuck => {
                    flights.count(leaf, std::iter::repeat_n(0.0, n_roles));
                }
                None => open.push(leaf),
            }
        }
        let played = match open.is_empty() {
            true => Ok(()),
            false => self.play_out(tools, &open, seed, budget),
        };
        self.flights.open = open;
        played?;
        self.back_up(tools);
        Ok(())
    }

    /// Values leaves by learned values, or plays them out.
    fn play_out(&mut self, tools: &mut Tools, leaves: &[Leaf], seed: Seed, budget: &Budget) -> Result<(), Fault> {
        if let Some(values) = self.learner.as_ref().and_then(Learner::values) {
            for &leaf in leaves {
                if let Some(state) = state_of(&self.graph, &self.wide.loose, &leaf) {
                    self.flights.count(leaf, values.of(state).into_iter());
                }
            }
            return Ok(());
        }
        if self.options.policy == PlayoutPolicy::Mast {
            let mut rng = seed.rng();
            for &leaf in leaves {
                if let Some(values) = self.play_by_mast(tools, leaf, &mut rng, budget)? {
                    self.flights.count(leaf, values.into_iter());
                }
            }
            return Ok(());
        }
        let visits: u64 = leaves.iter().map(|leaf| u64::from(leaf.n)).sum();
        let each = self.playouts_of_a_leaf(tools, visits) as usize;
        let mut roots: Vec<&State> = Vec::with_capacity(visits as usize * each);
        for leaf in leaves {
            if let Some(state) = state_of(&self.graph, &self.wide.loose, leaf) {
                roots.extend(std::iter::repeat_n(state, leaf.n as usize * each));
            }
        }
        tools.one_each(&roots, seed, &budget.stop, &mut self.wide.ends)?;
        let n_roles = tools.sim.roles().len();
        let (mut ended, mut points) = (&self.wide.ends.ended[..], &self.wide.ends.points[..]);
        let mut sums: SmallVec<[u32; 4]> = SmallVec::from_elem(0, n_roles);
        for &leaf in leaves {
            let (here, later) = ended.split_at(leaf.n as usize * each);
            let (earned, others) = points.split_at(here.len() * n_roles);
            (ended, points) = (later, others);
            // Games that were not finished earned nothing.
            let finished = here.iter().filter(|&&ended| ended).count();
            self.played += finished as u64;
            sums.fill(0);
            for game in earned.chunks_exact(n_roles.max(1)) {
                sums.iter_mut().zip(game).for_each(|(sum, &p)| *sum += u32::from(p));
            }
            if finished > 0 {
                let n = finished as f64;
                self.flights.count(leaf, sums.iter().map(|&sum| f64::from(sum) / n));
            }
        }
        Ok(())
    }

    /// Playouts from each leaf of a group: more than one only where the lanes have room for them.
    fn playouts_of_a_leaf(&self, tools: &Tools, visits: u64) -> u64 {
        let lanes = tools.playouts.is_some() && tools.others.is_none();
        let room = if lanes { super::LANES / visits.max(1) } else { 1 };
        self.options.playouts.unwrap_or_else(|| room.clamp(1, MOST_PLAYOUTS))
    }

    fn play_by_mast(
        &mut self,
        tools: &mut Tools,
        leaf: Leaf,
        rng: &mut Rng,
        budget: &Budget,
    ) -> Result<Option<Payoffs>, Fault> {
        let Some(state) = state_of(&self.graph, &self.wide.loose, &leaf) else {
            return Ok(None);
        };
        let mut sums: Payoffs = SmallVec::new();
        let mut n = 0.0;
        for _ in 0..self.options.playouts.unwrap_or(1) * u64::from(leaf.n) {
            let Some(points) = self.mast.play_out(tools.sim.as_mut(), state, rng, &budget.stop)? else {
                break;
            };
            sums.resize(points.len(), 0.0);
            sums.iter_mut().zip(points).for_each(|(sum, p)| *sum += p);
            n += 1.0;
            self.played += 1;
        }
        sums.iter_mut().for_each(|sum| *sum /= n);
        Ok((n > 0.0).then_some(sums))
    }

    /// Backs up the values of all leaves; visits without a value are removed from the counts.
    fn back_up(&mut self, tools: &Tools) {
        let (n_roles, nature) = (tools.sim.roles().len(), tools.sim.nature().map(|r| usize::from(r.0)));
        let flights = &mut self.flights;
        for leaf in &flights.leaves {
            if let LeafKind::Node(id) = leaf.at {
                let (done, _) = flights.back[leaf.by as usize];
                self.graph.node_mut(id).visits += done;
            }
        }
        for at in (0..flights.steps.len()).rev() {
            let step = flights.steps[at];
            let (id, up, n) = (step.node, step.up, step.n);
            let (done, news) = flights.back[at];
            if done < n {
                self.graph.node_mut(id).visits -= n - done;
            }
            let (above, sums) = flights.sums.split_at_mut(at * n_roles);
            let sums = &sums[..n_roles];
            if step.chooser == ALL || up == NONE {
                land_all(&mut self.graph, step, done, sums);
            } else {
                let choice = self.graph.choice_mut(step.row, step.number);
                if choice.land(n, done, sums[usize::from(step.chooser)]) {
                    self.graph.node_mut(id).blank -= 1;
                }
            }
            let news = news && self.graph.prove(id, nature);
            if up != NONE {
                let back = &mut flights.back[up as usize];
                *back = (back.0 + done, back.1 || news);
                let to = &mut above[up as usize * n_roles..(up as usize + 1) * n_roles];
                to.iter_mut().zip(sums).for_each(|(to, from)| *to += from);
            }
        }
        flights.steps.clear();
        flights.leaves.clear();
    }
}

/// The points of all roles in a state in which the game is over.
fn points_of(tools: &mut Tools, state: &State) -> Result<SmallVec<[u8; 4]>, Fault> {
    let mut points = SmallVec::new();
    for role in 0..tools.sim.roles().len() as u16 {
        points.push(tools.sim.goal(state, RoleId(role))?.points());
    }
    Ok(points)
}

/// The state of a leaf.
fn state_of<'a>(graph: &'a Graph, loose: &'a [(State, Option<SmallVec<[u8; 4]>>)], leaf: &Leaf) -> Option<&'a State> {
    match leaf.at {
        LeafKind::Node(id) => Some(graph.state(id)),
        LeafKind::Loose(at) => Some(&loose[at as usize].0),
        LeafKind::Fresh | LeafKind::Lost => None,
    }
}

/// Statistics of all roles at once: where several choose, and at the root.
fn land_all(graph: &mut Graph, step: Step, done: u32, sums: &[f64]) {
    let n_roles = sums.len();
    let picks = graph.picks(step.node, step.number, n_roles);
    let turn = match graph.node(step.node).stage {
        Stage::Turn(chooser) => Some(usize::from(chooser)),
        _ => None,
    };
    for (role, &at) in picks.iter().enumerate() {
        let Some(choices) = graph.moves_mut(step.node, role, n_roles) else {
            continue;
        };
        // The single moves of the other roles are not counted on the way down.
        if turn.is_some_and(|chooser| chooser != role) {
            choices[0].send(step.n);
        }
        let first = choices[at].land(step.n, done, sums[role]);
        if first && turn == Some(role) {
            graph.node_mut(step.node).blank -= 1;
        }
    }
}

impl Flights {
    /// Forgets what a search that failed has left behind.
    pub(super) fn reset(&mut self) {
        self.steps.clear();
        self.waiting.clear();
        self.unopened.clear();
        self.leaves.clear();
    }

    fn leaf(&mut self, by: u32, n: u32, at: LeafKind) {
        self.leaves.push(Leaf { by, n, at });
    }

    /// Counts the visits of a leaf, each worth these points.
    fn count(&mut self, leaf: Leaf, points: impl Iterator<Item = f64>) {
        let by = leaf.by as usize;
        self.back[by].0 += leaf.n;
        let n_roles = self.n_roles;
        let sums = &mut self.sums[by * n_roles..(by + 1) * n_roles];
        sums.iter_mut()
            .zip(points)
            .for_each(|(sum, p)| *sum += f64::from(leaf.n) * p);
    }
}
