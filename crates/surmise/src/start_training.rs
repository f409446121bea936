//! Training within a start clock: `cfr:train=SECONDS`.
//!
//! The 2022 paper trains for about a day and names parallel training within a start clock as future work. Here the
//! self-play of `surmise train` runs on all cores before the first move, in memory. Over the wire it ends in time for
//! the first move; in `surmise match` and the lab it takes the seconds that were asked for, once for all matches.

use crate::Error;
use crate::engine::Engine;
use crate::training_folder::codec;
use game::StopFlag;
use learn::{Blueprint, Method, Settings, Trainer, Worker};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Memory of the transition caches, for all threads together.
const CACHE: usize = 256 << 20;

/// Trains from nothing for some time, by the usual settings of `surmise train`. Ends early when `stop` is raised, with
/// what was learned by then.
///
/// # Errors
/// If the game cannot be learned.
pub(crate) fn train(engine: &Engine, time: Duration, stop: &StopFlag) -> Result<Arc<Blueprint>, Error> {
    let mut trainer = Trainer::new(codec(engine)?, Settings::of(Method::default()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut workers: Vec<Worker> = (0..threads)
        .map(|_| Worker::new(engine.state_simulator(), CACHE / threads))
        .collect();
    let started = Instant::now();
    let enough = StopFlag::by(move || started.elapsed().as_secs_f64() / time.as_secs_f64().max(1e-9)).under(stop);
    while !enough.is_raised() {
        if trainer.generation(&mut workers, stop, &enough)?.is_none() {
            break;
        }
    }
    tracing::info!(
        "trained for {:.1} s: {} games, {} views",
        started.elapsed().as_secs_f64(),
        trainer.games,
        trainer.table.len()
    );
    Ok(Arc::new(Blueprint::of(&trainer)))
}
