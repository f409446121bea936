//! Tables on disk: one JSON file each, written as a whole after every round. Tokens of seats are kept as hashes.

use crate::ApiError;
use crate::games::GameSource;
use crate::place::Place;
use crate::table::{Answer, Sitter, Table};
use crate::token::TokenHash;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// A folder of tables.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// A table as it is kept.
#[derive(Serialize, Deserialize)]
pub struct Saved {
    version: u32,
    /// Name of the table.
    pub id: String,
    /// Name of a game of the catalogue; pasted rules are in the record.
    pub game: Option<String>,
    /// Seats in role order.
    pub seats: Vec<SavedSeat>,
    /// Token of watchers.
    pub watch: String,
    /// Seconds that a move may take.
    pub clock: Option<u64>,
    /// Pause between rounds, in milliseconds.
    pub delay: u64,
    /// Whether rounds follow by themselves.
    pub running: bool,
    /// Moves of people in the round that is not finished, by role.
    pub answers: Vec<Option<String>>,
    /// The record (docs/json.md).
    pub record: Value,
}

/// A seat as it is kept.
#[derive(Serialize, Deserialize)]
pub struct SavedSeat {
    /// Who sits there.
    pub who: String,
    /// What kind of sitter it is.
    pub kind: SeatKind,
    /// Milliseconds that a player thinks.
    pub time_ms: Option<u64>,
    /// Hash of the token.
    pub token: Option<String>,
}

/// What sits at a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SeatKind {
    /// Chance.
    Nature,
    /// A person.
    Person,
    /// A player.
    Player,
    /// A name only.
    Name,
}

const VERSION: u32 = 1;

/// Largest file of a table.
const MAX_BYTES: u64 = 64 << 20;

impl Saved {
    /// A table as it is now.
    pub fn new(place: &Place, table: &Table) -> Saved {
        let seat = |(sitter, token): (&Sitter, &Option<TokenHash>)| SavedSeat {
            who: sitter.name().to_owned(),
            kind: match sitter {
                Sitter::Nature => SeatKind::Nature,
                Sitter::Person => SeatKind::Person,
                Sitter::Player(..) => SeatKind::Player,
                Sitter::Name(_) => SeatKind::Name,
            },
            time_ms: match sitter {
                Sitter::Player(_, Some(time)) => Some(time.as_millis() as u64),
                _ => None,
            },
            token: token.as_ref().map(TokenHash::text),
        };
        let answer = |answer: &Option<Answer>| match answer {
            Some(Answer::Move(text)) => Some(text.clone()),
            _ => None,
        };
        let (running, delay) = table.pace();
        Saved {
            version: VERSION,
            id: place.id.clone(),
            game: match &place.source {
                GameSource::Catalogue(name) => Some(name.clone()),
                GameSource::Rules(_) => None,
            },
            seats: table.setup().sitters.iter().zip(&place.tokens).map(seat).collect(),
            watch: place.watch.clone(),
            clock: table.setup().clock,
            delay,
            running,
            answers: table.answers().iter().map(answer).collect(),
            record: table.record().to_json(),
        }
    }
}

impl Store {
    /// Opens a folder, and makes it if it is missing. Only its owner can read it.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn open(folder: &Path) -> io::Result<Store> {
        let tables = folder.join("tables");
        fs::create_dir_all(&tables)?;
        restrict(&tables)?;
        Ok(Store { folder: tables })
    }

    fn path(&self, id: &str) -> Option<PathBuf> {
        let plain = !id.is_empty() && id.len() <= 32 && id.bytes().all(|b| b.is_ascii_hexdigit());
        plain.then(|| self.folder.join(format!("{id}.json")))
    }

    /// Writes a table: under a temporary name, then renamed, so that there is never half a file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, saved: &Saved) -> io::Result<()> {
        let path = self.path(&saved.id).ok_or(io::ErrorKind::InvalidInput)?;
        let beside = self.folder.join(format!(".{}.tmp", saved.id));
        let written = write_whole(&beside, &serde_json::to_vec(saved)?).and_then(|()| fs::rename(&beside, path));
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        written
    }

    /// Reads a table.
    ///
    /// # Errors
    /// If there is none, or its file cannot be read.
    pub fn load(&self, id: &str) -> Result<Saved, ApiError> {
        let path = self.path(id).ok_or_else(ApiError::no_table)?;
        let mut text = String::new();
        let file = File::open(path).map_err(|_| ApiError::no_table())?;
        let read = file.take(MAX_BYTES).read_to_string(&mut text);
        let parsed = read
            .map_err(|_| ())
            .and_then(|_| serde_json::from_str::<Saved>(&text).map_err(|_| ()));
        match parsed {
            Ok(saved) if saved.version == VERSION && saved.id == id => Ok(saved),
            _ => {
                tracing::warn!(table = id, "the file of this table cannot be read");
                Err(ApiError::no_table())
            }
        }
    }
}

/// Writes a file, and waits until it is on the disk: a name that is moved to it is then never that of half a file.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = private(path)?;
    file.write_all(bytes)?;
    file.sync_data()
}

#[cfg(unix)]
fn restrict(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn restrict(_: &Path) -> io::Result<()> {
    Ok(())
}

/// A new file that only its owner can read.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
