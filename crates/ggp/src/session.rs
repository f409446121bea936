//! One match as its player sees it: what was told, what is asked, and an answer in time, whatever happens.
//!
//! Two players think about each move, each on a thread of its own (`thinker`): the player that was asked for, and a
//! simple and quick fallback, whose move is sent where the first player is late, fails or panics. A connection waits
//! for the first player until the move is nearly due, and then answers with the best move there is.
//!
//! `news` takes in what PLAY and STOP tell. `dialect` finds out which variant of the protocol a manager speaks.

mod dialect;
mod news;
mod thinker;

use crate::error::Error;
use crate::factory::{PlayedEnd, PlayedMatch, PlayerFactory};
use crate::http::printable;
use crate::kif;
use crate::message::{News, Variant};
use crate::places::Place;
use crate::presence::{Caller, Presence};
use crate::spelling::Spelling;
use dialect::StateTracker;
use game::{Budget, RoleId, Simulator, StopFlag, Told};
use gdl::Rules;
use news::Heard;
use referee::Runtime;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use thinker::{Answers, Thinkers};
use tracing::{debug, info, warn};

/// The contents of a START.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchStart {
    /// Name of the match.
    pub id: String,
    /// Our role, as sent.
    pub role: String,
    /// The list of rules, as sent.
    pub rules: String,
    /// Seconds until the first move.
    pub start_clock: u64,
    /// Seconds for each move.
    pub play_clock: u64,
    /// Time at the end of each clock without thinking.
    pub margin: Duration,
    /// Variant of the protocol, if it is known beforehand.
    pub variant: Option<Variant>,
}

/// Time at the end of a clock without thinking: the margin that was asked for, and at least this share of the clock.
pub(crate) const MARGIN: Duration = Duration::from_millis(300);
const MARGIN_SHARE: f64 = 0.05;

/// Least time to answer, also for a clock of zero seconds.
const MOMENT: Duration = Duration::from_millis(150);

/// Least time of the fallback, also where the message came so slowly that its answer is overdue.
const LAST_MOMENT: Duration = Duration::from_millis(20);

/// Times after the first byte of a message at which thinking should end and at which the answer is due.
pub(crate) fn due(clock: u64, margin: Duration) -> (Duration, Duration) {
    let clock = Duration::from_secs(clock);
    let margin = clock.mul_f64(MARGIN_SHARE).max(margin).min(clock / 2);
    (clock - margin, (clock - margin / 3).max(MOMENT))
}

/// A match that is being played.
pub struct Session {
    /// Name of the match.
    pub id: String,
    /// The START of the match, to recognise a repetition.
    pub start: Arc<MatchStart>,
    rules: Rules,
    role: RoleId,
    roles: Vec<String>,
    spelling: Spelling,
    factory: Arc<dyn PlayerFactory>,
    first_legal: Option<String>,
    number: u64,
    progress: Mutex<MatchProgress>,
    work: Work,
}

/// What all work on a match has in common.
#[derive(Clone)]
pub struct Work {
    /// Raised when the match is given up: ends grounding, compiling and searching.
    pub stop: StopFlag,
    /// The place among the matches that compute.
    pub place: Arc<Place>,
    /// What is known of the manager.
    pub presence: Arc<Presence>,
    /// Time and threads.
    pub runtime: Arc<dyn Runtime>,
}

/// What was told and asked so far.
struct MatchProgress {
    variant: Option<Variant>,
    told: Vec<Told>,
    /// One entry for each turn that was asked for.
    turns: Vec<AskedTurn>,
    /// Raised when the present question is cancelled.
    current: StopFlag,
    /// Number of the present question. Answers to older questions are not kept.
    question: u64,
    thinkers: Thinkers,
    /// The true state, if the manager tells every joint move of a game with `sees`.
    tracker: Option<StateTracker>,
    /// A first move, found during the start clock.
    prepared: Option<String>,
    /// The joint moves, if the manager tells them.
    joint: Vec<Vec<String>>,
    /// How the match ended, if it has.
    end: Option<PlayedEnd>,
}

#[derive(Clone, Default)]
struct AskedTurn {
    /// The news in canonical text.
    news: String,
    reply: Option<String>,
    /// Time of the reply in milliseconds.
    ms: u64,
}

/// Number of the next session.
static NEXT: AtomicU64 = AtomicU64::new(0);

impl Session {
    /// Reads the rules and makes the players.
    ///
    /// # Errors
    /// If the match cannot be played.
    pub fn open(start: Arc<MatchStart>, factory: Arc<dyn PlayerFactory>, work: Work) -> Result<Session, Error> {
        let inner = start.rules.trim().strip_prefix('(').and_then(|r| r.strip_suffix(')'));
        let text = inner.ok_or(Error::RulesNotAList)?;
        let reading = gdl::read(
            text,
            &gdl::Options {
                notation: Some(gdl::Notation::Prefix),
                ..gdl::Options::default()
            },
        );
        for diagnostic in reading
            .diagnostics
            .iter()
            .filter(|d| d.severity == gdl::Severity::Error)
        {
            warn!(
                id = start.id,
                code = diagnostic.code.text(),
                "the rules have a mistake: {}",
                printable(&diagnostic.message)
            );
        }
        let rules = reading.rules;
        let mut announced = rules.clone();
        announced.announce_moves();
        let mut sim = factory.simulator(&announced, &work.stop).map_err(Error::Simulator)?;
        let folded = start.role.to_ascii_lowercase();
        let role = sim.roles().iter().position(|r| *r == folded);
        let role = role.ok_or_else(|| Error::UnknownRole(start.role.clone()))?;
        let roles = sim.roles().to_vec();
        let role = RoleId(role as u16);
        let first_legal = first_legal(sim.as_mut(), role)?;
        let thinkers = Thinkers::new(&factory, &start.id, &announced, role, &work);
        let known = start.variant;
        let session = Session {
            id: start.id.clone(),
            spelling: Spelling::of(&rules),
            role,
            roles,
            progress: Mutex::new(MatchProgress {
                variant: start.variant,
                told: Vec::new(),
                turns: Vec::new(),
                current: StopFlag::default(),
                question: 0,
                thinkers,
                tracker: None,
                prepared: None,
                joint: Vec::new(),
                end: None,
            }),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            rules,
            start,
            factory,
            first_legal,
            work,
        };
        if let Some(variant) = known {
            session.settle(&mut session.lock(), variant);
        }
        session.report(&session.lock());
        Ok(session)
    }

    /// Lets the player prepare until the start clock runs out. The clock began when the first byte arrived.
    pub fn prepare(&self, caller: &Caller<'_>) {
        let (think, answer) = due(self.start.start_clock, self.start.margin);
        let budget = self.timed(caller.arrived, think);
        let receiver = {
            let mut progress = self.lock();
            progress.current = budget.stop.clone();
            progress.thinkers.player.prepare(budget)
        };
        if let Ok(Ok(decision)) = caller.wait(&self.work.presence, &receiver, caller.arrived + answer) {
            debug!(id = self.id, "prepared");
            self.lock().prepared = Some(decision.mv).filter(|mv| !mv.is_empty());
        }
    }

    /// Answers a PLAY.
    pub fn play(&self, news: &News<'_>, caller: &Caller<'_>) -> String {
        let arrived = caller.arrived;
        let (think, answer) = due(self.start.play_clock, self.start.margin);
        let budget = self.timed(arrived, think);
        let (turn, question, player, fallback) = {
            let mut progress = self.lock();
            let turn = match self.hear(&mut progress, news) {
                Heard::Asked(turn) => turn,
                Heard::Repeated(reply) => return reply,
            };
            // A new question cancels the question before.
            progress.current.raise();
            progress.current = budget.stop.clone();
            progress.question += 1;
            let told: Arc<[Told]> = progress.told.clone().into();
            let player = progress.thinkers.player.ask(told.clone(), budget.clone());
            // The fallback follows the match until its answer is due: without a model it has no legal move.
            let until = answer.max(caller.now() - arrived + LAST_MOMENT);
            let fallback = progress.thinkers.fallback.ask(told, self.timed(arrived, until));
            (turn, progress.question, player, fallback)
        };
        let mv = self.wait(&player, &fallback, caller, arrived + answer, turn);
        let reply = mv.map_or_else(|| "nil".to_owned(), |mv| self.spelling.send(&mv));
        let ms = (caller.now() - arrived).as_millis() as u64;
        let mut progress = self.lock();
        if progress.question == question
            && let Some(asked) = progress.turns.get_mut(turn)
        {
            (asked.reply, asked.ms) = (Some(reply.clone()), ms);
            self.report(&progress);
        }
        drop(progress);
        budget.stop.raise();
        info!(id = self.id, turn, reply, ms, "moves");
        reply
    }

    /// The best move when the answer is due.
    fn wait(
        &self,
        player: &Answers,
        fallback: &Answers,
        caller: &Caller<'_>,
        due: Instant,
        turn: usize,
    ) -> Option<String> {
        match caller.wait(&self.work.presence, player, due) {
            Ok(Ok(decision)) if !decision.mv.is_empty() => {
                if !decision.belief.is_empty() {
                    debug!(id = self.id, turn, "{}", decision.belief);
                }
                return Some(decision.mv);
            }
            Ok(Ok(_)) => warn!(id = self.id, turn, "the player chose nothing"),
            Ok(Err(why)) => warn!(id = self.id, turn, "the player has no move: {why}"),
            Err(_) => warn!(id = self.id, turn, "the player is late"),
        }
        // The fallback began at the same time and is quick.
        let left = due.saturating_duration_since(caller.now()).max(LAST_MOMENT);
        match fallback.recv_timeout(left) {
            Ok(Ok(decision)) if !decision.mv.is_empty() => return Some(decision.mv),
            Ok(Err(why)) => warn!(id = self.id, turn, "nothing explains what was told: {why}"),
            _ => warn!(id = self.id, turn, "there was no time for any move"),
        }
        let progress = self.lock();
        let last = progress.turns.iter().rev().find_map(|t| t.reply.as_deref());
        let last = last.and_then(kif::canonical).filter(|mv| mv != "nil");
        match turn {
            0 => progress.prepared.clone().or(self.first_legal.clone()),
            _ => last.or_else(|| self.first_legal.clone()),
        }
    }

    /// Takes in the news of a STOP.
    pub fn stop(&self, news: &News<'_>) {
        let mut progress = self.lock();
        progress.current.raise();
        let before = progress.told.len();
        self.hear(&mut progress, news);
        progress.end = Some(PlayedEnd::Over);
        self.report(&progress);
        let last = progress.told.last().filter(|_| progress.told.len() > before);
        match last {
            Some(told) => info!(
                id = self.id,
                turns = progress.told.len(),
                last = told.own,
                sees = told.sees.join(" "),
                "is over"
            ),
            None => info!(id = self.id, turns = progress.told.len(), "is over"),
        }
    }

    fn timed(&self, arrived: Instant, think: Duration) -> Budget {
        let think = think.as_secs_f64().max(1e-3);
        let runtime = self.work.runtime.clone();
        let passed = move || runtime.now().saturating_duration_since(arrived);
        let clock = StopFlag::by(move || passed().as_secs_f64() / think);
        Budget::timed(clock.under(&self.work.stop))
    }

    /// Notes that the match is given up, unless it is over.
    pub fn give_up(&self) {
        let mut progress = self.lock();
        if progress.end.is_none() {
            progress.end = Some(PlayedEnd::GivenUp);
            self.report(&progress);
        }
    }

    /// Tells the factory how far the match is.
    fn report(&self, progress: &MatchProgress) {
        let told = progress.told.len();
        self.factory.played(&PlayedMatch {
            start: &self.start,
            number: self.number,
            role: usize::from(self.role.0),
            roles: &self.roles,
            variant: progress.variant,
            told: &progress.told,
            joint: match progress.joint.len() == told {
                true => &progress.joint[..],
                false => &[],
            },
            replies: progress.turns.iter().map(|turn| turn.reply.as_deref()).collect(),
            times_ms: progress.turns.iter().map(|turn| turn.ms).collect(),
            end: progress.end,
        });
    }

    /// Whether a move was asked for.
    pub fn is_playing(&self) -> bool {
        !self.lock().turns.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, MatchProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Our role, in canonical text.
    pub fn role_name(&self) -> &str {
        &self.roles[self.role.0 as usize]
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.work.stop.raise();
    }
}

impl MatchProgress {
    fn reply_of(&self, turn: usize) -> Option<String> {
        let reply = self.turns.get(turn)?.reply.as_deref()?;
        kif::canonical(reply).filter(|mv| mv != "nil")
    }

    /// Makes new players, which are told everything from the beginning.
    fn replace_players(
        &mut self,
        factory: &Arc<dyn PlayerFactory>,
        id: &str,
        rules: &Rules,
        role: RoleId,
        work: &Work,
    ) {
        self.current.raise();
        self.thinkers = Thinkers::new(factory, id, rules, role, work);
    }
}

fn first_legal(sim: &mut dyn Simulator, role: RoleId) -> Result<Option<String>, Error> {
    let state = sim.initial()?;
    let mut legal = Vec::new();
    sim.legal(&state, role, &mut legal)?;
    match legal.first() {
        Some(&mv) => Ok(Some(sim.move_text(role, mv).to_owned())),
        None if sim.terminal(&state)? => Ok(None),
        None => Err(Error::NoFirstMove),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_leave_a_margin() {
        let with = |clock, margin| {
            let (think, answer) = due(clock, margin);
            (think.as_millis(), answer.as_millis())
        };
        let ms = |clock| with(clock, MARGIN);
        assert_eq!(with(10, Duration::from_millis(1_500)), (8_500, 9_500));
        assert_eq!(ms(0), (0, 150));
        assert_eq!(ms(1), (700, 900));
        assert_eq!(ms(15), (14_250, 14_750));
        assert_eq!(ms(60), (57_000, 59_000));
    }
}
