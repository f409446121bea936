//! What the search before says about the opponent: how likely it makes which moves, and what its information sets are
//! worth. Zhang and Sandholm 2025 call these strategies the blueprint.

use super::Subgame;
use super::carry::Candidate;
use super::gadgets::gift;
use super::grow::Grower;
use super::tree::{Action, OPPONENT};
use crate::views::ViewId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Difference of values, in -1..1, that makes a move of the opponent e times as likely.
const RATIONALITY: f64 = 0.1;

/// How likely the opponent makes its moves in an information set: half by its strategy, half by the values of the moves
/// (a quantal response: McKelvey and Palfrey, *Quantal Response Equilibria for Extensive Form Games*, 1998). A strategy
/// from a short search is nearly pure, and wrong where the opponent thinks otherwise; the values alone still say which
/// hands go with which moves.
pub(crate) fn likelihoods(actions: &[Action]) -> SmallVec<[f64; 16]> {
    let best = actions.iter().map(|a| a.worth).fold(f64::NEG_INFINITY, f64::max);
    let weights: SmallVec<[f64; 16]> = actions.iter().map(|a| ((a.worth - best) / RATIONALITY).exp()).collect();
    let total: f64 = weights.iter().sum();
    let both = actions.iter().zip(weights);
    both.map(|(a, weight)| 0.5 * a.policy + 0.5 * weight / total).collect()
}

/// What the old strategies say about an information set of the opponent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OldValue {
    /// Our expected value given the information set, less the gift.
    pub alternate: f64,
    /// The opponent's probability of playing to it.
    pub played: f64,
    /// How likely play ends in leaves from there on.
    pub doubt: f64,
}

/// Values of the opponent's information sets in the old tree, by its views.
pub(crate) fn old_values(old: &Subgame, found: &[Candidate], grower: &Grower) -> FxHashMap<ViewId, OldValue> {
    // Weight and weighted value, their plain counterparts if nobody leads there, and weighted and plain doubt.
    let mut sums: FxHashMap<ViewId, [f64; 6]> = FxHashMap::default();
    let mut played: FxHashMap<ViewId, f64> = FxHashMap::default();
    for candidate in found {
        let view = candidate.views[OPPONENT];
        let value = old.tree.value(candidate.node);
        let weight = candidate.nature * candidate.own;
        let sum = sums.entry(view).or_default();
        sum[0] += weight;
        sum[1] += weight * value;
        sum[2] += 1.0;
        sum[3] += value;
        let doubt = old.tree.doubt(candidate.node);
        sum[4] += weight * doubt;
        sum[5] += doubt;
        let most = played.entry(view).or_default();
        *most = most.max(candidate.theirs);
    }
    let gift_to = |view: ViewId| -> f64 {
        let Some(last) = grower.views.last(view) else {
            return 0.0;
        };
        let Some(set) = old.tree.infoset_of(last.before) else {
            return 0.0;
        };
        let actions = &old.tree.actions[old.tree.infosets[set as usize].actions()];
        let moves: Vec<(f64, f64)> = actions.iter().map(|a| (a.policy, a.worth)).collect();
        let made = actions.iter().position(|a| a.mv == last.own);
        made.map_or(0.0, |made| gift(&moves, made))
    };
    sums.into_iter()
        .map(|(view, [weight, value, n, plain, doubt, doubts])| {
            let (mean, doubt) = match weight > 0.0 {
                true => (value / weight, doubt / weight),
                false => (plain / n, doubts / n),
            };
            let old = OldValue {
                alternate: mean - gift_to(view),
                played: played[&view],
                doubt,
            };
            (view, old)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use game::MoveId;

    #[test]
    fn likelihoods_by_hand() {
        let action = |policy, worth| Action {
            mv: MoveId(0),
            regret: 0.0,
            policy,
            gain: 0.0,
            worth,
            total: 0.0,
            sum: 0.0,
            squares: 0.0,
            tries: 0,
        };
        // The second move is worth less by ln 3 tenths: its weight is a third of the first one's.
        let less = -RATIONALITY * 3_f64.ln();
        let found = likelihoods(&[action(1.0, 0.0), action(0.0, less)]);
        assert!(
            (found[0] - 0.875).abs() < 1e-12 && (found[1] - 0.125).abs() < 1e-12,
            "{found:?}"
        );
    }
}
