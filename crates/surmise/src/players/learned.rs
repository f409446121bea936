//! Players that go by what was learned: `cfr:net=DIR` or `cfr:train=SECONDS`, and
//! `table=on|off,trust=N,purify=P,opponents=uniform|net`.

use super::options::Options;
use crate::engine::Engine;
use crate::training_folder::TrainingFolder;
use crate::{Error, start_training};
use belief::SamplerKind;
use game::{Player, StopFlag};
use learn::{Blueprint, LearnedHorizon, LearnedOpponents};
use search::{Cfr, CfrOptions, Tools};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What was learned, and how it is used in play.
#[derive(Clone, Debug)]
pub struct LearnedSpec {
    source: Source,
    /// Whether views are looked up in the table.
    table: bool,
    /// Visits in training from which a view is played by the table alone.
    trust: u32,
    /// The probability below which moves of the table are not played, in thousandths.
    purify: u32,
    /// Whether histories are sampled as if the others played by the network.
    opponents: bool,
}

/// Where the blueprint comes from.
#[derive(Clone, Debug)]
enum Source {
    /// A folder, read once for all matches.
    Folder(TrainingFolder, Arc<Mutex<Option<Arc<Blueprint>>>>),
    /// A training in progress.
    Memory(Arc<Blueprint>),
    /// A training of so long before the first match, done once for all matches.
    Start(Duration, Arc<Mutex<Option<Arc<Blueprint>>>>),
}

/// The default of `trust`.
const TRUST: u32 = 100;

impl LearnedSpec {
    /// By options of `cfr`; none without `net` and `train`.
    pub(super) fn new(options: &Options) -> Option<LearnedSpec> {
        let source = match (options.text("net"), options.maybe("train")) {
            (Some(folder), _) => Source::Folder(TrainingFolder::new(Path::new(folder)), Arc::default()),
            (None, Some(seconds)) => Source::Start(Duration::from_secs(seconds), Arc::default()),
            (None, None) => return None,
        };
        Some(LearnedSpec {
            source,
            table: options.is_on("table"),
            trust: options.value("trust"),
            purify: (1000.0 * options.value::<f64>("purify")) as u32,
            opponents: options.text("opponents") == Some("net"),
        })
    }

    /// The network alone, for values of states; none without `net`.
    pub(super) fn values(options: &Options) -> Option<LearnedSpec> {
        let folder = TrainingFolder::new(Path::new(options.text("net")?));
        Some(LearnedSpec {
            source: Source::Folder(folder, Arc::default()),
            table: false,
            trust: TRUST,
            purify: 0,
            opponents: false,
        })
    }

    /// By what a training has come to so far.
    pub fn of(blueprint: Arc<Blueprint>) -> LearnedSpec {
        LearnedSpec {
            source: Source::Memory(blueprint),
            table: true,
            trust: TRUST,
            purify: 0,
            opponents: false,
        }
    }

    /// The files that decide how the player plays.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        match &self.source {
            Source::Folder(folder, _) => folder.files(self.table),
            Source::Memory(_) | Source::Start(..) => Vec::new(),
        }
    }

    /// How long to train before the first move, if that is asked for.
    pub(crate) fn start_training(&self) -> Option<Duration> {
        match self.source {
            Source::Start(time, _) => Some(time),
            _ => None,
        }
    }

    /// The same use of another blueprint.
    pub(crate) fn with(&self, blueprint: Arc<Blueprint>) -> LearnedSpec {
        LearnedSpec {
            source: Source::Memory(blueprint),
            ..self.clone()
        }
    }

    fn blueprint(&self, engine: &Engine) -> Result<Arc<Blueprint>, Error> {
        let loaded = match &self.source {
            Source::Memory(blueprint) => return Ok(blueprint.clone()),
            Source::Folder(_, loaded) | Source::Start(_, loaded) => loaded,
        };
        let mut loaded = loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(blueprint) = &*loaded {
            return Ok(blueprint.clone());
        }
        let blueprint = match &self.source {
            Source::Folder(folder, _) => folder.blueprint(engine, self.table)?,
            Source::Start(time, _) => start_training::train(engine, *time, &StopFlag::default())?,
            Source::Memory(blueprint) => blueprint.clone(),
        };
        *loaded = Some(blueprint.clone());
        Ok(blueprint)
    }

    /// The blueprint as a search uses it at its depth limit.
    ///
    /// # Errors
    /// If the files cannot be read or do not fit the game.
    pub fn horizon(&self, engine: &Engine) -> Result<LearnedHorizon, Error> {
        let horizon = LearnedHorizon::new(self.blueprint(engine)?, self.table.then_some(self.trust));
        Ok(horizon.purified(self.purify as f32 / 1000.0))
    }

    /// A player that goes by the blueprint.
    ///
    /// # Errors
    /// If the files cannot be read or do not fit the game.
    pub fn player(
        &self,
        engine: &Engine,
        tools: Tools,
        sampler: SamplerKind,
        belief: &belief::Options,
        options: CfrOptions,
    ) -> Result<Box<dyn Player>, Error> {
        let mut player = Cfr::new(tools, sampler, belief, options, Box::new(self.horizon(engine)?))?;
        if self.opponents {
            player.set_opponents(Box::new(LearnedOpponents(self.blueprint(engine)?)))?;
        }
        Ok(Box::new(player))
    }
}
