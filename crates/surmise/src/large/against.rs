//! Responses to a model of the other role in games that are too large for a tree.

use super::{LargeHow, LargeOptions, LargeSolution, LargeSolving, LargeStep};
use crate::exploit::{self, AgainstOptions, ModelReport, ModelSpec, read_records};
use crate::{Error, Method, Unsuitable};
use solve::{LargeAlgorithm, LargeSolver, Profile, ProfileBuilder};
use std::time::{Duration, Instant};

/// What a role can gain against a model, and what it risks.
pub struct Exploitation {
    /// The player that responds.
    pub player: usize,
    /// One point for each weight that was done.
    pub points: Vec<ExploitationPoint>,
    /// What the model was made of.
    pub model: ModelReport,
    /// The response of the last point, and the model.
    pub response: Option<Profile>,
}

/// A response to a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExploitationPoint {
    /// Probability with which the other role is taken to follow the model.
    pub weight: f64,
    /// Points against the model.
    pub against_model: f64,
    /// Points against the other role's best response; none if goals do not sum to a constant.
    pub worst_case: Option<f64>,
    /// Iterations, or steps of the linear program.
    pub iterations: u64,
}

/// Iterations if nothing is said.
const USUAL_ITERATIONS: u64 = 300;

/// A model on the graphs of a game.
struct LargeModel {
    profile: Profile,
    /// For models from records: how often the information set of each sequence of the player was seen.
    observed: Option<Vec<f32>>,
    report: ModelReport,
}

impl LargeSolving<'_> {
    /// What a role can gain against a model of the other role, and what it risks, for each weight: the probability with
    /// which the other role is taken to follow the model. Responses are approached by iterations; what they gain and
    /// risk is exact.
    ///
    /// # Errors
    /// If there is no such role, the goals of two roles do not sum to a constant, the model does not belong to the
    /// game, there is too little memory, or the work was stopped before the first weight was done.
    pub fn against(
        &self,
        model: &ModelSpec,
        against: &AgainstOptions,
        options: &LargeOptions,
        progress: &mut dyn FnMut(LargeStep),
    ) -> Result<Exploitation, Error> {
        against.check()?;
        let n = self.large.players().len();
        let names: Vec<String> = (0..n).map(|p| self.role(p).to_owned()).collect();
        let player = against.player(&names)?;
        let sum = self.large.constant_sum().filter(|_| n == 2);
        let sum = f64::from(sum.ok_or_else(|| exploit::not_for_this_game(n))?);
        let sizes = self.large.sizes();
        let needed = sizes.solving_bytes + 16 * sizes.slots.iter().sum::<u64>();
        self.fits(needed, "a response to a model", options.bytes)?;
        let model = self.model(model, 1 - player, options)?;
        let mut found = Exploitation {
            player,
            points: Vec::new(),
            model: model.report.clone(),
            response: None,
        };
        for &weight in &against.weights {
            let Some((response, iterations)) = self.respond(&model, player, weight, options, progress)? else {
                break;
            };
            let rate = |profile: &Profile| self.large.rate(profile, options.threads, &options.stop, &mut |_| {});
            let (free, bound) = (rate(&response), rate(&response.with(1 - player, &model.profile)));
            if !free.complete || !bound.complete {
                break;
            }
            found.points.push(ExploitationPoint {
                weight,
                against_model: bound.values[player],
                worst_case: Some(sum - free.best[1 - player].0),
                iterations,
            });
            found.response = Some(response.with(1 - player, &model.profile));
        }
        match found.points.is_empty() {
            true => Err(Error::Stopped {
                progress: "no response to the model was complete".to_owned(),
            }),
            false => Ok(found),
        }
    }

    /// The response with one weight, and its iterations; none if the work was stopped.
    fn respond(
        &self,
        model: &LargeModel,
        player: usize,
        weight: f64,
        options: &LargeOptions,
        progress: &mut dyn FnMut(LargeStep),
    ) -> Result<Option<(Profile, u64)>, Error> {
        // Restarts are judged by NashConv, which says nothing of a restricted game.
        let algorithm = match options.method {
            Method::Auto => LargeAlgorithm::Predictive,
            _ => options.algorithm()?,
        };
        let mut solver = LargeSolver::new(&self.large, algorithm, options.threads);
        match &model.observed {
            None => solver.restrict(1 - player, &model.profile, weight),
            Some(observed) => {
                let policy = model.profile.policy(&self.large, 1 - player);
                let trusted = policy.iter().zip(observed);
                let trusted = trusted.map(|(p, n)| p * exploit::trust(weight, f64::from(*n)) as f32);
                solver.bias(1 - player, trusted.collect());
            }
        }
        let started = Instant::now();
        let most = options.iterations.unwrap_or(USUAL_ITERATIONS);
        let time = options.time.unwrap_or(Duration::MAX);
        while solver.iterations() < most && started.elapsed() < time {
            let done = solver.iterations();
            if !solver.iterate(&options.stop, &mut |share| progress(LargeStep::Iterations(done, share))) {
                return Ok(None);
            }
        }
        Ok(Some((solver.average(), solver.iterations())))
    }

    fn model(&self, spec: &ModelSpec, player: usize, options: &LargeOptions) -> Result<LargeModel, Error> {
        let mut report = ModelReport {
            sets: self.large.sizes().infosets[player],
            ..ModelReport::default()
        };
        let (profile, observed) = match spec {
            ModelSpec::Uniform => (Profile::uniform(&self.large), None),
            ModelSpec::File(path) => {
                let given = self.read_policy(path)?;
                report.unknown = given.unknown(player);
                (given.finish().0, None)
            }
            ModelSpec::Player(spec) => {
                if spec.learned().is_none() {
                    return Err(spec.unsuitable(Unsuitable::NeedsTree));
                }
                let given = self.learned_policy(spec.text())?;
                report.unknown = given.unknown(player);
                (given.finish().0, None)
            }
            ModelSpec::Records(folder) => {
                let role = self.large.players()[player];
                let seen = read_records(self.game.engine(), folder, role, &options.stop)?;
                report.records = seen.records;
                let mut builder = ProfileBuilder::new(&self.large);
                let mut observed = vec![0.0; self.large.sizes().sequences[player] as usize];
                let mut sim = self.game.simulator();
                let mut sets = 0;
                for set in &seen.sets {
                    let view = self.game.view(sim.as_mut(), role, &set.view)?;
                    // A single legal move is no choice.
                    let Ok(place) = builder.place(player, &view.rounds) else {
                        continue;
                    };
                    let total: u64 = set.moves.values().sum();
                    let moves = set.moves.iter().filter_map(|(text, n)| {
                        let mv = sim.find_move(role, text)?;
                        Some((mv, *n as f64 / total as f64))
                    });
                    let moves: Vec<_> = moves.collect();
                    builder
                        .insert(player, &view.rounds, &moves)
                        .map_err(|error| Error::format(folder, format!("a record does not fit the rules: {error}")))?;
                    observed[place].fill(total as f32);
                    report.decisions += total;
                    sets += 1;
                }
                report.unknown = report.sets - sets;
                (builder.finish().0, Some(observed))
            }
        };
        Ok(LargeModel {
            profile,
            observed,
            report,
        })
    }

    /// The bytes of a file that `strategy:FILE` plays: a response, and the model.
    ///
    /// # Errors
    /// If views leave out rounds that tell something.
    pub fn response_bytes(
        &self,
        model: &ModelSpec,
        response: &Profile,
        options: &LargeOptions,
    ) -> Result<Vec<u8>, Error> {
        let rating = self.large.rate(response, options.threads, &options.stop, &mut |_| {});
        self.to_bytes(&LargeSolution {
            how: LargeHow::Given(format!("response to {model}"), 0),
            profile: response.clone(),
            rating,
            rated_after: 0,
            seconds: 0.0,
            curve: Vec::new(),
            entries: 0,
            unsaved: None,
        })
    }
}
