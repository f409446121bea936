//! The true state of a table: the same referee as [`surmise::referee::Match`], one round at a time, with undo.
//!
//! For the same seed and the same answers the record is the same as that of a match; a test compares the two.

use crate::games::TableGame;
use std::sync::Arc;
use surmise::game::{Fault, MoveId, RoleId, Seed, Simulator, State, Told};
use surmise::referee::{Record, RecordError, Round, Substitution};

/// A game in play.
pub struct GameInPlay {
    sim: Box<dyn Simulator>,
    seed: Seed,
    /// The states so far, the initial one first.
    states: Vec<State>,
    legal: Vec<Vec<MoveId>>,
    record: Record,
    max_rounds: usize,
}

/// What a seat answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A move in canonical text.
    Move(String),
    /// No move, and why.
    None(Substitution),
}

impl GameInPlay {
    /// Starts a game.
    ///
    /// # Errors
    /// If the rules cannot be evaluated.
    pub fn new(
        game: &Arc<TableGame>,
        names: Vec<String>,
        cheats: Vec<bool>,
        seed: Seed,
        max_rounds: usize,
    ) -> Result<GameInPlay, Fault> {
        let mut sim = game.game.simulator();
        let state = sim.initial()?;
        let title = game.game.title();
        let record = Record {
            game: title.game,
            rules: title.rules,
            roles: sim.roles().to_vec(),
            players: names,
            cheats,
            seed: seed.0,
            states: vec![sim.fluents(&state)],
            sealed: true,
            ..Record::default()
        };
        let mut play = GameInPlay {
            sim,
            seed,
            states: vec![state],
            legal: Vec::new(),
            record,
            max_rounds,
        };
        play.settle()?;
        Ok(play)
    }

    /// Goes on from a record: its rounds are played again and compared.
    ///
    /// # Errors
    /// If the record is not of this game, or does not replay.
    pub fn resume(game: &Arc<TableGame>, record: Record, max_rounds: usize) -> Result<GameInPlay, RecordError> {
        let mut sim = game.game.simulator();
        surmise::referee::replay(&record, sim.as_mut())?;
        let mut states = vec![sim.initial()?];
        for round in &record.rounds {
            let last = states.last().cloned().unwrap_or_default();
            let mut joint = Vec::with_capacity(round.moves.len());
            for (role, text) in round.moves.iter().enumerate() {
                let found = sim.find_move(RoleId(role as u16), text);
                joint.push(found.ok_or(Fault::Foreign("a move"))?);
            }
            states.push(sim.next(&last, &joint)?);
        }
        let mut play = GameInPlay {
            sim,
            seed: Seed(record.seed),
            states,
            legal: Vec::new(),
            record,
            max_rounds,
        };
        if !play.is_over() {
            play.settle()?;
        }
        Ok(play)
    }

    /// The record so far.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Whether the game has ended or was given up.
    pub fn is_over(&self) -> bool {
        self.record.complete || self.record.aborted
    }

    /// Rounds played.
    pub fn rounds(&self) -> usize {
        self.record.rounds.len()
    }

    /// What a role was told.
    pub fn told(&self, role: usize) -> Vec<Told> {
        self.record.told(role, self.rounds())
    }

    /// Fluents of the true state: for players that are shown it.
    pub fn fluents(&self) -> Vec<String> {
        self.record.states.last().cloned().unwrap_or_default()
    }

    /// Gives the game up.
    pub fn abort(&mut self) {
        self.record.aborted = true;
    }

    /// Plays a round: the answer of every role, none for nature.
    ///
    /// # Errors
    /// If the rules cannot be evaluated; the game is then given up.
    pub fn play(&mut self, answers: Vec<Option<Answer>>) -> Result<(), Fault> {
        let played = self.play_round(answers).and_then(|()| self.settle());
        if played.is_err() {
            self.abort();
        }
        played
    }

    fn play_round(&mut self, answers: Vec<Option<Answer>>) -> Result<(), Fault> {
        let state = self.states.last().cloned().unwrap_or_default();
        let mut round = Round::default();
        let mut joint = Vec::with_capacity(answers.len());
        for (role, answer) in answers.into_iter().enumerate() {
            let (mv, submitted, substitution) = self.judge(role, answer);
            joint.push(mv);
            round.moves.push(self.sim.move_text(RoleId(role as u16), mv).to_owned());
            round.submitted.push(submitted);
            round.substitutions.push(substitution);
        }
        let mut percepts = Vec::new();
        for role in (0..joint.len()).map(|role| RoleId(role as u16)) {
            self.sim.percepts(&state, &joint, role, &mut percepts)?;
            let texts = percepts.iter().map(|&p| self.sim.percept_text(role, p).to_owned());
            round.percepts.push(texts.collect());
        }
        let next = self.sim.next(&state, &joint)?;
        self.record.rounds.push(round);
        self.record.states.push(self.sim.fluents(&next));
        self.states.push(next);
        Ok(())
    }

    /// The move that is made, what was submitted, and why the two differ.
    fn judge(&self, role: usize, answer: Option<Answer>) -> (MoveId, String, Option<Substitution>) {
        let (id, legal) = (RoleId(role as u16), &self.legal[role]);
        let place = (self.rounds() * self.legal.len() + role) as u64;
        let pick = |label: &str| *self.seed.child(label).nth(place).rng().pick(legal);
        match answer {
            None => {
                let mv = pick("nature");
                (mv, self.sim.move_text(id, mv).to_owned(), None)
            }
            Some(Answer::Move(text)) => {
                let found = legal.iter().copied().find(|&mv| self.sim.move_text(id, mv) == text);
                match found {
                    Some(mv) => (mv, text, None),
                    None => (pick("substitute"), text, Some(Substitution::Illegal)),
                }
            }
            Some(Answer::None(why)) => (pick("substitute"), String::new(), Some(why)),
        }
    }

    /// Finds the legal moves of the state, or ends the game.
    fn settle(&mut self) -> Result<(), Fault> {
        let state = self.states.last().cloned().unwrap_or_default();
        if self.sim.terminal(&state)? {
            for role in 0..self.record.roles.len() {
                let goal = self.sim.goal(&state, RoleId(role as u16))?;
                self.record.goals.push(goal.points());
            }
            self.record.complete = true;
            return Ok(());
        }
        if self.rounds() >= self.max_rounds {
            self.abort();
            return Ok(());
        }
        self.legal.clear();
        for role in 0..self.record.roles.len() {
            let mut legal = Vec::new();
            self.sim.legal(&state, RoleId(role as u16), &mut legal)?;
            if legal.is_empty() {
                return Err(Fault::NoMove {
                    role: Some(self.record.roles[role].clone()),
                    round: Some(self.rounds() + 1),
                });
            }
            self.legal.push(legal);
        }
        Ok(())
    }

    /// Takes back all rounds but the first few. A game that is over stays over.
    ///
    /// # Errors
    /// If the rules cannot be evaluated.
    pub fn take_back(&mut self, rounds: usize) -> Result<(), Fault> {
        if self.is_over() || rounds >= self.rounds() {
            return Ok(());
        }
        self.record.rounds.truncate(rounds);
        self.record.states.truncate(rounds + 1);
        self.states.truncate(rounds + 1);
        self.settle()
    }
}
