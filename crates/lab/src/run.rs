//! Playing the matches that are missing.
//!
//! The matches of a spec have one order, cell after cell. Threads, processes and machines take the matches of their own
//! shard that are not finished yet. A cell with `until` ends at the first whole step of matches at which its interval
//! is narrow enough. Only the matches up to that step decide this, so the cell ends at the same match whoever plays it
//! in which order. Matches beyond the end are left out.

use crate::error::{Error, Result, full};
use crate::folder::{Folder, Results};
use crate::journal::Journal;
use crate::stats;
use crate::unit::{FinishedMatch, OpenGames, SeatedCell, open_all, role_of};
use crate::{Cell, GameSource, OpenGame, Spec};
use game::StopFlag;
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Observations between two tests whether a cell is precise enough.
const STEP: usize = 20;

/// A spec whose games are open and whose players can be seated.
pub struct RunPlan<'a> {
    /// The spec.
    pub spec: &'a Spec,
    games: OpenGames,
    /// Cells that can be played.
    playable: Vec<&'a Cell>,
    /// Cells that cannot: their keys, and why.
    pub left_out: Vec<(String, String)>,
}

/// Options of a run.
pub struct RunOptions<'a> {
    /// Matches played at the same time.
    pub threads: usize,
    /// Number of the shard, from 0, and number of shards.
    pub shard: (usize, usize),
    /// Name of the journal, without its ending.
    pub journal: String,
    /// Version of the program.
    pub version: String,
    /// Ends the run. Finished matches are kept.
    pub stop: StopFlag,
    /// Called for every step of the run.
    pub progress: &'a (dyn Fn(RunProgress) + Sync),
}

impl Default for RunOptions<'_> {
    /// One thread, one shard, the journal `local`, and nobody to tell.
    fn default() -> Self {
        RunOptions {
            threads: 1,
            shard: (0, 1),
            journal: "local".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            stop: StopFlag::default(),
            progress: &|_| {},
        }
    }
}

/// A step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunProgress {
    /// The run begins: number of matches of the shard, and of those finished before.
    Begin(u64, u64),
    /// One more match is finished.
    Done,
    /// So many matches need not be played.
    Skipped(u64),
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunSummary {
    /// Matches played now.
    pub played: u64,
    /// Matches finished before.
    pub before: u64,
    /// Whether no match of the shard is missing.
    pub complete: bool,
}

impl<'a> RunPlan<'a> {
    /// Opens the games and seats the players of a spec, playing nothing.
    ///
    /// # Errors
    /// With the line of the spec, if a game or a player does not exist or they do not fit.
    pub fn new(spec: &'a Spec, source: &dyn GameSource) -> Result<RunPlan<'a>> {
        let wrong = |(line, problem)| Error::cell(spec, line, problem);
        let games = open_all(source, spec.cells.iter()).map_err(wrong)?;
        let mut plan = RunPlan {
            spec,
            games,
            playable: Vec::new(),
            left_out: Vec::new(),
        };
        for cell in &spec.cells {
            match (SeatedCell::new(cell, plan.game(cell)), &cell.optional) {
                (Ok(_), _) => plan.playable.push(cell),
                (Err((_, problem)), Some(reason)) => {
                    let what = format!(
                        "{} with {} is left out: {reason} ({})",
                        cell.game,
                        cell.players.join(" and "),
                        full(&problem)
                    );
                    plan.left_out.push((cell.key.clone(), what));
                }
                (Err(error), None) => return Err(wrong(error)),
            }
        }
        Ok(plan)
    }

    fn game(&self, cell: &Cell) -> &dyn OpenGame {
        let found = self.games.iter().find(|(game, _)| *game == cell.game);
        found.expect("every game was opened").1.as_ref()
    }

    /// The roles of every game.
    pub fn roles(&self) -> BTreeMap<String, Vec<String>> {
        let roles = |(name, game): &(String, Box<dyn OpenGame>)| (name.clone(), game.simulator().roles().to_vec());
        self.games.iter().map(roles).collect()
    }

    /// Plays the matches that are missing in a folder.
    ///
    /// # Errors
    /// If a game fails or the folder cannot be read or written. Finished matches are kept.
    pub fn run(&self, folder: &Folder, options: &RunOptions<'_>) -> Result<RunSummary> {
        let (shard, shards) = options.shard;
        let works = works(self.playable.iter().copied());
        let path = folder.file(&format!("journal/{}.jsonl", options.journal));
        let journal = Journal::open(&path)?;
        let state = RunState {
            cells: works.iter().map(|w| CellProgress::new(w.cell)).collect(),
            journal,
            error: None,
            played: 0,
            refreshed: Instant::now(),
        };
        let state = Mutex::new(state);
        let mut units: Vec<(usize, u64)> = Vec::new();
        let mut before = 0;
        {
            let mut state = lock(&state);
            state.take_in(&works, &folder.load()?)?;
            let all = works
                .iter()
                .enumerate()
                .flat_map(|(w, work)| (0..work.games).map(move |n| (w, n)));
            for (_, (w, n)) in all.enumerate().filter(|(at, _)| at % shards == shard) {
                match state.cells[w].has(n) {
                    true => before += 1,
                    false => units.push((w, n)),
                }
            }
        }
        (options.progress)(RunProgress::Begin(before + units.len() as u64, before));
        let seated: Vec<SeatedCell<'_>> = works
            .iter()
            .map(|work| SeatedCell::new(work.cell, self.game(work.cell)))
            .collect::<Result<_, _>>()
            .map_err(|(line, problem)| Error::cell(self.spec, line, problem))?;
        let others = shards > 1 && works.iter().any(|w| w.cell.until.is_some());
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(&(w, n)) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                if options.stop.is_raised() {
                    return;
                }
                {
                    let mut state = lock(&state);
                    if state.error.is_some() {
                        return;
                    }
                    if others && let Err(error) = state.refresh(&works, folder) {
                        state.error = Some(error);
                        return;
                    }
                    if state.cells[w].ends_before(n) {
                        (options.progress)(RunProgress::Skipped(1));
                        continue;
                    }
                }
                let played = seated[w].play(n, &options.version, &options.stop);
                if lock(&state).note(&works, w, played) {
                    (options.progress)(RunProgress::Done);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..options.threads.clamp(1, 1_024) {
                scope.spawn(work);
            }
            work();
        });
        let mut state = state.into_inner().unwrap_or_else(|e| e.into_inner());
        state.journal.sync()?;
        match state.error {
            Some(error) => Err(error),
            None => Ok(RunSummary {
                played: state.played,
                before,
                complete: !options.stop.is_raised(),
            }),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// Cells of one key, which share their matches.
struct CellWork<'a> {
    cell: &'a Cell,
    games: u64,
}

fn works<'a>(cells: impl Iterator<Item = &'a Cell>) -> Vec<CellWork<'a>> {
    let mut works: Vec<CellWork<'a>> = Vec::new();
    for cell in cells {
        match works.iter_mut().find(|w| w.cell.key == cell.key) {
            Some(work) => work.games = work.games.max(cell.games),
            None => works.push(CellWork {
                cell,
                games: cell.games,
            }),
        }
    }
    works
}

/// The state that the threads share.
struct RunState {
    cells: Vec<CellProgress>,
    journal: Journal,
    error: Option<Error>,
    played: u64,
    refreshed: Instant,
}

impl RunState {
    /// Writes a finished match down. Returns whether there was one.
    fn note(&mut self, works: &[CellWork<'_>], w: usize, played: Result<Option<FinishedMatch>>) -> bool {
        let noted = played.and_then(|played| {
            let Some(played) = played else {
                return Ok(false);
            };
            self.journal.append(&played)?;
            self.played += 1;
            self.cells[w].add(works[w].cell, &played)?;
            Ok(true)
        });
        noted.unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            false
        })
    }

    fn take_in(&mut self, works: &[CellWork<'_>], results: &Results) -> Result<()> {
        for (work, cell) in works.iter().zip(&mut self.cells) {
            for played in results.get(&work.cell.key).into_iter().flatten() {
                cell.add(work.cell, played)?;
            }
        }
        Ok(())
    }

    /// Takes in matches that other processes finished, at most every two seconds.
    fn refresh(&mut self, works: &[CellWork<'_>], folder: &Folder) -> Result<()> {
        if self.refreshed.elapsed() < Duration::from_secs(2) {
            return Ok(());
        }
        self.take_in(works, &folder.load()?)?;
        self.refreshed = Instant::now();
        Ok(())
    }
}

/// The finished matches of a cell, and whether the cell is precise enough.
#[derive(Default)]
struct CellProgress {
    done: BTreeMap<u64, f64>,
    /// Payoffs from the first match on, without gaps.
    prefix: Vec<f64>,
    end: Option<u64>,
    until: Option<(f64, f64)>,
    block: usize,
}

impl CellProgress {
    fn new(cell: &Cell) -> CellProgress {
        CellProgress {
            until: cell.until.map(|until| (until, LEVEL_OF_STOPPING)),
            block: cell.block(),
            ..CellProgress::default()
        }
    }

    fn has(&self, n: u64) -> bool {
        self.done.contains_key(&n)
    }

    fn ends_before(&self, n: u64) -> bool {
        self.end.is_some_and(|end| n >= end)
    }

    fn add(&mut self, cell: &Cell, played: &FinishedMatch) -> Result<()> {
        self.done.insert(played.n, score(cell, played, cell.focus)?);
        let Some((until, level)) = self.until else {
            return Ok(());
        };
        while let Some(&next) = self.done.get(&(self.prefix.len() as u64)) {
            self.prefix.push(next);
            let step = STEP * self.block;
            if self.end.is_none() && self.prefix.len().is_multiple_of(step) && self.prefix.len() >= 2 * step {
                self.end = stopping_point(&self.prefix, self.block, until, level).map(|n| n as u64);
            }
        }
        Ok(())
    }
}

/// Level of confidence that decides whether a cell is precise enough, whatever level is reported.
const LEVEL_OF_STOPPING: f64 = 0.95;

/// The number of matches after which the interval of a cell's mean is narrow enough: the first whole step for which
/// this is true.
pub fn stopping_point(scores: &[f64], block: usize, until: f64, level: f64) -> Option<usize> {
    let step = STEP * block;
    let narrow = |&n: &usize| {
        let interval = stats::of_scores(&scores[..n], block, level);
        (interval.high - interval.low) / 2.0 <= until
    };
    (2 * step..=scores.len()).step_by(step).find(narrow)
}

/// As [`stopping_point`], at the level that decides for cells.
pub fn precise_enough(scores: &[f64], block: usize, until: f64) -> Option<usize> {
    stopping_point(scores, block, until, LEVEL_OF_STOPPING)
}

/// A player's payoff in a match. An aborted match counts 0 for every player.
pub fn score(cell: &Cell, played: &FinishedMatch, player: usize) -> Result<f64> {
    let role = role_of(cell, played, player)?;
    Ok(played.goals.get(role).copied().map_or(0.0, f64::from))
}

/// The matches that count: in order, without gaps, and up to the end of each cell.
pub fn kept(spec: &Spec, mut results: Results) -> Result<Results> {
    let mut kept: HashMap<String, Vec<FinishedMatch>> = HashMap::new();
    for work in works(spec.cells.iter()) {
        let Some(mut cell) = results.remove(&work.cell.key) else {
            continue;
        };
        let gap = cell.iter().enumerate().position(|(at, played)| played.n != at as u64);
        cell.truncate(gap.unwrap_or(cell.len()).min(work.games as usize));
        if let Some(until) = work.cell.until {
            let scores: Vec<f64> = cell
                .iter()
                .map(|played| score(work.cell, played, work.cell.focus))
                .collect::<Result<_>>()?;
            let end = stopping_point(&scores, work.cell.block(), until, LEVEL_OF_STOPPING);
            cell.truncate(end.unwrap_or(cell.len()));
        }
        kept.insert(work.cell.key.clone(), cell);
    }
    Ok(kept)
}

/// Number of finished matches, number of matches wanted, and the shards with matches missing.
pub fn missing(spec: &Spec, folder: &Folder, shards: usize) -> Result<(u64, u64, Vec<usize>)> {
    let results = folder.load()?;
    let works = works(spec.cells.iter());
    let kept = kept(spec, results.clone())?;
    let (mut done, mut wanted, mut open) = (0, 0, vec![false; shards.max(1)]);
    let mut at = 0;
    for work in &works {
        let finished: std::collections::HashSet<u64> =
            results.get(&work.cell.key).into_iter().flatten().map(|p| p.n).collect();
        let scores: Result<Vec<f64>> = kept
            .get(&work.cell.key)
            .into_iter()
            .flatten()
            .map(|p| score(work.cell, p, work.cell.focus))
            .collect();
        let end = match work.cell.until {
            Some(until) => {
                stopping_point(&scores?, work.cell.block(), until, LEVEL_OF_STOPPING).map_or(work.games, |n| n as u64)
            }
            None => work.games,
        };
        for n in 0..work.games {
            if n < end {
                wanted += 1;
                if finished.contains(&n) {
                    done += 1;
                } else {
                    open[at % shards.max(1)] = true;
                }
            }
            at += 1;
        }
    }
    Ok((done, wanted, (0..open.len()).filter(|&s| open[s]).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stopping_is_decided_on_a_prefix() {
        let scores: Vec<f64> = (0..400).map(|n| f64::from(n % 2) * 100.0).collect();
        let end = stopping_point(&scores, 1, 8.0, 0.95).expect("narrow enough");
        assert_eq!(end % STEP, 0);
        assert!(end > 100 && end < 200, "{end}");
        // More matches change nothing, fewer give no end.
        assert_eq!(stopping_point(&scores[..end], 1, 8.0, 0.95), Some(end));
        assert_eq!(stopping_point(&scores[..end - 1], 1, 8.0, 0.95), None);
        assert_eq!(stopping_point(&scores, 1, 0.1, 0.95), None);
    }
}
