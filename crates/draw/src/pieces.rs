//! Whose a piece is, which pieces are blanks, and short forms of their names.

use crate::contents::{Diff, PieceKey, only_mover};
use crate::find::Group;
use crate::sample::Samples;
use crate::term::{Id, words};
use std::collections::{BTreeMap, BTreeSet};

/// How a piece is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    pub text: String,
    pub glyph: String,
    /// The role that the piece belongs to, by number.
    pub role: Option<usize>,
}

/// The pieces of a group: how they look; blanks have no look.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    pub looks: BTreeMap<PieceKey, Look>,
    pub blanks: BTreeSet<PieceKey>,
    /// Roles by the argument that names them.
    roles: BTreeMap<Id, usize>,
}

/// Names by which authors of rules call a cell without anything on it.
const BLANKS: [&str; 10] = [
    "b", "blank", "empty", "e", "none", "free", "-", "nothing", "clear", "vacant",
];

impl Pieces {
    pub fn of(group: &Group, samples: &Samples, diffs: &[Diff], roles: &[String]) -> Pieces {
        let counts = count(group, samples);
        let blanks = find_blanks(group, samples, &counts, diffs);
        let role_ids = roles
            .iter()
            .enumerate()
            .filter_map(|(r, name)| Some((samples.names.get(name)?, r)));
        let mut pieces = Pieces {
            looks: BTreeMap::new(),
            blanks,
            roles: role_ids.collect(),
        };
        let keys: Vec<PieceKey> = counts.keys().filter(|k| !pieces.blanks.contains(*k)).cloned().collect();
        let owners = Owners::observe(samples, diffs, roles);
        for key in &keys {
            let text = text(group, samples, key);
            let role = owners.role(group, samples, key, &text);
            pieces.looks.insert(
                key.clone(),
                Look {
                    text,
                    glyph: String::new(),
                    role,
                },
            );
        }
        by_initials(&mut pieces, samples, roles);
        let overlay = |key: &PieceKey| key.0 > 0 && !group.members[key.0].total;
        set_glyphs(&mut pieces, samples, roles, &overlay);
        pieces
    }

    /// The role whose board a plane is.
    pub fn role_of_plane(&self, plane: Id) -> Option<usize> {
        self.roles.get(&plane).copied()
    }
}

/// How often each piece is seen.
fn count(group: &Group, samples: &Samples) -> BTreeMap<PieceKey, usize> {
    let mut counts = BTreeMap::new();
    for state in &samples.states {
        for pieces in group.contents(state).into_values() {
            pieces
                .into_iter()
                .for_each(|piece| *counts.entry(piece).or_insert(0) += 1);
        }
    }
    counts
}

fn find_blanks(
    group: &Group,
    samples: &Samples,
    counts: &BTreeMap<PieceKey, usize>,
    diffs: &[Diff],
) -> BTreeSet<PieceKey> {
    let mut blanks = BTreeSet::new();
    for (number, member) in group.members.iter().enumerate() {
        let of_member: Vec<(&PieceKey, usize)> = counts
            .iter()
            .filter(|(k, _)| k.0 == number)
            .map(|(k, n)| (k, *n))
            .collect();
        if member.pieces.len() != 1 || of_member.len() < 2 {
            continue;
        }
        let total: usize = of_member.iter().map(|(_, n)| n).sum();
        let most = of_member.iter().max_by_key(|(_, n)| *n).map(|(k, _)| *k);
        let at_first = most_at_first(group, samples, number);
        let is_plain = |key: &PieceKey| samples.names.text(key.1[0]).len() > 1;
        let plainly = of_member
            .iter()
            .any(|(k, _)| is_plain(k) && BLANKS.contains(&samples.names.text(k.1[0])));
        for (key, n) in &of_member {
            let name = samples.names.text(key.1[0]);
            let named = BLANKS.contains(&name);
            let number = name.parse::<i64>().is_ok() || name.bytes().any(|b| b.is_ascii_digit());
            let many = Some(*key) == most && 20 * n >= 7 * total;
            let left = || vacated(diffs, key);
            let is_blank = match (member.total, named) {
                (_, true) if name.len() > 1 => true,
                // With a name that says plainly that it is the blank, only what pieces leave behind is another one.
                (_, false) if plainly => false,
                (_, true) if plainly => left(),
                (true, true) => many || left() || at_first.as_ref() == Some(*key) || *n * 9 <= total,
                (true, false) => many && !number && (left() || 2 * n >= total),
                (false, named) => named && many,
            };
            if is_blank {
                blanks.insert((*key).clone());
                if !named {
                    break;
                }
            }
        }
        // With several short names the most frequent one is the blank.
        let mine: Vec<PieceKey> = blanks.iter().filter(|k| k.0 == number).cloned().collect();
        if mine.len() > 1 {
            let keep = mine.iter().max_by_key(|k| counts[*k]).cloned();
            blanks.retain(|k| k.0 != number || Some(k) == keep.as_ref() || is_plain(k));
        }
    }
    blanks
}

/// The piece of a family of which there are most in the first state.
fn most_at_first(group: &Group, samples: &Samples, member: usize) -> Option<PieceKey> {
    let mut counts: BTreeMap<PieceKey, usize> = BTreeMap::new();
    for piece in group.contents(samples.states.first()?).into_values().flatten() {
        *counts.entry(piece).or_default() += 1;
    }
    let of_member = counts.into_iter().filter(|(key, _)| key.0 == member);
    of_member.max_by_key(|(_, n)| *n).map(|(key, _)| key)
}

/// Whether cells that a piece leaves mostly become this.
fn vacated(diffs: &[Diff], blank: &PieceKey) -> bool {
    let (mut gained, mut all) = (0, 0);
    for diff in diffs {
        let moved: BTreeSet<&PieceKey> = diff.gained().map(|(_, piece)| piece).collect();
        for (cell, piece) in diff.lost() {
            if piece != blank && moved.contains(piece) {
                all += 1;
                gained += usize::from(diff.after.get(cell).is_some_and(|now| now.contains(blank)));
            }
        }
    }
    all >= 5 && 10 * gained >= 8 * all
}

fn text(group: &Group, samples: &Samples, key: &PieceKey) -> String {
    let member = &group.members[key.0];
    let name = &samples.fluents.list[member.family].name;
    let args: Vec<String> = key.1.iter().map(|&id| words(samples.names.text(id))).collect();
    match key.0 == 0 && !args.is_empty() {
        true => args.join(" "),
        false => std::iter::once(name.clone()).chain(args).collect::<Vec<_>>().join(" "),
    }
}

/// Evidence of whose the pieces are.
struct Owners<'a> {
    roles: &'a [String],
    /// How often a piece came to a cell when only this role had a choice.
    gained: BTreeMap<PieceKey, Vec<usize>>,
    /// Roles whose moves name a constant.
    named: BTreeMap<Id, BTreeSet<usize>>,
}

impl<'a> Owners<'a> {
    fn observe(samples: &Samples, diffs: &[Diff], roles: &'a [String]) -> Owners<'a> {
        let mut owners = Owners {
            roles,
            gained: BTreeMap::new(),
            named: BTreeMap::new(),
        };
        for diff in diffs {
            let Some(role) = only_mover(samples, diff.step) else {
                continue;
            };
            for (_, piece) in diff.gained() {
                owners
                    .gained
                    .entry(piece.clone())
                    .or_insert_with(|| vec![0; roles.len()])[role] += 1;
            }
        }
        for (role, moves) in samples.legal.iter().enumerate() {
            for id in moves.iter().flat_map(|mv| &mv.args) {
                owners.named.entry(*id).or_default().insert(role);
            }
        }
        owners
    }

    fn role(&self, group: &Group, samples: &Samples, key: &PieceKey, text: &str) -> Option<usize> {
        let played = self.roles.iter().filter(|r| *r != "random").count();
        if played < 2 {
            return None;
        }
        let named = |id: &Id| self.roles.iter().position(|r| r == samples.names.text(*id));
        if let Some(role) = key.1.iter().find_map(named) {
            return Some(role);
        }
        // A family with no other arguments is a mark; a name that contains one role's name is this role's.
        let containing: Vec<usize> = (0..self.roles.len())
            .filter(|&r| self.roles[r].len() > 2 && text.contains(&self.roles[r]))
            .collect();
        if let [role] = containing[..] {
            return Some(role);
        }
        if let [id] = key.1[..]
            && let Some(roles) = self.named.get(&id)
            && roles.len() == 1
            && group.axes.iter().all(|axis| !axis.contains(&id))
        {
            return roles.first().copied();
        }
        if text.parse::<i64>().is_ok() {
            return None;
        }
        let gained = self.gained.get(key)?;
        let all: usize = gained.iter().sum();
        let best = (0..gained.len()).max_by_key(|&r| gained[r])?;
        (all >= 3 && 100 * gained[best] >= 95 * all).then_some(best)
    }
}

/// Pieces that begin with the first letter of a role, if that is so of all pieces: `wp` is white's, `x` is xplayer's.
fn by_initials(pieces: &mut Pieces, samples: &Samples, roles: &[String]) {
    let played: Vec<usize> = (0..roles.len()).filter(|&r| roles[r] != "random").collect();
    let initial = |text: &str| text.chars().next();
    let initials: BTreeSet<_> = played.iter().map(|&r| initial(&roles[r])).collect();
    if played.len() < 2 || initials.len() < played.len() {
        return;
    }
    let values: Vec<PieceKey> = pieces
        .looks
        .keys()
        .filter(|k| k.0 == 0 && k.1.len() == 1)
        .cloned()
        .collect();
    let role_of = |key: &PieceKey| {
        played
            .iter()
            .copied()
            .find(|&r| initial(&roles[r]) == initial(samples.names.text(key.1[0])))
    };
    let found: BTreeSet<_> = values.iter().filter_map(role_of).collect();
    if found.len() < 2 || values.iter().any(|k| role_of(k).is_none()) {
        return;
    }
    // Observation goes before names.
    let agree = |k: &PieceKey| pieces.looks[k].role.is_none_or(|r| Some(r) == role_of(k));
    if values.iter().all(agree) {
        for key in &values {
            let role = role_of(key);
            pieces.looks.entry(key.clone()).and_modify(|look| look.role = role);
        }
    }
}

const CHESS: [(&str, &str, &str); 6] = [
    ("king", "k", "♚"),
    ("queen", "q", "♛"),
    ("rook", "r", "♜"),
    ("bishop", "b", "♝"),
    ("knight", "n", "♞"),
    ("pawn", "p", "♟"),
];

fn set_glyphs(pieces: &mut Pieces, samples: &Samples, roles: &[String], overlay: &dyn Fn(&PieceKey) -> bool) {
    let overlays: BTreeSet<usize> = pieces.looks.keys().filter(|k| overlay(k)).map(|k| k.0).collect();
    let cores: BTreeMap<PieceKey, String> = pieces
        .looks
        .iter()
        .map(|(key, look)| (key.clone(), core(key, look, samples, roles)))
        .collect();
    let letters = |letter: &str| cores.iter().filter(|(k, c)| !overlay(k) && *c == letter).count();
    let chess_letters = CHESS.iter().filter(|(_, letter, _)| letters(letter) > 0).count() >= 4;
    let marks: BTreeSet<&String> = cores.iter().filter(|(k, _)| !overlay(k)).map(|(_, c)| c).collect();
    let noughts = marks.len() <= 3 && marks.iter().any(|m| *m == "x") && marks.iter().any(|m| *m == "o");
    let mut glyphs: BTreeMap<PieceKey, String> = BTreeMap::new();
    for (key, core) in &cores {
        let named = CHESS
            .iter()
            .find(|(name, letter, _)| core == name || (chess_letters && core == letter));
        let glyph = match (named, core.as_str()) {
            _ if overlay(key)
                && key
                    .1
                    .iter()
                    .all(|id| roles.iter().any(|r| r == samples.names.text(*id))) =>
            {
                match overlays.len() {
                    1 => "·".to_owned(),
                    _ => core.chars().take(2).collect(),
                }
            }
            (Some((_, _, symbol)), _) => (*symbol).to_owned(),
            (None, "x") if noughts => "✕".to_owned(),
            (None, "o") if noughts => "○".to_owned(),
            _ => continue,
        };
        glyphs.insert(key.clone(), glyph);
    }
    let rest: Vec<(&PieceKey, &String)> = cores.iter().filter(|(k, _)| !glyphs.contains_key(*k)).collect();
    let shorts = shorten(&rest.iter().map(|(_, core)| core.as_str()).collect());
    let shorts: Vec<(PieceKey, String)> = rest
        .iter()
        .map(|(k, core)| ((*k).clone(), shorts[*core].clone()))
        .collect();
    glyphs.extend(shorts);
    for (key, glyph) in glyphs {
        pieces.looks.entry(key).and_modify(|look| look.glyph = glyph);
    }
}

/// The part of a piece's name that does not name its role.
fn core(key: &PieceKey, look: &Look, samples: &Samples, roles: &[String]) -> String {
    let Some(role) = look.role.map(|r| roles[r].as_str()) else {
        return look.text.clone();
    };
    if look.text == role {
        // `xplayer` is x.
        let short = role.trim_end_matches("player");
        return if short.is_empty() {
            role.to_owned()
        } else {
            short.to_owned()
        };
    }
    let trimmed = look.text.replace(role, "");
    let trimmed = trimmed.trim_matches([' ', '-', '_']);
    if trimmed != look.text && !trimmed.is_empty() {
        return trimmed.to_owned();
    }
    let mut rest = look.text.chars();
    let is_value = key.1.len() == 1 && look.text == samples.names.text(key.1[0]);
    match rest.next() == role.chars().next() && is_value && look.text.len() == 2 {
        true => rest.as_str().to_owned(),
        false => look.text.clone(),
    }
}

/// Short forms of names, all different: a number, or the first letters.
pub fn shorten(names: &BTreeSet<&str>) -> BTreeMap<String, String> {
    let mut shorts = BTreeMap::new();
    for &name in names {
        let chars: Vec<char> = name.chars().collect();
        if chars.len() <= 2 || name.parse::<i64>().is_ok() {
            let upper = chars.len() <= 2 && chars.iter().all(|c| c.is_ascii_lowercase());
            shorts.insert(
                name.to_owned(),
                if upper { name.to_uppercase() } else { name.to_owned() },
            );
            continue;
        }
        let clash = |length: usize| {
            let start: String = chars.iter().take(length).collect();
            names.iter().any(|other| *other != name && other.starts_with(&start))
        };
        let digits: String = chars.iter().rev().take_while(|c| c.is_ascii_digit()).collect();
        let digits: String = digits.chars().rev().collect();
        let short = match (1..=3).find(|&length| !clash(length)) {
            Some(length) => chars.iter().take(length).collect::<String>(),
            None if !digits.is_empty() && digits.len() <= 4 => format!("{}{digits}", chars[0]),
            None => {
                // The first letter and the first one in which the name differs from the others.
                let common = names
                    .iter()
                    .filter(|o| **o != name)
                    .map(|o| common_start(o, name))
                    .max()
                    .unwrap_or(0);
                chars.iter().take(1).chain(chars.iter().skip(common).take(1)).collect()
            }
        };
        let mut letters = short.chars();
        let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
        shorts.insert(name.to_owned(), format!("{first}{}", letters.as_str()));
    }
    shorts
}

fn common_start(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count()
}
