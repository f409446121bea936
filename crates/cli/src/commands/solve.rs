//! `surmise solve`: strategies that nobody can exploit.

#[path = "solve_against.rs"]
mod against;
#[path = "solve_large.rs"]
mod large;

use crate::commands::JSON_VERSION;
use crate::{complete, interrupt, open, output, progress, threads};
use anyhow::{Result, bail};
use clap_complete::ArgValueCompleter;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use surmise::answer::{Answer, AnswerFormat};
use surmise::learn::Response;
use surmise::solve::{BuildError, Limits, LpError, RoundsInViews};
use surmise::{Error, Game, How, Method, ResponseBounds, Solution, SolveOptions, SolveProgress, files};

/// Solve a game: what every role should do, and what that is worth
///
/// Plays out every history, then finds a strategy for each role. `auto` is exact where that is quick: with one role
/// against nature the best response, with two roles whose goals sum to a constant the linear program (`lp`), unless
/// the game is large. Otherwise strategies are improved until --iterations, --seconds or --until is reached, whichever
/// comes first, by cfr+ or what --algorithm says: cfr, cfr+, linear, discounted, or external and outcome, which
/// sample.
///
/// A game with too many histories for a tree is solved on graphs of its states and views instead, by `restarting`
/// (discounted CFR with restarts at the average), pcfr+ (predictive CFR+), discounted CFR, pdcfr+ (predictive
/// discounted CFR+), or external or outcome sampling; the sizes are printed before the work begins, and the best
/// strategies found so far are what is printed and saved. So games of ten billion histories are rated and solved
/// exactly in minutes, if their states and views are few. --graph does that for any game of one or two roles.
///
/// NashConv is the sum of what each role could gain by its best response, in points of goals: 0 in an equilibrium. It
/// is computed exactly, whatever the algorithm.
///
/// The same seed and iterations give the same bytes on any number of threads. Ctrl-C prints what there is. A saved
/// strategy plays as `strategy:FILE` in `surmise match`; --rate tells what one is worth.
#[derive(clap::Args)]
pub struct Args {
    /// Rules file or game of the catalogue
    #[arg(add = ArgValueCompleter::new(complete::games))]
    game: String,
    /// How: auto, lp, cfr, cfr+, linear, discounted, external or outcome; without a tree restarting, pcfr+, pdcfr+,
    /// discounted, external or outcome
    #[arg(long, default_value = "auto", value_name = "A")]
    algorithm: Method,
    /// Iterations at most; 1000 if nothing is said, a million for those that sample
    #[arg(long, value_name = "N")]
    iterations: Option<u64>,
    /// Seconds at most, building the tree not counted
    #[arg(long, value_name = "S")]
    seconds: Option<f64>,
    /// Stop once NashConv is no more than this
    #[arg(long, value_name = "NASHCONV")]
    until: Option<f64>,
    /// Histories that the tree may have; if given, larger games are refused instead of solved without a tree
    #[arg(long, value_name = "N", conflicts_with = "graph")]
    limit: Option<u64>,
    /// No tree: graphs of states and views, also for small games
    #[arg(long, conflicts_with_all = ["efg", "walk"])]
    graph: bool,
    /// Without a tree: whether views count rounds in which a role has one move and perceives nothing: auto leaves them
    /// out where they tell nothing; counted; dropped, which may make another game
    #[arg(long, value_name = "R", default_value = "auto", value_parser = rounds)]
    rounds: RoundsInViews,
    /// Without a tree: whether symmetries are found from the rules and used, on or off. Results are the same up to
    /// rounding
    #[arg(long, value_name = "on|off", default_value = "on")]
    #[arg(action = clap::ArgAction::Set, value_parser = on_or_off)]
    symmetry: bool,
    /// Without a tree: a file to go on from if it is there, and to save the work to every two minutes
    #[arg(long, value_name = "FILE", conflicts_with_all = ["limit", "efg", "commit", "walk"])]
    checkpoint: Option<PathBuf>,
    /// Seed of the algorithms that sample
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Threads to work on; all cores if nothing is said
    #[arg(long, value_name = "N", value_parser = threads::parse)]
    threads: Option<usize>,
    /// Situations (information sets) of each role to print, the most frequent first
    #[arg(long, default_value_t = 10, value_name = "N")]
    top: usize,
    /// Form of the answer: text, markdown, csv, html or json
    #[arg(long, value_name = "F", conflicts_with_all = ["json", "graph", "against", "walk", "checkpoint"])]
    format: Option<AnswerFormat>,
    /// Write the answer to a file whose ending says the form (.txt, .md, .csv, .html, .json), and print it as text
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "graph", "against", "walk", "checkpoint"])]
    out: Option<PathBuf>,
    /// Solve nothing: rate `uniform`, a file that --save wrote, a table of probabilities in JSON lines, or a player:
    /// one that tells its probabilities (cfr, kluss, auto where it solves), or any with --seeds
    #[arg(long, value_name = "FILE|PLAYER", conflicts_with_all = ["algorithm", "iterations", "seconds", "until"])]
    rate: Option<String>,
    /// With --rate or --against PLAYER: the player is asked with so many seeds in every information set, and its moves
    /// are averaged
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    seeds: u64,
    /// What this role should commit itself to if the other role knows it and plays a best response (Stackelberg)
    #[arg(long, value_name = "ROLE")]
    #[arg(conflicts_with_all = ["rate", "algorithm", "iterations", "seconds", "until", "graph"])]
    commit: Option<String>,
    /// Exploit a model of the other role: `uniform`, a file as for --rate, records:DIR, or a player, which is asked in
    /// every information set. Prints gain against the model and worst case of restricted Nash responses: exact where
    /// the linear program is quick, else by pcfr+ without a tree
    #[arg(long, value_name = "MODEL")]
    #[arg(conflicts_with_all = ["rate", "commit", "efg", "limit", "until", "checkpoint", "records"])]
    against: Option<String>,
    /// Exploit what the other role did in records of matches: as `--against records:DIR`. The more often an information
    /// set was seen, the more it is trusted; what was never seen stays uncertain
    #[arg(long, value_name = "DIR")]
    #[arg(conflicts_with_all = ["rate", "commit", "efg", "limit", "until", "checkpoint"])]
    records: Option<PathBuf>,
    /// With --against or --records: how much the model is trusted, from 0 (equilibrium) to 1 (best response)
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    weight: Option<f64>,
    /// With --against or --records: a curve over weights, as without --weight
    #[arg(long, conflicts_with = "weight")]
    curve: bool,
    /// With --against or --records: the role that exploits; the first role if nothing is said
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// With --against: let the player `exploit` learn over so many matches against the model instead, and tell exactly
    /// what its strategies gain and risk
    #[arg(long, value_name = "MATCHES", requires = "against")]
    #[arg(conflicts_with_all = ["weight", "curve", "graph", "save"])]
    series: Option<u64>,
    /// With --series: points that the player may lose over the series, besides what it has won
    #[arg(long, value_name = "POINTS", requires = "series", default_value_t = 0.0)]
    stake: f64,
    /// With --rate: no tree and no graphs, but a walk over histories, for any number of roles. With cfr:net=DIR
    /// histories less likely than this are not followed, and bounds are given; where its table knows nothing, moves
    /// are random
    #[arg(long, value_name = "P", requires = "rate", num_args = 0..=1, default_missing_value = "1e-7")]
    walk: Option<f64>,
    /// Write the strategy to a file that the player `strategy:FILE` reads
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Write the game as an extensive form file for Gambit and OpenSpiel
    #[arg(long, value_name = "FILE")]
    efg: Option<PathBuf>,
    /// Overwrite files of --save, --efg and --out that hold something else
    #[arg(long)]
    force: bool,
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl Args {
    /// The form of the answer: by name, or by the ending of the file.
    fn answer_format(&self) -> Result<AnswerFormat> {
        if self.json {
            return Ok(AnswerFormat::Json);
        }
        if let Some(format) = self.format {
            return Ok(format);
        }
        let Some(path) = &self.out else {
            return Ok(AnswerFormat::Text);
        };
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        ending.to_lowercase().parse().map_err(|_| {
            anyhow::anyhow!(
                "`{}` does not end in .txt, .md, .csv, .html or .json: --format says which form to write",
                path.display()
            )
        })
    }
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let time = match args.seconds.map(Duration::try_from_secs_f64) {
        None => None,
        Some(Ok(time)) => Some(time),
        Some(Err(_)) => bail!("--seconds must be a number of seconds that is not negative"),
    };
    let options = SolveOptions {
        method: args.algorithm,
        iterations: args.iterations,
        time,
        until: args.until,
        histories: args.limit.unwrap_or(Limits::default().histories),
        seed: args.seed,
        seeds: args.seeds,
        threads: args.threads.unwrap_or_else(threads::all_cores),
        stop: interrupt::flag(),
    };
    options.check()?;
    let asked = against::Asked::new(args)?;
    if asked.is_none() && (args.weight.is_some() || args.curve || args.role.is_some()) {
        bail!("--weight, --curve and --role go with --against MODEL or --records DIR");
    }
    let format = args.answer_format()?;
    let game = open::game(&args.game)?;
    if let Some(asked) = &asked {
        return against::run(args, asked, &game, &options, time);
    }
    if let (Some(what), Some(_)) = (args.rate.as_ref().filter(|what| large::walks(what)), args.walk) {
        return large::walk(args, &game, what);
    }
    if let (Some(what), Some(ignore)) = (&args.rate, args.walk) {
        return walk(&game, what, ignore, args.json);
    }
    let lines = args.rate.as_ref().is_some_and(|what| large::is_lines(what));
    let asked = lines || args.graph || args.checkpoint.is_some() || matches!(args.algorithm, Method::Graph(_));
    if asked || args.rounds != RoundsInViews::Auto {
        return large::run(args, &game, &options, time).map_err(|(error, _)| error);
    }
    let shown = progress::spinner("building the tree");
    let tree = game.tree(&options, &mut |p| tell(&shown, p));
    shown.finish();
    let too_large = matches!(tree, Err(Error::Tree(BuildError::TooLarge { .. })));
    let with_tree = args.limit.is_some() || args.efg.is_some() || args.commit.is_some() || large::needs_tree(args);
    let with_tree = with_tree || args.out.is_some() || args.format.is_some();
    if too_large && !with_tree {
        match large::run(args, &game, &options, time) {
            // The tree was too large as well, which says more about the game.
            Err((error, true)) => {
                output::note(&error.to_string());
                if let Some(what) = args.rate.as_ref().filter(|what| large::walks(what)) {
                    return large::walk(args, &game, what);
                }
            }
            done => return done.map_err(|(error, _)| error),
        }
    }
    let tree = match tree {
        Err(Error::Tree(error @ BuildError::TooLarge { .. })) => bail!(
            "{error} (`--limit` raises it, at about 100 bytes a history; `--graph` needs no tree where states are few; \
             smaller parameters make a smaller game; players such as hp2 and ismcts need no tree, and --rate \
             cfr:net=DIR --walk does not either)"
        ),
        other => other?,
    };
    if let Some(path) = &args.efg {
        let mut text = Vec::new();
        tree.write_efg(&mut text)?;
        save(path, &text, args.force)?;
    }
    let shown = progress::spinner("solving");
    let solution = match (&args.rate, &args.commit) {
        (_, Some(role)) => tree
            .commit(role, &options, &mut |p| tell(&shown, p))
            .map_err(anyhow::Error::from),
        (Some(what), None) => tree
            .rate(what, &options, &mut |p| tell(&shown, p))
            .map_err(|error| match error {
                Error::Player(error) => anyhow::anyhow!("`{what}` is not a file that --save wrote, and {error}"),
                other => other.into(),
            }),
        (None, None) => tree
            .solve(&options, &mut |p| tell(&shown, p))
            .map_err(|error| match error {
                Error::Lp(LpError::Roles(_) | LpError::NotConstantSum | LpError::Stopped) => {
                    anyhow::anyhow!(error).context("`--algorithm cfr+` has an answer at any time, for any game")
                }
                other => other.into(),
            }),
    };
    shown.finish();
    let solution = solution?;
    let saved = match &args.save {
        Some(path) => save(path, solution.to_json().as_bytes(), args.force),
        None => Ok(()),
    };
    // The solution took its time: it is printed even if it cannot be saved.
    let answer = answer(args, &solution);
    let written = match &args.out {
        Some(path) => save(path, answer.document(format, args.top).as_bytes(), args.force),
        None => Ok(()),
    };
    let printed = if args.out.is_some() { AnswerFormat::Text } else { format };
    output::print(&answer.document(printed, args.top));
    saved?;
    written?;
    Ok(interrupt::exit_code())
}

fn on_or_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("must be on or off".to_owned()),
    }
}

fn rounds(text: &str) -> Result<RoundsInViews, String> {
    match text {
        "auto" => Ok(RoundsInViews::Auto),
        "counted" => Ok(RoundsInViews::Counted),
        "dropped" => Ok(RoundsInViews::Dropped),
        _ => Err("must be auto, counted or dropped".to_owned()),
    }
}

/// Shows how far the work is.
fn tell(shown: &progress::Progress, progress: SolveProgress<'_>) {
    match progress {
        SolveProgress::Histories(histories) => shown.set_message(|| format!("{histories} histories")),
        SolveProgress::Program(steps, gap) => shown.set_message(|| format!("{steps} steps, gap {} points", small(gap))),
        SolveProgress::Iterations(iterations, nash_conv) => {
            shown.set_message_now_and_then(|| format!("{iterations} iterations, NashConv {}", small(nash_conv())));
        }
        SolveProgress::Commitment(done, all) => shown.set_message(|| format!("{done} of {all} linear programs")),
        SolveProgress::Responded(done, all) => shown.set_message(|| format!("{done} of {all} weights")),
        SolveProgress::Asked(done, all) => shown.set_message(|| format!("{done} of {all} information sets")),
        SolveProgress::Fallback(error) => output::note(&format!("{error}; cfr+ instead")),
    }
}

/// Whether a file holds the same solution, found in another time.
fn is_same_solution(path: &Path, bytes: &[u8]) -> bool {
    let timeless = |mut value: Value| {
        if let Some(fields) = value.as_object_mut() {
            fields.retain(|name, _| !name.ends_with("seconds") && !name.ends_with("per_second"));
        }
        value
    };
    let ours: Option<Value> = serde_json::from_slice(bytes).ok();
    let there = files::read_json(path).ok();
    ours.is_some() && ours.map(timeless) == there.map(timeless)
}

/// Writes a file. One that exists with other contents is overwritten only by force.
fn save(path: &Path, bytes: &[u8], force: bool) -> Result<()> {
    if path.exists() && !path.is_file() {
        bail!("`{}` is not a file", path.display());
    }
    if !force && files::differs(path, bytes) && !is_same_solution(path, bytes) {
        bail!(
            "`{}` exists and holds something else; --force overwrites it",
            path.display()
        );
    }
    files::write(path, bytes)?;
    output::note(&format!("wrote `{}`", path.display()));
    Ok(())
}

/// Bounds on what each role can get against a table that was learned.
fn walk(game: &Game, what: &str, ignore: f64, as_json: bool) -> Result<ExitCode> {
    if !(0.0..1.0).contains(&ignore) {
        bail!("--walk must be a probability below 1");
    }
    let started = Instant::now();
    let shown = progress::spinner("walking the views of every role");
    let bounds = game.rate_learned(what, ignore, &interrupt::flag());
    shown.finish();
    let bounds = bounds?;
    let seconds = started.elapsed().as_secs_f64();
    let states: u64 = bounds.iter().map(|b| b.response.states).sum();
    if as_json {
        let by_role = |of: fn(&ResponseBounds) -> f64| -> Map<String, Value> {
            bounds.iter().map(|b| (b.role.clone(), json!(of(b)))).collect()
        };
        output::json(&json!({
            "version": JSON_VERSION,
            "game": game.name(),
            "algorithm": what,
            "best_response_low": by_role(|b| b.response.low),
            "best_response_high": by_role(|b| b.response.high),
            "ignored_below": ignore,
            "states": states,
            "seconds": seconds,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = format!("{}: {what}, {states} states in {seconds:.1} s\n", game.name());
    for bound in &bounds {
        let Response { low, high, .. } = bound.response;
        let _ = match high - low < 5e-3 {
            true => writeln!(out, "{}: {low:.2} points by best response", bound.role),
            false => writeln!(out, "{}: {low:.2} to {high:.2} points by best response", bound.role),
        };
    }
    output::print(&out);
    Ok(ExitCode::SUCCESS)
}

/// A number of points that may be very small.
fn small(points: f64) -> String {
    match points.abs() {
        0.0 => "0".to_owned(),
        x if x < 1e-4 => format!("{x:.1e}"),
        _ => format!("{points:.6}"),
    }
}

/// The answer, with remarks about how it was found.
fn answer<'a>(args: &Args, solution: &'a Solution<'a>) -> Answer<'a> {
    let mut answer = Answer::new(solution);
    let unasked = args.algorithm == Method::Auto && args.iterations.is_none() && args.seconds.is_none();
    let iterated = matches!(solution.how, How::Iterated(..));
    if unasked && iterated && solution.is_promised() {
        answer.notes.push(
            "The game is large: --until, --seconds or --iterations for a closer answer, --algorithm lp for the exact \
             one, which may take long."
                .to_owned(),
        );
    }
    if iterated && !solution.is_promised() {
        let why = match solution.values.len() {
            2 => "The goals do not sum to a constant",
            _ => "There are more than two roles",
        };
        answer.notes.push(format!(
            "{why}: these strategies need not approach an equilibrium; NashConv tells how far they are from one."
        ));
    }
    answer
}
