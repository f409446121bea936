//! Where a move is made: which of its arguments name cells, by their values and by what changes when it is made.

use crate::contents::{CellKey, Diff, PieceKey};
use crate::find::Group;
use crate::geometry::Geometry;
use crate::picture::Place;
use crate::pieces::Pieces;
use crate::sample::Samples;
use crate::term::{Atom, Id};
use std::collections::{BTreeMap, BTreeSet};

/// Arguments of a move that name a cell, in the order of the keys of the board.
pub type Slot = Vec<usize>;

/// Which of several boards a move is made on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlaneOf {
    /// There is one board.
    Only,
    /// An argument says so.
    Argument(usize),
    /// The board of the role that moves.
    Mover,
    /// The board of the other role.
    Other,
}

/// Where the moves of a family are made.
#[derive(Clone, Debug)]
pub enum Target {
    /// On a cell, or from one cell to another.
    Cells {
        group: usize,
        plane: PlaneOf,
        from: Option<Slot>,
        to: Slot,
    },
    /// Along a line: the move names one coordinate.
    Line {
        group: usize,
        plane: PlaneOf,
        axis: usize,
        argument: usize,
    },
    /// Relative to a piece of the mover: each move shifts it by a fixed number of cells.
    Shifts {
        group: usize,
        shifts: BTreeMap<(usize, Atom), (PieceKey, (i64, i64))>,
    },
}

/// A group of boards with everything that is known of it.
pub struct Known<'a> {
    pub group: &'a Group,
    pub geometry: &'a Geometry,
    pub pieces: &'a Pieces,
    pub diffs: &'a [Diff],
}

/// Rounds in which a move of a family was made.
struct Made<'a> {
    role: usize,
    mv: &'a Atom,
    diff: &'a Diff,
}

/// Targets of all families of moves that have one.
pub fn find(samples: &Samples, boards: &[Known], roles: &[String]) -> BTreeMap<usize, Target> {
    let mut targets = BTreeMap::new();
    for (family, legal) in samples.moves_by_family() {
        let mut best: Option<(f64, Target)> = None;
        for (number, board) in boards.iter().enumerate() {
            let made = made(samples, board.diffs, family);
            let found = on_cells(number, board, &legal, &made, roles)
                .or_else(|| on_line(number, board, &legal, &made, roles))
                .or_else(|| shifting(number, board, &legal, &made));
            if let Some((score, target)) = found
                && best.as_ref().is_none_or(|(most, _)| score > *most + 1e-9)
            {
                best = Some((score, target));
            }
        }
        if let Some((_, target)) = best {
            targets.insert(family, target);
        }
    }
    targets
}

fn made<'a>(samples: &'a Samples, diffs: &'a [Diff], family: usize) -> Vec<Made<'a>> {
    let of_diff = |diff: &'a Diff| {
        let moves = samples.steps[diff.step].joint.iter().enumerate();
        moves
            .filter(move |(_, mv)| mv.family == family)
            .map(move |(role, mv)| Made { role, mv, diff })
    };
    diffs.iter().flat_map(of_diff).collect()
}

/// The other role of a game for two.
pub fn other_role(roles: &[String], role: usize) -> Option<usize> {
    let mut others = (0..roles.len()).filter(|&r| r != role && roles[r] != "random");
    match (others.next(), others.next()) {
        (Some(other), None) => Some(other),
        _ => None,
    }
}

struct Rated {
    slot: Slot,
    plane: PlaneOf,
    /// Share of the rounds in which the cell changed; unknown without rounds.
    rate: Option<f64>,
    score: f64,
}

fn on_cells(
    number: usize,
    board: &Known,
    legal: &[(usize, &[Id])],
    made: &[Made],
    roles: &[String],
) -> Option<(f64, Target)> {
    let arity = legal[0].1.len();
    let width = board.group.axes.len();
    let mut rated: Vec<Rated> = Vec::new();
    for slot in slots(arity, width) {
        let exists = |(_, args): &&(usize, &[Id])| board.geometry.places.contains_key(&picked(args, &slot));
        if 20 * legal.iter().filter(exists).count() < 19 * legal.len() {
            continue;
        }
        let best = planes(board, &slot, legal)
            .into_iter()
            .map(|plane| rate(board, &slot, plane, made, roles, legal));
        rated.extend(best.max_by(|a, b| a.score.total_cmp(&b.score)));
    }
    rated.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.slot.cmp(&b.slot)));
    let mut chosen: Vec<Rated> = Vec::new();
    for one in rated {
        let free = chosen
            .iter()
            .all(|c| c.plane == one.plane && c.slot.iter().all(|a| !one.slot.contains(a)));
        let enough = match (one.rate, chosen.is_empty()) {
            (Some(rate), true) => rate >= 0.05 || covers(board, &one.slot, legal, arity),
            (Some(rate), false) => rate >= 0.3,
            (None, _) => covers(board, &one.slot, legal, arity),
        };
        if free && enough {
            chosen.push(one);
        }
    }
    let score = chosen.iter().map(|c| c.score).sum::<f64>();
    let plane = chosen.first()?.plane;
    chosen.sort_by_key(|c| c.slot.iter().min().copied());
    let to = destination(board, &chosen, made, roles);
    let slot = |at: usize| chosen[at].slot.clone();
    let target = match chosen.len() {
        1 => Target::Cells {
            group: number,
            plane,
            from: None,
            to: slot(0),
        },
        _ => Target::Cells {
            group: number,
            plane,
            from: Some(slot(0)),
            to: slot(to),
        },
    };
    Some((score, target))
}

/// Ways to read a cell from the arguments of a move.
fn slots(arity: usize, width: usize) -> Vec<Slot> {
    match width {
        1 => (0..arity).map(|a| vec![a]).collect(),
        2 => {
            let pairs = (0..arity).flat_map(|a| (0..arity).map(move |b| vec![a, b]));
            pairs.filter(|p| p[0] != p[1] && p[0].abs_diff(p[1]) <= 3).collect()
        }
        _ => (0..(arity + 1).saturating_sub(width))
            .map(|a| (a..a + width).collect())
            .collect(),
    }
}

/// Ways to tell on which board a move is made.
fn planes(board: &Known, slot: &Slot, legal: &[(usize, &[Id])]) -> Vec<PlaneOf> {
    if board.group.planes.is_empty() {
        return vec![PlaneOf::Only];
    }
    let free = (0..legal[0].1.len()).filter(|a| !slot.contains(a));
    let says = free.filter(|&a| legal.iter().all(|(_, args)| board.group.planes.contains(&args[a])));
    let mut planes: Vec<PlaneOf> = says.map(PlaneOf::Argument).collect();
    if board.group.by_role {
        planes.extend([PlaneOf::Other, PlaneOf::Mover]);
    }
    planes
}

fn rate(
    board: &Known,
    slot: &Slot,
    plane: PlaneOf,
    made: &[Made],
    roles: &[String],
    legal: &[(usize, &[Id])],
) -> Rated {
    let hit = |m: &&Made| cell(board, slot, plane, m, roles).is_some_and(|cell| m.diff.changed.contains(&cell));
    let hits = made.iter().filter(hit).count();
    let rate = (made.len() >= 3).then(|| hits as f64 / made.len() as f64);
    let in_order = slot.windows(2).all(|w| w[1] == w[0] + 1);
    let different: BTreeSet<Vec<Id>> = legal.iter().take(2_000).map(|(_, args)| picked(args, slot)).collect();
    let share = different.len() as f64 / board.geometry.places.len().max(1) as f64;
    let score = rate.unwrap_or(0.2) + if in_order { 0.08 } else { 0.0 } + 0.02 * share.min(1.0);
    Rated {
        slot: slot.clone(),
        plane,
        rate,
        score,
    }
}

/// Whether legal moves name most cells of a board in the order of its keys.
fn covers(board: &Known, slot: &Slot, legal: &[(usize, &[Id])], arity: usize) -> bool {
    let named: BTreeSet<Vec<Id>> = legal.iter().map(|(_, args)| picked(args, slot)).collect();
    let in_order = slot.windows(2).all(|w| w[1] == w[0] + 1);
    let share = if slot.len() > 1 { 2 } else { 1 };
    in_order && arity <= 2 * slot.len() + 1 && share * named.len() >= board.geometry.places.len() && named.len() > 1
}

fn cell(board: &Known, slot: &Slot, plane: PlaneOf, made: &Made, roles: &[String]) -> Option<CellKey> {
    let role_plane = |role: usize| {
        let found = board
            .geometry
            .planes
            .iter()
            .flatten()
            .find(|id| board.pieces.role_of_plane(**id) == Some(role));
        found.copied()
    };
    let plane = match plane {
        PlaneOf::Only => None,
        PlaneOf::Argument(at) => Some(made.mv.args[at]),
        PlaneOf::Mover => Some(role_plane(made.role)?),
        PlaneOf::Other => Some(role_plane(other_role(roles, made.role)?)?),
    };
    Some((picked(&made.mv.args, slot), plane))
}

/// The cell at which what was on the first cell arrives; the last cell if that is not seen.
fn destination(board: &Known, chosen: &[Rated], made: &[Made], roles: &[String]) -> usize {
    let mut arrivals = vec![0_usize; chosen.len()];
    for m in made {
        let at = |c: &Rated| cell(board, &c.slot, c.plane, m, roles);
        let Some(start) = at(&chosen[0]) else { continue };
        let Some(moved) = m.diff.before.get(&start) else {
            continue;
        };
        let moved: BTreeSet<&PieceKey> = moved.iter().filter(|p| !board.pieces.blanks.contains(*p)).collect();
        for (number, c) in chosen.iter().enumerate().skip(1) {
            let arrived = at(c).and_then(|cell| m.diff.after.get(&cell));
            arrivals[number] += usize::from(arrived.is_some_and(|now| now.iter().any(|p| moved.contains(p))));
        }
    }
    (0..chosen.len()).max_by_key(|&n| (arrivals[n], n)).unwrap_or(0)
}

/// A move that names one coordinate, and changes only cells with this coordinate.
fn on_line(
    number: usize,
    board: &Known,
    legal: &[(usize, &[Id])],
    made: &[Made],
    roles: &[String],
) -> Option<(f64, Target)> {
    if board.group.axes.len() != 2 {
        return None;
    }
    let mut best: Option<(f64, Target)> = None;
    for argument in 0..legal[0].1.len() {
        for axis in 0..2 {
            let values: BTreeSet<Id> = board.geometry.places.keys().map(|key| key[axis]).collect();
            if !legal.iter().all(|(_, args)| values.contains(&args[argument])) {
                continue;
            }
            for plane in planes(board, &vec![argument], legal) {
                let seen = made.iter().filter(|m| !m.diff.changed.is_empty());
                let seen: Vec<&Made> = seen.collect();
                let hit = |m: &&&Made| {
                    let on = cell(board, &vec![argument], plane, m, roles).map(|c| c.1);
                    let changed = m.diff.changed.iter().filter(|c| Some(c.1) == on);
                    let mut hits = changed.map(|c| c.0[axis] == m.mv.args[argument]).peekable();
                    hits.peek().is_some() && hits.any(|hit| hit)
                };
                let rate = seen.iter().filter(hit).count() as f64 / seen.len().max(1) as f64;
                if seen.len() >= 5 && rate >= 0.8 && best.as_ref().is_none_or(|(most, _)| rate - 0.5 > *most) {
                    best = Some((
                        rate - 0.5,
                        Target::Line {
                            group: number,
                            plane,
                            axis,
                            argument,
                        },
                    ));
                }
            }
        }
    }
    best
}

/// Moves each of which shifts a piece of the mover by the same number of cells whenever it is made.
fn shifting(number: usize, board: &Known, legal: &[(usize, &[Id])], made: &[Made]) -> Option<(f64, Target)> {
    if legal.len() > 64 || !board.group.planes.is_empty() {
        return None;
    }
    type Votes = BTreeMap<(PieceKey, (i64, i64)), usize>;
    let mut votes: BTreeMap<(usize, Atom), Votes> = BTreeMap::new();
    for m in made {
        let entry = votes.entry((m.role, m.mv.clone())).or_default();
        for (to, piece) in m.diff.gained() {
            let from: Vec<&CellKey> = m.diff.lost().filter(|(_, p)| *p == piece).map(|(c, _)| c).collect();
            let [from] = from[..] else { continue };
            let places = (board.geometry.places.get(&from.0), board.geometry.places.get(&to.0));
            if let (Some(a), Some(b)) = places
                && !board.pieces.blanks.contains(piece)
            {
                let shift = (b.0 as i64 - a.0 as i64, b.1 as i64 - a.1 as i64);
                *entry.entry((piece.clone(), shift)).or_default() += 1;
            }
        }
    }
    let mut shifts = BTreeMap::new();
    for (mv, votes) in &votes {
        let Some((best, n)) = votes.iter().max_by_key(|(_, n)| **n) else {
            continue;
        };
        let total: usize = votes
            .iter()
            .filter(|((piece, _), _)| *piece == best.0)
            .map(|(_, n)| n)
            .sum();
        let times = made.iter().filter(|m| (m.role, m.mv) == (mv.0, &mv.1)).count();
        if *n >= 2 && 10 * n >= 9 * total && 2 * n >= times {
            shifts.insert(mv.clone(), best.clone());
        }
    }
    let distinct: BTreeSet<(i64, i64)> = shifts.values().map(|(_, shift)| *shift).collect();
    (shifts.len() >= 2 && distinct.len() >= 2).then_some((0.1, Target::Shifts { group: number, shifts }))
}

fn picked(args: &[Id], slot: &[usize]) -> Vec<Id> {
    slot.iter().map(|&at| args[at]).collect()
}

/// A place shifted, if it is within the numbers that places have.
pub fn shifted(place: Place, shift: (i64, i64)) -> Option<Place> {
    let add = |at: usize, by: i64| usize::try_from(i64::try_from(at).ok()? + by).ok();
    Some((add(place.0, shift.0)?, add(place.1, shift.1)?))
}
