//! `surmise trace`: what the engine derives, step by step.

use crate::open::{EngineArg, RewritingArg};
use crate::{complete, interrupt, open, output};
use anyhow::{Context, Result, anyhow, bail};
use clap_complete::ArgValueCompleter;
use serde_json::{Map, Value, json};
use std::io::{BufRead, Read};
use std::path::Path;
use std::process::ExitCode;
use surmise::engine::{Engine, EngineKind};
use surmise::files;
use surmise::game::{Rng, RoleId, Seed, Simulator, State};
use surmise::ggp::xmltrace;

/// Play random games and print what the engine derives, step by step
///
/// Plays random games and prints what the engine derives, one JSON object a line for each step: playout, step, state,
/// legal moves, terminal, goals (null where the rules give none or several), and, unless it is the last line of a
/// playout, the joint move and (for games with `sees` rules) what each role perceived.
///
/// --follow plays the moves of such a file instead of random ones and prints what *this* engine derives, so that two
/// engines can be compared line by line.
///
/// --xml prints a random game as XML in the format of Dresden's GameController instead, and --check reads such a file
/// and says whether this engine derives the same states, legal moves, end and goals.
#[derive(clap::Args)]
pub struct Args {
    /// Rules file or game of the catalogue
    #[arg(add = ArgValueCompleter::new(complete::games))]
    game: String,
    /// Seed of the random games
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Random games to play
    #[arg(long, default_value_t = 1, value_name = "N")]
    playouts: u64,
    /// At most this many steps of each playout
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    steps: u64,
    /// Play the moves of this trace (`-` for standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["playouts", "seed"])]
    follow: Option<String>,
    /// Print one random game as XML
    #[arg(long, conflicts_with_all = ["playouts", "follow"])]
    xml: bool,
    /// Hold an XML trace against this engine
    #[arg(long, value_name = "FILE", conflicts_with_all = ["playouts", "seed", "follow", "xml", "steps"])]
    check: Option<String>,
    /// Which engine to ask; all print the same bytes. For up to 20 steps, auto is the reference
    #[arg(long, value_enum, default_value_t)]
    engine: EngineArg,
    /// Whether a compiled engine may rewrite the rules first
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    rewriting: RewritingArg,
    /// Interpret the network of the lanes engine instead of running machine code
    #[arg(long)]
    no_native: bool,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let loaded = open::text(&args.game)?;
    let reading = loaded.playable()?;
    let shows_sees = reading.rules.has_sees();
    let steps = args.steps.saturating_mul(args.playouts);
    let is_short = steps <= FEW_STEPS && args.follow.is_none() && args.check.is_none();
    let kind = match args.engine.into() {
        EngineKind::Auto if is_short => EngineKind::Reference,
        kind => kind,
    };
    let mut options = open::engine_options(kind, !args.no_native);
    options.rewriting = args.rewriting.into();
    let engine = Engine::new(&reading.rules, &options)?;
    let mut sim = engine.simulator();
    if args.xml {
        let mut rng = Seed(args.seed).child("trace").nth(0).rng();
        output::print(&xmltrace::write(sim.as_mut(), &args.game, &mut rng, args.steps)?);
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(file) = &args.check {
        let text = files::read_text(Path::new(file), files::LARGE_TEXT)?;
        let steps = xmltrace::check(sim.as_mut(), &text).with_context(|| file.clone())?;
        output::print(&format!("{file}: {steps} steps, all as the rules say\n"));
        return Ok(ExitCode::SUCCESS);
    }
    let mut tracer = Tracer {
        sim: sim.as_mut(),
        shows_sees,
        steps: args.steps,
    };
    match &args.follow {
        None => {
            for playout in (0..args.playouts).take_while(|_| !interrupt::flag().is_raised()) {
                let mut rng = Seed(args.seed).child("trace").nth(playout).rng();
                tracer.play(playout, &mut rng)?;
            }
        }
        Some(file) => tracer.follow(file)?,
    }
    Ok(interrupt::exit_code())
}

/// Bytes of a line of a trace.
const LONGEST_LINE: u64 = 64 << 20;

/// Steps up to which a trace asks the reference simulator: it answers at once, and large games take long to compile.
const FEW_STEPS: u64 = 20;

struct Tracer<'a> {
    sim: &'a mut dyn Simulator,
    shows_sees: bool,
    steps: u64,
}

impl Tracer<'_> {
    fn play(&mut self, playout: u64, rng: &mut Rng) -> Result<()> {
        let mut state = self.sim.initial()?;
        for step in 0.. {
            let mut line = self.describe(playout, step, &state)?;
            if self.sim.terminal(&state)? || step >= self.steps || interrupt::flag().is_raised() {
                output::print(&format!("{}\n", Value::Object(line)));
                break;
            }
            let moves = self.random_moves(&state, step, rng)?;
            state = self.advance(&mut line, &state, &moves)?;
            output::print(&format!("{}\n", Value::Object(line)));
        }
        Ok(())
    }

    fn random_moves(&mut self, state: &State, step: u64, rng: &mut Rng) -> Result<Vec<String>> {
        let mut moves = Vec::new();
        let mut legal = Vec::new();
        for (number, name) in self.sim.roles().to_vec().into_iter().enumerate() {
            let role = RoleId(number as u16);
            self.sim.legal(state, role, &mut legal)?;
            if legal.is_empty() {
                bail!("E-NO-MOVE: {name} has no legal move in step {step}; `surmise check --simulate` tells more");
            }
            moves.push(self.sim.move_text(role, *rng.pick(&legal)).to_owned());
        }
        Ok(moves)
    }

    /// What holds in a state, without the move.
    fn describe(&mut self, playout: u64, step: u64, state: &State) -> Result<Map<String, Value>> {
        let (mut legal, mut goal) = (Map::new(), Map::new());
        let mut moves = Vec::new();
        for (number, name) in self.sim.roles().to_vec().into_iter().enumerate() {
            let role = RoleId(number as u16);
            self.sim.legal(state, role, &mut moves)?;
            let texts: Vec<&str> = moves.iter().map(|&m| self.sim.move_text(role, m)).collect();
            legal.insert(name.clone(), json!(texts));
            goal.insert(name, json!(self.sim.goal(state, role)?.exact()));
        }
        let mut line = Map::new();
        line.insert("playout".to_owned(), json!(playout));
        line.insert("step".to_owned(), json!(step));
        line.insert("state".to_owned(), json!(self.sim.fluents(state)));
        line.insert("legal".to_owned(), Value::Object(legal));
        line.insert("terminal".to_owned(), json!(self.sim.terminal(state)?));
        line.insert("goal".to_owned(), Value::Object(goal));
        Ok(line)
    }

    /// Adds the move and what it shows to the line; returns the state after it.
    fn advance(&mut self, line: &mut Map<String, Value>, state: &State, moves: &[String]) -> Result<State> {
        let roles = self.sim.roles().to_vec();
        let mut joint = Vec::new();
        for (number, text) in moves.iter().enumerate() {
            let found = self.sim.find_move(RoleId(number as u16), text);
            joint.push(found.ok_or_else(|| anyhow!("`{text}` is never a move of {}", roles[number]))?);
        }
        let chosen: Map<String, Value> = roles.iter().cloned().zip(moves.iter().map(|m| json!(m))).collect();
        line.insert("move".to_owned(), Value::Object(chosen));
        if self.shows_sees {
            let mut sees = Map::new();
            let mut percepts = Vec::new();
            for (number, name) in roles.into_iter().enumerate() {
                let role = RoleId(number as u16);
                self.sim.percepts(state, &joint, role, &mut percepts)?;
                let texts: Vec<&str> = percepts.iter().map(|&p| self.sim.percept_text(role, p)).collect();
                sees.insert(name, json!(texts));
            }
            line.insert("sees".to_owned(), Value::Object(sees));
        }
        Ok(self.sim.next(state, &joint)?)
    }

    /// Plays the moves of a trace.
    fn follow(&mut self, file: &str) -> Result<()> {
        let mut reader: Box<dyn BufRead> = match file {
            "-" => Box::new(std::io::stdin().lock()),
            path => Box::new(std::io::BufReader::new(
                std::fs::File::open(path).with_context(|| format!("cannot open `{path}`"))?,
            )),
        };
        let mut state = None;
        for number in 0.. {
            let mut line = String::new();
            let read = reader.by_ref().take(LONGEST_LINE + 1).read_line(&mut line);
            read.with_context(|| format!("cannot read `{file}` (is it compressed? Use `zcat FILE | … --follow -`)"))?;
            if line.is_empty() {
                break;
            }
            if line.len() as u64 > LONGEST_LINE {
                bail!(
                    "{file}:{}: the line is longer than {} MiB",
                    number + 1,
                    LONGEST_LINE >> 20
                );
            }
            if line.trim().is_empty() {
                continue;
            }
            state = self
                .follow_line(&line, state)
                .with_context(|| format!("{file}:{}", number + 1))?;
        }
        Ok(())
    }

    fn follow_line(&mut self, line: &str, state: Option<State>) -> Result<Option<State>> {
        let asked: Value = serde_json::from_str(line).context("not a line of a trace")?;
        let number = |key: &str| asked[key].as_u64().ok_or_else(|| anyhow!("no number `{key}`"));
        let (playout, step) = (number("playout")?, number("step")?);
        let state = match (step, state) {
            (0, _) => self.sim.initial()?,
            (_, Some(state)) => state,
            (_, None) => bail!("step {step} follows no move"),
        };
        let mut printed = self.describe(playout, step, &state)?;
        let next = match asked.get("move") {
            None => None,
            Some(moves) => {
                let moves = self.moves_of(moves)?;
                if let Some(problem) = self.illegal(&state, &moves)? {
                    output::print(&format!("{}\n", Value::Object(printed)));
                    bail!(problem);
                }
                Some(self.advance(&mut printed, &state, &moves)?)
            }
        };
        output::print(&format!("{}\n", Value::Object(printed)));
        Ok(next)
    }

    /// The first move that this engine does not hold to be legal.
    fn illegal(&mut self, state: &State, moves: &[String]) -> Result<Option<String>> {
        let mut legal = Vec::new();
        for (number, text) in moves.iter().enumerate() {
            let role = RoleId(number as u16);
            self.sim.legal(state, role, &mut legal)?;
            if !legal.iter().any(|&m| self.sim.move_text(role, m) == text) {
                let name = &self.sim.roles()[number];
                return Ok(Some(format!("`{text}` is not legal for {name} here")));
            }
        }
        Ok(None)
    }

    fn moves_of(&self, moves: &Value) -> Result<Vec<String>> {
        let of_role = |role: &String| {
            let text = moves[role].as_str();
            text.map(str::to_owned).ok_or_else(|| anyhow!("no move for {role}"))
        };
        self.sim.roles().iter().map(of_role).collect()
    }
}
