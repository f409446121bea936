//! `surmise belief`: what a role can believe about what it cannot see.

use crate::engine::{Engine, EngineOptions};
use crate::load::load;
use crate::{interrupt, output};
use anyhow::{Context, Result, anyhow, bail};
use belief::{Model, Now, Options, Remedy, Sampler, SamplerKind, Weights, World};
use game::{Budget, PerceptId, RoleId, Round, Seed, Simulator, State, View};
use propnet::Lanes;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Say what a role can believe, given what it did and saw
///
/// The view is a JSON file, `[{"move": "noop", "sees": ["(card jack)"]}, …]`, one entry a round, or a round of a recorded match.
/// Prints the probability of each state held possible and of each fluent, the likeliest histories, and how far the belief can be
/// trusted. All other roles are taken to choose uniformly.
#[derive(clap::Args)]
pub struct Args {
    /// Rules file or game of the catalogue
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
    sampler: String,
    /// Models to keep
    #[arg(long, default_value_t = 100, value_name = "N")]
    models: usize,
    /// hyperplay: weights by proposal, choice-factor or equal
    #[arg(long, default_value = "proposal", value_name = "W")]
    weights: String,
    /// hyperplay: remedy none, weight or balance
    #[arg(long, default_value = "none", value_name = "R")]
    remedy: String,
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
    let mut rules = load(&args.game)?.playable()?.rules;
    rules.announce_moves();
    let engine = Engine::new(&rules, &EngineOptions::default())?;
    let mut sim = engine.state_simulator();
    let role = find_role(sim.as_ref(), &args.role)?;
    let view = read_view(args, sim.as_mut(), role)?;
    let options = Options {
        models: args.models,
        weights: args.weights.parse::<Weights>().map_err(|e| anyhow!(e))?,
        remedy: args.remedy.parse::<Remedy>().map_err(|e| anyhow!(e))?,
        ..Options::default()
    };
    let kind: SamplerKind = args.sampler.parse().map_err(|e: String| anyhow!(e))?;
    let mut sampler = belief::make(kind, &options, role, Seed(args.seed))?;
    let mut lanes = engine.compiled().map(|game| Lanes::new(game, Seed(args.seed)));
    let mut world = match &mut lanes {
        Some(lanes) => World::with_batch(sim.as_mut(), lanes),
        None => World::new(sim.as_mut()),
    };
    sampler.update(&mut world, &view, Now::Unknown, &Budget::until(interrupt::flag()))?;
    let shown = Shown::new(sampler.as_ref(), sim.as_ref());
    output::print(&if args.json {
        format!("{}\n", shown.json())
    } else {
        shown.text(args.top)
    });
    Ok(ExitCode::SUCCESS)
}

/// The role of this name.
pub fn find_role(sim: &dyn Simulator, name: &str) -> Result<RoleId> {
    match sim.roles().iter().position(|r| r == name) {
        Some(at) => Ok(RoleId(at as u16)),
        None => bail!(
            "the game has no role `{name}`; its roles are {}",
            sim.roles().join(", ")
        ),
    }
}

fn read_view(args: &Args, sim: &mut dyn Simulator, role: RoleId) -> Result<View> {
    let rounds: Vec<(String, Vec<String>)> = match (&args.view, &args.record) {
        (Some(file), _) => view_file(file)?,
        (_, Some(file)) => view_of_record(file, &args.role, args.round)?,
        _ => Vec::new(),
    };
    let mut view = View::default();
    for (number, (own, sees)) in rounds.iter().enumerate() {
        let place = format!("round {}", number + 1);
        let own = sim
            .find_move(role, own)
            .with_context(|| format!("{place}: `{own}` is never a move of {}", args.role))?;
        let mut percepts: Vec<PerceptId> = Vec::new();
        for text in sees {
            let found = sim.find_percept(role, text);
            percepts.push(found.with_context(|| format!("{place}: {} never perceives `{text}`", args.role))?);
        }
        percepts.sort();
        percepts.dedup();
        view.rounds.push(Round { own, sees: percepts });
    }
    Ok(view)
}

fn view_file(file: &str) -> Result<Vec<(String, Vec<String>)>> {
    let text = match file {
        "-" => std::io::read_to_string(std::io::stdin()).context("cannot read standard input")?,
        path => std::fs::read_to_string(path).with_context(|| format!("cannot read `{path}`"))?,
    };
    let value: Value = serde_json::from_str(&text).with_context(|| format!("`{file}` is not JSON"))?;
    let shape = || anyhow!("`{file}` is not a view; write [{{\"move\": \"…\", \"sees\": [\"…\"]}}, …]");
    let rounds = value.as_array().ok_or_else(shape)?;
    let round = |round: &Value| {
        let own = round["move"].as_str().ok_or_else(shape)?.to_owned();
        let sees = round["sees"].as_array().ok_or_else(shape)?;
        let sees: Option<Vec<String>> = sees.iter().map(|s| s.as_str().map(str::to_owned)).collect();
        Ok((own, sees.ok_or_else(shape)?))
    };
    rounds.iter().map(round).collect()
}

fn view_of_record(file: &str, role: &str, rounds: Option<usize>) -> Result<Vec<(String, Vec<String>)>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read `{file}`"))?;
    let value = serde_json::from_str(&text).with_context(|| format!("`{file}` is not JSON"))?;
    let record = referee::Record::from_json(&value)?;
    let at = record.roles.iter().position(|r| r == role);
    let at = at.with_context(|| format!("`{file}` has no role `{role}`"))?;
    let last = rounds.unwrap_or(record.rounds.len());
    if last > record.rounds.len() {
        bail!("`{file}` has only {} rounds", record.rounds.len());
    }
    Ok(record.rounds[..last]
        .iter()
        .map(|r| (r.moves[at].clone(), r.percepts[at].clone()))
        .collect())
}

/// A belief with everything named.
struct Shown<'a> {
    sampler: &'a dyn Sampler,
    sim: &'a dyn Simulator,
    states: Vec<(State, f64)>,
    fluents: BTreeMap<String, f64>,
}

impl<'a> Shown<'a> {
    fn new(sampler: &'a dyn Sampler, sim: &'a dyn Simulator) -> Shown<'a> {
        let mut states = sampler.posterior();
        states.sort_by(|(a, p), (b, q)| q.total_cmp(p).then_with(|| a.cmp(b)));
        let mut fluents = BTreeMap::new();
        for (state, p) in &states {
            for fluent in sim.fluents(state) {
                *fluents.entry(fluent).or_insert(0.0) += p;
            }
        }
        Shown {
            sampler,
            sim,
            states,
            fluents,
        }
    }

    fn json(&self) -> Value {
        let report = &self.sampler.belief().report;
        let state = |(state, p): &(State, f64)| json!({"p": p, "state": self.sim.fluents(state)});
        let histories: Vec<Value> = self
            .histories()
            .into_iter()
            .map(|(history, p)| json!({"p": p, "moves": history}))
            .collect();
        json!({
            "exact": report.exact,
            "states": self.states.iter().map(state).collect::<Vec<_>>(),
            "fluents": self.fluents,
            "histories": histories,
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

    /// Histories of the models, likeliest first, with their weights.
    fn histories(&self) -> Vec<(Vec<String>, f64)> {
        let mut merged: BTreeMap<Vec<String>, f64> = BTreeMap::new();
        for model in &self.sampler.belief().models {
            *merged.entry(self.name_history(model)).or_insert(0.0) += model.weight;
        }
        let mut list: Vec<_> = merged.into_iter().collect();
        list.sort_by(|(_, p), (_, q)| q.total_cmp(p));
        list
    }

    fn name_history(&self, model: &Model) -> Vec<String> {
        let name = |joint: &belief::Joint| {
            let moves = joint
                .iter()
                .enumerate()
                .map(|(role, &mv)| self.sim.move_text(RoleId(role as u16), mv));
            moves.collect::<Vec<_>>().join(" | ")
        };
        model.history.iter().map(name).collect()
    }

    fn text(&self, top: usize) -> String {
        let report = &self.sampler.belief().report;
        let mut out = format!(
            "{report}\n{} states visited, {} nodes touched\n",
            report.successors, report.touches
        );
        let _ = writeln!(out, "\nStates ({} held possible)", self.states.len());
        for (state, p) in self.states.iter().take(top) {
            let _ = writeln!(out, "  {p:.4}  {}", self.sim.fluents(state).join(" "));
        }
        let _ = writeln!(out, "\nWhat may or may not hold");
        let mut open: Vec<(&String, &f64)> = self.fluents.iter().filter(|(_, p)| **p < 1.0 - 1e-9).collect();
        open.sort_by(|(_, p), (_, q)| q.total_cmp(p));
        if open.is_empty() {
            let _ = writeln!(out, "  nothing is open: the state is known");
        }
        for (fluent, p) in open.into_iter().take(4 * top) {
            let _ = writeln!(out, "  {p:.4}  {fluent}");
        }
        let _ = writeln!(out, "\nHistories (of {} models)", report.live);
        for (history, p) in self.histories().into_iter().take(top) {
            let _ = writeln!(out, "  {p:.4}  {}", history.join("; "));
        }
        out
    }
}
