//! A simulated runtime: real threads of which one runs at a time, and a clock that moves only while all of them wait.
//!
//! A thread runs until it waits (for a time, a bell, a connection). Then the generator chooses the next thread among
//! those that can run. When none can, the time jumps to the next moment at which something happens. Everything
//! therefore depends on the seed alone, and a schedule of many minutes takes milliseconds.

use std::cell::Cell;
use std::collections::{BTreeMap, BinaryHeap};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use surmise::game::{Rng, Seed};
use surmise::referee::{Bell, Runtime, Work};

/// A simulated runtime.
#[derive(Clone)]
pub struct Sim(Arc<Shared>);

struct Shared {
    base: Instant,
    world: Mutex<World>,
}

/// Everything that the threads share. Connections are in [`super::net`].
pub struct World {
    pub now: Duration,
    pub rng: Rng,
    pub pipes: BTreeMap<u64, super::net::Pipe>,
    pub listeners: BTreeMap<u16, super::net::Door>,
    /// Names of threads that panicked.
    pub panics: Vec<String>,
    /// Number of decisions of the scheduler, and a hash of all of them.
    pub steps: u64,
    pub trace: u64,
    threads: BTreeMap<u64, Slot>,
    running: Option<u64>,
    events: BinaryHeap<Event>,
    next_id: u64,
    /// Everything waits, and nothing will ever happen.
    pub stuck: bool,
}

struct Slot {
    name: String,
    turn: Arc<Condvar>,
    ready: bool,
    rung: bool,
    bell: Option<u64>,
    until: Option<Duration>,
}

/// Something that happens at a time.
struct Event {
    at: Duration,
    number: u64,
    act: Box<dyn FnOnce(&mut World) + Send>,
}

impl PartialEq for Event {
    fn eq(&self, other: &Event) -> bool {
        (self.at, self.number) == (other.at, other.number)
    }
}
impl Eq for Event {}
impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Event) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Event {
    /// The earliest is the greatest, as a heap wants it.
    fn cmp(&self, other: &Event) -> std::cmp::Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

thread_local! {
    static ME: Cell<u64> = const { Cell::new(0) };
}

/// The thread of the test itself.
const MAIN: u64 = 0;

impl Sim {
    /// A runtime in which this thread runs.
    pub fn new(seed: Seed) -> Sim {
        ME.set(MAIN);
        let mut world = World {
            now: Duration::ZERO,
            rng: seed.child("scheduler").rng(),
            pipes: BTreeMap::new(),
            listeners: BTreeMap::new(),
            panics: Vec::new(),
            steps: 0,
            trace: 0,
            threads: BTreeMap::new(),
            running: Some(MAIN),
            events: BinaryHeap::new(),
            next_id: 1,
            stuck: false,
        };
        world.threads.insert(MAIN, Slot::new("main"));
        Sim(Arc::new(Shared {
            base: Instant::now(),
            world: Mutex::new(world),
        }))
    }

    pub fn world(&self) -> MutexGuard<'_, World> {
        self.0.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Time since the beginning.
    pub fn time(&self) -> Duration {
        self.world().now
    }

    /// Names of the threads that have not ended, but for this one.
    pub fn others(&self) -> Vec<String> {
        let world = self.world();
        let me = ME.get();
        world
            .threads
            .iter()
            .filter(|(id, _)| **id != me)
            .map(|(_, slot)| slot.name.clone())
            .collect()
    }

    /// Waits for a bell, at most until a time. True if the bell rang.
    pub fn wait(&self, bell: Option<u64>, until: Option<Duration>) -> bool {
        let me = ME.get();
        let mut world = self.world();
        let turn = {
            let slot = world.threads.get_mut(&me).expect("only simulated threads wait");
            (slot.ready, slot.rung, slot.bell, slot.until) = (false, false, bell, until);
            slot.turn.clone()
        };
        world.running = None;
        world.choose();
        while world.running != Some(me) {
            world = turn.wait(world).unwrap_or_else(PoisonError::into_inner);
        }
        assert!(!world.stuck || me != MAIN, "everything waits for ever");
        world.threads.get(&me).is_some_and(|slot| slot.rung)
    }

    /// The beginning of a thread: waits for its turn.
    fn enter(&self, id: u64) {
        ME.set(id);
        let mut world = self.world();
        let turn = world.threads[&id].turn.clone();
        while world.running != Some(id) {
            world = turn.wait(world).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The life of a thread.
    fn live(&self, id: u64, work: Work<'_>) {
        self.enter(id);
        let ended = catch_unwind(AssertUnwindSafe(work));
        let mut world = self.world();
        let slot = world.threads.remove(&id).expect("a thread ends once");
        if ended.is_err() {
            world.panics.push(slot.name);
        }
        world.ring(end_of(id));
        world.running = None;
        world.choose();
    }
}

/// The bell that rings when a thread ends.
fn end_of(thread: u64) -> u64 {
    thread | 1 << 63
}

impl Slot {
    fn new(name: &str) -> Slot {
        Slot {
            name: name.to_owned(),
            turn: Arc::default(),
            ready: true,
            rung: false,
            bell: None,
            until: None,
        }
    }
}

impl World {
    pub fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// Lets something happen later.
    pub fn at(&mut self, at: Duration, act: impl FnOnce(&mut World) + Send + 'static) {
        let number = self.new_id();
        let act = Box::new(act);
        self.events.push(Event { at, number, act });
    }

    /// Wakes the threads that wait for a bell.
    pub fn ring(&mut self, bell: u64) {
        for slot in self
            .threads
            .values_mut()
            .filter(|slot| !slot.ready && slot.bell == Some(bell))
        {
            (slot.ready, slot.rung) = (true, true);
        }
    }

    fn register(&mut self, name: &str) -> u64 {
        let id = self.new_id();
        self.threads.insert(id, Slot::new(name));
        id
    }

    /// Gives the turn to a thread that can run. Moves the time if none can.
    fn choose(&mut self) {
        loop {
            let ready: Vec<u64> = self
                .threads
                .iter()
                .filter(|(_, slot)| slot.ready)
                .map(|(id, _)| *id)
                .collect();
            if !ready.is_empty() {
                let chosen = *self.rng.pick(&ready);
                self.steps += 1;
                let mixed = self.trace ^ chosen ^ (self.now.as_micros() as u64) << 20;
                self.trace = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
                self.running = Some(chosen);
                self.threads[&chosen].turn.notify_one();
                return;
            }
            let deadlines = self.threads.values().filter_map(|slot| slot.until);
            let next = deadlines.chain(self.events.peek().map(|event| event.at)).min();
            match next {
                Some(next) => self.pass(next),
                None if self.threads.contains_key(&MAIN) => {
                    self.stuck = true;
                    self.threads.get_mut(&MAIN).expect("is there").ready = true;
                }
                None => return,
            }
        }
    }

    fn pass(&mut self, next: Duration) {
        self.now = self.now.max(next);
        while self.events.peek().is_some_and(|event| event.at <= self.now) {
            let event = self.events.pop().expect("was there");
            (event.act)(self);
        }
        let now = self.now;
        for slot in self.threads.values_mut() {
            if !slot.ready && slot.until.is_some_and(|until| until <= now) {
                slot.ready = true;
            }
        }
    }
}

impl Runtime for Sim {
    fn now(&self) -> Instant {
        self.0.base + self.time()
    }

    fn sleep(&self, time: Duration) {
        let until = self.time() + time;
        self.wait(None, Some(until));
    }

    fn spawn(&self, name: &str, work: Work<'static>) -> io::Result<()> {
        let id = self.world().register(name);
        let sim = self.clone();
        let thread = std::thread::Builder::new().name(name.to_owned());
        thread.spawn(move || sim.live(id, work)).map(drop)
    }

    fn together(&self, work: Vec<Work<'_>>) {
        std::thread::scope(|scope| {
            let ids: Vec<u64> = work.iter().map(|_| self.world().register("together")).collect();
            for (&id, work) in ids.iter().zip(work) {
                scope.spawn(move || self.live(id, work));
            }
            for id in ids {
                while self.world().threads.contains_key(&id) {
                    self.wait(Some(end_of(id)), None);
                }
            }
        });
    }

    fn bell(&self) -> Option<Arc<dyn Bell>> {
        let id = self.world().new_id();
        Some(Arc::new(SimBell(self.clone(), id)))
    }
}

struct SimBell(Sim, u64);

impl Bell for SimBell {
    fn ring(&self) {
        self.0.world().ring(self.1);
    }

    fn wait(&self, patience: Option<Duration>) -> bool {
        let until = patience.map(|patience| self.0.time() + patience);
        self.0.wait(Some(self.1), until)
    }
}
