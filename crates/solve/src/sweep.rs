//! What the algorithms that look at everything in every iteration share: alternating updates of flat arrays.
//!
//! One iteration lets each player in turn hold its strategy against the others' newest ones: it finds the counterfactual
//! value of each of its actions, adds up regrets, and matches them (Hart and Mas-Colell, A simple adaptive procedure
//! leading to correlated equilibrium, 2000). How regrets and strategies are added up is the [`Rule`], one file each.

use crate::form::{Form, Policy, normalise};
use crate::solver::Solver;

/// How an algorithm adds up.
pub(crate) trait Rule: Default {
    /// Tells that an iteration begins, from 1.
    fn begin(&mut self, iteration: u64);

    /// The regret after an iteration in which this much was regretted.
    fn regret(&self, before: f64, now: f64) -> f64;

    /// What the strategy of this iteration counts in the average.
    fn weight(&self) -> f64;
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
        let weight = self.rule.weight();
        for set in self.form.infosets_of(player).iter().rev() {
            let range = set.sequences();
            let gain = &self.gain[range.clone()];
            let policy = &mut self.policy[range.clone()];
            let value: f64 = gain.iter().zip(&*policy).map(|(g, p)| g * p).sum();
            let totals = self.total[range.clone()].iter_mut().zip(&self.reach[range.clone()]);
            totals.for_each(|(total, reach)| *total += weight * reach);
            let regrets = self.regret[range].iter_mut().zip(gain).zip(policy.iter_mut());
            for ((regret, gain), policy) in regrets {
                *regret = self.rule.regret(*regret, gain - value);
                *policy = regret.max(0.0);
            }
            normalise(policy);
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
