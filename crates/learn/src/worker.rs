//! One thread's simulator, with a cache of its answers.
//!
//! The answers are the same with a cache of any size, or without one.

use crate::cache::{EdgePlace, StateAnswers, StateCache};
use game::{Fault, MoveId, PerceptId, RoleId, Simulator, State};
use smallvec::SmallVec;

/// Steps after which the hit rate of the cache is checked.
const WINDOW: u64 = 1 << 16;
/// The cache is switched off if fewer than one step in this many is a hit.
const POOR: u64 = 4;
/// Steps without a cache before it is switched on again. Players that have learned something may repeat states more
/// often.
const NAP: u64 = 64 * WINDOW;

/// A simulator for a thread of [`Trainer::generation`](crate::Trainer::generation).
pub struct Worker {
    pub(crate) sim: Box<dyn Simulator>,
    pub(crate) n_roles: usize,
    pub(crate) players: Vec<usize>,
    pub(crate) nature: Option<usize>,
    cache: StateCache,
    awake: bool,
    /// Steps made, and cache hits.
    steps: u64,
    known: u64,
    /// The step of the next check of the hit rate, and the hits at the last one.
    ask_at: u64,
    known_then: u64,
    /// Percepts of the last step, if they are not in the cache.
    seen: SmallVec<[u64; 4]>,
    /// Number of these percepts in the cache otherwise.
    seen_id: Option<u32>,
    joint: SmallVec<[MoveId; 4]>,
    moves: Vec<MoveId>,
    sees: Vec<PerceptId>,
}

/// Use of a worker's cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheUse {
    /// Steps made, cache hits included.
    pub steps: u64,
    /// Cache hits.
    pub known: u64,
    /// States in the cache.
    pub states: usize,
    /// Upper bound on the memory used.
    pub bytes: usize,
}

impl CacheUse {
    /// The sum over two workers.
    #[must_use]
    pub fn and(self, other: CacheUse) -> CacheUse {
        CacheUse {
            steps: self.steps + other.steps,
            known: self.known + other.known,
            states: self.states + other.states,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// The state of a game in progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spot {
    /// The state's number in the cache.
    node: Option<u32>,
    /// If it has none: the state, and the simulator's answers about it.
    state: State,
    told: StateAnswers,
}

impl Worker {
    /// A worker with a cache of so many bytes; 0 for no cache.
    pub fn new(sim: Box<dyn Simulator>, cache_bytes: usize) -> Worker {
        let n_roles = sim.roles().len();
        let nature = sim.nature().map(|r| usize::from(r.0));
        let players: Vec<usize> = (0..n_roles).filter(|&r| Some(r) != nature).collect();
        Worker {
            cache: StateCache::new(n_roles, players.len(), cache_bytes),
            awake: cache_bytes > 0,
            ask_at: if cache_bytes > 0 { WINDOW } else { u64::MAX },
            sim,
            n_roles,
            players,
            nature,
            steps: 0,
            known: 0,
            known_then: 0,
            seen: SmallVec::new(),
            seen_id: None,
            joint: SmallVec::new(),
            moves: Vec::new(),
            sees: Vec::new(),
        }
    }

    /// Use of the cache so far.
    pub fn cache_use(&self) -> CacheUse {
        CacheUse {
            steps: self.steps,
            known: self.known,
            states: self.cache.len(),
            bytes: self.cache.bytes(),
        }
    }

    /// Steps made so far.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Goes to the beginning of a game.
    pub(crate) fn start(&mut self, at: &mut Spot) -> Result<(), Fault> {
        if self.steps >= self.ask_at {
            let poor = self.awake && (self.known - self.known_then) * POOR < WINDOW;
            self.awake = !poor;
            self.ask_at = self.steps + if poor { NAP } else { WINDOW };
            self.known_then = self.known;
        }
        at.state = self.sim.initial()?;
        self.arrive(at)
    }

    /// Looks up the new state of a spot, or asks the simulator about it.
    fn arrive(&mut self, at: &mut Spot) -> Result<(), Fault> {
        at.node = match self.awake {
            true => self.cache.find(&at.state.0),
            false => None,
        };
        if at.node.is_none() {
            self.ask(&at.state, &mut at.told)?;
            if self.awake {
                at.node = self.cache.add(&at.state.0, &at.told);
            }
        }
        Ok(())
    }

    /// Asks the simulator about a state. Play also ends, with payoff 0 for all, where some role has no legal move.
    fn ask(&mut self, state: &State, told: &mut StateAnswers) -> Result<(), Fault> {
        told.moves.clear();
        told.bounds.clear();
        told.values.clear();
        told.bounds.push(0);
        told.over = self.sim.terminal(state)?;
        if told.over {
            for &role in &self.players {
                let points = self.sim.goal(state, RoleId(role as u16))?.points();
                told.values.push(f32::from(points) / 100.0);
            }
        }
        for role in 0..self.n_roles {
            if !told.over {
                self.sim.legal(state, RoleId(role as u16), &mut self.moves)?;
                told.moves.extend_from_slice(&self.moves);
                if self.moves.is_empty() {
                    told.over = true;
                    told.values.resize(self.players.len(), 0.0);
                }
            }
            told.bounds.push(told.moves.len() as u32);
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn is_over(&self, at: &Spot) -> bool {
        at.node.map_or(at.told.over, |node| self.cache.is_over(node))
    }

    /// The payoff of each player, if play ended here.
    pub(crate) fn values<'a>(&'a self, at: &'a Spot) -> Option<&'a [f32]> {
        match at.node {
            Some(node) => self.cache.values(node),
            None => at.told.over.then_some(at.told.values.as_slice()),
        }
    }

    /// The legal moves of a role, where play goes on.
    #[inline]
    pub(crate) fn legal<'a>(&'a self, at: &'a Spot, role: usize) -> &'a [MoveId] {
        match at.node {
            Some(node) => self.cache.legal(node, role),
            None => &at.told.moves[at.told.bounds[role] as usize..at.told.bounds[role + 1] as usize],
        }
    }

    /// The words of the state.
    pub(crate) fn state<'a>(&'a self, at: &'a Spot) -> &'a [u64] {
        match at.node {
            Some(node) => self.cache.state(node),
            None => &at.state.0,
        }
    }

    /// Makes a joint move, given as an index into the legal moves of each role. The percepts of players that are not
    /// `careless` can be read until the next step.
    #[inline]
    pub(crate) fn step(&mut self, from: &Spot, choice: &[u32], careless: &[bool], to: &mut Spot) -> Result<(), Fault> {
        self.steps += 1;
        let place = match from.node {
            Some(node) if self.awake => self.cache.place(node, choice),
            _ => EdgePlace::Nowhere,
        };
        if let EdgePlace::At(place) = place
            && let Some(edge) = self.cache.edge(place)
        {
            self.known += 1;
            self.seen_id = Some(edge.seen);
            to.node = Some(edge.child);
            return Ok(());
        }
        self.simulate(from, choice, careless, to, place)
    }

    fn simulate(
        &mut self,
        from: &Spot,
        choice: &[u32],
        careless: &[bool],
        to: &mut Spot,
        place: EdgePlace,
    ) -> Result<(), Fault> {
        let mut joint = std::mem::take(&mut self.joint);
        joint.clear();
        joint.extend((0..self.n_roles).map(|role| self.legal(from, role)[choice[role] as usize]));
        let known;
        let state = match from.node {
            Some(node) => {
                known = State(SmallVec::from_slice(self.cache.state(node)));
                &known
            }
            None => &from.state,
        };
        self.seen_id = None;
        self.seen.clear();
        for &role in &self.players {
            // The cache stores the percepts of all players.
            let seen = match careless[role] && place == EdgePlace::Nowhere {
                true => 0,
                false => {
                    self.sim.percepts(state, &joint, RoleId(role as u16), &mut self.sees)?;
                    crate::ViewKey::seen(&self.sees)
                }
            };
            self.seen.push(seen);
        }
        to.state = self.sim.next(state, &joint)?;
        self.joint = joint;
        self.arrive(to)?;
        if let (EdgePlace::At(place), Some(child)) = (place, to.node) {
            self.cache.set_edge(place, child, &self.seen);
        }
        Ok(())
    }

    /// The percepts of the last step.
    #[inline]
    pub(crate) fn seen(&self) -> &[u64] {
        match self.seen_id {
            Some(id) => self.cache.seen(id),
            None => &self.seen,
        }
    }
}
