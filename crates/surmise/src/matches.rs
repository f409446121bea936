//! Matches between players, many at a time, and what they come to.

use crate::players::PlayerSpec;
use crate::{Error, Game, files};
use game::{Fault, Meter, Player, RoleId, Seed, StopFlag};
use lab::stats::{self, Interval};
use referee::{Clock, Match, Outcome, Seat, Seating};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A player that can be seated: by name ([`PlayerSpec`]), or one of your own ([`OwnPlayer`]).
pub trait Entrant: Sync {
    /// The name in records and tables.
    fn name(&self) -> &str;

    /// The player of a role for one match.
    ///
    /// # Errors
    /// If the player cannot play this game.
    fn seat(&self, game: &Game, role: RoleId, seed: Seed) -> Result<Seat, Error>;

    /// Whether the player keeps something from match to match. Then the matches in which it has the same seats are
    /// played one after the other.
    fn learns(&self) -> bool {
        false
    }

    /// The player of a role for the next match of a series, with what it kept of those before.
    ///
    /// # Errors
    /// If the player cannot play this game.
    fn seat_in_series(&self, game: &Game, role: RoleId, seed: Seed, memory: &SeriesMemory) -> Result<Seat, Error> {
        let _ = memory;
        self.seat(game, role, seed)
    }
}

/// What a player keeps between the matches of a series, in one role.
#[derive(Default)]
pub struct SeriesMemory(Mutex<Option<Arc<dyn Any + Send + Sync>>>);

impl SeriesMemory {
    /// What is kept; made at the first call.
    pub fn keep<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.clone().and_then(|known| known.downcast::<T>().ok());
        known.unwrap_or_else(|| {
            let made = Arc::new(make());
            *kept = Some(made.clone());
            made
        })
    }
}

impl Entrant for PlayerSpec {
    fn name(&self) -> &str {
        self.text()
    }

    fn seat(&self, game: &Game, role: RoleId, seed: Seed) -> Result<Seat, Error> {
        game.seat(self, role, seed)
    }

    fn learns(&self) -> bool {
        PlayerSpec::learns(self)
    }

    fn seat_in_series(&self, game: &Game, role: RoleId, seed: Seed, memory: &SeriesMemory) -> Result<Seat, Error> {
        if !self.learns() {
            return game.seat(self, role, seed);
        }
        game.admit(self)?;
        self.seat_with(game.engine(), role, seed, Some(memory))
    }
}

/// A player that the caller brings: a name, and a function that makes the player of a role.
pub struct OwnPlayer<F> {
    name: String,
    make: F,
}

impl<F: Fn(&Game, RoleId, Seed) -> Box<dyn Player> + Sync> OwnPlayer<F> {
    /// A player with a name and a constructor, which is called once for every match.
    pub fn new(name: impl Into<String>, make: F) -> OwnPlayer<F> {
        OwnPlayer {
            name: name.into(),
            make,
        }
    }
}

impl<F: Fn(&Game, RoleId, Seed) -> Box<dyn Player> + Sync> Entrant for OwnPlayer<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn seat(&self, game: &Game, role: RoleId, seed: Seed) -> Result<Seat, Error> {
        Ok(Seat::Player((self.make)(game, role, seed)))
    }
}

/// How matches are played.
#[derive(Clone, Debug)]
pub struct MatchOptions {
    /// Number of matches.
    pub games: u64,
    /// Whether players move on by one seat from match to match.
    pub swap: bool,
    /// Seed of the matches.
    pub seed: u64,
    /// Matches at a time. The results do not depend on it. Players that learn play one match after the other.
    pub threads: usize,
    /// Time for a move.
    pub clock: Clock,
    /// Rounds after which a match is aborted.
    pub max_rounds: usize,
    /// Folder for the records of the matches.
    pub record: Option<PathBuf>,
    /// Whether records of other matches in the folder are overwritten.
    pub overwrite: bool,
    /// Ends the matches; what was played is kept.
    pub stop: StopFlag,
}

impl Default for MatchOptions {
    fn default() -> Self {
        MatchOptions {
            games: 1,
            swap: false,
            seed: 1,
            threads: 1,
            clock: Clock::None,
            max_rounds: game::limits::MATCH_ROUNDS,
            record: None,
            overwrite: false,
            stop: StopFlag::default(),
        }
    }
}

/// A match that was played.
#[derive(Clone, Debug)]
pub struct MatchResult {
    /// Number of the match, from 0.
    pub number: u64,
    /// Seats by which the players had moved on.
    pub shift: usize,
    /// The record and what each seat did.
    pub outcome: Outcome,
}

impl Game {
    /// Plays matches, and returns them in order. A single player plays all roles. Matches that were stopped, or aborted
    /// after too many rounds, have a record that says so.
    ///
    /// # Errors
    /// If there are too many or too few players, one of them cannot play this game, or a match fails.
    pub fn play(&self, players: &[&dyn Entrant], options: &MatchOptions) -> Result<Vec<MatchResult>, Error> {
        let results = Mutex::new(Vec::new());
        let keep = |result: MatchResult| results.lock().unwrap_or_else(PoisonError::into_inner).push(result);
        self.play_each(players, options, &keep)?;
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|result| result.number);
        Ok(results)
    }

    /// Plays matches, and hands over each as it ends, in any order.
    ///
    /// # Errors
    /// As [`Game::play`].
    pub fn play_each(
        &self,
        players: &[&dyn Entrant],
        options: &MatchOptions,
        each: &(dyn Fn(MatchResult) + Sync),
    ) -> Result<(), Error> {
        let players = self.fill(players.to_vec())?;
        if let Some(folder) = &options.record {
            std::fs::create_dir_all(folder).map_err(Error::io("cannot make the folder", folder))?;
        }
        let memories = self.memories(&players);
        if !players.iter().any(|player| player.learns()) {
            return run_numbered(options.games, options.threads, &options.stop, |number| {
                self.play_one(&players, &memories, options, number)?
                    .into_iter()
                    .for_each(each);
                Ok(())
            });
        }
        // Matches with the same seats are a series, in which each depends on those before; other seats do not matter to
        // it, so that series run side by side.
        let series = if options.swap { players.len().max(1) as u64 } else { 1 };
        run_numbered(series, options.threads, &options.stop, |first| {
            for number in (first..options.games).step_by(series as usize) {
                if options.stop.is_raised() {
                    break;
                }
                self.play_one(&players, &memories, options, number)?
                    .into_iter()
                    .for_each(each);
            }
            Ok(())
        })
    }

    /// For each player a memory for each role.
    fn memories(&self, players: &[&dyn Entrant]) -> Vec<Vec<SeriesMemory>> {
        let of_roles = || self.roles().iter().map(|_| SeriesMemory::default()).collect();
        players.iter().map(|_| of_roles()).collect()
    }

    /// One player for each role that is not nature.
    ///
    /// # Errors
    /// If there are too many or too few.
    pub fn fill<T: Clone>(&self, players: Vec<T>) -> Result<Vec<T>, Error> {
        self.seating().fill(players).map_err(|source| Error::Seating {
            game: self.name().to_owned(),
            source,
        })
    }

    /// Plays a match; none if it was stopped before it began.
    fn play_one(
        &self,
        players: &[&dyn Entrant],
        memories: &[Vec<SeriesMemory>],
        options: &MatchOptions,
        number: u64,
    ) -> Result<Option<MatchResult>, Error> {
        let seed = Seed(options.seed).child("match").nth(number);
        let shift = match options.swap {
            true => number as usize % players.len().max(1),
            false => 0,
        };
        let seating = self.seating();
        let names: Vec<&str> = players.iter().map(|player| player.name()).collect();
        let seats = seating.seats(shift, seed, |player, role, seed| {
            if options.stop.is_raised() {
                return Err(Error::Fault(Fault::Stopped));
            }
            let memory = &memories[player][usize::from(role.0)];
            players[player].seat_in_series(self, role, seed, memory)
        });
        let seats = match seats {
            Err(Error::Fault(Fault::Stopped)) if options.stop.is_raised() => return Ok(None),
            seats => seats?,
        };
        let mut sim = self.simulator();
        let table = Match {
            title: self.title(),
            clock: options.clock,
            max_rounds: options.max_rounds,
            stop: options.stop.clone(),
            ..Match::new(sim.as_mut(), seats, seating.names(&names, shift), seed)
        };
        let outcome = table.play().map_err(|source| Error::Match {
            number: number + 1,
            source,
        })?;
        if let (Some(folder), false) = (&options.record, options.stop.is_raised()) {
            let path = folder.join(format!("match-{number:06}.json"));
            if !options.overwrite && files::differs(&path, record_text(&outcome.record).as_bytes()) {
                let wrong = "holds the record of another match; choose another folder, or --force overwrites it";
                return Err(Error::format(&path, wrong));
            }
            write_record(&path, &outcome.record)?;
            write_remarks(folder, &format!("match-{number:06}"), self.roles(), &outcome)?;
        }
        Ok(Some(MatchResult { number, shift, outcome }))
    }
}

/// Writes a record as one line of JSON.
///
/// # Errors
/// If the file cannot be written.
pub fn write_record(path: &Path, record: &referee::Record) -> Result<(), Error> {
    files::write(path, record_text(record).as_bytes())
}

/// Writes what programs that played said on standard error, each into a file beside the record.
pub(crate) fn write_remarks(folder: &Path, id: &str, roles: &[String], outcome: &Outcome) -> Result<(), Error> {
    for (number, (role, seat)) in roles.iter().zip(&outcome.seats).enumerate() {
        if !seat.remarks.is_empty() {
            let plain = role.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
            let name = if plain {
                role.clone()
            } else {
                format!("role-{}", number + 1)
            };
            files::write(&folder.join(format!("{id}.{name}.stderr.txt")), seat.remarks.as_bytes())?;
        }
    }
    Ok(())
}

fn record_text(record: &referee::Record) -> String {
    format!("{}\n", record.to_json())
}

/// Does numbered pieces of work on threads until all are done, one fails or the flag is raised.
pub(crate) fn run_numbered(
    count: u64,
    threads: usize,
    stop: &StopFlag,
    work: impl Fn(u64) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let next = AtomicU64::new(0);
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    let lock = || failed.lock().unwrap_or_else(PoisonError::into_inner);
    let one_after_the_other = || {
        while !stop.is_raised() && lock().is_none() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            if let Err(error) = work(number) {
                lock().get_or_insert(error);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, 256) {
            scope.spawn(one_after_the_other);
        }
        one_after_the_other();
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Results of matches by role and player, as they come in.
pub struct MatchSummary {
    seating: Seating,
    players: Vec<String>,
    swap: bool,
    matches: Vec<SummedMatch>,
    /// Times of moves, by role and by seats that players had moved on.
    times: BTreeMap<(usize, usize), MoveTimes>,
    aborted: u64,
}

/// How long moves took: sum, maximum and a histogram, whose size does not grow with the number of moves.
#[derive(Clone, Debug, Default)]
struct MoveTimes {
    total: Duration,
    longest: Duration,
    /// Moves by the logarithm of their time; a step is a factor of 1.01.
    counts: BTreeMap<u16, u64>,
}

/// Factor between two steps of the histogram of times.
const TIME_STEP: f64 = 1.01;

impl MoveTimes {
    fn add(&mut self, time: Duration) {
        self.total += time;
        self.longest = self.longest.max(time);
        let step = (time.as_nanos().max(1) as f64).log(TIME_STEP).ceil();
        *self.counts.entry(step as u16).or_insert(0) += 1;
    }

    fn merge(&mut self, other: &MoveTimes) {
        self.total += other.total;
        self.longest = self.longest.max(other.longest);
        for (&step, &count) in &other.counts {
            *self.counts.entry(step).or_insert(0) += count;
        }
    }

    /// A time that this share of the moves did not exceed, at most a step too long.
    fn at(&self, share: f64) -> Duration {
        let all: u64 = self.counts.values().sum();
        let wanted = ((share * all as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (&step, &count) in &self.counts {
            seen += count;
            if seen >= wanted {
                let nanos = TIME_STEP.powi(i32::from(step)).ceil();
                return self.longest.min(Duration::from_nanos(nanos as u64));
            }
        }
        self.longest
    }
}

/// What a summary keeps of a match.
struct SummedMatch {
    number: u64,
    shift: usize,
    goals: Vec<u8>,
    seats: Vec<SummedSeat>,
}

struct SummedSeat {
    meter: Meter,
    moves: u64,
    illegal: u64,
    late: u64,
}

/// The results of a player, in one role or in all.
#[derive(Clone, Debug)]
pub struct SummaryRow {
    /// The role; none for all roles together.
    pub role: Option<String>,
    /// The player.
    pub player: String,
    /// Mean payoff with its confidence interval.
    pub score: Interval,
    /// Standard error of the mean.
    pub stderr: f64,
    /// Work of the player.
    pub meter: Meter,
    /// Matches that count.
    pub games: u64,
    /// Moves that were asked for.
    pub moves: u64,
    /// Moves that were replaced because they were illegal or missing.
    pub illegal: u64,
    /// Moves that came late.
    pub late: u64,
    times: MoveTimes,
}

impl MatchSummary {
    /// A summary of matches between these players, one for each role that is not nature.
    pub fn new(game: &Game, players: &[&dyn Entrant], swap: bool) -> MatchSummary {
        MatchSummary {
            seating: game.seating().clone(),
            players: players.iter().map(|player| player.name().to_owned()).collect(),
            swap,
            matches: Vec::new(),
            times: BTreeMap::new(),
            aborted: 0,
        }
    }

    /// Adds a match. One that was aborted does not count.
    pub fn add(&mut self, result: &MatchResult) {
        let Outcome { record, seats } = &result.outcome;
        if record.aborted {
            self.aborted += 1;
            return;
        }
        for (role, seat) in seats.iter().enumerate() {
            let times = self.times.entry((role, result.shift)).or_default();
            seat.times.iter().for_each(|&time| times.add(time));
        }
        let seats = seats.iter().map(|seat| SummedSeat {
            meter: seat.meter,
            moves: seat.moves,
            illegal: seat.illegal,
            late: seat.late,
        });
        let summed = SummedMatch {
            number: result.number,
            shift: result.shift,
            goals: record.goals.clone(),
            seats: seats.collect(),
        };
        let at = self.matches.partition_point(|m| m.number < result.number);
        self.matches.insert(at, summed);
    }

    /// Matches that count.
    pub fn games(&self) -> u64 {
        self.matches.len() as u64
    }

    /// Matches that were aborted.
    pub fn aborted(&self) -> u64 {
        self.aborted
    }

    /// A row for each player in each role that it played, by the first match.
    pub fn rows(&self, level: f64) -> Vec<SummaryRow> {
        let mut places: Vec<(usize, &str)> = Vec::new();
        for summed in &self.matches {
            for &role in self.seating.played() {
                let place = (role, self.player(summed, role));
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        let row = |&(role, player): &(usize, &str)| {
            let seats = |m: &SummedMatch| (self.player(m, role) == player).then_some(vec![role]);
            self.row(Some(self.seating.roles()[role].clone()), player, 1, seats, level)
        };
        places.iter().map(row).collect()
    }

    /// A row for each player over all roles, where players changed seats; the matches of one round of seats are one
    /// observation.
    pub fn totals(&self, level: f64) -> Vec<SummaryRow> {
        let mut players: Vec<&str> = Vec::new();
        for player in &self.players {
            if !players.contains(&player.as_str()) {
                players.push(player);
            }
        }
        if !self.swap || players.len() < 2 {
            return Vec::new();
        }
        let row = |&player: &&str| {
            let seats = |m: &SummedMatch| {
                let played = self.seating.played().iter().copied();
                Some(played.filter(|&role| self.player(m, role) == player).collect())
            };
            let times = self.players.iter().filter(|p| *p == player).count();
            self.row(None, player, self.players.len() * times, seats, level)
        };
        players.iter().map(row).collect()
    }

    fn player(&self, summed: &SummedMatch, role: usize) -> &str {
        let player = self.seating.player_of(role, summed.shift);
        player.map_or(referee::NATURE, |player| &self.players[player])
    }

    fn row(
        &self,
        role: Option<String>,
        player: &str,
        block: usize,
        seats: impl Fn(&SummedMatch) -> Option<Vec<usize>>,
        level: f64,
    ) -> SummaryRow {
        let mut scores = Vec::new();
        let mut row = SummaryRow {
            role,
            player: player.to_owned(),
            score: stats::of_scores(&[], block, level),
            stderr: 0.0,
            meter: Meter::default(),
            games: 0,
            moves: 0,
            illegal: 0,
            late: 0,
            times: MoveTimes::default(),
        };
        let mut timed: BTreeSet<(usize, usize)> = BTreeSet::new();
        for summed in &self.matches {
            let Some(seats) = seats(summed) else {
                continue;
            };
            row.games += 1;
            for role in seats {
                let seat = &summed.seats[role];
                scores.push(f64::from(summed.goals[role]));
                row.meter.add(seat.meter);
                row.moves += seat.moves;
                row.illegal += seat.illegal;
                row.late += seat.late;
                // All matches with these seats count for the row alike.
                if timed.insert((role, summed.shift))
                    && let Some(times) = self.times.get(&(role, summed.shift))
                {
                    row.times.merge(times);
                }
            }
        }
        row.score = stats::of_scores(&scores, block, level);
        row.stderr = stderr(&scores);
        row
    }
}

/// The standard error of a mean.
fn stderr(scores: &[f64]) -> f64 {
    let n = scores.len().max(1) as f64;
    let mean = scores.iter().sum::<f64>() / n;
    let squares: f64 = scores.iter().map(|s| (s - mean).powi(2)).sum();
    (squares / (n - 1.0).max(1.0) / n).sqrt()
}

impl SummaryRow {
    /// Successor states computed per match.
    pub fn states_per_game(&self) -> f64 {
        self.meter.states as f64 / self.games.max(1) as f64
    }

    /// Nodes visited per match.
    pub fn touches_per_game(&self) -> f64 {
        self.meter.touches as f64 / self.games.max(1) as f64
    }

    /// Milliseconds per move.
    pub fn ms_per_move(&self) -> f64 {
        self.times.total.as_secs_f64() * 1e3 / self.moves.max(1) as f64
    }

    /// Milliseconds that this share of the moves did not exceed, at most 1 % too long; exact for all moves.
    pub fn ms_at(&self, share: f64) -> f64 {
        self.times.at(share).as_secs_f64() * 1e3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_million_moves_take_little_memory() {
        let mut times = MoveTimes::default();
        (1..=1_000_000).for_each(|n| times.add(Duration::from_nanos(1_000 * n)));
        assert!(times.counts.len() < 1_400, "{}", times.counts.len());
        assert_eq!(times.at(1.0), Duration::from_secs(1));
        for share in [0.01, 0.5, 0.99] {
            let (exact, found) = (share, times.at(share).as_secs_f64());
            assert!((exact..=exact * TIME_STEP * 1.001).contains(&found), "{share}: {found}");
        }
        assert_eq!(MoveTimes::default().at(0.99), Duration::ZERO);
    }

    /// Raises a flag when it is seated.
    struct Stopping(StopFlag, AtomicU64);

    impl Entrant for Stopping {
        fn name(&self) -> &str {
            "stopping"
        }

        fn seat(&self, game: &Game, role: RoleId, seed: Seed) -> Result<Seat, Error> {
            self.0.raise();
            self.1.fetch_add(1, Ordering::Relaxed);
            "random".parse::<PlayerSpec>()?.seat(game.engine(), role, seed)
        }
    }

    /// Preparing the players of hundreds of roles takes seconds.
    #[test]
    fn seating_ends_when_it_is_stopped() {
        let game = Game::open("tictactoe").unwrap();
        let options = MatchOptions::default();
        let stopping = Stopping(options.stop.clone(), AtomicU64::new(0));
        assert!(game.play(&[&stopping], &options).unwrap().is_empty());
        assert_eq!(stopping.1.into_inner(), 1);
    }
}
