//! Managers of the simulated server: some keep the protocol, some die, repeat, restart, skip, or babble.

use super::net::{End, SimNetwork};
use super::sim::Sim;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use surmise::Game;
use surmise::game::{MoveId, Rng, RoleId, Simulator, State};
use surmise::ggp::net::Connection;
use surmise::ggp::spelling::prefix_text;
use surmise::ggp::{Variant, kif, message};
use surmise::referee::Runtime;

/// What everybody in a schedule shares.
#[derive(Clone)]
pub struct Scene {
    pub sim: Sim,
    /// What should not have happened.
    pub faults: Arc<Mutex<Vec<String>>>,
    pub games: &'static [Game],
    /// Counts of what happened, to see that schedules are not empty.
    pub tally: Arc<Mutex<Tally>>,
}

/// What happened in schedules.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub plays: u64,
    pub matches: u64,
    pub refused: u64,
    pub hosted: u64,
    pub substitutions: u64,
}

impl Scene {
    pub fn fault(&self, what: String) {
        let time = self.sim.time().as_secs_f64();
        self.faults
            .lock()
            .expect("one thread runs at a time")
            .push(format!("{time:.3} s: {what}"));
    }

    pub fn count(&self, what: impl FnOnce(&mut Tally)) {
        what(&mut self.tally.lock().expect("one thread runs at a time"));
    }
}

/// How a manager behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Character {
    /// Keeps the protocol, with short pauses.
    Prompt,
    /// Keeps the protocol, and lets the player wait for others.
    Patient,
    /// Dies at some moment.
    Mortal,
    /// Asks again while the player thinks.
    Repeater,
    /// Sends START again under the same name.
    Restarter,
    /// Leaves out turns.
    Skipper,
    /// Sends other things in between.
    Babbler,
    /// Gives up properly.
    Aborter,
}

pub const CHARACTERS: &[Character] = &[
    Character::Prompt,
    Character::Patient,
    Character::Mortal,
    Character::Mortal,
    Character::Repeater,
    Character::Restarter,
    Character::Skipper,
    Character::Babbler,
    Character::Aborter,
];

/// The time by which a clock's answer is due: 300 ms or a twentieth before its end, less a third of that.
fn due(clock: u64) -> Duration {
    let clock = Duration::from_secs(clock);
    let margin = clock.mul_f64(0.05).max(Duration::from_millis(300)).min(clock / 2);
    (clock - margin / 3).max(Duration::from_millis(150))
}

/// What an answer may take beyond its time: the last moment in which the fallback is asked.
const SLACK: Duration = Duration::from_millis(25);

pub struct Asked {
    pub reply: Option<String>,
    /// Time from the arrival of the question's first byte to the answer.
    pub took: Option<Duration>,
    /// Time from the arrival of the question's first byte to that of its last.
    pub spread: Duration,
}

pub fn post(body: &str) -> String {
    format!("POST / HTTP/1.0\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Sends a message and waits for the whole answer.
pub fn ask(net: &SimNetwork, port: u16, message: &str, patience: Duration) -> Asked {
    let Some(end) = net.dial(port) else {
        return Asked {
            reply: None,
            took: None,
            spread: Duration::ZERO,
        };
    };
    let begun = net.sim.time();
    end.send(post(message).as_bytes());
    let asked = read(&end, patience);
    if std::env::var_os("SURMISE_SCHEDULE").is_some() {
        let (begun, now) = (begun.as_secs_f64(), net.sim.time().as_secs_f64());
        let message: String = message.chars().take(70).collect();
        println!("{begun:.3} to {now:.3} s, port {port}: {message} -> {:?}", asked.reply);
    }
    asked
}

fn read(end: &End, patience: Duration) -> Asked {
    let bytes = end.read_all(patience, 1 << 16);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let whole = text.split_once("\r\n\r\n").filter(|(head, body)| {
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        length.and_then(|n| n.parse().ok()) == Some(body.len())
    });
    let times = end.answered_in();
    Asked {
        reply: whole.map(|(_, body)| body.to_owned()),
        took: times.map(|(took, _)| took),
        spread: times.map_or(Duration::ZERO, |(_, spread)| spread),
    }
}

/// A manager with one player elsewhere; the other roles are played here, at random.
pub struct Manager {
    pub scene: Scene,
    pub net: SimNetwork,
    pub port: u16,
    pub id: String,
    pub game: usize,
    pub character: Character,
    pub start_clock: u64,
    pub play_clock: u64,
    pub rng: Rng,
    /// Whether there is a place for this match for certain.
    pub must_be_admitted: bool,
    /// Whether the match may be taken from this manager, because it is silent for long.
    pub may_lose_its_place: bool,
}

struct Table {
    sim: Box<dyn Simulator>,
    state: State,
    role: RoleId,
    variant: Variant,
    turn: usize,
    /// What PLAY or STOP tells: the own move and percepts, or the joint move.
    last: Option<(String, Vec<String>)>,
    /// Whether the player may have missed something.
    muddled: bool,
}

/// How a match ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchEnd {
    Over,
    Refused,
    GivenUp,
}

impl Manager {
    /// Manages one match.
    pub fn run(mut self) -> MatchEnd {
        let game = &self.scene.games[self.game];
        let mut sim = game.simulator();
        let roles = sim.roles().to_vec();
        let played: Vec<usize> = (0..roles.len()).filter(|&r| roles[r] != "random").collect();
        let role = RoleId(*self.rng.pick(&played) as u16);
        let state = sim.initial().expect("a state");
        let rules = prefix_text(&game.engine().rules);
        let hidden = game.engine().rules.has_sees() && rules.contains("sees");
        let mut table = Table {
            sim,
            state,
            role,
            variant: match (hidden, self.rng.below(3)) {
                (false, _) => Variant::Gdl1,
                (true, 0) => Variant::Gdl2a,
                (true, _) => Variant::Gdl2b,
            },
            turn: 0,
            last: None,
            muddled: false,
        };
        let role_name = roles[usize::from(role.0)].clone();
        let start = message::start(&self.id, &role_name, &rules, self.start_clock, self.play_clock);
        if self.character == Character::Mortal && self.rng.below(4) == 0 {
            self.die_sending(&start);
            return MatchEnd::GivenUp;
        }
        if !self.start(&start) {
            self.scene.count(|tally| tally.refused += 1);
            return MatchEnd::Refused;
        }
        let end = self.rounds(&mut table, &start);
        if end == MatchEnd::Over {
            self.scene.count(|tally| tally.matches += 1);
        }
        end
    }

    fn is_certain(&self, table: &Table) -> bool {
        !table.muddled && !self.net.is_spoiled()
    }

    fn start(&mut self, start: &str) -> bool {
        let asked = ask(&self.net, self.port, start, Duration::from_secs(self.start_clock + 5));
        self.check_time("START", self.start_clock, &asked);
        match asked.reply.as_deref() {
            Some("ready") => true,
            Some("busy") if !self.must_be_admitted => false,
            None if self.net.is_spoiled() => false,
            other => {
                self.scene.fault(format!(
                    "{} ({:?}): START is answered {other:?}",
                    self.id, self.character
                ));
                false
            }
        }
    }

    fn check_time(&self, what: &str, clock: u64, asked: &Asked) {
        if let Some(took) = asked.took.filter(|&took| took > due(clock).max(asked.spread) + SLACK) {
            let id = &self.id;
            self.scene.fault(format!(
                "{id}: {what} of {clock} s is answered after {:.3} s",
                took.as_secs_f64()
            ));
        }
    }

    fn rounds(&mut self, table: &mut Table, start: &str) -> MatchEnd {
        loop {
            if table.sim.terminal(&table.state).expect("a state") {
                return self.stop(table);
            }
            match self.character {
                Character::Mortal if self.rng.below(4) == 0 => {
                    let play = self.news(table, "PLAY");
                    self.die_sending(&play);
                    return MatchEnd::GivenUp;
                }
                Character::Aborter if self.rng.below(4) == 0 => {
                    let asked = ask(&self.net, self.port, &message::abort(&self.id), Duration::from_secs(5));
                    let fine = asked.reply.as_deref() == Some("aborted") || self.net.is_spoiled();
                    if !fine {
                        self.scene
                            .fault(format!("{}: ABORT is answered {:?}", self.id, asked.reply));
                    }
                    return MatchEnd::GivenUp;
                }
                Character::Restarter if table.turn > 0 && self.rng.below(4) == 0 => {
                    if !self.start(start) {
                        return MatchEnd::GivenUp;
                    }
                    table.state = table.sim.initial().expect("a state");
                    (table.turn, table.last) = (0, None);
                }
                Character::Babbler => self.babble(),
                Character::Skipper if table.turn > 0 && self.rng.below(4) == 0 => {
                    // A round about which the player is never asked.
                    table.muddled = true;
                    self.advance(table, None);
                    continue;
                }
                _ => {}
            }
            let Some(mv) = self.play(table) else {
                return MatchEnd::GivenUp;
            };
            self.advance(table, mv);
            let pause = match self.character {
                Character::Patient => self.rng.below(self.play_clock as usize * 1_000 + 1),
                _ => self.rng.below(700),
            };
            self.scene.sim.sleep(Duration::from_millis(pause as u64));
        }
    }

    /// Asks for a move. The move, if a legal one came; none at all if the match is lost.
    fn play(&mut self, table: &mut Table) -> Option<Option<MoveId>> {
        let play = self.news(table, "PLAY");
        let patience = Duration::from_secs(self.play_clock + 5);
        let repeats = table.variant == Variant::Gdl2b && self.character == Character::Repeater;
        if repeats && self.rng.below(2) == 0 {
            // A first call, of which the manager does not wait for the answer.
            if let Some(end) = self.net.dial(self.port) {
                end.send(post(&play).as_bytes());
                self.scene
                    .sim
                    .sleep(Duration::from_millis(self.rng.below(1_500) as u64));
                match self.rng.below(3) {
                    0 => end.tear(),
                    1 => drop(end.end()),
                    _ => {}
                }
            }
        }
        let asked = ask(&self.net, self.port, &play, patience);
        self.check_time("PLAY", self.play_clock, &asked);
        self.scene.count(|tally| tally.plays += 1);
        if repeats && self.is_certain(table) && self.rng.below(2) == 0 {
            let again = ask(&self.net, self.port, &play, patience);
            if again.reply != asked.reply && !self.net.is_spoiled() {
                let (first, second) = (&asked.reply, &again.reply);
                self.scene.fault(format!(
                    "{}: the same PLAY is answered {first:?} and {second:?}",
                    self.id
                ));
            }
        }
        let Some(reply) = asked.reply else {
            if !self.net.is_spoiled() {
                self.scene.fault(format!("{}: PLAY is not answered", self.id));
            }
            table.muddled = true;
            return Some(None);
        };
        if reply == "busy" {
            let excused = self.may_lose_its_place || self.net.is_spoiled();
            if !excused {
                self.scene
                    .fault(format!("{} ({:?}): the match was lost", self.id, self.character));
            }
            return None;
        }
        let legal = self.legal(table, table.role);
        let canonical = kif::canonical(&reply).unwrap_or_default();
        let found = legal
            .into_iter()
            .find(|&m| table.sim.move_text(table.role, m) == canonical);
        if found.is_none() && self.is_certain(table) {
            let (id, turn, variant) = (&self.id, table.turn, table.variant);
            self.scene.fault(format!(
                "{id}: turn {turn} ({variant}) is answered `{reply}`, which is not legal"
            ));
        }
        Some(found)
    }

    fn legal(&self, table: &mut Table, role: RoleId) -> Vec<MoveId> {
        let mut legal = Vec::new();
        table.sim.legal(&table.state, role, &mut legal).expect("legal moves");
        legal
    }

    /// Makes the moves of a round.
    fn advance(&mut self, table: &mut Table, mv: Option<MoveId>) {
        let roles = table.sim.roles().len();
        let mut joint = Vec::new();
        for role in (0..roles).map(|r| RoleId(r as u16)) {
            let legal = self.legal(table, role);
            let chosen = *self.rng.pick(&legal);
            joint.push(if role == table.role {
                mv.unwrap_or(chosen)
            } else {
                chosen
            });
        }
        let text = |role: usize| table.sim.move_text(RoleId(role as u16), joint[role]).to_owned();
        let (own, moves) = (text(usize::from(table.role.0)), (0..roles).map(text).collect());
        let mut percepts = Vec::new();
        table
            .sim
            .percepts(&table.state, &joint, table.role, &mut percepts)
            .expect("percepts");
        let sees = percepts
            .iter()
            .map(|&p| table.sim.percept_text(table.role, p).to_owned())
            .collect();
        table.last = Some(match table.variant {
            Variant::Gdl1 => (own, moves),
            Variant::Gdl2a | Variant::Gdl2b => (own, sees),
        });
        table.state = table.sim.next(&table.state, &joint).expect("a state");
        table.turn += 1;
    }

    fn news(&self, table: &Table, word: &str) -> String {
        let list = table.last.as_ref().map(|(_, list)| &list[..]);
        match table.variant {
            Variant::Gdl1 | Variant::Gdl2a => message::news_list(word, &self.id, list),
            Variant::Gdl2b => {
                let news = table.last.as_ref().map(|(own, sees)| (own.as_str(), &sees[..]));
                message::news_turn(word, &self.id, table.turn, news)
            }
        }
    }

    fn stop(&mut self, table: &mut Table) -> MatchEnd {
        let stop = self.news(table, "STOP");
        let asked = ask(&self.net, self.port, &stop, Duration::from_secs(self.play_clock + 5));
        let excused = self.net.is_spoiled() || self.may_lose_its_place;
        if asked.reply.as_deref() != Some("done") && !excused {
            self.scene
                .fault(format!("{}: STOP is answered {:?}", self.id, asked.reply));
        }
        MatchEnd::Over
    }

    /// Sends a part of a message, or all of it, and is gone before the answer.
    fn die_sending(&mut self, message: &str) {
        let Some(end) = self.net.dial(self.port) else { return };
        let request = post(message);
        let part = match self.rng.below(2) {
            0 => request.len(),
            _ => self.rng.below(request.len()),
        };
        end.send(&request.as_bytes()[..part]);
        self.scene
            .sim
            .sleep(Duration::from_millis(self.rng.below(2_000) as u64));
        if self.rng.below(2) == 0 {
            end.tear();
        }
    }

    fn babble(&mut self) {
        let nonsense: &[&str] = &[
            "(INFO)",
            "(PING)",
            "",
            ")",
            "(PLAY",
            "(PLAY other 3 NIL NIL)",
            "(STOP other NIL)",
            "(ABORT other)",
            "(START)",
            "\u{0}\u{1}",
            "play(m, 0, None, [])",
        ];
        let what = *self.rng.pick(nonsense);
        let asked = ask(&self.net, self.port, what, Duration::from_secs(20));
        if asked.reply.is_none() && !self.net.is_spoiled() {
            self.scene.fault(format!("{}: {what:?} is not answered", self.id));
        }
    }
}
