//! Playing out a game on several threads.
//!
//! What is left to do when a game turns out to be large is cut into *units*, histories with all that comes after them. Each is
//! played out by itself, with numbers of its own, and put where the builder would have come to it. Units are put
//! there in order, and what is new in a unit is new in the order in which it was met there: that is the order in which
//! one thread would have met it, so the numbers are the same however the game is cut and whoever plays what.
//!
//! When something is wrong in a unit, or with it and those before it, the builder goes there itself and finds the error
//! that one thread finds.

use super::builder::{PendingHistory, TreeBuilder, ViewMoves, allowed};
use super::{BuildError, Limits, Node, Tree};
use game::Simulator;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

/// Units to cut a game into: enough for many threads although some are much larger than others.
const UNITS: usize = 256;

/// Histories to look at for that at most.
const LOOKS: usize = 2_048;

/// How a game is cut.
struct UnitPlan {
    /// For each history that is not over, in the order in which the builder comes to it: whether it is a unit. All after the
    /// last of these are not.
    is_unit: Vec<bool>,
    /// To be taken by whoever plays it out.
    units: Vec<Mutex<Option<PendingHistory>>>,
    /// Histories reached in each unit.
    reached: Vec<AtomicU64>,
    next: AtomicUsize,
}

/// A history that was looked at to make a plan.
struct PlannedHistory {
    at: PendingHistory,
    /// Its continuations, if it is not a unit.
    children: Option<Range<usize>>,
}

impl UnitPlan {
    /// Takes apart the histories with the fewest rounds until there are enough.
    fn new(sim: &mut dyn Simulator, stack: &[PendingHistory]) -> UnitPlan {
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
            let mut below = TreeBuilder::below(sim, looks[number].at.clone());
            let Some(root) = below.stack.pop() else { break };
            found = looks.len()..looks.len();
            // What fails here fails where it is played out.
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

    /// The unit that nobody has taken yet.
    fn take(&self) -> Option<(usize, PendingHistory)> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let unit = self.units.get(number)?;
        let taken = unit.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.map(|at| (number, at))
    }
}

/// What came of a unit.
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
        let plan = UnitPlan::new(self.sim, &self.stack);
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
            // Whoever still works when this returns finds that nobody listens, and stops.
            self.gather(&plan, receiver, limits, progress)
        })
    }

    /// Goes through the rest of the game as one thread would, but takes units as others have played them.
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

    /// Puts a unit where a history is pending, unless something is wrong with it.
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

    /// What information sets and sequences of a unit are called here. Nothing, if it contradicts what is known of some view.
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
                // A forced move makes no information set, so it does not matter whose it is.
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

/// What things of a unit are called in the whole.
struct UnitNumbers {
    sequences: Vec<u32>,
    infosets: Vec<u32>,
}

/// Plays out units, one after the other, while there are any and somebody listens.
fn work(plan: &UnitPlan, sim: &mut dyn Simulator, left: &Limits, sender: &Sender<UnitMessage>) {
    while let Some((number, at)) = plan.take() {
        let mut unit = TreeBuilder::below(sim, at);
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
    /// All of a unit, unless it is known to begin or to end beyond the limit.
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
