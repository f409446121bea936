//! The record of a match, as JSON: what the GGP viewers know, and what they lack (seed, percepts, what was submitted).
//!
//! A record replays to the byte: the moves reproduce the states, the percepts and the goals. It holds no times, so that
//! the same seed gives the same record on any machine; only of a match over the wire ([`Wire`]) the times are part of what happened.

use game::{Fault, RoleId, Simulator};
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
    /// Whether it was played to the end. A record that is neither complete nor aborted is of a match that goes on, or whose
    /// referee was killed.
    pub complete: bool,
    /// Whether it was given up.
    pub aborted: bool,
    /// Payoffs in role order, if it was played to the end.
    pub goals: Vec<u8>,
    /// How it was played over the wire, if it was.
    pub wire: Option<Wire>,
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
pub struct RecordError(String);

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RecordError {}

impl From<Fault> for RecordError {
    fn from(fault: Fault) -> RecordError {
        RecordError(fault.to_string())
    }
}

impl Record {
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
            "errors": each(|r| Value::from(r.substitutions.iter().zip(&r.submitted).map(error_text).collect::<Vec<_>>())),
            "goalValues": if self.complete { json!(self.goals) } else { Value::Null },
        });
        if let Some(wire) = wire {
            wire.add_to(&mut value);
        }
        value["gameText"] = json!(self.rules);
        value
    }

    /// From JSON.
    pub fn from_json(value: &Value) -> Result<Record, RecordError> {
        let text = |key: &str| {
            let found = value[key].as_str().map(str::to_owned);
            found.ok_or_else(|| RecordError(format!("the record has no text `{key}`")))
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
            seed: value["seed"]
                .as_u64()
                .ok_or_else(|| RecordError("the record has no number `seed`".to_owned()))?,
            complete: value["isCompleted"] == Value::Bool(true),
            aborted: value["isAborted"] == Value::Bool(true),
            wire: Wire::from_json(value)?,
            ..Record::default()
        };
        for state in texts(&value["states"], "states")? {
            record.states.push(split_state(&state));
        }
        for round in 0..rounds {
            record.rounds.push(read_round(value, round)?);
        }
        if let Some(goals) = value["goalValues"].as_array() {
            record.goals = goals.iter().filter_map(|g| u8::try_from(g.as_u64()?).ok()).collect();
        }
        Ok(record)
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
            found.ok_or_else(|| RecordError(format!("the record has no number `{key}`")))
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
    let number = |v: &Value| {
        let wrong = || RecordError(format!("`{name}` holds something that is not a number"));
        v.as_u64().ok_or_else(wrong)
    };
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
    value
        .as_array()
        .ok_or_else(|| RecordError(format!("the record has no list `{name}`")))
}

fn texts(value: &Value, name: &str) -> Result<Vec<String>, RecordError> {
    let text = |v: &Value| {
        let found = v.as_str().map(str::to_owned);
        found.ok_or_else(|| RecordError(format!("`{name}` holds something that is not text")))
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

/// Plays the moves of a record again and holds every state, percept and goal against it.
pub fn replay(record: &Record, sim: &mut dyn Simulator) -> Result<(), RecordError> {
    check("roles", &sim.roles().to_vec(), &record.roles)?;
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
            let wrong = || RecordError(format!("round {}: `{text}` is not legal", number + 1));
            joint.push(found.ok_or_else(wrong)?);
        }
        if joint.len() != record.roles.len() {
            return Err(RecordError(format!(
                "round {} does not have a move for each role",
                number + 1
            )));
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
    Err(RecordError(format!(
        "{what}: the rules give {ours:?}, the record says {theirs:?}"
    )))
}
