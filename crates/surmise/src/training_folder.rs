//! A training on disk: a folder that `surmise train` writes and the player `cfr:net=DIR` reads.
//!
//! `network.safetensors` and `table.safetensors` are for play, `checkpoint.safetensors` is for resuming, `run.json` is
//! for people, `lock` is locked while a training runs. Each file is written under a temporary name and then renamed,
//! so that no reader finds half a file.

use crate::engine::Engine;
use crate::training_shards::ShardFolder;
use crate::{Error, files};
use learn::{Archive, ArchiveError, Blueprint, Codec, Trainer};
use serde_json::Value;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The codec of a game: which bit of a network's input is which fluent.
///
/// # Errors
/// If the game is not compiled or too large.
pub fn codec(engine: &Engine) -> Result<Codec, Error> {
    if engine.compiled().is_none() {
        return Err(Error::NotCompiled {
            why: engine.why.clone(),
        });
    }
    let mut sim = engine.state_simulator();
    Ok(Codec::new(sim.as_mut(), &engine.setup.moves)?)
}

fn read(path: &Path) -> Result<Archive, Error> {
    let bytes = files::read_tensors(path)?;
    Archive::from_bytes(&bytes).map_err(unusable(path))
}

fn unusable(path: &Path) -> impl FnOnce(ArchiveError) -> Error {
    let path = path.to_owned();
    move |source| Error::Archive { path, source }
}

/// The folder of a training.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainingFolder(PathBuf);

impl TrainingFolder {
    /// A folder, which need not exist.
    pub fn new(path: &Path) -> TrainingFolder {
        TrainingFolder(path.to_owned())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The files that play depends on.
    pub fn files(&self, table: bool) -> Vec<PathBuf> {
        let names = ["network.safetensors", "table.safetensors"];
        names[..1 + usize::from(table)]
            .iter()
            .map(|name| self.file(name))
            .collect()
    }

    /// The shards that other processes play for the training.
    pub fn shards(&self) -> ShardFolder {
        ShardFolder::of(&self.0)
    }

    /// Whether there is a checkpoint in it.
    pub fn has_checkpoint(&self) -> bool {
        self.file("checkpoint.safetensors").exists()
    }

    /// Makes the folder and locks it until the file is dropped.
    ///
    /// # Errors
    /// If the folder cannot be written, or another training holds the lock.
    pub fn lock(&self) -> Result<File, Error> {
        std::fs::create_dir_all(&self.0).map_err(Error::io("cannot make the folder", &self.0))?;
        let path = self.file("lock");
        let file = File::create(&path).map_err(Error::io("cannot write", &path))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(Error::format(&self.0, "is in use: another training writes into it")),
            Err(TryLockError::Error(error)) => Err(Error::io("cannot lock", &path)(error)),
        }
    }

    /// Writes everything.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn save(&self, trainer: &Trainer, run: &Value) -> Result<(), Error> {
        let write = |name: &str, bytes: &[u8]| files::write(&self.file(name), bytes);
        let blueprint = Blueprint::of(trainer);
        let network = blueprint.network_archive(trainer.settings.to_json());
        write("checkpoint.safetensors", &trainer.to_archive().to_bytes())?;
        write("network.safetensors", &network.to_bytes())?;
        write("table.safetensors", &blueprint.table_archive().to_bytes())?;
        write("run.json", format!("{run:#}\n").as_bytes())
    }

    /// The training that was stopped here, and what `run.json` says of it.
    ///
    /// # Errors
    /// If the folder holds no training of this game.
    pub fn resume(&self, codec: &Codec) -> Result<(Trainer, Value), Error> {
        let path = self.file("checkpoint.safetensors");
        let archive = read(&path)?;
        let trainer = Trainer::from_archive(&archive, codec).map_err(unusable(&path))?;
        let run = files::read_text(&self.file("run.json"), files::SMALL_TEXT).ok();
        let run = run.and_then(|text| serde_json::from_str(&text).ok());
        Ok((trainer, run.unwrap_or(Value::Null)))
    }

    /// Network and table for play; without a table, only the network.
    ///
    /// # Errors
    /// If the folder holds none, or they are of another game.
    pub fn blueprint(&self, engine: &Engine, table: bool) -> Result<Arc<Blueprint>, Error> {
        let path = self.file("network.safetensors");
        let network = read(&path)?;
        let kept = self.file("table.safetensors");
        let table = match table && kept.exists() {
            true => Some(read(&kept)?),
            false => None,
        };
        let blueprint = Blueprint::from_archives(&network, table.as_ref(), &codec(engine)?);
        blueprint.map(Arc::new).map_err(unusable(&path))
    }
}
