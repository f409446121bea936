//! `surmise solve`: strategies that nobody can exploit.

use crate::engine::{Engine, EngineOptions};
use crate::load::load;
use crate::strategy::{self, Strategy};
use crate::{interrupt, output, progress, rating, threads};
use anyhow::{Context, Result, anyhow, bail};
use game::{Seed, Simulator};
use learn::Response;
use serde_json::{Map, Value, json};
use solve::{
    Algorithm, BuildError, Form, Infoset, Limits, LpError, Policy, Solver, Threads, Tree, equilibrium, write_efg,
};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// Solve a game: what every role should do, and what that is worth
///
/// Plays out every history, then finds a strategy for each role. `auto` takes the exact way if there is one: with one role
/// against nature the best answer, with two roles whose goals sum to a constant the linear program (`lp`), unless the game is
/// large. Otherwise strategies are improved until --iterations, --seconds or --until is reached, whichever comes first, by
/// cfr+ or what --algorithm says: cfr, cfr+, linear, discounted, or external and outcome, which sample.
///
/// NashConv is what the roles could still gain by answering the strategies as well as they can, each alone, summed, in
/// points of goals: 0 in an equilibrium. It is computed exactly, whatever the algorithm.
///
/// The same seed and iterations give the same bytes on any number of threads. Ctrl-C prints what there is. A saved strategy plays as `strategy:FILE` in `surmise match`; --rate tells what one is worth.
#[derive(clap::Args)]
pub struct Args {
    /// Rules file or game of the catalogue
    game: String,
    /// How: auto, lp, cfr, cfr+, linear, discounted, external or outcome
    #[arg(long, default_value = "auto", value_name = "A")]
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
    /// Threads to work on; all cores if nothing is said
    #[arg(long, value_name = "N", value_parser = threads::parse)]
    threads: Option<usize>,
    /// Information sets of each role to print
    #[arg(long, default_value_t = 20, value_name = "N")]
    top: usize,
    /// Solve nothing: tell what a file that --save wrote is worth, or a player that tells its probabilities (cfr)
    #[arg(long, value_name = "FILE|PLAYER", conflicts_with_all = ["algorithm", "iterations", "seconds", "until"])]
    rate: Option<String>,
    /// With --rate cfr:net=DIR: no tree, for games too large for one; histories less likely than this are not followed, and
    /// bounds are given. The table is rated; where it knows nothing, moves are random
    #[arg(long, value_name = "P", requires = "rate", num_args = 0..=1, default_missing_value = "1e-7")]
    walk: Option<f64>,
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
    let way: Way = args.algorithm.parse().map_err(|e: String| anyhow!(e))?;
    let aim = Aim::new(args, way)?;
    let threads = Threads::new(args.threads.unwrap_or_else(threads::all_cores));
    let loaded = load(&args.game)?;
    let mut rules = loaded.playable()?.rules;
    rules.announce_moves();
    let engine = Engine::new(&rules, &EngineOptions::default())?;
    if let (Some(what), Some(ignore)) = (&args.rate, args.walk) {
        return walk(&loaded.name, what, &engine, ignore, args.json);
    }
    let mut sim = engine.state_simulator();
    let started = Instant::now();
    // Only compiled games have names for everything before it is met, so that threads can agree on them.
    let builders = if engine.compiled().is_some() {
        threads
    } else {
        Threads::new(1)
    };
    let tree = build(sim.as_mut(), &builders, args)?;
    if let Some(path) = &args.efg {
        save(path, |out| write_efg(&tree, sim.as_ref(), &loaded.name, out))?;
    }
    let form = Form::on(&threads, &tree);
    let build_s = started.elapsed().as_secs_f64();
    let solved = match &args.rate {
        Some(what) => rate(what, args.seed, &engine, &tree, sim.as_mut())?,
        None => solve(&form, way, args, &aim)?,
    };
    let best = |player| form.best_response(player, &mut solved.policy.clone());
    let report = Report {
        game: loaded.name,
        args,
        tree: &tree,
        sim: sim.as_ref(),
        values: form.values(&solved.policy),
        best: (0..tree.players.len()).map(best).collect(),
        solved,
        build_s,
    };
    if let Some(path) = &args.save {
        save(path, |out| out.write_all(report.json().as_bytes()))?;
    }
    output::print(&if args.json { report.json() } else { report.text() });
    Ok(ExitCode::SUCCESS)
}

/// What `--algorithm` says.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Auto,
    Lp,
    Iterate(Algorithm),
}

impl FromStr for Way {
    type Err = String;

    fn from_str(text: &str) -> Result<Way, String> {
        match text {
            "auto" => Ok(Way::Auto),
            "lp" => Ok(Way::Lp),
            other => match other.parse::<Algorithm>() {
                Ok(algorithm) => Ok(Way::Iterate(algorithm)),
                Err(error) => Err(format!("{error}, lp or auto")),
            },
        }
    }
}

fn build(sim: &mut dyn Simulator, threads: &Threads, args: &Args) -> Result<Tree> {
    let limits = Limits {
        histories: args.limit,
        stop: interrupt::flag(),
    };
    let spinner = progress::spinner("building the tree");
    let tree = Tree::build_on(threads, sim, &limits, &mut |reached| {
        spinner.set_message(format!("{reached} histories"));
    });
    spinner.finish_and_clear();
    match tree {
        Err(error @ BuildError::TooLarge { .. }) => Err(anyhow!(
            "{error} (`--limit` raises it, at about 100 bytes a history; smaller parameters make a smaller game; \
             players such as hp2 and ismcts need no tree, and --rate cfr:net=DIR --walk does not either)"
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
    fn new(args: &Args, way: Way) -> Result<Aim> {
        let time = match args.seconds.map(Duration::try_from_secs_f64) {
            None => Duration::MAX,
            Some(Ok(time)) => time,
            Some(Err(_)) => bail!("--seconds must be a number of seconds that is not negative"),
        };
        if args.until.is_some_and(|gap| gap.is_nan() || gap <= 0.0) {
            bail!("--until must be a positive number of points: strategies approach 0 and do not reach it");
        }
        if way == Way::Lp && (args.iterations.is_some() || args.seconds.is_some()) {
            bail!(
                "--iterations and --seconds are for algorithms that iterate, such as cfr+; lp is done when it is done"
            );
        }
        let open = args.seconds.is_some() || args.until.is_some();
        let usual = match (open, way) {
            (true, _) => u64::MAX,
            (false, Way::Iterate(algorithm)) if algorithm.samples() => 1_000_000,
            (false, _) => 1_000,
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
    how: How,
    /// Spent on solving alone.
    seconds: f64,
}

enum How {
    /// One role against nature.
    Optimum,
    /// By linear program, in so many steps.
    Lp(u32),
    /// By an algorithm, in so many iterations.
    Iterated(Algorithm, u64),
    /// Read from a file that is silent about so many information sets.
    Read(usize),
    /// Of a player, asked in every information set.
    Asked(String),
}

/// Sequences up to which `auto` takes the linear program. Liar's dice with six sides has 37 thousand: 2 s on a quiet machine, and 75 MB. The time
/// grows faster than the game, and there is no answer before the end.
const LP_SEQUENCES: usize = 50_000;

fn solve(form: &Form<'_>, way: Way, args: &Args, aim: &Aim) -> Result<Solved> {
    let tree = form.tree();
    let two = tree.players.len() == 2 && tree.constant_sum().is_some();
    let open = args.iterations.is_none() && args.seconds.is_none();
    let algorithm = match way {
        _ if tree.players.len() == 1 => return Ok(optimum(form)),
        Way::Lp => return program(form),
        Way::Auto if two && open && tree.n_sequences() <= LP_SEQUENCES => match program(form) {
            Err(error) if matches!(error.downcast_ref(), Some(LpError::Failed(_))) => {
                eprintln!("note: {error}; cfr+ instead");
                Algorithm::CfrPlus
            }
            other => return other,
        },
        Way::Auto => Algorithm::CfrPlus,
        Way::Iterate(algorithm) => algorithm,
    };
    Ok(iterate(form, algorithm, args.seed, aim))
}

/// One role against nature: nothing to learn.
fn optimum(form: &Form<'_>) -> Solved {
    let started = Instant::now();
    let mut policy = Policy::uniform(form.tree());
    form.best_response(0, &mut policy);
    Solved {
        policy,
        how: How::Optimum,
        seconds: started.elapsed().as_secs_f64(),
    }
}

fn program(form: &Form<'_>) -> Result<Solved> {
    let spinner = progress::spinner("linear program");
    let started = Instant::now();
    let shown = spinner.clone();
    let told = move |steps, gap: f64| shown.set_message(format!("{steps} steps, gap {} points", small(gap)));
    let found = equilibrium(form, &interrupt::flag(), Box::new(told));
    spinner.finish_and_clear();
    match found {
        Ok(found) => Ok(Solved {
            policy: found.policy,
            how: How::Lp(found.steps),
            seconds: started.elapsed().as_secs_f64(),
        }),
        Err(error @ LpError::Failed(_)) => Err(error.into()),
        Err(error) => Err(anyhow!(error).context("`--algorithm cfr+` has an answer at any time, for any game")),
    }
}

/// Strategies that were made elsewhere: in a file, or a player's.
fn rate(what: &str, seed: u64, engine: &Engine, tree: &Tree, sim: &mut dyn Simulator) -> Result<Solved> {
    let started = Instant::now();
    let file = what
        .strip_prefix("strategy:")
        .or(Path::new(what).is_file().then_some(what));
    let (policy, how) = match file {
        Some(file) => {
            let (policy, silent) = Strategy::read(file)?.policy(tree, sim)?;
            (policy, How::Read(silent))
        }
        None => {
            let policy = rating::policy(what, engine, tree, Seed(seed))
                .with_context(|| format!("cannot rate `{what}`, which is not a file that --save wrote"))?;
            (policy, How::Asked(what.to_owned()))
        }
    };
    Ok(Solved {
        policy,
        how,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Bounds on what each role can get against a table that was learned.
fn walk(game: &str, what: &str, engine: &Engine, ignore: f64, as_json: bool) -> Result<ExitCode> {
    if !(0.0..1.0).contains(&ignore) {
        bail!("--walk must be a probability below 1");
    }
    let started = Instant::now();
    let bounds = rating::walk(what, engine, ignore)?;
    let seconds = started.elapsed().as_secs_f64();
    let states: u64 = bounds.iter().map(|b| b.response.states).sum();
    if as_json {
        let by_role = |of: fn(&rating::Bounds) -> f64| -> Map<String, Value> {
            bounds.iter().map(|b| (b.role.clone(), json!(of(b)))).collect()
        };
        let report = json!({
            "game": game,
            "algorithm": what,
            "best_response_low": by_role(|b| b.response.low),
            "best_response_high": by_role(|b| b.response.high),
            "ignored_below": ignore,
            "states": states,
            "seconds": seconds,
        });
        output::print(&format!("{report}\n"));
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = format!("{game}: {what}, {states} states in {seconds:.1} s\n");
    for bound in &bounds {
        let Response { low, high, .. } = bound.response;
        let _ = match high - low < 5e-3 {
            true => writeln!(out, "{}: {low:.2} points at best against it", bound.role),
            false => writeln!(out, "{}: {low:.2} to {high:.2} points at best against it", bound.role),
        };
    }
    output::print(&out);
    Ok(ExitCode::SUCCESS)
}

/// How long to work before looking at the clock and the keyboard.
const SLICE: Duration = Duration::from_millis(40);

fn iterate(form: &Form<'_>, algorithm: Algorithm, seed: u64, aim: &Aim) -> Solved {
    let mut solver: Box<dyn Solver> = algorithm.solver(form, Seed(seed));
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
            spinner.set_message(format!("{} iterations, NashConv {}", solver.iterations(), small(gap)));
        }
    }
    spinner.finish_and_clear();
    Solved {
        policy: solver.average(),
        how: How::Iterated(algorithm, solver.iterations()),
        seconds: spent.as_secs_f64(),
    }
}

/// A number of points that may be very small.
fn small(points: f64) -> String {
    match points.abs() {
        0.0 => "0".to_owned(),
        x if x < 1e-4 => format!("{x:.1e}"),
        _ => format!("{points:.6}"),
    }
}

struct Report<'a> {
    game: String,
    args: &'a Args,
    tree: &'a Tree,
    sim: &'a dyn Simulator,
    solved: Solved,
    values: Vec<f64>,
    /// What each role can get at best while the others keep to theirs.
    best: Vec<f64>,
    build_s: f64,
}

impl Report<'_> {
    fn role(&self, player: usize) -> &str {
        &self.sim.roles()[self.tree.players[player].0 as usize]
    }

    fn algorithm(&self) -> &str {
        match &self.solved.how {
            How::Optimum => "best response",
            How::Lp(_) => "lp",
            How::Iterated(algorithm, _) => algorithm.name(),
            How::Read(_) => "read",
            How::Asked(player) => player,
        }
    }

    /// Never below 0, whatever rounding says.
    fn nash_conv(&self) -> f64 {
        let gaps = self.best.iter().zip(&self.values);
        gaps.map(|(best, value)| best - value).sum::<f64>().max(0.0)
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
        let by_role = |values: &[f64]| -> Map<String, Value> { values.iter().enumerate().map(value).collect() };
        let iterations = match self.solved.how {
            How::Lp(steps) => u64::from(steps),
            How::Iterated(_, iterations) => iterations,
            How::Optimum => 1,
            How::Read(_) | How::Asked(_) => 0,
        };
        let head = json!({
            "game": self.game,
            "roles": self.sim.roles(),
            "algorithm": self.algorithm(),
            "seed": self.args.seed,
            "value": by_role(&self.values),
            "best_response": by_role(&self.best),
            "nash_conv": self.nash_conv(),
            "payoff_range": self.payoff_range(),
            "equilibrium_promised": self.is_promised(),
            "iterations": iterations,
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
        let gap = small(self.nash_conv());
        let seconds = self.solved.seconds;
        let share = self.nash_conv() / self.payoff_range();
        let _ = match &self.solved.how {
            How::Optimum => writeln!(out, "One role against nature: the exact optimum"),
            How::Lp(steps) => writeln!(
                out,
                "lp: the equilibrium in {seconds:.3} s ({steps} steps), NashConv {gap} points"
            ),
            How::Iterated(algorithm, iterations) => writeln!(
                out,
                "{}: {iterations} iterations in {seconds:.3} s ({:.0} a second), NashConv {gap} points",
                algorithm.name(),
                *iterations as f64 / seconds.max(1e-9)
            ),
            How::Read(0) => writeln!(out, "strategies as read: NashConv {gap} points"),
            How::Asked(player) => writeln!(
                out,
                "{player}, asked in every information set in {seconds:.1} s: NashConv {gap} points, {share:.5} of the payoffs' range"
            ),
            How::Read(silent) => writeln!(
                out,
                "strategies as read, and random moves in {silent} information sets that they leave out: NashConv {gap} points"
            ),
        };
        let unasked = self.args.algorithm == "auto" && self.args.iterations.is_none() && self.args.seconds.is_none();
        if unasked && self.is_promised() && matches!(self.solved.how, How::Iterated(..)) {
            out.push_str(
                "The game is large: --until, --seconds or --iterations for a closer answer, --algorithm lp for the exact one, which may take long.\n",
            );
        }
        if !self.is_promised() && matches!(self.solved.how, How::Iterated(..)) {
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

    /// A role's value, and what it does after each view, early decisions first.
    fn text_of(&self, player: usize, out: &mut String) {
        let (value, best) = (self.values[player], self.best[player]);
        let _ = write!(out, "\n{}: {value:.6} points", self.role(player));
        if best - value > 1e-6 {
            let _ = write!(out, ", {best:.6} if it alone did its best");
        }
        out.push('\n');
        let mut sets: Vec<&Infoset> = self.tree.infosets()[self.tree.infosets_of(player)].iter().collect();
        sets.sort_by_key(|set| self.tree.view(set).len());
        let shown = &sets[..sets.len().min(self.args.top)];
        let views: Vec<String> = shown.iter().map(|set| self.tree.view_text(set, self.sim)).collect();
        let widths = views.iter().map(|v| v.chars().count());
        let width = widths.filter(|&w| w <= WIDE).max().unwrap_or(0);
        let role = self.tree.players[player];
        for (set, view) in shown.iter().zip(&views) {
            let often = |s: usize| self.solved.policy.0[s];
            let action = |s: usize| {
                let mv = self.sim.move_text(role, self.tree.move_of(s));
                format!("{mv} {:.4}", often(s))
            };
            // Of many moves, only those that are played.
            let told = |s: &usize| set.n <= FEW || often(*s) >= 5e-5;
            let mut actions: Vec<String> = set.sequences().filter(told).map(action).collect();
            if actions.len() < set.n as usize {
                actions.push("others never".to_owned());
            }
            let gap = match view.chars().count() > width {
                true => "\n    ",
                false => "  ",
            };
            let _ = writeln!(out, "  {view:width$}{gap}{}", actions.join("  "));
        }
        if shown.len() < sets.len() {
            let rest = sets.len() - shown.len();
            let _ = writeln!(out, "  and {rest} more information sets (--top, --json or --save)");
        }
    }
}

/// Moves that are shown even if they are never played.
const FEW: u32 = 3;

/// Views that are longer than this get a line of their own.
const WIDE: usize = 60;
