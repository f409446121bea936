//! The walk of one thread through a part of the responder's tree.

use super::super::Silence;
use super::super::pairs::Block;
use super::super::symmetry::WalkNode;
use super::super::views::{Child, ViewClass};
use super::merge::{Arena, Entry};
use super::tasks::Task;
use super::{Choice, Chooser, Pass, Place, Worth};
use game::PacedStop;
use smallvec::SmallVec;

/// Looks at the stop flag once in so many nodes.
const NODES_PER_LOOK: u32 = 512;

/// The worths of the moves of an information set.
pub(super) type Moves = SmallVec<[Worth; 10]>;

/// Adjacent children of a node: those after one move.
#[derive(Clone, Copy)]
pub(super) struct Children<'v> {
    node: &'v WalkNode,
    children: &'v [Child],
    /// Number of the first one in its class.
    start: usize,
}

impl<'v> Children<'v> {
    /// All children of a node.
    pub fn all(class: &'v ViewClass, node: &'v WalkNode) -> Children<'v> {
        Children {
            node,
            children: &class.children,
            start: 0,
        }
    }

    /// The children after each move.
    pub fn by_move(class: &'v ViewClass, node: &'v WalkNode) -> SmallVec<[Children<'v>; 10]> {
        let mut rest = class.children.as_slice();
        let mut moves = SmallVec::new();
        for action in 0..class.n_moves as usize {
            let n = rest.iter().take_while(|c| usize::from(c.action) == action).count();
            let (children, later) = rest.split_at(n);
            moves.push(Children {
                node,
                children,
                start: class.children.len() - rest.len(),
            });
            rest = later;
        }
        moves
    }

    pub fn len(&self) -> usize {
        self.children.len()
    }

    /// Number of the first one in its class.
    pub fn start(&self) -> usize {
        self.start
    }

    /// The child after an event, counted from the first child of the node; none if another one stands for it.
    #[inline]
    fn find(&self, event: u32) -> Option<usize> {
        let number = match self.children.len() {
            1 => 0,
            _ => self.children.iter().position(|c| c.event == event)?,
        };
        self.stands_for(number).is_none().then_some(self.start + number)
    }

    /// The child that stands for another one, both counted from the first of these.
    #[inline]
    pub fn stands_for(&self, number: usize) -> Option<usize> {
        if self.node.whole {
            return None;
        }
        let stands = self.node.kids[self.start + number].stands as usize - self.start;
        (stands != number).then_some(stands)
    }

    /// The place of a child.
    #[inline]
    pub fn place(&self, at: Place, number: usize) -> Place {
        let child = &self.children[number];
        let node = match self.node.whole {
            true => child.class,
            false => self.node.kids[self.start + number].node,
        };
        at.below(child, node)
    }
}

pub(super) struct Walker<'w, 'a> {
    pub pass: &'w Pass<'a>,
    pub arena: Arena<'w>,
    /// Entries of children that are not visited yet: a stack of lists.
    lists: Vec<Vec<Entry>>,
    stop: PacedStop<'w>,
    pub stopped: bool,
}

impl<'w, 'a> Walker<'w, 'a> {
    /// Gives up its memory. Returns entries after merging, and whether it was stopped.
    pub fn finish(mut self) -> (u64, bool) {
        self.pass.buffers.give(self.arena.load(Vec::new(), 0));
        (self.arena.entries, self.stopped)
    }

    pub fn new(pass: &'w Pass<'a>) -> Walker<'w, 'a> {
        Walker {
            pass,
            arena: Arena::new(pass.pairs, pass.plan, pass.buffers.take()),
            lists: Vec::new(),
            stop: PacedStop::new(pass.stop, NODES_PER_LOOK),
            stopped: false,
        }
    }

    /// Makes a task whose slices do not depend on this walker's arena.
    pub fn task(&mut self, number: usize, at: Place, mut entries: Vec<Entry>) -> Task {
        let mut data = self.pass.buffers.take();
        let used = self.arena.export(&mut entries, &mut data);
        Task {
            number,
            at,
            entries,
            data,
            used,
        }
    }

    pub fn run_task<'c>(&mut self, task: Task, chooser: &'c Chooser<'c>) -> Worth {
        self.pass.buffers.give(self.arena.load(task.data, task.used));
        let worth = self.run_here(task.at, task.entries, chooser);
        self.arena.release(0);
        worth
    }

    /// The worth of a subtree whose slices are in this walker's arena.
    pub fn run_here<'c>(&mut self, at: Place, entries: Vec<Entry>, chooser: &'c Chooser<'c>) -> Worth {
        let mut choice = chooser(at.sequence);
        self.node(at, entries, choice.as_mut())
    }

    /// Puts empty lists on the stack. Returns the place of the first.
    pub fn open(&mut self, n: usize) -> usize {
        let first = self.lists.len();
        for _ in 0..n {
            let list = self.arena.list();
            self.lists.push(list);
        }
        first
    }

    /// Takes a list from its place on the stack.
    pub fn take(&mut self, place: usize) -> Vec<Entry> {
        std::mem::take(&mut self.lists[place])
    }

    /// Takes lists off the stack, which are in no use any more.
    pub fn close(&mut self, first: usize) {
        self.lists.truncate(first);
    }

    /// The worth of a node. Takes the entries.
    fn node(&mut self, at: Place, entries: Vec<Entry>, choice: &mut dyn Choice) -> Worth {
        let views = self.pass.views;
        let class = &views.classes[at.class as usize];
        if entries.is_empty() {
            if class.sequences > 0 {
                choice.skip(views, at);
            }
            self.arena.recycle(entries);
            return Worth::default();
        }
        if self.stopped || self.stop.is_raised() {
            self.stopped = true;
            let bound = self.pass.half_range * self.arena.mass(&entries);
            choice.skip(views, at);
            self.arena.recycle(entries);
            return Worth {
                low: -bound,
                high: bound,
                value: 0.0,
            };
        }
        let node = &self.pass.quotient.nodes[at.node as usize];
        let mark = self.arena.mark();
        let worth = match class.list {
            Some(_) => self.choose(at, class, node, entries, choice),
            None => {
                let children = Children::all(class, node);
                let lists = self.open(children.len());
                let ended = match views.silence {
                    Silence::Dropped => self.wait(children, entries, lists),
                    Silence::Counted => {
                        let entries = self.arena.merged(entries);
                        let mut ended = [0.0];
                        self.step(&[children], node, &entries, lists, &mut ended);
                        self.arena.recycle(entries);
                        ended[0]
                    }
                };
                let worth = self.follow(at, children, ended, lists, choice);
                self.close(lists);
                worth
            }
        };
        self.arena.release(mark);
        worth
    }

    /// The worth of what follows in some children, and of what ended before.
    fn follow(
        &mut self,
        at: Place,
        children: Children<'_>,
        ended: f64,
        lists: usize,
        choice: &mut dyn Choice,
    ) -> Worth {
        let mut worth = Worth::plain(ended);
        let mut all: SmallVec<[Worth; 4]> = SmallVec::new();
        for number in 0..children.len() {
            let entries = self.take(lists + children.start + number);
            let this = match children.stands_for(number) {
                None => self.node(children.place(at, number), entries, choice),
                Some(other) => {
                    self.arena.recycle(entries);
                    all[other]
                }
            };
            worth.add(this);
            if !children.node.whole {
                all.push(this);
            }
        }
        worth
    }

    fn choose(
        &mut self,
        at: Place,
        class: &ViewClass,
        node: &WalkNode,
        entries: Vec<Entry>,
        choice: &mut dyn Choice,
    ) -> Worth {
        let n_moves = class.n_moves as usize;
        let mut ended: SmallVec<[f64; 16]> = smallvec::smallvec![0.0; n_moves];
        if class.infosets == 1 && self.settle(&entries, &mut ended) {
            let mass = self.arena.mass(&entries);
            self.arena.entries += entries.len() as u64;
            self.arena.recycle(entries);
            let moves: Moves = ended.iter().map(|&worth| Worth::plain(worth)).collect();
            return choice.decide(self.pass.views, at, mass, &moves);
        }
        ended.fill(0.0);
        let entries = self.arena.merged(entries);
        let lists = self.open(class.children.len());
        let by_move = Children::by_move(class, node);
        self.step(&by_move, node, &entries, lists, &mut ended);
        let mass = self.arena.mass(&entries);
        self.arena.recycle(entries);
        let mut moves = Moves::new();
        for (action, children) in by_move.iter().enumerate() {
            let worth = match node.stands_for(action) {
                Some(other) => moves[other],
                None => self.follow(at, *children, ended[action], lists, choice),
            };
            moves.push(worth);
        }
        self.close(lists);
        choice.decide(self.pass.views, at, mass, &moves)
    }

    /// Adds up what the moves of a last choice are worth. Entries need not be merged for that. Returns false if there
    /// is more to do than to add up payoffs.
    fn settle(&self, entries: &[Entry], ended: &mut [f64]) -> bool {
        let pairs = self.pass.pairs;
        for entry in entries {
            let slice = self.arena.slice(entry);
            for (action, sum) in ended.iter_mut().enumerate() {
                let block = pairs.block(entry.pair, action);
                if !block.is_settled() {
                    return false;
                }
                *sum += entry.factor * pairs.worth(&block, slice);
            }
        }
        true
    }

    /// One round of all entries after each move of the responder. Adds up what ends at once, and puts the rest into the
    /// lists of the children.
    pub fn step(
        &mut self,
        by_move: &[Children<'_>],
        node: &WalkNode,
        entries: &[Entry],
        lists: usize,
        ended: &mut [f64],
    ) {
        let pairs = self.pass.pairs;
        for entry in entries {
            for (action, children) in by_move.iter().enumerate() {
                if node.stands_for(action).is_some() {
                    continue;
                }
                let block = pairs.block(entry.pair, action);
                ended[action] += self.ends(entry, &block);
                for edge in block.edges() {
                    let source = entry.source + edge.slot as usize;
                    if self.arena.header(source) == 0.0 {
                        continue;
                    }
                    if let Some(child) = children.find(edge.event) {
                        self.lists[lists + child].push(Entry {
                            pair: edge.to,
                            source,
                            factor: entry.factor * pairs.chances[edge.chance as usize],
                        });
                    }
                }
            }
        }
    }

    /// What ends at once.
    #[inline]
    fn ends(&self, entry: &Entry, block: &Block<'_>) -> f64 {
        match block.has_ends() {
            true => entry.factor * self.pass.pairs.worth(block, self.arena.slice(entry)),
            false => 0.0,
        }
    }

    /// Silent rounds of the responder, until something is perceived or there is a choice. States are visited in the
    /// order of their ranks, so that all ways into a state are known when it is played on. Returns what ended.
    pub fn wait(&mut self, children: Children<'_>, entries: Vec<Entry>, lists: usize) -> f64 {
        let pairs = self.pass.pairs;
        let mut ended = 0.0;
        let mut pending = self.arena.list();
        let find = |event: u32| {
            let number = children.children.iter().position(|c| c.event == event)?;
            children.stands_for(number).is_none().then_some(number)
        };
        for entry in &entries {
            match pairs.arrival(entry.pair) {
                0 => pending.push(*entry),
                event => {
                    if let Some(child) = find(event) {
                        self.lists[lists + child].push(*entry);
                    }
                }
            }
        }
        self.arena.recycle(entries);
        while !pending.is_empty() {
            let now = self.lowest(&mut pending);
            let now = self.arena.merged(now);
            for entry in &now {
                let block = pairs.block(entry.pair, 0);
                ended += self.ends(entry, &block);
                for edge in block.edges() {
                    let source = entry.source + edge.slot as usize;
                    if self.arena.header(source) == 0.0 {
                        continue;
                    }
                    let next = Entry {
                        pair: edge.to,
                        source,
                        factor: entry.factor * pairs.chances[edge.chance as usize],
                    };
                    match edge.event {
                        0 => pending.push(next),
                        event => {
                            if let Some(child) = find(event) {
                                self.lists[lists + child].push(next);
                            }
                        }
                    }
                }
            }
            self.arena.recycle(now);
        }
        self.arena.recycle(pending);
        ended
    }

    /// Takes the entries of the lowest rank.
    fn lowest(&mut self, pending: &mut Vec<Entry>) -> Vec<Entry> {
        let pairs = self.pass.pairs;
        if pending.len() == 1 {
            return std::mem::replace(pending, self.arena.list());
        }
        let mut now = self.arena.list();
        let mut lowest = u32::MAX;
        let mut highest = 0;
        for entry in pending.iter() {
            let rank = pairs.rank(entry.pair);
            lowest = lowest.min(rank);
            highest = highest.max(rank);
        }
        if lowest == highest {
            std::mem::swap(pending, &mut now);
            return now;
        }
        pending.retain(|entry| {
            let is_now = pairs.rank(entry.pair) == lowest;
            if is_now {
                now.push(*entry);
            }
            !is_now
        });
        now
    }
}
