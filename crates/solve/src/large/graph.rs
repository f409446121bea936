//! The state graph: every distinct state of a game once, with its joint moves as edges.
//!
//! States come from the simulator, which is asked once for each distinct state and joint move. States with the same
//! future (legal moves, percepts, successors and goals alike) are then merged, from the last states to the first: a
//! bisimulation on an acyclic graph is found by hash-consing. Terminal states with the same goals become one state.
//!
//! There are far more states before merging than after: [`Draft`] has them in some tens of bytes each.
//!
//! A *silent* round of a role is one in which the role has a single legal move and perceives nothing. With
//! [`Silence::Dropped`] a state in which all roles have a single move and nobody perceives anything is not stored: its
//! successor takes its place.

use super::estimate::least_states;
use super::intern::{Index, Kinds, States};
use super::{LargeError, LargeLimits, Silence, StatesSoFar};
use game::{MoveId, PerceptId, RoleId, Simulator, State};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Rounds after which a game is taken not to end.
const MAX_ROUNDS: u32 = game::limits::MATCH_ROUNDS as u32;

/// How often progress is told and the stop flag looked at, in states.
const PACE: usize = 256;

/// States after which random plays tell for the first time how many there are at least, and how many times as many are
/// found before the next time.
const FIRST_LOOK: usize = 1 << 18;
const BETWEEN_LOOKS: usize = 4;

/// States visited by random plays at most.
const MOST_VISITS: usize = 1 << 22;

/// Where at least a share of one in so many of the memory is needed, random plays visit so many times as many states,
/// which makes the lower bound greater.
const CLOSE: f64 = 8.0;
const THOROUGH: usize = 16;

/// One joint move, or several moves of nature that have the same effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Edge {
    /// The number of each player's move among its legal moves.
    pub actions: [u16; 2],
    /// What each player perceives: the number of a set of percepts, 0 for the empty set.
    pub sees: [u32; 2],
    /// The next state.
    pub to: u32,
    /// Number of moves of nature with this effect.
    pub count: u32,
}

/// A state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StateNode {
    /// The list of legal moves of each player.
    pub legal: [u32; 2],
    /// Number of nature's legal moves.
    pub outcomes: u32,
    /// The goals of the players, if the state is terminal.
    pub goals: Option<[u8; 2]>,
    /// Round in which the state is reached, if it is the same on every path and asked for; else 0.
    pub round: u32,
}

/// A state graph. State 0 is the initial state unless states were merged; see [`StateGraph::initial`].
#[derive(Clone, Debug)]
pub(super) struct StateGraph {
    pub players: Vec<RoleId>,
    pub initial: u32,
    pub states: Vec<StateNode>,
    /// First edge of each state, and the end of the last.
    pub first: Vec<u32>,
    pub edges: Vec<Edge>,
    /// Lists of legal moves of each player, by number. A missing second player has one list with one move.
    pub lists: [Vec<Vec<MoveId>>; 2],
    /// Sets of percepts of each player, by number; 0 is the empty set.
    pub percepts: [Vec<Vec<PerceptId>>; 2],
    /// Longest distance from the initial state: every edge leads to a greater rank.
    pub rank: Vec<u32>,
}

impl StateGraph {
    /// The edges of a state.
    pub fn edges_of(&self, state: u32) -> &[Edge] {
        let at = state as usize;
        &self.edges[self.first[at] as usize..self.first[at + 1] as usize]
    }

    /// Number of legal moves of a player in a state.
    pub fn n_moves(&self, state: u32, player: usize) -> usize {
        self.lists[player][self.states[state as usize].legal[player] as usize].len()
    }

    /// Whether a player has a choice in a state.
    pub fn chooses(&self, state: u32, player: usize) -> bool {
        self.states[state as usize].goals.is_none() && self.n_moves(state, player) > 1
    }

    /// Whether the game is over.
    pub fn is_over(&self, state: u32) -> bool {
        self.states[state as usize].goals.is_some()
    }

    /// Probability of an edge of a state.
    pub fn chance(&self, state: u32, edge: &Edge) -> f64 {
        f64::from(edge.count) / f64::from(self.states[state as usize].outcomes)
    }

    /// The sum of the players' goals, if it is always the same.
    pub fn constant_sum(&self) -> Option<u32> {
        let mut sums = self.states.iter().filter_map(|s| s.goals);
        let sum = |goals: [u8; 2]| u32::from(goals[0]) + u32::from(goals[1]);
        let first = sum(sums.next()?);
        sums.all(|goals| sum(goals) == first).then_some(first)
    }

    /// The least and the greatest goal of a player.
    pub fn range(&self, player: usize) -> (u8, u8) {
        let goals = || self.states.iter().filter_map(|s| s.goals).map(|g| g[player]);
        (goals().min().unwrap_or(0), goals().max().unwrap_or(0))
    }

    /// Numbers of histories: all, those in which a player chooses, and those that are over. Histories are paths.
    /// Numbers beyond 2^53 are rounded.
    pub fn histories(&self) -> [f64; 3] {
        let mut order: Vec<u32> = (0..self.states.len() as u32).collect();
        order.sort_by_key(|&s| self.rank[s as usize]);
        let mut paths = vec![0.0; self.states.len()];
        paths[self.initial as usize] = 1.0;
        let mut counts = [0.0; 3];
        for state in order {
            let here: f64 = paths[state as usize];
            counts[0] += here;
            if self.is_over(state) {
                counts[2] += here;
            } else if self.chooses(state, 0) || self.chooses(state, 1) {
                counts[1] += here;
            }
            for edge in self.edges_of(state) {
                paths[edge.to as usize] += here;
            }
        }
        counts
    }

    /// Ranks of a graph without cycles in which every edge leads to an earlier number.
    fn ranks(&self) -> Vec<u32> {
        let mut rank = vec![0_u32; self.states.len()];
        for state in (0..self.states.len() as u32).rev() {
            let next = rank[state as usize] + 1;
            for edge in self.edges_of(state) {
                let to = &mut rank[edge.to as usize];
                *to = (*to).max(next);
            }
        }
        rank
    }
}

/// A joint move without its successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Label {
    actions: [u16; 2],
    sees: [u32; 2],
    count: u32,
}

/// The graph before states are merged. Few kinds of states and joint moves occur again and again, so that a state is
/// two small numbers and a joint move two words.
pub(super) struct Draft {
    players: Vec<RoleId>,
    lists: [Vec<Vec<MoveId>>; 2],
    percepts: [Vec<Vec<PerceptId>>; 2],
    /// What there is to know of states apart from their rounds.
    kinds: Kinds<StateNode>,
    kind: Vec<u32>,
    round: Vec<u16>,
    first: Vec<u32>,
    labels: Kinds<Label>,
    /// Label and successor of each joint move.
    edges: Vec<[u32; 2]>,
    /// Longest distance of each state from the first.
    rank: Vec<u16>,
    /// Whether every state is reached in one round only.
    pub layered: bool,
}

impl Draft {
    /// Plays out every distinct state.
    pub fn build(
        sim: &mut dyn Simulator,
        silence: Silence,
        limits: &LargeLimits,
        progress: &mut dyn FnMut(StatesSoFar),
    ) -> Result<Draft, LargeError> {
        let mut draft = GraphBuilder::new(sim, silence)?.run(limits, progress)?;
        draft.rank()?;
        Ok(draft)
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.kind.len()
    }

    fn node(&self, state: u32) -> StateNode {
        StateNode {
            round: u32::from(self.round[state as usize]),
            ..self.kinds.list[self.kind[state as usize] as usize]
        }
    }

    fn is_over(&self, state: u32) -> bool {
        self.kinds.list[self.kind[state as usize] as usize].goals.is_some()
    }

    fn edges_of(&self, state: u32) -> impl Iterator<Item = Edge> {
        let at = state as usize;
        let edges = &self.edges[self.first[at] as usize..self.first[at + 1] as usize];
        edges.iter().map(|&[label, to]| {
            let Label { actions, sees, count } = self.labels.list[label as usize];
            Edge {
                actions,
                sees,
                to,
                count,
            }
        })
    }

    /// Sets the number of nature's moves in a state.
    fn set_outcomes(&mut self, state: u32, outcomes: u32) {
        let kind = &mut self.kind[state as usize];
        let node = self.kinds.list[*kind as usize];
        *kind = self.kinds.number(StateNode { outcomes, ..node });
    }

    /// Memory, roughly.
    pub fn bytes(&self) -> u64 {
        let states = (self.kind.capacity() * 4 + self.round.capacity() * 2 + self.first.capacity() * 4) as u64;
        states + 8 * self.edges.capacity() as u64 + self.kinds.bytes() + self.labels.bytes()
    }

    /// Computes ranks; an error if the graph has a cycle.
    fn rank(&mut self) -> Result<(), LargeError> {
        let n = self.len();
        let mut incoming = vec![0_u32; n];
        self.edges.iter().for_each(|&[_, to]| incoming[to as usize] += 1);
        self.rank = vec![0; n];
        let mut ready = vec![0_u32];
        let mut done = 0;
        while let Some(state) = ready.pop() {
            done += 1;
            let next = self.rank[state as usize] + 1;
            for at in self.first[state as usize]..self.first[state as usize + 1] {
                let to = self.edges[at as usize][1] as usize;
                self.rank[to] = self.rank[to].max(next);
                incoming[to] -= 1;
                if incoming[to] == 0 {
                    ready.push(to as u32);
                }
            }
        }
        match done == n {
            true => Ok(()),
            false => Err(LargeError::Endless { rounds: MAX_ROUNDS }),
        }
    }

    /// The states, last ranks first, and in each rank by number.
    fn backwards(&self) -> Vec<u32> {
        let ranks = self.rank.iter().max().map_or(0, |&most| usize::from(most) + 1);
        let mut start = vec![0_usize; ranks + 1];
        for &rank in &self.rank {
            start[ranks - usize::from(rank)] += 1;
        }
        for rank in 0..ranks {
            start[rank + 1] += start[rank];
        }
        let mut order = vec![0_u32; self.len()];
        for (state, &rank) in self.rank.iter().enumerate() {
            let at = &mut start[ranks - 1 - usize::from(rank)];
            order[*at] = state as u32;
            *at += 1;
        }
        order
    }

    /// The graph with states merged that have the same future. With `rounds`, states of different rounds are kept
    /// apart.
    pub fn merged(&self, rounds: bool) -> StateGraph {
        let mut new = StateGraph {
            players: self.players.clone(),
            lists: self.lists.clone(),
            percepts: self.percepts.clone(),
            first: vec![0],
            states: Vec::new(),
            edges: Vec::new(),
            rank: Vec::new(),
            initial: 0,
        };
        let mut number = vec![0_u32; self.len()];
        let mut met = Index::default();
        let mut edges: Vec<Edge> = Vec::new();
        for state in self.backwards() {
            let mut node = self.node(state);
            if !rounds || node.goals.is_some() {
                node.round = 0;
            }
            edges.clear();
            let renumber = |edge: Edge| Edge {
                to: number[edge.to as usize],
                ..edge
            };
            edges.extend(self.edges_of(state).map(renumber));
            merge_edges(&mut edges);
            let fresh = new.states.len() as u32;
            let is = |s: u32| new.states[s as usize] == node && new.edges_of(s) == edges;
            let hash_of = |s: u32| hash(&new.states[s as usize], new.edges_of(s));
            let found = met.find_or_put(hash(&node, &edges), fresh, is, hash_of);
            if found == fresh {
                new.states.push(node);
                new.edges.extend_from_slice(&edges);
                new.first.push(new.edges.len() as u32);
            }
            number[state as usize] = found;
        }
        new.initial = number[0];
        new.rank = new.ranks();
        new
    }
}

fn hash(node: &StateNode, edges: &[Edge]) -> u64 {
    let mut hasher = FxHasher::default();
    (node, edges).hash(&mut hasher);
    hasher.finish()
}

/// Sorts edges and makes one of those that differ only in their number of moves of nature.
fn merge_edges(edges: &mut Vec<Edge>) {
    edges.sort_unstable();
    edges.dedup_by(|later, kept| {
        let same = (later.actions, later.sees, later.to) == (kept.actions, kept.sees, kept.to);
        if same {
            kept.count += later.count;
        }
        same
    });
}

/// Numbers for lists as they are met.
type Numbers<T> = FxHashMap<Vec<T>, u32>;

fn number<T: Clone + Hash + Eq>(numbers: &mut Numbers<T>, list: &[T], all: &mut Vec<Vec<T>>) -> u32 {
    if let Some(&number) = numbers.get(list) {
        return number;
    }
    let number = all.len() as u32;
    all.push(list.to_vec());
    numbers.insert(list.to_vec(), number);
    number
}

struct GraphBuilder<'a> {
    sim: &'a mut dyn Simulator,
    silence: Silence,
    nature: Option<RoleId>,
    draft: Draft,
    /// All states that were met, also those in which nothing happens.
    met: States,
    /// For each of them the number of the state that stands for it, and silent rounds until that state.
    stands: Vec<u32>,
    later: Vec<u16>,
    /// States that are not played out yet, as numbers of `met`.
    waiting: std::collections::VecDeque<u32>,
    moves: [Numbers<MoveId>; 2],
    percepts: [Numbers<PerceptId>; 2],
    /// States of the graph at least, by random plays.
    least: f64,
}

impl<'a> GraphBuilder<'a> {
    fn new(sim: &'a mut dyn Simulator, silence: Silence) -> Result<GraphBuilder<'a>, LargeError> {
        let nature = sim.nature();
        let roles = (0..sim.roles().len() as u16).map(RoleId);
        let players: Vec<RoleId> = roles.filter(|&r| Some(r) != nature).collect();
        match players.len() {
            0 => return Err(LargeError::NoPlayers),
            1 | 2 => {}
            n => return Err(LargeError::Roles(n)),
        }
        let empty = || vec![Vec::new()];
        let mut builder = GraphBuilder {
            sim,
            silence,
            nature,
            draft: Draft {
                players,
                lists: [Vec::new(), Vec::new()],
                percepts: [empty(), empty()],
                kinds: Kinds::default(),
                kind: Vec::new(),
                round: Vec::new(),
                first: vec![0],
                labels: Kinds::default(),
                edges: Vec::new(),
                rank: Vec::new(),
                layered: true,
            },
            met: States::default(),
            stands: Vec::new(),
            later: Vec::new(),
            waiting: std::collections::VecDeque::new(),
            moves: Default::default(),
            percepts: Default::default(),
            least: 0.0,
        };
        for percepts in &mut builder.percepts {
            percepts.insert(Vec::new(), 0);
        }
        let initial = builder.sim.initial()?;
        builder.place(initial, 0)?;
        Ok(builder)
    }

    /// Plays out all states. The words of states are not needed any more then.
    fn run(mut self, limits: &LargeLimits, progress: &mut dyn FnMut(StatesSoFar)) -> Result<Draft, LargeError> {
        let mut number = 0;
        let mut next_look = FIRST_LOOK;
        while let Some(met) = self.waiting.pop_front() {
            if !self.draft.is_over(number) {
                let state = self.met.state(met);
                self.play(&state, number, limits)?;
            }
            self.draft.first.push(self.draft.edges.len() as u32);
            number += 1;
            if (number as usize).is_multiple_of(PACE) {
                progress(self.so_far(number as usize, limits));
                self.check(number as usize, limits)?;
            }
            if self.met.len() >= next_look {
                next_look *= BETWEEN_LOOKS;
                self.look_ahead(limits)?;
            }
        }
        Ok(self.draft)
    }

    fn so_far(&self, played: usize, limits: &LargeLimits) -> StatesSoFar {
        StatesSoFar {
            played,
            found: self.draft.len(),
            least: (self.least as usize).max(self.draft.len()),
            bytes: self.bytes(),
            limit: limits.bytes,
        }
    }

    /// An error if random plays show that there will be far more than allowed.
    fn look_ahead(&mut self, limits: &LargeLimits) -> Result<(), LargeError> {
        let found = self.met.len();
        // Of those that are met in plays, some are passed over.
        let stored = self.draft.len() as f64 / found as f64;
        // States met later may take less memory than those so far. Measured: 228 bytes each at first, 215 at the end.
        let bytes = 0.75 * self.bytes() as f64 / self.draft.len() as f64;
        let mut plays = least_states(self.sim, found.min(MOST_VISITS), MAX_ROUNDS, &limits.stop)?;
        if CLOSE * plays.states * stored * bytes > limits.bytes as f64 {
            let visits = (THOROUGH * found).min(MOST_VISITS);
            plays = least_states(self.sim, visits, MAX_ROUNDS, &limits.stop)?;
        }
        self.least = self.least.max(plays.states * stored);
        let needed = (self.least * bytes) as u64;
        if needed > limits.bytes {
            return Err(LargeError::Memory {
                what: format!(
                    "the graph of states (at least {:.1} million of them by {} random plays)",
                    self.least / 1e6,
                    plays.plays
                ),
                needed,
                limit: limits.bytes,
            });
        }
        match self.least / 2.0 > limits.states as f64 {
            true => Err(LargeError::States(limits.states)),
            false => Ok(()),
        }
    }

    /// An error if the work was stopped or there is more than allowed.
    fn check(&self, number: usize, limits: &LargeLimits) -> Result<(), LargeError> {
        if limits.stop.is_raised() {
            return Err(LargeError::Stopped);
        }
        if self.draft.len() > limits.states {
            return Err(LargeError::States(limits.states));
        }
        let bytes = self.bytes();
        if bytes > limits.bytes {
            return Err(LargeError::Memory {
                what: format!("the graph of states ({number} of at least {} states)", self.draft.len()),
                needed: bytes,
                limit: limits.bytes,
            });
        }
        Ok(())
    }

    /// Memory used so far, roughly.
    fn bytes(&self) -> u64 {
        let met = (4 * self.stands.capacity() + 2 * self.later.capacity() + 4 * self.waiting.capacity()) as u64;
        let lists = self.met.bytes(16 * PACE) + met + self.draft.bytes();
        // Lists that grow leave holes behind, and the simulator keeps states of its own: measured, a sixth and more.
        lists + lists / 4
    }

    fn legal(&mut self, state: &State, role: RoleId, round: u32) -> Result<Vec<MoveId>, LargeError> {
        let mut legal = Vec::new();
        self.sim.legal(state, role, &mut legal)?;
        match legal.is_empty() {
            true => Err(LargeError::NoMove {
                role: self.sim.roles()[role.0 as usize].clone(),
                rounds: round,
            }),
            false => Ok(legal),
        }
    }

    /// All edges of a state.
    fn play(&mut self, state: &State, number: u32, limits: &LargeLimits) -> Result<(), LargeError> {
        let StateNode {
            round, legal: lists, ..
        } = self.draft.node(number);
        if round >= MAX_ROUNDS {
            return Err(LargeError::Endless { rounds: MAX_ROUNDS });
        }
        let moves = |player: usize| self.draft.lists[player][lists[player] as usize].clone();
        let own = [moves(0), moves(1)];
        let outcomes = match self.nature {
            Some(nature) => self.legal(state, nature, round)?,
            None => vec![MoveId(0)],
        };
        self.draft.set_outcomes(number, outcomes.len() as u32);
        let joint_moves = (own[0].len() as u64 * own[1].len() as u64).saturating_mul(outcomes.len() as u64);
        if joint_moves.saturating_mul(size_of::<Edge>() as u64) > limits.bytes {
            return Err(LargeError::Memory {
                what: format!("the {joint_moves} joint moves of one state"),
                needed: joint_moves * size_of::<Edge>() as u64,
                limit: limits.bytes,
            });
        }
        // All joint moves of the state first, and then their successors: simulators are fastest at one state.
        let mut joint = vec![MoveId(0); self.sim.roles().len()];
        let mut after: Vec<(Edge, State)> = Vec::new();
        for (a, &first) in own[0].iter().enumerate() {
            for (b, &second) in own[1].iter().enumerate() {
                for player in 0..self.draft.players.len() {
                    joint[self.draft.players[player].0 as usize] = [first, second][player];
                }
                for &outcome in &outcomes {
                    if let Some(nature) = self.nature {
                        joint[nature.0 as usize] = outcome;
                    }
                    if after.len() % 4096 == 4095 && limits.stop.is_raised() {
                        return Err(LargeError::Stopped);
                    }
                    after.push(self.follow(state, &joint, [a as u16, b as u16])?);
                }
            }
        }
        let mut edges = Vec::with_capacity(after.len());
        for (mut edge, next) in after {
            edge.to = self.place(next, round + 1)?;
            // What is seen at the end of the game decides nothing any more.
            if self.draft.is_over(edge.to) {
                edge.sees = [0, 0];
            }
            edges.push(edge);
        }
        merge_edges(&mut edges);
        if self.draft.edges.len() + edges.len() > u32::MAX as usize {
            return Err(LargeError::TooLarge("joint moves"));
        }
        for Edge {
            actions,
            sees,
            to,
            count,
        } in edges
        {
            let label = self.draft.labels.number(Label { actions, sees, count });
            self.draft.edges.push([label, to]);
        }
        Ok(())
    }

    /// A joint move without the number of its successor, and the successor.
    fn follow(&mut self, state: &State, joint: &[MoveId], actions: [u16; 2]) -> Result<(Edge, State), LargeError> {
        let mut sees = [0, 0];
        let mut percepts = Vec::new();
        for (player, seen) in sees.iter_mut().enumerate().take(self.draft.players.len()) {
            self.sim
                .percepts(state, joint, self.draft.players[player], &mut percepts)?;
            *seen = number(&mut self.percepts[player], &percepts, &mut self.draft.percepts[player]);
        }
        let edge = Edge {
            actions,
            sees,
            to: 0,
            count: 1,
        };
        Ok((edge, self.sim.next(state, joint)?))
    }

    /// The number of a state reached in some round. States in which nothing happens are passed over.
    fn place(&mut self, state: State, round: u32) -> Result<u32, LargeError> {
        let mut passed = 0;
        let first = self.met.len();
        let mut at = state;
        let (found, later) = loop {
            let now = round + passed;
            let known = self.met.len() as u32;
            let met = self.met.number(&at)?;
            if met < known {
                match self.stands.get(met as usize) {
                    Some(&found) => break (found, u32::from(self.later[met as usize])),
                    // One of those that were passed over just now.
                    None => return Err(LargeError::Endless { rounds: MAX_ROUNDS }),
                }
            }
            if now > MAX_ROUNDS {
                return Err(LargeError::Endless { rounds: MAX_ROUNDS });
            }
            let node = self.look(&at, now)?;
            match self.successor_of_silence(&at, &node)? {
                Some(next) => at = next,
                None => break (self.add(met, node, now)?, 0),
            }
            passed += 1;
        };
        let rounds = round + passed + later;
        self.draft.layered &= u32::from(self.draft.round[found as usize]) == rounds;
        for before in 0..(self.met.len() - first) as u32 {
            self.stands.push(found);
            self.later.push((passed - before + later) as u16);
        }
        Ok(found)
    }

    /// Goals or legal moves of a state.
    fn look(&mut self, state: &State, round: u32) -> Result<StateNode, LargeError> {
        let over = self.sim.terminal(state)?;
        let mut node = StateNode {
            legal: [0, 0],
            outcomes: 1,
            goals: None,
            round,
        };
        let mut goals = [0, 0];
        for player in 0..2 {
            let Some(&role) = self.draft.players.get(player) else {
                // A second player that is not there always waits, and gets what the first one does not get.
                node.legal[player] = number(&mut self.moves[player], &[MoveId(0)], &mut self.draft.lists[player]);
                goals[player] = 100 - goals[0];
                continue;
            };
            if over {
                goals[player] = self.sim.goal(state, role)?.points();
                continue;
            }
            let legal = self.legal(state, role, round)?;
            if legal.len() > usize::from(u16::MAX) {
                return Err(LargeError::TooLarge("moves of one role"));
            }
            node.legal[player] = number(&mut self.moves[player], &legal, &mut self.draft.lists[player]);
        }
        if over {
            node.legal = [0, 0];
            node.goals = Some(goals);
        }
        Ok(node)
    }

    /// A state that was met becomes one of the graph.
    fn add(&mut self, met: u32, node: StateNode, round: u32) -> Result<u32, LargeError> {
        let fresh = self.draft.len() as u32;
        if fresh == u32::MAX {
            return Err(LargeError::TooLarge("states"));
        }
        let kind = self.draft.kinds.number(StateNode { round: 0, ..node });
        self.draft.kind.push(kind);
        self.draft.round.push(round as u16);
        self.waiting.push_back(met);
        Ok(fresh)
    }

    /// The next state, if there is only one joint move, nobody perceives anything, and silence is dropped.
    fn successor_of_silence(&mut self, state: &State, node: &StateNode) -> Result<Option<State>, LargeError> {
        if self.silence == Silence::Counted || node.goals.is_some() {
            return Ok(None);
        }
        let mut joint = vec![MoveId(0); self.sim.roles().len()];
        for player in 0..self.draft.players.len() {
            match self.draft.lists[player][node.legal[player] as usize].as_slice() {
                [only] => joint[self.draft.players[player].0 as usize] = *only,
                _ => return Ok(None),
            }
        }
        if let Some(nature) = self.nature {
            let outcomes = self.legal(state, nature, node.round)?;
            match outcomes.as_slice() {
                [only] => joint[nature.0 as usize] = *only,
                _ => return Ok(None),
            }
        }
        let mut percepts = Vec::new();
        for player in 0..self.draft.players.len() {
            self.sim
                .percepts(state, &joint, self.draft.players[player], &mut percepts)?;
            if !percepts.is_empty() {
                return Ok(None);
            }
        }
        Ok(Some(self.sim.next(state, &joint)?))
    }
}
