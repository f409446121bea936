//! Families of fluents as boards of their own: which arguments say where a piece is.

use crate::family::Observed;
use crate::find::Member;
use crate::order::Ordered;

/// Most cells of a board along one side, and in all.
pub const SIDE: usize = 64;
const CELLS: usize = 2_500;
/// Most boards of one kind (planes of a cube, boards of a match on many boards).
const PLANES: usize = 30;

/// A family as a board of its own, before families are put together.
pub struct Candidate {
    pub member: Member,
    pub score: i32,
    pub cells: usize,
    /// Only drawn on a board that other families make.
    pub weak: bool,
}

/// A family as a board.
pub fn candidate(one: &Observed) -> Option<Candidate> {
    grid(one).or_else(|| cells(one))
}

/// A family with two axes.
fn grid(one: &Observed) -> Option<Candidate> {
    let arity = one.arity();
    if !(2..=7).contains(&arity) {
        return None;
    }
    if let Some(nested) = nested(one) {
        return Some(nested);
    }
    let mut best: Option<Candidate> = None;
    for i in 0..arity {
        for j in i + 1..arity {
            let Some(candidate) = pair(one, i, j) else { continue };
            if best.as_ref().is_none_or(|b| candidate.score > b.score) {
                best = Some(candidate);
            }
        }
    }
    best
}

fn pair(one: &Observed, i: usize, j: usize) -> Option<Candidate> {
    if one.is_role[i] || one.is_role[j] {
        return None;
    }
    let ordered = one.is_axis(i) && one.is_axis(j);
    let rest: Vec<usize> = (0..one.arity()).filter(|&p| p != i && p != j).collect();
    let key = one.is_key(&[i, j]);
    // Without an order only a table in which every pair of values occurs is a board.
    let sides = one.domains[i].len().max(one.domains[j].len());
    let table = || !rest.is_empty() && one.most > 3 && one.is_total(&[i, j]) && !one.is_key(&[i]) && !one.is_key(&[j]);
    // The same values in both arguments are coordinates, whatever their order.
    let square = || key && !rest.is_empty() && one.domains[i] == one.domains[j] && one.domains[i].len() > 2;
    if sides > SIDE || one.domains[i].len() < 2 || one.domains[j].len() < 2 || !(ordered || square() || table()) {
        return None;
    }
    if rest.is_empty() && (one.is_key(&[i]) || one.is_key(&[j])) && one.most > 1 {
        // A value for each key.
        return None;
    }
    let side = |p: usize| one.domains[p].len();
    let plane = match key {
        true => None,
        false => rest.iter().copied().find(|&p| {
            let more = rest.len() > 1 || (one.is_axis(p) && one.domains[p] == one.domains[i]);
            let filled = || 2 * one.cells(&[i, j, p]).len() >= side(i) * side(j) * side(p);
            more && side(p) <= PLANES && one.is_key(&[i, j, p]) && filled()
        }),
    };
    // Two cells in one fluent are a line between them, which no cell can hold.
    let other_cell = |p: &usize| one.is_axis(*p) && one.domains[*p] == one.domains[i];
    if !key && plane.is_none() && rest.iter().any(other_cell) {
        return None;
    }
    let pieces: Vec<usize> = rest.into_iter().filter(|&p| Some(p) != plane).collect();
    let keys = vec![i, j];
    let with_plane: Vec<usize> = keys.iter().copied().chain(plane).collect();
    let total = one.is_total(&with_plane) && one.most > 1;
    let cells = one.cells(&with_plane).len();
    if cells > CELLS {
        return None;
    }
    let single = key || plane.is_some();
    let mut score = 3 * i32::from(total) + 2 * i32::from(j == i + 1) + i32::from(ordered) + i32::from(i == 0);
    score += 3 * i32::from(one.domains[i] == one.domains[j]);
    if !pieces.is_empty() {
        score += 2 + 4 * i32::from(single);
    }
    // A value that is a number may be ordered too.
    score += i32::from(pieces.iter().all(|&p| !one.is_axis(p)));
    let weak = one.most <= 1 || (one.domains[i].len() == 2 && one.domains[j].len() == 2 && !total);
    Some(Candidate {
        member: Member {
            family: one.family,
            plane,
            keys,
            pieces,
            total,
            single,
        },
        score,
        cells,
        weak,
    })
}

/// Boards within the cells of a board: four axes, and nearly every cell occurs.
fn nested(one: &Observed) -> Option<Candidate> {
    if one.arity() < 4 {
        return None;
    }
    let keys = vec![0, 1, 2, 3];
    let sides: usize = keys.iter().map(|&k| one.domains[k].len()).product();
    let cells = one.cells(&keys).len();
    let all_axes = keys.iter().all(|&k| one.is_axis(k));
    if !all_axes || !one.is_key(&keys) || 2 * cells < sides || sides > CELLS || one.most <= 1 {
        return None;
    }
    let needed = |k: &usize| !one.is_key(&keys.iter().copied().filter(|o| o != k).collect::<Vec<_>>());
    if !keys.iter().all(needed) {
        return None;
    }
    let pieces = (4..one.arity()).collect();
    let total = one.is_total(&keys);
    Some(Candidate {
        member: Member {
            family: one.family,
            plane: None,
            keys,
            pieces,
            total,
            single: true,
        },
        score: 12,
        cells,
        weak: false,
    })
}

/// A family in which one argument names the cell, alone or together with a role.
fn cells(one: &Observed) -> Option<Candidate> {
    if one.arity() < 2 || one.arity() > 5 || one.most <= 1 {
        return None;
    }
    let plain = |p: &usize| !one.is_role[*p] && (2..=400).contains(&one.domains[*p].len());
    let places: Vec<usize> = (0..one.arity()).filter(plain).collect();
    let roles: Vec<usize> = (0..one.arity()).filter(|&p| one.is_role[p]).collect();
    let alone = places.iter().copied().filter(|&p| one.is_key(&[p])).map(|p| (p, None));
    let for_roles = places.iter().flat_map(|&p| roles.iter().map(move |&r| (p, r)));
    let with_role = for_roles
        .filter(|&(p, r)| one.arity() > 2 && one.is_key(&[p, r]))
        .map(|(p, r)| (p, Some(r)));
    let named = alone.chain(with_role).max_by_key(|&(p, role)| {
        let keys: Vec<usize> = std::iter::once(p).chain(role).collect();
        // Of a piece and its cell, the cell is the one of many names.
        let others = (0..one.arity()).filter(|o| !keys.contains(o));
        let most = others.map(|o| one.domains[o].len()).max().unwrap_or(0);
        let many = one.order[p] == Ordered::Mention && 2 * one.domains[p].len() >= 3 * most;
        let rank = 3 * i32::from(many) + 2 * i32::from(one.is_total(&keys));
        (role.is_none(), rank, one.domains[p].len(), std::cmp::Reverse(p))
    });
    let single = named.is_some();
    let (place, plane) = named.or_else(|| crowded(one))?;
    let everywhere = one.is_total(&[place]) && one.order[place] > Ordered::Mention;
    if one.arity() == 2 && roles.len() == 1 && !everywhere {
        // What roles hold is a hand, unless it is somewhere all the time.
        return None;
    }
    let keys: Vec<usize> = std::iter::once(place).chain(plane).collect();
    let pieces = (0..one.arity()).filter(|p| !keys.contains(p)).collect();
    let total = one.is_total(&keys);
    let member = Member {
        family: one.family,
        plane,
        keys: vec![place],
        pieces,
        total,
        single,
    };
    Some(Candidate {
        member,
        score: 2 * i32::from(total),
        cells: one.domains[place].len(),
        weak: false,
    })
}

/// Cells that hold several pieces each: the argument with many more values than the other.
fn crowded(one: &Observed) -> Option<(usize, Option<usize>)> {
    if one.arity() != 2 || one.is_role[0] || one.is_role[1] {
        return None;
    }
    let place = usize::from(one.domains[1].len() > one.domains[0].len());
    let (many, few) = (one.domains[place].len(), one.domains[1 - place].len());
    (many >= 4 && many >= 2 * few && few >= 2).then_some((place, None))
}
