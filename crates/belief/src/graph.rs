//! Results of trying joint moves in states, shared by all models of a sampler.
//!
//! A node is a state in a round. Its candidates are the joint moves that the round's clue leaves open. Each candidate
//! is tried once, by the first model that needs it; with lanes, all candidates of many nodes are tried together. Each
//! model still searches as if it were alone: only the work is shared.

use crate::work::{Clue, Level, OpenMoves, Work};
use crate::{Joint, Now};
use game::{Fault, State};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

pub(crate) type TrialNodeId = u32;

/// Result of trying a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrialOutcome {
    Untried,
    Fails,
    To(TrialNodeId),
}

/// Results of the candidates of a node, by candidate. The candidates are a product of moves, which rules can make as
/// large as they like: beyond [`DENSE`] only results are stored.
#[derive(Clone, Debug)]
enum TrialOutcomes {
    /// One place for each candidate.
    Dense(Vec<TrialOutcome>),
    /// The candidates that were tried, among so many.
    Sparse(usize, BTreeMap<usize, TrialOutcome>),
}

/// Candidates up to which each has a place of its own.
const DENSE: usize = 1 << 16;

impl TrialOutcomes {
    fn new(len: usize) -> TrialOutcomes {
        match len <= DENSE {
            true => TrialOutcomes::Dense(vec![TrialOutcome::Untried; len]),
            false => TrialOutcomes::Sparse(len, BTreeMap::new()),
        }
    }

    fn len(&self) -> usize {
        match self {
            TrialOutcomes::Dense(all) => all.len(),
            TrialOutcomes::Sparse(len, _) => *len,
        }
    }

    fn get(&self, candidate: usize) -> TrialOutcome {
        match self {
            TrialOutcomes::Dense(all) => all[candidate],
            TrialOutcomes::Sparse(_, tried) => tried.get(&candidate).copied().unwrap_or(TrialOutcome::Untried),
        }
    }

    fn set(&mut self, candidate: usize, outcome: TrialOutcome) {
        match self {
            TrialOutcomes::Dense(all) => all[candidate] = outcome,
            TrialOutcomes::Sparse(_, tried) => {
                tried.insert(candidate, outcome);
            }
        }
    }

    /// Candidates and their results, in the order of candidates; of a sparse node only those that were tried.
    fn iter(&self) -> impl Iterator<Item = (usize, TrialOutcome)> + '_ {
        let (dense, sparse) = match self {
            TrialOutcomes::Dense(all) => (Some(all), None),
            TrialOutcomes::Sparse(_, tried) => (None, Some(tried)),
        };
        let dense = dense.into_iter().flatten().copied().enumerate();
        dense.chain(sparse.into_iter().flatten().map(|(&at, &outcome)| (at, outcome)))
    }

    fn map(&self, mut of: impl FnMut(TrialOutcome) -> TrialOutcome) -> TrialOutcomes {
        match self {
            TrialOutcomes::Dense(all) => TrialOutcomes::Dense(all.iter().map(|&o| of(o)).collect()),
            TrialOutcomes::Sparse(len, tried) => {
                TrialOutcomes::Sparse(*len, tried.iter().map(|(&at, &o)| (at, of(o))).collect())
            }
        }
    }
}

#[derive(Clone, Debug)]
struct GraphNode {
    state: State,
    round: u32,
    /// Candidates; none until the node is opened.
    fan: Option<OpenMoves>,
    outcomes: TrialOutcomes,
    untried: usize,
    /// Whether no history that explains the view passes through the node.
    dead: bool,
    /// Whether trying all candidates was counted in the budget.
    paid: bool,
    /// Whether the state agrees with [`Now`], for the last value of it.
    fits: Option<(Now, bool)>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct TrialGraph {
    nodes: Vec<GraphNode>,
    /// Per round, where its states are.
    places: Vec<FxHashMap<State, TrialNodeId>>,
    /// How strictly each round's clue was applied.
    levels: Vec<Level>,
}

/// Nodes with more candidates than this are not tried as a whole.
const WHOLE: usize = 4_096;

impl TrialGraph {
    /// A graph of the initial state alone; its node is the first.
    pub(crate) fn new(start: &State) -> (TrialGraph, TrialNodeId) {
        let mut graph = TrialGraph::default();
        let root = graph.node(0, start.clone());
        (graph, root)
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The node of a state in a round.
    pub(crate) fn node(&mut self, round: usize, state: State) -> TrialNodeId {
        if self.places.len() <= round {
            self.places.resize_with(round + 1, FxHashMap::default);
        }
        if let Some(&id) = self.places[round].get(&state) {
            return id;
        }
        let id = self.nodes.len() as TrialNodeId;
        self.places[round].insert(state.clone(), id);
        self.nodes.push(GraphNode {
            state,
            round: round as u32,
            fan: None,
            outcomes: TrialOutcomes::new(0),
            untried: 0,
            dead: false,
            paid: false,
            fits: None,
        });
        id
    }

    pub(crate) fn state(&self, id: TrialNodeId) -> &State {
        &self.nodes[id as usize].state
    }

    /// The number of candidates of an opened node.
    pub(crate) fn n_candidates(&self, id: TrialNodeId) -> usize {
        self.nodes[id as usize].outcomes.len()
    }

    pub(crate) fn outcome(&self, id: TrialNodeId, candidate: usize) -> TrialOutcome {
        self.nodes[id as usize].outcomes.get(candidate)
    }

    pub(crate) fn joint(&self, id: TrialNodeId, candidate: usize) -> Joint {
        let fan = self.nodes[id as usize].fan.as_ref();
        fan.map(|fan| fan.joint(candidate)).unwrap_or_default()
    }

    pub(crate) fn log_choice(&self, id: TrialNodeId) -> f64 {
        self.nodes[id as usize].fan.as_ref().map_or(0.0, |fan| fan.log_choice)
    }

    pub(crate) fn is_dead(&self, id: TrialNodeId) -> bool {
        self.nodes[id as usize].dead
    }

    pub(crate) fn bury(&mut self, id: TrialNodeId) {
        self.nodes[id as usize].dead = true;
    }

    /// Candidates that lead on, as far as is known, and the nodes they lead to.
    pub(crate) fn live(&self, id: TrialNodeId) -> impl Iterator<Item = (usize, TrialNodeId)> + '_ {
        let outcomes = self.nodes[id as usize].outcomes.iter();
        outcomes.filter_map(|(at, outcome)| match outcome {
            TrialOutcome::To(child) if !self.is_dead(child) => Some((at, child)),
            _ => None,
        })
    }

    /// Whether all candidates of an opened node were tried.
    pub(crate) fn is_tried_whole(&self, id: TrialNodeId) -> bool {
        self.nodes[id as usize].untried == 0
    }

    /// How many candidates lead on; where not all were tried, in proportion.
    pub(crate) fn n_live(&self, id: TrialNodeId) -> f64 {
        let node = &self.nodes[id as usize];
        let tried = node.outcomes.len() - node.untried;
        let live = self.live(id).count().max(1) as f64;
        live * node.outcomes.len() as f64 / tried.max(1) as f64
    }

    /// Sets how strictly clues are applied. Conclusions from other levels are forgotten.
    pub(crate) fn read_as(&mut self, clues: &[Clue]) {
        let same = self
            .levels
            .iter()
            .zip(clues)
            .take_while(|(level, clue)| **level == clue.level);
        let same = same.count();
        if same < self.levels.len().min(clues.len()) {
            for node in &mut self.nodes {
                node.dead = false;
                if node.round as usize >= same {
                    node.fan = None;
                    node.outcomes = TrialOutcomes::new(0);
                    node.untried = 0;
                    node.paid = false;
                }
            }
        }
        if same < clues.len() {
            self.levels.truncate(same);
            self.levels.extend(clues[same..].iter().map(|clue| clue.level));
        }
    }

    /// Marks all nodes as alive.
    pub(crate) fn raise_the_dead(&mut self) {
        self.nodes.iter_mut().for_each(|node| node.dead = false);
    }

    /// Finds the candidates of nodes, all of the round of this clue.
    pub(crate) fn open(&mut self, work: &mut Work, clue: &Clue, ids: &[TrialNodeId]) -> Result<(), Fault> {
        let mut closed: Vec<TrialNodeId> = ids.iter().copied().filter(|&id| self.is_closed(id)).collect();
        closed.sort_unstable();
        closed.dedup();
        let states: Vec<&State> = closed.iter().map(|&id| self.state(id)).collect();
        let fans = work.fans(&states, clue)?;
        for (id, fan) in closed.into_iter().zip(fans) {
            let node = &mut self.nodes[id as usize];
            node.untried = fan.len();
            node.outcomes = TrialOutcomes::new(fan.len());
            node.fan = Some(fan);
        }
        Ok(())
    }

    /// Whether the candidates of a node are not known yet.
    pub(crate) fn is_closed(&self, id: TrialNodeId) -> bool {
        self.nodes[id as usize].fan.is_none()
    }

    /// Tries one candidate of an opened node, unless that was done. With lanes, all candidates of the node are tried.
    pub(crate) fn try_one(
        &mut self,
        work: &mut Work,
        clue: &Clue,
        id: TrialNodeId,
        candidate: usize,
    ) -> Result<TrialOutcome, Fault> {
        if self.outcome(id, candidate) == TrialOutcome::Untried {
            if work.on_lanes() && self.n_candidates(id) <= WHOLE {
                self.try_whole(work, clue, &[id])?;
            } else {
                self.try_these(work, clue, &[(id, candidate)])?;
            }
        }
        Ok(self.outcome(id, candidate))
    }

    /// Tries all candidates of opened nodes, except of nodes with too many. Returns how many were tried.
    pub(crate) fn try_whole(&mut self, work: &mut Work, clue: &Clue, ids: &[TrialNodeId]) -> Result<usize, Fault> {
        let mut untried: Vec<TrialNodeId> = ids.to_vec();
        untried.retain(|&id| self.nodes[id as usize].untried > 0 && self.n_candidates(id) <= WHOLE);
        untried.sort_unstable();
        untried.dedup();
        let mut pairs = Vec::new();
        for id in untried {
            let outcomes = self.nodes[id as usize].outcomes.iter();
            let open = outcomes.filter(|(_, outcome)| *outcome == TrialOutcome::Untried);
            pairs.extend(open.map(|(at, _)| (id, at)));
        }
        self.try_these(work, clue, &pairs)?;
        Ok(pairs.len())
    }

    /// The cost of having tried all candidates of these nodes. Each node is counted once.
    pub(crate) fn pay(&mut self, ids: &[TrialNodeId]) -> u64 {
        let mut price = 0;
        for &id in ids {
            let node = &mut self.nodes[id as usize];
            if !std::mem::replace(&mut node.paid, true) {
                // Of a product without bound, only what was tried has a cost.
                let n = match &node.outcomes {
                    TrialOutcomes::Dense(all) => all.len(),
                    TrialOutcomes::Sparse(_, tried) => tried.len(),
                };
                price += n as u64;
            }
        }
        price
    }

    fn try_these(&mut self, work: &mut Work, clue: &Clue, pairs: &[(TrialNodeId, usize)]) -> Result<(), Fault> {
        let mut found: Vec<Option<State>> = vec![None; pairs.len()];
        let mut parents: Vec<&State> = Vec::new();
        let mut candidates: Vec<(u32, Joint)> = Vec::with_capacity(pairs.len());
        let mut last = None;
        for &(id, candidate) in pairs {
            if last.replace(id) != Some(id) {
                parents.push(self.state(id));
            }
            candidates.push((parents.len() as u32 - 1, self.joint(id, candidate)));
        }
        work.try_all(&parents, &candidates, clue, &mut |n, state| found[n] = Some(state))?;
        for (&(id, candidate), state) in pairs.iter().zip(found) {
            let outcome = match state {
                Some(state) => {
                    let round = self.nodes[id as usize].round as usize;
                    TrialOutcome::To(self.node(round + 1, state))
                }
                None => TrialOutcome::Fails,
            };
            let node = &mut self.nodes[id as usize];
            node.outcomes.set(candidate, outcome);
            node.untried -= 1;
        }
        Ok(())
    }

    /// Checks which nodes agree with [`Now`].
    pub(crate) fn check_now(&mut self, work: &mut Work, ids: &[TrialNodeId]) -> Result<(), Fault> {
        let now = work.now;
        let mut open: Vec<TrialNodeId> = ids.iter().copied().filter(|&id| self.fit(id, now).is_none()).collect();
        open.sort_unstable();
        open.dedup();
        let states: Vec<&State> = open.iter().map(|&id| self.state(id)).collect();
        let fits = work.fits_now(&states)?;
        for (id, fits) in open.into_iter().zip(fits) {
            self.nodes[id as usize].fits = Some((now, fits));
        }
        Ok(())
    }

    fn fit(&self, id: TrialNodeId, now: Now) -> Option<bool> {
        self.nodes[id as usize]
            .fits
            .filter(|(of, _)| *of == now)
            .map(|(_, fits)| fits)
    }

    /// Whether a node agrees with [`Now`].
    pub(crate) fn fits(&mut self, work: &mut Work, id: TrialNodeId) -> Result<bool, Fault> {
        if self.fit(id, work.now).is_none() {
            self.check_now(work, &[id])?;
        }
        Ok(self.fit(id, work.now).unwrap_or(true))
    }

    /// Keeps some nodes, the children of their candidates, and all dead nodes; forgets the others. Returns the new
    /// numbers of the nodes asked for.
    pub(crate) fn keep_only(&mut self, ids: &[TrialNodeId]) -> FxHashMap<TrialNodeId, TrialNodeId> {
        let old = std::mem::take(&mut self.nodes);
        self.places.iter_mut().for_each(FxHashMap::clear);
        let mut renumbered = FxHashMap::default();
        let bare = |graph: &mut TrialGraph, id: TrialNodeId| {
            let node = &old[id as usize];
            let new = graph.node(node.round as usize, node.state.clone());
            graph.nodes[new as usize].dead = node.dead;
            graph.nodes[new as usize].fits = node.fits;
            graph.nodes[new as usize].paid = node.paid;
            new
        };
        for &id in ids {
            let new = bare(self, id);
            if renumbered.insert(id, new).is_some() {
                continue;
            }
            let node = &old[id as usize];
            let follow = |outcome: TrialOutcome| match outcome {
                TrialOutcome::To(child) => TrialOutcome::To(bare(self, child)),
                other => other,
            };
            let outcomes = node.outcomes.map(follow);
            let kept = &mut self.nodes[new as usize];
            (kept.fan, kept.outcomes, kept.untried) = (node.fan.clone(), outcomes, node.untried);
        }
        for (id, _) in old.iter().enumerate().filter(|(_, node)| node.dead) {
            bare(self, id as TrialNodeId);
        }
        renumbered
    }
}
