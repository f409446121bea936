//! The two gadgets at the root, Resolve and Maxmargin, on one tree.
//!
//! Zhang and Sandholm 2025, sections B.1 to B.3 and figures 9 and 10. The roots are grouped by the opponent's
//! information sets. Each has an *alternate value*: what we could hold the opponent to before this search. The *margin*
//! is our value now less the alternate value.
//!
//! - Resolve: nature draws an information set by a *prior*; the opponent enters it or takes the alternate value.
//! - Maxmargin: the opponent enters the information set of its choice, and pays us nothing but the margin.
//!
//! Both run at once. The more surely Resolve is entered somewhere, the more its distribution counts: the strategy is
//! then not yet safe, and the prior says what to defend against first.
//!
//! Where we differ: within the prior, an information set counts by nature's probability of its histories (without
//! nature all count alike, as in the paper); gifts are differences of expected values given the information set, so
//! that they are on the scale of the alternate values.

use super::solver::predictive;

/// An information set of the opponent at the root.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Roots, and their probabilities given the information set: nature's and our part.
    pub members: Vec<(u32, f64)>,
    /// What we could hold the opponent to before: our value, raised.
    pub alternate: f64,
    /// By how much the alternate value is raised.
    pub raised: f64,
    /// Probability in Resolve.
    pub prior: f64,
    /// Our value in the last iteration.
    pub value: f64,
    /// Probability with which the opponent enters, in both gadgets together.
    pub chance: f64,
    /// Regrets of entering and of leaving in Resolve, and the probability of entering.
    resolve: ([f64; 2], f64),
    /// Regret and probability in Maxmargin.
    maxmargin: (f64, f64),
    /// Statistics of the expander: choices, sum and squared sum of the opponent's values.
    pub tries: u32,
    pub sum: f64,
    pub squares: f64,
}

impl Entry {
    /// An information set with its roots and their weights, which need not sum to 1.
    pub(crate) fn new(mut members: Vec<(u32, f64)>, alternate: f64, prior: f64) -> Entry {
        let total: f64 = members.iter().map(|(_, w)| w).sum();
        let even = 1.0 / members.len().max(1) as f64;
        for (_, weight) in &mut members {
            *weight = if total > 0.0 { *weight / total } else { even };
        }
        Entry {
            members,
            alternate,
            raised: 0.0,
            prior,
            value: alternate,
            chance: 0.0,
            resolve: ([0.0; 2], 0.5),
            maxmargin: (0.0, 0.0),
            tries: 0,
            sum: 0.0,
            squares: 0.0,
        }
    }

    /// With an alternate value that is raised.
    pub(crate) fn raise(self, by: f64) -> Entry {
        Entry {
            alternate: self.alternate + by,
            raised: by,
            ..self
        }
    }

    /// Our value less the alternate value.
    pub(crate) fn margin(&self) -> f64 {
        self.value - self.alternate
    }
}

/// Both gadgets.
#[derive(Clone, Debug)]
pub(crate) struct Gadgets {
    pub entries: Vec<Entry>,
    /// The largest probability of entering in Resolve.
    pub most_entered: f64,
    /// Visits of the expander.
    pub visits: u32,
    /// Whether there is nothing to guard: one root, the start of the game.
    plain: bool,
}

impl Gadgets {
    /// The start of a game, without a gadget.
    pub(crate) fn plain(root: u32) -> Gadgets {
        let mut entry = Entry::new(vec![(root, 1.0)], -1.0, 1.0);
        entry.chance = 1.0;
        Gadgets {
            entries: vec![entry],
            most_entered: 0.0,
            visits: 0,
            plain: true,
        }
    }

    /// The gadgets of these information sets.
    pub(crate) fn new(mut entries: Vec<Entry>) -> Gadgets {
        let even = 1.0 / entries.len().max(1) as f64;
        for entry in &mut entries {
            entry.maxmargin.1 = even;
        }
        let mut gadgets = Gadgets {
            entries,
            most_entered: 0.0,
            visits: 0,
            plain: false,
        };
        gadgets.blend();
        gadgets
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether the opponent leaves everywhere in Resolve: all margins are kept, and Maxmargin alone decides.
    pub(crate) fn is_safe(&self) -> bool {
        self.most_entered <= 0.0
    }

    /// Regret matching of both gadgets by the values of the last iteration.
    pub(crate) fn update(&mut self) {
        if self.plain {
            return;
        }
        // The opponent gains what the margin lacks.
        let mean: f64 = self.entries.iter().map(|e| -e.margin() * e.maxmargin.1).sum();
        let mut total = 0.0;
        for entry in &mut self.entries {
            let gain = -entry.margin();
            entry.maxmargin.1 = predictive(&mut entry.maxmargin.0, gain - mean);
            total += entry.maxmargin.1;
            let (regrets, enter) = &mut entry.resolve;
            let value = *enter * gain;
            let entering = predictive(&mut regrets[0], gain - value);
            let leaving = predictive(&mut regrets[1], -value);
            *enter = match entering + leaving {
                sum if sum > 0.0 => entering / sum,
                // Without any regret entering and leaving are alike.
                _ if gain > 0.0 => 1.0,
                _ => 0.0,
            };
        }
        let even = 1.0 / self.entries.len() as f64;
        for entry in &mut self.entries {
            entry.maxmargin.1 = if total > 0.0 { entry.maxmargin.1 / total } else { even };
        }
        self.blend();
    }

    /// Combines the two distributions.
    fn blend(&mut self) {
        let most = self.entries.iter().map(|e| e.resolve.1).fold(0.0, f64::max);
        self.most_entered = most;
        for entry in &mut self.entries {
            entry.chance = most * entry.prior * entry.resolve.1 + (1.0 - most) * entry.maxmargin.1;
        }
    }

    /// Our expected value if information sets are as likely as the prior says.
    pub(crate) fn expected(&self) -> f64 {
        let total: f64 = self.entries.iter().map(|e| e.prior).sum();
        let sum: f64 = self.entries.iter().map(|e| e.prior * e.value).sum();
        if total > 0.0 { sum / total } else { 0.0 }
    }

    /// The smallest margin and the mean margin by the prior, over alternate values that are not raised.
    pub(crate) fn margins(&self) -> (f64, f64) {
        let margin = |e: &Entry| e.margin() + e.raised;
        let least = self.entries.iter().map(margin).fold(f64::INFINITY, f64::min);
        let total: f64 = self.entries.iter().map(|e| e.prior).sum();
        let sum: f64 = self.entries.iter().map(|e| e.prior * margin(e)).sum();
        (least, sum / total.max(f64::MIN_POSITIVE))
    }
}

/// The prior of Resolve: half by how the opponent plays, half even; both times nature's probability. `played` is the
/// opponent's probability of playing to each information set. Without `by_play` only the even half is used.
pub(crate) fn priors(nature: &[f64], played: &[f64], by_play: bool) -> Vec<f64> {
    let even: f64 = nature.iter().sum();
    let both: f64 = nature.iter().zip(played).map(|(n, p)| n * p).sum();
    let n = nature.len().max(1) as f64;
    let prior = |(&nature, &played): (&f64, &f64)| {
        let even = if even > 0.0 { nature / even } else { 1.0 / n };
        match by_play && both > 0.0 {
            true => 0.5 * (nature * played / both + even),
            false => even,
        }
    };
    nature.iter().zip(played).map(prior).collect()
}

/// Part of a prior that a model of the opponent decides; the rest keeps every information set possible.
const TRUST: f64 = 0.9;

/// The prior where a model of the opponent says how likely the information sets are, by weights.
pub(crate) fn modelled(priors: &[f64], likely: &[f64]) -> Vec<f64> {
    let total: f64 = likely.iter().sum();
    let trust = if total > 0.0 && total.is_finite() { TRUST } else { 0.0 };
    let both = priors.iter().zip(likely);
    both.map(|(prior, weight)| match trust > 0.0 {
        true => trust * weight / total + (1.0 - trust) * prior,
        false => *prior,
    })
    .collect()
}

/// A gift: what the opponent gave us by its move, in our value. `moves` are the opponent's probabilities and values of
/// its moves in the information set before, `made` is the move that led on.
pub(crate) fn gift(moves: &[(f64, f64)], made: usize) -> f64 {
    let value: f64 = moves.iter().map(|(p, worth)| p * worth).sum();
    let lost = value - moves[made].1;
    lost.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::solver::{IterationRules, iterate};
    use super::super::tree::by_hand::{Sketch::*, policy, root};
    use super::super::tree::{ME, Tree};
    use super::*;
    use game::StopFlag;

    #[test]
    fn priors_by_hand() {
        // Three information sets, played with 0.5, 0.25 and 0: half of (2/3, 1/3, 0) and half of (1/3, 1/3, 1/3).
        let alike = priors(&[1.0; 3], &[0.5, 0.25, 0.0], true);
        for (p, known) in alike.iter().zip([0.5, 1.0 / 3.0, 1.0 / 6.0]) {
            assert!((p - known).abs() < 1e-12, "{alike:?}");
        }
        assert_eq!(priors(&[1.0; 4], &[1.0, 0.0, 0.0, 0.0], false), [0.25; 4]);
        // Nature makes the first three times as likely: play (0.6, 0.4), even (0.75, 0.25).
        let uneven = priors(&[0.75, 0.25], &[0.2, 0.4], true);
        assert!(
            (uneven[0] - 0.675).abs() < 1e-12 && (uneven[1] - 0.325).abs() < 1e-12,
            "{uneven:?}"
        );
        // An opponent that would not be here at all leaves the even half.
        assert_eq!(priors(&[1.0; 2], &[0.0; 2], true), [0.5; 2]);
    }

    #[test]
    fn a_model_decides_most_of_the_prior() {
        // 0.9 * 3/4 + 0.1 * 0.5, and 0.9 * 1/4 + 0.1 * 0.5.
        let found = modelled(&[0.5, 0.5], &[0.3, 0.1]);
        assert!(
            (found[0] - 0.725).abs() < 1e-12 && (found[1] - 0.275).abs() < 1e-12,
            "{found:?}"
        );
        // What the model holds impossible stays possible; a model that knows nothing changes nothing.
        assert!((modelled(&[0.5, 0.5], &[2.0, 0.0])[1] - 0.05).abs() < 1e-12);
        assert_eq!(modelled(&[0.25, 0.75], &[0.0, 0.0]), [0.25, 0.75]);
    }

    #[test]
    fn gifts_by_hand() {
        // The opponent expects 0.5 * 0.4 + 0.5 * 0 = 0.2. The second move gives away 0.2, the first nothing.
        let moves = [(0.5, 0.4), (0.5, 0.0)];
        assert_eq!(gift(&moves, 0), 0.0);
        assert_eq!(gift(&moves, 1), 0.2);
    }

    /// We choose left or right without knowing which of two roots it is; the opponent knows. Left is worth 1 in the
    /// first and 0 in the second, right 0 and 1.
    fn two_roots(alternates: [f64; 2], priors: [f64; 2]) -> (Tree, Gadgets) {
        let mut tree = Tree::default();
        let first = root(&mut tree, &Choice(ME, 1, vec![End(1.0), End(0.0)]));
        let second = root(&mut tree, &Choice(ME, 1, vec![End(0.0), End(1.0)]));
        let entry = |at: usize, node| Entry::new(vec![(node, 1.0)], alternates[at], priors[at]);
        let entries = vec![entry(0, first), entry(1, second)];
        (tree, Gadgets::new(entries))
    }

    fn solve(tree: &mut Tree, gadgets: &mut Gadgets, iterations: usize) {
        for _ in 0..iterations {
            iterate(tree, gadgets, IterationRules::default(), &StopFlag::default()).unwrap();
        }
    }

    #[test]
    fn maxmargin_makes_margins_equal() {
        // Margins are p - 0.2 and (1 - p) - 0.4: equal at p = 0.4, where both are 0.2 and nobody enters in Resolve.
        let (mut tree, mut gadgets) = two_roots([0.2, 0.4], [0.5, 0.5]);
        solve(&mut tree, &mut gadgets, 3_000);
        let left = policy(&tree, 1)[0];
        assert!((left - 0.4).abs() < 0.01, "{left}");
        assert!(gadgets.is_safe());
        let (least, mean) = gadgets.margins();
        assert!(
            (least - 0.2).abs() < 0.01 && (mean - 0.2).abs() < 0.01,
            "{least} {mean}"
        );
    }

    #[test]
    fn resolve_defends_by_the_prior() {
        // No strategy reaches 0.9 in both. Resolve maximises the sum of prior times negative margin: against 0.8 and
        // 0.2 that is left as long as p < 0.9, then right: p = 0.9 leaves no margin to mend in the first.
        let (mut tree, mut gadgets) = two_roots([0.9, 0.9], [0.8, 0.2]);
        solve(&mut tree, &mut gadgets, 6_000);
        let left = policy(&tree, 1)[0];
        assert!((left - 0.9).abs() < 0.03, "{left}");
        assert!(!gadgets.is_safe());
        assert!((gadgets.margins().0 + 0.8).abs() < 0.05, "{:?}", gadgets.margins());
    }

    #[test]
    fn weights_within_an_information_set_are_shares() {
        let entry = Entry::new(vec![(4, 0.003), (5, 0.001)], 0.0, 1.0);
        assert_eq!(entry.members, [(4, 0.75), (5, 0.25)]);
        let nobody = Entry::new(vec![(4, 0.0), (5, 0.0)], 0.0, 1.0);
        assert_eq!(nobody.members, [(4, 0.5), (5, 0.5)]);
    }

    #[test]
    fn the_blend_by_hand() {
        let (_, mut gadgets) = two_roots([0.0, 0.0], [0.75, 0.25]);
        gadgets.entries[0].resolve.1 = 0.5;
        gadgets.entries[1].resolve.1 = 0.25;
        gadgets.entries[0].maxmargin.1 = 0.25;
        gadgets.entries[1].maxmargin.1 = 0.75;
        gadgets.blend();
        // Half Resolve (0.75 * 0.5 and 0.25 * 0.25), half Maxmargin.
        assert_eq!(gadgets.most_entered, 0.5);
        assert_eq!(gadgets.entries[0].chance, 0.5 * 0.375 + 0.5 * 0.25);
        assert_eq!(gadgets.entries[1].chance, 0.5 * 0.0625 + 0.5 * 0.75);
    }
}
