//! Statistics of a role's moves at a view, and how the role chooses by them.

use super::{EXPLORE, IsMctsOptions, Selection, draw};
use crate::uct::SquareRoots;
use game::{Candidate, MoveId, Rng};
use smallvec::SmallVec;
use std::hint::select_unpredictable;

/// A move at a view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arm {
    /// Payoffs in 0..1, summed.
    total: f64,
    /// Their mean over visits: it is read far more often than it changes.
    mean: f32,
    pub visits: u32,
    /// Number of times it was available; see [`ArmTable::apart`].
    available: u32,
    pub mv: MoveId,
    /// One over the square root of the visits, which is read as often as the mean.
    inverse: f64,
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
    mixed_stats: Box<[MixedStats]>,
    /// Whether its last choice was mixed.
    pub(super) mixed: bool,
    /// Whether some arms were available more often than others. As long as all were available together, as in nearly
    /// all games, the first one counts for all of them.
    apart: bool,
    /// Value backed up from here: its share of the total of the arm that leads here.
    handed_up: f64,
    /// Simulations through here.
    through: u32,
    /// Visits of the most visited arm.
    most: u32,
    /// Arms without a visit.
    untried: u32,
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

/// The highest bound so far.
struct Bounds {
    best: usize,
    highest: f64,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            best: 0,
            highest: f64::NEG_INFINITY,
        }
    }
}

impl Bounds {
    /// Compares the bound of an arm; which one is higher cannot be predicted, so nothing branches on it.
    #[inline(always)]
    fn add(&mut self, place: usize, arm: &Arm, width: f64) {
        let bound = f64::from(arm.mean) + width * arm.inverse;
        let better = bound > self.highest;
        self.best = select_unpredictable(better, place, self.best);
        self.highest = if better { bound } else { self.highest };
    }
}

impl ArmTable {
    /// The arms of these moves, unless they are the first ones in order; makes those that are missing. Arms are never
    /// removed, so that the answer stays right.
    pub(super) fn arms_of(&mut self, legal: &[MoveId]) -> Option<Vec<u32>> {
        if self.arms.is_empty() {
            self.arms.reserve_exact(legal.len());
            self.arms.extend(legal.iter().map(|&mv| Arm::new(mv)));
            self.untried = legal.len() as u32;
        }
        if self.arms.len() >= legal.len() && self.arms.iter().zip(legal).all(|(arm, mv)| arm.mv == *mv) {
            return None;
        }
        self.set_apart();
        let place = |&mv: &MoveId| match self.arms.iter().position(|arm| arm.mv == mv) {
            Some(at) => at as u32,
            None => {
                self.arms.push(Arm::new(mv));
                self.untried += 1;
                self.arms.len() as u32 - 1
            }
        };
        Some(legal.iter().map(place).collect())
    }

    /// Chooses among the legal moves and counts the visit: the place among them, the arm, the chance it had if the
    /// choice was mixed, and whether it is the first visit.
    #[inline(always)]
    pub(super) fn select(
        &mut self,
        arms: Arms<'_>,
        mixed: bool,
        options: &IsMctsOptions,
        roots: &SquareRoots,
        rng: &mut Rng,
    ) -> (usize, usize, Option<f64>, bool) {
        self.mixed = mixed;
        let (place, chance) = match (mixed, arms) {
            (false, Arms::First(n)) if self.untried == 0 && !self.apart && n == self.arms.len() => {
                (self.highest_of_all(options.exploration, roots), None)
            }
            (false, _) => (self.by_bounds(arms, options.exploration, roots, rng), None),
            (true, _) => self.by_mixing(arms, options.selection, rng),
        };
        let at = arms.at(place);
        let arm = &mut self.arms[at];
        arm.visits += 1;
        arm.inverse = roots.inverse(arm.visits);
        arm.update();
        let first = arm.visits == 1;
        self.most = self.most.max(arm.visits);
        self.untried -= u32::from(first);
        (place, at, chance, first)
    }

    /// Takes back a visit whose value never came.
    pub(super) fn take_back(&mut self, arm: usize) {
        let arm = &mut self.arms[arm];
        arm.visits -= 1;
        arm.inverse = SquareRoots::shared().inverse(arm.visits);
        arm.update();
        self.untried += u32::from(arm.visits == 0);
        self.most = self.arms.iter().map(|arm| arm.visits).max().unwrap_or(0);
    }

    /// The place with the highest bound, the first of several, where all arms were tried and all are available, as in
    /// nearly all situations.
    #[inline(always)]
    fn highest_of_all(&mut self, exploration: f64, roots: &SquareRoots) -> usize {
        let counter = &mut self.arms[0].available;
        *counter += 1;
        let (width, mut bounds) = (exploration * roots.log(*counter), Bounds::default());
        for (place, arm) in self.arms.iter().enumerate() {
            bounds.add(place, arm, width);
        }
        bounds.best
    }

    /// A place that was never tried, else the one with the highest bound.
    fn by_bounds(&mut self, arms: Arms<'_>, exploration: f64, roots: &SquareRoots, rng: &mut Rng) -> usize {
        self.count_available(arms);
        let is_untried = |place: &usize| self.arms[arms.at(*place)].visits == 0;
        let untried = match self.untried {
            0 => 0,
            _ => (0..arms.len()).map(|place| usize::from(is_untried(&place))).sum(),
        };
        if untried == 0 {
            return self.highest(arms, exploration, roots);
        }
        let (pick, mut seen, mut found) = (rng.below(untried), 0, 0);
        for place in 0..arms.len() {
            let this = is_untried(&place) && seen == pick;
            found = if this { place } else { found };
            seen += usize::from(is_untried(&place));
        }
        found
    }

    /// The place with the highest bound, the first of several, where all arms were tried.
    fn highest(&self, arms: Arms<'_>, exploration: f64, roots: &SquareRoots) -> usize {
        let (mut before, mut width, mut bounds) = (0, 0.0, Bounds::default());
        for place in 0..arms.len() {
            let at = arms.at(place);
            let available = self.arms[if self.apart { at } else { 0 }].available;
            if available != before {
                (before, width) = (available, exploration * roots.log(available));
            }
            bounds.add(place, &self.arms[at], width);
        }
        bounds.best
    }

    /// Counts that these arms were available.
    fn count_available(&mut self, arms: Arms<'_>) {
        if !self.apart && arms.len() == self.arms.len() {
            self.arms[0].available += 1;
            return;
        }
        self.set_apart();
        (0..arms.len()).for_each(|place| self.arms[arms.at(place)].available += 1);
    }

    /// From now on every arm counts for itself.
    fn set_apart(&mut self) {
        if !std::mem::replace(&mut self.apart, true) {
            let together = self.arms[0].available;
            self.arms.iter_mut().for_each(|arm| arm.available = together);
        }
    }

    /// One entry for each arm.
    fn make_room(&mut self) {
        if self.mixed_stats.len() < self.arms.len() {
            let mut longer = std::mem::take(&mut self.mixed_stats).into_vec();
            longer.resize(self.arms.len(), MixedStats::default());
            self.mixed_stats = longer.into();
        }
    }

    fn by_mixing(&mut self, arms: Arms<'_>, selection: Selection, rng: &mut Rng) -> (usize, Option<f64>) {
        self.make_room();
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
        // The maximum over moves with few visits is biased upwards.
        let least = self.most.min(64).div_ceil(4);
        // Which arms count cannot be predicted, so nothing branches on it. Floats that are not negative are ordered as
        // their bits, and the bits of others are negative numbers.
        let best = self.arms.iter().fold(0, |best: i32, arm| {
            let mean = select_unpredictable(arm.visits >= least, arm.mean.to_bits() as i32, 0);
            best.max(mean)
        });
        let best = f64::from(f32::from_bits(best as u32));
        let worth = best * f64::from(self.through);
        let gain = worth - self.handed_up;
        self.handed_up = worth;
        gain
    }

    /// Updates the statistics of a choice: the change of value below it.
    #[inline]
    pub(super) fn learn(&mut self, arm: usize, gain: f64) {
        let arm = &mut self.arms[arm];
        arm.total += gain;
        arm.update();
    }

    /// Updates the regrets of a mixed choice among these arms, whose chance was `chance`.
    pub(super) fn regret(&mut self, arm: usize, arms: Arms<'_>, payoff: f64, chance: f64, selection: Selection) {
        self.make_room();
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
            mean: 0.0,
            visits: 0,
            available: 0,
            mv,
            inverse: f64::INFINITY,
        }
    }

    /// The mean, after a change.
    #[inline]
    fn update(&mut self) {
        self.mean = self.mean() as f32;
    }

    #[inline]
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

#[cfg(test)]
mod tests {
    use super::*;
    use game::Seed;

    /// Arms count how often they were available, whether all of them or some are.
    #[test]
    fn every_arm_counts_when_it_was_available() {
        let (roots, options, mut rng) = (SquareRoots::shared(), IsMctsOptions::default(), Seed(5).rng());
        for together in [0, 1, 40] {
            let mut table = ArmTable::default();
            let mut counts = [0; 6];
            for round in 0..200 {
                // Other moves are legal only after some rounds.
                let moves = if round < together {
                    0..4
                } else {
                    rng.below(3)..4 + rng.below(3)
                };
                let legal: Vec<MoveId> = moves.map(|mv| MoveId(mv as u32)).collect();
                legal.iter().for_each(|mv| counts[mv.0 as usize] += 1);
                let list = table.arms_of(&legal);
                let arms = list.as_ref().map_or(Arms::First(legal.len()), |list| Arms::These(list));
                table.select(arms, false, &options, roots, &mut rng);
                for arm in &table.arms {
                    let found = if table.apart { arm } else { &table.arms[0] };
                    assert_eq!(found.available, counts[arm.mv.0 as usize], "{together}, {round}");
                }
            }
        }
    }
}
