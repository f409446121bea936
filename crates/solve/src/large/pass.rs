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

use super::Silence;
use super::pairs::PairGraph;
use super::views::{Child, ViewClass, ViewGraph, seen};
use game::{PacedStop, StopFlag};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};

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
    fn add(&mut self, other: Worth) {
        self.low += other.low;
        self.high += other.high;
        self.value += other.value;
    }
}

/// A place in the responder's tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub class: u32,
    pub slot: usize,
    pub sequence: usize,
}

impl Place {
    pub fn child(&self, child: &Child) -> Place {
        Place {
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
    /// Pairs of the other role.
    pub pairs: &'a PairGraph,
    /// Realization plan of the other role, times any factor.
    pub plan: &'a [f64],
    /// Greatest distance of a payoff from the middle.
    pub half_range: f64,
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
pub(super) fn task_size(views: &ViewGraph) -> u64 {
    (views.root().infosets / TASKS).max(SMALLEST_TASK)
}

/// One more way in which a pair is reached.
#[derive(Clone, Copy)]
struct Entry {
    pair: u32,
    /// First slot of the slice: in the plan, or behind its end in the arena.
    source: usize,
    factor: f64,
}

/// Looks at the stop flag once in so many nodes.
const NODES_PER_LOOK: u32 = 512;

impl Pass<'_> {
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
        let at = Place {
            class: self.views.root,
            slot: 0,
            sequence: 0,
        };
        let queue = TaskQueue::default();
        let mut top = TopWalk {
            walker: Walker::new(self),
            helper: Walker::new(self),
            size: task_size(self.views),
            queue: &queue,
            chooser,
            nodes: Vec::new(),
            n_tasks: 0,
            infosets: 0,
            progress,
        };
        let (root, entries, complete) = std::thread::scope(|scope| {
            let work = || {
                let mut walker = Walker::new(self);
                while let Some(task) = queue.wait() {
                    queue.finish(task.number, walker.run_task(task, chooser));
                }
                (walker.entries, walker.stopped)
            };
            let workers: Vec<_> = (1..self.threads.max(1)).map(|_| scope.spawn(work)).collect();
            let root = top.visit(at, vec![entry]);
            while let Some(task) = queue.take() {
                top.help(task);
            }
            queue.close();
            let mut entries = top.walker.entries + top.helper.entries;
            let mut stopped = top.walker.stopped || top.helper.stopped;
            for worker in workers {
                match worker.join() {
                    Ok((more, ended)) => {
                        entries += more;
                        stopped |= ended;
                    }
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            (root, entries, !stopped)
        });
        PassResult {
            worth: top.fold(root),
            entries,
            complete,
        }
    }
}

/// A part of the tree for one thread.
struct Task {
    number: usize,
    at: Place,
    entries: Vec<Entry>,
    /// Slices that are not in the plan.
    data: Vec<f64>,
}

/// Tasks that wait, and results of those that are done.
#[derive(Default)]
struct TaskQueue {
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

    fn take(&self) -> Option<Task> {
        self.lock().waiting.pop_front()
    }

    /// The next task; none when there will be no more.
    fn wait(&self) -> Option<Task> {
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

    fn finish(&self, number: usize, worth: Worth) {
        self.lock().results.push((number, worth));
    }

    fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }
}

/// Part of the worth of a node near the root.
#[derive(Clone, Copy)]
enum Part {
    Task(usize),
    Node(usize),
}

/// A node near the root: its tasks are done by any thread, and its worth is computed last.
struct TopNode {
    at: Place,
    mass: f64,
    /// What ends at once, and what follows, for each move.
    moves: Vec<(Worth, Vec<Part>)>,
}

/// The walk near the root, which makes the tasks.
struct TopWalk<'w, 'a, 'c> {
    walker: Walker<'w, 'a>,
    helper: Walker<'w, 'a>,
    size: u64,
    queue: &'w TaskQueue,
    chooser: &'c Chooser<'c>,
    nodes: Vec<TopNode>,
    n_tasks: usize,
    /// Information sets of the tasks handed out so far.
    infosets: u64,
    progress: &'w mut dyn FnMut(f64),
}

impl TopWalk<'_, '_, '_> {
    fn visit(&mut self, at: Place, entries: Vec<Entry>) -> Part {
        let views = self.walker.pass.views;
        let class = &views.classes[at.class as usize];
        if class.infosets <= self.size {
            return self.hand_out(at, entries, class.infosets);
        }
        let mut node = TopNode {
            at,
            mass: 0.0,
            moves: Vec::new(),
        };
        let mark = self.walker.top;
        let mut entries = entries;
        if class.list.is_some() || self.walker.pass.views.silence == Silence::Counted {
            entries = self.walker.merged(entries);
            node.mass = self.walker.mass(&entries);
        }
        let n_moves = (class.n_moves as usize).max(1);
        let mut rest = class.children.as_slice();
        for action in 0..n_moves {
            let n = rest.iter().take_while(|c| usize::from(c.action) == action).count();
            let (children, later) = rest.split_at(n);
            rest = later;
            let mut buckets = self.walker.buckets(n);
            let base = match class.list.is_none() && views.silence == Silence::Dropped {
                true => self.walker.wait(children, std::mem::take(&mut entries), &mut buckets),
                false => self.walker.step(children, &entries, action, &mut buckets),
            };
            let mut parts = Vec::with_capacity(n);
            for (child, bucket) in children.iter().zip(buckets.drain(..)) {
                parts.push(self.visit(at.child(child), bucket));
            }
            node.moves.push((Walker::plain(base), parts));
        }
        self.walker.top = mark;
        self.nodes.push(node);
        Part::Node(self.nodes.len() - 1)
    }

    /// Makes a task, and works on tasks while too many wait.
    fn hand_out(&mut self, at: Place, entries: Vec<Entry>, infosets: u64) -> Part {
        let number = self.n_tasks;
        self.n_tasks += 1;
        self.infosets += infosets;
        let task = self.walker.task(number, at, entries);
        let threads = self.walker.pass.threads;
        if threads < 2 {
            self.help(task);
        } else {
            self.queue.push(task);
            while self.queue.len() > 2 * threads
                && let Some(task) = self.queue.take()
            {
                self.help(task);
            }
        }
        let all = self.walker.pass.views.root().infosets.max(1);
        (self.progress)(self.infosets as f64 / all as f64);
        Part::Task(number)
    }

    fn help(&mut self, task: Task) {
        let number = task.number;
        let worth = self.helper.run_task(task, self.chooser);
        self.queue.finish(number, worth);
    }

    /// The worth of the tree, when all tasks are done.
    fn fold(&mut self, root: Part) -> Worth {
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

/// A walk of one thread.
struct Walker<'w, 'a> {
    pass: &'w Pass<'a>,
    arena: Vec<f64>,
    /// End of the part of the arena that is in use.
    top: usize,
    pool: Vec<Vec<Entry>>,
    /// Scratch of merging: entry numbers by pair.
    table: Vec<(u32, u32)>,
    stop: PacedStop<'w>,
    stopped: bool,
    entries: u64,
}

impl<'w, 'a> Walker<'w, 'a> {
    fn new(pass: &'w Pass<'a>) -> Walker<'w, 'a> {
        Walker {
            pass,
            arena: Vec::new(),
            top: 0,
            pool: Vec::new(),
            table: Vec::new(),
            stop: PacedStop::new(pass.stop, NODES_PER_LOOK),
            stopped: false,
            entries: 0,
        }
    }

    fn plain(value: f64) -> Worth {
        Worth {
            low: value,
            high: value,
            value,
        }
    }

    /// Makes a task whose slices do not depend on this walker's arena.
    fn task(&mut self, number: usize, at: Place, mut entries: Vec<Entry>) -> Task {
        let mut data = Vec::new();
        let plan = self.pass.plan.len();
        for entry in &mut entries {
            if let Some(from) = entry.source.checked_sub(plan) {
                let n = self.pass.pairs.slots[entry.pair as usize] as usize;
                entry.source = plan + data.len();
                data.extend_from_slice(&self.arena[from..from + n]);
            }
        }
        Task {
            number,
            at,
            entries,
            data,
        }
    }

    fn run_task<'c>(&mut self, task: Task, chooser: &'c Chooser<'c>) -> Worth {
        let n = task.data.len();
        if self.arena.len() < n {
            self.arena.resize(n, 0.0);
        }
        self.arena[..n].copy_from_slice(&task.data);
        self.top = n;
        drop(task.data);
        let mut choice = chooser(task.at.sequence);
        let worth = self.node(task.at, task.entries, choice.as_mut());
        self.top = 0;
        worth
    }

    /// Empty lists of entries.
    fn buckets(&mut self, n: usize) -> SmallVec<[Vec<Entry>; 4]> {
        (0..n).map(|_| self.pool.pop().unwrap_or_default()).collect()
    }

    fn recycle(&mut self, mut entries: Vec<Entry>) {
        entries.clear();
        self.pool.push(entries);
    }

    /// The probability in the header of a slice.
    #[inline]
    fn header(&self, source: usize) -> f64 {
        match self.pass.plan.get(source) {
            Some(header) => *header,
            None => self.arena[source - self.pass.plan.len()],
        }
    }

    fn mass(&self, entries: &[Entry]) -> f64 {
        entries.iter().map(|e| e.factor * self.header(e.source)).sum()
    }

    /// The worth of a node. Takes the entries.
    fn node(&mut self, at: Place, entries: Vec<Entry>, choice: &mut dyn Choice) -> Worth {
        let views = self.pass.views;
        if entries.is_empty() {
            choice.skip(views, at);
            self.recycle(entries);
            return Worth::default();
        }
        let class = &views.classes[at.class as usize];
        if self.stopped || self.stop.is_raised() {
            self.stopped = true;
            let bound = self.pass.half_range * self.mass(&entries);
            choice.skip(views, at);
            self.recycle(entries);
            return Worth {
                low: -bound,
                high: bound,
                value: 0.0,
            };
        }
        let mark = self.top;
        let worth = match class.list {
            Some(_) => self.choose(at, class, entries, choice),
            None => {
                let mut buckets = self.buckets(class.children.len());
                let base = match views.silence {
                    Silence::Dropped => self.wait(&class.children, entries, &mut buckets),
                    Silence::Counted => {
                        let entries = self.merged(entries);
                        let base = self.step(&class.children, &entries, 0, &mut buckets);
                        self.recycle(entries);
                        base
                    }
                };
                let mut worth = Walker::plain(base);
                for (child, bucket) in class.children.iter().zip(buckets) {
                    worth.add(self.node(at.child(child), bucket, choice));
                }
                worth
            }
        };
        self.top = mark;
        worth
    }

    fn choose(&mut self, at: Place, class: &ViewClass, entries: Vec<Entry>, choice: &mut dyn Choice) -> Worth {
        let entries = self.merged(entries);
        let mut moves: SmallVec<[Worth; 10]> = SmallVec::new();
        let mut rest = class.children.as_slice();
        for action in 0..class.n_moves as usize {
            let n = rest.iter().take_while(|c| usize::from(c.action) == action).count();
            let (children, later) = rest.split_at(n);
            rest = later;
            let mut buckets = self.buckets(n);
            let base = self.step(children, &entries, action, &mut buckets);
            let mut worth = Walker::plain(base);
            for (child, bucket) in children.iter().zip(buckets) {
                worth.add(self.node(at.child(child), bucket, choice));
            }
            moves.push(worth);
        }
        let mass = self.mass(&entries);
        self.recycle(entries);
        choice.decide(self.pass.views, at, mass, &moves)
    }

    /// One round of all entries after a move of the responder. Returns what ends at once, and puts the rest into the
    /// buckets of the children.
    fn step(&mut self, children: &[Child], entries: &[Entry], action: usize, buckets: &mut [Vec<Entry>]) -> f64 {
        let mut ended = 0.0;
        let pairs = self.pass.pairs;
        for entry in entries {
            let (edges, ends) = pairs.moves(entry.pair, action);
            for end in ends {
                ended += entry.factor * end.worth * self.header(entry.source + end.slot as usize);
            }
            for edge in edges {
                let source = entry.source + edge.slot as usize;
                if self.header(source) == 0.0 {
                    continue;
                }
                let bucket = match children.len() {
                    1 => Some(0),
                    _ => children.iter().position(|c| c.event == seen(edge.sees)),
                };
                if let Some(bucket) = bucket {
                    buckets[bucket].push(Entry {
                        pair: edge.to,
                        source,
                        factor: entry.factor * pairs.chances[edge.chance as usize],
                    });
                }
            }
        }
        ended
    }

    /// Silent rounds of the responder, until something is perceived or there is a choice. States are visited in the
    /// order of their ranks, so that all ways into a state are known when it is played on.
    fn wait(&mut self, children: &[Child], entries: Vec<Entry>, buckets: &mut [Vec<Entry>]) -> f64 {
        let pairs = self.pass.pairs;
        let mut ended = 0.0;
        let mut pending = self.pool.pop().unwrap_or_default();
        let bucket = |event: u32| children.iter().position(|c| c.event == event);
        for entry in &entries {
            match pairs.arrival[entry.pair as usize] {
                0 => pending.push(*entry),
                event => {
                    if let Some(bucket) = bucket(event) {
                        buckets[bucket].push(*entry);
                    }
                }
            }
        }
        self.recycle(entries);
        while !pending.is_empty() {
            let rank = |e: &Entry| pairs.rank[e.pair as usize];
            let lowest = pending.iter().map(rank).min().unwrap_or(0);
            let mut now = self.pool.pop().unwrap_or_default();
            pending.retain(|e| {
                let is_now = rank(e) == lowest;
                if is_now {
                    now.push(*e);
                }
                !is_now
            });
            let now = self.merged(now);
            for entry in &now {
                let (edges, ends) = pairs.moves(entry.pair, 0);
                for end in ends {
                    ended += entry.factor * end.worth * self.header(entry.source + end.slot as usize);
                }
                for edge in edges {
                    let source = entry.source + edge.slot as usize;
                    if self.header(source) == 0.0 {
                        continue;
                    }
                    let next = Entry {
                        pair: edge.to,
                        source,
                        factor: entry.factor * pairs.chances[edge.chance as usize],
                    };
                    let event = match edge.sees {
                        0 => pairs.arrival[edge.to as usize],
                        sees => seen(sees),
                    };
                    match event {
                        0 => pending.push(next),
                        event => {
                            if let Some(bucket) = bucket(event) {
                                buckets[bucket].push(next);
                            }
                        }
                    }
                }
            }
            self.recycle(now);
        }
        self.recycle(pending);
        ended
    }

    /// Entries with the same pair become one, whose slice is the sum of theirs, in the order in which they were met.
    fn merged(&mut self, entries: Vec<Entry>) -> Vec<Entry> {
        if entries.len() < 2 {
            self.entries += entries.len() as u64;
            return entries;
        }
        const NOBODY: u32 = u32::MAX;
        let mask = (2 * entries.len()).next_power_of_two() - 1;
        if self.table.len() <= mask {
            self.table.resize(mask + 1, (0, NOBODY));
        }
        self.table[..=mask].fill((0, NOBODY));
        let mut kept = self.pool.pop().unwrap_or_default();
        let own = self.pass.plan.len() + self.top;
        for entry in &entries {
            let mut at = (entry.pair.wrapping_mul(0x9E37_79B1) >> 7) as usize & mask;
            let number = loop {
                let (pair, number) = self.table[at];
                if number == NOBODY {
                    self.table[at] = (entry.pair, kept.len() as u32);
                    break NOBODY;
                }
                if pair == entry.pair {
                    break number;
                }
                at = (at + 1) & mask;
            };
            if number == NOBODY {
                kept.push(*entry);
                continue;
            }
            let before = kept[number as usize];
            kept[number as usize] = self.sum(before, *entry, own);
        }
        self.recycle(entries);
        self.entries += kept.len() as u64;
        kept
    }

    /// The sum of two entries. Slices from `own` on belong to this merge and may be changed.
    fn sum(&mut self, to: Entry, from: Entry, own: usize) -> Entry {
        let n = self.pass.pairs.slots[to.pair as usize] as usize;
        let plan = self.pass.plan;
        let fresh = to.source < own;
        let target = if fresh { self.top } else { to.source - plan.len() };
        if fresh {
            self.top += n;
            if self.arena.len() < self.top {
                self.arena.resize(self.top.next_power_of_two(), 0.0);
            }
        }
        let (below, above) = self.arena.split_at_mut(own - plan.len());
        let slice = |source: usize| match source.checked_sub(plan.len()) {
            None => &plan[source..source + n],
            Some(at) => &below[at..at + n],
        };
        let target_slice = &mut above[target - (own - plan.len())..][..n];
        let more = slice(from.source);
        if !fresh {
            match from.factor == 1.0 {
                true => target_slice.iter_mut().zip(more).for_each(|(t, m)| *t += m),
                false => target_slice
                    .iter_mut()
                    .zip(more)
                    .for_each(|(t, m)| *t += from.factor * m),
            }
            return to;
        }
        let first = slice(to.source);
        let pairs = target_slice.iter_mut().zip(first.iter().zip(more));
        match to.factor == 1.0 && from.factor == 1.0 {
            true => pairs.for_each(|(t, (a, b))| *t = a + b),
            false => pairs.for_each(|(t, (a, b))| *t = to.factor * a + from.factor * b),
        }
        Entry {
            pair: to.pair,
            source: plan.len() + target,
            factor: 1.0,
        }
    }
}
