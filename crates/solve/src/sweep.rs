//! The iteration of the algorithms that visit the whole game: alternating updates of flat arrays.
//!
//! In one iteration each player in turn computes the counterfactual value of each of its actions against the newest
//! strategies of the others, accumulates regrets, and matches its strategy to them ([`game::regret`]). How regrets and
//! strategies are accumulated is the [`SweepRule`]: one file for each algorithm.

use crate::form::{Form, Policy};
use crate::solver::Solver;
use game::regret::{RegretRule, update_infoset};

/// A [`RegretRule`] whose numbers depend on the iteration.
pub(crate) trait SweepRule: RegretRule {
    /// Begins an iteration; the first one is 1.
    fn begin(&mut self, iteration: u64);
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

impl<'a, R: SweepRule> Sweep<'a, R> {
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
            let value = update_infoset(
                &self.rule,
                &self.gain[range.clone()],
                &self.reach[range.clone()],
                &mut self.total[range.clone()],
                &mut self.regret[range.clone()],
                &mut self.policy[range],
            );
            self.gain[set.parent as usize] += value;
        }
        self.form.reach(player, &self.policy, &mut self.reach);
    }
}

impl<R: SweepRule> Solver for Sweep<'_, R> {
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
