//! Playing a match to its end.
//!
//! Nature moves uniformly from the match's seed. A move that is not legal in the true state, or that does not come, is
//! replaced by a random legal one, from the seed as well, and the record says why.
//!
//! A player's flag is raised some time before its move is due, because it takes a moment to notice, to decide and, on a busy
//! machine, to be given a core at all.

use crate::record::{Record, Round, Substitution};
use game::{Budget, Cheat, Decision, Fault, Meter, MoveId, Player, RoleId, Seed, Simulator, State, StopFlag, Told};
use std::time::{Duration, Instant};

/// Who sits in a role's place.
pub enum Seat {
    /// Knows what the role was told.
    Player(Box<dyn Player>),
    /// Is shown the true state.
    Cheat(Box<dyn Cheat>),
    /// Chance.
    Nature,
}

/// How long a move may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Players stop by their own counts.
    None,
    /// A move is due after this long.
    PerMove {
        /// When it is due.
        time: Duration,
        /// How much later it is still accepted, and only counted as late.
        grace: Duration,
    },
}

/// The part of the time for a move in which the player should have stopped thinking: this share of it, but no less than this, if
/// there is that much. The least is how long a busy machine may leave the player without a core, a few slices of its scheduler
/// (`benchmarks/deadline.py` measures it).
const MARGIN: f64 = 0.05;
const LEAST_MARGIN: Duration = Duration::from_millis(25);

/// How long a player may think if its move is due after this long.
fn thinking(time: Duration) -> Duration {
    time - time.mul_f64(MARGIN).max(LEAST_MARGIN).min(time / 3)
}

/// A match about to be played.
pub struct Match<'a> {
    /// Where the true state is kept.
    pub sim: &'a mut dyn Simulator,
    /// One for each role.
    pub seats: Vec<Seat>,
    /// Names of the players, for the record.
    pub names: Vec<String>,
    /// Nature and replacements come from here.
    pub seed: Seed,
    /// Time for a move.
    pub clock: Clock,
    /// Rounds after which a match is given up.
    pub max_rounds: usize,
    /// Ends the match early, as aborted.
    pub stop: StopFlag,
}

/// How a match ended, and what it took.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Everything that happened.
    pub record: Record,
    /// Per role.
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
}

/// Somebody's turn.
struct Turn<'a> {
    role: usize,
    round: usize,
    told: &'a [Told],
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
    pub fn play(mut self) -> Result<Outcome, Fault> {
        let n_roles = self.sim.roles().len();
        let mut seats = vec![SeatReport::default(); n_roles];
        let mut told: Vec<Vec<Told>> = vec![Vec::new(); n_roles];
        let mut state = self.sim.initial()?;
        let mut record = self.open_record(&state);
        while !self.sim.terminal(&state)? {
            if self.stop.is_raised() || record.rounds.len() >= self.max_rounds {
                record.aborted = true;
                break;
            }
            let mut made = Vec::with_capacity(n_roles);
            for role in 0..n_roles {
                let turn = Turn {
                    role,
                    round: record.rounds.len(),
                    told: &told[role],
                };
                made.push(self.one_move(&turn, &state, &mut seats[role])?);
            }
            state = self.finish_round(&state, made, &mut told, &mut record)?;
        }
        if !record.aborted {
            for role in 0..n_roles {
                record.goals.push(self.sim.goal(&state, RoleId(role as u16))?.points());
            }
        }
        for (seat, report) in self.seats.iter().zip(&mut seats) {
            report.meter = match seat {
                Seat::Player(player) => player.meter(),
                Seat::Cheat(cheat) => cheat.meter(),
                Seat::Nature => Meter::default(),
            };
        }
        Ok(Outcome { record, seats })
    }

    fn open_record(&self, state: &State) -> Record {
        Record {
            roles: self.sim.roles().to_vec(),
            players: self.names.clone(),
            cheats: self.seats.iter().map(|s| matches!(s, Seat::Cheat(_))).collect(),
            seed: self.seed.0,
            states: vec![self.sim.fluents(state)],
            ..Record::default()
        }
    }

    fn one_move(&mut self, turn: &Turn<'_>, state: &State, report: &mut SeatReport) -> Result<Made, Fault> {
        let (role, id) = (turn.role, RoleId(turn.role as u16));
        let mut legal = Vec::new();
        self.sim.legal(state, id, &mut legal)?;
        if legal.is_empty() {
            let name = &self.sim.roles()[role];
            let round = turn.round + 1;
            return Err(Fault::Unknown(format!(
                "E-NO-MOVE: {name} has no legal move in round {round}"
            )));
        }
        let place = (turn.round * self.seats.len() + role) as u64;
        if matches!(self.seats[role], Seat::Nature) {
            let mv = *self.seed.child("nature").nth(place).rng().pick(&legal);
            let text = self.sim.move_text(id, mv).to_owned();
            return Ok(Made {
                mv,
                submitted: text.clone(),
                text,
                substitution: None,
            });
        }
        let started = Instant::now();
        let asked = self.ask(turn, state, started);
        let took = started.elapsed();
        report.times.push(took);
        report.moves += 1;
        let (submitted, missing) = match asked {
            Ok(decision) => {
                let mv = decision.mv.clone();
                report.decisions.push(decision);
                (mv, None)
            }
            Err(fault) => {
                report.decisions.push(Decision::default());
                (String::new(), Some(fault))
            }
        };
        let found = legal.iter().copied().find(|&m| self.sim.move_text(id, m) == submitted);
        let (late, too_late) = self.lateness(took);
        let substitution = match (found, missing) {
            (Some(_), _) if too_late => Some(Substitution::Late),
            (Some(_), _) => None,
            (None, Some(fault)) => Some(Substitution::Missing(fault.to_string())),
            (None, None) => Some(Substitution::Illegal),
        };
        report.late += u64::from(late);
        report.illegal += u64::from(found.is_none());
        let kept = found.filter(|_| substitution.is_none());
        let mv = kept.unwrap_or_else(|| *self.seed.child("substitute").nth(place).rng().pick(&legal));
        Ok(Made {
            mv,
            text: self.sim.move_text(id, mv).to_owned(),
            submitted,
            substitution,
        })
    }

    /// Whether a move that took this long is late, and whether it is too late.
    fn lateness(&self, took: Duration) -> (bool, bool) {
        match self.clock {
            Clock::None => (false, false),
            Clock::PerMove { time, grace } => (took > time, took > time.saturating_add(grace)),
        }
    }

    fn ask(&mut self, turn: &Turn<'_>, state: &State, started: Instant) -> Result<Decision, Fault> {
        let budget = match self.clock {
            Clock::None => Budget::until(StopFlag::default()),
            Clock::PerMove { time, .. } => {
                let time = thinking(time).as_secs_f64();
                Budget::timed(StopFlag::by(move || started.elapsed().as_secs_f64() / time))
            }
        };
        match &mut self.seats[turn.role] {
            Seat::Player(player) => player.choose(turn.told, &budget),
            Seat::Cheat(cheat) => cheat.choose_knowing(&self.sim.fluents(state), &budget),
            Seat::Nature => Err(Fault::Unknown("nature is not asked".to_owned())),
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
