//! Strategies of large games as files: a line of JSON with the graph of views, then probabilities as numbers of four
//! bytes.

use crate::Error;
use game::{RoleId, Simulator};
use search::{CompactChild, CompactClass, CompactStrategy, CompactViews};
use serde_json::{Value, json};
use solve::{LargeGame, ViewOutline};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// First bytes of a file.
const MAGIC: &[u8; 9] = b"SURMSTR1\n";

/// Bytes of the head at most.
const MAX_HEAD: u64 = 1 << 30;

/// A strategy as it was read.
pub struct SavedStrategy {
    /// Name of the game.
    pub game: String,
    /// Roles of the game.
    pub roles: Vec<String>,
    /// The strategy of each role, by name.
    pub strategies: BTreeMap<String, CompactStrategy>,
}

/// Whether a file is one of these.
pub fn is_compact(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *MAGIC
}

/// The bytes of a file. `about` has further fields of its head.
pub fn to_bytes(
    name: &str,
    large: &LargeGame,
    sim: &dyn Simulator,
    policies: &[Vec<f32>],
    about: serde_json::Map<String, Value>,
) -> Vec<u8> {
    let players = large.players().iter().enumerate().map(|(player, &role)| {
        let outline = large.outline(player);
        json!({
            "role": sim.roles()[usize::from(role.0)],
            "sequences": policies[player].len(),
            "root": outline.root,
            "drops_silent_rounds": large.drops_silent_rounds(),
            "lists": texts(&outline.lists, |mv| sim.move_text(role, *mv).to_owned()),
            "percepts": texts(&outline.percepts, |p| sim.percept_text(role, *p).to_owned()),
            "classes": classes(&outline),
        })
    });
    let mut head = about;
    head.insert("version".to_owned(), json!(1));
    head.insert("game".to_owned(), json!(name));
    head.insert("roles".to_owned(), json!(sim.roles()));
    head.insert("players".to_owned(), players.collect());
    let head = Value::Object(head).to_string();
    let mut out = Vec::with_capacity(head.len() + 32 + 4 * policies.iter().map(Vec::len).sum::<usize>());
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&(head.len() as u64).to_le_bytes());
    out.extend_from_slice(head.as_bytes());
    for policy in policies {
        policy.iter().for_each(|p| out.extend_from_slice(&p.to_le_bytes()));
    }
    out
}

fn texts<T>(lists: &[Vec<T>], text: impl Fn(&T) -> String) -> Value {
    lists
        .iter()
        .map(|list| list.iter().map(&text).collect::<Vec<_>>())
        .collect()
}

fn classes(outline: &ViewOutline) -> Value {
    let class = |class: &solve::OutlineClass| {
        let mut numbers = vec![class.list.map_or(-1, i64::from), i64::from(class.round)];
        for &(action, event, child, sequence) in &class.children {
            numbers.extend([
                i64::from(action),
                i64::from(event),
                i64::from(child),
                i64::from(sequence),
            ]);
        }
        numbers
    };
    outline.classes.iter().map(class).collect()
}

/// Reads a file.
///
/// # Errors
/// If it cannot be read or is damaged.
pub fn read(path: &Path) -> Result<SavedStrategy, Error> {
    let file = File::open(path).map_err(Error::io("cannot read", path))?;
    let mut from = BufReader::new(file);
    match from_reader(&mut from).map_err(Error::io("cannot read", path))? {
        Some(saved) => Ok(saved),
        None => Err(Error::format(path, "is a damaged strategy of a large game")),
    }
}

fn from_reader(from: &mut dyn Read) -> std::io::Result<Option<SavedStrategy>> {
    let mut start = [0; MAGIC.len() + 8];
    from.read_exact(&mut start)?;
    let mut length = [0; 8];
    length.copy_from_slice(&start[MAGIC.len()..]);
    let length = u64::from_le_bytes(length);
    if start[..MAGIC.len()] != *MAGIC || length > MAX_HEAD {
        return Ok(None);
    }
    let mut head = Vec::new();
    from.take(length).read_to_end(&mut head)?;
    let Ok(head) = serde_json::from_slice::<Value>(&head) else {
        return Ok(None);
    };
    let mut strategies = BTreeMap::new();
    let Some(players) = head["players"].as_array() else {
        return Ok(None);
    };
    for player in players {
        let Some((role, views, n)) = player_of(player) else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        from.take(n.saturating_mul(4)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != n.saturating_mul(4) {
            return Ok(None);
        }
        let number = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        let policy = bytes.chunks_exact(4).map(number).collect();
        let Some(strategy) = CompactStrategy::new(views, policy) else {
            return Ok(None);
        };
        strategies.insert(role, strategy);
    }
    let roles = head["roles"]
        .as_array()
        .map(|roles| roles.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    let game = head["game"].as_str().map(str::to_owned);
    Ok(game.zip(roles).map(|(game, roles)| SavedStrategy {
        game,
        roles,
        strategies,
    }))
}

fn player_of(player: &Value) -> Option<(String, CompactViews, u64)> {
    let lists = |value: &Value| -> Option<Vec<Vec<String>>> {
        let list = |list: &Value| -> Option<Vec<String>> {
            list.as_array()?
                .iter()
                .map(|text| Some(text.as_str()?.to_owned()))
                .collect()
        };
        value.as_array()?.iter().map(list).collect()
    };
    let class = |class: &Value| -> Option<CompactClass> {
        let numbers: Vec<i64> = class.as_array()?.iter().map(Value::as_i64).collect::<Option<_>>()?;
        let (head, children) = numbers.split_at_checked(2)?;
        let child = |c: &[i64]| -> Option<CompactChild> {
            Some(CompactChild {
                action: u16::try_from(c[0]).ok()?,
                event: u32::try_from(c[1]).ok()?,
                class: u32::try_from(c[2]).ok()?,
                sequence: u32::try_from(c[3]).ok()?,
            })
        };
        let children = children.chunks(4).map(|c| (c.len() == 4).then(|| child(c)).flatten());
        Some(CompactClass {
            list: u32::try_from(head[0]).ok(),
            round: u32::try_from(head[1]).ok()?,
            children: children.collect::<Option<_>>()?,
        })
    };
    let views = CompactViews {
        lists: lists(&player["lists"])?,
        percepts: lists(&player["percepts"])?,
        classes: player["classes"].as_array()?.iter().map(class).collect::<Option<_>>()?,
        root: u32::try_from(player["root"].as_u64()?).ok()?,
        drops_silent_rounds: player["drops_silent_rounds"].as_bool()?,
    };
    Some((
        player["role"].as_str()?.to_owned(),
        views,
        player["sequences"].as_u64()?,
    ))
}

/// The views of a game in the form of a file, to compare a file with the game.
pub(super) fn views_of(large: &LargeGame, sim: &dyn Simulator, player: usize, role: RoleId) -> CompactViews {
    let outline = large.outline(player);
    let class = |class: &solve::OutlineClass| CompactClass {
        list: class.list,
        round: class.round,
        children: class
            .children
            .iter()
            .map(|&(action, event, class, sequence)| CompactChild {
                action,
                event,
                class,
                sequence,
            })
            .collect(),
    };
    CompactViews {
        lists: outline
            .lists
            .iter()
            .map(|list| list.iter().map(|&mv| sim.move_text(role, mv).to_owned()).collect())
            .collect(),
        percepts: outline
            .percepts
            .iter()
            .map(|set| set.iter().map(|&p| sim.percept_text(role, p).to_owned()).collect())
            .collect(),
        classes: outline.classes.iter().map(class).collect(),
        root: outline.root,
        drops_silent_rounds: large.drops_silent_rounds(),
    }
}
