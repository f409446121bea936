//! Solving a game that is small enough, and rating strategies on its tree.

use crate::answer::Figures;
use crate::strategy::{self, Strategy};
use crate::{Error, Game, rating};
use game::{Seed, Simulator, StopFlag};
use serde_json::{Map, Value, json};
use solve::{
    Algorithm, Form, LargeAlgorithm, Limits, LpError, Policy, Solver, Threads, Tree, commitment, equilibrium, write_efg,
};
use std::fmt::Write as _;
use std::path::Path;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// How a game is solved.
#[derive(Clone, Debug)]
pub struct SolveOptions {
    /// Which algorithm.
    pub method: Method,
    /// Iterations at most; without it 1,000, or a million for algorithms that sample, or no limit if `time` or `until`
    /// is given.
    pub iterations: Option<u64>,
    /// Time at most, building the tree not counted.
    pub time: Option<Duration>,
    /// NashConv, in points, at which to stop.
    pub until: Option<f64>,
    /// Histories that the game may have.
    pub histories: u64,
    /// Seed of algorithms that sample.
    pub seed: u64,
    /// Seeds over which a player that is rated is averaged. One suffices for players that tell the probabilities of
    /// their moves; the moves of others are counted.
    pub seeds: u64,
    /// Threads that build the tree. The result does not depend on it.
    pub threads: usize,
    /// Ends the work; iterations so far count.
    pub stop: StopFlag,
}

impl Default for SolveOptions {
    fn default() -> Self {
        SolveOptions {
            method: Method::Auto,
            iterations: None,
            time: None,
            until: None,
            histories: Limits::default().histories,
            seed: 1,
            seeds: 1,
            threads: 1,
            stop: StopFlag::default(),
        }
    }
}

/// Which algorithm solves the game.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Method {
    /// The best response with one role, the linear program with two roles of constant sum, unless the game is large;
    /// else CFR+.
    #[default]
    Auto,
    /// The linear program.
    Lp,
    /// An algorithm that iterates.
    Iterate(Algorithm),
    /// An algorithm that iterates on graphs of states and views, without a tree ([`Game::large`]).
    Graph(LargeAlgorithm),
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Method, Error> {
        match text {
            "auto" => Ok(Method::Auto),
            "lp" => Ok(Method::Lp),
            "restarting" => Ok(Method::Graph(LargeAlgorithm::Restarting)),
            "pcfr+" => Ok(Method::Graph(LargeAlgorithm::Predictive)),
            "pdcfr+" => Ok(Method::Graph(LargeAlgorithm::PredictiveDiscounted)),
            other => other.parse().map(Method::Iterate).map_err(|_| Error::Option {
                option: "algorithm",
                must: format!(
                    "must be auto, lp, {}, or restarting, pcfr+ or pdcfr+ without a tree, not `{other}`",
                    algorithms()
                ),
            }),
        }
    }
}

fn algorithms() -> String {
    let names = [
        Algorithm::Cfr,
        Algorithm::CfrPlus,
        Algorithm::Linear,
        Algorithm::Discounted,
        Algorithm::External,
        Algorithm::Outcome,
    ]
    .map(Algorithm::name);
    names.join(", ")
}

impl SolveOptions {
    /// Whether the options make sense together.
    ///
    /// # Errors
    /// If they do not.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |option, must: &str| {
            Err(Error::Option {
                option,
                must: must.to_owned(),
            })
        };
        if self.until.is_some_and(|gap| gap.is_nan() || gap <= 0.0) {
            return wrong(
                "--until",
                "must be a positive number of points: strategies approach 0 and do not reach it",
            );
        }
        if self.method == Method::Lp && (self.iterations.is_some() || self.time.is_some()) {
            return wrong(
                "--iterations and --seconds",
                "are for algorithms that iterate, such as cfr+; lp has no result before its end",
            );
        }
        Ok(())
    }

    fn most_iterations(&self) -> u64 {
        let limited = self.time.is_some() || self.until.is_some();
        let usual = match (limited, self.method) {
            (true, _) => u64::MAX,
            (false, Method::Iterate(algorithm)) if algorithm.samples() => 1_000_000,
            (false, _) => 1_000,
        };
        self.iterations.unwrap_or(usual)
    }
}

/// How far the work is.
pub enum SolveProgress<'a> {
    /// Histories of the tree so far.
    Histories(u64),
    /// Steps of the linear program, and its gap in points.
    Program(u32, f64),
    /// Iterations so far. The function computes NashConv, which takes about as long as an iteration.
    Iterations(u64, &'a dyn Fn() -> f64),
    /// Information sets in which a player was asked, of so many.
    Asked(usize, usize),
    /// Linear programs of a commitment that are solved, of so many.
    Commitment(u64, u64),
    /// Responses to a model that are found, of so many.
    Responded(usize, usize),
    /// The linear program failed; CFR+ goes on.
    Fallback(LpError),
}

/// The tree of a game, with the simulator that names its moves.
pub struct GameTree<'g> {
    game: &'g Game,
    /// The tree.
    pub tree: Tree,
    /// Names of moves and percepts.
    pub sim: Box<dyn Simulator>,
    threads: Threads,
    /// Seconds that building took.
    pub seconds: f64,
}

/// Strategies for all roles, and what they are worth.
pub struct Solution<'t> {
    /// The tree that the strategies are for.
    pub tree: &'t GameTree<'t>,
    /// Probabilities by sequence.
    pub policy: Policy,
    /// How the strategies came about.
    pub how: How,
    /// Seconds of solving, building the tree not counted.
    pub seconds: f64,
    /// Expected payoff of each player, in the order of `tree.tree.players`.
    pub values: Vec<f64>,
    /// What each player can get at best while the others keep to their strategies.
    pub best: Vec<f64>,
    /// Seed of algorithms that sample.
    pub seed: u64,
}

/// How strategies came about.
#[derive(Clone, Debug)]
pub enum How {
    /// The best response of the only role.
    Optimum,
    /// By linear program, in so many steps.
    Lp(u32),
    /// By an algorithm, in so many iterations.
    Iterated(Algorithm, u64),
    /// Read from a file that does not know so many information sets.
    Read(usize),
    /// Of a player, asked in every information set.
    Asked(String),
    /// The strategy of a role that commits itself, and the other's best response, by so many linear programs.
    Committed(String, u64),
    /// The response of a role to a model of the other, trusted with a weight; and the model.
    Responded(String, f64),
}

/// Sequences up to which [`Method::Auto`] takes the linear program. Liar's dice with six sides has 37 thousand: 2 s on
/// a quiet machine, and 75 MB. The time grows faster than the game, and there is no result before the end.
pub const LP_SEQUENCES: usize = 50_000;

/// How long to iterate before looking at the clock and the stop flag.
const SLICE: Duration = Duration::from_millis(40);

impl Game {
    /// Builds the tree of all histories.
    ///
    /// # Errors
    /// If the game has more histories than `options` allow, or the work was stopped.
    pub fn tree(
        &self,
        options: &SolveOptions,
        progress: &mut dyn FnMut(SolveProgress<'_>),
    ) -> Result<GameTree<'_>, Error> {
        let started = Instant::now();
        let mut sim = self.simulator();
        let limits = Limits {
            histories: options.histories,
            stop: options.stop.clone(),
        };
        let threads = Threads::new(options.threads);
        // Only a compiled game has names for all moves before they are met, so that threads agree on them.
        let one = Threads::new(1);
        let builders = if self.engine().compiled().is_some() {
            &threads
        } else {
            &one
        };
        let tree = Tree::build_on(builders, sim.as_mut(), &limits, &mut |histories| {
            progress(SolveProgress::Histories(histories));
        })?;
        Ok(GameTree {
            game: self,
            tree,
            sim,
            threads,
            seconds: started.elapsed().as_secs_f64(),
        })
    }
}

impl<'g> GameTree<'g> {
    /// Name of the game.
    pub fn game(&self) -> &'g Game {
        self.game
    }

    /// The role of a player.
    pub fn role(&self, player: usize) -> &str {
        &self.sim.roles()[usize::from(self.tree.players[player].0)]
    }

    pub(crate) fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Finds strategies for all roles.
    ///
    /// # Errors
    /// If the options do not fit the game.
    pub fn solve(
        &self,
        options: &SolveOptions,
        progress: &mut dyn FnMut(SolveProgress<'_>),
    ) -> Result<Solution<'_>, Error> {
        options.check()?;
        let form = Form::on(&self.threads, &self.tree);
        let tree = &self.tree;
        let two = tree.players.len() == 2 && tree.constant_sum().is_some();
        let unlimited = options.iterations.is_none() && options.time.is_none();
        let started = Instant::now();
        let algorithm = match options.method {
            _ if tree.players.len() == 1 => {
                let mut policy = Policy::uniform(tree);
                form.best_response(0, &mut policy);
                return Ok(self.solution(&form, policy, How::Optimum, started.elapsed(), options));
            }
            Method::Lp => return self.linear_program(&form, options, progress),
            Method::Auto if two && unlimited && tree.n_sequences() <= LP_SEQUENCES => {
                match self.linear_program(&form, options, progress) {
                    Err(Error::Lp(error @ LpError::Failed(_))) => {
                        progress(SolveProgress::Fallback(error));
                        Algorithm::CfrPlus
                    }
                    other => return other,
                }
            }
            Method::Auto => Algorithm::CfrPlus,
            Method::Iterate(algorithm) => algorithm,
            Method::Graph(algorithm) => {
                return Err(Error::Option {
                    option: "algorithm",
                    must: format!("must not be {} where there is a tree", algorithm.name()),
                });
            }
        };
        Ok(self.iterate(&form, algorithm, options, progress))
    }

    /// The strategy that a role should commit to if the other role knows it and plays a best response.
    ///
    /// # Errors
    /// If there is no such role, or the game is not of this kind.
    pub fn commit(
        &self,
        role: &str,
        options: &SolveOptions,
        progress: &mut dyn FnMut(SolveProgress<'_>),
    ) -> Result<Solution<'_>, Error> {
        let started = Instant::now();
        let names: Vec<&str> = self
            .tree
            .players
            .iter()
            .map(|r| self.sim.roles()[usize::from(r.0)].as_str())
            .collect();
        let leader = names
            .iter()
            .position(|name| *name == role)
            .ok_or_else(|| Error::NoRole {
                name: role.to_owned(),
                roles: names.iter().map(|&name| name.to_owned()).collect(),
            })?;
        let found = commitment(&self.tree, leader, &options.stop, &mut |done, all| {
            progress(SolveProgress::Commitment(done, all));
        })?;
        let form = Form::on(&self.threads, &self.tree);
        let how = How::Committed(role.to_owned(), found.programs);
        Ok(self.solution(&form, found.policy, how, started.elapsed(), options))
    }

    /// What a strategy is worth: of a file that `surmise solve --save` wrote, of a player that tells the probabilities
    /// of its moves, or `uniform`.
    ///
    /// # Errors
    /// If the strategy is of another game, or the player tells no probabilities.
    pub fn rate(
        &self,
        what: &str,
        options: &SolveOptions,
        progress: &mut dyn FnMut(SolveProgress<'_>),
    ) -> Result<Solution<'_>, Error> {
        let started = Instant::now();
        let file = what.strip_prefix("strategy:");
        let file = file.or(Path::new(what).is_file().then_some(what));
        if let Some(file) = file {
            return self.rate_strategy(&Strategy::read(Path::new(file))?, options);
        }
        let policy = match what {
            "uniform" => Policy::uniform(&self.tree),
            player => rating::policy(player, self.game, &self.tree, options, progress)?,
        };
        let form = Form::on(&self.threads, &self.tree);
        let how = How::Asked(what.to_owned());
        Ok(self.solution(&form, policy, how, started.elapsed(), options))
    }

    /// What a strategy is worth.
    ///
    /// # Errors
    /// If the strategy is of another game.
    pub fn rate_strategy(&self, strategy: &Strategy, options: &SolveOptions) -> Result<Solution<'_>, Error> {
        let started = Instant::now();
        let mut sim = self.game.simulator();
        let (policy, silent) = strategy.policy(&self.tree, sim.as_mut())?;
        let form = Form::on(&self.threads, &self.tree);
        Ok(self.solution(&form, policy, How::Read(silent), started.elapsed(), options))
    }

    /// The game as an extensive form file for Gambit and OpenSpiel.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_efg(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        write_efg(&self.tree, self.sim.as_ref(), self.game.name(), out)
    }

    fn linear_program(
        &self,
        form: &Form<'_>,
        options: &SolveOptions,
        progress: &mut dyn FnMut(SolveProgress<'_>),
    ) -> Result<Solution<'_>, Error> {
        let started = Instant::now();
        let (told, steps) = std::sync::mpsc::channel();
        // The solver wants a callback of its own for ever; what it tells is passed on while this thread waits.
        let found = std::thread::scope(|scope| {
            let solving = scope.spawn(move || {
                let tell = move |steps: u32, gap: f64| {
                    let _ = told.send((steps, gap));
                };
                equilibrium(form, &options.stop, Box::new(tell))
            });
            steps
                .iter()
                .for_each(|(steps, gap)| progress(SolveProgress::Program(steps, gap)));
            solving.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })?;
        Ok(self.solution(form, found.policy, How::Lp(found.steps), started.elapsed(), options))
    }

    fn iterate(
        &self,
        form: &Form<'_>,
        algorithm: Algorithm,
        options: &SolveOptions,
        progress: &mut dyn FnMut(SolveProgress<'_>),
    ) -> Solution<'_> {
        let mut solver: Box<dyn Solver> = algorithm.solver(form, Seed(options.seed));
        let (most, time) = (options.most_iterations(), options.time.unwrap_or(Duration::MAX));
        let started = Instant::now();
        let mut spent = Duration::ZERO;
        let mut slice = 1;
        let mut next_check = 1;
        while solver.iterations() < most && started.elapsed() < time && !options.stop.is_raised() {
            let mut n = slice.min(most - solver.iterations());
            if options.until.is_some() {
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
            // The iterations after which NashConv is looked at depend on nothing else, so that the result does not
            // either.
            if let Some(until) = options.until.filter(|_| solver.iterations() == next_check) {
                next_check += (next_check / 50).max(1);
                if form.nash_conv(&solver.average()) <= until {
                    break;
                }
            }
            progress(SolveProgress::Iterations(solver.iterations(), &|| {
                form.nash_conv(&solver.average())
            }));
        }
        let how = How::Iterated(algorithm, solver.iterations());
        self.solution(form, solver.average(), how, spent, options)
    }

    pub(crate) fn solution(
        &self,
        form: &Form<'_>,
        policy: Policy,
        how: How,
        spent: Duration,
        options: &SolveOptions,
    ) -> Solution<'_> {
        let best = |player| form.best_response(player, &mut policy.clone());
        Solution {
            tree: self,
            values: form.values(&policy),
            best: (0..self.tree.players.len()).map(best).collect(),
            policy,
            how,
            seconds: spent.as_secs_f64(),
            seed: options.seed,
        }
    }
}

impl Solution<'_> {
    /// The role of a player.
    pub fn role(&self, player: usize) -> &str {
        &self.tree.sim.roles()[usize::from(self.tree.tree.players[player].0)]
    }

    /// The algorithm's name, or the player's.
    pub fn algorithm(&self) -> &str {
        match &self.how {
            How::Optimum => "best response",
            How::Lp(_) => "lp",
            How::Iterated(algorithm, _) => algorithm.name(),
            How::Read(_) => "read",
            How::Asked(player) => player,
            How::Committed(..) => "commitment",
            How::Responded(..) => "response",
        }
    }

    /// What all roles together could gain by best responses; never below 0, whatever rounding says.
    pub fn nash_conv(&self) -> f64 {
        let gaps = self.best.iter().zip(&self.values);
        gaps.map(|(best, value)| best - value).sum::<f64>().max(0.0)
    }

    /// Whether the algorithms are known to approach an equilibrium in such a game.
    pub fn is_promised(&self) -> bool {
        self.values.len() == 1 || self.values.len() == 2 && self.tree.tree.constant_sum().is_some()
    }

    /// The greatest payoff of any role, less the least.
    pub fn payoff_range(&self) -> f64 {
        let tree = &self.tree.tree;
        let payoffs = || (0..tree.n_terminals() as u32).flat_map(|t| tree.payoffs(t));
        let (least, most) = (payoffs().min(), payoffs().max());
        f64::from(most.unwrap_or(&100) - least.unwrap_or(&0)).max(1.0)
    }

    /// One JSON object, as `surmise solve --save` writes it and `strategy:FILE` reads it. The strategy may be long, so
    /// it is put into text an entry at a time.
    pub fn to_json(&self) -> String {
        self.json_with(None)
    }

    /// The same with figures for each information set: how often it arises, what each move is worth, and whether the
    /// choice matters.
    pub(crate) fn json_with(&self, figures: Option<&Figures>) -> String {
        let value = |(player, v): (usize, &f64)| (self.role(player).to_owned(), json!(v));
        let by_role = |values: &[f64]| -> Map<String, Value> { values.iter().enumerate().map(value).collect() };
        let iterations = match self.how {
            How::Lp(steps) => u64::from(steps),
            How::Iterated(_, iterations) => iterations,
            How::Optimum => 1,
            How::Committed(_, programs) => programs,
            How::Read(_) | How::Asked(_) | How::Responded(..) => 0,
        };
        let (tree, sim) = (&self.tree.tree, self.tree.sim.as_ref());
        let head = json!({
            "version": 1,
            "game": self.tree.game.name(),
            "roles": sim.roles(),
            "algorithm": self.algorithm(),
            "seed": self.seed,
            "value": by_role(&self.values),
            "best_response": by_role(&self.best),
            "nash_conv": self.nash_conv(),
            "payoff_range": self.payoff_range(),
            "equilibrium_promised": self.is_promised(),
            "iterations": iterations,
            "seconds": self.seconds,
            "build_seconds": self.tree.seconds,
            "infosets": tree.infosets().len(),
            "histories": tree.histories,
        });
        let mut out = head.to_string();
        out.pop();
        out.push_str(",\"strategy\":[");
        for (number, set) in tree.infosets().iter().enumerate() {
            if number > 0 {
                out.push(',');
            }
            let mut entry = strategy::entry(tree, sim, set, &self.policy);
            if let Some(figures) = figures {
                figures.add_to(&mut entry, tree, sim, number);
            }
            let _ = write!(out, "{entry}");
        }
        out.push_str("]}\n");
        out
    }
}
