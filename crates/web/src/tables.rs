//! All tables of the server: making them, moving them on, and keeping them.
//!
//! Everything that computes is done on two pools of threads: views, beliefs and games being opened on the quick one,
//! players' thinking on the other. The asynchronous runtime only waits.

use crate::games::{GameShelf, GameSource};
use crate::options::ServeOptions;
use crate::place::Place;
use crate::pool::Pool;
use crate::store::{Saved, SeatKind, Store};
use crate::table::{Setup, Sitter, Table, Viewer, seats};
use crate::token::{self, TokenHash};
use crate::{ApiError, requests};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use surmise::game::StopFlag;
use surmise::referee::Record;
use tokio::runtime::Handle;

/// All tables.
pub struct Tables {
    /// Options of the server.
    pub options: ServeOptions,
    /// Open games.
    pub shelf: GameShelf,
    /// Threads for short work.
    pub quick: Pool,
    /// Threads that open games: hostile rules keep nobody else waiting.
    pub opener: Pool,
    /// Threads on which players think.
    pub think: Pool,
    /// The thread that writes files, in the order in which they were handed over.
    disk: Pool,
    /// Ends all work.
    pub stop: StopFlag,
    live: Mutex<HashMap<String, Arc<Place>>>,
    store: Option<Store>,
    runtime: Handle,
}

/// Time after its end that a move by a person is still waited for: messages take a moment.
const GRACE: Duration = Duration::from_secs(1);

/// Longest pause between rounds, in milliseconds.
pub const MAX_DELAY: u64 = 60_000;

/// Idle time after which a finished table may make place for another.
const FINISHED_IDLE: Duration = Duration::from_secs(60);

/// Longest wait for the disk at the end.
const WRITING: Duration = Duration::from_millis(1500);

/// A new table: its name and the tokens of people.
pub struct Made {
    /// The table.
    pub place: Arc<Place>,
    /// Token of each person, by role.
    pub tokens: BTreeMap<usize, String>,
}

impl Tables {
    /// No tables in memory; those on disk are loaded when somebody asks for them.
    ///
    /// # Errors
    /// If the folder cannot be used.
    pub fn new(options: ServeOptions, runtime: Handle) -> std::io::Result<Tables> {
        let stop = StopFlag::default();
        Ok(Tables {
            shelf: GameShelf::new(options.limits.clone(), stop.clone()),
            quick: Pool::new("quick", options.limits.quick_threads),
            opener: Pool::new("open", options.limits.open_threads),
            think: Pool::new("think", options.limits.think_threads),
            disk: Pool::new("disk", 1),
            store: options.data.as_deref().map(Store::open).transpose()?,
            live: Mutex::default(),
            runtime,
            stop,
            options,
        })
    }

    fn live(&self) -> MutexGuard<'_, HashMap<String, Arc<Place>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of tables in memory.
    pub fn len(&self) -> usize {
        self.live().len()
    }

    /// Whether no table is in memory.
    pub fn is_empty(&self) -> bool {
        self.live().is_empty()
    }

    /// A table in memory.
    pub fn get(&self, id: &str) -> Option<Arc<Place>> {
        self.live().get(id).cloned()
    }

    /// Makes the table that a request asks for. Called on the quick pool.
    ///
    /// # Errors
    /// If the request is wrong, or there are too many tables.
    pub fn create(self: &Arc<Self>, request: &requests::NewTable) -> Result<Made, ApiError> {
        let source = request.source()?;
        let game = self.shelf.open(&source)?;
        let setup = request.setup(game, &self.options)?;
        self.open(source, setup)
    }

    /// Opens a table.
    ///
    /// # Errors
    /// If a player cannot play the game, or there are too many tables.
    pub fn open(self: &Arc<Self>, source: GameSource, setup: Setup) -> Result<Made, ApiError> {
        self.make_room()?;
        let table = Table::new(setup)?;
        self.put(source, table)
    }

    /// Puts a finished match on the server, to look at.
    ///
    /// # Errors
    /// If the record is wrong, or there are too many tables.
    pub fn upload(self: &Arc<Self>, record: Record) -> Result<Arc<Place>, ApiError> {
        self.make_room()?;
        let source = match surmise::catalogue::rules(&record.game) {
            Ok(rules) if rules == record.rules => GameSource::Catalogue(record.game.clone()),
            _ => GameSource::Rules(record.rules.clone()),
        };
        let game = self.shelf.open(&source)?;
        let played = game.game.seating().played().to_vec();
        let sitter = |(role, name): (usize, &String)| match played.contains(&role) {
            true => Sitter::Name(name.chars().take(100).collect()),
            false => Sitter::Nature,
        };
        let sitters: Vec<Sitter> = record.players.iter().enumerate().map(sitter).collect();
        let mut record = record;
        record.aborted = record.aborted || !record.complete;
        let setup = self.setup(game, sitters, record.seed, None, 0);
        let table = Table::resume(setup, record)?;
        Ok(self.put(source, table)?.place)
    }

    fn setup(
        &self,
        game: Arc<crate::games::TableGame>,
        sitters: Vec<Sitter>,
        seed: u64,
        clock: Option<u64>,
        delay: u64,
    ) -> Setup {
        Setup {
            game,
            sitters,
            seed,
            clock,
            delay,
            think_time: self.options.limits.think_time,
            max_rounds: self.options.limits.rounds,
        }
    }

    fn put(self: &Arc<Self>, source: GameSource, table: Table) -> Result<Made, ApiError> {
        let none = ApiError::internal;
        let (id, watch) = (token::id().ok_or_else(none)?, token::token().ok_or_else(none)?);
        let mut tokens = BTreeMap::new();
        let mut hashes = vec![None; table.setup().sitters.len()];
        for role in table.people() {
            let token = token::token().ok_or_else(none)?;
            hashes[role] = Some(TokenHash::of(&token));
            tokens.insert(role, token);
        }
        tracing::info!(table = %id, game = %table.record().game, "a table was opened");
        let place = Arc::new(Place::new(id.clone(), source, hashes, watch, table));
        self.live().insert(id, place.clone());
        self.advance(&place);
        self.save(&place, &place.lock());
        Ok(Made { place, tokens })
    }

    /// Refuses a table that would be one too many, after finished ones that nobody looks at have left.
    fn make_room(&self) -> Result<(), ApiError> {
        let most = self.options.limits.tables;
        if self.len() < most {
            return Ok(());
        }
        self.sweep(FINISHED_IDLE, true);
        match self.len() < most {
            true => Ok(()),
            false => Err(ApiError::busy(format!("there are {most} tables already"))),
        }
    }

    /// Lets tables go that nobody has looked at for a while: all, or only finished ones. They stay on disk.
    pub fn sweep(&self, idle: Duration, finished_only: bool) {
        let places: Vec<Arc<Place>> = self.live().values().cloned().collect();
        for place in places.iter().filter(|place| place.idle() >= idle) {
            let finished = match place.try_lock() {
                Some(table) => {
                    if !finished_only || table.is_over() {
                        self.save(place, &table);
                    }
                    table.is_over()
                }
                None => continue,
            };
            if finished || !finished_only {
                place.close();
                self.live().remove(&place.id);
                tracing::info!(table = %place.id, "a table that nobody looked at has left the memory");
            }
        }
    }

    /// Finds a table in memory or on disk. Called on the quick pool, or for a table that is in memory.
    ///
    /// # Errors
    /// If there is no such table.
    pub fn find(self: &Arc<Self>, id: &str) -> Result<Arc<Place>, ApiError> {
        if let Some(place) = self.get(id) {
            return Ok(place);
        }
        let store = self.store.as_ref().ok_or_else(ApiError::no_table)?;
        let saved = store.load(id)?;
        self.make_room()?;
        let place = Arc::new(self.restore(saved)?);
        // Two may have loaded it at the same time.
        let place = self.live().entry(id.to_owned()).or_insert(place).clone();
        self.advance(&place);
        Ok(place)
    }

    fn restore(&self, saved: Saved) -> Result<Place, ApiError> {
        let record = Record::from_json(&saved.record).map_err(surmise::Error::Record)?;
        let source = match saved.game {
            Some(name) => GameSource::Catalogue(name),
            None => GameSource::Rules(record.rules.clone()),
        };
        let game = self.shelf.open(&source)?;
        let mut sitters = Vec::with_capacity(saved.seats.len());
        for seat in &saved.seats {
            sitters.push(match seat.kind {
                SeatKind::Nature => Sitter::Nature,
                SeatKind::Person => Sitter::Person,
                SeatKind::Name => Sitter::Name(seat.who.clone()),
                SeatKind::Player => {
                    let time = seat.time_ms.map(Duration::from_millis);
                    match seats::read_player(&seat.who, &self.options) {
                        Ok(player) => Sitter::Player(Box::new(player), time),
                        // A finished game needs no players.
                        Err(_) if record.complete || record.aborted => Sitter::Name(seat.who.clone()),
                        Err(error) => return Err(error),
                    }
                }
            });
        }
        let parse = |seat: &crate::store::SavedSeat| seat.token.as_deref().and_then(TokenHash::parse);
        let tokens = saved.seats.iter().map(parse).collect();
        let setup = self.setup(game, sitters, record.seed, saved.clock, saved.delay);
        let mut table = Table::resume(setup, record)?;
        if !saved.running {
            table.control(crate::table::Control::Stop);
        }
        table.restore(saved.answers);
        Ok(Place::new(saved.id, source, tokens, saved.watch, table))
    }

    /// Writes a table to disk, after everything that was handed over before.
    pub fn save(&self, place: &Place, table: &Table) {
        let Some(store) = self.store.clone() else {
            return;
        };
        let saved = Saved::new(place, table);
        self.disk.spawn(move || write(&store, &saved));
    }

    /// Ends all work, and waits until everything is on disk.
    pub fn shut_down(&self) {
        self.stop.raise();
        self.think.close();
        let places: Vec<Arc<Place>> = self.live().drain().map(|(_, place)| place).collect();
        for place in places {
            place.close();
            // A table that is being worked on was saved after its last round.
            if let Some(table) = place.try_lock() {
                self.save(&place, &table);
            }
        }
        let (sender, receiver) = std::sync::mpsc::channel();
        self.disk.spawn(move || {
            let _ = sender.send(());
        });
        let _ = receiver.recv_timeout(WRITING);
        self.quick.close();
        self.opener.close();
        self.disk.close();
    }

    /// Moves a table on as far as it goes: players start to think, rounds are played, viewers are shown the result.
    pub fn advance(self: &Arc<Self>, place: &Arc<Place>) {
        let mut table = place.lock();
        if place.is_closed() || self.stop.is_raised() {
            return;
        }
        loop {
            for thought in table.thoughts() {
                self.think_about(place, thought);
            }
            if !table.is_ready() || !self.rested(place, &table) {
                break;
            }
            if let Err(error) = table.step() {
                // The message may tell of the true state: it goes to the log of the server's owner only.
                tracing::warn!(table = %place.id, "a game was given up: {}", error.message);
            }
            place.publish(&table);
            self.save(place, &table);
            if table.is_over() {
                tracing::info!(table = %place.id, rounds = table.record().rounds.len(), "a game is over");
            }
        }
        self.start_clocks(place, &table);
    }

    fn think_about(self: &Arc<Self>, place: &Arc<Place>, thought: crate::table::Thought) {
        let (tables, place, stop) = (self.clone(), place.clone(), self.stop.clone());
        self.think.spawn(move || {
            let decided = thought.think(&stop);
            if stop.is_raised() || place.is_closed() {
                // A decision that was cut short says nothing.
                return;
            }
            place.lock().accept(decided);
            let again = tables.clone();
            tables.quick.spawn(move || again.advance(&place));
        });
    }

    /// Whether the pause after the last round of a table without people is over; if not, the table is woken then.
    fn rested(self: &Arc<Self>, place: &Arc<Place>, table: &Table) -> bool {
        let (running, delay) = table.pace();
        if table.has_people() || !running || delay == 0 {
            return true;
        }
        let mut times = place.times.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        match times.rest_until {
            Some(until) if until > now => false,
            Some(_) => {
                times.rest_until = None;
                true
            }
            None => {
                let pause = Duration::from_millis(delay);
                times.rest_until = Some(now + pause);
                self.wake(place, pause);
                false
            }
        }
    }

    /// Forgets the pause that a table is in.
    pub fn end_rest(&self, place: &Place) {
        place.times.lock().unwrap_or_else(PoisonError::into_inner).rest_until = None;
    }

    /// Moves a table on after a while.
    fn wake(self: &Arc<Self>, place: &Arc<Place>, after: Duration) {
        let (tables, place) = (self.clone(), place.clone());
        self.runtime.spawn(async move {
            tokio::time::sleep(after).await;
            let again = tables.clone();
            tables.quick.spawn(move || again.advance(&place));
        });
    }

    /// Starts the clocks of people who have a decision to make.
    fn start_clocks(self: &Arc<Self>, place: &Arc<Place>, table: &Table) {
        let Some(seconds) = table.setup().clock else {
            return;
        };
        let mut times = place.times.lock().unwrap_or_else(PoisonError::into_inner);
        times.clocks.resize(place.tokens.len(), 0);
        for role in table.people() {
            let question = table.epoch() + 1;
            if table.has_to_move(role) && times.clocks[role] != question {
                times.clocks[role] = question;
                self.start_clock(place, role, table.epoch(), Duration::from_secs(seconds) + GRACE);
            }
        }
    }

    fn start_clock(self: &Arc<Self>, place: &Arc<Place>, role: usize, epoch: u64, time: Duration) {
        let (tables, place) = (self.clone(), place.clone());
        self.runtime.spawn(async move {
            tokio::time::sleep(time).await;
            let again = tables.clone();
            tables.quick.spawn(move || {
                let late = place.lock().late(role, epoch);
                if late {
                    again.advance(&place);
                }
            });
        });
    }

    /// A table and who looks at it.
    ///
    /// # Errors
    /// If there is no such table, or the token does not fit.
    pub async fn visit(self: &Arc<Self>, id: &str, token: &str) -> Result<(Arc<Place>, Viewer), ApiError> {
        let place = match self.get(id) {
            Some(place) => place,
            None => {
                let (tables, id) = (self.clone(), id.to_owned());
                let time = self.options.limits.open_time * 2;
                self.opener.run(time, move || tables.find(&id)).await??
            }
        };
        let viewer = place.viewer(token).ok_or_else(ApiError::no_table)?;
        place.touch();
        Ok((place, viewer))
    }

    /// Reads a player that may advise a seat.
    ///
    /// # Errors
    /// If there is no such player, or it is not allowed.
    pub fn adviser(&self, text: Option<&str>) -> Result<seats::SeatedPlayer, ApiError> {
        let spec = seats::read_player(text.unwrap_or(crate::table::hints::ADVISER), &self.options)?;
        match spec.spec.is_cheat() || spec.spec.is_guest() {
            true => Err(ApiError::bad(
                "player",
                "this player cannot advise a seat",
                "choose another player",
            )),
            false => Ok(spec),
        }
    }
}

fn write(store: &Store, saved: &Saved) {
    if let Err(error) = store.save(saved) {
        tracing::error!(table = %saved.id, "the table cannot be saved: {error}");
    }
}
