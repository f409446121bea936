//! Games that can be played while they are being compiled.
//!
//! A game opened by [`Game::starting`] is played on the reference simulator from its first moment. When the compiled
//! engine is ready, players change to it at their next move, and later matches are played on it. Only matches with a
//! clock should be played so: what a player finds in its time depends on the engine.

use crate::engine::{Engine, EngineKind, EngineOptions, Pending};
use crate::players::PlayerSpec;
use crate::{Error, Game, GameText};
use game::{Budget, Decision, Fault, Meter, Player, RoleId, Seed, StopFlag, Told};
use referee::Seat;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// An engine that is being made.
pub(crate) struct Upcoming {
    pending: Mutex<Option<Pending>>,
    made: OnceLock<Result<Engine, Error>>,
}

impl Upcoming {
    /// The compiled engine, once it is ready; never, if there is none.
    pub fn engine(&self) -> Option<&Engine> {
        self.poll();
        let made = self.made.get()?.as_ref().ok()?;
        made.compiled().map(|_| made)
    }

    /// Whether an engine may still come.
    fn is_awaited(&self) -> bool {
        self.poll();
        self.made.get().is_none()
    }

    fn poll(&self) {
        if self.made.get().is_some() {
            return;
        }
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = pending.as_mut().and_then(Pending::poll) {
            let _ = self.made.set(made);
            *pending = None;
        }
    }
}

impl Game {
    /// Takes the engine if it is ready, or waits for it while the game is played.
    fn start(&mut self, upcoming: Upcoming) -> Result<(), Error> {
        let Upcoming { pending, made } = upcoming;
        match made.into_inner() {
            Some(made) => self.engine = made?,
            None => {
                let made = OnceLock::new();
                self.upcoming = Some(Arc::new(Upcoming { pending, made }));
            }
        }
        Ok(())
    }

    /// Whether the game is played on the reference simulator while a faster engine is being made.
    pub fn is_starting(&self) -> bool {
        self.upcoming.as_ref().is_some_and(|upcoming| upcoming.is_awaited())
    }

    /// Opens a game. If its engine takes longer than `wait`, the game starts on the reference simulator.
    ///
    /// # Errors
    /// If the rules have errors, or cannot be run.
    pub fn starting(text: &GameText, options: &EngineOptions, wait: Duration) -> Result<Game, Error> {
        let started = Instant::now();
        let slow = EngineOptions {
            kind: EngineKind::Reference,
            ..options.clone()
        };
        let mut game = Game::new(text, &slow)?;
        let mut options = options.clone();
        // The game ends compiling when it is dropped, and nothing else.
        options.limits.stop = StopFlag::default().under(&options.limits.stop);
        let upcoming = Upcoming {
            pending: Mutex::new(Some(Pending::start(&game.engine().rules, &options)?)),
            made: OnceLock::new(),
        };
        while upcoming.is_awaited() && started.elapsed() < wait && !options.limits.stop.is_raised() {
            std::thread::sleep(Duration::from_millis(1));
        }
        game.start(upcoming)?;
        Ok(game)
    }
}

/// A player that changes to the compiled engine when that is ready. The new player is told everything from the
/// beginning.
struct UpgradingPlayer {
    spec: PlayerSpec,
    role: RoleId,
    seed: Seed,
    player: Box<dyn Player>,
    /// The engine to change to, until that has happened.
    upcoming: Option<Arc<Upcoming>>,
    /// Work of the player before the change.
    before: Meter,
}

/// The player of a role that starts on `engine`.
///
/// # Errors
/// If the player cannot play this game.
pub(crate) fn seat(
    spec: &PlayerSpec,
    engine: &Engine,
    upcoming: &Arc<Upcoming>,
    role: RoleId,
    seed: Seed,
) -> Result<Seat, Error> {
    Ok(match spec.seat(engine, role, seed)? {
        Seat::Player(player) => Seat::Player(Box::new(UpgradingPlayer {
            spec: spec.clone(),
            role,
            seed,
            player,
            upcoming: Some(upcoming.clone()),
            before: Meter::default(),
        })),
        other => other,
    })
}

impl UpgradingPlayer {
    fn upgrade(&mut self) {
        let Some(upcoming) = self.upcoming.take_if(|upcoming| !upcoming.is_awaited()) else {
            return;
        };
        let Some(engine) = upcoming.engine() else { return };
        match self.spec.seat(engine, self.role, self.seed) {
            Ok(Seat::Player(player)) => {
                self.before = self.player.meter();
                self.player = player;
            }
            Ok(_) => {}
            Err(error) => tracing::warn!("the compiled engine is not used: {error}"),
        }
    }
}

impl Player for UpgradingPlayer {
    fn prepare(&mut self, stop: &StopFlag) -> Result<(), Fault> {
        self.upgrade();
        self.player.prepare(stop)
    }

    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        self.upgrade();
        self.player.choose(told, budget)
    }

    fn over(&mut self, told: &[Told]) {
        self.player.over(told);
    }

    fn meter(&self) -> Meter {
        let mut meter = self.before;
        meter.add(self.player.meter());
        meter
    }
}
