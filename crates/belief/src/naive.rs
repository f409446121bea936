//! Random games until one matches the view: the baseline.
//!
//! M. Schofield and M. Thielscher, *The Efficiency of the HyperPlay Technique Over Random Sampling*, AAAI 2017, "Random
//! Sampling"; also the naive sampling of Partridge and Thielscher (2022). Every game starts in the initial state; our
//! moves are the executed ones, every other move is uniform. A game with other percepts than the view is rejected. The
//! accepted games are exact, independent samples of the posterior with equal weights.
//!
//! Differences: games are begun in waves, so that lanes can play them. Each game has its own stream of random numbers,
//! so the size of a wave does not change the samples. Sampling ends after a number of attempts.

use crate::driver::SamplingMethod;
use crate::work::{Clue, Work};
use crate::{FirstTries, Joint, Model, Options, SamplerKind};
use game::{Fault, Rng, Seed, State};

pub(crate) struct Naive {
    n_models: usize,
    attempts: u64,
    seed: Seed,
    start: State,
    again: u32,
    found: Vec<Model>,
    first_tries: Vec<FirstTries>,
}

/// Games played side by side. Counters depend on this number, samples do not.
const WAVE: u64 = 256;

impl Naive {
    pub(crate) fn new(options: &Options, seed: Seed) -> Naive {
        Naive {
            n_models: options.models,
            attempts: options.attempts,
            seed: seed.child("naive"),
            start: State::default(),
            again: 0,
            found: Vec::new(),
            first_tries: Vec::new(),
        }
    }

    /// Plays a wave of games and keeps those that explain all clues.
    fn wave(
        &self,
        work: &mut Work,
        clues: &[Clue],
        seed: Seed,
        first: u64,
        tries: &mut [FirstTries],
    ) -> Result<Vec<Model>, Fault> {
        let mut games: Vec<Attempt> = (first..first + WAVE)
            .map(|n| Attempt::new(&self.start, seed.nth(n).rng()))
            .collect();
        for (clue, tries) in clues.iter().zip(tries) {
            games = step(work, games, clue, tries)?;
        }
        let states: Vec<&State> = games.iter().map(|g| &g.model.state).collect();
        let fits = work.fits_now(&states)?;
        let fitting = games.into_iter().zip(fits).filter(|(_, fits)| *fits);
        Ok(fitting.map(|(game, _)| game.model).collect())
    }
}

struct Attempt {
    model: Model,
    rng: Rng,
}

impl Attempt {
    fn new(start: &State, rng: Rng) -> Attempt {
        let model = Model {
            history: Vec::new(),
            state: start.clone(),
            log_choice: 0.0,
            weight: 1.0,
        };
        Attempt { model, rng }
    }
}

/// Moves every game on by one round. Games with other percepts are dropped.
fn step(work: &mut Work, mut games: Vec<Attempt>, clue: &Clue, tries: &mut FirstTries) -> Result<Vec<Attempt>, Fault> {
    let states: Vec<&State> = games.iter().map(|g| &g.model.state).collect();
    let fans = work.fans(&states, clue)?;
    drop(states);
    let mut candidates: Vec<(u32, Joint)> = Vec::new();
    for (number, (game, fan)) in games.iter_mut().zip(&fans).enumerate() {
        if fan.len() > 0 {
            candidates.push((number as u32, fan.joint(game.rng.below(fan.len()))));
        }
    }
    tries.tried += games.len() as u64;
    work.touches += candidates.len() as u64;
    let mut next: Vec<Option<State>> = vec![None; candidates.len()];
    let states: Vec<&State> = games.iter().map(|g| &g.model.state).collect();
    work.try_all(&states, &candidates, clue, &mut |n, state| next[n] = Some(state))?;
    let mut moved: Vec<Option<(Joint, State)>> = vec![None; games.len()];
    for ((number, joint), state) in candidates.into_iter().zip(next) {
        moved[number as usize] = state.map(|state| (joint, state));
    }
    let mut left = Vec::new();
    for ((mut game, moved), fan) in games.into_iter().zip(moved).zip(fans) {
        if let Some((joint, state)) = moved {
            game.model.history.push(joint);
            game.model.state = state;
            game.model.log_choice += fan.log_choice;
            left.push(game);
        }
    }
    tries.fit += left.len() as u64;
    Ok(left)
}

impl SamplingMethod for Naive {
    fn kind(&self) -> SamplerKind {
        SamplerKind::Naive
    }

    fn reset(&mut self, start: &State, again: u32) {
        self.start = start.clone();
        self.again = again;
        self.first_tries.clear();
        self.found = vec![Attempt::new(start, self.seed.rng()).model; self.n_models];
    }

    fn advance(&mut self, work: &mut Work, clues: &[Clue]) -> Result<usize, Fault> {
        let seed = self.seed.nth(u64::from(self.again)).nth(clues.len() as u64);
        let mut tries = vec![FirstTries::default(); clues.len()];
        let mut found: Vec<Model> = Vec::new();
        let mut begun = 0;
        while found.len() < self.n_models && begun < self.attempts && !(work.is_out() && begun > 0) {
            found.extend(self.wave(work, clues, seed, begun, &mut tries)?);
            begun += WAVE;
        }
        found.truncate(self.n_models);
        self.first_tries = tries;
        if found.is_empty() {
            // A relaxed clue can be explained by the models of the round before, moved on by one step.
            found = self.one_step_on(work, clues, seed)?;
        }
        if !found.is_empty() {
            self.found = found;
            return Ok(self.found.len());
        }
        Ok(0)
    }

    fn models(&mut self, _work: &mut Work, _clues: &[Clue]) -> Result<Vec<Model>, Fault> {
        Ok(self.found.clone())
    }

    fn may_do_better_again(&self) -> bool {
        // It always starts from the beginning.
        false
    }

    fn first_tries(&self) -> &[FirstTries] {
        &self.first_tries
    }
}

impl Naive {
    /// Moves the models of the round before on by one step: the last resort when no game from the start got so far.
    fn one_step_on(&self, work: &mut Work, clues: &[Clue], seed: Seed) -> Result<Vec<Model>, Fault> {
        let Some(clue) = clues.last() else {
            return Ok(Vec::new());
        };
        let games = self.found.iter().enumerate();
        let games = games
            .filter(|(_, m)| m.history.len() + 1 == clues.len())
            .map(|(n, model)| Attempt {
                model: model.clone(),
                rng: seed.child("on").nth(n as u64).rng(),
            });
        let moved = step(work, games.collect(), clue, &mut FirstTries::default())?;
        let states: Vec<&State> = moved.iter().map(|g| &g.model.state).collect();
        let fits = work.fits_now(&states)?;
        let fitting = moved.into_iter().zip(fits).filter(|(_, fits)| *fits);
        Ok(fitting.map(|(game, _)| game.model).collect())
    }
}
