//! Which facts are uncertain, and which of them would make another move the best.

use super::Flip;
use super::world::{Position, World};
use game::{MoveId, RoleId};
use std::collections::BTreeMap;

/// Differences of values that count as none.
const EQUAL: f64 = 1e-6;
/// Facts to name at most.
const FLIPS: usize = 3;

/// Facts that hold in some of the possible states and not in others, with their probabilities.
pub(super) fn marginals(fluents: &[Vec<String>], belief: &[(Position, f64)]) -> BTreeMap<String, f64> {
    let mut weights = BTreeMap::new();
    for (fluents, (_, p)) in fluents.iter().zip(belief) {
        for fluent in fluents {
            *weights.entry(fluent.clone()).or_insert(0.0) += p;
        }
    }
    weights.retain(|_, p| *p < 1.0 - 1e-9);
    weights
}

/// For each uncertain fact, the probability at which another move becomes the best: the belief is shifted towards the
/// histories in which the fact holds, or away from them, and stays as it is within both parts.
pub(super) fn flips(
    fluents: &[Vec<String>],
    belief: &[(Position, f64)],
    uncertain: &BTreeMap<String, f64>,
    own: &[(MoveId, f64)],
    values: &[Vec<f64>],
    world: &World,
    role: RoleId,
) -> Vec<Flip> {
    let mean = |row: &[f64], with: &dyn Fn(usize) -> bool| -> f64 {
        let chosen = || (0..belief.len()).filter(|&h| with(h));
        let mass: f64 = chosen().map(|h| belief[h].1).sum();
        chosen().map(|h| belief[h].1 * row[h]).sum::<f64>() / mass
    };
    let all = |row: &Vec<f64>| mean(row, &|_| true);
    let Some(best) = (0..own.len()).max_by(|&a, &b| all(&values[a]).total_cmp(&all(&values[b])).then(b.cmp(&a))) else {
        return Vec::new();
    };
    let mut found: Vec<Flip> = Vec::new();
    for (fluent, &now) in uncertain {
        let holding: Vec<bool> = fluents.iter().map(|f| f.binary_search(fluent).is_ok()).collect();
        let holds = |h: usize| holding[h];
        let mut closest: Option<Flip> = None;
        for (other, row) in values.iter().enumerate().filter(|&(other, _)| other != best) {
            let gap = |with: &dyn Fn(usize) -> bool| mean(&values[best], with) - mean(row, with);
            let (inside, outside) = (gap(&holds), gap(&|h| !holds(h)));
            if gap(&|_| true) < EQUAL || inside * outside >= 0.0 || inside.abs().min(outside.abs()) < EQUAL {
                continue;
            }
            let at = outside / (outside - inside);
            let flip = Flip {
                fluent: fluent.clone(),
                now,
                at,
                mv: world.sim.move_text(role, own[other].0).to_owned(),
            };
            if closest.as_ref().is_none_or(|c| (at - now).abs() < (c.at - now).abs()) {
                closest = Some(flip);
            }
        }
        found.extend(closest);
    }
    found.sort_by(|a, b| (a.at - a.now).abs().total_cmp(&(b.at - b.now).abs()));
    let same = |a: &Flip, b: &Flip| a.mv == b.mv && (a.now - b.now).abs() < 1e-9 && (a.at - b.at).abs() < 1e-9;
    let mut distinct: Vec<Flip> = Vec::new();
    for flip in found {
        if !distinct.iter().any(|one| same(one, &flip)) {
            distinct.push(flip);
        }
    }
    distinct.truncate(FLIPS);
    distinct
}
