//! What was learned, on disk: a folder that `surmise train` writes and the player `cfr:net=DIR` reads.
//!
//! `network.safetensors` and `table.safetensors` are for playing, `checkpoint.safetensors` is for going on, `run.json` is for people. Each is
//! written beside its place and then put there, so that none is ever half a file.

use crate::engine::Engine;
use anyhow::{Context, Result, anyhow};
use learn::{Archive, Blueprint, Codec, Trainer};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The codec of a game, or why it has none.
pub fn codec(engine: &Engine) -> Result<Codec> {
    if engine.compiled().is_none() {
        return Err(anyhow!(
            "a network needs the compiled engine, and this game has none: {}",
            engine.why
        ));
    }
    let mut sim = engine.state_simulator();
    Ok(Codec::new(sim.as_mut(), &engine.setup.moves)?)
}

fn read(path: &Path) -> Result<Archive> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    Archive::from_bytes(&bytes).with_context(|| format!("cannot use `{}`", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let beside = path.with_extension("tmp");
    let whole = || -> std::io::Result<()> {
        let mut file = std::fs::File::create(&beside)?;
        std::io::Write::write_all(&mut file, bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    };
    whole().with_context(|| format!("cannot write `{}`", path.display()))
}

/// Where everything is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder(PathBuf);

impl Folder {
    /// A folder, which need not exist.
    pub fn new(path: &Path) -> Folder {
        Folder(path.to_owned())
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

    /// Whether there is a checkpoint in it.
    pub fn has_checkpoint(&self) -> bool {
        self.file("checkpoint.safetensors").exists()
    }

    /// Writes everything.
    pub fn save(&self, trainer: &Trainer, run: &Value) -> Result<()> {
        std::fs::create_dir_all(&self.0).with_context(|| format!("cannot make the folder `{}`", self.0.display()))?;
        let blueprint = Blueprint::of(trainer);
        let network = blueprint.network_archive(trainer.settings.to_json());
        write(&self.file("checkpoint.safetensors"), &trainer.to_archive().to_bytes())?;
        write(&self.file("network.safetensors"), &network.to_bytes())?;
        write(&self.file("table.safetensors"), &blueprint.table_archive().to_bytes())?;
        let text = serde_json::to_string_pretty(run)? + "\n";
        write(&self.file("run.json"), text.as_bytes())
    }

    /// The training that was left here.
    pub fn resume(&self, codec: &Codec) -> Result<(Trainer, Value)> {
        let path = self.file("checkpoint.safetensors");
        let archive = read(&path)?;
        let trainer = Trainer::from_archive(&archive, codec);
        let trainer = trainer.with_context(|| format!("cannot go on from `{}`", path.display()))?;
        let run = std::fs::read_to_string(self.file("run.json")).ok();
        let run = run.and_then(|text| serde_json::from_str(&text).ok());
        Ok((trainer, run.unwrap_or(Value::Null)))
    }

    /// What to play with; without a table, only the network.
    pub fn blueprint(&self, engine: &Engine, table: bool) -> Result<Arc<Blueprint>> {
        let path = self.file("network.safetensors");
        let network = read(&path)?;
        let kept = self.file("table.safetensors");
        let table = match table && kept.exists() {
            true => Some(read(&kept)?),
            false => None,
        };
        let blueprint = Blueprint::from_archives(&network, table.as_ref(), &codec(engine)?);
        Ok(Arc::new(
            blueprint.with_context(|| format!("cannot play with `{}`", path.display()))?,
        ))
    }
}
