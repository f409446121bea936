//! The views of one role as a graph.
//!
//! A *class* of views is the set of states that the role holds possible after them. Views with equal sets have equal
//! continuations, so the tree of all views unfolds from a graph of classes whose children are found by own move and
//! percepts. Classes that unfold to the same tree are merged as well. Sizes and places of all subtrees follow from the
//! graph: the tree itself is never made.
//!
//! The tree is laid out twice, in preorder. In *slots*, every class has a header, which holds a probability, followed
//! by the slots of its children; a class in which the role waits for a single continuation shares the header of that
//! continuation. In *sequences*, every class in which the role chooses has one place for each move, followed by those
//! of its children.

use super::graph::StateGraph;
use super::intern::Index;
use super::{LargeError, LargeLimits, Silence};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// A continuation of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Child {
    /// Number of the own move; 0 if the role has no choice.
    pub action: u16,
    /// What happens; see [`seen`] and [`arrival`].
    pub event: u32,
    /// The class that follows.
    pub class: u32,
    /// Its first slot, counted from the parent's.
    pub slot: u32,
    /// Its first sequence, counted from the parent's.
    pub sequence: u32,
}

/// The event that a set of percepts is seen.
pub(super) fn seen(percepts: u32) -> u32 {
    2 * percepts
}

/// The event that the role gets to choose from a list of moves after silent rounds.
pub(super) fn arrival(list: u32) -> u32 {
    2 * list + 1
}

/// A class of views.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ViewClass {
    /// The list of legal moves, if the role has a choice.
    pub list: Option<u32>,
    /// The list of legal moves, also if there is only one; none if it depends on the state.
    pub moves: Option<u32>,
    /// Number of moves if there is a choice, else 0.
    pub n_moves: u32,
    /// Round of the class, where rounds are kept; else 0.
    pub round: u32,
    pub children: Vec<Child>,
    /// Slots of the subtree.
    pub slots: u64,
    /// Sequences of the subtree.
    pub sequences: u64,
    /// Information sets of the subtree.
    pub infosets: u64,
}

impl ViewClass {
    /// The child after a move and an event.
    #[inline]
    pub fn child(&self, action: u16, event: u32) -> Option<&Child> {
        self.children.iter().find(|c| c.action == action && c.event == event)
    }

    /// The first child after a move.
    #[inline]
    pub fn first_child(&self, action: u16) -> Option<&Child> {
        self.children.iter().find(|c| c.action == action)
    }
}

/// The graph of the views of one role.
#[derive(Clone, Debug)]
pub(super) struct ViewGraph {
    pub player: usize,
    pub silence: Silence,
    /// The class at the start.
    pub root: u32,
    /// Every child has a smaller number. The first class is that of views after which the game is over.
    pub classes: Vec<ViewClass>,
}

impl ViewGraph {
    pub fn root(&self) -> &ViewClass {
        &self.classes[self.root as usize]
    }

    /// The views of a player. With `rounds`, classes of different rounds are kept apart, and it is an error
    /// ([`LargeError::Rounds`]) if the role could learn something by counting silent rounds.
    pub fn build(
        graph: &StateGraph,
        player: usize,
        silence: Silence,
        rounds: bool,
        limits: &LargeLimits,
    ) -> Result<ViewGraph, LargeError> {
        let mut builder = ClassBuilder {
            graph,
            player,
            silence,
            rounds,
            sets: Index::default(),
            drafts: Vec::new(),
            members: 0,
            children: 0,
        };
        let root = builder.class(vec![graph.initial])?;
        let mut at = 0;
        while at < builder.drafts.len() {
            builder.expand(at)?;
            builder.children += builder.drafts[at].children.capacity();
            at += 1;
            if limits.stop.is_raised() {
                return Err(LargeError::Stopped);
            }
            let drafts = builder.drafts.capacity() * size_of::<Draft>() + 12 * builder.children;
            let bytes = 4 * builder.members + drafts as u64 + builder.sets.bytes(PACE);
            if bytes > limits.bytes {
                return Err(LargeError::Memory {
                    what: format!("the classes of views ({at} of at least {})", builder.drafts.len()),
                    needed: bytes,
                    limit: limits.bytes,
                });
            }
        }
        builder.finish(root)
    }

    /// A choice of numbers for every information set becomes a realization plan: for each slot, the role's own
    /// probability. `choose` gets the first sequence of an information set, and fills in a probability for each move.
    pub fn plan(&self, plan: &mut [f64], choose: &mut dyn FnMut(usize, &mut [f64])) {
        self.plan_below(self.root, 0, 0, 1.0, plan, choose);
    }

    /// The plan below a class at some place, which the role reaches with probability `reach`.
    pub fn plan_below(
        &self,
        class: u32,
        slot: usize,
        sequence: usize,
        reach: f64,
        plan: &mut [f64],
        choose: &mut dyn FnMut(usize, &mut [f64]),
    ) {
        let here = &self.classes[class as usize];
        plan[slot] = reach;
        if here.list.is_none() {
            for child in &here.children {
                let at = slot + child.slot as usize;
                self.plan_below(child.class, at, sequence + child.sequence as usize, reach, plan, choose);
            }
            return;
        }
        let mut policy: smallvec::SmallVec<[f64; 16]> = smallvec::smallvec![0.0; here.n_moves as usize];
        choose(sequence, &mut policy);
        for child in &here.children {
            let reach = reach * policy[usize::from(child.action)];
            let at = slot + child.slot as usize;
            self.plan_below(child.class, at, sequence + child.sequence as usize, reach, plan, choose);
        }
    }

    /// The slot of the first child of each move, counted from the slot of a class with a choice.
    pub fn action_slots(&self, class: u32, out: &mut Vec<u32>) {
        out.clear();
        let here = &self.classes[class as usize];
        let mut next = 0;
        for child in &here.children {
            if u32::from(child.action) == next {
                out.push(child.slot);
                next += 1;
            }
        }
        debug_assert_eq!(out.len(), here.n_moves as usize);
    }
}

/// A class whose children are numbers of drafts.
struct Draft {
    states: Box<[u32]>,
    list: Option<u32>,
    moves: Option<u32>,
    round: u32,
    /// Own move, event, and class.
    children: Vec<(u16, u32, u32)>,
}

struct ClassBuilder<'a> {
    graph: &'a StateGraph,
    player: usize,
    silence: Silence,
    rounds: bool,
    /// The classes by their sets of states.
    sets: Index,
    drafts: Vec<Draft>,
    /// States of all sets together.
    members: u64,
    /// Children of all classes together.
    children: usize,
}

/// More classes than are found between two looks at the memory, usually.
const PACE: usize = 4096;

fn hash(states: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    states.hash(&mut hasher);
    hasher.finish()
}

/// Stands for the class of views after which the game is over.
const OVER: u32 = u32::MAX;

impl ClassBuilder<'_> {
    /// The class of a set of states. States in which the game is over do not count.
    fn class(&mut self, mut states: Vec<u32>) -> Result<u32, LargeError> {
        states.retain(|&s| !self.graph.is_over(s));
        states.sort_unstable();
        states.dedup();
        if states.is_empty() {
            return Ok(OVER);
        }
        let (drafts, next) = (&self.drafts, self.drafts.len() as u32);
        let is = |n: u32| *drafts[n as usize].states == *states;
        let hash_of = |n: u32| hash(&drafts[n as usize].states);
        let number = self.sets.find_or_put(hash(&states), next, is, hash_of);
        if number < next {
            return Ok(number);
        }
        self.members += states.len() as u64;
        self.drafts.push(Draft {
            list: None,
            round: 0,
            moves: None,
            states: states.into(),
            children: Vec::new(),
        });
        Ok(number)
    }

    /// Finds the children of a class.
    fn expand(&mut self, at: usize) -> Result<(), LargeError> {
        let states = self.drafts[at].states.clone();
        let list = |s: u32| self.graph.states[s as usize].legal[self.player];
        let first = list(states[0]);
        let alike = states.iter().all(|&s| list(s) == first);
        let chooses = self.graph.chooses(states[0], self.player);
        if alike && chooses {
            self.drafts[at].list = Some(first);
            self.drafts[at].moves = Some(first);
            let round = |s: u32| self.graph.states[s as usize].round;
            if self.rounds {
                self.drafts[at].round = round(states[0]);
                if states.iter().any(|&s| round(s) != round(states[0])) {
                    return Err(LargeError::Rounds);
                }
            }
            return self.expand_choice(at, &states);
        }
        match self.silence {
            Silence::Dropped => self.expand_waiting(at, &states),
            Silence::Counted => {
                if states.iter().any(|&s| self.graph.chooses(s, self.player)) || !alike {
                    return Err(LargeError::Unclear { player: self.player });
                }
                self.drafts[at].moves = Some(first);
                self.expand_choice(at, &states)
            }
        }
    }

    /// One round, with or without a choice.
    fn expand_choice(&mut self, at: usize, states: &[u32]) -> Result<(), LargeError> {
        let mut after: Vec<(u16, u32, u32)> = Vec::new();
        for &state in states {
            let edges = self.graph.edges_of(state).iter();
            after.extend(edges.map(|e| (e.actions[self.player], e.sees[self.player], e.to)));
        }
        after.sort_unstable();
        after.dedup();
        let mut children: Vec<(u16, u32, u32)> = Vec::new();
        for same in after.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (action, sees, _) = same[0];
            let class = self.class(same.iter().map(|a| a.2).collect())?;
            // Ends need no place of their own if the move has another continuation.
            match children.last() {
                Some(&(before, _, last)) if before == action && last == OVER => {
                    children.pop();
                    children.push((action, seen(sees), class));
                }
                Some(&(before, ..)) if before == action && class == OVER => {}
                _ => children.push((action, seen(sees), class)),
            }
        }
        self.drafts[at].children = children;
        Ok(())
    }

    /// Silent rounds until the role perceives something or has a choice.
    fn expand_waiting(&mut self, at: usize, states: &[u32]) -> Result<(), LargeError> {
        let mut pending: std::collections::BTreeSet<(u32, u32)> =
            states.iter().map(|&s| (self.graph.rank[s as usize], s)).collect();
        // Event, round, state after it.
        let mut after: Vec<(u32, u32, u32)> = Vec::new();
        while let Some((_, state)) = pending.pop_first() {
            let node = &self.graph.states[state as usize];
            let round = if self.rounds { node.round } else { 0 };
            if self.graph.chooses(state, self.player) {
                after.push((arrival(node.legal[self.player]), round, state));
                continue;
            }
            for edge in self.graph.edges_of(state) {
                match edge.sees[self.player] {
                    _ if self.graph.is_over(edge.to) => {}
                    0 => {
                        pending.insert((self.graph.rank[edge.to as usize], edge.to));
                    }
                    sees => after.push((seen(sees), round, edge.to)),
                }
            }
        }
        after.sort_unstable();
        after.dedup();
        let mut children = Vec::new();
        for same in after.chunk_by(|a, b| a.0 == b.0) {
            if same.iter().any(|a| a.1 != same[0].1) {
                return Err(LargeError::Rounds);
            }
            let class = self.class(same.iter().map(|a| a.2).collect())?;
            children.push((0, same[0].0, class));
        }
        self.drafts[at].children = children;
        Ok(())
    }

    /// Merges classes that unfold to the same tree, and lays the tree out.
    fn finish(self, root: u32) -> Result<ViewGraph, LargeError> {
        let over = ViewClass {
            slots: 1,
            ..ViewClass::default()
        };
        let mut views = ViewGraph {
            player: self.player,
            silence: self.silence,
            root: 0,
            classes: vec![over],
        };
        if root == OVER {
            return Ok(views);
        }
        const UNKNOWN: u32 = u32::MAX;
        let mut number = vec![UNKNOWN; self.drafts.len()];
        let mut met: FxHashMap<Shape, u32> = FxHashMap::default();
        // Children before parents, without recursion.
        let mut stack = vec![(root, false)];
        while let Some((at, expanded)) = stack.pop() {
            if number[at as usize] != UNKNOWN {
                continue;
            }
            let draft = &self.drafts[at as usize];
            if !expanded {
                stack.push((at, true));
                stack.extend(
                    draft
                        .children
                        .iter()
                        .map(|c| c.2)
                        .filter(|&c| c != OVER)
                        .map(|c| (c, false)),
                );
                continue;
            }
            let child = |&(action, event, class): &(u16, u32, u32)| {
                let class = if class == OVER { 0 } else { number[class as usize] };
                (action, event, class)
            };
            let shape = Shape {
                list: draft.list,
                moves: draft.moves,
                round: draft.round,
                children: draft.children.iter().map(child).collect(),
            };
            let next = views.classes.len() as u32;
            number[at as usize] = *met.entry(shape.clone()).or_insert(next);
            if number[at as usize] == next {
                let class = self.lay_out(&shape, &views.classes)?;
                views.classes.push(class);
            }
        }
        views.root = number[root as usize];
        Ok(views)
    }

    fn lay_out(&self, shape: &Shape, classes: &[ViewClass]) -> Result<ViewClass, LargeError> {
        let n_moves = shape
            .list
            .map_or(0, |list| self.graph.lists[self.player][list as usize].len() as u32);
        let mut class = ViewClass {
            list: shape.list,
            moves: shape.moves,
            n_moves,
            round: shape.round,
            children: Vec::with_capacity(shape.children.len()),
            // Waiting for one continuation only needs no header of its own.
            slots: u64::from(shape.list.is_some() || shape.children.len() != 1),
            sequences: u64::from(n_moves),
            infosets: u64::from(shape.list.is_some()),
        };
        let place = |n: u64| u32::try_from(n).map_err(|_| LargeError::TooLarge("information sets"));
        for &(action, event, number) in &shape.children {
            let below = &classes[number as usize];
            class.children.push(Child {
                action,
                event,
                class: number,
                slot: place(class.slots)?,
                sequence: place(class.sequences)?,
            });
            class.slots += below.slots;
            class.sequences += below.sequences;
            class.infosets += below.infosets;
        }
        place(class.slots.max(class.sequences))?;
        Ok(class)
    }
}

/// What a class unfolds to.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Shape {
    list: Option<u32>,
    moves: Option<u32>,
    round: u32,
    children: Vec<(u16, u32, u32)>,
}
