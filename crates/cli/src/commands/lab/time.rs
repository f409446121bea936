//! `surmise lab time`: how long the matches of presets take, for the estimates of `surmise lab list`.

use crate::{interrupt, output, progress};
use anyhow::{Result, bail};
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use surmise::game::StopFlag;
use surmise::lab::estimate::{MatchTimes, thread_seconds};
use surmise::lab::presets::{PRESETS, find};
use surmise::lab::provenance::{Provenance, date};
use surmise::lab::unit::SeatedCell;
use surmise::lab::{Cell, GameSource, OpenGame, Size, Spec};
use surmise::{LabGames, files};

/// Measure how long the matches of presets take, for `surmise lab list`
///
/// Plays a few matches of each cell on one thread and writes their mean processor time. Cells that the file has are
/// kept, so an interrupted measurement goes on. Cells of the quick size come first. A cell whose first match takes
/// longer than the limit is left out. Matches with a clock are played with a short one, and their time is scaled.
#[derive(clap::Args)]
pub struct TimeArgs {
    /// Presets; without any, all
    presets: Vec<String>,
    /// File of the times, which is extended
    #[arg(long, default_value = "times.json", value_name = "FILE")]
    out: PathBuf,
    /// Also cells that only the paper's size has
    #[arg(long)]
    paper: bool,
    /// Seconds for a cell, at most
    #[arg(long, default_value_t = 10.0, value_name = "S")]
    limit: f64,
    /// Minutes for everything: cells that are not reached are not timed
    #[arg(long, default_value_t = 9.0, value_name = "M")]
    minutes: f64,
}

/// Matches of a cell that are timed, unless they are short or the first takes too long.
const MATCHES: u64 = 3;

/// Short matches are played for this long, because the system counts processor time in steps of milliseconds.
const AT_LEAST: Duration = Duration::from_millis(200);

/// Matches of a cell that are timed at most.
const MOST_MATCHES: u64 = 1000;

/// Seconds for a move in matches with a clock while they are timed.
const CLOCK: f64 = 0.02;

pub fn time(args: &TimeArgs) -> Result<ExitCode> {
    if let Some(unknown) = args.presets.iter().find(|name| find(name).is_none()) {
        bail!("there is no preset `{unknown}`; `surmise lab list` names them");
    }
    if !(args.limit > 0.0 && args.minutes > 0.0 && args.minutes.is_finite()) {
        bail!("--limit and --minutes have to be above 0");
    }
    let mut times: MatchTimes = match std::fs::read_to_string(&args.out) {
        Ok(text) => serde_json::from_str(&text)?,
        Err(_) => MatchTimes::default(),
    };
    let now = Provenance::now("");
    (times.measured, times.machine) = (date(now.started)[..10].to_owned(), now.machine);
    let mut cells = cells(args)?;
    let all = cells.len();
    cells.retain(|cell| !times.seconds.contains_key(&cell.key));
    let end = Instant::now() + Duration::from_secs_f64(60.0 * args.minutes);
    let bar = progress::bar("cells", cells.len() as u64);
    let mut timer = CellTimer::default();
    for (number, cell) in cells.iter().enumerate() {
        let left = end.saturating_duration_since(Instant::now()).as_secs_f64();
        if interrupt::is_raised() || left == 0.0 {
            break;
        }
        // Most cells take far less than their share of what is left.
        let limit = args.limit.min(left).min(10.0 * left / (cells.len() - number) as f64);
        if let Some(seconds) = timer.seconds(cell, limit)? {
            times.seconds.insert(cell.key.clone(), (seconds * 1e6).round() / 1e6);
            files::write(&args.out, (serde_json::to_string_pretty(&times)? + "\n").as_bytes())?;
        }
        bar.inc();
    }
    bar.finish();
    let missing = cells
        .iter()
        .filter(|cell| !times.seconds.contains_key(&cell.key))
        .count();
    output::print(&format!(
        "{}: {} of {all} cells timed\n",
        args.out.display(),
        all - missing
    ));
    match interrupt::is_raised() {
        true => Ok(interrupt::exit_code()),
        false => Ok(ExitCode::SUCCESS),
    }
}

/// The cells to time, each once: those of the quick size, then those that only the paper's size has.
fn cells(args: &TimeArgs) -> Result<Vec<Cell>> {
    let sizes: &[Size] = if args.paper {
        &[Size::Quick, Size::Paper]
    } else {
        &[Size::Quick]
    };
    let mut cells: Vec<Cell> = Vec::new();
    for &size in sizes {
        let wanted = |name: &str| args.presets.is_empty() || args.presets.iter().any(|preset| preset == name);
        for preset in PRESETS.iter().filter(|preset| wanted(preset.name)) {
            for cell in Spec::read(preset.name, preset.text, size, &[])?.cells {
                if cells.iter().all(|known| known.key != cell.key) {
                    cells.push(cell);
                }
            }
        }
    }
    Ok(cells)
}

/// Times cells, and keeps their games open.
#[derive(Default)]
struct CellTimer {
    games: HashMap<String, Option<Box<dyn OpenGame>>>,
    /// Seconds of a match for each second of its clock, by game and players.
    clocked: HashMap<(String, Vec<String>), Option<f64>>,
}

impl CellTimer {
    /// Mean time of a match; none if the first takes too long, or a player is not there, such as a network that was
    /// not trained.
    fn seconds(&mut self, cell: &Cell, limit: f64) -> Result<Option<f64>> {
        let game = self.games.entry(cell.game.clone());
        let Some(game) = game.or_insert_with(|| LabGames.open(&cell.game).ok()) else {
            return Ok(None);
        };
        let Some(clock) = cell.seconds else {
            return play(cell, game.as_ref(), limit);
        };
        let key = (cell.game.clone(), cell.players.clone());
        let rate = match self.clocked.get(&key) {
            Some(rate) => *rate,
            None => {
                let hasty = Cell {
                    seconds: Some(CLOCK),
                    ..cell.clone()
                };
                let rate = play(&hasty, game.as_ref(), limit)?.map(|seconds| seconds / CLOCK);
                self.clocked.insert(key, rate);
                rate
            }
        };
        Ok(rate.map(|rate| rate * clock))
    }
}

/// Plays matches of a cell: their mean processor time, or time on the clock if they have one.
fn play(cell: &Cell, game: &dyn OpenGame, limit: f64) -> Result<Option<f64>> {
    let Ok(seated) = SeatedCell::new(cell, game) else {
        return Ok(None);
    };
    let begun = Instant::now();
    let stop = StopFlag::by(move || begun.elapsed().as_secs_f64() / limit).under(&interrupt::flag());
    let processor = thread_seconds().filter(|_| cell.seconds.is_none());
    let now = || match processor {
        Some(before) => thread_seconds().unwrap_or(before) - before,
        None => begun.elapsed().as_secs_f64(),
    };
    let (mut seconds, mut matches) = (0.0, 0);
    while matches < MATCHES || (matches < MOST_MATCHES && begun.elapsed() < AT_LEAST) {
        if seated.play(matches, "time", &stop)?.is_none() {
            break;
        }
        seconds = now();
        matches += 1;
    }
    Ok((matches > 0).then(|| seconds / matches as f64))
}
