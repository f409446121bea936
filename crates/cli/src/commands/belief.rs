//! `surmise belief`: what a role can believe about what it cannot see.

use crate::commands::JSON_VERSION;
use crate::{complete, interrupt, open, output};
use anyhow::{Context, Result, anyhow, bail};
use clap_complete::ArgValueCompleter;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use surmise::belief::{self, Remedy, SamplerKind, Weights};
use surmise::game::Told;
use surmise::referee::Record;
use surmise::{BeliefOptions, Game, NamedBelief, check_sight, files};

/// Say what a role can believe, given what it did and saw
///
/// The view is a JSON file, `[{"move": "noop", "sees": ["(card jack)"]}, …]`, one entry a round, or a round of a
/// recorded match. Prints the probability of each possible state and of each fluent, the likeliest histories, and how
/// exact the belief is. All other roles are assumed to choose uniformly.
#[derive(clap::Args)]
pub struct Args {
    /// Rules file or game of the catalogue
    #[arg(add = ArgValueCompleter::new(complete::games))]
    game: String,
    /// The role whose view it is
    #[arg(long, value_name = "ROLE")]
    role: String,
    /// The view, as a JSON file (`-` for standard input); without it, the view at the start
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    view: Option<String>,
    /// A record of a match, as `surmise match --record` writes it
    #[arg(long = "match", value_name = "RECORD")]
    record: Option<String>,
    /// With --match: the belief after this many rounds (all, if not given)
    #[arg(long, value_name = "K", requires = "record")]
    round: Option<usize>,
    /// Which sampler: trellis, hyperplay, cached or naive
    #[arg(long, default_value = "trellis", value_name = "S")]
    sampler: SamplerKind,
    /// Models to keep
    #[arg(long, default_value_t = 100, value_name = "N")]
    models: usize,
    /// hyperplay: weights by proposal, choice-factor or equal
    #[arg(long, default_value = "proposal", value_name = "W")]
    weights: Weights,
    /// hyperplay: remedy none, weight or balance
    #[arg(long, default_value = "none", value_name = "R")]
    remedy: Remedy,
    /// Seed of the sampler
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// States and histories to print
    #[arg(long, default_value_t = 10, value_name = "N")]
    top: usize,
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let game = open::briefly(&args.game)?;
    let told = match (&args.view, &args.record) {
        (Some(file), _) => view_file(file)?,
        (_, Some(file)) => view_of_record(&game, file, &args.role, args.round)?,
        _ => Vec::new(),
    };
    let options = BeliefOptions {
        sampler: args.sampler,
        options: belief::Options {
            models: args.models,
            weights: args.weights,
            remedy: args.remedy,
            ..belief::Options::default()
        },
        seed: args.seed,
        stop: interrupt::flag(),
    };
    let belief = game.belief(&args.role, &told, &options)?;
    output::print(&match args.json {
        true => format!("{}\n", to_json(&belief)),
        false => text(&belief, args.top),
    });
    Ok(ExitCode::SUCCESS)
}

fn view_file(file: &str) -> Result<Vec<Told>> {
    let value = match file {
        "-" => serde_json::from_str(&files::read_stdin(files::SMALL_TEXT)?).context("standard input is not JSON")?,
        path => files::read_json(Path::new(path))?,
    };
    let shape = || anyhow!("`{file}` is not a view; write [{{\"move\": \"…\", \"sees\": [\"…\"]}}, …]");
    surmise::told_from_json(&value).ok_or_else(shape)
}

fn view_of_record(game: &Game, file: &str, role: &str, rounds: Option<usize>) -> Result<Vec<Told>> {
    let record = Record::from_json(&files::read_json(Path::new(file))?).with_context(|| format!("`{file}`"))?;
    game.check_record(&record).with_context(|| format!("`{file}`"))?;
    let at = record.roles.iter().position(|r| r == role);
    let at = at.with_context(|| format!("`{file}` has no role `{role}`"))?;
    check_sight(&record, at).with_context(|| format!("`{file}`"))?;
    let last = rounds.unwrap_or(record.rounds.len());
    if last > record.rounds.len() {
        bail!("`{file}` has only {} rounds", record.rounds.len());
    }
    Ok(record.told(at, last))
}

fn to_json(belief: &NamedBelief) -> Value {
    let report = &belief.report;
    let state = |(fluents, p): &(Vec<String>, f64)| json!({"p": p, "state": fluents});
    let history = |(rounds, p): &(Vec<Vec<String>>, f64)| json!({"p": p, "moves": joined(rounds)});
    json!({
        "version": JSON_VERSION,
        "exact": report.exact,
        "states": belief.states.iter().map(state).collect::<Vec<_>>(),
        "fluents": belief.fluents,
        "histories": belief.histories.iter().map(history).collect::<Vec<_>>(),
        "ess": report.ess,
        "states_visited": report.successors,
        "node_touches": report.touches,
        "live": report.live,
        "offline": report.offline,
        "distinct_histories": report.distinct_histories,
        "distinct_states": report.distinct_states,
        "relaxed_rounds": report.relaxed.iter().map(|r| r + 1).collect::<Vec<_>>(),
        "first_try_share": report.first_tries.iter().map(|t| t.share()).collect::<Vec<_>>(),
    })
}

/// The joint move of every round as one text.
fn joined(rounds: &[Vec<String>]) -> Vec<String> {
    rounds.iter().map(|joint| joint.join(" | ")).collect()
}

fn text(belief: &NamedBelief, top: usize) -> String {
    let report = &belief.report;
    let mut out = format!(
        "{report}\n{} states visited, {} nodes touched\n",
        report.successors, report.touches
    );
    let _ = writeln!(out, "\nStates ({} held possible)", belief.states.len());
    for (fluents, p) in belief.states.iter().take(top) {
        let _ = writeln!(out, "  {p:.4}  {}", fluents.join(" "));
    }
    let _ = writeln!(out, "\nWhat may or may not hold");
    let mut uncertain: Vec<(&String, &f64)> = belief.fluents.iter().filter(|(_, p)| **p < 1.0 - 1e-9).collect();
    uncertain.sort_by(|(_, p), (_, q)| q.total_cmp(p));
    if uncertain.is_empty() {
        let _ = writeln!(out, "  nothing is open: the state is known");
    }
    for (fluent, p) in uncertain.into_iter().take(4 * top) {
        let _ = writeln!(out, "  {p:.4}  {fluent}");
    }
    let _ = writeln!(out, "\nHistories (of {} models)", report.live);
    for (rounds, p) in belief.histories.iter().take(top) {
        let _ = writeln!(out, "  {p:.4}  {}", joined(rounds).join("; "));
    }
    out
}
