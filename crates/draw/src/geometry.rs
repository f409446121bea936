//! Where cells are drawn: rows and columns of a group of boards.

use crate::contents::Diff;
use crate::family::Observed;
use crate::find::Group;
use crate::order::{Ordered, Orders};
use crate::orient::{self, Orientation};
use crate::picture::{Place, Shape};
use crate::sample::Samples;
use crate::statics::Statics;
use crate::term::{Id, words};
use gdl::Rules;
use std::collections::{BTreeMap, BTreeSet};

/// Cells of a track that are drawn in one row.
const TRACK: usize = 16;

/// The boards of a group, in rows and columns.
#[derive(Clone, Debug, Default)]
pub struct Geometry {
    pub shape: Shape,
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// Place of each cell that exists, by the values of its keys.
    pub places: BTreeMap<Vec<Id>, Place>,
    /// The same, by place.
    pub cells: BTreeMap<Place, Vec<Id>>,
    /// The boards: the values of the argument that says on which board, or one board.
    pub planes: Vec<Option<Id>>,
    /// For boards with two axes: which key is the column, and in which direction pieces pile up.
    pub orientation: Option<Orientation>,
}

/// What geometry is found from.
pub struct Evidence<'a> {
    pub rules: &'a Rules,
    pub samples: &'a Samples,
    pub observed: &'a [Observed<'a>],
    pub orders: &'a Orders,
    pub statics: &'a Statics,
}

impl Geometry {
    pub fn of(group: &Group, diffs: &[Diff], evidence: &Evidence, hint: Option<Orientation>) -> Geometry {
        let mut geometry = match group.axes.len() {
            1 => cells(group, evidence),
            2 => grid(group, diffs, evidence, hint),
            _ => nested(group, evidence),
        };
        geometry.cells = geometry
            .places
            .iter()
            .map(|(key, place)| (*place, key.clone()))
            .collect();
        let (planes, _) = evidence.orders.sort(&group.planes, &evidence.samples.names);
        geometry.planes = match planes.is_empty() {
            true => vec![None],
            false => planes.into_iter().map(Some).collect(),
        };
        geometry
    }
}

/// Whether the cells of the main family are all there are, and are no whole rectangle.
fn existing(group: &Group, evidence: &Evidence) -> Option<BTreeSet<Vec<Id>>> {
    let main = &group.members[0];
    let mut cells = BTreeSet::new();
    for member in group.members.iter().filter(|m| main.total || m.family == main.family) {
        cells.extend(evidence.observed[member.family].cells(&member.keys));
    }
    main.total.then_some(cells)
}

fn grid(group: &Group, diffs: &[Diff], evidence: &Evidence, hint: Option<Orientation>) -> Geometry {
    let names = &evidence.samples.names;
    let existing = existing(group, evidence);
    let mut axes = group.axes.clone();
    if existing.is_none() && group.planes.is_empty() {
        extend_by_moves(&mut axes, evidence);
    }
    let sorted: Vec<(Vec<Id>, Ordered)> = axes.iter().map(|axis| evidence.orders.sort(axis, names)).collect();
    let values: Vec<Vec<Id>> = sorted.iter().map(|(list, _)| list.clone()).collect();
    let mut turned = hint.unwrap_or_else(|| orient::find(group, &sorted, diffs, evidence));
    let diagonal = hex_diagonal(&values, evidence);
    if let Some(same_sign) = diagonal {
        // In a rhombus whose rows move to the right, the third direction goes down and to the left.
        turned.up = same_sign;
    }
    let (rows, columns) = (&values[1 - turned.column], &values[turned.column]);
    let label = |ids: &[Id]| ids.iter().map(|&id| words(names.text(id))).collect::<Vec<_>>();
    let mut geometry = Geometry {
        shape: if diagonal.is_some() { Shape::Hex } else { Shape::Grid },
        rows: label(rows),
        columns: label(columns),
        orientation: Some(turned),
        ..Geometry::default()
    };
    if turned.up {
        geometry.rows.reverse();
    }
    if turned.left {
        geometry.columns.reverse();
    }
    for (i, &row) in rows.iter().enumerate() {
        for (j, &column) in columns.iter().enumerate() {
            let key = if turned.column == 0 {
                vec![column, row]
            } else {
                vec![row, column]
            };
            if existing.as_ref().is_some_and(|cells| !cells.contains(&key)) {
                continue;
            }
            let i = if turned.up { rows.len() - 1 - i } else { i };
            let j = if turned.left { columns.len() - 1 - j } else { j };
            geometry.places.insert(key, (i, j));
        }
    }
    geometry
}

/// Legal moves name cells on which there has been nothing yet.
fn extend_by_moves(axes: &mut [BTreeSet<Id>], evidence: &Evidence) {
    let sort = |set: &BTreeSet<Id>| evidence.orders.sort(set, &evidence.samples.names).1;
    for moves in evidence.samples.moves_by_family().values() {
        let arity = moves[0].1.len();
        let domain = |at: usize| -> BTreeSet<Id> { moves.iter().map(|(_, args)| args[at]).collect() };
        for at in 1..arity {
            let (one, two) = (domain(at - 1), domain(at));
            let covers = axes[0].is_subset(&one) && axes[1].is_subset(&two);
            let larger = one.len() * two.len() > axes[0].len() * axes[1].len();
            if covers && larger && one.len().max(two.len()) <= 64 && sort(&one) == sort(&axes[0]) {
                axes[0] = one;
                axes[1] = two;
            }
        }
    }
}

/// For boards whose cells have six neighbours by a relation of the rules: whether the third direction has equal signs.
fn hex_diagonal(values: &[Vec<Id>], evidence: &Evidence) -> Option<bool> {
    let index = |axis: usize, id: Id| values[axis].iter().position(|&v| v == id).map(|at| at as i64);
    for rows in evidence.statics.of_arity(4) {
        let mut steps = BTreeSet::new();
        let mut inside = 0;
        for row in rows {
            let places = (index(0, row[0]), index(1, row[1]), index(0, row[2]), index(1, row[3]));
            if let (Some(a), Some(b), Some(c), Some(d)) = places {
                inside += 1;
                steps.insert((c - a, d - b));
            }
        }
        let straight = [(1, 0), (0, 1)].iter().all(|s| steps.contains(s));
        let both = |s: (i64, i64)| steps.contains(&s) || steps.contains(&(-s.0, -s.1));
        let near = steps.iter().all(|(a, b)| a.abs() <= 1 && b.abs() <= 1);
        let (same, opposite) = (both((1, 1)), both((1, -1)));
        if inside >= 12 && straight && near && same != opposite {
            return Some(same);
        }
    }
    None
}

fn nested(group: &Group, evidence: &Evidence) -> Geometry {
    let names = &evidence.samples.names;
    let values: Vec<Vec<Id>> = group
        .axes
        .iter()
        .map(|axis| evidence.orders.sort(axis, names).0)
        .collect();
    let mut geometry = Geometry::default();
    let label = |a: Id, b: Id| format!("{} {}", words(names.text(a)), words(names.text(b)));
    let pairs = |outer: usize, inner: usize| -> Vec<(Id, Id)> {
        values[outer]
            .iter()
            .flat_map(|&a| values[inner].iter().map(move |&b| (a, b)))
            .collect()
    };
    let (rows, columns) = (pairs(0, 2), pairs(1, 3));
    geometry.rows = rows.iter().map(|&(a, b)| label(a, b)).collect();
    geometry.columns = columns.iter().map(|&(a, b)| label(a, b)).collect();
    for (i, row) in rows.iter().enumerate() {
        for (j, column) in columns.iter().enumerate() {
            geometry.places.insert(vec![row.0, column.0, row.1, column.1], (i, j));
        }
    }
    geometry
}

/// Cells that have one name each.
fn cells(group: &Group, evidence: &Evidence) -> Geometry {
    let names = &evidence.samples.names;
    let (list, _) = evidence.orders.sort(&group.axes[0], names);
    let coordinates = by_names(&list, evidence).or_else(|| by_relations(&list, evidence));
    let mut geometry = Geometry::default();
    match coordinates {
        Some(grid) => {
            geometry.rows = grid.rows;
            geometry.columns = grid.columns;
            geometry.places = grid.places.into_iter().map(|(id, place)| (vec![id], place)).collect();
        }
        None => {
            let width = match list.len() {
                0..=TRACK => list.len().max(1),
                many => ((many as f64).sqrt().ceil() as usize).max(8),
            };
            geometry.rows = vec![String::new(); list.len().div_ceil(width)];
            geometry.columns = match geometry.rows.len() {
                1 => list.iter().map(|&id| words(names.text(id))).collect(),
                _ => vec![String::new(); width],
            };
            geometry.places = list
                .iter()
                .enumerate()
                .map(|(n, &id)| (vec![id], (n / width, n % width)))
                .collect();
        }
    }
    geometry
}

struct Coordinates {
    rows: Vec<String>,
    columns: Vec<String>,
    places: BTreeMap<Id, Place>,
}

/// Coordinates within names, such as `a1`, `c12`, `cell-3-4`.
fn by_names(list: &[Id], evidence: &Evidence) -> Option<Coordinates> {
    let names = &evidence.samples.names;
    let texts: Vec<&str> = list.iter().map(|&id| names.text(id)).collect();
    let first = texts.first()?;
    let common = texts
        .iter()
        .map(|t| t.bytes().zip(first.bytes()).take_while(|(a, b)| a == b).count())
        .min()?;
    // A common start that ends in a digit may be a coordinate.
    let prefix = first[..common]
        .trim_end_matches(|c: char| c.is_ascii_digit() || c.is_ascii_lowercase())
        .len();
    for cut in [prefix, common, common.saturating_sub(1)] {
        let split = |text: &&str| text.get(cut..).and_then(split_coordinates);
        let parsed: Option<Vec<(String, i64)>> = texts.iter().map(split).collect();
        let Some(parsed) = parsed else { continue };
        let firsts: BTreeSet<(usize, &String)> = parsed.iter().map(|(a, _)| (a.len(), a)).collect();
        let seconds: BTreeSet<i64> = parsed.iter().map(|(_, b)| *b).collect();
        let letters = firsts.iter().all(|(_, a)| a.bytes().all(|b| b.is_ascii_lowercase()));
        if firsts.len() < 2 || seconds.len() < 2 || 2 * list.len() < firsts.len() * seconds.len() {
            continue;
        }
        let firsts: Vec<&String> = firsts.into_iter().map(|(_, a)| a).collect();
        let seconds: Vec<i64> = seconds.into_iter().collect();
        let mut places = BTreeMap::new();
        for (&id, (a, b)) in list.iter().zip(&parsed) {
            let i = firsts.iter().position(|f| *f == a)?;
            let j = seconds.iter().position(|s| s == b)?;
            // Letters are columns, and numbers then go up; of two numbers the first is the row.
            let place = if letters { (seconds.len() - 1 - j, i) } else { (i, j) };
            places.insert(id, place);
        }
        let distinct: BTreeSet<&Place> = places.values().collect();
        if distinct.len() < list.len() {
            continue;
        }
        let mut numbers: Vec<String> = seconds.iter().map(i64::to_string).collect();
        let firsts: Vec<String> = firsts.into_iter().cloned().collect();
        if letters {
            numbers.reverse();
        }
        let (rows, columns) = if letters { (numbers, firsts) } else { (firsts, numbers) };
        return Some(Coordinates { rows, columns, places });
    }
    None
}

/// A letter and a number, two digits, or two numbers with something between them.
fn split_coordinates(text: &str) -> Option<(String, i64)> {
    let letters = text.len() - text.trim_start_matches(|c: char| c.is_ascii_lowercase()).len();
    if letters == 1 {
        return text[1..].parse().ok().map(|n| (text[..1].to_owned(), n));
    }
    let is_digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    if text.len() == 2 && is_digits(text) {
        return text[1..].parse().ok().map(|n| (text[..1].to_owned(), n));
    }
    let (one, two) = text.split_once(|c: char| !c.is_ascii_digit())?;
    match is_digits(one) && is_digits(two) {
        true => two.parse().ok().map(|n| (one.to_owned(), n)),
        false => None,
    }
}

/// Two successor relations among the cells, one for each axis.
fn by_relations(list: &[Id], evidence: &Evidence) -> Option<Coordinates> {
    let chains: Vec<_> = evidence
        .orders
        .chains
        .iter()
        .filter(|c| list.iter().all(|id| c.place.contains_key(id)) && c.paths.len() >= 2)
        .take(12)
        .collect();
    for (number, down) in chains.iter().enumerate() {
        for right in &chains[number + 1..] {
            let places: BTreeMap<Id, Place> = list
                .iter()
                .map(|id| (*id, (down.place[id].1, right.place[id].1)))
                .collect();
            let distinct: BTreeSet<&Place> = places.values().collect();
            let rows = places.values().map(|p| p.0).max()? + 1;
            let columns = places.values().map(|p| p.1).max()? + 1;
            if distinct.len() == list.len() && rows >= 2 && columns >= 2 && 2 * list.len() >= rows * columns {
                let blank = |n: usize| vec![String::new(); n];
                return Some(Coordinates {
                    rows: blank(rows),
                    columns: blank(columns),
                    places,
                });
            }
        }
    }
    None
}
