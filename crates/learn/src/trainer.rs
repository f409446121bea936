//! Training, one generation at a time: games are played in parallel, their updates are applied in order, and the
//! network is trained meanwhile.
//!
//! The loop is algorithm 1 of Partridge and Thielscher (2022): play, add states with policies and values to the replay
//! buffer, train on 20 mini-batches. A game is a thousand times cheaper here, so the mini-batches are trained once for
//! each generation of games.

use crate::codec::Codec;
use crate::network::{Adam, Loss, NeuralNetwork, TrainingTarget};
use crate::selfplay::{Findings, SelfPlay};
use crate::shard::Shard;
use crate::table::RegretTable;
use crate::{LearnError, Method, Settings, Worker, paper};
use game::{Seed, StopFlag};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Games that one thread plays at a time.
const PORTION: u64 = 16;
/// Games of the first generation, when their length is still unknown.
const FIRST_GAMES: u64 = 16;
/// Approximate number of states that a generation visits.
const STATES_A_GENERATION: u64 = 400_000;
/// Smallest number of states of self-play for each mini-batch.
const STATES_A_BATCH: u64 = 1_500;
/// Updates of a view before its successors get entries.
const GROWN: u32 = 2;

/// A network, a table, and the state of their training.
#[derive(Clone, Debug)]
pub struct Trainer {
    /// The game.
    pub codec: Codec,
    /// The settings.
    pub settings: Settings,
    /// Regrets and average policies of views.
    pub table: RegretTable,
    /// The network, trained on values and on policies of the table.
    pub network: NeuralNetwork,
    pub(crate) adam: Adam,
    pub(crate) buffer: ReplayBuffer,
    /// Generations so far.
    pub generations: u64,
    /// Games so far.
    pub games: u64,
    /// States visited so far.
    pub states: u64,
    /// States visited by the last generation.
    pub(crate) latest: u64,
    /// Games of the last generation.
    pub(crate) latest_games: u64,
}

/// The replay buffer: the latest training targets.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReplayBuffer {
    pub targets: Vec<TrainingTarget>,
    /// Index of the next target once the buffer is full.
    pub next: usize,
}

impl ReplayBuffer {
    fn push(&mut self, target: TrainingTarget, most: usize) {
        if self.targets.len() < most {
            self.targets.push(target);
        } else {
            self.targets[self.next] = target;
        }
        self.next = (self.next + 1) % most;
    }
}

impl Trainer {
    /// A new training.
    pub fn new(codec: Codec, settings: Settings) -> Trainer {
        let width = settings.width.unwrap_or_else(|| codec.fluents.len().clamp(128, 512));
        let network = NeuralNetwork::new(codec.shape(width), Seed(settings.seed));
        Trainer {
            adam: Adam::new(network.parameters().len(), settings.rate),
            codec,
            table: RegretTable::default(),
            network,
            buffer: ReplayBuffer::default(),
            generations: 0,
            games: 0,
            states: 0,
            latest: 0,
            latest_games: 0,
            settings,
        }
    }

    /// Games of the next generation: fewer if games are long, so that a generation does not take minutes.
    fn next_games(&self) -> u64 {
        let most = self.settings.games;
        match self.latest {
            0 => most.min(FIRST_GAMES),
            states => (STATES_A_GENERATION * self.latest_games / states).clamp(1, most),
        }
    }

    /// One generation, on as many threads as there are workers. The result does not depend on the number of workers nor
    /// on their caches. If `stop` is raised before the end, the generation is discarded and there is no loss: training
    /// that is continued later gives the same bytes as training without a stop. Once `enough` is raised, games in
    /// progress are finished, and the generation ends.
    ///
    /// # Errors
    /// If a simulator fails.
    pub fn generation(
        &mut self,
        workers: &mut [Worker],
        stop: &StopFlag,
        enough: &StopFlag,
    ) -> Result<Option<Loss>, LearnError> {
        let games = self.next_games();
        let portion_size = self.portion_size();
        let portions = self.shards();
        let results: Vec<Mutex<Option<Result<Findings, LearnError>>>> =
            (0..portions).map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        // Games use the table and the network of the beginning of the generation.
        let method = self.settings.method;
        let before = match method {
            Method::Regrets => None,
            Method::Paper => Some(self.network.clone()),
        };
        let source = ShardSource {
            codec: &self.codec,
            table: &self.table,
            network: before.as_ref(),
            seed: Seed(self.settings.seed).child("games"),
            beginners: self.settings.beginners,
            games: self.games..self.games + games,
            portion_size,
        };
        let work = |worker: &mut Worker| {
            loop {
                let portion = next.fetch_add(1, Ordering::Relaxed);
                let Some(place) = results.get(portion).filter(|_| !stop.is_raised()) else {
                    return;
                };
                let found = source.play(portion, worker, enough);
                *place.lock().unwrap_or_else(|e| e.into_inner()) = Some(found);
            }
        };
        // The network is trained on the buffer of the beginning of the generation, while games are played.
        let (old_network, old_adam) = (self.network.clone(), self.adam.clone());
        let batches = self.batches();
        let (network, adam, buffer) = (&mut self.network, &mut self.adam, &self.buffer);
        let (settings, number) = (&self.settings, self.generations);
        let mut loss = Loss::default();
        let mut teach = || loss = train(network, adam, buffer, settings, number, batches);
        std::thread::scope(|scope| {
            let mut rest = workers.iter_mut();
            let own = rest.next();
            for worker in rest {
                scope.spawn(|| work(worker));
            }
            teach();
            own.into_iter().for_each(work);
        });
        let results = results
            .into_iter()
            .map(|r| r.into_inner().unwrap_or_else(|e| e.into_inner()));
        let Some(results) = results.collect::<Option<Vec<_>>>() else {
            (self.network, self.adam) = (old_network, old_adam);
            return Ok(None);
        };
        self.take_in_all(results.into_iter().collect::<Result<_, _>>()?);
        Ok(Some(loss))
    }

    /// Shards of the next generation, which other processes may play.
    pub fn shards(&self) -> usize {
        self.next_games().div_ceil(self.portion_size()) as usize
    }

    /// Games of a shard.
    fn portion_size(&self) -> u64 {
        match self.settings.method {
            Method::Regrets => PORTION.min(self.next_games().div_ceil(16)),
            Method::Paper => 1,
        }
    }

    /// Plays a shard of the next generation. It does not matter who does. Once the flag is raised, no game is begun: a
    /// shard with fewer games is no whole shard.
    ///
    /// # Errors
    /// If a simulator fails.
    pub fn shard(&self, number: usize, worker: &mut Worker, stop: &StopFlag) -> Result<Shard, LearnError> {
        let source = ShardSource {
            codec: &self.codec,
            table: &self.table,
            network: (self.settings.method == Method::Paper).then_some(&self.network),
            seed: Seed(self.settings.seed).child("games"),
            beginners: self.settings.beginners,
            games: self.games..self.games + self.next_games(),
            portion_size: self.portion_size(),
        };
        source.play(number, worker, stop).map(Shard)
    }

    /// Ends a generation whose games were played as shards, all of them in the order of their numbers. The result has
    /// the same bytes as that of [`Trainer::generation`].
    pub fn finish_generation(&mut self, shards: Vec<Shard>) -> Loss {
        let batches = self.batches();
        let (network, adam, buffer) = (&mut self.network, &mut self.adam, &self.buffer);
        let loss = train(network, adam, buffer, &self.settings, self.generations, batches);
        self.take_in_all(shards.into_iter().map(|shard| shard.0).collect());
        loss
    }

    /// Mini-batches of the next generation. For short games, more games improve the result faster than more
    /// mini-batches.
    fn batches(&self) -> usize {
        match self.settings.method {
            Method::Regrets => (self.latest / STATES_A_BATCH).clamp(1, self.settings.batches as u64) as usize,
            Method::Paper => self.settings.batches,
        }
    }

    /// Takes in the findings of a generation, in order, and counts it.
    fn take_in_all(&mut self, results: Vec<Findings>) {
        let (games, portion_size) = (self.next_games(), self.portion_size());
        let (before, games_before) = (self.states, self.games);
        for (number, found) in results.into_iter().enumerate() {
            let wanted = portion_size.min(games - number as u64 * portion_size);
            let whole = found.games == wanted;
            self.take_in(found);
            // Games after a gap will be played again by the next generation.
            if !whole {
                break;
            }
        }
        if self.games > games_before {
            (self.latest, self.latest_games) = (self.states - before, self.games - games_before);
        }
        self.generations += 1;
    }

    fn take_in(&mut self, found: Findings) {
        // Later generations count for more, as in linear CFR (Brown and Sandholm 2019).
        let weight = (self.generations + 1) as f32;
        for note in &found.notes {
            let numbers = &found.numbers[note.first as usize..][..note.n as usize];
            if note.before.is_some_and(|key| self.table.updates(key) < GROWN) {
                continue;
            }
            let Some(entry) = self.table.enter(note.key, numbers.len()) else {
                continue;
            };
            entry.updates = entry.updates.saturating_add(u32::from(note.regrets));
            let range = entry.first as usize..(entry.first + entry.n) as usize;
            let into = match note.regrets {
                true => &mut self.table.regrets[range],
                false => &mut self.table.totals[range],
            };
            into.iter_mut().zip(numbers).for_each(|(sum, x)| *sum += weight * x);
        }
        self.games += found.games;
        self.states += found.states;
        let most = self.settings.buffer;
        found.targets.into_iter().for_each(|t| self.buffer.push(t, most));
    }
}

/// What the games of a generation are played with.
struct ShardSource<'a> {
    codec: &'a Codec,
    table: &'a RegretTable,
    /// For the paper's method.
    network: Option<&'a NeuralNetwork>,
    seed: Seed,
    beginners: f32,
    /// Games of the generation.
    games: Range<u64>,
    portion_size: u64,
}

impl ShardSource<'_> {
    fn play(&self, portion: usize, worker: &mut Worker, enough: &StopFlag) -> Result<Findings, LearnError> {
        let first = self.games.start + portion as u64 * self.portion_size;
        let games = first..(first + self.portion_size).min(self.games.end);
        match self.network {
            Some(network) => paper::play(worker.sim.as_ref(), self.codec, network, games, self.seed, enough),
            None => SelfPlay::new(worker, self.table, self.beginners)
                .play(games, self.seed, enough)
                .map_err(LearnError::from),
        }
    }
}

/// The mini-batches of a generation.
fn train(
    network: &mut NeuralNetwork,
    adam: &mut Adam,
    buffer: &ReplayBuffer,
    settings: &Settings,
    generation: u64,
    n: usize,
) -> Loss {
    let mut mean = Loss::default();
    if buffer.targets.is_empty() {
        return mean;
    }
    let mut rng = Seed(settings.seed).child("batches").nth(generation).rng();
    for _ in 0..n {
        let batch: Vec<&TrainingTarget> = (0..settings.batch).map(|_| rng.pick(&buffer.targets)).collect();
        let loss = adam.step(network, &batch);
        mean.value += loss.value / n as f32;
        mean.policy += loss.policy / n as f32;
    }
    mean
}
