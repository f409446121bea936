//! `surmise solve`: strategies that nobody can exploit.

use crate::engine::{Engine, EngineOptions};
use crate::load::load;
use crate::{interrupt, output, progress, rating, strategy};
use anyhow::{Context, Result, anyhow, bail};
use game::{Seed, Simulator};
use serde_json::{Map, Value, json};
use solve::{Algorithm, BuildError, Form, Limits, Policy, Solver, Tree, write_efg};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Solve a game: what every role should do, and what that is worth
///
/// Plays out every history, then improves a strategy for each role until --iterations, --seconds or --until is reached, whichever
/// comes first. Algorithms are cfr, cfr+, linear, discounted, external and outcome; the last two sample. NashConv is what
/// the roles could still gain by answering the strategies as well as they can, each alone, summed, in points of goals: 0 in
/// an equilibrium. With one role against nature the answer is the exact optimum, at once.
///
/// Ctrl-C prints what there is. A saved strategy plays as `strategy:FILE` in `surmise match`.
#[derive(clap::Args)]
pub struct Args {
    /// Rules file or game of the catalogue
    game: String,
    /// How: cfr, cfr+, linear, discounted, external or outcome
    #[arg(long, default_value = "cfr+", value_name = "A")]
    algorithm: String,
    /// Iterations at most; 1000 if nothing is said, a million for those that sample
    #[arg(long, value_name = "N")]
    iterations: Option<u64>,
    /// Seconds at most, building the tree not counted
    #[arg(long, value_name = "S")]
    seconds: Option<f64>,
    /// Stop once NashConv is no more than this
    #[arg(long, value_name = "NASHCONV")]
    until: Option<f64>,
    /// Histories that the game may have
    #[arg(long, default_value_t = Limits::default().histories, value_name = "N")]
    limit: u64,
    /// Seed of the algorithms that sample
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Information sets of each role to print
    #[arg(long, default_value_t = 20, value_name = "N")]
    top: usize,
    /// Instead of solving, say how far a player that tells its probabilities (cfr, strategy) is from an equilibrium
    #[arg(long, value_name = "PLAYER")]
    rate: Option<String>,
    /// Write the strategy to a file that the player `strategy:FILE` reads
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Write the game as an extensive form file for Gambit and OpenSpiel
    #[arg(long, value_name = "FILE")]
    efg: Option<PathBuf>,
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let algorithm: Algorithm = args.algorithm.parse().map_err(|e: String| anyhow!(e))?;
    let aim = Aim::new(args, algorithm)?;
    let loaded = load(&args.game)?;
    let mut rules = loaded.playable()?.rules;
    rules.announce_moves();
    let engine = Engine::new(&rules, &EngineOptions::default())?;
    let mut sim = engine.state_simulator();
    let started = Instant::now();
    let tree = build(sim.as_mut(), args)?;
    if let Some(path) = &args.efg {
        save(path, |out| write_efg(&tree, sim.as_ref(), &loaded.name, out))?;
    }
    let form = Form::new(&tree);
    let build_s = started.elapsed().as_secs_f64();
    let solved = match tree.players.len() {
        _ if args.rate.is_some() => rated(args, &engine, &tree)?,
        1 => optimum(&form),
        _ => iterate(&form, algorithm.solver(&form, Seed(args.seed)).as_mut(), &aim),
    };
    let report = Report {
        game: loaded.name,
        args,
        tree: &tree,
        sim: sim.as_ref(),
        values: form.values(&solved.policy),
        nash_conv: form.nash_conv(&solved.policy),
        solved,
        build_s,
    };
    if let Some(path) = &args.save {
        save(path, |out| out.write_all(report.json().as_bytes()))?;
    }
    output::print(&if args.json { report.json() } else { report.text() });
    Ok(ExitCode::SUCCESS)
}

fn build(sim: &mut dyn Simulator, args: &Args) -> Result<Tree> {
    let limits = Limits {
        histories: args.limit,
        stop: interrupt::flag(),
    };
    let spinner = progress::spinner("building the tree");
    let tree = Tree::build(sim, &limits, &mut |reached| {
        spinner.set_message(format!("{reached} histories"));
    });
    spinner.finish_and_clear();
    match tree {
        Err(error @ BuildError::TooLarge { .. }) => Err(anyhow!(
            "{error} (`--limit` raises it, at about 100 bytes a history; smaller parameters make a smaller game)"
        )),
        other => Ok(other?),
    }
}

fn save(path: &Path, write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> Result<()> {
    let whole = || -> std::io::Result<()> {
        let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
        write(&mut out)?;
        out.flush()
    };
    whole().with_context(|| format!("cannot write `{}`", path.display()))
}

/// When to stop.
struct Aim {
    iterations: u64,
    time: Duration,
    nash_conv: Option<f64>,
}

impl Aim {
    fn new(args: &Args, algorithm: Algorithm) -> Result<Aim> {
        let time = match args.seconds.map(Duration::try_from_secs_f64) {
            None => Duration::MAX,
            Some(Ok(time)) => time,
            Some(Err(_)) => bail!("--seconds must be a number of seconds that is not negative"),
        };
        if args.until.is_some_and(|gap| gap.is_nan() || gap <= 0.0) {
            bail!("--until must be a positive number of points: strategies approach 0 and do not reach it");
        }
        let open = args.seconds.is_some() || args.until.is_some();
        let usual = match (open, algorithm.samples()) {
            (true, _) => u64::MAX,
            (false, true) => 1_000_000,
            (false, false) => 1_000,
        };
        Ok(Aim {
            iterations: args.iterations.unwrap_or(usual),
            time,
            nash_conv: args.until,
        })
    }
}

/// Strategies and how they came about.
struct Solved {
    policy: Policy,
    iterations: u64,
    /// Spent on iterations alone.
    seconds: f64,
}

/// The strategy that a player follows.
fn rated(args: &Args, engine: &Engine, tree: &Tree) -> Result<Solved> {
    let player = args.rate.as_deref().unwrap_or_default();
    let started = Instant::now();
    let policy = rating::policy(player, engine, tree, Seed(args.seed))?;
    Ok(Solved {
        policy,
        iterations: 0,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// One role against nature: nothing to learn.
fn optimum(form: &Form<'_>) -> Solved {
    let started = Instant::now();
    let mut policy = Policy::uniform(form.tree());
    form.best_response(0, &mut policy);
    Solved {
        policy,
        iterations: 1,
        seconds: started.elapsed().as_secs_f64(),
    }
}

/// How long to work before looking at the clock and the keyboard.
const SLICE: Duration = Duration::from_millis(40);

fn iterate(form: &Form<'_>, solver: &mut dyn Solver, aim: &Aim) -> Solved {
    let spinner = progress::spinner("solving");
    let started = Instant::now();
    let mut spent = Duration::ZERO;
    let mut shown = Instant::now();
    let mut slice = 1;
    let mut next_check = 1;
    while solver.iterations() < aim.iterations && started.elapsed() < aim.time && !interrupt::flag().is_raised() {
        let mut n = slice.min(aim.iterations - solver.iterations());
        if aim.nash_conv.is_some() {
            n = n.min(next_check - solver.iterations());
        }
        let before = Instant::now();
        solver.iterate(n);
        let took = before.elapsed();
        spent += took;
        slice = match took < SLICE {
            true => slice.max(n.saturating_mul(2)),
            false => (slice / 2).max(1),
        };
        // The numbers of iterations at which it may stop depend on nothing else, so that the result does not either.
        if aim.nash_conv.is_some() && solver.iterations() == next_check {
            next_check += (next_check / 50).max(1);
            if aim
                .nash_conv
                .is_some_and(|gap| form.nash_conv(&solver.average()) <= gap)
            {
                break;
            }
        }
        if !spinner.is_hidden() && shown.elapsed() > Duration::from_millis(250) {
            shown = Instant::now();
            let gap = form.nash_conv(&solver.average());
            spinner.set_message(format!("{} iterations, NashConv {gap:.6}", solver.iterations()));
        }
    }
    spinner.finish_and_clear();
    Solved {
        policy: solver.average(),
        iterations: solver.iterations(),
        seconds: spent.as_secs_f64(),
    }
}

struct Report<'a> {
    game: String,
    args: &'a Args,
    tree: &'a Tree,
    sim: &'a dyn Simulator,
    solved: Solved,
    values: Vec<f64>,
    nash_conv: f64,
    build_s: f64,
}

impl Report<'_> {
    fn role(&self, player: usize) -> &str {
        &self.sim.roles()[self.tree.players[player].0 as usize]
    }

    fn algorithm(&self) -> &str {
        match (&self.args.rate, self.values.len()) {
            (Some(player), _) => player,
            (None, 1) => "best response",
            (None, _) => &self.args.algorithm,
        }
    }

    /// Whether small NashConv is what the algorithms promise here.
    fn is_promised(&self) -> bool {
        self.values.len() == 1 || self.values.len() == 2 && self.tree.constant_sum().is_some()
    }

    /// The most that anybody can get, less the least.
    fn payoff_range(&self) -> f64 {
        let payoffs = || (0..self.tree.n_terminals() as u32).flat_map(|t| self.tree.payoffs(t));
        let (least, most) = (payoffs().min(), payoffs().max());
        f64::from(most.unwrap_or(&100) - least.unwrap_or(&0)).max(1.0)
    }

    /// One object. The strategy may be long, and is put into text an entry at a time.
    fn json(&self) -> String {
        let value = |(player, v): (usize, &f64)| (self.role(player).to_owned(), json!(v));
        let values: Map<String, Value> = self.values.iter().enumerate().map(value).collect();
        let head = json!({
            "game": self.game,
            "roles": self.sim.roles(),
            "algorithm": self.algorithm(),
            "seed": self.args.seed,
            "value": values,
            "nash_conv": self.nash_conv,
            "payoff_range": self.payoff_range(),
            "equilibrium_promised": self.is_promised(),
            "iterations": self.solved.iterations,
            "seconds": self.solved.seconds,
            "build_seconds": self.build_s,
            "infosets": self.tree.infosets().len(),
            "histories": self.tree.histories,
        });
        let mut out = head.to_string();
        out.pop();
        out.push_str(",\"strategy\":[");
        for (number, set) in self.tree.infosets().iter().enumerate() {
            if number > 0 {
                out.push(',');
            }
            let entry = strategy::entry(self.tree, self.sim, set, &self.solved.policy);
            let _ = write!(out, "{entry}");
        }
        out.push_str("]}\n");
        out
    }

    fn text(&self) -> String {
        let mut out = format!(
            "{}: {} histories, {} information sets (tree in {:.3} s)\n",
            self.game,
            self.tree.histories,
            self.tree.infosets().len(),
            self.build_s
        );
        let Solved {
            iterations, seconds, ..
        } = self.solved;
        if let Some(player) = &self.args.rate {
            let (gap, share) = (self.nash_conv, self.nash_conv / self.payoff_range());
            let _ = writeln!(
                out,
                "{player}, asked in every information set in {seconds:.1} s: NashConv {gap:.4} points, {share:.5} of the payoffs' range"
            );
        } else if self.values.len() == 1 {
            let _ = writeln!(out, "One role against nature: the exact optimum");
        } else {
            let rate = iterations as f64 / seconds.max(1e-9);
            let _ = writeln!(
                out,
                "{}: {iterations} iterations in {seconds:.3} s ({rate:.0} a second), NashConv {:.6} points",
                self.algorithm(),
                self.nash_conv
            );
        }
        if !self.is_promised() && self.args.rate.is_none() {
            let why = match self.values.len() {
                2 => "The goals do not sum to a constant",
                _ => "There are more than two roles",
            };
            let _ = writeln!(
                out,
                "{why}: these strategies need not approach an equilibrium; NashConv tells how far they are from one."
            );
        }
        for player in 0..self.values.len() {
            self.text_of(player, &mut out);
        }
        out
    }

    /// A role's value, and what it does after each view.
    fn text_of(&self, player: usize, out: &mut String) {
        let sets = self.tree.infosets_of(player);
        let _ = writeln!(out, "\n{}: {:.6} points", self.role(player), self.values[player]);
        let shown = &self.tree.infosets()[sets.clone()][..sets.len().min(self.args.top)];
        let views: Vec<String> = shown.iter().map(|set| self.tree.view_text(set, self.sim)).collect();
        let width = views.iter().map(|v| v.chars().count()).max().unwrap_or(0).min(60);
        let role = self.tree.players[player];
        for (set, view) in shown.iter().zip(&views) {
            let action = |s: usize| {
                let mv = self.sim.move_text(role, self.tree.move_of(s));
                format!("{mv} {:.4}", self.solved.policy.0[s])
            };
            let actions: Vec<String> = set.sequences().map(action).collect();
            let _ = writeln!(out, "  {view:width$}  {}", actions.join("  "));
        }
        if shown.len() < sets.len() {
            let rest = sets.len() - shown.len();
            let _ = writeln!(out, "  and {rest} more information sets (--top, --json or --save)");
        }
    }
}
