//! Self-play that improves a table of regrets: Monte Carlo CFR with values from whole games.
//!
//! One game is played for one role, the *learner*. Everybody else follows the current policy, so that a view is met as often as the
//! others and nature let it happen. Wherever the learner has a choice, each of its moves is tried: the game is played on from there
//! by everybody's current policy, against the same moves of the others, and what it comes to is what the move is worth. The
//! learner goes on with a move drawn half from its policy and half evenly. Regrets need no weights for that: how often a view
//! is met scales all its regrets alike (McAleer, Farina, Lanctot and Sandholm, ESCHER, 2023, who take the values from a network).
//! The average policy is that of the others, where they met it, as in external sampling (Lanctot and others 2009).
//!
//! In some games everybody but the learner may be a beginner who moves at random. What is learned then is a restricted Nash response
//! (Johanson, Zinkevich and Bowling, *Computing robust counter-strategies*, 2007): the best answer to somebody who is a beginner
//! with that probability and else plays as well as can be. A small share costs little safety, and makes the most of weak players.
//!
//! Games are independent: each knows the table as it was when its generation began, and hands in what it found out.

use crate::network::Target;
use crate::table::{Table, ViewKey};
use game::{Fault, MoveId, PerceptId, Rng, RoleId, Seed, Simulator, State, StopFlag};
use smallvec::SmallVec;
use std::ops::Range;

/// A number for each player.
pub(crate) type Values = SmallVec<[f32; 4]>;

/// Something learned about a view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Note {
    pub key: ViewKey,
    /// The view of the same role's choice before, if there was one.
    pub before: Option<ViewKey>,
    pub first: u32,
    pub n: u32,
    /// Regrets; else a policy for the average.
    pub regrets: bool,
}

/// What some games found out, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    pub notes: Vec<Note>,
    pub numbers: Vec<f32>,
    pub targets: Vec<Target>,
    pub games: u64,
    pub states: u64,
}

/// Rounds after which a game is given up.
const MAX_ROUNDS: usize = 1_000;
/// The share of the learner's moves that is drawn evenly.
const EXPLORE: f32 = 0.5;
/// Updates of a view before its average policy is something to learn from.
pub(crate) const TRUSTED: u32 = 8;

/// A position of a game in progress.
#[derive(Clone, Debug)]
struct Position {
    state: State,
    /// The views of all roles; those of nature mean nothing.
    keys: SmallVec<[ViewKey; 4]>,
    /// Roles whose view, or one before it, is not in the table: they move evenly from then on, and need not look.
    lost: SmallVec<[bool; 4]>,
}

/// Plays games on one simulator.
pub(crate) struct SelfPlay<'a> {
    sim: &'a mut dyn Simulator,
    table: &'a Table,
    players: Vec<usize>,
    nature: Option<usize>,
    legal: Vec<Vec<MoveId>>,
    strategy: Vec<f32>,
    sees: Vec<PerceptId>,
    found: Findings,
    /// The share of games in which everybody but the learner moves at random.
    beginners: f32,
    /// In the game that is played: who knows what it does, if not everybody.
    alone: Option<usize>,
}

impl<'a> SelfPlay<'a> {
    pub(crate) fn new(sim: &'a mut dyn Simulator, table: &'a Table, beginners: f32) -> SelfPlay<'a> {
        let nature = sim.nature().map(|r| usize::from(r.0));
        let n_roles = sim.roles().len();
        SelfPlay {
            sim,
            table,
            players: (0..n_roles).filter(|&r| Some(r) != nature).collect(),
            nature,
            legal: vec![Vec::new(); n_roles],
            strategy: Vec::new(),
            sees: Vec::new(),
            found: Findings::default(),
            beginners,
            alone: None,
        }
    }

    /// Plays some games and says what they found out. Once the flag is raised, no other game is begun.
    pub(crate) fn play(mut self, games: Range<u64>, seed: Seed, enough: &StopFlag) -> Result<Findings, Fault> {
        let before = self.sim.meter().states;
        for number in games {
            if enough.is_raised() {
                break;
            }
            let learner = self.players[number as usize % self.players.len()];
            let mut rng = seed.nth(number).rng();
            let weak = self.beginners > 0.0 && (rng.unit() as f32) < self.beginners;
            self.alone = weak.then_some(learner);
            self.game(learner, &mut rng)?;
            self.found.games += 1;
        }
        self.found.states = self.sim.meter().states - before;
        Ok(self.found)
    }

    fn game(&mut self, learner: usize, rng: &mut Rng) -> Result<(), Fault> {
        let mut at = Position {
            state: self.sim.initial()?,
            keys: (0..self.legal.len()).map(ViewKey::start).collect(),
            lost: SmallVec::from_elem(false, self.legal.len()),
        };
        let mut before: SmallVec<[Option<ViewKey>; 4]> = SmallVec::from_elem(None, self.legal.len());
        let mut kept: Option<Target> = None;
        let mut choices = 0;
        for _ in 0..MAX_ROUNDS {
            if self.is_over(&at.state)? {
                break;
            }
            let mut joint = self.moves(&mut at, rng);
            // On the way itself everything is looked at: this is where the table grows.
            at.lost.fill(false);
            let legal = self.legal.clone();
            let alone = self.players.len() == 1;
            for role in self.players.clone() {
                if legal[role].len() > 1 && (role != learner || alone) && self.alone.is_none() {
                    self.table
                        .strategy(at.keys[role], legal[role].len(), &mut self.strategy);
                    let policy = std::mem::take(&mut self.strategy);
                    self.note(at.keys[role], before[role], &policy, false);
                    self.strategy = policy;
                }
            }
            if legal[learner].len() > 1 {
                let (values, worth) = self.try_all(&at, &mut joint, learner, &legal[learner], rng)?;
                let policy = self.regret(at.keys[learner], before[learner], learner, &worth);
                choices += 1;
                // One state of a game, any of them alike, is enough for the network.
                if rng.below(choices) == 0 {
                    kept = Some(self.target(&at, &legal, values));
                }
                joint[learner] = self.explore(&legal[learner], &policy, rng);
            }
            for role in 0..legal.len() {
                if legal[role].len() > 1 {
                    before[role] = Some(at.keys[role]);
                }
            }
            at = self.step(&at, &joint)?;
        }
        // Values against beginners are not what states are worth.
        self.found.targets.extend(kept.filter(|_| self.alone.is_none()));
        Ok(())
    }

    /// Whether play ends here; else finds the legal moves of everyone.
    fn is_over(&mut self, state: &State) -> Result<bool, Fault> {
        if self.sim.terminal(state)? {
            return Ok(true);
        }
        for (role, legal) in self.legal.iter_mut().enumerate() {
            self.sim.legal(state, RoleId(role as u16), legal)?;
            if legal.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A move of everyone by the current policy.
    fn moves(&mut self, at: &mut Position, rng: &mut Rng) -> SmallVec<[MoveId; 4]> {
        let mut joint = SmallVec::new();
        for (role, legal) in self.legal.iter().enumerate() {
            joint.push(match legal.len() {
                1 => legal[0],
                n if Some(role) == self.nature || at.lost[role] || self.alone.is_some_and(|a| a != role) => {
                    legal[rng.below(n)]
                }
                n if !self.table.strategy(at.keys[role], n, &mut self.strategy) => {
                    at.lost[role] = true;
                    legal[rng.below(n)]
                }
                _ => legal[draw(&self.strategy, rng)],
            });
        }
        joint
    }

    /// What each move of the learner comes to against the others' moves, for everyone; and its own part of that.
    fn try_all(
        &mut self,
        at: &Position,
        joint: &mut SmallVec<[MoveId; 4]>,
        learner: usize,
        legal: &[MoveId],
        rng: &mut Rng,
    ) -> Result<(Values, Vec<f32>), Fault> {
        let player = self.players.iter().position(|&r| r == learner).unwrap_or(0);
        let mut policy = Vec::new();
        self.table.strategy(at.keys[learner], legal.len(), &mut policy);
        let mut values: Values = SmallVec::from_elem(0.0, self.players.len());
        let mut worth = Vec::with_capacity(legal.len());
        for (&mv, p) in legal.iter().zip(&policy) {
            joint[learner] = mv;
            let came_to = self.play_on(at, joint, rng)?;
            values.iter_mut().zip(&came_to).for_each(|(v, c)| *v += p * c);
            worth.push(came_to[player]);
        }
        Ok((values, worth))
    }

    /// Makes a joint move and goes on by everybody's current policy, to the end.
    fn play_on(&mut self, at: &Position, joint: &[MoveId], rng: &mut Rng) -> Result<Values, Fault> {
        let mut at = self.step(at, joint)?;
        for _ in 0..MAX_ROUNDS {
            if self.is_over(&at.state)? {
                break;
            }
            let joint = self.moves(&mut at, rng);
            at = self.step(&at, &joint)?;
        }
        if !self.sim.terminal(&at.state)? {
            return Ok(SmallVec::from_elem(0.0, self.players.len()));
        }
        let mut values = Values::new();
        for &role in &self.players {
            let points = self.sim.goal(&at.state, RoleId(role as u16))?.points();
            values.push(f32::from(points) / 100.0);
        }
        Ok(values)
    }

    fn step(&mut self, at: &Position, joint: &[MoveId]) -> Result<Position, Fault> {
        let mut keys = at.keys.clone();
        for &role in self.players.iter().filter(|&&role| !at.lost[role]) {
            self.sim
                .percepts(&at.state, joint, RoleId(role as u16), &mut self.sees)?;
            keys[role] = keys[role].after(joint[role], &self.sees);
        }
        Ok(Position {
            state: self.sim.next(&at.state, joint)?,
            keys,
            lost: at.lost.clone(),
        })
    }

    /// Notes the learner's regrets; gives its policy.
    fn regret(&mut self, key: ViewKey, before: Option<ViewKey>, _learner: usize, worth: &[f32]) -> Vec<f32> {
        let mut policy = Vec::new();
        self.table.strategy(key, worth.len(), &mut policy);
        let value: f32 = policy.iter().zip(worth).map(|(p, w)| p * w).sum();
        let regrets: Vec<f32> = worth.iter().map(|w| w - value).collect();
        self.note(key, before, &regrets, true);
        policy
    }

    fn note(&mut self, key: ViewKey, before: Option<ViewKey>, numbers: &[f32], regrets: bool) {
        self.found.notes.push(Note {
            key,
            before,
            first: self.found.numbers.len() as u32,
            n: numbers.len() as u32,
            regrets,
        });
        self.found.numbers.extend_from_slice(numbers);
    }

    fn explore(&self, legal: &[MoveId], policy: &[f32], rng: &mut Rng) -> MoveId {
        match (rng.unit() as f32) < EXPLORE {
            true => *rng.pick(legal),
            false => legal[draw(policy, rng)],
        }
    }

    /// What the network should say here: these values, and the average policy of everyone who has one.
    fn target(&self, at: &Position, legal: &[Vec<MoveId>], values: Values) -> Target {
        let mut policies = Vec::new();
        for (player, &role) in self.players.iter().enumerate() {
            let key = at.keys[role];
            let n = legal[role].len();
            if n < 2 || self.table.updates(key) < TRUSTED {
                continue;
            }
            if let Some(policy) = self.table.average(key, n) {
                let moves: Box<[u32]> = legal[role].iter().map(|m| m.0).collect();
                policies.push((player as u16, moves, policy.into()));
            }
        }
        Target {
            bits: at.state.0.as_slice().into(),
            values: values.as_slice().into(),
            policies: policies.into(),
        }
    }
}

/// A place, with these probabilities.
pub(crate) fn draw(policy: &[f32], rng: &mut Rng) -> usize {
    let mut left = rng.unit() as f32;
    let mut last = 0;
    for (at, &p) in policy.iter().enumerate().filter(|(_, p)| **p > 0.0) {
        last = at;
        left -= p;
        if left < 0.0 {
            break;
        }
    }
    last
}
