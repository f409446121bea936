//! Purification: which of the moves of a mixed strategy are played.
//!
//! Zhang and Sandholm 2025, section B.3.7 and figure 8: while some margin is negative (the Resolve gadget is entered)
//! the most likely move is played. Else at most a few moves are mixed: those that had a positive probability in every
//! iteration of the second half of the search, and the most likely one. The probability of all others goes to the most
//! likely move.

/// How to purify.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Purification {
    /// Moves that may be mixed.
    pub support: usize,
    /// Whether mixing is allowed at all.
    pub mixing: bool,
}

/// The strategy to play. `stable` says which moves kept a positive probability.
pub(crate) fn purify(policy: &[f64], stable: &[bool], how: Purification) -> Vec<f64> {
    let mut places: Vec<usize> = (0..policy.len()).collect();
    places.sort_by(|&a, &b| policy[b].total_cmp(&policy[a]).then(a.cmp(&b)));
    let Some(&best) = places.first() else {
        return Vec::new();
    };
    let kept = places.iter().filter(|&&at| at == best || how.mixing && stable[at]);
    let kept: Vec<usize> = kept.take(how.support.max(1)).copied().collect();
    let mut played: Vec<f64> = vec![0.0; policy.len()];
    for &at in &kept {
        played[at] = policy[at];
    }
    let rest: f64 = 1.0 - played.iter().sum::<f64>();
    played[best] += rest.max(0.0);
    played
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: [f64; 5] = [0.125, 0.375, 0.25, 0.125, 0.125];

    fn mixed(stable: [bool; 5], support: usize) -> Vec<f64> {
        purify(&POLICY, &stable, Purification { support, mixing: true })
    }

    #[test]
    fn unsafe_strategies_are_pure() {
        let how = Purification {
            support: 3,
            mixing: false,
        };
        assert_eq!(purify(&POLICY, &[true; 5], how), [0.0, 1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn safe_strategies_mix_stable_moves() {
        // The three most likely; of the equal ones the first. The rest, 0.25, goes to the best.
        assert_eq!(mixed([true; 5], 3), [0.125, 0.625, 0.25, 0.0, 0.0]);
        // The second is not stable, so the first equal ones follow.
        assert_eq!(
            mixed([true, true, false, true, true], 3),
            [0.125, 0.75, 0.0, 0.125, 0.0]
        );
        // The best is played even if it is not stable.
        assert_eq!(mixed([false; 5], 3), [0.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(mixed([true; 5], 5), POLICY);
    }
}
