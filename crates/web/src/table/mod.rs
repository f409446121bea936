//! The engine of a table: who sits there, the true state, what each seat may see. No HTTP, no clocks, no threads.
//!
//! A caller does four things: it hands in the answers of people ([`Table::submit`], [`Table::late`]), lets players
//! think ([`Table::thoughts`], [`Table::accept`]), plays the round when every answer is there ([`Table::step`]), and
//! shows every viewer its [`Table::view`].
//!
//! Secrets: what a seat is shown is computed by its [`Mind`] from what its role was told, from a fixed seed. The moves
//! offered to a seat are those that are legal in some state that it holds possible. A move among them that is not legal
//! in the true state is replaced by the referee; the seat learns it from the move that it is told it made.

pub mod belief;
pub mod game_in_play;
pub mod hints;
pub mod mind;
pub mod seats;
mod undo;
pub mod views;

pub use game_in_play::{Answer, GameInPlay};
pub use mind::Mind;
pub use seats::{Decided, SeatState, SeatedPlayer, Sitter, Thinker, Thought};
pub use views::{UndoView, View, Viewer};

use crate::ApiError;
use crate::games::TableGame;
use std::sync::Arc;
use std::time::Duration;
use surmise::game::{RoleId, Seed, Told};
use surmise::referee::{Record, Substitution};
use undo::UndoRequest;

/// How a table is set up.
#[derive(Clone)]
pub struct Setup {
    /// The game.
    pub game: Arc<TableGame>,
    /// One entry for each role, nature's included.
    pub sitters: Vec<Sitter>,
    /// Seed of nature, of substitutions and of players.
    pub seed: u64,
    /// Seconds that a move may take.
    pub clock: Option<u64>,
    /// Pause between rounds of a table without people, in milliseconds.
    pub delay: u64,
    /// Longest time that a player thinks.
    pub think_time: Duration,
    /// Rounds after which the game is given up.
    pub max_rounds: usize,
}

/// A table.
pub struct Table {
    setup: Setup,
    play: GameInPlay,
    seats: Vec<SeatState>,
    answers: Vec<Option<Answer>>,
    undo: Option<UndoRequest>,
    /// Counts rounds and undos: answers to an earlier question are dropped.
    epoch: u64,
    running: bool,
    steps: u32,
}

impl Table {
    /// A table before its first round.
    ///
    /// # Errors
    /// If a player cannot play this game, or the rules cannot be evaluated.
    pub fn new(setup: Setup) -> Result<Table, ApiError> {
        let names = setup.sitters.iter().map(|sitter| sitter.name().to_owned()).collect();
        let cheats = setup.sitters.iter().map(is_cheat).collect();
        let play = GameInPlay::new(&setup.game, names, cheats, Seed(setup.seed), setup.max_rounds);
        Table::with_play(setup, play.map_err(surmise::Error::Fault)?)
    }

    /// A table that goes on from its record.
    ///
    /// # Errors
    /// If the record does not replay, or a player cannot play this game.
    pub fn resume(mut setup: Setup, record: Record) -> Result<Table, ApiError> {
        setup.seed = record.seed;
        let play = GameInPlay::resume(&setup.game, record, setup.max_rounds);
        Table::with_play(setup, play.map_err(surmise::Error::Record)?)
    }

    fn with_play(setup: Setup, play: GameInPlay) -> Result<Table, ApiError> {
        let people = setup.sitters.iter().any(Sitter::is_person);
        if let Some(cheat) = setup.sitters.iter().find(|sitter| people && is_cheat(sitter)) {
            return Err(ApiError::bad(
                "player",
                format!(
                    "{} is shown the true state and cannot play against people",
                    cheat.name()
                ),
                "choose another player, or watch without a person at the table",
            ));
        }
        let mut seats = Vec::with_capacity(setup.sitters.len());
        for (role, sitter) in setup.sitters.iter().enumerate() {
            seats.push(seat(&setup, &play, role, sitter)?);
        }
        let answers = vec![None; seats.len()];
        Ok(Table {
            setup,
            play,
            seats,
            answers,
            undo: None,
            epoch: 0,
            running: true,
            steps: 0,
        })
    }

    /// The game.
    pub fn game(&self) -> &Arc<TableGame> {
        &self.setup.game
    }

    /// How the table was set up.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The record so far: the whole truth.
    pub fn record(&self) -> &Record {
        self.play.record()
    }

    /// Whether the game has ended.
    pub fn is_over(&self) -> bool {
        self.play.is_over()
    }

    /// Whether a person sits at the table.
    pub fn has_people(&self) -> bool {
        self.setup.sitters.iter().any(Sitter::is_person)
    }

    /// Roles of people, as places in the joint move.
    pub fn people(&self) -> Vec<usize> {
        let sitters = self.setup.sitters.iter().enumerate();
        sitters
            .filter(|(_, sitter)| sitter.is_person())
            .map(|(role, _)| role)
            .collect()
    }

    /// The number of the current question.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// What a role was told.
    pub fn told(&self, role: usize) -> Vec<Told> {
        self.play.told(role)
    }

    /// Answers of the current round, for the disk.
    pub fn answers(&self) -> &[Option<Answer>] {
        &self.answers
    }

    /// Puts the answers of people back after a restart.
    pub fn restore(&mut self, answers: Vec<Option<String>>) {
        for (role, text) in answers.into_iter().enumerate().take(self.seats.len()) {
            if let (Some(text), Some(SeatState::Person(_))) = (text, self.seats.get(role)) {
                // A move that does not fit any more is asked for again.
                let _ = self.submit(role, &text);
            }
        }
    }

    /// Whether a person has a decision to make now.
    pub fn has_to_move(&self, role: usize) -> bool {
        match &self.seats[role] {
            SeatState::Person(mind) => !self.is_over() && self.answers[role].is_none() && mind.legal().len() > 1,
            _ => false,
        }
    }

    /// Takes the move of a person.
    ///
    /// # Errors
    /// If the person has no decision to make, or the move is none of those offered. Nothing is lost then.
    pub fn submit(&mut self, role: usize, text: &str) -> Result<(), ApiError> {
        if self.is_over() {
            return Err(ApiError::conflict("finished", "the game is over", "ask for a rematch"));
        }
        let SeatState::Person(mind) = &self.seats[role] else {
            return Err(ApiError::new(403, "not-yours", "this token may not move", "watch"));
        };
        if self.answers[role].is_some() {
            return Err(ApiError::conflict(
                "not-now",
                "you have moved already in this round",
                "wait for the others, or take your move back",
            ));
        }
        let canonical = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if mind.legal().binary_search(&canonical).is_err() {
            let shown: String = canonical.chars().take(100).collect();
            #[cfg(test)]
            let shown = shown + &"!".repeat(crate::leaks::truth(crate::leaks::Leak::Message, self) as usize);
            return Err(ApiError::bad(
                "illegal-move",
                format!("`{shown}` is not among your moves"),
                "choose one of `legal`",
            ));
        }
        self.answers[role] = Some(Answer::Move(canonical));
        Ok(())
    }

    /// The clock of a person has run out: the referee will move.
    pub fn late(&mut self, role: usize, epoch: u64) -> bool {
        let late = epoch == self.epoch && self.has_to_move(role);
        if late {
            self.answers[role] = Some(Answer::None(Substitution::Late));
        }
        late
    }

    /// Moves for people who have just one, as far as they can know, and hands out what players have to think about.
    pub fn thoughts(&mut self) -> Vec<Thought> {
        let mut thoughts = Vec::new();
        if self.is_over() || !self.may_go_on() {
            return thoughts;
        }
        for role in 0..self.seats.len() {
            if self.answers[role].is_some() {
                continue;
            }
            match &mut self.seats[role] {
                SeatState::Person(mind) => {
                    self.answers[role] = match mind.legal() {
                        [only] => Some(Answer::Move(only.clone())),
                        // Nothing explains what the role was told: possible only where the belief is sampled.
                        [] => Some(Answer::None(Substitution::Missing("no move is known".to_owned()))),
                        _ => None,
                    };
                }
                SeatState::Player(thinker) => {
                    if let Some(thinker) = thinker.take() {
                        thoughts.push(self.thought(role, thinker));
                    }
                }
                SeatState::Nature | SeatState::Empty => {}
            }
        }
        thoughts
    }

    fn thought(&self, role: usize, thinker: Thinker) -> Thought {
        let sitter = &self.setup.sitters[role];
        let time = match sitter {
            Sitter::Player(_, time) => *time,
            _ => None,
        };
        Thought {
            role,
            epoch: self.epoch,
            thinker,
            told: self.play.told(role),
            fluents: match is_cheat(sitter) {
                true => self.play.fluents(),
                false => Vec::new(),
            },
            time: time.or(self.setup.clock.map(Duration::from_secs)),
            cap: self.setup.think_time,
        }
    }

    /// Takes back a player that has decided. An answer to an earlier question is dropped.
    pub fn accept(&mut self, decided: Decided) {
        let role = decided.role;
        let thinker = decided.thinker.or_else(|| self.new_thinker(role));
        if self.is_over() {
            if let Some(mut thinker) = thinker {
                thinker.end(&self.play.told(role), self.record().complete);
            }
            return;
        }
        self.seats[role] = SeatState::Player(thinker);
        if decided.epoch == self.epoch {
            self.answers[role] = Some(decided.answer);
        }
    }

    fn new_thinker(&self, role: usize) -> Option<Thinker> {
        match &self.setup.sitters[role] {
            Sitter::Player(player, _) => Thinker::new(
                &self.setup.game,
                &player.spec,
                RoleId(role as u16),
                player_seed(self.setup.seed, role),
            )
            .ok(),
            _ => None,
        }
    }

    /// Whether every answer is there.
    pub fn is_ready(&self) -> bool {
        let answered =
            |(seat, answer): (&SeatState, &Option<Answer>)| answer.is_some() || matches!(seat, SeatState::Nature);
        !self.is_over() && self.may_go_on() && self.seats.iter().zip(&self.answers).all(answered)
    }

    /// Plays the round. What people can know is brought up to date.
    ///
    /// # Errors
    /// If the rules cannot be evaluated; the game is then given up.
    pub fn step(&mut self) -> Result<(), ApiError> {
        let answers = std::mem::replace(&mut self.answers, vec![None; self.seats.len()]);
        self.steps = self.steps.saturating_sub(1);
        self.undo = None;
        self.epoch += 1;
        let played = self.play.play(answers);
        let followed = self.follow();
        played.map_err(surmise::Error::Fault)?;
        followed
    }

    /// Brings the beliefs of people up to date.
    fn follow(&mut self) -> Result<(), ApiError> {
        let over = self.play.record().complete;
        let mut failed = None;
        for (role, seat) in self.seats.iter_mut().enumerate() {
            if let SeatState::Person(mind) = seat
                && let Err(error) = mind.follow(&self.play.told(role), over)
            {
                failed = Some(error);
            }
        }
        match failed {
            None => Ok(()),
            Some(error) => {
                self.play.abort();
                Err(error.into())
            }
        }
    }

    /// Gives the game up.
    pub fn abort(&mut self) {
        self.epoch += 1;
        self.play.abort();
    }

    fn may_go_on(&self) -> bool {
        self.has_people() || self.running || self.steps > 0
    }

    /// Stops, goes on, or plays one round, at a table without people.
    pub fn control(&mut self, what: Control) {
        match what {
            Control::Stop => (self.running, self.steps) = (false, 0),
            Control::Go => self.running = true,
            Control::Step => (self.running, self.steps) = (false, 1),
            Control::Delay(delay) => self.setup.delay = delay,
        }
    }

    /// Whether rounds follow each other with a pause, and how long it is.
    pub fn pace(&self) -> (bool, u64) {
        (self.running, self.setup.delay)
    }

    /// The belief of a person.
    pub fn mind(&self, role: usize) -> Option<&Mind> {
        match &self.seats[role] {
            SeatState::Person(mind) => Some(mind),
            _ => None,
        }
    }
}

/// What the watcher of a table without people asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// No further rounds.
    Stop,
    /// Further rounds.
    Go,
    /// One further round.
    Step,
    /// Another pause between rounds, in milliseconds.
    Delay(u64),
}

fn is_cheat(sitter: &Sitter) -> bool {
    matches!(sitter, Sitter::Player(player, _) if player.spec.is_cheat())
}

/// The seed of a player, as in any match.
fn player_seed(seed: u64, role: usize) -> Seed {
    Seed(seed).child("player").nth(role as u64)
}

fn seat(setup: &Setup, play: &GameInPlay, role: usize, sitter: &Sitter) -> Result<SeatState, ApiError> {
    let id = RoleId(role as u16);
    Ok(match sitter {
        Sitter::Nature => SeatState::Nature,
        Sitter::Name(_) => SeatState::Empty,
        Sitter::Person => {
            let over = play.record().complete;
            let people = setup.sitters.iter().enumerate();
            let people = people.filter(|(other, sitter)| *other != role && sitter.is_person());
            let people = people.map(|(other, _)| RoleId(other as u16)).collect();
            let mut mind = Mind::among(&setup.game, id, people)?;
            mind.follow(&play.told(role), over)?;
            SeatState::Person(Box::new(mind))
        }
        Sitter::Player(..) if play.is_over() => SeatState::Empty,
        Sitter::Player(player, _) => {
            let thinker = Thinker::new(&setup.game, &player.spec, id, player_seed(setup.seed, role))?;
            SeatState::Player(Some(thinker))
        }
    })
}
