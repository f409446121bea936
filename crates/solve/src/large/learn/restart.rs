//! Restarts at the average.
//!
//! Regret minimisation circles around an equilibrium: the average is near it, the last strategies are not, and what
//! was averaged long ago stays in the average. So the average becomes the current strategy, and a new average begins,
//! each time NashConv of the average has fallen to [`FALLEN`] of what it was at the last restart. That is the
//! adaptive restart of first-order methods for linear programs (Applegate, Hinder, Lu and Lubin, *Faster First-Order
//! Primal-Dual Methods for Linear Programming using Restarts and Sharpness*, 2023), carried over to regrets: the
//! positive regrets of an information set keep their sum, which is the inverse of the step size, and are distributed
//! as the average plays. *Tried* on games of the catalogue: sums of half and twice the size at a restart, both of
//! which are far worse.

use super::super::pass::Place;
use super::rule::Rule;
use super::{LargeSolver, Piece, lock};
use game::StopFlag;

/// The share of the NashConv at the last restart at which the next one is due.
const FALLEN: f64 = 0.5;

/// Iterations between two restarts at least.
const APART: u64 = 3;

/// The least sum of the positive regrets of an information set after a restart.
const LEAST_SUM: f64 = 1e-9;

/// Since when the average is summed up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch {
    /// Iterations before.
    pub start: u64,
    /// NashConv of the strategies at that time; not known before the average was rated for the first time.
    pub gap: f64,
}

impl Epoch {
    pub const FIRST: Epoch = Epoch {
        start: 0,
        gap: f64::MAX,
    };

    /// The epoch after a look at the average after some iterations; none if the same one goes on.
    pub fn next(self, iterations: u64, gap: f64) -> Option<Epoch> {
        let is_due = gap < FALLEN * self.gap && iterations - self.start >= APART;
        (self.gap < f64::MAX && is_due).then_some(Epoch { start: iterations, gap })
    }
}

/// Iterations after which strategies are rated: 1, 2, 3, 5, 8, 12, …
pub fn is_rated(iterations: u64) -> bool {
    let mut next = 1;
    while next < iterations {
        next = (next * 3).div_ceil(2);
    }
    next == iterations
}

impl LargeSolver<'_> {
    /// Begins anew at the average if that is due. Returns false if the flag was raised before that was known.
    pub(super) fn restart_if_due(&mut self, stop: &StopFlag) -> bool {
        let iterations = self.iterations;
        let judged = self.restriction.is_none() && self.bias.is_none() && self.game.constant_sum().is_some();
        if !self.algorithm.restarts() || !judged || iterations == 0 || !is_rated(iterations) {
            return true;
        }
        let gap = match self.rated_average {
            Some((after, gap)) if after == iterations => gap,
            _ => {
                let rating = self.rate(stop, &mut |_| {});
                if !rating.complete {
                    return false;
                }
                rating.nash_conv()
            }
        };
        if self.epoch.gap == f64::MAX {
            self.epoch.gap = gap;
        }
        if let Some(epoch) = self.epoch.next(iterations, gap) {
            self.epoch = epoch;
            (0..self.game.graph.players.len()).for_each(|player| self.restart(player));
        }
        true
    }

    /// The average becomes the current strategy of a player.
    fn restart(&mut self, player: usize) {
        let (views, quotient) = (&self.game.views[player], &self.quotients[player]);
        let average = &self.averages[player];
        let mut slots = Vec::new();
        let mut stack = vec![Place::root(views, quotient)];
        while let Some(at) = stack.pop() {
            let class = &views.classes[at.class as usize];
            if average[at.slot] == 0.0 || class.sequences == 0 {
                continue;
            }
            if class.list.is_some() {
                views.action_slots(at.class, &mut slots);
                let starts = &self.starts[player];
                let piece = starts.partition_point(|&s| s <= at.sequence).saturating_sub(1);
                let Piece { start, regret, last } = &mut *lock(&self.pieces[player][piece]);
                let range = at.sequence - *start..at.sequence - *start + slots.len();
                if let Some(last) = last.get_mut(range.clone()) {
                    last.fill(0.0);
                }
                let shares: smallvec::SmallVec<[f64; 16]> =
                    slots.iter().map(|&s| average[at.slot + s as usize]).collect();
                redistribute(&mut regret[range], &shares);
            }
            let node = &quotient.nodes[at.node as usize];
            for (number, (child, kid)) in class.children.iter().zip(&node.kids).enumerate() {
                if kid.stands as usize == number {
                    stack.push(at.child(child, kid));
                }
            }
        }
        self.averages[player].fill(0.0);
        let mut rule = Rule::new(self.algorithm, self.iterations, self.epoch.start, 0.0);
        rule.weight = 0.0;
        self.follow(player, rule);
    }
}

/// Positive regrets keep their sum and become proportional to some shares. Negative ones of moves without a share stay.
pub(super) fn redistribute(regrets: &mut [f64], shares: &[f64]) {
    let all: f64 = shares.iter().sum();
    if all <= 0.0 {
        return;
    }
    let sum = regrets.iter().map(|r| r.max(0.0)).sum::<f64>().max(LEAST_SUM);
    for (regret, &share) in regrets.iter_mut().zip(shares) {
        if share > 0.0 || *regret > 0.0 {
            *regret = sum * (share / all);
        }
    }
}
