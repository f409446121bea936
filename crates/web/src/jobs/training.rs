//! A training run: learning a game by self-play, with curves.

use super::Job;
use crate::ApiError;
use crate::requests::NewJob;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use surmise::{Error, Game, TrainOptions, TrainProgress};

/// Longest training, in minutes.
const MINUTES: f64 = 10.0;

pub fn options(request: &NewJob, folder: PathBuf) -> Result<(PathBuf, TrainOptions), ApiError> {
    let minutes = request.minutes.unwrap_or(1.0);
    if !(0.01..=MINUTES).contains(&minutes) {
        return Err(ApiError::bad(
            "request",
            format!("minutes must be 0.01 to {MINUTES}"),
            "`surmise train` trains longer",
        ));
    }
    let options = TrainOptions {
        time: Some(Duration::from_secs_f64(60.0 * minutes)),
        every: Duration::from_secs_f64((6.0 * minutes).max(1.0)),
        trials: 20,
        cache_mib: 64,
        ..TrainOptions::default()
    };
    options.check()?;
    Ok((folder, options))
}

pub fn run(job: &Job, game: &Game, (folder, options): (PathBuf, TrainOptions)) -> Result<Value, Error> {
    let folder = folder.join(&job.id);
    std::fs::create_dir_all(&folder).map_err(|source| Error::Io {
        doing: "cannot make the folder",
        path: folder.clone(),
        source,
    })?;
    let options = TrainOptions {
        stop: job.stop.clone(),
        ..options
    };
    let about = game.train(&folder, &options, &mut |progress| match progress {
        TrainProgress::Begun(_) => job.note("self-play begins".to_owned()),
        TrainProgress::Generation(training) => {
            let games = training.trainer.games;
            let x = games as f64;
            job.point("loss of values", x, f64::from(training.loss.value));
            job.point("loss of policies", x, f64::from(training.loss.policy));
            job.note(format!("{games} games, {:.0} a second", training.rate()));
        }
        TrainProgress::Checkpoint(training, report) => {
            let x = training.trainer.games as f64;
            for (key, curve) in [
                ("against_random", "score against random"),
                ("against_last", "score against the last"),
            ] {
                if let Some(mean) = mean(&report[key]) {
                    job.point(curve, x, mean);
                }
            }
        }
    })?;
    job.change(|now| now.player = Some(format!("cfr:net={}", job.id)));
    Ok(about)
}

/// The mean of a list of numbers.
fn mean(list: &Value) -> Option<f64> {
    let numbers: Vec<f64> = list.as_array()?.iter().filter_map(Value::as_f64).collect();
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}
