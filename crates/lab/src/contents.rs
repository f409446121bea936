//! Fingerprints of the files that decide results: rules, weights, strategies.
//!
//! The fingerprints are part of the keys of the cells that use the files. A cell is therefore played again when a file
//! has changed under the same name.

use crate::error::{Error, FileAction, Result};
use crate::{GameSource, Named, Spec};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// What stands in place of a fingerprint for a player whose matches cannot be repeated.
pub const NOT_REPEATABLE: &str = "not repeatable";

/// Fingerprints of the files of games and players, by the name of the game or player.
pub type Contents = BTreeMap<String, String>;

/// Fingerprints of the files of a spec. Missing files are left out: opening the game or seating the player reports them
/// with a better message.
///
/// # Errors
/// If a file exists and cannot be read.
pub fn of(spec: &Spec, source: &dyn GameSource) -> Result<Contents> {
    let games: BTreeSet<&str> = spec.cells.iter().map(|c| c.game.as_str()).collect();
    let players: BTreeSet<&str> = spec.cells.iter().flat_map(|c| &c.players).map(String::as_str).collect();
    let named = games.into_iter().map(Named::Game);
    let named = named.chain(players.into_iter().map(Named::Player));
    let mut contents = Contents::new();
    for name in named {
        let mut prints = Vec::new();
        for path in source.files(name).iter().filter(|path| path.is_file()) {
            prints.push(fingerprint(path).map_err(Error::io(FileAction::Read, path))?);
        }
        if matches!(name, Named::Player(player) if !source.is_repeatable(player)) {
            prints.push(NOT_REPEATABLE.to_owned());
        }
        if !prints.is_empty() {
            contents.insert(name.text().to_owned(), prints.join(" "));
        }
    }
    Ok(contents)
}

/// Compares the fingerprints of a folder with those of now.
///
/// # Errors
/// If they differ: with the name of the game or player.
pub fn unchanged(before: &Contents, now: &Contents) -> Result<()> {
    match now.iter().find(|(name, print)| before.get(*name) != Some(*print)) {
        None => Ok(()),
        Some((name, _)) => Err(Error::FilesChanged { name: name.clone() }),
    }
}

/// Length and FNV-1a hash of a file. Not safe against deliberate collisions.
fn fingerprint(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 16];
    let (mut length, mut hash) = (0_u64, 0xcbf2_9ce4_8422_2325_u64);
    loop {
        let n = file.read(&mut buffer)?;
        if n == 0 {
            return Ok(format!("{length}-{hash:016x}"));
        }
        length += n as u64;
        for &byte in &buffer[..n] {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
