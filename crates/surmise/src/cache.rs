//! Compiled games kept on disk, so that the same rules are compiled once.
//!
//! An entry holds the network that was chosen and what setting up found out; machine code is made anew. Its name is a
//! hash of the rules, of the options that decide the network, and of the program. The rules and options also stand in
//! the entry and are compared, so that a hash that two games share does no harm.
//!
//! Entries are written under a temporary name and renamed, so that several processes may write at the same time.
//! Anything that is wrong with a folder or an entry means that the game is compiled as if there were no cache: entries
//! may be damaged, deleted or unreadable at any time. The oldest ones are deleted when the folder grows too large.

use crate::engine::{EngineOptions, Setup, Tried};
use crate::files;
use gdl::{Atom, Literal, Rules, Symbols, Term};
use propnet::{CompileOptions, Compiled};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// First bytes of an entry.
const MAGIC: &[u8] = b"surmise compiled game 1\n";
/// Ending of the names of entries.
const ENDING: &str = "game";
/// Bytes of one entry, at most.
const LARGEST: u64 = 1 << 28;
/// Bytes of all entries, at most.
const MOST_BYTES: u64 = 1 << 29;
/// Age at which files that some process did not finish are deleted.
const UNFINISHED: Duration = Duration::from_secs(3600);

/// A place for a compiled game.
pub(crate) struct Place {
    path: PathBuf,
    /// Everything that decides the network.
    key: String,
}

/// A compiled game from the cache.
pub(crate) struct Kept {
    pub compiled: Compiled,
    pub setup: Setup,
    pub rewritten: bool,
}

impl Place {
    /// The place of a game in a folder.
    pub fn of(folder: &Path, rules: &Rules, options: &EngineOptions) -> Place {
        let key = key(rules, options);
        let name = format!(
            "{:016x}{:016x}.{ENDING}",
            hash(key.as_bytes(), 1),
            hash(key.as_bytes(), 2)
        );
        Place {
            path: folder.join(name),
            key,
        }
    }

    /// The game that is kept here, if there is one and it is sound.
    pub fn load(&self, options: &CompileOptions) -> Option<Kept> {
        let mut bytes = Vec::new();
        // To open a named pipe would wait for somebody to write into it.
        std::fs::metadata(&self.path).ok().filter(|about| about.is_file())?;
        let file = File::open(&self.path).ok()?;
        file.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
        let kept = self.read(&bytes, options);
        match &kept {
            Some(_) => {
                // The time of the last use says which entries may go.
                let used = File::options().append(true).open(&self.path);
                let _ = used.and_then(|file| file.set_modified(SystemTime::now()));
            }
            None => {
                tracing::debug!("{} is damaged or of another program", self.path.display());
                let _ = std::fs::remove_file(&self.path);
            }
        }
        kept
    }

    fn read(&self, bytes: &[u8], options: &CompileOptions) -> Option<Kept> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (sum, rest) = rest.split_first_chunk::<8>()?;
        if u64::from_le_bytes(*sum) != hash(rest, 3) {
            return None;
        }
        let (key, rest) = text(rest)?;
        let (head, rest) = text(rest)?;
        if key != self.key {
            return None;
        }
        let head: Value = serde_json::from_str(head).ok()?;
        let compiled = Compiled::from_bytes(rest, options)?;
        Some(Kept {
            setup: setup(&head)?,
            rewritten: head["rewritten"].as_bool()?,
            compiled,
        })
    }

    /// Keeps a game here. Failures are logged and otherwise ignored.
    pub fn store(&self, compiled: &Compiled, setup: &Setup, rewritten: bool) {
        let Some(network) = compiled.to_bytes() else { return };
        let head = header(setup, rewritten).to_string();
        let mut rest = Vec::with_capacity(network.len() + head.len() + self.key.len() + 16);
        for text in [&self.key, &head] {
            rest.extend((text.len() as u64).to_le_bytes());
            rest.extend(text.as_bytes());
        }
        rest.extend(network);
        if rest.len() as u64 + 64 > LARGEST {
            return;
        }
        let bytes = [MAGIC, &hash(&rest, 3).to_le_bytes(), &rest].concat();
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let made = std::fs::create_dir_all(folder);
        if let Err(error) = made {
            tracing::debug!("no cache in {}: {error}", folder.display());
            return;
        }
        match files::write(&self.path, &bytes) {
            Ok(()) => tidy(folder, &self.path),
            Err(error) => tracing::debug!("not kept: {error}"),
        }
    }
}

/// Deletes the oldest entries until the rest is small enough, and what others left unfinished. The newest entry stays.
fn tidy(folder: &Path, newest: &Path) {
    let Ok(all) = std::fs::read_dir(folder) else { return };
    let mut entries: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in all.flatten() {
        let path = entry.path();
        let Ok(about) = entry.metadata() else { continue };
        let age = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.extension().is_some_and(|e| e == ENDING) {
            entries.push((age, about.len(), path));
        } else if name.contains(&format!(".{ENDING}")) && age.elapsed().is_ok_and(|age| age > UNFINISHED) {
            let _ = std::fs::remove_file(path);
        }
    }
    entries.sort();
    let mut total: u64 = entries.iter().map(|(_, size, _)| size).sum();
    for (_, size, path) in entries {
        if total <= MOST_BYTES {
            return;
        }
        if path != newest && std::fs::remove_file(&path).is_ok() {
            total -= size;
        }
    }
}

/// A text with its length before it, and the rest.
fn text(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (n, rest) = bytes.split_first_chunk::<8>()?;
    let (text, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*n)).ok()?)?;
    Some((std::str::from_utf8(text).ok()?, rest))
}

/// Everything that decides which network is made.
fn key(rules: &Rules, options: &EngineOptions) -> String {
    let EngineOptions {
        limits,
        native,
        rewriting,
        ..
    } = options;
    let program = program();
    let mut key = format!(
        "{program} {} {} {native} {rewriting:?}\n",
        limits.instances, limits.bytes
    );
    for clause in &rules.clauses {
        write_atom(&clause.head, &rules.symbols, &mut key);
        for literal in &clause.body {
            match literal {
                Literal::Pos(atom) => write_atom(atom, &rules.symbols, &mut key),
                Literal::Neg(atom) => {
                    key.push('~');
                    write_atom(atom, &rules.symbols, &mut key);
                }
                Literal::Distinct(a, b) => {
                    key.push('/');
                    write_term(a, &rules.symbols, &mut key);
                    write_term(b, &rules.symbols, &mut key);
                }
            }
        }
        key.push('\n');
    }
    key
}

fn write_atom(atom: &Atom, symbols: &Symbols, out: &mut String) {
    write_call(symbols.text(atom.relation), &atom.args, symbols, out);
}

fn write_term(term: &Term, symbols: &Symbols, out: &mut String) {
    match term {
        Term::Var(v) => out.push_str(&format!("?{v} ")),
        Term::Fun(symbol, args) => write_call(symbols.text(*symbol), args, symbols, out),
    }
}

fn write_call(name: &str, args: &[Term], symbols: &Symbols, out: &mut String) {
    // Names may hold any character in some notations, so their length goes with them.
    out.push_str(&format!("({}:{name} ", name.len()));
    args.iter().for_each(|arg| write_term(arg, symbols, out));
    out.push(')');
}

/// The program that runs: its version, and size and time of its file, which change while it is developed.
fn program() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let file = std::env::current_exe().and_then(std::fs::metadata);
    let built = file.ok().map(|about| {
        let time = about.modified().ok();
        let since = time.and_then(|t| t.duration_since(SystemTime::UNIX_EPOCH).ok());
        (about.len(), since.map(|s| s.as_nanos()))
    });
    format!("{version} {built:?}")
}

fn header(setup: &Setup, rewritten: bool) -> Value {
    let tried: Vec<Value> = setup
        .tried
        .iter()
        .map(|t| json!({"way": t.way, "ground_rules": t.ground_rules, "ops": t.ops, "why": t.why, "chosen": t.chosen}))
        .collect();
    json!({
        "ground_rules": setup.ground_rules, "atoms": setup.atoms, "propositions": setup.propositions,
        "moves": setup.moves, "tried": tried, "rewritten": rewritten,
    })
}

fn setup(head: &Value) -> Option<Setup> {
    let number = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
    let tried = |t: &Value| {
        Some(Tried {
            way: t["way"].as_str()?.to_owned(),
            ground_rules: number(&t["ground_rules"]),
            ops: number(&t["ops"]),
            why: t["why"].as_str().map(str::to_owned),
            chosen: t["chosen"].as_bool()?,
        })
    };
    Some(Setup {
        ground_rules: number(&head["ground_rules"])?,
        atoms: number(&head["atoms"])?,
        propositions: number(&head["propositions"])?,
        moves: head["moves"].as_array()?.iter().map(number).collect::<Option<_>>()?,
        tried: head["tried"].as_array()?.iter().map(tried).collect::<Option<_>>()?,
        from_cache: true,
        ..Setup::default()
    })
}

/// A hash of bytes, eight at a time: multiplication and rotation by odd constants, as in wyhash and FxHash. It finds
/// damage; it does not keep out somebody who may write to the folder, who might as well replace the program.
fn hash(bytes: &[u8], seed: u64) -> u64 {
    let mut state = seed ^ (bytes.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let wide = u128::from(state ^ u64::from_le_bytes(word)) * u128::from(0xa076_1d64_78bd_642f_u64 | 1);
        state = (wide as u64) ^ (wide >> 64) as u64 ^ state.rotate_left(23);
    }
    state ^ state >> 29
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GameText;
    use crate::engine::Engine;

    fn options(folder: &Path) -> EngineOptions {
        EngineOptions {
            cache: Some(folder.to_owned()),
            ..EngineOptions::default()
        }
    }

    fn rules(name: &str) -> Rules {
        GameText::find(name).unwrap().playable().unwrap().rules
    }

    /// The only entry of a folder.
    fn entry(folder: &Path) -> PathBuf {
        let all: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].clone()
    }

    fn network(engine: &Engine) -> Vec<u8> {
        engine.compiled().unwrap().to_bytes().unwrap()
    }

    #[test]
    fn a_game_is_compiled_once_and_damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let (rules, options) = (rules("krieg-tictactoe"), options(folder.path()));
        let first = Engine::new(&rules, &options).unwrap();
        assert!(!first.setup.from_cache);
        first.keep(&options);
        let path = entry(folder.path());
        let second = Engine::new(&rules, &options).unwrap();
        assert!(second.setup.from_cache);
        assert_eq!(network(&second), network(&first));
        assert_eq!((&second.why, &second.setup.moves), (&first.why, &first.setup.moves));
        // A bit in the middle, and half a file.
        let whole = std::fs::read(&path).unwrap();
        let mut damaged = whole.clone();
        damaged[whole.len() / 2] ^= 16;
        for bytes in [&damaged[..], &whole[..whole.len() / 2], &[]] {
            std::fs::write(&path, bytes).unwrap();
            let again = Engine::new(&rules, &options).unwrap();
            assert!(!again.setup.from_cache);
            assert_eq!(network(&again), network(&first));
        }
    }

    #[test]
    fn other_rules_and_options_are_other_entries() {
        let folder = Path::new("nowhere");
        let place = |game: &str, options: &EngineOptions| Place::of(folder, &rules(game), options).path;
        let usual = EngineOptions::default();
        let mut smaller = usual.clone();
        smaller.limits.instances /= 2;
        assert_eq!(place("tictactoe", &usual), place("tictactoe", &usual));
        assert_ne!(place("tictactoe", &usual), place("tictactoe", &smaller));
        assert_ne!(place("tictactoe", &usual), place("connect-four", &usual));
    }

    #[test]
    fn a_folder_that_cannot_be_used_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "not a folder").unwrap();
        let options = options(&file.join("cache"));
        let engine = Engine::new(&rules("tictactoe"), &options).unwrap();
        engine.keep(&options);
        assert!(engine.compiled().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn an_entry_that_is_a_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let options = options(folder.path());
        let rules = rules("tictactoe");
        let pipe = Place::of(folder.path(), &rules, &options).path;
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo is part of POSIX");
        assert!(!Engine::new(&rules, &options).unwrap().setup.from_cache);
    }

    #[test]
    fn hashes_see_every_bit() {
        let mut bytes: Vec<u8> = (0..100).collect();
        let before = hash(&bytes, 3);
        for bit in 0..800 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(hash(&bytes, 3), before, "{bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
