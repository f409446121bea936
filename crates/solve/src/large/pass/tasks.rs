//! Tasks of a pass, and the walk near the root that makes them.

use super::super::Silence;
use super::merge::Entry;
use super::walker::{Children, Walker};
use super::{Chooser, Place, Worth};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};

/// A part of the tree for one thread.
pub(super) struct Task {
    pub number: usize,
    pub at: Place,
    pub entries: Vec<Entry>,
    /// Slices that are not in the plan, and how many numbers they are.
    pub data: Vec<f64>,
    pub used: usize,
}

/// Tasks that wait, and results of those that are done.
#[derive(Default)]
pub(super) struct TaskQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    waiting: VecDeque<Task>,
    closed: bool,
    results: Vec<(usize, Worth)>,
}

impl TaskQueue {
    fn lock(&self) -> std::sync::MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, task: Task) {
        self.lock().waiting.push_back(task);
        self.changed.notify_one();
    }

    fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    pub fn take(&self) -> Option<Task> {
        self.lock().waiting.pop_front()
    }

    /// The next task; none when there will be no more.
    pub fn wait(&self) -> Option<Task> {
        let mut state = self.lock();
        loop {
            if let Some(task) = state.waiting.pop_front() {
                return Some(task);
            }
            if state.closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub fn finish(&self, number: usize, worth: Worth) {
        self.lock().results.push((number, worth));
    }

    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }
}

/// Part of the worth of a node near the root.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Task(usize),
    Node(usize),
}

/// A node near the root: its tasks are done by any thread, and its worth is computed last.
pub(super) struct TopNode {
    at: Place,
    mass: f64,
    /// What ends at once, and what follows, for each move.
    moves: Vec<(Worth, Vec<Part>)>,
}

/// The walk near the root, which makes the tasks.
pub(super) struct TopWalk<'w, 'a, 'c> {
    pub walker: Walker<'w, 'a>,
    pub size: u64,
    pub queue: &'w TaskQueue,
    pub chooser: &'c Chooser<'c>,
    pub nodes: Vec<TopNode>,
    pub n_tasks: usize,
    /// Information sets of the tasks handed out so far.
    pub infosets: u64,
    pub progress: &'w mut dyn FnMut(f64),
}

impl TopWalk<'_, '_, '_> {
    pub fn visit(&mut self, at: Place, mut entries: Vec<Entry>) -> Part {
        let pass = self.walker.pass;
        let class = &pass.views.classes[at.class as usize];
        let here = &pass.quotient.nodes[at.node as usize];
        if here.infosets <= self.size {
            return self.hand_out(at, entries, here.infosets);
        }
        let mut node = TopNode {
            at,
            mass: 0.0,
            moves: Vec::new(),
        };
        let mark = self.walker.arena.mark();
        let waits = class.list.is_none() && pass.views.silence == Silence::Dropped;
        if !waits {
            entries = self.walker.arena.merged(entries);
            node.mass = self.walker.arena.mass(&entries);
        }
        let lists = self.walker.open(class.children.len());
        let by_move = match class.list {
            Some(_) => Children::by_move(class, here),
            None => smallvec::smallvec![Children::all(class, here)],
        };
        let mut ended = vec![0.0; by_move.len()];
        match waits {
            true => ended[0] = self.walker.wait(by_move[0], entries, lists),
            false => self.walker.step(&by_move, here, &entries, lists, &mut ended),
        }
        for (action, children) in by_move.iter().enumerate() {
            if let Some(stands) = here.stands_for(action) {
                node.moves.push(node.moves[stands].clone());
                continue;
            }
            let mut parts: Vec<Part> = Vec::with_capacity(children.len());
            for number in 0..children.len() {
                parts.push(match children.stands_for(number) {
                    None => {
                        let entries = self.walker.take(lists + children.start() + number);
                        self.visit(children.place(at, number), entries)
                    }
                    Some(other) => parts[other],
                });
            }
            node.moves.push((Worth::plain(ended[action]), parts));
        }
        self.walker.close(lists);
        self.walker.arena.release(mark);
        self.nodes.push(node);
        Part::Node(self.nodes.len() - 1)
    }

    /// Makes a task for another thread, or works on it at once if enough of them wait.
    fn hand_out(&mut self, at: Place, entries: Vec<Entry>, infosets: u64) -> Part {
        let number = self.n_tasks;
        self.n_tasks += 1;
        self.infosets += infosets;
        let threads = self.walker.pass.threads;
        if let Some(worth) = self.walker.pass.known(number) {
            self.queue.finish(number, worth);
        } else if threads > 1 && self.queue.len() < 2 * threads {
            let task = self.walker.task(number, at, entries);
            self.queue.push(task);
        } else {
            // Here slices need not be copied.
            let worth = self.walker.run_here(at, entries, self.chooser);
            self.keep(number, worth);
        }
        let all = self.walker.pass.quotient.root().infosets.max(1);
        (self.progress)(self.infosets as f64 / all as f64);
        Part::Task(number)
    }

    /// Works on a task, when the walk near the root is done.
    pub fn help(&mut self, task: Task) {
        let number = task.number;
        let worth = self.walker.run_task(task, self.chooser);
        self.keep(number, worth);
    }

    fn keep(&self, number: usize, worth: Worth) {
        self.walker.pass.keep(number, worth, self.walker.stopped);
        self.queue.finish(number, worth);
    }

    /// The worth of the tree, when all tasks are done.
    pub fn fold(&self, root: Part) -> Worth {
        let mut tasks = vec![Worth::default(); self.n_tasks];
        for (number, worth) in self.queue.lock().results.drain(..) {
            tasks[number] = worth;
        }
        let mut done: Vec<Worth> = Vec::with_capacity(self.nodes.len());
        let views = self.walker.pass.views;
        for node in &self.nodes {
            let moves: Vec<Worth> = node
                .moves
                .iter()
                .map(|(base, parts)| {
                    let mut worth = *base;
                    for part in parts {
                        worth.add(match *part {
                            Part::Task(number) => tasks[number],
                            Part::Node(number) => done[number],
                        });
                    }
                    worth
                })
                .collect();
            let chooses = views.classes[node.at.class as usize].list.is_some();
            done.push(match chooses {
                true => (self.chooser)(node.at.sequence).decide(views, node.at, node.mass, &moves),
                false => moves[0],
            });
        }
        match root {
            Part::Task(number) => tasks[number],
            Part::Node(number) => done[number],
        }
    }
}
