//! The record of a match, as JSON: what the GGP viewers know, and what they lack (seed, percepts, what was submitted).
//!
//! A record replays to the byte: the moves reproduce the states, the percepts and the goals. It holds no times, so
//! that the same seed gives the same record on any machine; only of a match over the wire ([`Wire`]) the times are
//! part of what happened.

use game::{Fault, RoleId, Simulator, Told};
use serde_json::{Value, json};
use std::fmt;

/// Everything that happened in a match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The name of the game as it was asked for.
    pub game: String,
    /// The rules.
    pub rules: String,
    /// The roles, in joint-move order.
    pub roles: Vec<String>,
    /// Who played each role.
    pub players: Vec<String>,
    /// Which of them were shown the true state.
    pub cheats: Vec<bool>,
    /// The seed of the match.
    pub seed: u64,
    /// The fluents of every state, the initial one first.
    pub states: Vec<Vec<String>>,
    /// The rounds.
    pub rounds: Vec<Round>,
    /// Whether it was played to the end. A record that is neither complete nor aborted is of a match that goes on, or
    /// whose referee was killed.
    pub complete: bool,
    /// Whether it was given up.
    pub aborted: bool,
    /// Payoffs in role order, if it was played to the end.
    pub goals: Vec<u8>,
    /// How it was played over the wire, if it was.
    pub wire: Option<Wire>,
    /// The role that wrote the record, if it is a player's and not a referee's. Such a record holds only what that role
    /// was told: moves of others are [`Record::UNSEEN`], and there are no states and no percepts of others.
    pub sight: Option<usize>,
    /// Whether the record has a hash of its rules. Older records have none.
    pub sealed: bool,
}

/// What only a match over the wire has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wire {
    /// The match's name, as sent.
    pub match_id: String,
    /// `gdl1`, `gdl2a` or `gdl2b`.
    pub protocol: String,
    /// Seconds before the first move.
    pub start_clock: u64,
    /// Seconds for each move.
    pub play_clock: u64,
    /// How much later, in milliseconds, an answer was still taken.
    pub grace_ms: u64,
    /// Whether names were hidden; the seed says how.
    pub scrambled: bool,
    /// When it began: milliseconds since 1970.
    pub start_time: u64,
    /// When each state was reached.
    pub state_times: Vec<u64>,
    /// What went wrong when each role was told that the match begins; empty texts where nothing did.
    pub start_errors: Vec<String>,
    /// How long each move took, in milliseconds, round by round and in role order; 0 for nature.
    pub times_ms: Vec<Vec<u64>>,
}

/// One round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// The moves as made, in role order.
    pub moves: Vec<String>,
    /// What each role perceived.
    pub percepts: Vec<Vec<String>>,
    /// The moves as asked for.
    pub submitted: Vec<String>,
    /// Why a move was replaced, if it was.
    pub substitutions: Vec<Option<Substitution>>,
}

/// Why the referee moved for somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Substitution {
    /// The move was not legal in the true state.
    Illegal,
    /// There was no move, and this is why.
    Missing(String),
    /// The move came too late.
    Late,
    /// The answer was not one ground term.
    Unreadable,
    /// The answer was `nil`: no move.
    Nil,
    /// The answer was `busy`.
    Busy,
    /// The answer was empty.
    Empty,
}

impl Substitution {
    /// As it stands in records, before what was submitted.
    pub fn code(&self) -> &'static str {
        match self {
            Substitution::Illegal => "IL",
            Substitution::Missing(_) => "CE",
            Substitution::Late => "TO",
            Substitution::Unreadable => "PARSE",
            Substitution::Nil => "NIL",
            Substitution::Busy => "BUSY",
            Substitution::Empty => "EMPTY",
        }
    }

    fn from_text(text: &str) -> Option<Substitution> {
        let (code, rest) = text.split_once(' ').unwrap_or((text, ""));
        Some(match code {
            "IL" => Substitution::Illegal,
            "CE" => Substitution::Missing(rest.to_owned()),
            "TO" => Substitution::Late,
            "PARSE" => Substitution::Unreadable,
            "NIL" => Substitution::Nil,
            "BUSY" => Substitution::Busy,
            "EMPTY" => Substitution::Empty,
            _ => return None,
        })
    }
}

impl fmt::Display for Substitution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Substitution::Illegal => "not a legal move",
            Substitution::Missing(why) => why,
            Substitution::Late => "too late",
            Substitution::Unreadable => "not one ground term",
            Substitution::Nil => "nil",
            Substitution::Busy => "busy",
            Substitution::Empty => "an empty answer",
        })
    }
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// A field is missing or holds something else.
    Field {
        /// The field, such as `moves[3]`.
        field: String,
        /// What it should hold: `text`, `number` or `list`.
        kind: &'static str,
    },
    /// A list has too many or too few entries.
    Length {
        /// The list.
        field: String,
        /// The number of entries.
        found: usize,
        /// The number that it should have.
        expected: usize,
    },
    /// A move of the record is not legal.
    Illegal {
        /// The round, counted from 1.
        round: usize,
        /// The move.
        mv: String,
    },
    /// The rules give something else.
    Differs {
        /// What differs.
        what: String,
        /// What the rules give.
        rules: String,
        /// What the record says.
        record: String,
    },
    /// The rules are not those that the record was written with.
    Tampered,
    /// The rules cannot be run.
    Fault(Fault),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordError::Field { field, kind } => write!(f, "the record has no {kind} `{field}`"),
            RecordError::Length { field, found, expected } => {
                write!(
                    f,
                    "the record has {found} entries in `{field}`, and should have {expected}"
                )
            }
            RecordError::Illegal { round, mv } => write!(f, "round {round}: `{mv}` is not legal"),
            RecordError::Differs { what, rules, record } => {
                write!(f, "{what}: the rules give {rules}, the record says {record}")
            }
            RecordError::Tampered => f.write_str("the rules in the record were changed: they do not fit their hash"),
            RecordError::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for RecordError {}

impl From<Fault> for RecordError {
    fn from(fault: Fault) -> RecordError {
        RecordError::Fault(fault)
    }
}

fn no(kind: &'static str, field: impl Into<String>) -> RecordError {
    RecordError::Field {
        field: field.into(),
        kind,
    }
}

/// A hash of rules (FNV-1a): any change of one byte changes it. It protects against accidents, not against forgers.
fn hash(rules: &str) -> String {
    let sum = rules.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("fnv1a:{sum:016x}")
}

impl Record {
    /// The move of another role in a player's record.
    pub const UNSEEN: &'static str = "";

    /// As JSON, one line.
    pub fn to_json(&self) -> Value {
        let state = |fluents: &Vec<String>| format!("( {} )", fluents.join(" "));
        let each = |pick: fn(&Round) -> Value| self.rounds.iter().map(pick).collect::<Vec<Value>>();
        let own_id = || format!("surmise.{}.{:016x}", self.game.replace([':', ',', '='], "-"), self.seed);
        let wire = self.wire.as_ref();
        let mut value = json!({
            "matchId": wire.map_or_else(own_id, |w| w.match_id.clone()),
            "game": self.game,
            "gdlVersion": wire.map_or(2, |w| if w.protocol == "gdl1" { 1 } else { 2 }),
            "protocol": wire.map_or("in-process", |w| w.protocol.as_str()),
            "roles": self.roles,
            "playerNamesFromHost": self.players,
            "seesTrueState": self.cheats,
            "seed": self.seed,
            "illegalPolicy": "a random legal move from the seed",
            "isCompleted": self.complete,
            "isAborted": self.aborted,
            "scrambled": wire.is_some_and(|w| w.scrambled),
            "states": self.states.iter().map(state).collect::<Vec<_>>(),
            "moves": each(|r| json!(r.moves)),
            "percepts": each(|r| json!(r.percepts)),
            "submitted": each(|r| json!(r.submitted)),
            "errors": each(|r| r.substitutions.iter().zip(&r.submitted).map(error_text).collect()),
            "goalValues": if self.complete && self.sight.is_none() { json!(self.goals) } else { Value::Null },
        });
        if let Some(wire) = wire {
            wire.add_to(&mut value);
        }
        if let Some(role) = self.sight {
            value["sightOf"] = json!(self.roles.get(role));
        }
        if self.sealed {
            value["gameTextHash"] = json!(hash(&self.rules));
        }
        value["gameText"] = json!(self.rules);
        value
    }

    /// From JSON.
    pub fn from_json(value: &Value) -> Result<Record, RecordError> {
        let text = |key: &str| {
            let found = value[key].as_str().map(str::to_owned);
            found.ok_or_else(|| no("text", key))
        };
        let rounds = list(&value["moves"], "moves")?.len();
        let mut record = Record {
            game: text("game")?,
            rules: text("gameText")?,
            roles: texts(&value["roles"], "roles")?,
            players: texts(&value["playerNamesFromHost"], "playerNamesFromHost")?,
            cheats: list(&value["seesTrueState"], "seesTrueState")?
                .iter()
                .map(|c| c == &Value::Bool(true))
                .collect(),
            seed: value["seed"].as_u64().ok_or_else(|| no("number", "seed"))?,
            complete: value["isCompleted"] == Value::Bool(true),
            aborted: value["isAborted"] == Value::Bool(true),
            wire: Wire::from_json(value)?,
            sealed: !value["gameTextHash"].is_null(),
            ..Record::default()
        };
        if record.sealed && value["gameTextHash"] != hash(&record.rules) {
            return Err(RecordError::Tampered);
        }
        if let Some(role) = value["sightOf"].as_str() {
            let found = record.roles.iter().position(|r| r == role);
            record.sight = Some(found.ok_or_else(|| no("role", "sightOf"))?);
        }
        for state in texts(&value["states"], "states")? {
            record.states.push(split_state(&state));
        }
        for round in 0..rounds {
            record.rounds.push(read_round(value, round)?);
        }
        if let Some(goals) = value["goalValues"].as_array() {
            let goal = |g: &Value| g.as_u64().and_then(|g| u8::try_from(g).ok());
            let goals: Option<Vec<u8>> = goals.iter().map(goal).collect();
            record.goals = goals.ok_or_else(|| no("list of payoffs", "goalValues"))?;
        }
        record.check_lengths()?;
        Ok(record)
    }

    /// What a role was told in the first rounds.
    pub fn told(&self, role: usize, rounds: usize) -> Vec<Told> {
        let told = |round: &Round| Told {
            own: round.moves[role].clone(),
            sees: round.percepts[role].clone(),
        };
        self.rounds.iter().take(rounds).map(told).collect()
    }

    /// Every list has an entry for each role, each round or each state.
    fn check_lengths(&self) -> Result<(), RecordError> {
        let roles = self.roles.len();
        let check = |field: String, found: usize, expected: usize| match found == expected {
            true => Ok(()),
            false => Err(RecordError::Length { field, found, expected }),
        };
        check("playerNamesFromHost".to_owned(), self.players.len(), roles)?;
        check("seesTrueState".to_owned(), self.cheats.len(), roles)?;
        let states = match self.sight {
            Some(_) => 0,
            None => self.rounds.len() + 1,
        };
        check("states".to_owned(), self.states.len(), states)?;
        for (number, round) in self.rounds.iter().enumerate() {
            check(format!("moves[{number}]"), round.moves.len(), roles)?;
            check(format!("percepts[{number}]"), round.percepts.len(), roles)?;
            check(format!("submitted[{number}]"), round.submitted.len(), roles)?;
            check(format!("errors[{number}]"), round.substitutions.len(), roles)?;
        }
        match self.complete && self.sight.is_none() {
            true => check("goalValues".to_owned(), self.goals.len(), roles),
            false => Ok(()),
        }
    }
}

impl Wire {
    fn add_to(&self, value: &mut Value) {
        value["startTime"] = json!(self.start_time);
        value["stateTimes"] = json!(self.state_times);
        value["previewClock"] = json!(-1);
        value["startClock"] = json!(self.start_clock);
        value["playClock"] = json!(self.play_clock);
        value["graceMs"] = json!(self.grace_ms);
        value["startErrors"] = json!(self.start_errors);
        value["timesMs"] = json!(self.times_ms);
    }

    fn from_json(value: &Value) -> Result<Option<Wire>, RecordError> {
        let protocol = value["protocol"].as_str().unwrap_or("in-process").to_owned();
        if protocol == "in-process" {
            return Ok(None);
        }
        let number = |key: &str| {
            let found = value[key].as_u64();
            found.ok_or_else(|| no("number", key))
        };
        let times = list(&value["timesMs"], "timesMs")?.iter();
        Ok(Some(Wire {
            match_id: value["matchId"].as_str().unwrap_or_default().to_owned(),
            protocol,
            start_clock: number("startClock")?,
            play_clock: number("playClock")?,
            grace_ms: number("graceMs")?,
            scrambled: value["scrambled"] == Value::Bool(true),
            start_time: number("startTime")?,
            state_times: numbers(&value["stateTimes"], "stateTimes")?,
            start_errors: texts(&value["startErrors"], "startErrors")?,
            times_ms: times.map(|t| numbers(t, "timesMs")).collect::<Result<_, _>>()?,
        }))
    }
}

fn numbers(value: &Value, name: &str) -> Result<Vec<u64>, RecordError> {
    let number = |v: &Value| v.as_u64().ok_or_else(|| no("list of numbers", name));
    list(value, name)?.iter().map(number).collect()
}

fn error_text((substitution, submitted): (&Option<Substitution>, &String)) -> Value {
    let Some(substitution) = substitution else {
        return json!("");
    };
    let what = match substitution {
        Substitution::Missing(why) => why,
        _ => submitted,
    };
    json!(format!("{} {what}", substitution.code()))
}

fn read_round(value: &Value, round: usize) -> Result<Round, RecordError> {
    let place = |key: &str| format!("{key}[{round}]");
    let percepts = list(&value["percepts"][round], &place("percepts"))?;
    let errors = texts(&value["errors"][round], &place("errors"))?;
    Ok(Round {
        moves: texts(&value["moves"][round], &place("moves"))?,
        percepts: percepts
            .iter()
            .map(|p| texts(p, &place("percepts")))
            .collect::<Result<_, _>>()?,
        submitted: texts(&value["submitted"][round], &place("submitted"))?,
        substitutions: errors.iter().map(|e| Substitution::from_text(e)).collect(),
    })
}

fn list<'a>(value: &'a Value, name: &str) -> Result<&'a Vec<Value>, RecordError> {
    value.as_array().ok_or_else(|| no("list", name))
}

fn texts(value: &Value, name: &str) -> Result<Vec<String>, RecordError> {
    let text = |v: &Value| {
        let found = v.as_str().map(str::to_owned);
        found.ok_or_else(|| no("list of texts", name))
    };
    list(value, name)?.iter().map(text).collect()
}

/// The fluents of `( f1 (f2 a) )`.
fn split_state(text: &str) -> Vec<String> {
    let inner = text.trim().trim_start_matches('(').trim_end();
    let inner = inner.strip_suffix(')').unwrap_or(inner);
    let mut fluents = Vec::new();
    let (mut depth, mut word) = (0, String::new());
    for c in inner.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if c == ' ' && depth == 0 {
            fluents.push(std::mem::take(&mut word));
        } else {
            word.push(c);
        }
    }
    fluents.push(word);
    fluents.retain(|f| !f.is_empty());
    fluents
}

/// Plays the moves of a record again and compares every state, percept and goal.
pub fn replay(record: &Record, sim: &mut dyn Simulator) -> Result<(), RecordError> {
    check("roles", &sim.roles().to_vec(), &record.roles)?;
    record.check_lengths()?;
    let mut state = sim.initial()?;
    check("the initial state", &Some(&sim.fluents(&state)), &record.states.first())?;
    for (number, round) in record.rounds.iter().enumerate() {
        let mut joint = Vec::new();
        for (role, text) in round.moves.iter().enumerate() {
            let mut legal = Vec::new();
            sim.legal(&state, RoleId(role as u16), &mut legal)?;
            let found = legal
                .into_iter()
                .find(|&m| sim.move_text(RoleId(role as u16), m) == text);
            let wrong = || RecordError::Illegal {
                round: number + 1,
                mv: text.clone(),
            };
            joint.push(found.ok_or_else(wrong)?);
        }
        for role in 0..joint.len() {
            let mut percepts = Vec::new();
            sim.percepts(&state, &joint, RoleId(role as u16), &mut percepts)?;
            let seen: Vec<String> = percepts
                .iter()
                .map(|&p| sim.percept_text(RoleId(role as u16), p).to_owned())
                .collect();
            let what = format!("round {}: what {} perceives", number + 1, record.roles[role]);
            check(&what, &Some(&seen), &round.percepts.get(role))?;
        }
        state = sim.next(&state, &joint)?;
        check(
            &format!("the state after round {}", number + 1),
            &Some(&sim.fluents(&state)),
            &record.states.get(number + 1),
        )?;
    }
    if !record.complete {
        return Ok(());
    }
    check("the end", &sim.terminal(&state)?, &true)?;
    let mut goals = Vec::new();
    for role in 0..record.roles.len() {
        goals.push(sim.goal(&state, RoleId(role as u16))?.points());
    }
    check("the goals", &goals, &record.goals)
}

fn check<T: PartialEq + fmt::Debug>(what: &str, ours: &T, theirs: &T) -> Result<(), RecordError> {
    if ours == theirs {
        return Ok(());
    }
    Err(RecordError::Differs {
        what: what.to_owned(),
        rules: format!("{ours:?}"),
        record: format!("{theirs:?}"),
    })
}
