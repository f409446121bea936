//! Statistics of a role's moves at a view, and how the role chooses by them.

use super::{EXPLORE, IsMctsOptions, Selection, draw};
use crate::uct::SquareRoots;
use game::{Candidate, MoveId, Rng};
use smallvec::SmallVec;

/// A move at a view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arm {
    /// Payoffs in 0..1, summed.
    total: f64,
    pub visits: u32,
    /// Number of times it was available.
    available: u32,
    pub mv: MoveId,
}

/// What mixed choices learn of a move.
#[derive(Clone, Copy, Debug, Default)]
struct MixedStats {
    /// Regret, or the log of the exponential weight.
    regret: f64,
    /// Sum of the probabilities that the strategy gave the move.
    wanted: f64,
}

/// Statistics of a role's moves at a view.
#[derive(Default)]
pub(crate) struct ArmTable {
    pub(super) arms: Vec<Arm>,
    /// One for each arm once a choice was mixed.
    mixed_stats: Vec<MixedStats>,
    /// Whether its last choice was mixed.
    pub(super) mixed: bool,
    /// Value backed up from here: its share of the total of the arm that leads here.
    handed_up: f64,
    /// Simulations through here.
    through: u32,
}

/// The arms of the legal moves of a state.
#[derive(Clone, Copy)]
pub(super) enum Arms<'a> {
    /// The first ones, in order.
    First(usize),
    /// These.
    These(&'a [u32]),
}

impl Arms<'_> {
    fn len(self) -> usize {
        match self {
            Arms::First(n) => n,
            Arms::These(list) => list.len(),
        }
    }

    /// The arm of the move at a place.
    fn at(self, place: usize) -> usize {
        match self {
            Arms::First(_) => place,
            Arms::These(list) => list[place] as usize,
        }
    }
}

impl ArmTable {
    /// The arms of these moves, unless they are the first ones in order; makes those that are missing. Arms are never
    /// removed, so that the answer stays right.
    pub(super) fn arms_of(&mut self, legal: &[MoveId]) -> Option<Vec<u32>> {
        if self.arms.is_empty() {
            self.arms.extend(legal.iter().map(|&mv| Arm::new(mv)));
        }
        if self.arms.len() >= legal.len() && self.arms.iter().zip(legal).all(|(arm, mv)| arm.mv == *mv) {
            return None;
        }
        let place = |&mv: &MoveId| match self.arms.iter().position(|arm| arm.mv == mv) {
            Some(at) => at as u32,
            None => {
                self.arms.push(Arm::new(mv));
                self.arms.len() as u32 - 1
            }
        };
        Some(legal.iter().map(place).collect())
    }

    /// Chooses among the legal moves and counts the visit: the place among them, the arm, the chance it had if the
    /// choice was mixed, and whether it is the first visit.
    #[inline]
    pub(super) fn select(
        &mut self,
        arms: Arms<'_>,
        mixed: bool,
        options: &IsMctsOptions,
        roots: &SquareRoots,
        rng: &mut Rng,
    ) -> (usize, usize, Option<f64>, bool) {
        self.mixed = mixed;
        let (place, chance) = match mixed {
            false => (self.by_bounds(arms, options.exploration, roots, rng), None),
            true => self.by_mixing(arms, options.selection, rng),
        };
        let arm = &mut self.arms[arms.at(place)];
        arm.visits += 1;
        (place, arms.at(place), chance, arm.visits == 1)
    }

    /// Takes back a visit whose value never came.
    pub(super) fn take_back(&mut self, arm: usize) {
        self.arms[arm].visits -= 1;
    }

    #[inline]
    fn by_bounds(&mut self, arms: Arms<'_>, exploration: f64, roots: &SquareRoots, rng: &mut Rng) -> usize {
        let mut untried = 0;
        let (mut best, mut highest) = (0, f64::NEG_INFINITY);
        // Most arms were available equally often.
        let (mut available, mut width) = (0, 0.0);
        for place in 0..arms.len() {
            let arm = &mut self.arms[arms.at(place)];
            arm.available += 1;
            if arm.visits == 0 {
                untried += 1;
                continue;
            }
            if arm.available != available {
                available = arm.available;
                width = exploration * roots.log(available);
            }
            let bound = arm.mean() + width * roots.inverse(arm.visits);
            if bound > highest {
                (best, highest) = (place, bound);
            }
        }
        if untried == 0 {
            return best;
        }
        let pick = rng.below(untried);
        let mut places = (0..arms.len()).filter(|&place| self.arms[arms.at(place)].visits == 0);
        places.nth(pick).unwrap_or(best)
    }

    fn by_mixing(&mut self, arms: Arms<'_>, selection: Selection, rng: &mut Rng) -> (usize, Option<f64>) {
        self.mixed_stats.resize(self.arms.len(), MixedStats::default());
        let strategy = self.strategy(arms, selection);
        for (place, p) in strategy.iter().enumerate() {
            self.mixed_stats[arms.at(place)].wanted += p;
        }
        let even = EXPLORE / arms.len() as f64;
        let chances = strategy.iter().map(|p| p * (1.0 - EXPLORE) + even);
        let place = draw(chances.clone(), rng);
        (place, chances.clone().nth(place))
    }

    fn strategy(&self, arms: Arms<'_>, selection: Selection) -> SmallVec<[f64; 32]> {
        let regrets = (0..arms.len()).map(|place| self.mixed_stats[arms.at(place)].regret);
        let mut strategy: SmallVec<[f64; 32]> = match selection {
            Selection::Exp3 => {
                let rate = EXPLORE / arms.len() as f64;
                let most = regrets.clone().fold(f64::MIN, f64::max);
                regrets.map(|regret| (rate * (regret - most)).exp()).collect()
            }
            _ => regrets.map(|regret| regret.max(0.0)).collect(),
        };
        let sum: f64 = strategy.iter().sum();
        let even = 1.0 / arms.len() as f64;
        strategy
            .iter_mut()
            .for_each(|p| *p = if sum > 0.0 { *p / sum } else { even });
        strategy
    }

    /// The change of the total of the arm that leads here after one more simulation, if the value of this view is that
    /// of its best move.
    pub(super) fn hand_up(&mut self) -> f64 {
        self.through += 1;
        let most = self.arms.iter().map(|arm| arm.visits).max().unwrap_or(0);
        // The maximum over moves with few visits is biased upwards.
        let known = self.arms.iter().filter(|arm| 4 * arm.visits >= most.min(64));
        let best = known.map(Arm::mean).fold(0.0, f64::max);
        let worth = best * f64::from(self.through);
        let gain = worth - self.handed_up;
        self.handed_up = worth;
        gain
    }

    /// Updates the statistics of a choice: the change of value below it.
    #[inline]
    pub(super) fn learn(&mut self, arm: usize, gain: f64) {
        self.arms[arm].total += gain;
    }

    /// Updates the regrets of a mixed choice among these arms, whose chance was `chance`.
    pub(super) fn regret(&mut self, arm: usize, arms: Arms<'_>, payoff: f64, chance: f64, selection: Selection) {
        self.mixed_stats.resize(self.arms.len(), MixedStats::default());
        self.mixed_stats[arm].regret += payoff / chance;
        if selection != Selection::Exp3 {
            for place in 0..arms.len() {
                self.mixed_stats[arms.at(place)].regret -= payoff;
            }
        }
    }

    /// The arms, the most visited first; where choices are mixed, each with what the strategy wanted.
    pub(super) fn ranked(&self) -> Vec<(Arm, f64)> {
        let wanted = |at: usize| self.mixed_stats.get(at).map_or(0.0, |stats| stats.wanted);
        let arms = self.arms.iter().enumerate();
        let mut arms: Vec<(Arm, f64)> = arms.map(|(at, &arm)| (arm, wanted(at))).collect();
        arms.sort_by(|(a, _), (b, _)| b.visits.cmp(&a.visits).then(b.mean().total_cmp(&a.mean())));
        arms
    }
}

impl Arm {
    fn new(mv: MoveId) -> Arm {
        Arm {
            total: 0.0,
            visits: 0,
            available: 0,
            mv,
        }
    }

    pub(super) fn mean(&self) -> f64 {
        self.total / f64::from(self.visits.max(1))
    }

    pub(super) fn candidate(&self, mv: String) -> Candidate {
        let mean = self.mean();
        Candidate {
            mv,
            mean: 100.0 * mean,
            // The largest standard error of a mean of payoffs in 0..1.
            stderr: 100.0 * (mean * (1.0 - mean) / f64::from(self.visits.max(1))).max(0.0).sqrt(),
            visits: u64::from(self.visits),
        }
    }
}
