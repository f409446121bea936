//! The folder of an experiment.
//!
//! | file | what |
//! |---|---|
//! | `lab.json` | which spec, at which size, by which command and program |
//! | `spec.toml` | the spec, as it was given |
//! | `journal/*.jsonl` | finished matches in the order they ended, one file for each process that plays |
//! | `results.jsonl` | the matches that count, sorted, without times: always the same bytes for the same spec |
//! | `times.jsonl` | the duration of each match |
//! | `stderr.txt` | what programs that played wrote to standard error, match by match |
//! | `lock` | locked while a process plays |

use crate::contents::Contents;
use crate::error::{Error, FileAction, Result};
use crate::provenance::Provenance;
use crate::run::kept;
use crate::unit::FinishedMatch;
use crate::{Size, Spec, journal};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// An experiment's folder.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Path of the folder.
    pub path: PathBuf,
}

/// The contents of `lab.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Name of the spec.
    pub name: String,
    /// Size of the last run.
    pub size: String,
    /// Names that were set on the command line.
    #[serde(default)]
    pub set: Vec<(String, String)>,
    /// Command of the last run.
    pub command: String,
    /// Version of the program.
    pub version: String,
    /// The roles of every game.
    #[serde(default)]
    pub roles: BTreeMap<String, Vec<String>>,
    /// Fingerprints of the files that games and players read.
    #[serde(default, skip_serializing_if = "Contents::is_empty")]
    pub contents: Contents,
    /// Cells that could not be played: their keys, and why.
    #[serde(default)]
    pub left_out: Vec<(String, String)>,
    /// Where, when and by what the results were made.
    #[serde(default)]
    pub provenance: Provenance,
    /// Every option of every player, defaults included.
    #[serde(default)]
    pub players: BTreeMap<String, Vec<(String, String)>>,
}

/// Finished matches by cell, in the order of their numbers.
pub type Results = HashMap<String, Vec<FinishedMatch>>;

/// Largest spec or description of a run that is read back.
const MAX_TEXT: u64 = 64 << 20;

fn read_text(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(MAX_TEXT + 1).read_to_string(&mut text)? as u64;
    match read > MAX_TEXT {
        true => Err(std::io::Error::other(format!("longer than {} MiB", MAX_TEXT >> 20))),
        false => Ok(text),
    }
}

/// Finished matches of several journals, each once, by cell and in the order of their numbers.
///
/// # Errors
/// If there are two different results of one match.
pub fn merged(all: Vec<FinishedMatch>) -> Result<Results> {
    let mut cells: HashMap<String, BTreeMap<u64, FinishedMatch>> = HashMap::new();
    for played in all {
        let cell = cells.entry(played.cell.clone()).or_default();
        match cell.get(&played.n) {
            None => {
                cell.insert(played.n, played);
            }
            Some(before) if before.canonical() == played.canonical() => {}
            // Two processes played it at the same time. The first in the order of the journals counts.
            Some(before) if before.unrepeatable && played.unrepeatable => {}
            Some(before) => {
                return Err(Error::Contradiction {
                    cell: played.cell,
                    number: played.n,
                    versions: [before.version.clone(), played.version],
                });
            }
        }
    }
    let sorted = |(key, cell): (String, BTreeMap<u64, FinishedMatch>)| (key, cell.into_values().collect());
    Ok(cells.into_iter().map(sorted).collect())
}

/// Most bytes of `stderr.txt`.
const MAX_REMARKS: usize = 4 << 20;

/// What programs that played wrote to standard error, match by match.
fn remarks(results: &Results) -> String {
    let mut out = String::new();
    let mut keys: Vec<&String> = results.keys().collect();
    keys.sort();
    for played in keys.into_iter().flat_map(|key| &results[key]) {
        for (role, text) in &played.remarks {
            let player = played.players.get(*role).map_or("", String::as_str);
            out += &format!(
                "== cell {}, match {}, role {}, {player}\n{}\n",
                played.cell,
                played.n,
                role + 1,
                text.trim_end()
            );
            if out.len() > MAX_REMARKS {
                return out + "== the rest is in the journals\n";
            }
        }
    }
    out
}

impl Folder {
    /// Makes a folder for a spec, or opens the existing one.
    ///
    /// # Errors
    /// If it cannot be written, or holds something else.
    pub fn prepare(path: &Path, spec: &Spec) -> Result<Folder> {
        Folder::belongs(path, spec)?;
        let folder = Folder { path: path.to_owned() };
        let failed = Error::io(FileAction::WriteInto, path);
        std::fs::create_dir_all(folder.file("journal")).map_err(failed)?;
        folder.try_out().map_err(failed)?;
        Ok(folder)
    }

    /// Checks whether [`prepare`](Folder::prepare) would succeed, and leaves everything as it is.
    ///
    /// # Errors
    /// Those of [`prepare`](Folder::prepare).
    pub fn check(path: &Path, spec: &Spec) -> Result<()> {
        Folder::belongs(path, spec)?;
        let missing: Vec<&Path> = path
            .ancestors()
            .take_while(|p| !p.as_os_str().is_empty() && !p.exists())
            .collect();
        let made = std::fs::create_dir_all(path);
        let tried = made.and_then(|()| Folder { path: path.to_owned() }.try_out());
        // From the innermost outwards. A folder that another process has written into stays.
        missing.iter().for_each(|path| drop(std::fs::remove_dir(path)));
        tried.map_err(Error::io(FileAction::WriteInto, path))
    }

    fn try_out(&self) -> std::io::Result<()> {
        File::create(self.file("lock.try"))?;
        std::fs::remove_file(self.file("lock.try"))
    }

    /// Refuses a folder that holds something other than results of the spec.
    fn belongs(path: &Path, spec: &Spec) -> Result<()> {
        let folder = Folder { path: path.to_owned() };
        if path.exists() && !path.is_dir() {
            return Err(Error::NotAFolder(path.to_owned()));
        }
        if folder.file("lab.json").exists() {
            let manifest = folder.manifest()?;
            if manifest.name != spec.name {
                return Err(Error::OtherExperiment {
                    folder: path.to_owned(),
                    holds: manifest.name,
                    wanted: spec.name.clone(),
                });
            }
            // What took a night is not replaced by what takes minutes.
            if Size::parse(&manifest.size)? > spec.size {
                return Err(Error::LargerSize {
                    folder: path.to_owned(),
                    holds: manifest.size,
                    wanted: spec.size.name().to_owned(),
                });
            }
        } else if path.is_dir() {
            // A run may have been killed before it wrote lab.json.
            let ours =
                |name: &str| ["journal", "lock", "lock.try", "spec.toml"].contains(&name) || name.ends_with(".tmp");
            let mut names = path
                .read_dir()
                .map_err(Error::io(FileAction::WriteInto, path))?
                .filter_map(|e| e.ok()?.file_name().into_string().ok());
            if let Some(file) = names.find(|name| !ours(name)) {
                return Err(Error::OtherFiles {
                    folder: path.to_owned(),
                    file,
                });
            }
        }
        Ok(())
    }

    /// Opens the folder of an experiment that was begun.
    ///
    /// # Errors
    /// If it is not the folder of an experiment.
    pub fn open(path: &Path) -> Result<(Folder, Manifest, Spec)> {
        let folder = Folder { path: path.to_owned() };
        let manifest = folder.manifest()?;
        let text = folder.file("spec.toml");
        let text = read_text(&text).map_err(Error::io(FileAction::Read, &text))?;
        let origin = folder.file("spec.toml").display().to_string();
        let mut spec = Spec::read(&origin, &text, Size::parse(&manifest.size)?, &manifest.set)?;
        spec.seal(&manifest.contents);
        spec.cells
            .retain(|cell| manifest.left_out.iter().all(|(key, _)| *key != cell.key));
        spec.left_out
            .extend(manifest.left_out.iter().map(|(_, why)| why.clone()));
        Ok((folder, manifest, spec))
    }

    /// The size of the results that a folder holds, if it holds an experiment.
    pub fn size_of(path: &Path) -> Option<Size> {
        let folder = Folder { path: path.to_owned() };
        Size::parse(&folder.manifest().ok()?.size).ok()
    }

    /// When and where earlier runs were made.
    pub fn provenance(&self) -> Provenance {
        self.manifest().map(|manifest| manifest.provenance).unwrap_or_default()
    }

    /// Writes `spec.toml` and `lab.json`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn describe(&self, manifest: &Manifest, spec: &Spec) -> Result<()> {
        self.write("spec.toml", spec.text.as_bytes())?;
        let json = serde_json::to_string_pretty(manifest).expect("plain data");
        self.write("lab.json", (json + "\n").as_bytes())
    }

    fn manifest(&self) -> Result<Manifest> {
        let path = self.file("lab.json");
        let text = read_text(&path).map_err(|source| Error::NoExperiment {
            folder: self.path.clone(),
            source,
        })?;
        serde_json::from_str(&text).map_err(|source| Error::Damaged { path, source })
    }

    /// A file of the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Locks the folder until the file is dropped. `shared` locks do not exclude each other.
    ///
    /// # Errors
    /// If another process holds the lock.
    pub fn lock(&self, shared: bool) -> Result<File> {
        let path = self.file("lock");
        let file = File::create(&path).map_err(Error::io(FileAction::Write, &path))?;
        let locked = if shared {
            file.try_lock_shared()
        } else {
            file.try_lock()
        };
        match locked {
            Ok(()) => Ok(file),
            Err(std::fs::TryLockError::WouldBlock) => Err(Error::FolderInUse(self.path.clone())),
            Err(std::fs::TryLockError::Error(error)) => Err(Error::io(FileAction::Lock, &path)(error)),
        }
    }

    /// All finished matches, each once.
    ///
    /// # Errors
    /// If a journal is damaged, or has two different results of one match.
    pub fn load(&self) -> Result<Results> {
        let folder = self.file("journal");
        let listed = folder.read_dir().map_err(Error::io(FileAction::Read, &folder))?;
        let mut paths: Vec<PathBuf> = listed.filter_map(|e| Some(e.ok()?.path())).collect();
        paths.retain(|p| p.extension().is_some_and(|e| e == "jsonl"));
        paths.sort();
        let mut all = Vec::new();
        for path in paths {
            all.extend(journal::read(&path)?);
        }
        merged(all)
    }

    /// Writes `results.jsonl` and `times.jsonl`. Returns the matches that count.
    ///
    /// # Errors
    /// If they cannot be read or written.
    pub fn finish(&self, spec: &Spec) -> Result<Results> {
        let results = kept(spec, self.load()?)?;
        let mut keys: Vec<&String> = results.keys().collect();
        keys.sort();
        let (mut lines, mut times) = (String::new(), String::new());
        for played in keys.into_iter().flat_map(|key| &results[key]) {
            lines += &played.canonical();
            lines.push('\n');
            let seconds = played.seconds.unwrap_or_default();
            times += &format!(
                "{{\"cell\":\"{}\",\"n\":{},\"seconds\":{seconds:.6}}}\n",
                played.cell, played.n
            );
        }
        self.write("results.jsonl", lines.as_bytes())?;
        self.write("times.jsonl", times.as_bytes())?;
        let remarks = remarks(&results);
        if !remarks.is_empty() {
            self.write("stderr.txt", remarks.as_bytes())?;
        }
        Ok(results)
    }

    /// Writes a file atomically: under another name, then renamed.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.file(name);
        let failed = Error::io(FileAction::Write, &path);
        let temporary = self.file(&format!("{name}.{}.tmp", std::process::id()));
        let whole = || {
            let mut file = File::create(&temporary)?;
            file.write_all(bytes).and_then(|()| file.sync_all())?;
            std::fs::rename(&temporary, &path)
        };
        whole().map_err(|error| {
            let _ = std::fs::remove_file(&temporary);
            failed(error)
        })
    }
}
