//! Restarts at the average.
//!
//! Regret minimisation circles around an equilibrium: the average is near it, the last strategies are not, and what
//! was averaged long ago stays in the average. So the average becomes the current strategy, and a new average begins,
//! each time NashConv of the average has fallen to [`FALLEN`] of what it was at the last restart. That is the
//! adaptive restart of first-order methods for linear programs (Applegate, Hinder, Lu and Lubin, *Faster First-Order
//! Primal-Dual Methods for Linear Programming using Restarts and Sharpness*, 2023), carried over to regrets: the
//! positive regrets of an information set keep their sum, which is the inverse of the step size, and are distributed
//! as the average plays.
//!
//! Near an equilibrium sums can be too small, so that strategies leave it. They grow by that. So an average that has
//! become [`STRAYED`] times as bad as the best strategies gives way to these, where best strategies are kept
//! ([`LargeSolver::keep_best`]), and sums stay.
//!
//! *Tried* on games of the catalogue: sums of half and twice the size at a restart, both of which are far worse; sums
//! of a half or a quarter only where the last strategies are hardly worse than the average, where in liar's dice a
//! half is a little better (half of NashConv after 1,065 iterations 0.0059 in place of 0.0068; with more looks 0.0026,
//! and 0.0111 for a quarter); restarts after any fall of NashConv once an epoch has a third of all iterations, which
//! is better in phantom connect with `abrupt=1` and far worse with `hidden=1`; giving way at twice the NashConv, which
//! is worse in Leduc poker.

use super::super::pass::Place;
use super::rule::Rule;
use super::{LargeSolver, Piece, lock};
use game::StopFlag;

/// The share of the NashConv at the last restart at which the next one is due.
const FALLEN: f64 = 0.5;

/// Iterations between two restarts at least.
const APART: u64 = 3;

/// How many times the NashConv of the best strategies so far that of an average is that has strayed, and the iterations
/// since the last restart that are needed to say so.
const STRAYED: f64 = 4.0;
const SETTLED: u64 = 24;

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

/// Iterations between two ratings at most, as long as these are more than a twentieth of all iterations.
const BETWEEN_RATINGS: u64 = 32;

/// Iterations after which strategies are rated: 1, 2, 3, 5, 8, 12, … 62, 93, 125, 157, …
pub fn is_rated(iterations: u64) -> bool {
    let mut next: u64 = 1;
    while next < iterations {
        next += next.div_ceil(2).min(BETWEEN_RATINGS.max(next / 20));
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
        let kept = self.best.as_ref().map_or(f64::MAX, |best| best.rating.nash_conv());
        let strays = gap > STRAYED * kept && iterations - self.epoch.start >= SETTLED;
        let next = match strays {
            true => Some(Epoch {
                start: iterations,
                gap: kept,
            }),
            false => self.epoch.next(iterations, gap),
        };
        if let Some(epoch) = next {
            self.epoch = epoch;
            (0..self.game.graph.players.len()).for_each(|player| self.restart(player, strays));
        }
        true
    }

    /// The average becomes the current strategy of a player, or the best strategy so far.
    pub(super) fn restart(&mut self, player: usize, at_best: bool) {
        let (views, quotient) = (&self.game.views[player], &self.quotients[player]);
        let average = match &self.best {
            Some(best) if at_best => &best.plans[player],
            _ => &self.averages[player],
        };
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
