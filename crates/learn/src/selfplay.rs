//! Self-play that improves a table of regrets: Monte Carlo CFR with values from whole games.
//!
//! Each game has one *learner* among the roles. All others follow the current policy, so that a view is visited with
//! the reach probability of the others and nature. Wherever the learner has a choice, each of its moves is tried: the
//! game is continued by everybody's current policy, against the same moves of the others, and its payoff is the value
//! of the move. The learner continues with a move drawn half from its policy and half uniformly. Regrets need no
//! importance weights for that: the frequency of a view scales all its regrets alike (McAleer, Farina, Lanctot and
//! Sandholm, *ESCHER*, 2023, who take the values from a network). The average policy is updated at the views of the
//! others, as in external sampling (Lanctot and others 2009).
//!
//! In some games all roles but the learner may be beginners who move at random. The result is a restricted Nash
//! response (Johanson, Zinkevich and Bowling, *Computing Robust Counter-Strategies*, 2007): a best response to an
//! opponent who is a beginner with that probability and otherwise plays an equilibrium. A small share increases
//! exploitability little, and gains much against weak players.
//!
//! Games are independent: each uses the table as it was when its generation began, and returns its updates.

use crate::network::TrainingTarget;
use crate::table::{RegretTable, ViewKey};
use crate::worker::{Spot, Worker};
use game::limits::THINKING_ROUNDS;
use game::{Fault, MoveId, Rng, Seed, StopFlag};
use smallvec::SmallVec;
use std::ops::Range;

/// A number for each player.
pub(crate) type Values = SmallVec<[f32; 4]>;

/// An update of a view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ViewUpdate {
    pub key: ViewKey,
    /// The view of the same role's previous choice, if there was one.
    pub before: Option<ViewKey>,
    pub first: u32,
    pub n: u32,
    /// Whether the numbers are regrets; else they are a policy for the average.
    pub regrets: bool,
}

/// Updates and training targets of some games, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    pub notes: Vec<ViewUpdate>,
    pub numbers: Vec<f32>,
    pub targets: Vec<TrainingTarget>,
    pub games: u64,
    pub states: u64,
}

/// Share of the learner's moves that is drawn uniformly.
const EXPLORE: f32 = 0.5;
/// Updates of a view from which on its average policy is a training target.
pub(crate) const TRUSTED: u32 = 8;

/// A position of a game in progress.
#[derive(Clone, Debug)]
struct GamePosition {
    spot: Spot,
    /// The views of all roles; meaningless for nature.
    keys: SmallVec<[ViewKey; 4]>,
    /// Roles whose view, or an earlier one, is not in the table: they move uniformly from then on, without a lookup.
    lost: SmallVec<[bool; 4]>,
}

impl GamePosition {
    /// Before the first round; the spot is not set yet.
    fn new(n_roles: usize) -> GamePosition {
        GamePosition {
            spot: Spot::default(),
            keys: (0..n_roles).map(ViewKey::start).collect(),
            lost: SmallVec::from_elem(false, n_roles),
        }
    }
}

/// For each role, a place among its legal moves.
type JointPlaces = SmallVec<[u32; 4]>;

/// Plays games on one worker.
pub(crate) struct SelfPlay<'a> {
    worker: &'a mut Worker,
    table: &'a RegretTable,
    strategy: Vec<f32>,
    found: Findings,
    /// Share of games in which all roles but the learner move at random.
    beginners: f32,
    /// The only role in the present game that does not move at random, if there is one.
    alone: Option<usize>,
    /// Buffers for a continued game and its next position; none while they are in use.
    ahead: Option<Box<(GamePosition, GamePosition)>>,
}

impl<'a> SelfPlay<'a> {
    pub(crate) fn new(worker: &'a mut Worker, table: &'a RegretTable, beginners: f32) -> SelfPlay<'a> {
        SelfPlay {
            worker,
            table,
            strategy: Vec::new(),
            found: Findings::default(),
            beginners,
            alone: None,
            ahead: None,
        }
    }

    /// Plays some games and returns their updates. Once the flag is raised, no further game is begun.
    pub(crate) fn play(mut self, games: Range<u64>, seed: Seed, enough: &StopFlag) -> Result<Findings, Fault> {
        let before = self.worker.steps();
        for number in games {
            if enough.is_raised() {
                break;
            }
            let learner = self.worker.players[number as usize % self.worker.players.len()];
            let mut rng = seed.nth(number).rng();
            let weak = self.beginners > 0.0 && (rng.unit() as f32) < self.beginners;
            self.alone = weak.then_some(learner);
            self.game(learner, &mut rng)?;
            self.found.games += 1;
        }
        self.found.states = self.worker.steps() - before;
        Ok(self.found)
    }

    fn game(&mut self, learner: usize, rng: &mut Rng) -> Result<(), Fault> {
        let n_roles = self.worker.n_roles;
        let (mut at, mut next) = (GamePosition::new(n_roles), GamePosition::new(n_roles));
        self.worker.start(&mut at.spot)?;
        let mut before: SmallVec<[Option<ViewKey>; 4]> = SmallVec::from_elem(None, n_roles);
        let mut kept: Option<TrainingTarget> = None;
        let mut choices = 0;
        for _ in 0..THINKING_ROUNDS {
            if self.worker.is_over(&at.spot) {
                break;
            }
            let mut choice = self.moves(&mut at, rng);
            // On the main line every view is looked up: this is where the table grows.
            at.lost.fill(false);
            self.note_others(&at, &before, learner);
            let n = self.legal(&at, learner).len();
            if n > 1 {
                let mut policy = Vec::new();
                self.table.strategy(at.keys[learner], n, &mut policy);
                let (values, worth) = self.try_all(&at, &mut choice, learner, &policy, rng)?;
                self.regret(at.keys[learner], before[learner], &policy, &worth);
                choices += 1;
                // One state of each game, drawn uniformly, is a training target of the network.
                if rng.below(choices) == 0 {
                    kept = Some(self.target(&at, values));
                }
                choice[learner] = explore(&policy, rng) as u32;
            }
            for (role, before) in before.iter_mut().enumerate() {
                if self.legal(&at, role).len() > 1 {
                    *before = Some(at.keys[role]);
                }
            }
            self.step(&at, &choice, &mut next)?;
            std::mem::swap(&mut at, &mut next);
        }
        // Values against beginners are no training targets.
        self.found.targets.extend(kept.filter(|_| self.alone.is_none()));
        Ok(())
    }

    fn legal<'b>(&'b self, at: &'b GamePosition, role: usize) -> &'b [MoveId] {
        self.worker.legal(&at.spot, role)
    }

    /// A move of everyone by the current policy.
    fn moves(&self, at: &mut GamePosition, rng: &mut Rng) -> JointPlaces {
        let mut choice = JointPlaces::new();
        for role in 0..self.worker.n_roles {
            let n = self.worker.legal(&at.spot, role).len();
            let even = Some(role) == self.worker.nature || at.lost[role] || self.alone.is_some_and(|a| a != role);
            let place = match n {
                1 => 0,
                n if even => rng.below(n),
                n => self.table.draw(at.keys[role], n, rng).unwrap_or_else(|| {
                    at.lost[role] = true;
                    rng.below(n)
                }),
            };
            choice.push(place as u32);
        }
        choice
    }

    /// Adds the policies of the roles other than the learner to the average, where they have a choice. A single role
    /// does both.
    fn note_others(&mut self, at: &GamePosition, before: &[Option<ViewKey>], learner: usize) {
        if self.alone.is_some() {
            return;
        }
        let only_one = self.worker.players.len() == 1;
        let mut policy = std::mem::take(&mut self.strategy);
        for player in 0..self.worker.players.len() {
            let role = self.worker.players[player];
            let n = self.legal(at, role).len();
            if n > 1 && (role != learner || only_one) {
                self.table.strategy(at.keys[role], n, &mut policy);
                self.note(at.keys[role], before[role], policy.iter().copied(), false);
            }
        }
        self.strategy = policy;
    }

    /// The payoffs of all players for each move of the learner, weighted by the policy; and the learner's own payoffs.
    fn try_all(
        &mut self,
        at: &GamePosition,
        choice: &mut JointPlaces,
        learner: usize,
        policy: &[f32],
        rng: &mut Rng,
    ) -> Result<(Values, Vec<f32>), Fault> {
        let players = &self.worker.players;
        let player = players.iter().position(|&r| r == learner).unwrap_or(0);
        let mut values: Values = SmallVec::from_elem(0.0, players.len());
        let mut worth = Vec::with_capacity(policy.len());
        for (place, p) in policy.iter().enumerate() {
            choice[learner] = place as u32;
            let came_to = self.play_on(at, choice, rng)?;
            values.iter_mut().zip(&came_to).for_each(|(v, c)| *v += p * c);
            worth.push(came_to[player]);
        }
        Ok((values, worth))
    }

    /// Makes a joint move and plays to the end by everybody's current policy.
    fn play_on(&mut self, from: &GamePosition, choice: &[u32], rng: &mut Rng) -> Result<Values, Fault> {
        let n_roles = self.worker.n_roles;
        let room = self.ahead.take();
        let mut room = room.unwrap_or_else(|| Box::new((GamePosition::new(n_roles), GamePosition::new(n_roles))));
        let (mut at, mut next) = (&mut room.0, &mut room.1);
        self.step(from, choice, at)?;
        for _ in 0..THINKING_ROUNDS {
            if self.worker.is_over(&at.spot) {
                break;
            }
            let choice = self.moves(at, rng);
            self.step(at, &choice, next)?;
            std::mem::swap(&mut at, &mut next);
        }
        let values = match self.worker.values(&at.spot) {
            Some(values) => SmallVec::from_slice(values),
            None => SmallVec::from_elem(0.0, self.worker.players.len()),
        };
        self.ahead = Some(room);
        Ok(values)
    }

    fn step(&mut self, from: &GamePosition, choice: &[u32], to: &mut GamePosition) -> Result<(), Fault> {
        self.worker.step(&from.spot, choice, &from.lost, &mut to.spot)?;
        to.keys.copy_from_slice(&from.keys);
        to.lost.copy_from_slice(&from.lost);
        for (&role, &seen) in self.worker.players.iter().zip(self.worker.seen()) {
            if !from.lost[role] {
                let own = self.legal(from, role)[choice[role] as usize];
                to.keys[role] = from.keys[role].after_seen(own, seen);
            }
        }
        Ok(())
    }

    /// Records the learner's regrets.
    fn regret(&mut self, key: ViewKey, before: Option<ViewKey>, policy: &[f32], worth: &[f32]) {
        let value: f32 = policy.iter().zip(worth).map(|(p, w)| p * w).sum();
        self.note(key, before, worth.iter().map(|w| w - value), true);
    }

    fn note(
        &mut self,
        key: ViewKey,
        before: Option<ViewKey>,
        numbers: impl ExactSizeIterator<Item = f32>,
        regrets: bool,
    ) {
        self.found.notes.push(ViewUpdate {
            key,
            before,
            first: self.found.numbers.len() as u32,
            n: numbers.len() as u32,
            regrets,
        });
        self.found.numbers.extend(numbers);
    }

    /// The training target of a position: these values, and the average policies of the players that have one.
    fn target(&self, at: &GamePosition, values: Values) -> TrainingTarget {
        let mut policies = Vec::new();
        for (player, &role) in self.worker.players.iter().enumerate() {
            let key = at.keys[role];
            let legal = self.legal(at, role);
            let n = legal.len();
            if n < 2 || self.table.updates(key) < TRUSTED {
                continue;
            }
            if let Some(policy) = self.table.average(key, n) {
                let moves: Box<[u32]> = legal.iter().map(|m| m.0).collect();
                policies.push((player as u16, moves, policy.into()));
            }
        }
        TrainingTarget {
            bits: self.worker.state(&at.spot).into(),
            values: values.as_slice().into(),
            policies: policies.into(),
        }
    }
}

/// A place drawn by the policy, or evenly.
fn explore(policy: &[f32], rng: &mut Rng) -> usize {
    match (rng.unit() as f32) < EXPLORE {
        true => rng.below(policy.len()),
        false => draw(policy.iter().copied(), rng),
    }
}

/// A place, with these probabilities.
#[inline]
pub(crate) fn draw(policy: impl Iterator<Item = f32>, rng: &mut Rng) -> usize {
    let mut left = rng.unit() as f32;
    let mut last = 0;
    for (at, p) in policy.enumerate().filter(|(_, p)| *p > 0.0) {
        last = at;
        left -= p;
        if left < 0.0 {
            break;
        }
    }
    last
}
