//! Building a tree on several threads.
//!
//! The rest of a large game is cut into *units*: histories with all their continuations. Each unit is built by itself,
//! with its own numbering, and appended where the builder would have come to it. Units are appended in order, and new
//! views and information sets of a unit in the order in which it met them. That is the order in which one thread would
//! have met them, so the numbers do not depend on the cut or on the threads.
//!
//! If a unit fails, alone or together with earlier ones, the builder visits it itself and finds the error that one
//! thread finds.

use super::builder::{PendingHistory, TreeBuilder, ViewMoves, allowed};
use super::{BuildError, Limits, Node, Tree};
use game::{Simulator, StopFlag};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

/// Number of units: enough for many threads although their sizes differ much.
const UNITS: usize = 256;

/// Histories to visit while cutting, at most.
const LOOKS: usize = 2_048;

/// How a game is cut.
struct UnitPlan {
    /// For each history that is not over, in the order in which the builder visits them: whether it is a unit.
    /// Histories after the last entry are not.
    is_unit: Vec<bool>,
    /// The units, each taken by one thread.
    units: Vec<Mutex<Option<PendingHistory>>>,
    /// Histories reached in each unit.
    reached: Vec<AtomicU64>,
    next: AtomicUsize,
}

/// A history visited while cutting.
struct PlannedHistory {
    at: PendingHistory,
    /// Its continuations, if it is not a unit.
    children: Option<Range<usize>>,
}

impl UnitPlan {
    /// Expands the histories with the fewest rounds until there are enough units.
    fn new(sim: &mut dyn Simulator, stack: &[PendingHistory], stop: &StopFlag) -> UnitPlan {
        let look = |at: PendingHistory| PlannedHistory { at, children: None };
        let mut looks: Vec<PlannedHistory> = stack.iter().rev().cloned().map(look).collect();
        let roots = 0..looks.len();
        let mut open = BinaryHeap::new();
        let mut found = roots.clone();
        for _ in 0..LOOKS {
            let going_on = found.filter(|&number| !looks[number].at.after.over);
            open.extend(going_on.map(|number| Reverse((looks[number].at.rounds, number))));
            if open.len() >= UNITS {
                break;
            }
            let Some(Reverse((_, number))) = open.pop() else {
                break;
            };
            let mut below = TreeBuilder::below(sim, looks[number].at.clone(), stop.clone());
            let Some(root) = below.stack.pop() else { break };
            found = looks.len()..looks.len();
            // An error here will be found again when the unit is built.
            if below.play(root).is_ok() {
                looks.extend(below.stack.into_iter().rev().map(look));
                found.end = looks.len();
                looks[number].children = Some(found.clone());
            }
        }
        UnitPlan::in_order(&looks, roots)
    }

    fn in_order(looks: &[PlannedHistory], roots: Range<usize>) -> UnitPlan {
        let (mut is_unit, mut units) = (Vec::new(), Vec::new());
        let mut stack: Vec<usize> = roots.rev().collect();
        while let Some(number) = stack.pop() {
            let PlannedHistory { at, children } = &looks[number];
            if at.after.over {
                continue;
            }
            is_unit.push(children.is_none());
            match children {
                Some(children) => stack.extend(children.clone().rev()),
                None => units.push(Mutex::new(Some(at.clone()))),
            }
        }
        UnitPlan {
            is_unit,
            reached: units.iter().map(|_| AtomicU64::new(0)).collect(),
            units,
            next: AtomicUsize::new(0),
        }
    }

    /// Histories reached in the first units.
    fn reached(&self, units: usize) -> u64 {
        let counts = self.reached[..units].iter();
        counts.map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// The next unit that no thread has taken.
    fn take(&self) -> Option<(usize, PendingHistory)> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let unit = self.units.get(number)?;
        let taken = unit.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.map(|at| (number, at))
    }
}

/// A unit that was built, or failed.
struct FinishedUnit {
    tree: Tree,
    options: Vec<ViewMoves>,
    longest: Vec<(u64, u32)>,
    result: Result<(), BuildError>,
}

enum UnitMessage {
    /// Some more histories were reached.
    Reached,
    FinishedUnit(usize, Box<FinishedUnit>),
}

impl TreeBuilder<'_> {
    /// The rest of the game, on so many threads.
    pub fn share_out(
        &mut self,
        threads: usize,
        limits: &Limits,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), BuildError> {
        let plan = UnitPlan::new(self.sim, &self.stack, &limits.stop);
        let sims: Vec<Box<dyn Simulator>> = (0..threads.min(plan.units.len())).map(|_| self.sim.fork()).collect();
        let (sender, receiver) = channel();
        let left = Limits {
            histories: allowed(limits).saturating_sub(self.tree.histories),
            stop: limits.stop.clone(),
        };
        std::thread::scope(|scope| {
            for mut sim in sims {
                let (plan, left, sender) = (&plan, &left, sender.clone());
                scope.spawn(move || work(plan, sim.as_mut(), left, &sender));
            }
            drop(sender);
            // Threads that still work when this returns find the channel closed, and stop.
            self.gather(&plan, receiver, limits, progress)
        })
    }

    /// Visits the rest of the game as one thread would, but appends units that were built by the threads.
    fn gather(
        &mut self,
        plan: &UnitPlan,
        receiver: Receiver<UnitMessage>,
        limits: &Limits,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), BuildError> {
        let before = self.tree.histories;
        let mut played: Vec<Option<Box<FinishedUnit>>> = plan.units.iter().map(|_| None).collect();
        let mut units = 0..plan.units.len();
        let mut is_unit = plan.is_unit.iter();
        while let Some(at) = self.stack.pop() {
            let unit = match !at.after.over && is_unit.next().is_some_and(|is_unit| *is_unit) {
                true => units.next(),
                false => None,
            };
            let Some(unit) = unit else {
                self.count(&at, limits, &mut |_| {})?;
                self.visit(at)?;
                continue;
            };
            while played[unit].is_none()
                && let Ok(message) = receiver.recv()
            {
                if let UnitMessage::FinishedUnit(number, what) = message {
                    played[number] = Some(what);
                }
                progress(before + plan.reached(plan.reached.len()));
            }
            if limits.stop.is_raised() {
                let reached = before + plan.reached(plan.reached.len());
                return Err(BuildError::Stopped { reached });
            }
            let put = match played[unit].take() {
                Some(played) => self.put(&at, &played, limits)?,
                None => false,
            };
            if !put {
                drop(receiver);
                self.stack.push(at);
                return self.run(u64::MAX, limits, progress);
            }
        }
        Ok(())
    }

    /// Appends a unit at a pending history. Returns false if the unit failed or contradicts the tree.
    fn put(&mut self, at: &PendingHistory, played: &FinishedUnit, limits: &Limits) -> Result<bool, BuildError> {
        if !matches!(played.result, Ok(()) | Err(BuildError::TooLarge { .. })) {
            return Ok(false);
        }
        let Some(numbers) = self.numbers(at, played) else {
            return Ok(false);
        };
        let before = self.tree.histories;
        for &(within, rounds) in &played.longest {
            if self.longest.last().is_none_or(|&(_, longest)| longest < rounds) {
                self.longest.push((before + within, rounds));
            }
        }
        let limit = allowed(limits);
        if played.result.is_err() || before + played.tree.histories > limit {
            let rounds = self.rounds_within(limit);
            let reached = limit;
            return Err(BuildError::TooLarge { reached, limit, rounds });
        }
        self.append(at, &played.tree, &numbers);
        Ok(true)
    }

    /// Maps the information sets and sequences of a unit to numbers of the tree. None if the unit contradicts what is
    /// known about some view.
    fn numbers(&mut self, at: &PendingHistory, played: &FinishedUnit) -> Option<UnitNumbers> {
        let unit = &played.tree;
        let mut views: Vec<u32> = at.after.views.to_vec();
        for step in &unit.steps {
            let sees = &unit.percepts[step.sees.start as usize..step.sees.end as usize];
            let view = self.step(views[step.parent as usize], step.own, sees);
            views.push(view);
        }
        let mut sequences = at.sequences.to_vec();
        let mut infosets = Vec::with_capacity(unit.infosets.len());
        for set in &unit.infosets {
            let (view, parent) = (views[set.view as usize], sequences[set.parent as usize]);
            let legal = &unit.moves[set.sequences()];
            let Some(ViewMoves::Infoset(number)) = self.agree(set.player as usize, view, parent, legal) else {
                return None;
            };
            infosets.push(number);
            let first = self.tree.infosets[number as usize].first;
            sequences.extend(first..first + set.n);
        }
        for (&view, options) in views.iter().zip(&played.options) {
            if let ViewMoves::Forced(only) = options {
                // A forced move makes no information set, so the player does not matter.
                self.agree(0, view, 0, &[*only])?;
            }
        }
        Some(UnitNumbers { sequences, infosets })
    }

    fn append(&mut self, at: &PendingHistory, unit: &Tree, numbers: &UnitNumbers) {
        let tree = &mut self.tree;
        let (nodes, edges) = (tree.nodes.len() as u32, tree.children.len() as u32);
        let terminals = tree.n_terminals() as u32;
        if let Some(edge) = at.edge {
            tree.children[edge as usize] = nodes;
        }
        let renumber = |node: &Node| match *node {
            Node::Terminal(at) => Node::Terminal(terminals + at),
            Node::Chance { first, n } => Node::Chance {
                first: edges + first,
                n,
            },
            Node::Decision { infoset, first } => Node::Decision {
                infoset: numbers.infosets[infoset as usize],
                first: edges + first,
            },
        };
        tree.nodes.extend(unit.nodes.iter().map(renumber));
        tree.children.extend(unit.children.iter().map(|child| nodes + child));
        tree.labels.extend_from_slice(&unit.labels);
        tree.counts.extend_from_slice(&unit.counts);
        tree.payoffs.extend_from_slice(&unit.payoffs);
        let sequences = unit.leaves.iter().map(|&leaf| numbers.sequences[leaf as usize]);
        tree.leaves.extend(sequences);
        tree.chances.extend_from_slice(&unit.chances);
        tree.histories += unit.histories;
    }
}

/// Numbers in the tree, by number in the unit.
struct UnitNumbers {
    sequences: Vec<u32>,
    infosets: Vec<u32>,
}

/// Builds units one after the other, until there are none or the channel is closed.
fn work(plan: &UnitPlan, sim: &mut dyn Simulator, left: &Limits, sender: &Sender<UnitMessage>) {
    while let Some((number, at)) = plan.take() {
        let mut unit = TreeBuilder::below(sim, at, left.stop.clone());
        let result = unit.run_unit(plan, number, left, sender);
        let played = FinishedUnit {
            tree: unit.tree,
            options: unit.options,
            longest: unit.longest,
            result,
        };
        if sender
            .send(UnitMessage::FinishedUnit(number, Box::new(played)))
            .is_err()
        {
            return;
        }
    }
}

impl TreeBuilder<'_> {
    /// Builds a unit, unless the limit of histories is reached before its end.
    fn run_unit(
        &mut self,
        plan: &UnitPlan,
        number: usize,
        left: &Limits,
        sender: &Sender<UnitMessage>,
    ) -> Result<(), BuildError> {
        loop {
            let until = self.tree.histories + 1024;
            self.run(until, left, &mut |_| {})?;
            plan.reached[number].store(self.tree.histories, Ordering::Relaxed);
            if self.stack.is_empty() {
                return Ok(());
            }
            let (reached, limit) = (self.tree.histories, left.histories);
            if plan.reached(number + 1) > limit {
                let rounds = self.rounds_within(limit);
                return Err(BuildError::TooLarge { reached, limit, rounds });
            }
            if sender.send(UnitMessage::Reached).is_err() {
                return Err(BuildError::Stopped { reached });
            }
        }
    }
}
