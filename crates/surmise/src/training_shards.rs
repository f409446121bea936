//! Training beyond one machine: shards of self-play in, weights out, on a folder that all machines share.
//!
//! One process leads ([`Game::train`](crate::Game::train) with `shared`). At the beginning of each generation it writes
//! the state of the training; any number of workers ([`Game::work_for`](crate::Game::work_for)) read it, play shards of
//! the generation and write what they found. The leader plays shards too, takes all of them in the order of their
//! numbers, and goes on. A shard is a function of the state and of its number, so the result has the same bytes as a
//! training by one process. A worker that dies leaves at most a claim behind; the leader plays such shards itself after
//! a while.
//!
//! | file of `shards/` | what |
//! |---|---|
//! | `state-G.safetensors` | the training at the beginning of generation G |
//! | `G-K.claim` | somebody plays shard K |
//! | `G-K.shard` | shard K |
//! | `ended` | the training is over: workers end |

use crate::training_folder::codec;
use crate::{Error, Game, files};
use game::StopFlag;
use learn::{Archive, Loss, Shard, Trainer, Worker};
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time between two looks into the folder.
const LOOK: Duration = Duration::from_millis(20);

/// Least time after which the leader plays a shard that somebody else has claimed.
const LEASE: Duration = Duration::from_secs(2);

/// How many times as long as the longest shard so far a claim may last.
const LEASE_TIMES: u32 = 8;

/// The folder of the shards of a training.
#[derive(Clone, Debug)]
pub struct ShardFolder(PathBuf);

/// What a worker did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkDone {
    /// Shards played.
    pub shards: u64,
    /// Games of these.
    pub games: u64,
}

impl ShardFolder {
    /// The shards of a training's folder.
    pub fn of(training: &Path) -> ShardFolder {
        ShardFolder(training.join("shards"))
    }

    fn state(&self, generation: u64) -> PathBuf {
        self.0.join(format!("state-{generation}.safetensors"))
    }

    fn shard(&self, generation: u64, number: usize) -> PathBuf {
        self.0.join(format!("{generation}-{number}.shard"))
    }

    /// Claims a shard; whether it was free.
    fn claim(&self, generation: u64, number: usize) -> bool {
        let path = self.0.join(format!("{generation}-{number}.claim"));
        OpenOptions::new().write(true).create_new(true).open(path).is_ok()
    }

    /// A shard that somebody wrote, if it is there and whole.
    fn read(&self, generation: u64, number: usize) -> Option<Shard> {
        let bytes = std::fs::read(self.shard(generation, number)).ok()?;
        Shard::from_bytes(&bytes).ok()
    }

    /// Makes the folder, and removes what an earlier run left.
    pub(crate) fn open(&self) -> Result<(), Error> {
        std::fs::create_dir_all(&self.0).map_err(Error::io("cannot make the folder", &self.0))?;
        self.clear(u64::MAX)
    }

    /// Removes the files of generations before this one, and the mark of the end.
    fn clear(&self, before: u64) -> Result<(), Error> {
        let listed = std::fs::read_dir(&self.0).map_err(Error::io("cannot read", &self.0))?;
        for path in listed.filter_map(|entry| Some(entry.ok()?.path())) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let number = name.strip_prefix("state-").unwrap_or(name);
            let number = number.split(['-', '.']).next().unwrap_or_default().parse::<u64>();
            if name == "ended" || number.is_ok_and(|generation| generation < before) {
                let _ = std::fs::remove_file(&path);
            }
        }
        Ok(())
    }

    /// Tells all workers that the training is over.
    pub(crate) fn end(&self) -> Result<(), Error> {
        self.clear(u64::MAX)?;
        files::write(&self.0.join("ended"), b"")
    }

    /// One generation, with whoever helps. None if the flag was raised before its end: the training is as before.
    pub(crate) fn lead(
        &self,
        trainer: &mut Trainer,
        workers: &mut [Worker],
        stop: &StopFlag,
    ) -> Result<Option<Loss>, Error> {
        let generation = trainer.generations;
        files::write(&self.state(generation), &trainer.to_archive().to_bytes())?;
        self.clear(generation)?;
        let count = trainer.shards();
        let (folder, trainer_now) = (self, &*trainer);
        let failed = std::sync::Mutex::new(None);
        std::thread::scope(|scope| {
            let failed = &failed;
            for worker in workers.iter_mut() {
                scope.spawn(move || {
                    let played = folder.play_free(trainer_now, worker, count, stop);
                    if let Err(error) = played {
                        failed
                            .lock()
                            .unwrap_or_else(std::sync::PoisonError::into_inner)
                            .get_or_insert(error);
                    }
                });
            }
        });
        if let Some(error) = failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            return Err(error);
        }
        let Some(shards) = self.gather(trainer, workers, count, stop)? else {
            return Ok(None);
        };
        Ok(Some(trainer.finish_generation(shards)))
    }

    /// Plays shards that nobody has claimed. Returns what was done.
    fn play_free(
        &self,
        trainer: &Trainer,
        worker: &mut Worker,
        count: usize,
        stop: &StopFlag,
    ) -> Result<WorkDone, Error> {
        let mut done = WorkDone::default();
        let state = self.state(trainer.generations);
        for number in 0..count {
            // Where the state is gone, the leader is ahead: nobody needs these shards.
            if stop.is_raised() || !state.exists() {
                break;
            }
            if self.claim(trainer.generations, number) {
                done.games += self.play(trainer, worker, number, stop)?;
                done.shards += 1;
            }
        }
        Ok(done)
    }

    /// Plays a shard and writes it, unless it was stopped. Returns its games.
    fn play(&self, trainer: &Trainer, worker: &mut Worker, number: usize, stop: &StopFlag) -> Result<u64, Error> {
        let shard = trainer.shard(number, worker, stop)?;
        if stop.is_raised() {
            return Ok(0);
        }
        files::write(&self.shard(trainer.generations, number), &shard.to_bytes())?;
        Ok(shard.games())
    }

    /// All shards in order. Those that do not come are played here. None if the flag is raised before.
    fn gather(
        &self,
        trainer: &Trainer,
        workers: &mut [Worker],
        count: usize,
        stop: &StopFlag,
    ) -> Result<Option<Vec<Shard>>, Error> {
        let mut shards: Vec<Option<Shard>> = (0..count).map(|_| None).collect();
        let (begun, mut longest) = (Instant::now(), LEASE);
        loop {
            for (number, place) in shards.iter_mut().enumerate().filter(|(_, place)| place.is_none()) {
                *place = self.read(trainer.generations, number);
            }
            let Some(missing) = shards.iter().position(Option::is_none) else {
                return Ok(shards.into_iter().collect());
            };
            if stop.is_raised() {
                return Ok(None);
            }
            if begun.elapsed() < longest {
                std::thread::sleep(LOOK);
                continue;
            }
            let Some(worker) = workers.first_mut() else {
                std::thread::sleep(LOOK);
                continue;
            };
            let started = Instant::now();
            self.play(trainer, worker, missing, stop)?;
            longest = longest.max(LEASE_TIMES * started.elapsed());
        }
    }

    /// The generation whose state is there, the newest.
    fn newest(&self) -> Option<u64> {
        let listed = std::fs::read_dir(&self.0).ok()?;
        let names = listed.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let numbers = names.filter_map(|name| name.strip_prefix("state-")?.strip_suffix(".safetensors")?.parse().ok());
        numbers.max()
    }

    fn load(&self, generation: u64, game: &Game) -> Result<Option<Trainer>, Error> {
        let path = self.state(generation);
        let Ok(bytes) = files::read_tensors(&path) else {
            // The leader is ahead already.
            return Ok(None);
        };
        let unusable = |source| Error::Archive {
            path: path.clone(),
            source,
        };
        let archive = Archive::from_bytes(&bytes).map_err(unusable)?;
        let trainer = Trainer::from_archive(&archive, &codec(game.engine())?).map_err(unusable)?;
        Ok(Some(trainer))
    }
}

/// How a worker works.
#[derive(Clone, Debug)]
pub struct WorkOptions {
    /// Threads, each of which plays a shard at a time.
    pub threads: usize,
    /// Memory of the transition cache, for all threads together, in MiB.
    pub cache_mib: u64,
    /// How long nothing may happen before the worker ends.
    pub patience: Duration,
    /// Ends the work.
    pub stop: StopFlag,
}

impl Game {
    /// Plays shards for the training of a folder until it ends, nothing happens for a while, or the flag is raised.
    ///
    /// # Errors
    /// If the training is of another game, or the folder cannot be written.
    pub fn work_for(
        &self,
        training: &Path,
        options: &WorkOptions,
        progress: &mut dyn FnMut(WorkDone),
    ) -> Result<WorkDone, Error> {
        let folder = ShardFolder::of(training);
        let threads = options.threads.max(1);
        let bytes = (options.cache_mib << 20) as usize / threads;
        let new = |_| Worker::new(self.engine().state_simulator(), bytes);
        let mut workers: Vec<Worker> = (0..threads).map(new).collect();
        let (mut done, mut played, mut idle) = (WorkDone::default(), None, Instant::now());
        while !options.stop.is_raised() && !folder.0.join("ended").exists() && idle.elapsed() < options.patience {
            let newest = folder.newest().filter(|generation| played != Some(*generation));
            let Some(generation) = newest else {
                std::thread::sleep(LOOK);
                continue;
            };
            let Some(trainer) = folder.load(generation, self)? else {
                continue;
            };
            let count = trainer.shards();
            let (trainer, place, stop) = (&trainer, &folder, &options.stop);
            let results: Vec<Result<WorkDone, Error>> = std::thread::scope(|scope| {
                let working = workers.iter_mut();
                let working: Vec<_> = working
                    .map(|worker| scope.spawn(move || place.play_free(trainer, worker, count, stop)))
                    .collect();
                let joined = working
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or(Ok(WorkDone::default())));
                joined.collect()
            });
            for result in results {
                let more = result?;
                done.shards += more.shards;
                done.games += more.games;
            }
            played = Some(generation);
            idle = Instant::now();
            progress(done);
        }
        Ok(done)
    }
}
