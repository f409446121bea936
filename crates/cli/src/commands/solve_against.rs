//! `surmise solve --against`: responses to a model of the other role.

use super::{Args, large, save, tell};
use crate::commands::JSON_VERSION;
use crate::{interrupt, output, progress};
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use surmise::exploit::WEIGHTS;
use surmise::solve::{BuildError, RoundsInViews};
use surmise::{
    AgainstOptions, Error, ExploitationPoint, Game, GameTree, LP_SEQUENCES, Method, ModelReport, ModelSpec,
    SolveOptions,
};

/// Histories up to which a tree is made: beyond them graphs are found sooner.
const MOST_HISTORIES: u64 = 2_000_000;

/// What is asked for.
pub struct Asked {
    pub model: ModelSpec,
    pub options: AgainstOptions,
}

impl Asked {
    /// From the arguments; none if no response is asked for.
    pub fn new(args: &Args) -> Result<Option<Asked>> {
        let model = match (&args.against, &args.records) {
            (Some(text), None) => text.parse()?,
            (None, Some(folder)) => ModelSpec::Records(folder.clone()),
            _ => return Ok(None),
        };
        let options = AgainstOptions {
            role: args.role.clone(),
            weights: args.weight.map_or(WEIGHTS.to_vec(), |weight| vec![weight]),
            seeds: args.seeds,
        };
        options.check()?;
        if args.save.is_some() && args.weight.is_none() {
            bail!("--save with --against needs --weight: a curve has many responses");
        }
        Ok(Some(Asked { model, options }))
    }
}

/// Responses on a tree if the game is small enough for exact ones, else on graphs.
pub fn run(
    args: &Args,
    asked: &Asked,
    game: &Game,
    options: &SolveOptions,
    time: Option<Duration>,
) -> Result<ExitCode> {
    if let Some(matches) = args.series {
        return series(args, asked, game, options, matches);
    }
    let iterates = args.algorithm != Method::Auto || args.iterations.is_some() || args.seconds.is_some();
    if !args.graph && !iterates && args.rounds == RoundsInViews::Auto {
        let limited = SolveOptions {
            histories: MOST_HISTORIES,
            ..options.clone()
        };
        let shown = progress::spinner("building the tree");
        let tree = game.tree(&limited, &mut |p| tell(&shown, p));
        shown.finish();
        match tree {
            Ok(tree) if tree.tree.n_sequences() <= LP_SEQUENCES => return on_tree(args, asked, &tree, options),
            Ok(_) | Err(Error::Tree(BuildError::TooLarge { .. })) => {}
            Err(error) => return Err(error.into()),
        }
    }
    large::run(args, game, options, time).map_err(|(error, _)| error)
}

/// The player that learns, over a series of matches.
fn series(args: &Args, asked: &Asked, game: &Game, options: &SolveOptions, matches: u64) -> Result<ExitCode> {
    if !args.stake.is_finite() || args.stake < 0.0 {
        bail!("--stake must be a number of points that is not negative");
    }
    let shown = progress::spinner("playing the series");
    let role = asked.options.role.as_deref();
    let found = game.exploit_series(role, &asked.model, matches, args.stake, options, &mut |n| {
        shown.set_message_now_and_then(|| format!("{n} of {matches} matches"));
    });
    shown.finish();
    let found = found?;
    let n = found.matches.len();
    let mut ends: Vec<usize> = [1, 10, 30, 100, 300, 1_000, 3_000, 10_000]
        .into_iter()
        .filter(|&e| e < n)
        .collect();
    ends.push(n);
    if args.json {
        let row = |&end: &usize| {
            let last = &found.matches[end - 1];
            json!({"matches": end, "mean": found.mean(0..end), "gain": last.gain, "worst_case": last.worst,
                "account": last.account})
        };
        output::json(&json!({
            "version": JSON_VERSION,
            "game": game.name(),
            "role": found.role,
            "model": asked.model.to_string(),
            "exact": found.exact,
            "value": found.value,
            "equilibrium": found.equilibrium,
            "best_response": found.best,
            "matches": n,
            "violations": found.violations(),
            "points": if n > 0 { ends.iter().map(row).collect::<Vec<_>>() } else { Vec::new() },
        }));
        return Ok(interrupt::exit_code());
    }
    let mut out = format!(
        "{}: {} learns against {}: {} {:.4}, equilibrium against it {:.4}, best response {:.4}\n  \
         matches  mean so far  against the model  worst case  may be risked\n",
        game.name(),
        found.role,
        asked.model,
        match found.exact {
            true => "value of the game",
            false => "approximate equilibrium, whose worst case is",
        },
        found.value,
        found.equilibrium,
        found.best
    );
    for &end in ends.iter().filter(|_| n > 0) {
        let last = &found.matches[end - 1];
        let _ = writeln!(
            out,
            "  {end:7}  {:11.4}  {:17.4}  {:10.4}  {:13.4}",
            found.mean(0..end),
            last.gain,
            last.worst,
            last.account
        );
    }
    let _ = writeln!(
        out,
        "  by best response: {} of {n} strategies risked more than was won",
        found.violations()
    );
    output::print(&out);
    Ok(interrupt::exit_code())
}

fn on_tree(args: &Args, asked: &Asked, tree: &GameTree<'_>, options: &SolveOptions) -> Result<ExitCode> {
    let shown = progress::spinner("responding to the model");
    let started = Instant::now();
    let found = tree.against(&asked.model, &asked.options, options, &mut |p| tell(&shown, p));
    shown.finish();
    let found = found?;
    let saved = match (&args.save, &found.response) {
        (Some(path), Some(response)) => save(path, response.to_json().as_bytes(), args.force),
        _ => Ok(()),
    };
    print(&Printed {
        args,
        game: tree.game(),
        role: tree.role(found.player),
        model: &asked.model.to_string(),
        report: &found.model,
        points: &found.points,
        exact: true,
        seconds: started.elapsed().as_secs_f64(),
    });
    saved?;
    Ok(interrupt::exit_code())
}

/// What is printed of a frontier.
pub struct Printed<'a> {
    pub args: &'a Args,
    pub game: &'a Game,
    pub role: &'a str,
    pub model: &'a str,
    pub report: &'a ModelReport,
    pub points: &'a [ExploitationPoint],
    pub exact: bool,
    pub seconds: f64,
}

pub fn print(printed: &Printed<'_>) {
    match printed.args.json {
        true => output::json(&to_json(printed)),
        false => output::print(&text(printed)),
    }
}

fn to_json(printed: &Printed<'_>) -> Value {
    let point = |p: &ExploitationPoint| {
        json!({
            "weight": p.weight,
            "against_model": p.against_model,
            "worst_case": p.worst_case,
            "iterations": p.iterations,
        })
    };
    let report = printed.report;
    json!({
        "version": JSON_VERSION,
        "game": printed.game.name(),
        "role": printed.role,
        "model": printed.model,
        "exact": printed.exact,
        "points": printed.points.iter().map(point).collect::<Vec<_>>(),
        "model_sets": report.sets,
        "model_unknown_sets": report.unknown,
        "model_records": report.records,
        "model_decisions": report.decisions,
        "model_asked": report.asked,
        "model_seeds": report.seeds,
        "seconds": printed.seconds,
    })
}

fn text(printed: &Printed<'_>) -> String {
    let report = printed.report;
    let mut out = format!("{}: {} against {}\n", printed.game.name(), printed.role, printed.model);
    if report.records > 0 {
        let _ = writeln!(
            out,
            "  {} decisions in {} records; {} of {} information sets were never seen and stay uncertain",
            report.decisions, report.records, report.unknown, report.sets
        );
    } else if report.asked > 0 {
        let _ = writeln!(
            out,
            "  asked for {} moves in {} information sets, {} seeds each",
            report.asked, report.sets, report.seeds
        );
    } else if report.unknown > 0 {
        let _ = writeln!(
            out,
            "  {} of {} information sets are not in the model: all moves equally likely there",
            report.unknown, report.sets
        );
    }
    out.push_str("  weight  against the model  worst case\n");
    for point in printed.points {
        let worst = point.worst_case.map_or("-".to_owned(), |worst| format!("{worst:.4}"));
        let _ = writeln!(out, "  {:6.2}  {:17.4}  {worst:>10}", point.weight, point.against_model);
    }
    out
}
