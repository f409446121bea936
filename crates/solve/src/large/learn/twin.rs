//! The slow twin: the same algorithms on a tree in sequence form, in double precision, without pruning, symmetries,
//! pieces or threads. The solver of large games must compute the same averages.

use super::super::{LargeGame, LargeLimits, RoundsInViews};
use super::restart::{Epoch, is_rated, redistribute};
use super::rule::Rule;
use super::{LargeAlgorithm, LargeSolver};
use crate::form::{Form, Policy};
use crate::tests::simulator;
use crate::tree::{Limits, Tree};
use game::StopFlag;

/// Differences below this are rounding, which must not become strategy where moves tie.
const ROUNDING: f64 = 1e-11;

struct TreeTwin<'a> {
    form: &'a Form<'a>,
    algorithm: LargeAlgorithm,
    iteration: u64,
    regret: Vec<f64>,
    last: Vec<f64>,
    policy: Vec<f64>,
    /// Sums of weighted realization plans by sequence.
    total: Vec<f64>,
    epoch: Epoch,
}

impl<'a> TreeTwin<'a> {
    fn new(form: &'a Form<'a>, algorithm: LargeAlgorithm) -> TreeTwin<'a> {
        let n = form.tree().n_sequences();
        TreeTwin {
            form,
            algorithm,
            iteration: 0,
            regret: vec![0.0; n],
            last: vec![0.0; n],
            policy: Policy::uniform(form.tree()).0,
            total: vec![0.0; n],
            epoch: Epoch::FIRST,
        }
    }

    fn iterate(&mut self) {
        if self.algorithm.restarts() && self.iteration > 0 && is_rated(self.iteration) {
            self.restart_if_due();
        }
        self.iteration += 1;
        let rule = Rule::new(self.algorithm, self.iteration, self.epoch.start, 0.0);
        for player in 0..self.form.tree().players.len() {
            let mut reach = self.form.reach_all(&Policy(self.policy.clone()));
            let mut gain = vec![0.0; reach.len()];
            self.form.gain(player, &reach, &mut gain);
            for set in self.form.infosets_of(player).iter().rev() {
                let range = set.sequences();
                let pairs = self.policy[range.clone()].iter().zip(&gain[range.clone()]);
                let value: f64 = pairs.map(|(p, g)| p * g).sum();
                for sequence in range.clone() {
                    let gain = gain[sequence] - value;
                    self.last[sequence] = if gain.abs() < ROUNDING { 0.0 } else { gain };
                    self.regret[sequence] = rule.add(self.regret[sequence], self.last[sequence]);
                }
                gain[set.parent as usize] += value;
                let (regret, last) = (&self.regret[range.clone()], &self.last[range.clone()]);
                rule.next_policy(regret, last, &mut self.policy[range]);
            }
            self.form.reach(player, &self.policy, &mut reach);
            for set in self.form.infosets_of(player) {
                for sequence in set.sequences() {
                    self.total[sequence] += rule.weight * reach[sequence];
                }
            }
        }
    }

    fn restart_if_due(&mut self) {
        let gap = self.form.nash_conv(&self.average());
        if self.epoch.gap == f64::MAX {
            self.epoch.gap = gap;
        }
        let Some(epoch) = self.epoch.next(self.iteration, gap) else {
            return;
        };
        self.epoch = epoch;
        let rule = Rule::new(self.algorithm, self.iteration, self.epoch.start, 0.0);
        for set in self.form.tree().infosets() {
            let range = set.sequences();
            self.last[range.clone()].fill(0.0);
            redistribute(&mut self.regret[range.clone()], &self.total[range.clone()]);
            let (regret, last) = (&self.regret[range.clone()], &self.last[range.clone()]);
            rule.next_policy(regret, last, &mut self.policy[range]);
        }
        self.total.fill(0.0);
    }

    fn average(&self) -> Policy {
        Policy::proportional(self.form.tree(), &self.total)
    }
}

#[test]
fn averages_and_last_strategies_are_those_of_the_twin() {
    let stop = StopFlag::default();
    let mut restarts = 0;
    for spec in [
        "kuhn-poker",
        "liars-dice:sides=3",
        "goofspiel:cards=3",
        "dark-hex:width=2,height=2,abrupt=1",
    ] {
        let mut sim = simulator(spec);
        let tree = Tree::build(&mut sim, &Limits::default(), &mut |_| {}).unwrap();
        let form = Form::new(&tree);
        let limits = LargeLimits::default();
        let large = LargeGame::build(&mut sim, RoundsInViews::Auto, &limits, &mut |_| {}).unwrap();
        for algorithm in LargeAlgorithm::ALL {
            let mut twin = TreeTwin::new(&form, algorithm);
            let mut solver = LargeSolver::new(&large, algorithm, 1);
            for iteration in 1..=25 {
                twin.iterate();
                assert!(solver.iterate(&stop, &mut |_| {}));
                let ours = solver.rate(&stop, &mut |_| {}).nash_conv();
                let theirs = form.nash_conv(&twin.average());
                assert!(
                    (ours - theirs).abs() < 1e-6,
                    "{spec} {algorithm:?} {iteration}: {ours} {theirs}"
                );
                let ours = solver.rate_last(&stop, &mut |_| {}).nash_conv();
                let theirs = form.nash_conv(&Policy(twin.policy.clone()));
                assert!(
                    (ours - theirs).abs() < 1e-6,
                    "{spec} {algorithm:?} {iteration}: {ours} {theirs}"
                );
                assert_eq!(solver.epoch.start, twin.epoch.start, "{spec} {iteration}");
            }
            restarts += u32::from(solver.epoch.start > 0);
        }
    }
    assert!(restarts > 2, "{restarts} games in which a restart was compared");
}

#[test]
fn what_is_kept_never_becomes_worse_and_is_what_is_returned() {
    let stop = StopFlag::default();
    let mut rises = 0;
    for spec in ["leduc-poker", "liars-dice:sides=4", "goofspiel:cards=3"] {
        let large = LargeGame::build(
            &mut simulator(spec),
            RoundsInViews::Auto,
            &LargeLimits::default(),
            &mut |_| {},
        )
        .unwrap();
        for algorithm in LargeAlgorithm::ALL {
            let mut solver = LargeSolver::new(&large, algorithm, 1);
            let (mut before, mut average) = (f64::INFINITY, f64::INFINITY);
            for iteration in 1..=60 {
                assert!(solver.iterate(&stop, &mut |_| {}));
                let kept = solver.keep_best(&stop, &mut |_| {}).nash_conv();
                assert!(
                    kept <= before + 1e-9,
                    "{spec} {algorithm:?} {iteration}: {before} {kept}"
                );
                let now = solver.rate(&stop, &mut |_| {}).nash_conv();
                assert!(
                    kept <= now + 1e-9,
                    "{spec} {algorithm:?} {iteration}: average {now}, kept {kept}"
                );
                rises += u32::from(now > average);
                (before, average) = (kept, now);
            }
            let again = large.rate(&solver.best(), 1, &stop, &mut |_| {}).nash_conv();
            assert!((again - before).abs() < 1e-9, "{spec} {algorithm:?}: {again} {before}");
            // A stopped rating changes nothing.
            let raised = StopFlag::default();
            raised.raise();
            assert!(solver.iterate(&stop, &mut |_| {}));
            let kept = solver.keep_best(&raised, &mut |_| {});
            assert!(kept.complete && kept.nash_conv() == before, "{spec} {algorithm:?}");
        }
    }
    // The averages alone do rise now and then, or this test shows nothing.
    assert!(rises > 0);
}

#[test]
fn after_a_restart_at_the_best_strategies_they_are_played() {
    let stop = StopFlag::default();
    let mut sim = simulator("leduc-poker");
    let large = LargeGame::build(&mut sim, RoundsInViews::Auto, &LargeLimits::default(), &mut |_| {}).unwrap();
    let mut solver = LargeSolver::new(&large, LargeAlgorithm::Restarting, 1);
    (0..40).for_each(|_| assert!(solver.iterate(&stop, &mut |_| {})));
    let kept = solver.keep_best(&stop, &mut |_| {}).nash_conv();
    (0..7).for_each(|_| assert!(solver.iterate(&stop, &mut |_| {})));
    let before = solver.rate_last(&stop, &mut |_| {}).nash_conv();
    (0..2).for_each(|player| solver.restart(player, true));
    let after = solver.rate_last(&stop, &mut |_| {}).nash_conv();
    assert!((after - kept).abs() < 1e-9, "{kept} {after}");
    assert!(
        (before - kept).abs() > 1e-3,
        "the last strategies were the best ones before"
    );
}
