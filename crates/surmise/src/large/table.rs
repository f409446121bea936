//! Policies that other programs wrote: JSON lines, one information set each, or one JSON object as `surmise solve
//! --save` writes it.
//!
//! A line is `{"role": "player1", "view": [{"move": "noop", "sees": ["(card jack)"]}], "policy": {"bet": 0.25, "pass":
//! 0.75}}`: what the role did and perceived in every round so far, and the probability of each move. Lines that are
//! empty or begin with `#` are skipped. The object has the same entries in its list `strategy`.

use crate::{Error, files};
use game::{MoveId, RoleId, Round, Simulator};
use serde_json::Value;
use solve::{PlaceError, ProfileBuilder};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Bytes of a line at most.
const MAX_LINE: usize = 1 << 20;

/// Takes policies, one view after the other.
pub(crate) trait PolicySink {
    /// The policy of a player after a view: moves with probabilities. Legal moves that are not named have probability
    /// 0.
    fn insert(&mut self, player: usize, view: &[Round], policy: &[(MoveId, f64)]) -> Result<(), PlaceError>;
}

impl PolicySink for ProfileBuilder<'_> {
    fn insert(&mut self, player: usize, view: &[Round], policy: &[(MoveId, f64)]) -> Result<(), PlaceError> {
        ProfileBuilder::insert(self, player, view, policy)
    }
}

/// Reads a table. Players are indices into a list of roles.
pub(crate) fn read(
    path: &Path,
    sim: &dyn Simulator,
    players: &[RoleId],
    builder: &mut dyn PolicySink,
) -> Result<(), Error> {
    let mut entries = Entries {
        path,
        sim: sim.fork(),
        players,
        builder,
    };
    let file = File::open(path).map_err(Error::io("cannot read", path))?;
    let mut from = BufReader::new(file);
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        number += 1;
        let mut limited = std::io::Read::take(&mut from, MAX_LINE as u64 + 1);
        let read = limited.read_until(b'\n', &mut line);
        if read.map_err(Error::io("cannot read", path))? == 0 {
            return match number {
                1 => Err(Error::format(
                    path,
                    "is empty: a policy has a line for every information set",
                )),
                _ => Ok(()),
            };
        }
        let text = line.trim_ascii();
        if text.is_empty() || text[0] == b'#' {
            continue;
        }
        let entry = match line.len() > MAX_LINE {
            true => None,
            false => serde_json::from_slice::<Value>(text).ok(),
        };
        match entry {
            Some(entry) if entry["strategy"].is_array() => return entries.object(&entry),
            Some(entry) => entries.add(&entry, &format!("line {number}"))?,
            None if number == 1 => return entries.object(&files::read_json(path)?),
            None => return Err(Error::format(path, format!("line {number} is not JSON"))),
        }
    }
}

struct Entries<'a> {
    path: &'a Path,
    sim: Box<dyn Simulator>,
    players: &'a [RoleId],
    builder: &'a mut dyn PolicySink,
}

impl Entries<'_> {
    fn object(&mut self, value: &Value) -> Result<(), Error> {
        let roles = self.sim.roles();
        let strange = value["roles"].as_array().filter(|listed| {
            let listed: Vec<&str> = listed.iter().filter_map(Value::as_str).collect();
            listed != roles
        });
        if strange.is_some() {
            let wrong = format!(
                "the strategy is for {}, whose roles are {}, not {}",
                value["game"].as_str().unwrap_or("another game"),
                value["roles"],
                roles.join(", ")
            );
            return Err(Error::OtherGame {
                path: self.path.to_owned(),
                wrong,
            });
        }
        let Some(list) = value["strategy"].as_array() else {
            return Err(Error::format(
                self.path,
                "is no policy: neither lines with role, view and policy nor what `surmise solve --save` writes",
            ));
        };
        for (number, entry) in list.iter().enumerate() {
            self.add(entry, &format!("entry {}", number + 1))?;
        }
        Ok(())
    }

    fn add(&mut self, entry: &Value, at: &str) -> Result<(), Error> {
        let wrong = |what: &str| Error::format(self.path, format!("{at}: {what}"));
        let name = entry["role"].as_str().ok_or_else(|| wrong("it has no role"))?;
        let roles = self.sim.roles();
        let player = self.players.iter().position(|role| roles[usize::from(role.0)] == name);
        let player = player.ok_or_else(|| wrong(&format!("the game has no role `{name}` that plays")))?;
        let role = self.players[player];
        let told = crate::told_from_json(&entry["view"]).ok_or_else(|| wrong("its view is not a list of rounds"))?;
        let mut view = Vec::with_capacity(told.len());
        for (number, round) in told.iter().enumerate() {
            let unknown = |what: &str| {
                Error::format(
                    self.path,
                    format!(
                        "{at}: round {} of the view: {name} never has `{what}` in this game",
                        number + 1
                    ),
                )
            };
            let own = self
                .sim
                .find_move(role, &round.own)
                .ok_or_else(|| unknown(&round.own))?;
            let mut sees = Vec::with_capacity(round.sees.len());
            for text in &round.sees {
                sees.push(self.sim.find_percept(role, text).ok_or_else(|| unknown(text))?);
            }
            sees.sort_by(|a, b| self.sim.percept_text(role, *a).cmp(self.sim.percept_text(role, *b)));
            view.push(Round { own, sees });
        }
        let moves = entry["policy"].as_object().ok_or_else(|| wrong("it has no policy"))?;
        let mut policy = Vec::with_capacity(moves.len());
        for (text, p) in moves {
            let mv = self.sim.find_move(role, text);
            let mv = mv.ok_or_else(|| wrong(&format!("{name} never has the move `{text}` in this game")))?;
            let p = p
                .as_f64()
                .ok_or_else(|| wrong(&format!("the probability of `{text}` is no number")))?;
            policy.push((mv, p));
        }
        let inserted = self.builder.insert(player, &view, &policy);
        inserted.map_err(|error| match error {
            PlaceError::NotLegal(mv) => wrong(&format!(
                "`{}` is not legal for {name} after this view",
                self.sim.move_text(role, mv)
            )),
            PlaceError::NotADistribution => {
                let sum: f64 = policy.iter().map(|(_, p)| p).sum();
                wrong(&format!(
                    "the probabilities must be at least 0 and sum to 1; they sum to {sum}"
                ))
            }
            error => wrong(&error.to_string()),
        })
    }
}
