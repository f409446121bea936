//! Regret matching at one information set: the update that `solve` and the search of `cfr` share.
//!
//! Hart and Mas-Colell, *A Simple Adaptive Procedure Leading to Correlated Equilibrium* (2000): actions are played in
//! proportion to their positive regrets. The algorithms of the CFR family differ in how they accumulate regrets and how
//! they weigh an iteration in the average strategy: that is the [`RegretRule`].
//!
//! The module is here, and not in `solve`, so that players need not depend on the solver and its linear programming.

/// How an algorithm accumulates regrets and strategies.
pub trait RegretRule: Copy {
    /// The accumulated regret of an action after an iteration in which the action was worth `gain` and the information
    /// set `value`.
    fn regret(&self, before: f64, gain: f64, value: f64) -> f64;

    /// The weight of this iteration's strategy in the average strategy.
    fn weight(&self) -> f64;

    /// Makes positive regrets a strategy.
    #[inline]
    fn normalise(policy: &mut [f64]) {
        normalise(policy);
    }
}

/// Updates one information set: adds the current strategy to the average, accumulates regrets, and matches the
/// strategy to the regrets. Returns the value of the information set under the strategy before the update.
///
/// All slices have one entry for each action. `gain` is the counterfactual value of an action, `reach` the player's own
/// probability of playing it, `total` the sum of weighted strategies.
#[inline]
pub fn update_infoset<R: RegretRule>(
    rule: &R,
    gain: &[f64],
    reach: &[f64],
    total: &mut [f64],
    regret: &mut [f64],
    policy: &mut [f64],
) -> f64 {
    let value: f64 = gain.iter().zip(&*policy).map(|(g, p)| g * p).sum();
    let weight = rule.weight();
    let totals = total.iter_mut().zip(reach);
    totals.for_each(|(total, reach)| *total += weight * reach);
    for ((regret, gain), policy) in regret.iter_mut().zip(gain).zip(policy.iter_mut()) {
        *regret = rule.regret(*regret, *gain, value);
        *policy = regret.max(0.0);
    }
    R::normalise(policy);
    value
}

/// Scales numbers that are not negative so that they sum to 1; makes them equal if all are 0.
#[inline]
pub fn normalise(numbers: &mut [f64]) {
    let total: f64 = numbers.iter().sum();
    if total > 0.0 {
        let scale = 1.0 / total;
        numbers.iter_mut().for_each(|x| *x *= scale);
    } else {
        numbers.fill(1.0 / numbers.len() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    struct Plain;

    impl RegretRule for Plain {
        fn regret(&self, before: f64, gain: f64, value: f64) -> f64 {
            before + (gain - value)
        }

        fn weight(&self) -> f64 {
            2.0
        }
    }

    #[test]
    fn one_update_by_hand() {
        let (mut total, mut regret, mut policy) = ([0.0; 3], [0.0; 3], [0.25, 0.5, 0.25]);
        let value = update_infoset(
            &Plain,
            &[4.0, 0.0, 8.0],
            &[0.1, 0.2, 0.3],
            &mut total,
            &mut regret,
            &mut policy,
        );
        assert_eq!(value, 3.0);
        assert_eq!(total, [0.2, 0.4, 0.6]);
        assert_eq!(regret, [1.0, -3.0, 5.0]);
        assert_eq!(policy.map(|p| (p * 6.0).round()), [1.0, 0.0, 5.0]);
    }

    #[test]
    fn without_positive_regrets_the_strategy_is_uniform() {
        let mut policy = [0.0; 4];
        normalise(&mut policy);
        assert_eq!(policy, [0.25; 4]);
    }
}
