//! `surmise explain`: why a player makes a move.

#[path = "explain_reasons.rs"]
mod reasons;

use crate::commands::JSON_VERSION;
use crate::{complete, interrupt, open, output};
use anyhow::{Context, Result};
use clap_complete::ArgValueCompleter;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use surmise::game::{Candidate, Decision};
use surmise::referee::Record;
use surmise::search::Line;
use surmise::{ExplainOptions, Explanation, LikelyState, files};

/// Say why a player makes a move
///
/// Takes a round of a recorded match, asks a player to decide there, knowing what its role was told and nothing else,
/// and prints what it weighed: the value of every candidate with its error and visits, the belief, and for each of the
/// likeliest states how the game is expected to go on if that is the true one and every role knows it.
///
/// If the player is `strategy:FILE`, or --others names such a file, the strategies of the file are assumed of all
/// roles, in the past and in the future: belief and values are computed from them, exactly where that is possible, and
/// it is said which belief would make another move the best one.
#[derive(clap::Args)]
pub struct Args {
    /// Rules file or game of the catalogue
    #[arg(add = ArgValueCompleter::new(complete::games))]
    game: String,
    /// A record of a match, as `surmise match --record` writes it
    #[arg(long, value_name = "RECORD")]
    record: String,
    /// The round whose decision to explain, counted from 1 (the last, if not given)
    #[arg(long, value_name = "K")]
    round: Option<usize>,
    /// The role that decides (the first that is not nature, if not given)
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// The player that decides (the one of the record, if not given)
    #[arg(long, value_name = "PLAYER")]
    player: Option<String>,
    /// What the other roles are assumed to play, before and after: strategy:FILE (the player's own strategy, if it is
    /// one and this is not given)
    #[arg(long, value_name = "strategy:FILE")]
    others: Option<String>,
    /// Likely states to look at
    #[arg(long, default_value_t = 3, value_name = "N")]
    top: usize,
    /// Rounds to look ahead in each of them
    #[arg(long, default_value_t = 6, value_name = "N")]
    ahead: usize,
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let record = Record::from_json(&files::read_json(Path::new(&args.record))?);
    let record = record.with_context(|| format!("`{}` is not a record of a match", args.record))?;
    let game = open::briefly(&args.game)?;
    let options = ExplainOptions {
        round: args.round,
        role: args.role.clone(),
        player: args.player.clone(),
        others: args.others.clone(),
        top: args.top,
        ahead: args.ahead,
        stop: interrupt::flag(),
    };
    let explanation = game
        .explain(&record, &options)
        .with_context(|| format!("`{}`", args.record))?;
    output::print(&match args.json {
        true => format!("{}\n", to_json(&explanation, game.name())),
        false => text(&explanation, game.name()),
    });
    Ok(ExitCode::SUCCESS)
}

fn to_json(explanation: &Explanation, game: &str) -> Value {
    let by_role = |moves: &Vec<String>| -> Value {
        let pairs = explanation.roles.iter().cloned().zip(moves.iter().map(|m| json!(m)));
        Value::Object(pairs.collect())
    };
    let likely = |l: &LikelyState| {
        let goals = l.line.points.as_ref().map(|points| {
            let pairs = explanation.roles.iter().cloned().zip(points.iter().map(|p| json!(p)));
            Value::Object(pairs.collect())
        });
        json!({
            "p": l.p,
            "state": l.fluents,
            "line": l.line.rounds.iter().map(by_role).collect::<Vec<_>>(),
            "goals": goals,
        })
    };
    let mut value = json!({
        "version": JSON_VERSION,
        "game": game,
        "role": explanation.roles[explanation.role],
        "round": explanation.round,
        "player": explanation.player,
        "move": explanation.decision.mv,
        "candidates": explanation.decision.candidates.iter().map(candidate_json).collect::<Vec<_>>(),
        "policy": policy_json(&explanation.decision),
        "belief": explanation.decision.belief,
        "likely": explanation.likely.iter().map(likely).collect::<Vec<_>>(),
    });
    if let Some(reasons) = &explanation.reasons {
        value["reasons"] = reasons::to_json(reasons);
    }
    value
}

fn text(explanation: &Explanation, game: &str) -> String {
    let mut out = String::new();
    let role = &explanation.roles[explanation.role];
    let _ = writeln!(
        out,
        "{game}, round {}: {role}, played by {}, chooses {}\n",
        explanation.round, explanation.player, explanation.decision.mv
    );
    match &explanation.reasons {
        Some(reasons) => out += &reasons::text(reasons),
        None => {
            out += &candidates_text(&explanation.decision.candidates, usize::MAX);
            out += &policy_text(&explanation.decision);
            out += &next_best(&explanation.decision.candidates);
        }
    }
    if !explanation.decision.belief.is_empty() {
        let _ = writeln!(out, "\nbelief: {}", explanation.decision.belief);
    }
    for (number, likely) in explanation.likely.iter().enumerate() {
        let _ = writeln!(
            out,
            "\nstate {} of those held possible, {:.1} %: {}",
            number + 1,
            100.0 * likely.p,
            what_is_special(explanation, likely)
        );
        out += &line_text(explanation, &likely.line);
    }
    out
}

/// How much worse the second-best candidate is.
fn next_best(candidates: &[Candidate]) -> String {
    let [best, next, ..] = candidates else {
        return String::new();
    };
    let (gap, error) = (best.mean - next.mean, best.stderr.hypot(next.stderr));
    match gap > 2.0 * error {
        true => format!("  next best: {}, {gap:.2} points less\n", next.mv),
        false => format!(
            "  next best: {}, {gap:.2} points less, which may be chance (error {error:.2})\n",
            next.mv
        ),
    }
}

/// What holds in a state and not in all of them.
fn what_is_special(explanation: &Explanation, likely: &LikelyState) -> String {
    let open: Vec<&str> = likely
        .fluents
        .iter()
        .filter(|f| explanation.uncertain.contains_key(*f))
        .map(String::as_str)
        .collect();
    match open[..] {
        [] => "nothing is hidden".to_owned(),
        _ => open.join(" "),
    }
}

fn line_text(explanation: &Explanation, line: &Line) -> String {
    let mut out = String::new();
    for (number, moves) in line.rounds.iter().enumerate() {
        let moves: Vec<String> = explanation
            .roles
            .iter()
            .zip(moves)
            .map(|(r, m)| format!("{r} {m}"))
            .collect();
        let _ = writeln!(out, "  round {}: {}", explanation.round + number, moves.join(", "));
    }
    if let Some(points) = &line.points {
        let goals: Vec<String> = explanation
            .roles
            .iter()
            .zip(points)
            .map(|(r, p)| format!("{r} {p}"))
            .collect();
        let _ = writeln!(out, "  then it is over: {}", goals.join(", "));
    }
    out
}

/// A candidate as JSON.
pub fn candidate_json(c: &Candidate) -> Value {
    json!({"move": c.mv, "mean": c.mean, "stderr": c.stderr, "visits": c.visits})
}

/// The probabilities of a mixed choice as JSON; null for players that do not say.
pub fn policy_json(decision: &Decision) -> Value {
    match decision.policy.is_empty() {
        true => Value::Null,
        false => decision.policy.iter().map(|(mv, p)| (mv.clone(), json!(p))).collect(),
    }
}

/// The probabilities of a mixed choice.
pub fn policy_text(decision: &Decision) -> String {
    if decision.policy.is_empty() {
        return String::new();
    }
    let likely = decision.policy.iter().filter(|(_, p)| *p >= 0.0005);
    let shares: Vec<String> = likely.map(|(mv, p)| format!("{mv} {p:.3}")).collect();
    format!("  plays {}\n", shares.join(", "))
}

/// The best candidates as a table.
pub fn candidates_text(candidates: &[Candidate], most: usize) -> String {
    if candidates.is_empty() {
        return "  it does not weigh its moves\n".to_owned();
    }
    let mut out = format!("  {:>7}  {:>6}  {:>9}  move\n", "value", "error", "visits");
    for c in candidates.iter().take(most) {
        let _ = writeln!(out, "  {:>7.2}  {:>6.2}  {:>9}  {}", c.mean, c.stderr, c.visits, c.mv);
    }
    out
}
