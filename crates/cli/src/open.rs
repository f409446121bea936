//! Games that arguments name, opened with progress.

use crate::{cache, interrupt, memory, output, progress};
use anyhow::{Context, Result};
use std::time::Duration;
use surmise::engine::{EngineKind, EngineOptions, Rewriting};
use surmise::{Game, GameText};

/// The text of a game: standard input for `-`, a file, or a game of the catalogue.
pub fn text(game: &str) -> Result<GameText> {
    if game == "-" {
        return GameText::read("<stdin>", std::io::stdin().lock()).context("cannot read standard input");
    }
    Ok(GameText::find(game)?)
}

/// Options of an engine that Ctrl-C ends.
pub fn engine_options(kind: EngineKind, native: bool) -> EngineOptions {
    let mut options = EngineOptions {
        kind,
        native,
        ..EngineOptions::default()
    };
    options.limits.stop = interrupt::flag();
    options.evaluation_stop = interrupt::flag();
    options.cache = cache::folder();
    memory::shrink(&mut options);
    options
}

/// Time for grounding, and for grounding and compiling, where few states are computed: the reference simulator, which
/// needs no setting up, has answered meanwhile.
const BRIEF: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(6)];

/// Opens a game of which few states are computed: after a few seconds of setting up, the reference simulator is used.
pub fn briefly(name: &str) -> Result<Game> {
    let mut options = engine_options(EngineKind::Auto, true);
    [options.time, options.compile_time] = BRIEF;
    with(&text(name)?, &options)
}

/// Opens a game with the default engine.
pub fn game(name: &str) -> Result<Game> {
    with(&text(name)?, &engine_options(EngineKind::Auto, true))
}

/// Time to wait for the compiled engine, before matches with a clock begin on the reference simulator.
const WAIT: Duration = Duration::from_secs(1);

/// Opens a game for matches with a clock, which begin on the reference simulator if the compiled engine is not ready.
pub fn starting(name: &str) -> Result<Game> {
    let options = engine_options(EngineKind::Auto, true);
    let progress = progress::spinner("setting up");
    let game = Game::starting(&text(name)?, &options, WAIT);
    progress.finish();
    interrupt::check("the game was not opened")?;
    let game = game?;
    if game.is_starting() {
        output::note("the reference simulator plays, which is slower, until the game is compiled");
    } else {
        note_reference(&game);
    }
    Ok(game)
}

fn note_reference(game: &Game) {
    let engine = game.engine();
    if engine.kind == EngineKind::Reference {
        output::note(&format!(
            "the reference simulator plays, which is slower: {}",
            engine.why
        ));
    }
}

/// Opens a game with an engine of choice.
pub fn with(text: &GameText, options: &EngineOptions) -> Result<Game> {
    let progress = progress::spinner("setting up");
    let game = Game::with_progress(text, options, &mut |p| {
        progress.set_message(|| format!("{} rule instances, {} atoms", p.instances, p.atoms));
    });
    progress.finish();
    interrupt::check("the game was not opened")?;
    let game = game?;
    if options.kind == EngineKind::Auto {
        note_reference(&game);
    }
    Ok(game)
}

/// Which engine to use, as an argument.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub enum EngineArg {
    /// Compiled if the game grounds within its budget, else the reference
    #[default]
    Auto,
    /// Evaluate the rules directly
    Reference,
    /// The compiled network, one state at a time
    Scalar,
    /// The compiled network, 256 games at a time
    Lanes,
}

impl From<EngineArg> for EngineKind {
    fn from(arg: EngineArg) -> EngineKind {
        match arg {
            EngineArg::Auto => EngineKind::Auto,
            EngineArg::Reference => EngineKind::Reference,
            EngineArg::Scalar => EngineKind::Scalar,
            EngineArg::Lanes => EngineKind::Lanes,
        }
    }
}

/// Whether rules are rewritten before they are ground, as an argument.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub enum RewritingArg {
    /// If the rules as written are large; the smaller network is kept
    #[default]
    Auto,
    /// Only the rules as written
    Never,
    /// Only the rewritten rules
    Always,
}

impl From<RewritingArg> for Rewriting {
    fn from(arg: RewritingArg) -> Rewriting {
        match arg {
            RewritingArg::Auto => Rewriting::Auto,
            RewritingArg::Never => Rewriting::Never,
            RewritingArg::Always => Rewriting::Always,
        }
    }
}
