//! One pass: the counterfactual values of all moves of one role, the *responder*, against a fixed strategy of the
//! other.
//!
//! The pass walks the responder's tree of views. At a node it keeps *entries*: pairs of a state and a class of the
//! other role's views, each with a slice of the other role's realization plan, which says how likely the other role
//! reaches the pair and what it does from there on. Entries with the same pair are merged by adding their slices: what
//! the other role did before does not matter any more. So the work grows with the distinct continuations, not with the
//! histories. At the end of the game the header of the slice is the probability. The idea is that of public-state
//! best responses (Johanson and others, *Accelerating Best Response Calculation in Large Extensive Games*, 2011)
//! carried over to games without public states.
//!
//! Determinism: the tree is cut into tasks at places that depend on the game only. Each value is computed within one
//! task, and entries are added in the order in which they were met. So results are the same for any number of threads.

mod buffers;
mod done;
mod merge;
mod tasks;
mod walker;

pub(super) use buffers::Buffers;
pub(super) use done::Done;

use super::pairs::PairGraph;
use super::symmetry::{Kid, Quotient};
use super::views::{Child, ViewGraph};
use game::StopFlag;
use merge::Entry;
use tasks::{TaskQueue, TopWalk};
use walker::Walker;

/// What a node is worth to the responder, times the probability that the other role and nature let it be reached.
/// Payoffs are relative to their middle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Worth {
    /// By best response; a lower bound if the work was stopped.
    pub low: f64,
    /// By best response; an upper bound if the work was stopped.
    pub high: f64,
    /// By the responder's own strategy.
    pub value: f64,
}

impl Worth {
    /// What is known exactly.
    fn plain(value: f64) -> Worth {
        Worth {
            low: value,
            high: value,
            value,
        }
    }

    fn add(&mut self, other: Worth) {
        self.low += other.low;
        self.high += other.high;
        self.value += other.value;
    }
}

/// A place in the responder's tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The node of the tree up to symmetry.
    pub node: u32,
    pub class: u32,
    pub slot: usize,
    pub sequence: usize,
}

impl Place {
    /// The root of a tree.
    pub fn root(views: &ViewGraph, quotient: &Quotient) -> Place {
        Place {
            node: quotient.root,
            class: views.root,
            slot: 0,
            sequence: 0,
        }
    }

    pub fn child(&self, child: &Child, kid: &Kid) -> Place {
        self.below(child, kid.node)
    }

    /// The place of a child with its node.
    #[inline]
    pub fn below(&self, child: &Child, node: u32) -> Place {
        Place {
            node,
            class: child.class,
            slot: self.slot + child.slot as usize,
            sequence: self.sequence + child.sequence as usize,
        }
    }
}

/// What the responder does with the values of its moves.
pub(super) trait Choice {
    /// The worth of an information set from that of its moves. `mass` is the probability that the other role and
    /// nature let it be reached.
    fn decide(&mut self, views: &ViewGraph, at: Place, mass: f64, moves: &[Worth]) -> Worth;

    /// A subtree that the other role and nature never let be reached.
    fn skip(&mut self, views: &ViewGraph, at: Place);
}

/// A pass of one responder.
pub(super) struct Pass<'a> {
    /// Views of the responder.
    pub views: &'a ViewGraph,
    /// The same up to the symmetries of both roles' strategies.
    pub quotient: &'a Quotient,
    /// Pairs of the other role.
    pub pairs: &'a PairGraph,
    /// Realization plan of the other role, times any factor.
    pub plan: &'a [f64],
    /// Greatest distance of a payoff from the middle.
    pub half_range: f64,
    /// Tasks that are done already, and those that get done.
    pub done: Option<&'a Done>,
    /// Memory for slices.
    pub buffers: &'a Buffers,
    /// Number of threads.
    pub threads: usize,
    /// Ends the work.
    pub stop: &'a StopFlag,
}

/// Makes the choice of a task, by the first sequence of the task.
pub(super) type Chooser<'a> = dyn Fn(usize) -> Box<dyn Choice + 'a> + Sync + 'a;

/// The result of a pass.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PassResult {
    pub worth: Worth,
    /// Entries after merging.
    pub entries: u64,
    /// Whether all was visited.
    pub complete: bool,
}

/// Tasks per tree, roughly.
const TASKS: u64 = 256;

/// Information sets of a task at least.
const SMALLEST_TASK: u64 = 500;

/// Information sets up to which a subtree is one task.
pub(super) fn task_size(quotient: &Quotient) -> u64 {
    (quotient.root().infosets / TASKS).max(SMALLEST_TASK)
}

impl Pass<'_> {
    /// Keeps the worth of a task that was not stopped.
    fn keep(&self, number: usize, worth: Worth, stopped: bool) {
        if let Some(done) = self.done.filter(|_| !stopped) {
            done.tasks().insert(number, worth);
        }
    }

    /// The worth of a task that is done.
    fn known(&self, number: usize) -> Option<Worth> {
        self.done.and_then(|done| done.tasks().get(&number).copied())
    }

    /// Walks the whole tree. `progress` gets the share that is done.
    pub fn run<'c>(&self, chooser: &'c Chooser<'c>, progress: &mut dyn FnMut(f64)) -> PassResult {
        let Some((root, slot)) = self.pairs.root else {
            return PassResult {
                complete: true,
                ..PassResult::default()
            };
        };
        let entry = Entry {
            pair: root,
            source: slot as usize,
            factor: 1.0 / self.plan[0],
        };
        let at = Place::root(self.views, self.quotient);
        let queue = TaskQueue::default();
        let mut top = TopWalk {
            walker: Walker::new(self),
            size: task_size(self.quotient),
            queue: &queue,
            chooser,
            nodes: Vec::new(),
            n_tasks: 0,
            infosets: 0,
            progress,
        };
        let (root, entries, stopped) = std::thread::scope(|scope| {
            let work = || {
                let mut walker = Walker::new(self);
                while let Some(task) = queue.wait() {
                    let number = task.number;
                    let worth = walker.run_task(task, chooser);
                    self.keep(number, worth, walker.stopped);
                    queue.finish(number, worth);
                }
                walker.finish()
            };
            let workers: Vec<_> = (1..self.threads.max(1)).map(|_| scope.spawn(work)).collect();
            let root = top.visit(at, vec![entry]);
            while let Some(task) = queue.take() {
                top.help(task);
            }
            queue.close();
            let (mut entries, mut stopped) = (0, false);
            for worker in workers {
                match worker.join() {
                    Ok((more, ended)) => {
                        entries += more;
                        stopped |= ended;
                    }
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            (root, entries, stopped)
        });
        let worth = top.fold(root);
        let (own_entries, own_stopped) = top.walker.finish();
        PassResult {
            worth,
            entries: entries + own_entries,
            complete: !stopped && !own_stopped,
        }
    }
}
