//! The best strategies that a solver has found so far.
//!
//! NashConv of the iterates of regret minimisation is not monotone: the average may become worse for a while, and the
//! last strategies are sometimes far better than the average and sometimes far worse. In a game whose goals sum to a
//! constant, what a strategy risks is what the other role can get against it, whatever the own role's other strategies
//! are. So the best strategy of each role is kept apart, from whichever iteration it comes, and NashConv of what is
//! kept never rises.

use super::super::{LargeRating, Profile};
use super::LargeSolver;
use game::StopFlag;

/// The best strategies so far.
pub(super) struct Best {
    pub plans: [Vec<f64>; 2],
    pub rating: LargeRating,
}

/// Where a strategy comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Kept,
    Average,
    Last,
}

impl LargeSolver<'_> {
    /// Rates the average strategies and the last ones, keeps the better ones of each player if they are better than
    /// what was kept before, and returns what the kept strategies are worth. If the flag is raised, nothing is kept
    /// that was not rated; without anything kept the rating is not complete, and its best responses are bounds.
    ///
    /// If goals do not sum to a constant, the average strategies are kept, as they are rated.
    pub fn keep_best(&mut self, stop: &StopFlag, progress: &mut dyn FnMut(f64)) -> LargeRating {
        let average = self.rate(stop, &mut |share| progress(share / 2.0));
        if !average.complete {
            return self.best.as_ref().map_or(average, |best| best.rating.clone());
        }
        self.rated_average = Some((self.iterations, average.nash_conv()));
        if self.game.constant_sum().is_none() || self.iterations == 0 {
            return self.take([Source::Average; 2], average);
        }
        let last = self.rate_last(stop, &mut |share| progress(0.5 + share / 2.0));
        let sources = [0, 1].map(|player| self.least_risk(player, &average, &last));
        let rating = match sources {
            [Source::Kept, Source::Kept] => None,
            [Source::Average, Source::Average] => Some(average.clone()),
            [Source::Last, Source::Last] => Some(last),
            _ => {
                let plans = [0, 1].map(|player| self.source(player, sources[player]));
                let rating = self.rate_both(plans, stop, progress);
                rating.complete.then_some(rating)
            }
        };
        match (rating, &self.best) {
            (Some(rating), _) => self.take(sources, rating),
            (None, Some(best)) => best.rating.clone(),
            (None, None) => self.take([Source::Average; 2], average),
        }
    }

    /// The best strategies so far: those that [`LargeSolver::keep_best`] kept, or else the average.
    pub fn best(&self) -> Profile {
        match &self.best {
            Some(best) => Profile {
                plans: best.plans.clone(),
            },
            None => self.average(),
        }
    }

    /// What the best strategies so far are worth, if any were kept.
    pub fn best_rating(&self) -> Option<&LargeRating> {
        self.best.as_ref().map(|best| &best.rating)
    }

    /// The source of the player's strategy against which the other player gets least. Ties go to what was kept.
    fn least_risk(&self, player: usize, average: &LargeRating, last: &LargeRating) -> Source {
        let risk = |rating: &LargeRating| rating.best[1 - player].0;
        let kept = self.best.as_ref().map_or(f64::INFINITY, |best| risk(&best.rating));
        let mut least = (kept, Source::Kept);
        for (rating, source) in [(average, Source::Average), (last, Source::Last)] {
            if rating.complete && risk(rating) < least.0 {
                least = (risk(rating), source);
            }
        }
        least.1
    }

    /// A strategy as a plan, times any factor.
    fn source(&self, player: usize, source: Source) -> &[f64] {
        match (source, &self.best) {
            (Source::Kept, Some(best)) => &best.plans[player],
            (Source::Average, _) => self.average_plan(player),
            _ => &self.plans[player],
        }
    }

    /// Keeps strategies.
    fn take(&mut self, sources: [Source; 2], rating: LargeRating) -> LargeRating {
        let before = self.best.take().map(|best| best.plans);
        let mut plans = before.unwrap_or_default();
        for player in 0..2 {
            if sources[player] == Source::Kept {
                continue;
            }
            let from = self.source(player, sources[player]);
            let scale = 1.0 / from[0];
            plans[player].clear();
            plans[player].extend(from.iter().map(|p| p * scale));
        }
        self.best = Some(Best {
            plans,
            rating: rating.clone(),
        });
        rating
    }
}
