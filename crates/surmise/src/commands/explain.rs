//! `surmise explain`: why a player makes a move.

use crate::commands::belief::find_role;
use crate::engine::{Engine, EngineOptions};
use crate::load::load;
use crate::players::{PlayerSpec, tools};
use crate::{interrupt, output};
use anyhow::{Context, Result, bail};
use belief::SamplerKind;
use game::{Budget, Candidate, Decision, RoleId, Seed, Simulator, State, Told};
use referee::{Record, Seat};
use search::{Believer, Line, expected_line};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Say why a player makes a move
///
/// Takes a round of a recorded match, asks a player to decide there, knowing what its role was told and nothing else, and prints what it
/// weighed: the value of every candidate with its error and visits, the belief this rests on, and for each of the likeliest states how the
/// game is expected to go on if that is the true one and everyone knew it.
#[derive(clap::Args)]
pub struct Args {
    /// Rules file or game of the catalogue
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
    let loaded = load(&args.game)?;
    let mut rules = loaded.playable()?.rules;
    rules.announce_moves();
    let engine = Engine::new(&rules, &EngineOptions::default())?;
    let record = read_record(&args.record)?;
    let sim = engine.state_simulator();
    if record.roles != sim.roles() {
        bail!(
            "`{}` is a match of other roles ({}) than {} has ({})",
            args.record,
            record.roles.join(", "),
            loaded.name,
            sim.roles().join(", ")
        );
    }
    let role = choose_role(args, sim.as_ref())?;
    let round = choose_round(args, &record)?;
    let explanation = Explanation::new(args, &engine, &record, role, round)?;
    output::print(&if args.json {
        format!("{}\n", explanation.json(&loaded.name))
    } else {
        explanation.text(&loaded.name)
    });
    Ok(ExitCode::SUCCESS)
}

fn read_record(path: &str) -> Result<Record> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{path}`"))?;
    let value = serde_json::from_str(&text).with_context(|| format!("`{path}` is not JSON"))?;
    Record::from_json(&value).with_context(|| format!("`{path}` is not a record of a match"))
}

fn choose_role(args: &Args, sim: &dyn Simulator) -> Result<RoleId> {
    if let Some(name) = &args.role {
        return find_role(sim, name);
    }
    let mut roles = (0..sim.roles().len() as u16).map(RoleId);
    roles
        .find(|&role| Some(role) != sim.nature())
        .context("the game has no role besides nature")
}

fn choose_round(args: &Args, record: &Record) -> Result<usize> {
    let last = record.rounds.len();
    match args.round.unwrap_or(last) {
        round if (1..=last).contains(&round) => Ok(round),
        other => bail!("`{}` has rounds 1 to {last}, not {other}", args.record),
    }
}

/// A decision with everything that it rests on.
struct Explanation {
    roles: Vec<String>,
    role: usize,
    round: usize,
    player: String,
    decision: Decision,
    likely: Vec<Likely>,
    /// Fluents that hold in some states held possible and not in others, with their probabilities.
    open: BTreeMap<String, f64>,
}

/// A state held possible, and how the game would go on from it.
struct Likely {
    p: f64,
    fluents: Vec<String>,
    line: Line,
}

impl Explanation {
    fn new(args: &Args, engine: &Engine, record: &Record, role: RoleId, round: usize) -> Result<Explanation> {
        let at = usize::from(role.0);
        let spec = PlayerSpec::parse(args.player.as_deref().unwrap_or(&record.players[at]))?;
        let told: Vec<Told> = record.rounds[..round - 1]
            .iter()
            .map(|r| Told {
                own: r.moves[at].clone(),
                sees: r.percepts[at].clone(),
            })
            .collect();
        let seed = Seed(record.seed).child("player").nth(u64::from(role.0));
        let budget = Budget::until(interrupt::flag());
        let decision = match spec.seat(engine, role, seed)? {
            Seat::Player(mut player) => player.choose(&told, &budget)?,
            Seat::Cheat(mut cheat) => cheat.choose_knowing(&record.states[round - 1], &budget)?,
            Seat::Guest(_) => bail!("`{}` plays elsewhere and does not say why", spec.text),
            Seat::Nature => bail!("nature does not decide"),
        };
        let mut explanation = Explanation {
            roles: record.roles.clone(),
            role: at,
            round,
            player: spec.text.clone(),
            decision,
            likely: Vec::new(),
            open: BTreeMap::new(),
        };
        explanation.look_ahead(args, engine, role, seed, &told, &budget)?;
        Ok(explanation)
    }

    fn look_ahead(
        &mut self,
        args: &Args,
        engine: &Engine,
        role: RoleId,
        seed: Seed,
        told: &[Told],
        budget: &Budget,
    ) -> Result<()> {
        let options = belief::Options::default();
        let mut believer = Believer::new(tools(engine, role, seed), SamplerKind::Trellis, &options)?;
        believer.update(told, budget)?;
        let mut states: Vec<(State, f64)> = believer.posterior();
        states.sort_by(|(a, p), (b, q)| q.total_cmp(p).then_with(|| a.cmp(b)));
        for (state, p) in &states {
            for fluent in believer.tools.sim.fluents(state) {
                *self.open.entry(fluent).or_insert(0.0) += p;
            }
        }
        self.open.retain(|_, p| *p < 1.0 - 1e-9);
        let Some(first) = believer.tools.sim.find_move(role, &self.decision.mv) else {
            return Ok(());
        };
        for (state, p) in states.iter().take(args.top) {
            let fluents = believer.tools.sim.fluents(state);
            let line = expected_line(&mut believer.tools, state, first, args.ahead, 50, budget)?;
            self.likely.push(Likely { p: *p, fluents, line });
        }
        Ok(())
    }

    fn json(&self, game: &str) -> Value {
        let by_role = |moves: &Vec<String>| -> Value {
            let pairs = self.roles.iter().cloned().zip(moves.iter().map(|m| json!(m)));
            Value::Object(pairs.collect())
        };
        let likely = |l: &Likely| {
            let goals = l.line.points.as_ref().map(|points| {
                let pairs = self.roles.iter().cloned().zip(points.iter().map(|p| json!(p)));
                Value::Object(pairs.collect())
            });
            json!({
                "p": l.p,
                "state": l.fluents,
                "line": l.line.rounds.iter().map(by_role).collect::<Vec<_>>(),
                "goals": goals,
            })
        };
        json!({
            "game": game,
            "role": self.roles[self.role],
            "round": self.round,
            "player": self.player,
            "move": self.decision.mv,
            "candidates": self.decision.candidates.iter().map(candidate_json).collect::<Vec<_>>(),
            "policy": policy_json(&self.decision),
            "belief": self.decision.belief,
            "likely": self.likely.iter().map(likely).collect::<Vec<_>>(),
        })
    }

    fn text(&self, game: &str) -> String {
        let mut out = String::new();
        let role = &self.roles[self.role];
        let _ = writeln!(
            out,
            "{game}, round {}: {role}, played by {}, chooses {}\n",
            self.round, self.player, self.decision.mv
        );
        out += &candidates_text(&self.decision.candidates, usize::MAX);
        out += &policy_text(&self.decision);
        if !self.decision.belief.is_empty() {
            let _ = writeln!(out, "\nbelief: {}", self.decision.belief);
        }
        for (number, likely) in self.likely.iter().enumerate() {
            let _ = writeln!(
                out,
                "\nstate {} of those held possible, {:.1} %: {}",
                number + 1,
                100.0 * likely.p,
                self.what_is_special(likely)
            );
            out += &self.line_text(&likely.line);
        }
        out
    }

    /// What holds in a state and not in all of them.
    fn what_is_special(&self, likely: &Likely) -> String {
        let open: Vec<&str> = likely
            .fluents
            .iter()
            .filter(|f| self.open.contains_key(*f))
            .map(String::as_str)
            .collect();
        match open[..] {
            [] => "nothing is hidden".to_owned(),
            _ => open.join(" "),
        }
    }

    fn line_text(&self, line: &Line) -> String {
        let mut out = String::new();
        for (number, moves) in line.rounds.iter().enumerate() {
            let moves: Vec<String> = self.roles.iter().zip(moves).map(|(r, m)| format!("{r} {m}")).collect();
            let _ = writeln!(out, "  round {}: {}", self.round + number, moves.join(", "));
        }
        if let Some(points) = &line.points {
            let goals: Vec<String> = self.roles.iter().zip(points).map(|(r, p)| format!("{r} {p}")).collect();
            let _ = writeln!(out, "  then it is over: {}", goals.join(", "));
        }
        out
    }
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
