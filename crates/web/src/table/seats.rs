//! Who sits at a table, and how players think.

use super::game_in_play::Answer;
use super::mind::Mind;
use crate::ApiError;
use crate::games::TableGame;
use crate::options::ServeOptions;
use std::panic::AssertUnwindSafe;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};
use surmise::PlayerSpec;
use surmise::game::{Budget, Decision, Fault, RoleId, Seed, StopFlag, Told};
use surmise::players::PlayerSpecError;
use surmise::referee::{Seat, Substitution};

/// The word for a person among the seats.
pub const HUMAN: &str = "human";

/// Who was asked to play a role.
#[derive(Clone, Debug)]
pub enum Sitter {
    /// Chance.
    Nature,
    /// A person.
    Person,
    /// A player of this program, and its time per move.
    Player(Box<SeatedPlayer>, Option<Duration>),
    /// A player that is only a name: in records that were uploaded.
    Name(String),
}

impl Sitter {
    /// The name in views and records.
    pub fn name(&self) -> &str {
        match self {
            Sitter::Nature => surmise::referee::NATURE,
            Sitter::Person => HUMAN,
            Sitter::Player(player, _) => &player.name,
            Sitter::Name(name) => name,
        }
    }

    /// Whether a person sits here.
    pub fn is_person(&self) -> bool {
        matches!(self, Sitter::Person)
    }
}

/// A player, and the name by which it was asked for: a path on this machine is not shown.
#[derive(Clone, Debug)]
pub struct SeatedPlayer {
    /// The player.
    pub spec: PlayerSpec,
    /// Name in views and records.
    pub name: String,
}

impl From<PlayerSpec> for SeatedPlayer {
    fn from(spec: PlayerSpec) -> SeatedPlayer {
        let name = spec.text().to_owned();
        SeatedPlayer { spec, name }
    }
}

/// Longest text of a player.
const MAX_PLAYER_TEXT: usize = 500;

/// Reads a player that a request names: only files of folders that the server's owner allowed are looked at.
///
/// # Errors
/// If there is no such player, or it is not allowed.
pub fn read_player(text: &str, options: &ServeOptions) -> Result<SeatedPlayer, ApiError> {
    let asked = text.trim().to_owned();
    let refuse = |message: String, help: &str| Err(ApiError::new(403, "player", message, help));
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    if text.len() > MAX_PLAYER_TEXT {
        return refuse("the player's text is too long".to_owned(), "name fewer options");
    }
    let text = match name.trim() {
        "remote" if !options.allow_remote => {
            return refuse(
                "players elsewhere are not allowed here".to_owned(),
                "start the server with --allow-remote",
            );
        }
        // What a request names must never be run. The owner of the server names what may be.
        "exec" if !options.programs.iter().any(|program| program == rest) => {
            return refuse(
                "this program is not allowed here".to_owned(),
                "start the server with --program 'PROGRAM ARGS'",
            );
        }
        "exec" => text.to_owned(),
        "strategy" => format!("strategy:{}", allowed_path(rest, options)?),
        _ => with_allowed_net(text, options)?,
    };
    let spec = PlayerSpec::parse(&text).map_err(|error| match error {
        // The text of a file's error may quote the file.
        PlayerSpecError::File(_) => {
            ApiError::bad("player", "the file is not a strategy", "use a file of `surmise solve`")
        }
        error => ApiError::from(surmise::Error::Player(error)),
    })?;
    let allowed = |file: &PathBuf| spec.is_program() || options.strategies.iter().any(|folder| is_inside(file, folder));
    if !spec.files().iter().all(allowed) {
        return refuse(
            "the player reads files that are not allowed".to_owned(),
            "use --strategies DIR",
        );
    }
    Ok(SeatedPlayer { spec, name: asked })
}

/// Whether a file lies in a folder, whatever links lead there.
fn is_inside(file: &Path, folder: &Path) -> bool {
    match (file.canonicalize(), folder.canonicalize()) {
        (Ok(file), Ok(folder)) => file.starts_with(folder),
        _ => false,
    }
}

/// The same player with `net=NAME` replaced by the path of an allowed folder.
fn with_allowed_net(text: &str, options: &ServeOptions) -> Result<String, ApiError> {
    let parts = text.split(',').map(|part| {
        let (head, value) = part.split_once('=').unwrap_or((part, ""));
        match head.rsplit(':').next().map(str::trim) {
            Some("net") => Ok(format!("{head}={}", allowed_path(value.trim(), options)?)),
            _ => Ok(part.to_owned()),
        }
    });
    Ok(parts.collect::<Result<Vec<_>, ApiError>>()?.join(","))
}

/// The path of a name within the allowed folders.
fn allowed_path(name: &str, options: &ServeOptions) -> Result<String, ApiError> {
    let help = "start the server with --strategies DIR and name a file of that folder";
    let refused = || ApiError::new(403, "player", "there is no such strategy or network here", help);
    let relative = Path::new(name);
    let plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    if name.is_empty() || !plain || name.contains(',') {
        return Err(refused());
    }
    let inside = |folder: &PathBuf| {
        let (folder, path) = (folder.canonicalize().ok()?, folder.join(relative).canonicalize().ok()?);
        path.starts_with(&folder).then_some(path)
    };
    let found = options.strategies.iter().find_map(inside).ok_or_else(refused)?;
    let text = found.to_str().filter(|path| !path.contains(','));
    text.map(str::to_owned).ok_or_else(refused)
}

/// A role's place at a table.
pub enum SeatState {
    /// Chance.
    Nature,
    /// A person, and what the person can know.
    Person(Box<Mind>),
    /// A player; away while it thinks.
    Player(Option<Thinker>),
    /// Nobody: the game is over.
    Empty,
}

/// A player that thinks on a worker thread.
pub struct Thinker {
    seat: Seat,
    begun: bool,
}

impl Thinker {
    /// Seats a player.
    ///
    /// # Errors
    /// If the player cannot play this game.
    pub fn new(game: &TableGame, spec: &PlayerSpec, role: RoleId, seed: Seed) -> Result<Thinker, surmise::Error> {
        Ok(Thinker {
            seat: game.game.seat(spec, role, seed)?,
            begun: false,
        })
    }

    /// Tells a player elsewhere that the match has ended.
    pub fn end(&mut self, told: &[Told], over: bool) {
        if let (Seat::Guest(guest), true) = (&mut self.seat, self.begun) {
            guest.end(told, over);
        }
    }
}

/// A move that a player has to decide on.
pub struct Thought {
    /// The role.
    pub role: usize,
    /// The table's epoch when the player was asked.
    pub epoch: u64,
    pub(super) thinker: Thinker,
    pub(super) told: Vec<Told>,
    /// The true state; empty but for players that are shown it.
    pub(super) fluents: Vec<String>,
    /// Time to use up, if the player has one.
    pub(super) time: Option<Duration>,
    /// Longest time.
    pub(super) cap: Duration,
}

/// What thinking came to.
pub struct Decided {
    /// The role.
    pub role: usize,
    /// The table's epoch when the player was asked.
    pub epoch: u64,
    pub(super) thinker: Option<Thinker>,
    pub(super) answer: Answer,
}

/// Part of a player's time in which it thinks; the rest is for noticing that the time is over.
const THINKING: f64 = 0.95;

/// The budget of a move: until a time is over, or a flag is raised.
pub fn budget(time: Option<Duration>, cap: Duration, stop: &StopFlag) -> Budget {
    let started = Instant::now();
    let seconds = time.unwrap_or(cap).min(cap).as_secs_f64().max(0.001) * THINKING;
    let flag = StopFlag::by(move || started.elapsed().as_secs_f64() / seconds).under(stop);
    match time {
        Some(_) => Budget::timed(flag),
        None => Budget::until(flag),
    }
}

impl Thought {
    /// Thinks. A player that panics loses its move, and the table goes on.
    pub fn think(mut self, stop: &StopFlag) -> Decided {
        let budget = budget(self.time, self.cap, stop);
        let asked = std::panic::catch_unwind(AssertUnwindSafe(|| self.ask(&budget, stop)));
        let crashed = "the player crashed; please report this".to_owned();
        let (thinker, answer) = match asked {
            Ok(answer) => (Some(self.thinker), answer),
            Err(_) => (None, Answer::None(Substitution::Missing(crashed))),
        };
        Decided {
            role: self.role,
            epoch: self.epoch,
            thinker,
            answer,
        }
    }

    fn ask(&mut self, budget: &Budget, stop: &StopFlag) -> Answer {
        match &mut self.thinker.seat {
            Seat::Player(player) => choice(player.choose(&self.told, budget)),
            Seat::Cheat(cheat) => choice(cheat.choose_knowing(&self.fluents, budget)),
            Seat::Guest(guest) => {
                if !std::mem::replace(&mut self.thinker.begun, true) {
                    // An absent guest is asked all the same, as the referee does.
                    let _ = guest.begin(stop);
                }
                match guest.choose(&self.told, stop) {
                    Ok(reply) => Answer::Move(reply.mv),
                    Err(excuse) => Answer::None(excuse.why),
                }
            }
            Seat::Nature => Answer::None(Substitution::Missing("nature is not asked".to_owned())),
        }
    }
}

fn choice(decision: Result<Decision, Fault>) -> Answer {
    match decision {
        Ok(decision) => Answer::Move(decision.mv),
        Err(fault) => Answer::None(Substitution::Missing(fault.to_string())),
    }
}
