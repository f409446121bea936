//! `surmise solve` for games that are too large for a tree.

use super::against::{self, Asked, Printed};
use super::{Args, save, small};
use crate::commands::JSON_VERSION;
use crate::{interrupt, memory, output, progress};
use anyhow::Result;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use surmise::solve::{LargeError, LargeSizes, RoundsInViews, StatesSoFar};
use surmise::{
    CurvePoint, Error, Game, LargeHow, LargeOptions, LargeSolution, LargeSolving, LargeStep, SolveOptions, policy_file,
};

/// Distinct states up to which graphs are made unasked: about half a minute.
const MOST_STATES: usize = 4_000_000;

/// Whether what is asked for needs a tree: players that search are asked in every information set of one.
pub fn needs_tree(args: &Args) -> bool {
    is_player(args) && args.rate.as_ref().is_some_and(|player| !player.contains("net="))
}

/// Whether what is asked for knows only views with all rounds: trained players.
fn needs_rounds(args: &Args) -> bool {
    is_player(args) || args.against.as_ref().is_some_and(|model| model.contains("net="))
}

/// Whether a player is rated.
fn is_player(args: &Args) -> bool {
    args.rate
        .as_ref()
        .is_some_and(|what| what != "uniform" && policy_file(what).is_none())
}

/// Rates or solves a game. An error comes with whether it only says that the game is too large.
pub fn run(
    args: &Args,
    game: &Game,
    options: &SolveOptions,
    time: Option<Duration>,
) -> Result<ExitCode, (anyhow::Error, bool)> {
    let options = LargeOptions {
        // Players know views with all rounds.
        rounds: match needs_rounds(args) && args.rounds == RoundsInViews::Auto {
            true => RoundsInViews::Counted,
            false => args.rounds,
        },
        bytes: memory::for_arrays(),
        states: if args.graph || args.against.is_some() || args.records.is_some() {
            usize::MAX
        } else {
            MOST_STATES
        },
        symmetry: args.symmetry,
        method: args.algorithm,
        iterations: args.iterations,
        time,
        until: args.until,
        checkpoint: args.checkpoint.clone(),
        seed: args.seed,
        threads: options.threads,
        stop: options.stop.clone(),
    };
    let shown = progress::spinner("finding states and views");
    let started = Some(Instant::now());
    let solving = game.large(&options, &mut |step| tell(&shown, &step, started));
    shown.finish();
    let solving = solving.map_err(|error| {
        let fits = matches!(
            error,
            Error::Large(
                LargeError::Memory { .. } | LargeError::States(_) | LargeError::TooLarge(_) | LargeError::Roles(_)
            )
        );
        (error.into(), fits)
    })?;
    output::note(&sizes(&solving));
    if let Some(asked) = Asked::new(args).map_err(|error| (error, false))? {
        return against(args, &asked, &solving, &options).map_err(|error| (error, false));
    }
    work(args, &solving, &options).map_err(|error| (error, false))
}

fn work(args: &Args, solving: &LargeSolving<'_>, options: &LargeOptions) -> Result<ExitCode> {
    let what = if args.rate.is_some() { "rating" } else { "solving" };
    let shown = progress::spinner(what);
    let started = Instant::now();
    let solution = match &args.rate {
        Some(what) => solving.rate(what, options, &mut |step| tell(&shown, &step, Some(started))),
        None => solving.solve(options, &mut |step| tell(&shown, &step, None)),
    };
    shown.finish();
    let solution = solution.map_err(|error| match (error, &args.rate) {
        (Error::Player(error), Some(what)) => anyhow::anyhow!("there is no file `{what}`, and {error}"),
        (other, _) => other.into(),
    })?;
    let saved = match &args.save {
        Some(path) => solving
            .to_bytes(&solution)
            .map_err(anyhow::Error::from)
            .and_then(|bytes| save(path, &bytes, args.force)),
        None => Ok(()),
    };
    match args.json {
        true => output::json(&solving.to_json(&solution)),
        false => output::print(&report(solving, &solution)),
    }
    saved?;
    if let Some(error) = solution.unsaved {
        return Err(error.into());
    }
    Ok(interrupt::exit_code())
}

/// Rates `uniform` or a table by a walk over histories.
pub fn walk(args: &Args, game: &Game, what: &str) -> Result<ExitCode> {
    let bytes = memory::for_arrays();
    output::note(&format!(
        "{}: a walk over the histories of all views of every role, in {} MiB at most",
        game.name(),
        bytes >> 20
    ));
    let started = Instant::now();
    let shown = progress::spinner("walking");
    let rated = game.rate_by_walk(what, bytes, &interrupt::flag(), &mut |views| {
        shown.set_message(|| format!("{views} views"));
    });
    shown.finish();
    let (roles, rating) = rated?;
    let seconds = started.elapsed().as_secs_f64();
    if args.json {
        let by_role = |numbers: &[f64]| -> Map<String, Value> {
            let pairs = roles.iter().zip(numbers);
            pairs.map(|(role, number)| (role.clone(), json!(number))).collect()
        };
        output::json(&json!({
            "version": JSON_VERSION,
            "game": game.name(),
            "algorithm": what,
            "value": by_role(&rating.values),
            "best_response": by_role(&rating.best),
            "nash_conv": rating.nash_conv(),
            "views": rating.views,
            "seconds": seconds,
        }));
        return Ok(interrupt::exit_code());
    }
    let mut out = format!(
        "{}: {what}: NashConv {} points, by a walk over {} views in {seconds:.1} s\n",
        game.name(),
        small(rating.nash_conv()),
        rating.views
    );
    for ((role, value), best) in roles.iter().zip(&rating.values).zip(&rating.best) {
        let _ = writeln!(out, "{role}: {value:.6} points, {best:.6} by best response");
    }
    output::print(&out);
    Ok(interrupt::exit_code())
}

/// Whether a policy can be rated by a walk: uniform, or a table.
pub fn walks(what: &str) -> bool {
    what == "uniform" || policy_file(what).is_some_and(|path| !surmise::is_compact_strategy(path))
}

/// Whether a file has policies in JSON lines.
pub fn is_lines(what: &str) -> bool {
    use std::io::BufRead as _;
    let Some(file) = policy_file(what).and_then(|path| std::fs::File::open(path).ok()) else {
        return false;
    };
    let mut first = String::new();
    let mut lines = std::io::BufReader::new(std::io::Read::take(file, 1 << 20));
    let read = lines.read_line(&mut first);
    let entry: Option<Value> = serde_json::from_str(&first).ok();
    read.is_ok() && (first.starts_with('#') || entry.is_some_and(|entry| entry.get("view").is_some()))
}

/// Gain against a model, and the worst case.
fn against(args: &Args, asked: &Asked, solving: &LargeSolving<'_>, options: &LargeOptions) -> Result<ExitCode> {
    let shown = progress::spinner("responding to the model");
    let started = Instant::now();
    let found = solving.against(&asked.model, &asked.options, options, &mut |step| {
        tell(&shown, &step, None)
    });
    shown.finish();
    let found = found?;
    let saved = match (&args.save, &found.response) {
        (Some(path), Some(profile)) => solving
            .response_bytes(&asked.model, profile, options)
            .map_err(anyhow::Error::from)
            .and_then(|bytes| save(path, &bytes, args.force)),
        _ => Ok(()),
    };
    against::print(&Printed {
        args,
        game: solving.game(),
        role: solving.role(found.player),
        model: &asked.model.to_string(),
        report: &found.model,
        points: &found.points,
        exact: false,
        seconds: started.elapsed().as_secs_f64(),
    });
    saved?;
    Ok(interrupt::exit_code())
}

/// Shows how far the work is.
fn tell(shown: &progress::Progress, step: &LargeStep, started: Option<Instant>) {
    // Ratings between iterations began later than the work.
    let left = |share: f64| match started.filter(|_| share > 0.01) {
        Some(started) => {
            let spent = started.elapsed().as_secs_f64();
            format!(", {:.0} s left", spent / share - spent)
        }
        None => String::new(),
    };
    match step {
        LargeStep::States(so_far) => shown.set_message(|| finding(so_far, started)),
        LargeStep::Views => shown.set_message(|| "views".to_owned()),
        LargeStep::Rating(share) => shown.set_message(|| format!("rating: {:.0} %{}", 100.0 * share, left(*share))),
        LargeStep::Iterations(n, share) => {
            shown.set_message(|| format!("{n} iterations and {:.0} % of the next", 100.0 * share));
        }
        LargeStep::Rated(n, gap) => output::note(&format!("{n} iterations: NashConv {} points", small(*gap))),
        LargeStep::Saved(path) => output::note(&format!("saved `{}`", path.display())),
        LargeStep::SaveFailed(why) => output::note(&format!("{why}; the work goes on")),
        LargeStep::NotSaved(path) => output::note(&format!(
            "no time to save the last iterations: `{}` is as it was before",
            path.display()
        )),
    }
}

/// How far finding states is, and when memory will be full if it goes on like this.
fn finding(so_far: &StatesSoFar, started: Option<Instant>) -> String {
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    let full = match started.map(|started| started.elapsed().as_secs_f64()) {
        Some(spent) if spent > 5.0 => {
            let left = so_far.limit.saturating_sub(so_far.bytes) as f64 / so_far.bytes as f64 * spent;
            format!(", enough for {left:.0} s more")
        }
        _ => String::new(),
    };
    format!(
        "{} of at least {} states, {} of {} MiB{full}",
        so_far.played,
        so_far.least,
        mib(so_far.bytes),
        mib(so_far.limit)
    )
}

/// How large a game is.
fn sizes(solving: &LargeSolving<'_>) -> String {
    let sizes: &LargeSizes = solving.large.sizes();
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    let sum = |numbers: &[usize]| numbers.iter().sum::<usize>();
    format!(
        "{}: {} histories, {} information sets{}, {} states ({} after merging), {} classes of views, {} pairs, found \
         in {:.1} s; rating needs {} MiB, solving {} MiB",
        solving.game().name(),
        sizes.histories,
        sizes.infosets.iter().sum::<u64>(),
        match sizes.symmetries {
            1 => String::new(),
            n => format!(
                " ({} up to {n} symmetries)",
                sizes.infosets_up_to_symmetry.iter().sum::<u64>()
            ),
        },
        sizes.states,
        sizes.merged_states,
        sum(&sizes.classes),
        sum(&sizes.pairs),
        solving.seconds,
        mib(sizes.rating_bytes),
        mib(sizes.solving_bytes),
    )
}

/// NashConv over time, drawn on a logarithmic scale.
fn curve(points: &[CurvePoint]) -> String {
    const WIDTH: f64 = 40.0;
    let logs: Vec<f64> = points.iter().map(|p| p.nash_conv.max(1e-12).log10()).collect();
    let (least, most) = logs
        .iter()
        .fold((f64::MAX, f64::MIN), |(least, most), &x| (least.min(x), most.max(x)));
    let mut out = "\n  iterations    seconds    NashConv\n".to_owned();
    for (point, log) in points.iter().zip(&logs) {
        // The lowest point keeps one mark.
        let n = 1.0 + (WIDTH - 1.0) * (log - least) / (most - least).max(1e-9);
        let _ = writeln!(
            out,
            "  {:10}  {:9.1}  {:>10}  {}",
            point.iterations,
            point.seconds,
            small(point.nash_conv),
            "#".repeat(n as usize)
        );
    }
    out
}

fn report(solving: &LargeSolving<'_>, solution: &LargeSolution) -> String {
    let sizes = solving.large.sizes();
    let mut out = format!(
        "{}: {} histories, {} information sets (states and views in {:.1} s)\n",
        solving.game().name(),
        sizes.histories,
        sizes.infosets.iter().sum::<u64>(),
        solving.seconds
    );
    if !solving.large.is_faithful() {
        out.push_str("Views leave out rounds in which a role has one move and perceives nothing (--rounds dropped).\n");
    }
    let rating = &solution.rating;
    let gap = small(rating.nash_conv());
    let _ = match &solution.how {
        LargeHow::Iterated(algorithm, iterations) => writeln!(
            out,
            "{algorithm}: {iterations} iterations in {:.1} s, {} entries; NashConv {gap} points after {} iterations",
            solution.seconds, solution.entries, solution.rated_after
        ),
        LargeHow::Given(what, 0) => writeln!(
            out,
            "{what}: NashConv {gap} points, rated in {:.1} s, {} entries",
            solution.seconds, solution.entries
        ),
        LargeHow::Given(what, missing) => writeln!(
            out,
            "{what}, and random moves in {missing} information sets that it does not know: NashConv {gap} points, \
             rated in {:.1} s, {} entries",
            solution.seconds, solution.entries
        ),
    };
    if !rating.complete {
        out.push_str("Stopped: only bounds are known.\n");
    }
    if let Some(sum) = solving.large.constant_sum().filter(|_| !rating.complete) {
        let (low, high) = rating.nash_conv_bounds(sum);
        let _ = writeln!(out, "NashConv is between {} and {} points", small(low), small(high));
    }
    if solving.large.constant_sum().is_none() && matches!(solution.how, LargeHow::Iterated(..)) {
        out.push_str("The goals do not sum to a constant: these strategies need not approach an equilibrium.\n");
    }
    for (player, (low, high)) in rating.best.iter().enumerate() {
        let role = solving.role(player);
        let _ = match rating.complete {
            true => writeln!(
                out,
                "{role}: {:.6} points, {low:.6} by best response",
                rating.values[player]
            ),
            false => writeln!(out, "{role}: {low:.6} to {high:.6} points by best response"),
        };
    }
    if solution.curve.len() > 1 {
        out.push_str(&curve(&solution.curve));
    }
    out
}
