//! Players that go by what was learned: `cfr:net=DIR,table=on|off,trust=N,opponents=uniform|net`.

use super::Options;
use crate::engine::Engine;
use crate::learned::Folder;
use anyhow::{Result, anyhow, bail};
use belief::SamplerKind;
use game::Player;
use learn::{Blueprint, LearnedHorizon, LearnedOpponents};
use search::{Cfr, CfrOptions, Tools};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What was learned, and how far it is trusted.
#[derive(Clone, Debug)]
pub struct Net {
    folder: Option<Folder>,
    /// Whether views are looked up in the table.
    table: bool,
    /// How often a view must have been met in training to be played by heart.
    trust: u32,
    /// Moves of the table that are played less often than this are not played, in thousandths.
    purify: u32,
    /// Whether histories are sampled as if the others played by the network.
    opponents: bool,
    /// Read once, for all matches.
    loaded: Arc<Mutex<Option<Arc<Blueprint>>>>,
}

impl PartialEq for Net {
    fn eq(&self, other: &Net) -> bool {
        let told = |net: &Net| (net.folder.clone(), net.table, net.trust, net.purify, net.opponents);
        told(self) == told(other)
    }
}

/// How often a view must have been met where nothing is said.
const TRUST: u32 = 100;
/// And how often a move must be played to be played at all.
const PURIFY: u32 = 0;

impl Net {
    pub(super) fn parse(options: &mut Options<'_>) -> Result<Option<Net>> {
        let Some(folder) = options.named("net") else {
            return Ok(None);
        };
        let table = match options.named("table") {
            None | Some("on") => true,
            Some("off") => false,
            Some(other) => bail!("table is on or off, not `{other}`"),
        };
        let opponents = match options.named("opponents") {
            None | Some("uniform") => false,
            Some("net") => true,
            Some(other) => bail!("opponents are uniform or net, not `{other}`"),
        };
        let purify = match options.named("purify").map(str::parse::<f64>) {
            None => PURIFY,
            Some(Ok(p)) if (0.0..=1.0).contains(&p) => (1000.0 * p) as u32,
            Some(_) => bail!("purify must be a probability between 0 and 1"),
        };
        Ok(Some(Net {
            purify,
            folder: Some(Folder::new(Path::new(folder))),
            table,
            trust: options
                .named_number("trust", u64::from(TRUST))?
                .min(u64::from(u32::MAX)) as u32,
            opponents,
            loaded: Arc::default(),
        }))
    }

    /// The files that it is read from.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        self.folder
            .as_ref()
            .map_or(Vec::new(), |folder| folder.files(self.table))
    }

    /// What a training has come to so far.
    pub fn of(blueprint: Arc<Blueprint>) -> Net {
        Net {
            folder: None,
            table: true,
            trust: TRUST,
            purify: PURIFY,
            opponents: false,
            loaded: Arc::new(Mutex::new(Some(blueprint))),
        }
    }

    fn blueprint(&self, engine: &Engine) -> Result<Arc<Blueprint>> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(blueprint) = &*loaded {
            return Ok(blueprint.clone());
        }
        let folder = self.folder.as_ref().ok_or_else(|| anyhow!("nothing was learned"))?;
        let blueprint = folder.blueprint(engine, self.table)?;
        *loaded = Some(blueprint.clone());
        Ok(blueprint)
    }

    /// It, as a search uses it.
    pub fn horizon(&self, engine: &Engine) -> Result<LearnedHorizon> {
        let horizon = LearnedHorizon::new(self.blueprint(engine)?, self.table.then_some(self.trust));
        Ok(horizon.purified(self.purify as f32 / 1000.0))
    }

    /// Somebody who plays by it.
    pub fn player(
        &self,
        engine: &Engine,
        tools: Tools,
        sampler: SamplerKind,
        belief: &belief::Options,
        options: CfrOptions,
    ) -> Result<Box<dyn Player>> {
        let blueprint = self.blueprint(engine)?;
        let horizon = self.horizon(engine)?;
        let mut player = Cfr::new(tools, sampler, belief, options, Box::new(horizon))?;
        if self.opponents {
            player.set_opponents(Box::new(LearnedOpponents(blueprint)))?;
        }
        Ok(Box::new(player))
    }
}
