//! One experiment of the lab, from its spec to its report.

use game::StopFlag;
use lab::folder::Manifest;
use lab::provenance::Provenance;
use lab::report::{self, ReportLine};
use lab::run::RunProgress;
use lab::{Error, Folder, GameSource, RunOptions, RunPlan, RunSummary, Size, Spec, contents};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Instant;

/// Options of [`run_experiment`].
pub struct ExperimentOptions<'a> {
    /// Name of the spec in messages.
    pub origin: String,
    /// The spec: TOML.
    pub text: String,
    /// Size of the run.
    pub size: Size,
    /// Names of the spec's `[set]` table and their values.
    pub set: Vec<(String, String)>,
    /// Folder of the results; `lab-results/NAME` if none is given.
    pub out: Option<PathBuf>,
    /// The command that repeats the run, for the report.
    pub command: String,
    /// Matches played at the same time.
    pub threads: usize,
    /// Ends the run. Finished matches are kept.
    pub stop: StopFlag,
    /// Called with the number of finished matches and of all.
    pub progress: &'a (dyn Fn(u64, u64) + Sync),
}

/// What was played, and where the report is.
pub struct ExperimentReport {
    /// Matches played now and before.
    pub run: RunSummary,
    /// The claims of the spec, and whether they hold.
    pub line: ReportLine,
    /// Folder of the results.
    pub folder: Folder,
    /// Why cells were left out.
    pub left_out: Vec<String>,
}

/// Plays the matches of a spec that are missing in its folder, and writes the report.
///
/// # Errors
/// If the spec is wrong, a game or player does not exist, or the folder cannot be used.
pub fn run_experiment(source: &dyn GameSource, options: &ExperimentOptions<'_>) -> Result<ExperimentReport, Error> {
    let mut spec = Spec::read(&options.origin, &options.text, options.size, &options.set)?;
    let contents = contents::of(&spec, source)?;
    spec.seal(&contents);
    let out = options.out.clone();
    let path = out.unwrap_or_else(|| PathBuf::from("lab-results").join(&spec.name));
    let plan = RunPlan::new(&spec, source)?;
    let folder = Folder::prepare(&path, &spec)?;
    let _lock = folder.lock(false)?;
    let players: BTreeSet<&String> = spec.cells.iter().flat_map(|cell| &cell.players).collect();
    let mut manifest = Manifest {
        name: spec.name.clone(),
        size: options.size.name().to_owned(),
        set: options.set.clone(),
        command: options.command.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        roles: plan.roles(),
        contents,
        left_out: plan.left_out.clone(),
        provenance: Provenance::now("").after(&folder.provenance()),
        players: players
            .into_iter()
            .map(|player| (player.clone(), source.options(player)))
            .collect(),
    };
    folder.describe(&manifest, &spec)?;
    let counted = std::sync::Mutex::new((0, 0));
    let progress = |step: RunProgress| {
        let mut counted = counted.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match step {
            RunProgress::Begin(all, done) => *counted = (done, all),
            RunProgress::Done => counted.0 += 1,
            RunProgress::Skipped(games) => counted.0 += games,
        }
        (options.progress)(counted.0, counted.1);
    };
    let begun = Instant::now();
    let run = plan.run(
        &folder,
        &RunOptions {
            threads: options.threads,
            stop: options.stop.clone(),
            progress: &progress,
            ..RunOptions::default()
        },
    )?;
    if run.played > 0 {
        manifest.provenance.ended(begun.elapsed());
        folder.describe(&manifest, &spec)?;
    }
    folder.finish(&spec)?;
    let (line, _) = report::write(&folder)?;
    let left_out = spec.left_out.iter().cloned();
    let left_out = left_out.chain(plan.left_out.iter().map(|(_, why)| why.clone()));
    Ok(ExperimentReport {
        run,
        line,
        left_out: left_out.collect(),
        folder,
    })
}
