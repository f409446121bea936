//! One match as its player sees it: what was told, what is asked, and an answer in time, whatever happens.
//!
//! Two workers think about each move, each on its own thread. The sitter is the player that was asked for; the steward is a simple and
//! quick one that finds a legal move where the sitter is late, fails or breaks down. A connection waits for the sitter
//! until the move is nearly due and then answers with the best there is.
//!
//! Which dialect a manager speaks is found out from its messages: five elements are GDL-II with turns; a list for a game without
//! `sees` is a joint move; a list for a game with `sees` is a joint move (ggp-base tells everybody everything) or percepts
//! (Dresden 2010), and the first one that is not empty decides. It is the second message about a position that is known, so both
//! readings can be tried against the rules.

use crate::kif;
use crate::message::{News, Variant};
use crate::spelling::Spelling;
use game::{Budget, Decision, Fault, MoveId, RoleId, Simulator, State, StopFlag, Told};
use gdl::Rules;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tracing::{debug, info, warn};

/// Who plays: makes players for matches. The methods are called on threads of the match.
pub trait Bench: Send + Sync {
    /// The player that was asked for.
    fn sitter(&self, match_id: &str, rules: &Rules, role: RoleId) -> Result<Box<dyn Sitter>, String>;

    /// Somebody simple and quick.
    fn steward(&self, match_id: &str, rules: &Rules, role: RoleId) -> Result<Box<dyn Sitter>, String>;

    /// The rules, ready to be asked at once.
    fn simulator(&self, rules: &Rules) -> Result<Box<dyn Simulator>, String>;
}

/// Somebody who plays one role in one match.
pub trait Sitter: Send {
    /// Uses the time before the first move. Returns a first move, if there is one already.
    fn prepare(&mut self, budget: &Budget) -> Option<String>;

    /// Chooses a move, knowing everything that was told so far. Never called with less than the time before.
    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault>;
}

/// What a match is about.
pub struct Brief {
    /// The match.
    pub id: String,
    /// Our role, as sent.
    pub role: String,
    /// The list of rules, as sent.
    pub rules: String,
    /// Seconds until the first move.
    pub start_clock: u64,
    /// Seconds for each move.
    pub play_clock: u64,
    /// The dialect, if it is known beforehand.
    pub variant: Option<Variant>,
}

/// The least that is kept back of a clock to answer in time, and the share that is if that is more.
const MARGIN: Duration = Duration::from_millis(300);
const MARGIN_SHARE: f64 = 0.05;

/// Even for a clock of zero seconds a legal move takes a moment.
const MOMENT: Duration = Duration::from_millis(150);

/// Rounds that may get lost in one piece. More of them are a mistake.
const MAX_GAP: u64 = 1_000;

/// Joint moves that are tried in order to find out what a list means.
const MAX_JOINTS: usize = 20_000;

/// When thinking should end, and when there must be an answer, from the first byte of the question.
pub(crate) fn due(clock: u64) -> (Duration, Duration) {
    let clock = Duration::from_secs(clock);
    let margin = clock.mul_f64(MARGIN_SHARE).max(MARGIN).min(clock / 2);
    (clock - margin, (clock - margin / 3).max(MOMENT))
}

/// A match that is being played.
pub struct Session {
    /// The match.
    pub id: String,
    /// What began it, to know a repetition.
    pub brief: Brief,
    rules: Rules,
    role: RoleId,
    roles: Vec<String>,
    spelling: Spelling,
    bench: Arc<dyn Bench>,
    first_legal: Option<String>,
    progress: Mutex<Progress>,
    touched: Mutex<Instant>,
}

/// How far the match is.
struct Progress {
    variant: Option<Variant>,
    told: Vec<Told>,
    /// One for each turn that was asked for.
    turns: Vec<Turn>,
    /// Raised when the present computation is no longer wanted.
    current: StopFlag,
    /// Counts questions: an answer to an old one is not kept.
    question: u64,
    desk: Desk,
    /// Where the match is, if every joint move was told although the game has `sees`.
    line: Option<Line>,
    /// A first move from before the match.
    prepared: Option<String>,
}

#[derive(Clone, Default)]
struct Turn {
    /// What was said, canonically.
    news: String,
    reply: Option<String>,
}

/// The true course of a match whose manager tells everything.
struct Line {
    sim: Box<dyn Simulator>,
    state: Option<State>,
}

impl Session {
    /// Reads the rules and takes a seat. An error is a reason not to play.
    pub fn open(brief: Brief, bench: Arc<dyn Bench>) -> Result<Session, String> {
        let inner = brief.rules.trim().strip_prefix('(').and_then(|r| r.strip_suffix(')'));
        let text = inner.ok_or("the rules are not a list")?;
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
                id = brief.id,
                code = diagnostic.code.text(),
                "the rules have a mistake: {}",
                diagnostic.message
            );
        }
        let rules = reading.rules;
        let mut announced = rules.clone();
        announced.announce_moves();
        let mut sim = bench.simulator(&announced)?;
        let folded = brief.role.to_ascii_lowercase();
        let role = sim.roles().iter().position(|r| *r == folded);
        let role = role.ok_or_else(|| format!("the rules have no role `{}`", brief.role))?;
        let roles = sim.roles().to_vec();
        let role = RoleId(role as u16);
        let first_legal = first_legal(sim.as_mut(), role)?;
        let desk = Desk::new(&bench, &brief.id, &announced, role);
        let known = brief.variant;
        let session = Session {
            id: brief.id.clone(),
            spelling: Spelling::of(&rules),
            role,
            roles,
            progress: Mutex::new(Progress {
                variant: brief.variant,
                told: Vec::new(),
                turns: Vec::new(),
                current: StopFlag::default(),
                question: 0,
                desk,
                line: None,
                prepared: None,
            }),
            rules,
            brief,
            bench,
            first_legal,
            touched: Mutex::new(Instant::now()),
        };
        if let Some(variant) = known {
            session.settle(&mut session.lock(), variant);
        }
        Ok(session)
    }

    /// Uses the start clock, of which the question's first byte was the beginning.
    pub fn prepare(&self, arrived: Instant) {
        let (think, answer) = due(self.brief.start_clock);
        let budget = timed(arrived, think);
        let receiver = {
            let mut progress = self.lock();
            progress.current = budget.stop.clone();
            progress.desk.sitter.prepare(budget)
        };
        if let Ok(Ok(decision)) = receiver.recv_timeout(left(arrived, answer)) {
            debug!(id = self.id, "prepared");
            self.lock().prepared = Some(decision.mv).filter(|mv| !mv.is_empty());
        }
    }

    /// Answers a PLAY.
    pub fn play(&self, news: &News<'_>, arrived: Instant) -> String {
        let (think, answer) = due(self.brief.play_clock);
        let budget = timed(arrived, think);
        let (turn, question, sitter, steward) = {
            let mut progress = self.lock();
            let turn = match self.hear(&mut progress, news) {
                Heard::Asked(turn) => turn,
                Heard::Repeated(reply) => return reply,
            };
            // Whoever asks again has given up on the question before.
            progress.current.raise();
            progress.current = budget.stop.clone();
            progress.question += 1;
            let told: Arc<[Told]> = progress.told.clone().into();
            let sitter = progress.desk.sitter.ask(told.clone(), budget.clone());
            let steward = progress.desk.steward.ask(told, budget.clone());
            (turn, progress.question, sitter, steward)
        };
        let mv = self.wait(&sitter, &steward, arrived + answer, turn);
        let reply = mv.map_or_else(|| "nil".to_owned(), |mv| self.spelling.send(&mv));
        let mut progress = self.lock();
        if progress.question == question
            && let Some(turn) = progress.turns.get_mut(turn)
        {
            turn.reply = Some(reply.clone());
        }
        drop(progress);
        budget.stop.raise();
        info!(
            id = self.id,
            turn,
            reply,
            ms = arrived.elapsed().as_millis() as u64,
            "moves"
        );
        reply
    }

    /// The best move there is when it is due.
    fn wait(&self, sitter: &Answers, steward: &Answers, due: Instant, turn: usize) -> Option<String> {
        let left = due.saturating_duration_since(Instant::now());
        match sitter.recv_timeout(left) {
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
        // The steward began when the sitter did, and is quick.
        let left = due
            .saturating_duration_since(Instant::now())
            .max(Duration::from_millis(20));
        match steward.recv_timeout(left) {
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

    /// Takes in what a STOP tells.
    pub fn stop(&self, news: &News<'_>) {
        let mut progress = self.lock();
        progress.current.raise();
        let before = progress.told.len();
        self.hear(&mut progress, news);
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

    /// Ends all thinking.
    pub fn cancel(&self) {
        self.lock().current.raise();
    }

    /// Notes that the manager still knows about this match.
    pub fn touch(&self) {
        *self.touched.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Whether the manager has been silent for longer than its clocks allow, and then so long.
    pub fn is_stale(&self, forget: Duration) -> bool {
        let clocks = self.brief.play_clock.saturating_mul(3).max(self.brief.start_clock);
        let touched = *self.touched.lock().unwrap_or_else(PoisonError::into_inner);
        touched.elapsed() > Duration::from_secs(clocks).saturating_add(forget)
    }

    /// Whether it was asked for a move yet.
    pub fn is_playing(&self) -> bool {
        !self.lock().turns.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, progress: &mut Progress, news: &News<'_>) -> Heard {
        match news {
            News::Turn { turn, last, percepts } => self.hear_turn(progress, *turn, *last, percepts),
            News::List(list) => self.hear_list(progress, list),
        }
    }

    /// GDL-II with turns.
    fn hear_turn(&self, progress: &mut Progress, turn: u64, last: Option<&str>, percepts: &[&str]) -> Heard {
        if progress.variant.is_none() {
            debug!(id = self.id, "the manager speaks gdl2b");
            self.settle(progress, Variant::Gdl2b);
        }
        let sees = canonical_set(percepts);
        let own = last.and_then(kif::canonical);
        let said = format!("{} ({})", own.as_deref().unwrap_or("nil"), sees.join(" "));
        let known = progress.told.len() as u64;
        if turn == 0 {
            return self.hear_beginning(progress, said);
        }
        if turn <= known {
            return self.hear_again(progress, turn as usize, said, own, sees);
        }
        if turn - known > MAX_GAP {
            warn!(
                id = self.id,
                turn, known, "the turn is far ahead of what was told; taken for the next one"
            );
            return self.go_on(progress, said, own, Some(sees));
        }
        for missed in known..turn - 1 {
            warn!(id = self.id, turn = missed, "the news of this turn got lost");
            let own = progress.reply_of(missed as usize);
            progress.told.push(Told::unobserved(own));
        }
        progress.turns.resize(turn as usize, Turn::default());
        self.go_on(progress, said, own, Some(sees))
    }

    /// The next round, as told.
    fn go_on(&self, progress: &mut Progress, said: String, own: Option<String>, sees: Option<Vec<String>>) -> Heard {
        let round = progress.told.len();
        let sent = progress.reply_of(round);
        if let (Some(own), Some(sent)) = (&own, &sent)
            && own != sent
        {
            warn!(id = self.id, turn = round, sent, own, "another move was made for us");
        }
        let own = own.or(sent);
        progress.told.push(match sees {
            Some(sees) => Told {
                own: own.unwrap_or_else(|| Told::UNKNOWN.to_owned()),
                sees,
            },
            None => Told::unobserved(own),
        });
        progress.turns.resize(progress.told.len(), Turn::default());
        progress.turns.push(Turn {
            news: said,
            reply: None,
        });
        Heard::Asked(progress.told.len())
    }

    /// Turn 0: the beginning, the same again, or everything anew.
    fn hear_beginning(&self, progress: &mut Progress, said: String) -> Heard {
        if progress.told.is_empty() {
            if let Some(reply) = progress.turns.first().and_then(|t| t.reply.clone()) {
                return Heard::Repeated(reply);
            }
            progress.turns = vec![Turn {
                news: said,
                reply: None,
            }];
            return Heard::Asked(0);
        }
        warn!(id = self.id, "starts again from the beginning");
        progress.told.clear();
        progress.turns = vec![Turn {
            news: said,
            reply: None,
        }];
        progress.line = None;
        progress.sit_down(&self.bench, &self.id, &self.rules_in_use(progress.variant), self.role);
        Heard::Asked(0)
    }

    /// A turn that was asked for before.
    fn hear_again(
        &self,
        progress: &mut Progress,
        turn: usize,
        said: String,
        own: Option<String>,
        sees: Vec<String>,
    ) -> Heard {
        let before = progress.turns.get(turn).cloned().unwrap_or_default();
        let is_present = turn == progress.told.len();
        if before.news == said || !is_present {
            return match before.reply {
                Some(reply) => Heard::Repeated(reply),
                None if is_present => Heard::Asked(turn),
                None => Heard::Repeated("nil".to_owned()),
            };
        }
        warn!(
            id = self.id,
            turn, "the news of this turn came once more, and differently"
        );
        progress.told.pop();
        progress.turns.truncate(turn);
        let rules = self.rules_in_use(progress.variant);
        progress.sit_down(&self.bench, &self.id, &rules, self.role);
        self.go_on(progress, said, own, Some(sees))
    }

    /// A joint move, or percepts.
    fn hear_list(&self, progress: &mut Progress, list: &[&str]) -> Heard {
        let items: Option<Vec<String>> = list.iter().map(|item| kif::canonical(item)).collect();
        let Some(items) = items else {
            warn!(id = self.id, "the news cannot be read");
            return self.go_on(progress, String::new(), None, None);
        };
        let said = items.join(" ");
        if progress.turns.is_empty() && items.is_empty() {
            return self.hear_beginning(progress, said);
        }
        if let Some(turn) = progress.turns.last()
            && turn.reply.is_none()
            && turn.news == said
            && progress.turns.len() == progress.told.len() + 1
        {
            // The question before was given up and is asked again.
            return Heard::Asked(progress.told.len());
        }
        let variant = match progress.variant {
            Some(variant) => variant,
            None => {
                let variant = self.detect(progress, &items);
                info!(id = self.id, "the manager speaks {variant}");
                self.settle(progress, variant);
                variant
            }
        };
        match variant {
            Variant::Gdl1 if items.is_empty() => self.hear_beginning(progress, said),
            Variant::Gdl1 => self.hear_joint(progress, said, items),
            Variant::Gdl2a | Variant::Gdl2b => self.go_on(progress, said, None, Some(set(items))),
        }
    }

    fn hear_joint(&self, progress: &mut Progress, said: String, joint: Vec<String>) -> Heard {
        if joint.len() != self.roles.len() {
            warn!(
                id = self.id,
                moves = joint.len(),
                "the joint move does not have a move for each role"
            );
            return self.go_on(progress, said, None, None);
        }
        let own = joint[self.role.0 as usize].clone();
        let sees = match &mut progress.line {
            Some(line) => line.follow(&joint, self.role),
            None => Some(self.announced(&joint)),
        };
        self.go_on(progress, said, Some(own), sees)
    }

    /// A joint move as percepts: `(did ROLE MOVE)`.
    fn announced(&self, joint: &[String]) -> Vec<String> {
        let did = self
            .roles
            .iter()
            .zip(joint)
            .map(|(role, mv)| format!("(did {role} {mv})"));
        set(did.collect())
    }

    /// What a list means in a game with `sees`: it is about the first round, so both readings can be tried.
    fn detect(&self, progress: &Progress, items: &[String]) -> Variant {
        if !self.rules.has_sees() {
            return Variant::Gdl1;
        }
        if items.len() != self.roles.len() || progress.told.len() > 1 {
            return Variant::Gdl2a;
        }
        let read = self.read_both_ways(progress, items);
        read.unwrap_or_else(|why| {
            warn!(id = self.id, "{why}; what the manager tells is taken for percepts");
            Variant::Gdl2a
        })
    }

    fn read_both_ways(&self, progress: &Progress, items: &[String]) -> Result<Variant, String> {
        let mut sim = self.bench.simulator(&self.rules)?;
        let text = |fault: Fault| fault.to_string();
        let state = sim.initial().map_err(text)?;
        let mut legal = Vec::new();
        for role in (0..self.roles.len()).map(|r| RoleId(r as u16)) {
            let mut moves = Vec::new();
            sim.legal(&state, role, &mut moves).map_err(text)?;
            legal.push(moves);
        }
        let find = |(role, text): (usize, &String)| {
            let role_id = RoleId(role as u16);
            legal[role].iter().copied().find(|&m| sim.move_text(role_id, m) == text)
        };
        let joint: Option<Vec<MoveId>> = items.iter().enumerate().map(find).collect();
        if joint.is_none() {
            return Ok(Variant::Gdl2a);
        }
        let seen = set(items.to_vec());
        let sent = progress.reply_of(0);
        let can_be_seen = derivable(sim.as_mut(), &state, &legal, self.role, sent.as_deref(), &seen).map_err(text)?;
        Ok(if can_be_seen { Variant::Gdl2a } else { Variant::Gdl1 })
    }

    /// Knows from now on which dialect is spoken. Players who took it for another sit down anew.
    fn settle(&self, progress: &mut Progress, variant: Variant) {
        progress.variant = Some(variant);
        let joint = variant == Variant::Gdl1;
        if joint != self.rules.has_sees() {
            // A joint move announces itself, and percepts are those of the rules: as was assumed.
            return;
        }
        let rules = self.rules_in_use(Some(variant));
        progress.sit_down(&self.bench, &self.id, &rules, self.role);
        if !joint {
            // Nobody announces moves here; then nothing is seen at all.
            return;
        }
        // A manager that tells everybody everything: then everything is known.
        progress.line = self.bench.simulator(&rules).ok().map(|mut sim| {
            let state = sim.initial().ok();
            Line { sim, state }
        });
    }

    /// The rules as the players should have them.
    fn rules_in_use(&self, variant: Option<Variant>) -> Rules {
        let mut rules = self.rules.clone();
        match variant {
            Some(Variant::Gdl1) => rules.announce_all_moves(),
            Some(Variant::Gdl2a | Variant::Gdl2b) => {}
            None => rules.announce_moves(),
        }
        rules
    }

    /// Our role, in canonical text.
    pub fn role_name(&self) -> &str {
        &self.roles[self.role.0 as usize]
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// What became of news.
enum Heard {
    /// A move is wanted for this turn.
    Asked(usize),
    /// It was answered before.
    Repeated(String),
}

impl Progress {
    fn reply_of(&self, turn: usize) -> Option<String> {
        let reply = self.turns.get(turn)?.reply.as_deref()?;
        kif::canonical(reply).filter(|mv| mv != "nil")
    }

    /// New players, who know nothing yet.
    fn sit_down(&mut self, bench: &Arc<dyn Bench>, id: &str, rules: &Rules, role: RoleId) {
        self.current.raise();
        self.desk = Desk::new(bench, id, rules, role);
    }
}

impl Line {
    /// What a role perceives of a joint move; nothing if the line is lost.
    fn follow(&mut self, joint: &[String], me: RoleId) -> Option<Vec<String>> {
        let state = self.state.take()?;
        let mut ids = Vec::new();
        for (role, text) in joint.iter().enumerate() {
            let role = RoleId(role as u16);
            let mut legal = Vec::new();
            self.sim.legal(&state, role, &mut legal).ok()?;
            ids.push(legal.into_iter().find(|&m| self.sim.move_text(role, m) == text)?);
        }
        let mut percepts = Vec::new();
        self.sim.percepts(&state, &ids, me, &mut percepts).ok()?;
        let sees = percepts.iter().map(|&p| self.sim.percept_text(me, p).to_owned());
        let sees = set(sees.collect());
        self.state = self.sim.next(&state, &ids).ok();
        Some(sees)
    }
}

/// Whether a role that made a move, if it is known which, may have seen exactly this in the first round.
fn derivable(
    sim: &mut dyn Simulator,
    state: &State,
    legal: &[Vec<MoveId>],
    role: RoleId,
    own: Option<&str>,
    seen: &[String],
) -> Result<bool, Fault> {
    let me = role.0 as usize;
    let mut rows = legal.to_vec();
    if let Some(own) = own
        && let Some(&mv) = legal[me].iter().find(|&&m| sim.move_text(role, m) == own)
    {
        rows[me] = vec![mv];
    }
    let total = rows.iter().map(Vec::len).fold(1, usize::saturating_mul);
    for number in 0..total.min(MAX_JOINTS) {
        let mut rest = number;
        let mut joint = Vec::with_capacity(rows.len());
        for row in &rows {
            joint.push(row[rest % row.len()]);
            rest /= row.len();
        }
        let mut percepts = Vec::new();
        sim.percepts(state, &joint, role, &mut percepts)?;
        let texts = percepts.iter().map(|&p| sim.percept_text(role, p).to_owned());
        if set(texts.collect()) == seen {
            return Ok(true);
        }
    }
    Ok(false)
}

fn first_legal(sim: &mut dyn Simulator, role: RoleId) -> Result<Option<String>, String> {
    let text = |fault: Fault| fault.to_string();
    let state = sim.initial().map_err(text)?;
    let mut legal = Vec::new();
    sim.legal(&state, role, &mut legal).map_err(text)?;
    match legal.first() {
        Some(&mv) => Ok(Some(sim.move_text(role, mv).to_owned())),
        None if sim.terminal(&state).map_err(text)? => Ok(None),
        None => Err("there is no legal move to begin with".to_owned()),
    }
}

fn set(mut items: Vec<String>) -> Vec<String> {
    items.sort();
    items.dedup();
    items
}

/// Percepts as a set. What is not a term is kept as something that the rules do not know.
fn canonical_set(percepts: &[&str]) -> Vec<String> {
    let read = |percept: &&str| kif::canonical(percept).unwrap_or_else(|| "?unreadable".to_owned());
    set(percepts.iter().map(read).collect())
}

fn timed(arrived: Instant, think: Duration) -> Budget {
    let think = think.as_secs_f64().max(1e-3);
    Budget::timed(StopFlag::by(move || arrived.elapsed().as_secs_f64() / think))
}

fn left(arrived: Instant, due: Duration) -> Duration {
    (arrived + due).saturating_duration_since(Instant::now())
}

/// The two who think about a match.
struct Desk {
    sitter: Worker,
    steward: Worker,
}

impl Desk {
    fn new(bench: &Arc<dyn Bench>, id: &str, rules: &Rules, role: RoleId) -> Desk {
        type Make = fn(&dyn Bench, &str, &Rules, RoleId) -> Result<Box<dyn Sitter>, String>;
        let rules = Arc::new(rules.clone());
        let worker = |name: &str, make: Make| {
            let (bench, rules, id) = (bench.clone(), rules.clone(), id.to_owned());
            Worker::new(name, Box::new(move || make(bench.as_ref(), &id, &rules, role)))
        };
        Desk {
            sitter: worker("sitter", |bench, id, rules, role| bench.sitter(id, rules, role)),
            steward: worker("steward", |bench, id, rules, role| bench.steward(id, rules, role)),
        }
    }
}

type Answers = Receiver<Result<Decision, String>>;

/// A thread with somebody on it who thinks. It ends when nobody holds the worker any more and the last thought is cancelled.
struct Worker(Sender<Job>);

struct Job {
    /// Nothing to prepare for the first move.
    told: Option<Arc<[Told]>>,
    budget: Budget,
    answer: Sender<Result<Decision, String>>,
}

type MakeSitter = Box<dyn Fn() -> Result<Box<dyn Sitter>, String> + Send>;

impl Worker {
    fn new(name: &str, make: MakeSitter) -> Worker {
        let (sender, jobs) = channel::<Job>();
        let work = move || {
            let mut sitter = make_safely(&make);
            while let Ok(mut job) = jobs.recv() {
                // Only the newest question is still of interest.
                while let Ok(newer) = jobs.try_recv() {
                    job = newer;
                }
                let answer = match &mut sitter {
                    Ok(sitter) => think(sitter.as_mut(), &job),
                    Err(why) => Err(why.clone()),
                };
                if answer.as_ref().is_err_and(|why| why == BROKEN) {
                    sitter = make_safely(&make);
                }
                let _ = job.answer.send(answer);
            }
        };
        // Without a thread every question is answered by what there is without thinking.
        let spawned = std::thread::Builder::new().name(name.to_owned()).spawn(work);
        if let Err(error) = spawned {
            warn!("cannot start a thread: {error}");
        }
        Worker(sender)
    }

    fn ask(&self, told: Arc<[Told]>, budget: Budget) -> Answers {
        self.give(Some(told), budget)
    }

    fn prepare(&self, budget: Budget) -> Answers {
        self.give(None, budget)
    }

    fn give(&self, told: Option<Arc<[Told]>>, budget: Budget) -> Answers {
        let (answer, answers) = channel();
        let _ = self.0.send(Job { told, budget, answer });
        answers
    }
}

/// What is said of somebody who panicked.
const BROKEN: &str = "the player broke down; please report this";

fn make_safely(make: &MakeSitter) -> Result<Box<dyn Sitter>, String> {
    catch_unwind(AssertUnwindSafe(make)).unwrap_or_else(|_| Err(BROKEN.to_owned()))
}

fn think(sitter: &mut dyn Sitter, job: &Job) -> Result<Decision, String> {
    let thought = catch_unwind(AssertUnwindSafe(|| match &job.told {
        Some(told) => sitter.choose(told, &job.budget).map_err(|fault| fault.to_string()),
        None => Ok(Decision::plain(sitter.prepare(&job.budget).unwrap_or_default())),
    }));
    thought.unwrap_or_else(|_| Err(BROKEN.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_leave_a_margin() {
        let ms = |clock| {
            let (think, answer) = due(clock);
            (think.as_millis(), answer.as_millis())
        };
        assert_eq!(ms(0), (0, 150));
        assert_eq!(ms(1), (700, 900));
        assert_eq!(ms(15), (14_250, 14_750));
        assert_eq!(ms(60), (57_000, 59_000));
    }
}
