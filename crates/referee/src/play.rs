//! Playing a match to its end.
//!
//! Nature moves uniformly from the match's seed. A move that is not legal in the true state, or that does not come, is
//! replaced by a random legal one, from the seed as well, and the record says why.
//!
//! A [`Guest`] plays in another process and keeps a clock of its own. If a match has a guest, all seats are asked at
//! once, each on a thread of its own. Guests are told when the match begins and how it ends; every failure of a guest
//! is a substitution in the record.
//!
//! A player's stop flag is raised some time before its move is due: the player needs a moment to notice and to decide,
//! and on a busy machine it may have to wait for a core.
//!
//! A stop of the match reaches every player that is thinking. The round in which the stop came is not part of the
//! record.

use crate::record::{Record, Round, Substitution, Wire};
use crate::runtime::{Runtime, System, all_at_once};
use game::{Budget, Cheat, Decision, Fault, Meter, MoveId, Player, RoleId, Seed, Simulator, State, StopFlag, Told};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The player of a role.
pub enum Seat {
    /// A player that is told what its role was told.
    Player(Box<dyn Player>),
    /// A player that is shown the true state.
    Cheat(Box<dyn Cheat>),
    /// A player in another process.
    Guest(Box<dyn Guest>),
    /// Chance.
    Nature,
}

/// A player in another process. It keeps a clock of its own and may answer anything or nothing.
pub trait Guest: Send {
    /// Tells the guest that the match begins. An excuse is recorded; the match goes on.
    fn begin(&mut self, stop: &StopFlag) -> Result<(), Excuse>;

    /// Asks for a move, given everything the role was told so far.
    fn choose(&mut self, told: &[Told], stop: &StopFlag) -> Result<Reply, Excuse>;

    /// Tells the guest how the match ended: `over`, with everything the role was told, or aborted.
    fn end(&mut self, told: &[Told], over: bool);

    /// What the guest said about itself besides its answers, such as what its program wrote to standard error.
    fn remarks(&self) -> String {
        String::new()
    }
}

/// The answer of a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The move, in canonical text.
    pub mv: String,
    /// The answer as it came.
    pub raw: String,
}

/// Why there is no move of a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excuse {
    /// What came instead.
    pub raw: String,
    /// How that is recorded.
    pub why: Substitution,
}

/// How long a move may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// No limit: players stop by their own counts.
    None,
    /// A time limit for every move.
    PerMove {
        /// Time after which the move is due.
        time: Duration,
        /// Time after that in which the move is accepted, and counted as late.
        grace: Duration,
    },
}

/// The end of a player's time in which it should no longer think: this share of the time, and at least
/// [`LEAST_MARGIN`] where the time is long enough.
const MARGIN: f64 = 0.05;

/// How long a busy machine may leave a player without a core, a few slices of its scheduler (`benchmarks/deadline.py`
/// measures it).
const LEAST_MARGIN: Duration = Duration::from_millis(25);

/// The time for work before the first move, where a move has less.
const START: Duration = Duration::from_secs(10);

/// How long a player may think if its move is due after this long.
fn thinking(time: Duration) -> Duration {
    time - time.mul_f64(MARGIN).max(LEAST_MARGIN).min(time / 3)
}

/// A match to be played.
pub struct Match<'a> {
    /// The simulator that holds the true state.
    pub sim: &'a mut dyn Simulator,
    /// The game's name and rules, for the record.
    pub title: Title,
    /// One seat for each role.
    pub seats: Vec<Seat>,
    /// Names of the players in role order, for the record.
    pub names: Vec<String>,
    /// Seed of nature's moves and of replacements.
    pub seed: Seed,
    /// Time for a move.
    pub clock: Clock,
    /// Rounds after which the match is aborted.
    pub max_rounds: usize,
    /// Pause after every round.
    pub pause: Duration,
    /// What the record says of a match over the wire; the referee fills in the times.
    pub wire: Option<Wire>,
    /// Aborts the match.
    pub stop: StopFlag,
    /// Time and threads.
    pub runtime: Arc<dyn Runtime>,
}

/// The game of a match, as the record names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Title {
    /// Name of the game.
    pub game: String,
    /// Text of the rules.
    pub rules: String,
}

impl<'a> Match<'a> {
    /// A match without clock, pause, title or wire, of at most [`game::limits::MATCH_ROUNDS`] rounds.
    pub fn new(sim: &'a mut dyn Simulator, seats: Vec<Seat>, names: Vec<String>, seed: Seed) -> Match<'a> {
        Match {
            sim,
            title: Title::default(),
            seats,
            names,
            seed,
            clock: Clock::None,
            max_rounds: game::limits::MATCH_ROUNDS,
            pause: Duration::ZERO,
            wire: None,
            stop: StopFlag::default(),
            runtime: Arc::new(System),
        }
    }
}

/// The record of a match, and what each seat did.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Everything that happened.
    pub record: Record,
    /// Reports in role order.
    pub seats: Vec<SeatReport>,
}

/// What a seat did.
#[derive(Clone, Debug, Default)]
pub struct SeatReport {
    /// Moves asked for.
    pub moves: u64,
    /// Moves that had to be replaced because they were not legal or did not come at all.
    pub illegal: u64,
    /// Moves that came after they were due.
    pub late: u64,
    /// Time spent choosing, move by move.
    pub times: Vec<Duration>,
    /// Work done.
    pub meter: Meter,
    /// The reasons of each decision, one for each move asked for; empty where none came.
    pub decisions: Vec<Decision>,
    /// What went wrong when the seat was told that the match begins.
    pub absent: Option<Substitution>,
    /// What a guest said about itself besides its answers: the end of its program's standard error.
    pub remarks: String,
}

/// What asking a seat came to.
struct Asked {
    answer: Result<(Decision, String), (String, Substitution)>,
    took: Duration,
}

/// A move as asked for and as made.
struct Made {
    mv: MoveId,
    text: String,
    submitted: String,
    substitution: Option<Substitution>,
}

impl Match<'_> {
    /// Plays to the end.
    pub fn play(self) -> Result<Outcome, Fault> {
        self.play_watched(&mut |_, _| {})
    }

    /// Plays to the end and shows the record as it grows: at the beginning, after each round and at the end.
    pub fn play_watched(mut self, watch: &mut dyn FnMut(&Record, &[SeatReport])) -> Result<Outcome, Fault> {
        let n_roles = self.sim.roles().len();
        let mut seats = vec![SeatReport::default(); n_roles];
        let mut told: Vec<Vec<Told>> = vec![Vec::new(); n_roles];
        let played = self.rounds(&mut seats, &mut told, watch);
        let over = played.as_ref().is_ok_and(|record| !record.aborted);
        self.each_guest(&told, |guest, told, _| guest.end(told, over));
        let record = played?;
        for (seat, told) in self.seats.iter_mut().zip(&told).filter(|_| over) {
            if let Seat::Player(player) = seat {
                player.over(told);
            }
        }
        for (seat, report) in self.seats.iter().zip(&mut seats) {
            report.meter = match seat {
                Seat::Player(player) => player.meter(),
                Seat::Cheat(cheat) => cheat.meter(),
                Seat::Guest(_) | Seat::Nature => Meter::default(),
            };
            if let Seat::Guest(guest) = seat {
                report.remarks = guest.remarks();
            }
        }
        Ok(Outcome { record, seats })
    }

    fn rounds(
        &mut self,
        seats: &mut [SeatReport],
        told: &mut [Vec<Told>],
        watch: &mut dyn FnMut(&Record, &[SeatReport]),
    ) -> Result<Record, Fault> {
        let n_roles = seats.len();
        let mut state = self.sim.initial()?;
        let mut record = self.open_record(&state);
        note_times(&mut record, seats);
        watch(&record, seats);
        let begun = self.each_guest(told, |guest, _, stop| guest.begin(stop));
        for (report, begun) in seats.iter_mut().zip(begun) {
            report.absent = begun.and_then(Result::err).map(|excuse| excuse.why);
        }
        note_times(&mut record, seats);
        self.prepare();
        while !self.sim.terminal(&state)? {
            if self.stop.is_raised() || record.rounds.len() >= self.max_rounds {
                record.aborted = true;
                watch(&record, seats);
                return Ok(record);
            }
            let legal = self.legal_moves(&state, record.rounds.len())?;
            let asked = self.ask_all(&state, told);
            if self.stop.is_raised() {
                // A round in which players were cut off says nothing about them.
                continue;
            }
            let mut made = Vec::with_capacity(n_roles);
            for (role, asked) in asked.into_iter().enumerate() {
                let place = (record.rounds.len() * n_roles + role) as u64;
                made.push(match asked {
                    None => self.nature(role, &legal[role], place),
                    Some(asked) => self.judge(role, &legal[role], place, asked, &mut seats[role]),
                });
            }
            state = self.finish_round(&state, made, told, &mut record)?;
            note_times(&mut record, seats);
            watch(&record, seats);
            self.rest();
        }
        for role in 0..n_roles {
            record.goals.push(self.sim.goal(&state, RoleId(role as u16))?.points());
        }
        record.complete = true;
        watch(&record, seats);
        Ok(record)
    }

    /// The pause after a round; a stop ends it.
    fn rest(&self) {
        let begun = self.runtime.now();
        let passed = || self.runtime.now() - begun;
        while let Some(left) = self.pause.checked_sub(passed()).filter(|left| !left.is_zero()) {
            if self.stop.is_raised() {
                return;
            }
            self.runtime.sleep(left.min(Duration::from_millis(50)));
        }
    }

    fn open_record(&self, state: &State) -> Record {
        Record {
            game: self.title.game.clone(),
            rules: self.title.rules.clone(),
            wire: self.wire.clone(),
            roles: self.sim.roles().to_vec(),
            players: self.names.clone(),
            cheats: self.seats.iter().map(|s| matches!(s, Seat::Cheat(_))).collect(),
            seed: self.seed.0,
            states: vec![self.sim.fluents(state)],
            sealed: true,
            ..Record::default()
        }
    }

    fn has_guests(&self) -> bool {
        self.seats.iter().any(|seat| matches!(seat, Seat::Guest(_)))
    }

    /// Speaks to all guests at once. The answers are in the order of the seats.
    fn each_guest<T: Send>(
        &mut self,
        told: &[Vec<Told>],
        say: impl Fn(&mut dyn Guest, &[Told], &StopFlag) -> T + Sync,
    ) -> Vec<Option<T>> {
        let (stop, say) = (&self.stop, &say);
        let guests = self.seats.iter_mut().zip(told).enumerate();
        let guests = guests.filter_map(|(place, (seat, told))| match seat {
            Seat::Guest(guest) => Some((place, guest, told)),
            _ => None,
        });
        let (places, speaking): (Vec<usize>, Vec<_>) = guests
            .map(|(place, guest, told)| (place, move || say(guest.as_mut(), told, stop)))
            .unzip();
        let spoken = all_at_once(self.runtime.as_ref(), speaking);
        let mut answers: Vec<Option<T>> = told.iter().map(|_| None).collect();
        for (place, answer) in places.into_iter().zip(spoken) {
            answers[place] = Some(answer.expect("guests do not panic"));
        }
        answers
    }

    fn legal_moves(&mut self, state: &State, round: usize) -> Result<Vec<Vec<MoveId>>, Fault> {
        let mut all = Vec::with_capacity(self.seats.len());
        for role in 0..self.seats.len() {
            let mut legal = Vec::new();
            self.sim.legal(state, RoleId(role as u16), &mut legal)?;
            if legal.is_empty() {
                let name = &self.sim.roles()[role];
                let round = round + 1;
                return Err(Fault::NoMove {
                    role: Some(name.clone()),
                    round: Some(round),
                });
            }
            all.push(legal);
        }
        Ok(all)
    }

    /// Players that learn before the first move do so now, for a limited time if moves have a clock. A player that
    /// fails here is asked for moves all the same.
    fn prepare(&mut self) {
        for seat in &mut self.seats {
            let Seat::Player(player) = seat else {
                continue;
            };
            let stop = match self.clock {
                Clock::None => self.stop.clone(),
                Clock::PerMove { time, .. } => timer(START.max(time), &self.stop, &self.runtime),
            };
            let _ = player.prepare(&stop);
        }
    }

    /// Asks all players for a move: one after the other, or all at once if there are guests.
    fn ask_all(&mut self, state: &State, told: &[Vec<Told>]) -> Vec<Option<Asked>> {
        let needs_state = self.seats.iter().any(|seat| matches!(seat, Seat::Cheat(_)));
        let fluents = match needs_state {
            true => self.sim.fluents(state),
            false => Vec::new(),
        };
        let (fluents, clock, stop, guests) = (&fluents[..], self.clock, &self.stop, self.has_guests());
        let runtime = &self.runtime;
        let seats = self.seats.iter_mut().zip(told);
        let asking = seats.map(|(seat, told)| move || ask(seat, told, fluents, clock, stop, runtime));
        if !guests {
            return asking.map(|mut ask| ask()).collect();
        }
        let asked = all_at_once(runtime.as_ref(), asking.collect());
        asked
            .into_iter()
            .map(|asked| asked.unwrap_or_else(|| Some(crashed())))
            .collect()
    }

    fn nature(&self, role: usize, legal: &[MoveId], place: u64) -> Made {
        let mv = *self.seed.child("nature").nth(place).rng().pick(legal);
        let text = self.sim.move_text(RoleId(role as u16), mv).to_owned();
        Made {
            mv,
            submitted: text.clone(),
            text,
            substitution: None,
        }
    }

    /// Holds an answer against the true state.
    fn judge(&self, role: usize, legal: &[MoveId], place: u64, asked: Asked, report: &mut SeatReport) -> Made {
        let id = RoleId(role as u16);
        report.times.push(asked.took);
        report.moves += 1;
        let (late, too_late) = match self.seats[role] {
            // A guest keeps a clock of its own.
            Seat::Guest(_) => (false, false),
            _ => self.lateness(asked.took),
        };
        let (found, submitted, substitution) = match asked.answer {
            Ok((decision, raw)) => {
                let found = legal
                    .iter()
                    .copied()
                    .find(|&m| self.sim.move_text(id, m) == decision.mv);
                report.decisions.push(decision);
                let substitution = match found {
                    Some(_) if too_late => Some(Substitution::Late),
                    Some(_) => None,
                    None => Some(Substitution::Illegal),
                };
                (found, raw, substitution)
            }
            Err((raw, why)) => {
                report.decisions.push(Decision::default());
                (None, raw, Some(why))
            }
        };
        report.late += u64::from(late || (found.is_none() && substitution == Some(Substitution::Late)));
        report.illegal += u64::from(found.is_none());
        let kept = found.filter(|_| substitution.is_none());
        let mv = kept.unwrap_or_else(|| *self.seed.child("substitute").nth(place).rng().pick(legal));
        Made {
            mv,
            text: self.sim.move_text(id, mv).to_owned(),
            submitted,
            substitution,
        }
    }

    /// Whether a move that took this long is late, and whether it is too late.
    fn lateness(&self, took: Duration) -> (bool, bool) {
        match self.clock {
            Clock::None => (false, false),
            Clock::PerMove { time, grace } => (took > time, took > time.saturating_add(grace)),
        }
    }

    /// Tells every role what it perceives and moves on.
    fn finish_round(
        &mut self,
        state: &State,
        made: Vec<Made>,
        told: &mut [Vec<Told>],
        record: &mut Record,
    ) -> Result<State, Fault> {
        let joint: Vec<MoveId> = made.iter().map(|m| m.mv).collect();
        let mut round = Round::default();
        let mut percepts = Vec::new();
        for (role, made) in made.into_iter().enumerate() {
            let id = RoleId(role as u16);
            self.sim.percepts(state, &joint, id, &mut percepts)?;
            let sees: Vec<String> = percepts
                .iter()
                .map(|&p| self.sim.percept_text(id, p).to_owned())
                .collect();
            told[role].push(Told {
                own: made.text.clone(),
                sees: sees.clone(),
            });
            round.moves.push(made.text);
            round.percepts.push(sees);
            round.submitted.push(made.submitted);
            round.substitutions.push(made.substitution);
        }
        let next = self.sim.next(state, &joint)?;
        record.rounds.push(round);
        record.states.push(self.sim.fluents(&next));
        Ok(next)
    }
}

/// Completes the times of a match over the wire: of the states reached, of the moves, and what went wrong at the start.
fn note_times(record: &mut Record, seats: &[SeatReport]) {
    let (states, rounds) = (record.states.len(), record.rounds.len());
    let Some(wire) = &mut record.wire else {
        return;
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_millis() as u64);
    if wire.state_times.is_empty() {
        wire.start_time = now;
    }
    wire.state_times.resize(states, now);
    wire.start_errors = seats.iter().map(start_error).collect();
    for round in wire.times_ms.len()..rounds {
        let time = |seat: &SeatReport| seat.times.get(round).map_or(0, |t| t.as_millis() as u64);
        wire.times_ms.push(seats.iter().map(time).collect());
    }
}

fn start_error(seat: &SeatReport) -> String {
    match &seat.absent {
        None => String::new(),
        Some(Substitution::Missing(why)) => format!("CE {why}"),
        Some(other) => other.code().to_owned(),
    }
}

/// A flag that is raised when so much time has passed.
fn timer(time: Duration, stop: &StopFlag, runtime: &Arc<dyn Runtime>) -> StopFlag {
    let (started, clock, time) = (runtime.now(), runtime.clone(), time.as_secs_f64());
    StopFlag::by(move || (clock.now() - started).as_secs_f64() / time).under(stop)
}

/// Asks one seat.
fn ask(
    seat: &mut Seat,
    told: &[Told],
    fluents: &[String],
    clock: Clock,
    stop: &StopFlag,
    runtime: &Arc<dyn Runtime>,
) -> Option<Asked> {
    let started = runtime.now();
    let budget = match clock {
        Clock::None => Budget::until(stop.clone()),
        Clock::PerMove { time, .. } => Budget::timed(timer(thinking(time), stop, runtime)),
    };
    let decided = |decision: Result<Decision, Fault>| match decision {
        Ok(decision) => {
            let submitted = decision.mv.clone();
            Ok((decision, submitted))
        }
        Err(fault) => Err((String::new(), Substitution::Missing(fault.to_string()))),
    };
    let answer = match seat {
        Seat::Player(player) => decided(player.choose(told, &budget)),
        Seat::Cheat(cheat) => decided(cheat.choose_knowing(fluents, &budget)),
        Seat::Guest(guest) => match guest.choose(told, stop) {
            Ok(reply) => Ok((Decision::plain(reply.mv), reply.raw)),
            Err(excuse) => Err((excuse.raw, excuse.why)),
        },
        Seat::Nature => return None,
    };
    Some(Asked {
        answer,
        took: runtime.now() - started,
    })
}

/// The answer of a player that panicked: the match goes on.
fn crashed() -> Asked {
    let why = "the player crashed; please report this".to_owned();
    Asked {
        answer: Err((String::new(), Substitution::Missing(why))),
        took: Duration::ZERO,
    }
}
