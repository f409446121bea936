//! `surmise lab`: experiments.

mod diff;
mod list;
mod time;

use crate::commands::JSON_VERSION;
use crate::{interrupt, output, progress, threads};
use anyhow::{Context, Result, anyhow, bail};
use clap::Subcommand;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use surmise::lab::contents;
use surmise::lab::folder::{Folder, Manifest};
use surmise::lab::presets::{find, of_papers};
use surmise::lab::provenance::Provenance;
use surmise::lab::run::{RunProgress, missing};
use surmise::lab::slurm::{self, SlurmJob, SubmittedJobs};
use surmise::lab::{GameSource, RunOptions, RunPlan, Size, Spec, report};
use surmise::{LabGames, PlayerSpec, files, lab};

/// Run experiments: many matches, their statistics, and reports beside the papers' figures
///
/// An experiment is a TOML file, or one of the presets that repeat the figures and tables of the
/// papers:
///
///   surmise lab list                                what there is
///   surmise lab run 2012-figure-5                   play it at its quick size and write a report
///   surmise lab run 2012-figure-5 --paper           at the paper's size
///   surmise lab show 2012-figure-5 > mine.toml      the spec, to change; `lab run mine.toml` plays it
///   surmise new lab mine                            a small spec to start from, with comments
///
/// Players are named as in `surmise match`, `exec:python3 mine.py` for a program of your own included
/// (`surmise new player mine` writes one; such specs need --allow-exec). docs/lab.md has every field.
///
/// Results go to lab-results/NAME, or to --out. Ctrl-C and even a crash lose nothing that was
/// finished: run the same command again, and it goes on. After a change of the spec only the cells
/// that changed are played. The same spec gives the same results.jsonl, byte for byte, on any number
/// of threads, tasks or machines.
///
/// On a cluster `submit` runs the same matches as a job array of Slurm on a folder that all nodes
/// share; `status` says how far it is, `collect` brings the results together, and submitting again
/// queues what was cancelled or failed.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the presets, which repeat the papers' figures and tables, and how long they take
    List {
        /// One JSON object a line for each preset
        #[arg(long)]
        json: bool,
    },
    /// Print the spec of a preset
    Show {
        /// Its name
        preset: String,
    },
    Run(RunArgs),
    /// Write the report of finished or unfinished experiments again
    ///
    /// Writes report.html, report.json, the tables as CSV and LaTeX, the plots as SVG and CSV, and cite.bib into the
    /// folder; for a folder of several experiments also index.html. Needs the matches (journal/ or results.jsonl).
    Report {
        /// Folders of experiments, or a folder of such folders
        #[arg(required = true, value_name = "DIR")]
        folders: Vec<PathBuf>,
    },
    Diff(diff::DiffArgs),
    #[command(hide = true)]
    Time(time::TimeArgs),
    Submit(SubmitArgs),
    /// Say how far an experiment is, and what Slurm still has of it
    Status {
        /// Its folder
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// One JSON object instead of text
        #[arg(long)]
        json: bool,
    },
    /// Bring the results of all tasks together and write the report
    ///
    /// Refused while a task is still at work. Says what is missing, and ends with an error, if something is.
    Collect {
        /// The experiment's folder
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Play one task's part of a submitted experiment (what the job array runs)
    Work {
        /// The experiment's folder
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Which task, from 0
        #[arg(long)]
        task: usize,
        /// How many there are
        #[arg(long)]
        of: usize,
        /// Matches played at a time
        #[arg(long, default_value_t = 1, value_name = "N", value_parser = threads::parse)]
        threads: usize,
    },
}

#[derive(clap::Args)]
struct SpecArgs {
    /// The size for minutes on two cores (the default for presets)
    #[arg(long, conflicts_with = "paper")]
    quick: bool,
    /// The size of the paper
    #[arg(long)]
    paper: bool,
    /// Set a name of the spec's `[set]` table, such as net=FOLDER (`lab show` prints the spec)
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Let the spec start programs (`exec:`): only for specs that you trust
    #[arg(long)]
    allow_exec: bool,
    /// Folder for the results; with several experiments each has its own in it [default: lab-results/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Play what is missing of experiments, and write their reports
#[derive(clap::Args)]
struct RunArgs {
    /// TOML files or presets; `all` for every preset that repeats a paper
    #[arg(required = true, value_name = "SPEC")]
    specs: Vec<String>,
    #[command(flatten)]
    spec: SpecArgs,
    /// Matches played at a time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = threads::parse)]
    threads: Option<usize>,
}

/// Queue an experiment as a job array
///
/// The folder has to be one that all nodes see. Each task plays every n-th match into a journal of its own. Tasks that
/// are preempted are queued again by Slurm and go on where they were; for tasks that were cancelled, submit again:
/// only tasks with something left to do are queued.
#[derive(clap::Args)]
struct SubmitArgs {
    /// A TOML file or a preset
    #[arg(value_name = "SPEC")]
    name: String,
    #[command(flatten)]
    spec: SpecArgs,
    /// Use Slurm (there is nothing else yet)
    #[arg(long, required = true)]
    slurm: bool,
    /// Tasks of the array [default: as many as --nodes, or 8]
    #[arg(long, value_name = "N")]
    array: Option<usize>,
    /// Most tasks that run at a time, one on each of so many nodes
    #[arg(long, value_name = "N")]
    nodes: Option<usize>,
    /// Partition to run in [default: Slurm's]
    #[arg(long)]
    partition: Option<String>,
    /// Time limit of a task, as Slurm writes it
    #[arg(long)]
    time: Option<String>,
    /// Matches played at a time in each task
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = threads::parse)]
    threads: usize,
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that this program was built from; empty if it was not built from a repository.
const COMMIT: &str = env!("SURMISE_COMMIT");

pub fn run(args: &Args) -> Result<ExitCode> {
    match &args.command {
        Command::List { json } => list::list(*json),
        Command::Diff(args) => diff::diff(args),
        Command::Time(args) => time::time(args),
        Command::Show { preset } => {
            let found =
                find(preset).ok_or_else(|| anyhow!("there is no preset `{preset}`; `surmise lab list` names them"))?;
            output::print(found.text);
            Ok(ExitCode::SUCCESS)
        }
        Command::Run(args) => run_all(args),
        Command::Report { folders } => reports(folders),
        Command::Submit(args) => submit(args),
        Command::Status { folder, json } => status(folder, *json),
        Command::Collect { folder } => collect(folder),
        Command::Work {
            folder,
            task,
            of,
            threads,
        } => work(folder, *task, *of, *threads),
    }
}

impl SpecArgs {
    /// The spec that a name means, and what was asked of it.
    fn read(&self, name: &str) -> Result<(Spec, Manifest)> {
        let mut set = Vec::new();
        for pair in &self.set {
            let (key, value) = pair
                .split_once('=')
                .with_context(|| format!("--set needs NAME=VALUE, not `{pair}`"))?;
            set.push((key.to_owned(), value.to_owned()));
        }
        let preset = find(name).filter(|_| !Path::new(name).is_file());
        let size = match (self.quick, self.paper, preset) {
            (_, true, _) => Size::Paper,
            (false, false, None) => Size::Plain,
            _ => Size::Quick,
        };
        let spec = match preset {
            Some(preset) => Spec::read(preset.name, preset.text, size, &set)?,
            None => {
                let text = files::read_text(Path::new(name), files::SMALL_TEXT).with_context(|| {
                    format!("cannot read `{name}`, and there is no preset of that name (`surmise lab list`)")
                })?;
                Spec::read(name, &text, size, &set)?
            }
        };
        let mut command = format!("surmise lab run {}", quoted(name));
        if size != Size::Plain {
            let _ = write!(command, " --{}", size.name());
        }
        for pair in &self.set {
            let _ = write!(command, " --set {}", quoted(pair));
        }
        let manifest = Manifest {
            name: spec.name.clone(),
            size: size.name().to_owned(),
            set,
            command,
            version: VERSION.to_owned(),
            ..Manifest::default()
        };
        Ok((spec, manifest))
    }

    fn folder(&self, spec: &Spec, several: bool) -> PathBuf {
        match (&self.out, several) {
            (Some(out), false) => out.clone(),
            (Some(out), true) => out.join(&spec.name),
            (None, _) => {
                let usual = Path::new("lab-results").join(&spec.name);
                match Folder::size_of(&usual) {
                    // Results of a larger size are not replaced.
                    Some(held) if held > spec.size => {
                        usual.with_file_name(format!("{}-{}", spec.name, spec.size.name()))
                    }
                    _ => usual,
                }
            }
        }
    }
}

/// A word of a shell command.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Reads a spec and the files it names, and looks whether its folder can be written.
fn prepare(args: &SpecArgs, name: &str, several: bool) -> Result<(Spec, Manifest, PathBuf)> {
    let (mut spec, mut manifest) = args.read(name)?;
    let is_program = |player: &&String| PlayerSpec::parse(player).is_ok_and(|spec| spec.is_program());
    let program = spec.cells.iter().flat_map(|cell| &cell.players).find(is_program);
    match program {
        Some(player) if !args.allow_exec => {
            bail!("{name} starts a program: `{player}`; if you trust the spec, run it with --allow-exec")
        }
        Some(_) => manifest.command += " --allow-exec",
        None => {}
    }
    manifest.contents = contents::of(&spec, &LabGames)?;
    spec.seal(&manifest.contents);
    let path = args.folder(&spec, several);
    if args.out.is_some() {
        let _ = write!(manifest.command, " --out {}", quoted(&path.display().to_string()));
    } else if path.file_name().is_some_and(|folder| folder != spec.name.as_str()) {
        let (held, place) = (Path::new("lab-results").join(&spec.name), path.display());
        output::note(&format!(
            "`{}` holds results of a larger size and stays as it is; these go to `{place}`",
            held.display()
        ));
    }
    let players: BTreeSet<&String> = spec.cells.iter().flat_map(|cell| &cell.players).collect();
    manifest.players = players
        .into_iter()
        .map(|player| (player.clone(), LabGames.options(player)))
        .collect();
    Folder::check(&path, &spec)?;
    Ok((spec, manifest, path))
}

fn run_all(args: &RunArgs) -> Result<ExitCode> {
    let names: Vec<&str> = match &args.specs[..] {
        [one] if one == "all" => of_papers().map(|p| p.name).collect(),
        names => names.iter().map(String::as_str).collect(),
    };
    let several = names.len() > 1;
    let prepared: Vec<(Spec, Manifest, PathBuf)> = names
        .iter()
        .map(|name| prepare(&args.spec, name, several))
        .collect::<Result<_>>()?;
    let threads = args.threads.unwrap_or_else(threads::all_cores);
    // All of them before any is played: a mistake in the last should not wait for the first.
    let plans: Vec<RunPlan<'_>> = prepared.iter().map(|(spec, _, _)| open(spec)).collect::<Result<_>>()?;
    let mut lines = Vec::new();
    for (plan, (_, manifest, path)) in plans.into_iter().zip(&prepared) {
        let (line, complete) = run_one(&plan, manifest.clone(), path, threads)?;
        lines.push(line);
        if !complete {
            output::note("stopped; everything that was finished is kept, and the same command goes on from here");
            return Ok(ExitCode::from(130));
        }
    }
    if let (true, Some(out)) = (several, prepared[0].2.parent()) {
        files::write(&out.join("index.html"), report::index(&lines).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens the games of a spec and seats its players.
fn open(spec: &Spec) -> Result<RunPlan<'_>> {
    let spinner = progress::spinner(&format!("{}: opening its games", spec.name));
    let plan = RunPlan::new(spec, &LabGames);
    spinner.finish();
    Ok(plan?)
}

fn run_one(
    plan: &RunPlan<'_>,
    mut manifest: Manifest,
    path: &Path,
    threads: usize,
) -> Result<(report::ReportLine, bool)> {
    let spec = plan.spec;
    // Only now: a spec that is refused leaves no folder behind.
    let folder = Folder::prepare(path, spec)?;
    let _lock = folder.lock(false)?;
    manifest.roles = plan.roles();
    manifest.left_out = plan.left_out.clone();
    manifest.provenance = Provenance::now(COMMIT).after(&folder.provenance());
    folder.describe(&manifest, spec)?;
    let whys = spec.left_out.iter().chain(plan.left_out.iter().map(|(_, why)| why));
    whys.for_each(|why| output::note(&format!("{}: {why}", spec.name)));
    let begun = Instant::now();
    let ended = play(plan, &folder, threads, (0, 1), "local")?;
    if ended.played > 0 {
        manifest.provenance.ended(begun.elapsed());
        folder.describe(&manifest, spec)?;
    }
    folder.finish(spec)?;
    let (line, _) = report::write(&folder)?;
    let mut out = format!(
        "{}: {} games played, {} there before; report in {}\n",
        spec.name,
        ended.played,
        ended.before,
        folder.file("report.html").display()
    );
    line.said.iter().for_each(|(words, verdict)| {
        let _ = writeln!(out, "  {verdict:15}  {words}");
    });
    output::print(&out);
    Ok((line, ended.complete))
}

/// Plays a shard, with a bar.
fn play(
    plan: &RunPlan<'_>,
    folder: &Folder,
    threads: usize,
    shard: (usize, usize),
    journal: &str,
) -> Result<lab::RunSummary> {
    let bar = progress::bar(&plan.spec.name, 0);
    let tick = |tick: RunProgress| match tick {
        RunProgress::Begin(all, done) => bar.set(done, all),
        RunProgress::Done | RunProgress::Skipped(_) => bar.inc(),
    };
    let options = RunOptions {
        threads,
        shard,
        journal: journal.to_owned(),
        version: VERSION.to_owned(),
        stop: interrupt::flag(),
        progress: &tick,
    };
    let ended = plan.run(folder, &options);
    bar.finish();
    Ok(ended?)
}

fn reports(folders: &[PathBuf]) -> Result<ExitCode> {
    for path in folders {
        let mut experiments = vec![path.clone()];
        let is_one = |p: &Path| p.join("lab.json").is_file();
        if !is_one(path) {
            let listed = path
                .read_dir()
                .with_context(|| format!("cannot read `{}`", path.display()))?;
            experiments = listed
                .filter_map(|e| Some(e.ok()?.path()))
                .filter(|p| is_one(p))
                .collect();
            experiments.sort();
            if experiments.is_empty() {
                bail!(
                    "`{}` is not the folder of an experiment, and holds none",
                    path.display()
                );
            }
        }
        let mut lines = Vec::new();
        for experiment in &experiments {
            let (folder, _, _) = Folder::open(experiment)?;
            let (line, _) = report::write(&folder)?;
            output::print(&format!("{}\n", folder.file("report.html").display()));
            lines.push(line);
        }
        if !is_one(path) {
            let index = path.join("index.html");
            files::write(&index, report::index(&lines).as_bytes())?;
            output::print(&format!("{}\n", index.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn submit(args: &SubmitArgs) -> Result<ExitCode> {
    let (spec, mut manifest, path) = prepare(&args.spec, &args.name, false)?;
    let tasks = args.array.or(args.nodes).unwrap_or(8);
    if tasks == 0 || args.nodes == Some(0) {
        bail!("an array needs at least one task and one node");
    }
    let plan = RunPlan::new(&spec, &LabGames)?;
    let folder = Folder::prepare(&path, &spec)?;
    manifest.roles = plan.roles();
    manifest.left_out = plan.left_out.clone();
    manifest.provenance = Provenance::now(COMMIT).after(&folder.provenance());
    let busy = match SubmittedJobs::read(&folder)? {
        None => Vec::new(),
        Some(before) => {
            let busy = slurm::queued(&before)?;
            if !busy.is_empty() && before.tasks != tasks {
                bail!(
                    "tasks of an array of {} are still queued; use --array {0}, or cancel them first",
                    before.tasks
                );
            }
            busy
        }
    };
    if busy.is_empty() {
        // Nobody reads it while it changes.
        let _lock = folder.lock(false)?;
        folder.describe(&manifest, &spec)?;
    }
    let (folder, _, spec) = Folder::open(&folder.path)?;
    let (done, wanted, mut open) = missing(&spec, &folder, tasks)?;
    open.retain(|task| busy.iter().all(|(t, _)| t != task));
    if open.is_empty() {
        output::print(&format!(
            "{done} of {wanted} games are done and nothing else has to be queued; `surmise lab collect {}`\n",
            path.display()
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let job = SlurmJob {
        tasks,
        threads: args.threads,
        partition: args.partition.clone(),
        at_a_time: args.nodes,
        time: args.time.clone(),
    };
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let number = slurm::submit(&folder, &job, &program, &spec.name, &open)?;
    let (games, place) = (wanted - done, path.display());
    output::print(&format!(
        "job {number}: {} tasks for {games} games\n  surmise lab status {place}\n  surmise lab collect {place}\n",
        open.len()
    ));
    Ok(ExitCode::SUCCESS)
}

fn status(path: &Path, as_json: bool) -> Result<ExitCode> {
    let (folder, manifest, spec) = Folder::open(path)?;
    let submitted = SubmittedJobs::read(&folder)?;
    let tasks = submitted.as_ref().map_or(1, |s| s.tasks);
    let (done, wanted, open) = missing(&spec, &folder, tasks)?;
    let mut out = format!("{} ({}): {done} of {wanted} games are done\n", spec.name, manifest.size);
    let queued = submitted.as_ref().map_or(Ok(Vec::new()), slurm::queued)?;
    if as_json {
        let tasks: Vec<Value> = queued
            .iter()
            .map(|(task, state)| json!({"task": task, "state": state}))
            .collect();
        output::json(&json!({
            "version": JSON_VERSION, "name": spec.name, "size": manifest.size, "done": done, "wanted": wanted,
            "open_tasks": open, "queued": tasks,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    if submitted.is_some() {
        for (task, state) in &queued {
            let _ = writeln!(out, "  task {task}: {}", state.to_lowercase());
        }
        let lost: Vec<String> = open
            .iter()
            .filter(|task| queued.iter().all(|(t, _)| t != *task))
            .map(usize::to_string)
            .collect();
        if !lost.is_empty() {
            let _ = writeln!(
                out,
                "  not finished and not queued: task {}; submit again to queue them",
                lost.join(", ")
            );
        }
    }
    output::print(&out);
    Ok(ExitCode::SUCCESS)
}

fn collect(path: &Path) -> Result<ExitCode> {
    let (folder, _, spec) = Folder::open(path)?;
    let _lock = folder.lock(false)?;
    folder.finish(&spec)?;
    let (done, wanted, _) = missing(&spec, &folder, 1)?;
    report::write(&folder)?;
    output::print(&format!(
        "{done} of {wanted} games; report in {}\n",
        folder.file("report.html").display()
    ));
    if done < wanted {
        bail!("{} games are missing; submit again to play them", wanted - done);
    }
    Ok(ExitCode::SUCCESS)
}

fn work(path: &Path, task: usize, of: usize, threads: usize) -> Result<ExitCode> {
    if task >= of {
        bail!("--task counts from 0, so it has to be below --of");
    }
    let (folder, manifest, spec) = Folder::open(path)?;
    let _lock = folder.lock(true)?;
    contents::unchanged(&manifest.contents, &contents::of(&spec, &LabGames)?)?;
    let plan = RunPlan::new(&spec, &LabGames)?;
    let ended = play(&plan, &folder, threads, (task, of), &format!("task-{task}"))?;
    output::print(&format!(
        "task {task} of {of}: {} games played, {} there before\n",
        ended.played, ended.before
    ));
    Ok(if ended.complete {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(130)
    })
}
