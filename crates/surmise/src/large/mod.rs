//! Rating and solving games that are too large for a tree.

mod against;
mod checkpoint;
pub mod compact;
mod sampled;
pub(crate) mod table;
mod walked;

pub use against::{Exploitation, ExploitationPoint};

use crate::{Error, Game, Method, PlayerSpec, Unsuitable};
use checkpoint::Checkpoints;
use game::{Simulator, StopFlag};
use serde_json::{Map, Value, json};
use solve::{
    Algorithm, LargeAlgorithm, LargeError, LargeGame, LargeLimits, LargeProgress, LargeRating, LargeSampling,
    LargeSizes, LargeSolver, Profile, ProfileBuilder, RoundsInViews, StatesSoFar, is_rated,
};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How a large game is rated or solved.
#[derive(Clone, Debug)]
pub struct LargeOptions {
    /// Whether silent rounds are part of views.
    pub rounds: RoundsInViews,
    /// Bytes of memory that the arrays may take.
    pub bytes: u64,
    /// Distinct states that the game may have.
    pub states: usize,
    /// Whether symmetries of the game are looked for and used.
    pub symmetry: bool,
    /// Algorithm: [`Method::Auto`] is discounted CFR with restarts.
    pub method: Method,
    /// Iterations at most.
    pub iterations: Option<u64>,
    /// Time at most, finding states and views not counted.
    pub time: Option<Duration>,
    /// NashConv, in points, at which to stop. Without this, iterations and time: a thousandth of the payoffs' range.
    pub until: Option<f64>,
    /// File from which to go on if it is there, and to which the work is saved now and then.
    pub checkpoint: Option<PathBuf>,
    /// Seed of algorithms that sample.
    pub seed: u64,
    /// Threads. The result does not depend on them.
    pub threads: usize,
    /// Ends the work.
    pub stop: StopFlag,
}

impl Default for LargeOptions {
    fn default() -> Self {
        LargeOptions {
            rounds: RoundsInViews::Auto,
            bytes: LargeLimits::default().bytes,
            states: LargeLimits::default().states,
            symmetry: true,
            method: Method::Auto,
            iterations: None,
            time: None,
            until: None,
            checkpoint: None,
            seed: 1,
            threads: 1,
            stop: StopFlag::default(),
        }
    }
}

impl LargeOptions {
    /// How samples are drawn, if the algorithm is one that samples.
    fn sampling(&self) -> Option<LargeSampling> {
        match self.method {
            Method::Iterate(Algorithm::External) => Some(LargeSampling::External),
            Method::Iterate(Algorithm::Outcome) => Some(LargeSampling::Outcome),
            _ => None,
        }
    }

    /// The algorithm that works in passes. Discounted CFR with restarts is the usual one: docs/solving.md says why.
    fn algorithm(&self) -> Result<LargeAlgorithm, Error> {
        match self.method {
            Method::Auto => Ok(LargeAlgorithm::default()),
            Method::Iterate(Algorithm::Discounted) => Ok(LargeAlgorithm::Discounted),
            Method::Graph(algorithm) => Ok(algorithm),
            _ => Err(Error::Option {
                option: "algorithm",
                must: "must be auto, restarting, pcfr+, pdcfr+, discounted, external or outcome for a game too \
                       large for a tree"
                    .to_owned(),
            }),
        }
    }
}

/// What the work is at.
#[derive(Clone, Debug)]
pub enum LargeStep {
    /// States are being found.
    States(StatesSoFar),
    /// States are merged, views found.
    Views,
    /// Share of a rating that is done.
    Rating(f64),
    /// Iterations that are complete, and the share of the next one that is done.
    Iterations(u64, f64),
    /// Iterations, and NashConv after them.
    Rated(u64, f64),
    /// A checkpoint was written.
    Saved(PathBuf),
    /// A checkpoint could not be written, for this reason; the work goes on.
    SaveFailed(String),
    /// There was no time for the last checkpoint; an older one was kept.
    NotSaved(PathBuf),
}

/// A game as graphs of states and views, with the simulator that names its moves.
pub struct LargeSolving<'g> {
    game: &'g Game,
    /// The graphs.
    pub large: LargeGame,
    /// Names of moves and percepts.
    pub sim: Box<dyn Simulator>,
    /// Seconds that building took.
    pub seconds: f64,
}

/// How strategies came about.
#[derive(Clone, Debug, PartialEq)]
pub enum LargeHow {
    /// By an algorithm of this name, in so many iterations.
    Iterated(&'static str, u64),
    /// A policy that was given, which does not know so many information sets.
    Given(String, u64),
}

/// A point of the curve of exploitability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// Iterations so far.
    pub iterations: u64,
    /// Seconds of iterating so far, ratings not counted.
    pub seconds: f64,
    /// NashConv in points.
    pub nash_conv: f64,
}

/// Strategies for all roles of a large game, and what they are worth.
pub struct LargeSolution {
    /// How they came about.
    pub how: LargeHow,
    /// The strategies.
    pub profile: Profile,
    /// What they are worth. If the work was stopped: the last rating that was completed, or bounds.
    pub rating: LargeRating,
    /// Iterations after which the rating was made.
    pub rated_after: u64,
    /// Seconds of iterating or rating.
    pub seconds: f64,
    /// NashConv over time.
    pub curve: Vec<CurvePoint>,
    /// Entries that were visited: the measure of the work.
    pub entries: u64,
    /// Why the last checkpoint could not be written.
    pub unsaved: Option<Error>,
}

impl Game {
    /// Finds states and views of a game with one or two roles.
    ///
    /// # Errors
    /// If the game does not fit, or the work was stopped.
    pub fn large(
        &self,
        options: &LargeOptions,
        progress: &mut dyn FnMut(LargeStep),
    ) -> Result<LargeSolving<'_>, Error> {
        let started = Instant::now();
        let mut sim = self.simulator();
        let limits = LargeLimits {
            bytes: options.bytes,
            states: options.states,
            symmetry: options.symmetry,
            threads: options.threads,
            stop: options.stop.clone(),
        };
        let large = LargeGame::build(sim.as_mut(), options.rounds, &limits, &mut |step| {
            progress(match step {
                LargeProgress::States(so_far) => LargeStep::States(so_far),
                LargeProgress::Views => LargeStep::Views,
            });
        })?;
        Ok(LargeSolving {
            game: self,
            large,
            sim,
            seconds: started.elapsed().as_secs_f64(),
        })
    }
}

impl LargeSolving<'_> {
    fn fits(&self, needed: u64, what: &str, limit: u64) -> Result<(), Error> {
        match needed > limit {
            true => Err(Error::Large(LargeError::Memory {
                what: what.to_owned(),
                needed,
                limit,
            })),
            false => Ok(()),
        }
    }

    /// What a policy is worth: `uniform`; a file that [`LargeSolving::to_bytes`] or `surmise solve --save` wrote, or a
    /// table in JSON lines; or the table of a trained player, `cfr:net=DIR`.
    ///
    /// # Errors
    /// If the policy does not belong to the game, or there is too little memory.
    pub fn rate(
        &self,
        what: &str,
        options: &LargeOptions,
        progress: &mut dyn FnMut(LargeStep),
    ) -> Result<LargeSolution, Error> {
        let sizes = self.large.sizes();
        self.fits(sizes.rating_bytes, "rating a policy", options.bytes)?;
        let started = Instant::now();
        let (profile, missing) = match what {
            "uniform" => (Profile::uniform(&self.large), 0),
            what => {
                self.fits(
                    sizes.rating_bytes + 4 * sizes.sequences.iter().sum::<u64>(),
                    "reading a policy",
                    options.bytes,
                )?;
                match policy_file(what) {
                    Some(path) => self.read_policy(path)?.finish(),
                    None => self.learned_policy(what)?.finish(),
                }
            }
        };
        let rating = match &options.checkpoint {
            None => self.large.rate(&profile, options.threads, &options.stop, &mut |share| {
                progress(LargeStep::Rating(share));
            }),
            Some(path) => self.rate_on(&profile, path, options, progress)?,
        };
        Ok(LargeSolution {
            how: LargeHow::Given(what.to_owned(), missing),
            entries: rating.entries,
            rating,
            rated_after: 0,
            profile,
            seconds: started.elapsed().as_secs_f64(),
            curve: Vec::new(),
            unsaved: None,
        })
    }

    /// A rating that goes on from a file if it is there, and is saved to it now and then and at its end.
    fn rate_on(
        &self,
        profile: &Profile,
        path: &Path,
        options: &LargeOptions,
        progress: &mut dyn FnMut(LargeStep),
    ) -> Result<LargeRating, Error> {
        let work = self.large.rating_work(profile);
        if path.exists() {
            checkpoint::restore_rating(&work, path)?;
        }
        let (mut saved, mut failed) = (Instant::now(), None);
        let (threads, stop) = (options.threads, &options.stop);
        let rating = self.large.rate_on(profile, &work, threads, stop, &mut |share| {
            if saved.elapsed() > checkpoint::BETWEEN {
                failed = failed.take().or(checkpoint::save_rating(&work, path).err());
                saved = Instant::now();
            }
            progress(LargeStep::Rating(share));
        });
        checkpoint::save_rating(&work, path)?;
        match failed {
            Some(error) => Err(error),
            None => Ok(rating),
        }
    }

    /// The table of a trained player. Where it knows nothing, moves are random.
    fn learned_policy(&self, player: &str) -> Result<ProfileBuilder<'_>, Error> {
        let spec = PlayerSpec::parse(player)?;
        let learned = spec
            .learned()
            .ok_or_else(|| spec.unsuitable(Unsuitable::NothingLearned))?;
        let horizon = learned.horizon(self.game.engine())?;
        let mut builder = ProfileBuilder::new(&self.large);
        for (player, &role) in self.large.players().iter().enumerate() {
            let start = learn::ViewKey::start(usize::from(role.0));
            let asked = builder.fill(player, start, &learn::ViewKey::after, &mut |key, n| {
                horizon.learned(key, n)
            });
            if !asked {
                return Err(Error::Option {
                    option: "--rounds",
                    must: "must be counted to rate a trained player: its views have all rounds".to_owned(),
                });
            }
        }
        Ok(builder)
    }

    fn read_policy(&self, path: &Path) -> Result<ProfileBuilder<'_>, Error> {
        let mut builder = ProfileBuilder::new(&self.large);
        if !compact::is_compact(path) {
            table::read(path, self.sim.as_ref(), self.large.players(), &mut builder)?;
            return Ok(builder);
        }
        let saved = compact::read(path)?;
        let other = |wrong: String| Error::OtherGame {
            path: path.to_owned(),
            wrong: format!("the strategy is for {}, and {wrong}", saved.game),
        };
        if saved.roles != self.sim.roles() {
            return Err(other(format!(
                "its roles are {}, not {}",
                saved.roles.join(", "),
                self.sim.roles().join(", ")
            )));
        }
        for (player, &role) in self.large.players().iter().enumerate() {
            let name = &self.sim.roles()[usize::from(role.0)];
            let Some(strategy) = saved.strategies.get(name) else {
                continue;
            };
            let views = compact::views_of(&self.large, self.sim.as_ref(), player, role);
            if !strategy.is_for(&views) || !builder.set_all(player, strategy.probabilities().to_vec()) {
                return Err(other(format!("the views of {name} are others than here")));
            }
        }
        Ok(builder)
    }

    /// Finds strategies for all roles.
    ///
    /// # Errors
    /// If the options do not fit the game, there is too little memory, or a checkpoint cannot be used.
    pub fn solve(&self, options: &LargeOptions, progress: &mut dyn FnMut(LargeStep)) -> Result<LargeSolution, Error> {
        if let Some(sampling) = options.sampling() {
            return self.sample(sampling, options, progress);
        }
        let algorithm = options.algorithm()?;
        self.fits(self.large.sizes().solving_bytes, "solving", options.bytes)?;
        if let Some(path) = &options.checkpoint {
            // Hours of work must not end with a folder that is not there.
            checkpoint::try_out(path)?;
        }
        let mut solver = LargeSolver::new(&self.large, algorithm, options.threads);
        if let Some(path) = options.checkpoint.as_ref().filter(|path| path.exists()) {
            checkpoint::restore(&mut solver, path)?;
        }
        let mut run = LargeRun {
            solver,
            options,
            checkpoints: options.checkpoint.as_deref().map(Checkpoints::new),
            iterating: Duration::ZERO,
            curve: Vec::new(),
        };
        let (rating, rated_after) = run.run(self.default_until(options), progress);
        let unsaved = run.save_last(progress).err();
        let LargeRun {
            solver,
            iterating,
            curve,
            ..
        } = run;
        Ok(LargeSolution {
            how: LargeHow::Iterated(algorithm.name(), solver.iterations()),
            profile: solver.best(),
            rating,
            rated_after,
            seconds: iterating.as_secs_f64(),
            curve,
            entries: solver.entries,
            unsaved,
        })
    }

    /// NashConv at which to stop.
    fn default_until(&self, options: &LargeOptions) -> Option<f64> {
        let unlimited = options.iterations.is_none() && options.time.is_none();
        let range = self.large.range(0);
        let default = f64::from(range.1 - range.0).max(1.0) / 1000.0;
        options.until.or(unlimited.then_some(default))
    }

    /// Name of the game.
    pub fn game(&self) -> &Game {
        self.game
    }

    /// The role of a player.
    pub fn role(&self, player: usize) -> &str {
        &self.sim.roles()[usize::from(self.large.players()[player].0)]
    }

    /// One JSON object with everything but the strategies.
    pub fn to_json(&self, solution: &LargeSolution) -> Value {
        let by_role = |of: &dyn Fn(usize) -> Value| -> Map<String, Value> {
            let players = 0..self.large.players().len();
            players
                .map(|player| (self.role(player).to_owned(), of(player)))
                .collect()
        };
        let rating = &solution.rating;
        let (algorithm, iterations, missing) = match &solution.how {
            LargeHow::Iterated(algorithm, iterations) => (*algorithm, *iterations, 0),
            LargeHow::Given(what, missing) => (what.as_str(), 0, *missing),
        };
        let point =
            |p: &CurvePoint| json!({"iterations": p.iterations, "seconds": p.seconds, "nash_conv": p.nash_conv});
        json!({
            "version": 1,
            "game": self.game.name(),
            "roles": self.sim.roles(),
            "algorithm": algorithm,
            "complete": rating.complete,
            "value": by_role(&|p| json!(rating.values[p])),
            "best_response": by_role(&|p| json!(rating.best[p].0)),
            "best_response_high": by_role(&|p| json!(rating.best[p].1)),
            "nash_conv": rating.nash_conv(),
            "exploitability": rating.nash_conv() / 2.0,
            "equilibrium_promised": self.large.constant_sum().is_some(),
            "iterations": iterations,
            "rated_after": solution.rated_after,
            "unknown_infosets": missing,
            "seconds": solution.seconds,
            "build_seconds": self.seconds,
            "entries": solution.entries,
            "curve": solution.curve.iter().map(point).collect::<Vec<_>>(),
            "sizes": sizes_json(self.large.sizes()),
            "rounds_in_views": if self.large.is_faithful() { "counted" } else { "dropped" },
        })
    }

    /// The bytes of a file that `strategy:FILE` plays and `--rate` reads.
    ///
    /// # Errors
    /// If views leave out rounds that tell something: nobody could follow such views in play.
    pub fn to_bytes(&self, solution: &LargeSolution) -> Result<Vec<u8>, Error> {
        if !self.large.is_faithful() {
            return Err(Error::Option {
                option: "--save",
                must: "needs views that count rounds: a strategy for others cannot be played".to_owned(),
            });
        }
        let players = 0..self.large.players().len();
        let policies: Vec<Vec<f32>> = players.map(|p| solution.profile.policy(&self.large, p)).collect();
        let mut about = Map::new();
        if let Value::Object(fields) = self.to_json(solution) {
            let kept = ["algorithm", "value", "best_response", "nash_conv", "iterations"];
            about.extend(fields.into_iter().filter(|(name, _)| kept.contains(&name.as_str())));
        }
        Ok(compact::to_bytes(
            self.game.name(),
            &self.large,
            self.sim.as_ref(),
            &policies,
            about,
        ))
    }
}

/// Whether a file holds a strategy of a large game as `surmise solve --save` writes it.
pub fn is_compact_strategy(path: &Path) -> bool {
    compact::is_compact(path)
}

/// The file of a policy, if it is one.
pub fn policy_file(what: &str) -> Option<&Path> {
    match what.strip_prefix("strategy:") {
        Some(path) => Some(Path::new(path)),
        None => Some(Path::new(what)).filter(|path| path.is_file()),
    }
}

fn sizes_json(sizes: &LargeSizes) -> Value {
    json!({
        "states": sizes.states,
        "merged_states": sizes.merged_states,
        "joint_moves": sizes.edges,
        "classes": sizes.classes,
        "pairs": sizes.pairs,
        "infosets": sizes.infosets,
        "sequences": sizes.sequences,
        "slots": sizes.slots,
        "symmetries": sizes.symmetries,
        "infosets_up_to_symmetry": sizes.infosets_up_to_symmetry,
        "histories": sizes.histories,
        "deciding_histories": sizes.deciding,
        "complete_histories": sizes.complete,
        "rating_bytes": sizes.rating_bytes,
        "solving_bytes": sizes.solving_bytes,
    })
}

/// A solver at work.
struct LargeRun<'a> {
    solver: LargeSolver<'a>,
    options: &'a LargeOptions,
    checkpoints: Option<Checkpoints>,
    iterating: Duration,
    curve: Vec<CurvePoint>,
}

impl LargeRun<'_> {
    /// Iterates until some limit is reached. Returns what the best strategies are worth, and the iterations after which
    /// strategies were rated last.
    fn run(&mut self, until: Option<f64>, progress: &mut dyn FnMut(LargeStep)) -> (LargeRating, u64) {
        let most = self.options.iterations.unwrap_or(u64::MAX);
        let time = self.options.time.unwrap_or(Duration::MAX);
        let stop = &self.options.stop;
        let mut last: Option<(LargeRating, u64)> = None;
        while self.solver.iterations() < most && self.iterating < time && !stop.is_raised() {
            let before = Instant::now();
            let done = self.solver.iterations();
            let complete = self
                .solver
                .iterate(stop, &mut |share| progress(LargeStep::Iterations(done, share)));
            self.iterating += before.elapsed();
            if !complete {
                break;
            }
            // Ratings are made after iterations that depend on nothing else, so that the result does not either.
            if is_rated(self.solver.iterations()) {
                self.rate(&mut last, progress);
                let reached = last
                    .as_ref()
                    .is_some_and(|(rating, _)| until.is_some_and(|u| rating.nash_conv() <= u));
                if reached {
                    break;
                }
            }
            if let Err(error) = self.save(progress) {
                // The disk may have room again later.
                progress(LargeStep::SaveFailed(error.to_string()));
            }
        }
        if last.as_ref().is_none_or(|(_, after)| *after < self.solver.iterations()) {
            self.rate(&mut last, progress);
        }
        match last {
            Some(last) => last,
            None => (self.solver.rate(stop, &mut |_| {}), self.solver.iterations()),
        }
    }

    /// Rates the average and the last strategies, of which the best so far are kept. A rating that was stopped is not
    /// kept if there is an earlier one.
    fn rate(&mut self, last: &mut Option<(LargeRating, u64)>, progress: &mut dyn FnMut(LargeStep)) {
        let iterations = self.solver.iterations();
        let stop = &self.options.stop;
        let rating = self
            .solver
            .keep_best(stop, &mut |share| progress(LargeStep::Rating(share)));
        let is_new = rating.complete && !stop.is_raised();
        if is_new {
            let nash_conv = rating.nash_conv();
            progress(LargeStep::Rated(iterations, nash_conv));
            self.curve.push(CurvePoint {
                iterations,
                seconds: self.iterating.as_secs_f64(),
                nash_conv,
            });
        }
        if is_new || last.is_none() {
            *last = Some((rating, iterations));
        }
    }

    /// Saves the work if it is time to.
    fn save(&mut self, progress: &mut dyn FnMut(LargeStep)) -> Result<(), Error> {
        let stop = &self.options.stop;
        if let Some(checkpoints) = self.checkpoints.as_mut().filter(|c| c.is_due())
            && checkpoints.save(&self.solver, &|| stop.is_raised())?
        {
            progress(LargeStep::Saved(checkpoints.path().to_owned()));
        }
        Ok(())
    }

    /// Saves the work at the end.
    fn save_last(&mut self, progress: &mut dyn FnMut(LargeStep)) -> Result<(), Error> {
        let Some(checkpoints) = &mut self.checkpoints else {
            return Ok(());
        };
        let saved = match self.options.stop.is_raised() {
            true => checkpoints.save_in_a_hurry(&self.solver)?,
            false => checkpoints.save_last(&self.solver).map(|()| true)?,
        };
        let path = checkpoints.path().to_owned();
        progress(match saved {
            true => LargeStep::Saved(path),
            false => LargeStep::NotSaved(path),
        });
        Ok(())
    }
}
