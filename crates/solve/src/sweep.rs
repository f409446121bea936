//! What the algorithms that look at everything in every iteration share: alternating updates of flat arrays.
//!
//! One iteration lets each player in turn hold its strategy against the others' newest ones: it finds the counterfactual
//! value of each of its actions, adds up regrets, and matches them (Hart and Mas-Colell, A simple adaptive procedure
//! leading to correlated equilibrium, 2000). How regrets and strategies are added up is the [`Rule`], one file each.

use crate::form::{Form, Policy, normalise};
use crate::solver::Solver;

/// How an algorithm adds up.
pub(crate) trait Rule: Copy + Send + Sync {
    /// Tells that an iteration begins, from 1.
    fn begin(&mut self, iteration: u64);

    /// The regret after an iteration in which this much was regretted.
    fn regret(&self, before: f64, now: f64) -> f64;

    /// What the strategy of this iteration counts in the average.
    fn weight(&self) -> f64;
}

/// Brings one information set up to date. Returns what it is worth.
#[inline]
pub(crate) fn update_set<R: Rule>(
    rule: &R,
    gain: &[f64],
    reach: impl Iterator<Item = f64>,
    total: &mut [f64],
    regret: &mut [f64],
    policy: &mut [f64],
) -> f64 {
    let value: f64 = gain.iter().zip(&*policy).map(|(g, p)| g * p).sum();
    let weight = rule.weight();
    total
        .iter_mut()
        .zip(reach)
        .for_each(|(total, reach)| *total += weight * reach);
    for ((regret, gain), policy) in regret.iter_mut().zip(gain).zip(policy.iter_mut()) {
        *regret = rule.regret(*regret, gain - value);
        *policy = regret.max(0.0);
    }
    normalise(policy);
    value
}

/// A solver by its rule.
pub(crate) struct Sweep<'a, R> {
    form: &'a Form<'a>,
    rule: R,
    iterations: u64,
    regret: Vec<f64>,
    /// The current strategy.
    policy: Vec<f64>,
    /// Its reach, always up to date.
    reach: Vec<f64>,
    /// Sum of weighted strategies.
    total: Vec<f64>,
    gain: Vec<f64>,
}

impl<'a, R: Rule> Sweep<'a, R> {
    pub fn new(form: &'a Form<'a>, rule: R) -> Sweep<'a, R> {
        let n = form.tree().n_sequences();
        let policy = Policy::uniform(form.tree()).0;
        let mut reach = vec![0.0; n];
        for player in 0..form.tree().players.len() {
            form.reach(player, &policy, &mut reach);
        }
        Sweep {
            form,
            rule,
            iterations: 0,
            regret: vec![0.0; n],
            policy,
            reach,
            total: vec![0.0; n],
            gain: vec![0.0; n],
        }
    }

    fn update(&mut self, player: usize) {
        self.form.gain(player, &self.reach, &mut self.gain);
        for set in self.form.infosets_of(player).iter().rev() {
            let range = set.sequences();
            let value = update_set(
                &self.rule,
                &self.gain[range.clone()],
                self.reach[range.clone()].iter().copied(),
                &mut self.total[range.clone()],
                &mut self.regret[range.clone()],
                &mut self.policy[range],
            );
            self.gain[set.parent as usize] += value;
        }
        self.form.reach(player, &self.policy, &mut self.reach);
    }
}

impl<R: Rule> Solver for Sweep<'_, R> {
    fn iterate(&mut self, n: u64) {
        for _ in 0..n {
            self.iterations += 1;
            self.rule.begin(self.iterations);
            for player in 0..self.form.tree().players.len() {
                self.update(player);
            }
        }
    }

    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn average(&self) -> Policy {
        Policy::proportional(self.form.tree(), &self.total)
    }
}
