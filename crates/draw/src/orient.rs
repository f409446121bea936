//! Which axis of a board is vertical, and which way is up.
//!
//! In this order: the axis along which the pieces of two roles advance against each other is vertical, and the first
//! of the two roles moves up; if a move names one coordinate only, this is the column, and pieces pile up from the
//! bottom; letters are columns, and numbers beside letters go up; names of variables (`?row`, `?x`); else the first
//! argument is the row, from the top.

use crate::contents::{CellKey, Diff, PieceKey, only_mover};
use crate::find::Group;
use crate::geometry::Evidence;
use crate::order::Ordered;
use crate::term::Id;
use gdl::{Atom, Literal, Term, kw};
use std::collections::{BTreeMap, BTreeSet};

/// The turn of a board with two axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Orientation {
    /// The key, 0 or 1, that is the column.
    pub column: usize,
    /// Whether the first value of the other key is the bottom row.
    pub up: bool,
    /// Whether the first value of the column key is at the right.
    pub left: bool,
    /// Whether a move names a column only, and the piece goes to the first free cell from one end: from the first
    /// value of the row axis, or from the last.
    pub piles: Option<Pile>,
}

/// Where a piece goes that is put into a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pile {
    /// To the free cell with the first value.
    First,
    /// To the free cell with the last value.
    Last,
}

pub fn find(group: &Group, axes: &[(Vec<Id>, Ordered)], diffs: &[Diff], evidence: &Evidence) -> Orientation {
    let values: Vec<&[Id]> = axes.iter().map(|(list, _)| &list[..]).collect();
    let piling = piling(&values, diffs, evidence);
    if let Some(found) = piling {
        return found;
    }
    if let Some((vertical, up)) = advance(&values, diffs, evidence) {
        return Orientation {
            column: 1 - vertical,
            up,
            ..Orientation::default()
        };
    }
    match (axes[0].1, axes[1].1) {
        (Ordered::Letters, other) if other != Ordered::Letters => Orientation {
            column: 0,
            up: true,
            ..Orientation::default()
        },
        (other, Ordered::Letters) if other != Ordered::Letters => Orientation {
            column: 1,
            up: true,
            ..Orientation::default()
        },
        _ => by_variables(group, evidence),
    }
}

/// The axis along which pieces of two roles move in opposite directions, and whether the first role's go up the axis.
fn advance(values: &[&[Id]], diffs: &[Diff], evidence: &Evidence) -> Option<(usize, bool)> {
    // Steps forward and backward along each axis, by role and piece.
    let mut steps: BTreeMap<(usize, &PieceKey), [(usize, usize); 2]> = BTreeMap::new();
    for diff in diffs {
        let Some(role) = only_mover(evidence.samples, diff.step) else {
            continue;
        };
        let (gained, lost): (Vec<_>, Vec<_>) = (diff.gained().collect(), diff.lost().collect());
        for (to, piece) in &gained {
            let from: Vec<&&CellKey> = lost.iter().filter(|(_, p)| p == piece).map(|(c, _)| c).collect();
            let [from] = from[..] else { continue };
            let twice = gained.iter().filter(|(_, p)| p == piece).count() > 1;
            if twice || from.1 != to.1 {
                continue;
            }
            let counts = steps.entry((role, piece)).or_default();
            for axis in 0..2 {
                let index = |cell: &CellKey| values[axis].iter().position(|v| *v == cell.0[axis]);
                let (Some(a), Some(b)) = (index(from), index(to)) else {
                    continue;
                };
                counts[axis].0 += usize::from(b > a);
                counts[axis].1 += usize::from(b < a);
            }
        }
    }
    for axis in [1, 0] {
        let direction = |counts: &[(usize, usize); 2]| match counts[axis] {
            (forward, 0) if forward >= 5 => Some(true),
            (0, backward) if backward >= 5 => Some(false),
            _ => None,
        };
        let mut by_role: BTreeMap<usize, BTreeSet<bool>> = BTreeMap::new();
        for ((role, _), counts) in &steps {
            by_role.entry(*role).or_default().extend(direction(counts));
        }
        let clear: Vec<bool> = by_role
            .values()
            .filter(|d| d.len() == 1)
            .filter_map(|d| d.first().copied())
            .collect();
        if clear.len() >= 2 && clear.iter().any(|d| *d != clear[0]) {
            return Some((axis, clear[0]));
        }
    }
    None
}

/// Moves that name one coordinate, after which only cells with this coordinate change.
fn piling(values: &[&[Id]], diffs: &[Diff], evidence: &Evidence) -> Option<Orientation> {
    let mut rates: BTreeMap<(usize, usize), [(usize, usize); 2]> = BTreeMap::new();
    for diff in diffs.iter().filter(|d| !d.changed.is_empty()) {
        let Some(role) = only_mover(evidence.samples, diff.step) else {
            continue;
        };
        let mv = &evidence.samples.steps[diff.step].joint[role];
        for (at, arg) in mv.args.iter().enumerate() {
            let entry = rates.entry((mv.family, at)).or_default();
            for (axis, (hits, tries)) in entry.iter_mut().enumerate() {
                let hit = diff.changed.iter().all(|cell| cell.0[axis] == *arg);
                *hits += usize::from(hit);
                *tries += 1;
            }
        }
    }
    let named = |axis: usize| {
        rates
            .values()
            .any(|r| r[axis].1 >= 8 && 10 * r[axis].0 >= 9 * r[axis].1)
    };
    let both_axes = rates.keys().any(|(family, _)| {
        let hits = |axis: usize| {
            let mut of_family = rates.iter().filter(|((f, _), _)| f == family);
            of_family.any(|(_, r)| r[axis].1 >= 8 && 2 * r[axis].0 >= r[axis].1)
        };
        hits(0) && hits(1)
    });
    let column = match (named(0), named(1), both_axes) {
        (true, false, false) => 0,
        (false, true, false) => 1,
        _ => return None,
    };
    if values[column].len() < 3 {
        return None;
    }
    // The first pieces of each game show at which end columns fill.
    let row = 1 - column;
    let (mut low, mut high) = (0, 0);
    let early = diffs.iter().filter(|d| {
        evidence
            .samples
            .first
            .iter()
            .any(|f| (*f..f + 4).contains(&evidence.samples.steps[d.step].before))
    });
    for cell in early.flat_map(|d| &d.changed) {
        let Some(at) = values[row].iter().position(|v| *v == cell.0[row]) else {
            continue;
        };
        match 2 * at < values[row].len() {
            true => low += 1,
            false => high += 1,
        }
    }
    let pile = if low >= high { Pile::First } else { Pile::Last };
    Some(Orientation {
        column,
        up: pile == Pile::First,
        left: false,
        piles: Some(pile),
    })
}

/// Names of variables say what authors had in mind: `?row`, `?col`, `?x`, `?y`.
fn by_variables(group: &Group, evidence: &Evidence) -> Orientation {
    let member = &group.members[0];
    let family = &evidence.samples.fluents.list[member.family];
    let mut votes = [0_i32; 2];
    let mut up = 0_i32;
    let mut visit = |atom: &Atom, variables: &[String]| {
        let Some(Term::Fun(name, args)) = atom.args.last() else {
            return;
        };
        if !matches!(atom.relation, kw::TRUE | kw::NEXT | kw::INIT | kw::BASE) {
            return;
        }
        if evidence.rules.symbols.text(*name) != family.name || args.len() != family.arity {
            return;
        }
        for (axis, &key) in member.keys.iter().enumerate().take(2) {
            if let Some(Term::Var(v)) = args.get(key)
                && let Some(text) = variables.get(*v as usize)
            {
                let text = text.trim_start_matches('?').to_lowercase();
                let starts = |list: &[&str]| list.iter().any(|s| text.starts_with(s));
                votes[axis] += i32::from(starts(&["col", "x", "file"])) - i32::from(starts(&["row", "y", "rank"]));
                up += i32::from(starts(&["x", "y", "rank", "file"])) - i32::from(starts(&["row", "col"]));
            }
        }
    };
    for clause in &evidence.rules.clauses {
        visit(&clause.head, &clause.variables);
        for literal in &clause.body {
            if let Literal::Pos(atom) | Literal::Neg(atom) = literal {
                visit(atom, &clause.variables);
            }
        }
    }
    match votes[0] - votes[1] {
        v if v > 0 => Orientation {
            column: 0,
            up: up > 0,
            ..Orientation::default()
        },
        v if v < 0 => Orientation {
            column: 1,
            up: up > 0,
            ..Orientation::default()
        },
        _ => Orientation {
            column: 1,
            ..Orientation::default()
        },
    }
}
