//! `surmise lab time`: how long the matches of presets take, for the estimates of `surmise lab list`.

use crate::{interrupt, output, progress};
use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use surmise::game::StopFlag;
use surmise::lab::estimate::{MatchTimes, thread_seconds};
use surmise::lab::presets::PRESETS;
use surmise::lab::provenance::{Provenance, date};
use surmise::lab::unit::{SeatedCell, open_all};
use surmise::lab::{Size, Spec};
use surmise::{LabGames, files};

/// Measure how long the matches of presets take, for `surmise lab list`
///
/// Plays a few matches of each cell on one thread and writes their mean processor time. Cells that the file has are
/// kept; a cell whose first match takes longer than the limit is left out.
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
    /// Seconds for a cell
    #[arg(long, default_value_t = 10.0, value_name = "S")]
    limit: f64,
}

/// Matches of a cell that are timed at most.
const MATCHES: u64 = 3;

pub fn time(args: &TimeArgs) -> Result<ExitCode> {
    let mut times: MatchTimes = match std::fs::read_to_string(&args.out) {
        Ok(text) => serde_json::from_str(&text)?,
        Err(_) => MatchTimes::default(),
    };
    let now = Provenance::now("");
    (times.measured, times.machine) = (date(now.started)[..10].to_owned(), now.machine);
    let wanted = |name: &str| args.presets.is_empty() || args.presets.iter().any(|preset| preset == name);
    for preset in PRESETS.iter().filter(|preset| wanted(preset.name)) {
        let sizes: &[Size] = if args.paper {
            &[Size::Quick, Size::Paper]
        } else {
            &[Size::Quick]
        };
        for &size in sizes {
            let spec = Spec::read(preset.name, preset.text, size, &[])?;
            time_cells(&spec, args.limit, &mut times)?;
            files::write(&args.out, (serde_json::to_string_pretty(&times)? + "\n").as_bytes())?;
            if interrupt::is_raised() {
                return Ok(interrupt::exit_code());
            }
        }
    }
    output::print(&format!("{}: {} cells\n", args.out.display(), times.seconds.len()));
    Ok(ExitCode::SUCCESS)
}

fn time_cells(spec: &Spec, limit: f64, times: &mut MatchTimes) -> Result<()> {
    let new = |cell: &&surmise::lab::Cell| !times.seconds.contains_key(&cell.key);
    let cells: Vec<_> = spec.cells.iter().filter(new).collect();
    let bar = progress::bar(&spec.name, cells.len() as u64);
    for cell in cells {
        if interrupt::is_raised() {
            return Ok(());
        }
        bar.inc();
        // A player that is not there, such as a network that was not trained, is not timed.
        let Ok(games) = open_all(&LabGames, std::iter::once(cell)) else {
            continue;
        };
        let Ok(seated) = SeatedCell::new(cell, games[0].1.as_ref()) else {
            continue;
        };
        let begun = Instant::now();
        let stop = StopFlag::by(move || begun.elapsed().as_secs_f64() / limit).under(&interrupt::flag());
        let (mut seconds, mut matches) = (0.0, 0);
        while matches < MATCHES {
            let (wall, thread) = (Instant::now(), thread_seconds());
            if seated.play(matches, "time", &stop)?.is_none() {
                break;
            }
            let spent = thread.and_then(|before| Some(thread_seconds()? - before));
            seconds += spent.unwrap_or_else(|| wall.elapsed().as_secs_f64());
            matches += 1;
        }
        if matches > 0 {
            let mean = seconds / matches as f64;
            times.seconds.insert(cell.key.clone(), (mean * 1e6).round() / 1e6);
        }
    }
    Ok(())
}
