//! How UCT chooses among the moves of a role.

use super::graph::MoveStats;
use game::Rng;
use std::sync::OnceLock;

/// Precomputed roots of small numbers: computing them would be most of the work of a descent.
pub(crate) struct SquareRoots {
    /// One over the square root.
    inverse: Vec<f64>,
    /// The square root of the logarithm.
    log: Vec<f64>,
}

/// Made once, for all searches.
static ROOTS: OnceLock<SquareRoots> = OnceLock::new();

impl SquareRoots {
    pub(crate) fn shared() -> &'static SquareRoots {
        ROOTS.get_or_init(|| {
            let small = || (0..4_096).map(f64::from);
            SquareRoots {
                inverse: small().map(|n| n.sqrt().recip()).collect(),
                log: small().map(|n| n.max(1.0).ln().sqrt()).collect(),
            }
        })
    }

    #[inline]
    pub(crate) fn inverse(&self, n: u32) -> f64 {
        let small = self.inverse.get(n as usize).copied();
        small.unwrap_or_else(|| f64::from(n).sqrt().recip())
    }

    #[inline]
    pub(crate) fn log(&self, n: u32) -> f64 {
        let small = self.log.get(n as usize).copied();
        small.unwrap_or_else(|| f64::from(n).ln().sqrt())
    }
}

/// The second-best bound and its place.
pub(super) struct RunnerUp {
    bound: f64,
    at: usize,
}

/// Moves that were never made come first, in random order; then the one with the highest bound, the first of several.
/// With it the runner-up, unless the move was never made.
#[inline]
pub(super) fn most_promising(
    choices: &[MoveStats],
    width: f64,
    roots: &SquareRoots,
    rng: &mut Rng,
) -> (usize, Option<RunnerUp>) {
    let mut fresh = 0;
    let mut usual = None;
    let (mut best, mut highest) = (0, f64::NEG_INFINITY);
    let mut second = RunnerUp {
        bound: f64::NEG_INFINITY,
        at: usize::MAX,
    };
    for (at, choice) in choices.iter().enumerate() {
        let bound = match choice.known {
            Some((points, _)) => f64::from(points),
            None if choice.visits == 0 => {
                fresh += 1;
                continue;
            }
            None if choice.flying < choice.visits => choice.mean + width * roots.inverse(choice.visits),
            // All of its playouts are in flight: it counts as the mean of the others.
            None => *usual.get_or_insert_with(|| mean_of(choices)) + width * roots.inverse(choice.visits),
        };
        if bound > highest {
            second = RunnerUp {
                bound: highest,
                at: best,
            };
            (best, highest) = (at, bound);
        } else if bound > second.bound {
            second = RunnerUp { bound, at };
        }
    }
    if fresh == 0 {
        return (best, Some(second));
    }
    let is_fresh = |choice: &MoveStats| choice.visits == 0 && choice.known.is_none();
    let mut numbered = choices.iter().enumerate().filter(|(_, choice)| is_fresh(choice));
    (numbered.nth(rng.below(fresh)).map_or(best, |(at, _)| at), None)
}

/// Chooses for a group of visits, one after the other. While they are on their way means do not change, so the best
/// move is taken until its bound falls below that of the runner-up.
pub(super) fn spread(
    choices: &mut [MoveStats],
    n: u32,
    width: f64,
    roots: &SquareRoots,
    rng: &mut Rng,
    taken: &mut [u32],
) {
    let mut left = n;
    while left > 0 {
        let (at, second) = most_promising(choices, width, roots, rng);
        let mut take = 1;
        if let Some(second) = second {
            let choice = choices[at];
            let mean = match choice.known {
                None if choice.flying < choice.visits => Some(choice.mean),
                None => Some(mean_of(choices)),
                Some(_) => None,
            };
            match mean {
                // A proven move has the same bound for ever.
                None => take = left,
                Some(mean) => {
                    let still_best = |visits: u32| {
                        let bound = mean + width * roots.inverse(visits);
                        bound > second.bound || (bound == second.bound && at < second.at)
                    };
                    while take < left && still_best(choice.visits + take) {
                        take += 1;
                    }
                }
            }
        }
        choices[at].send(take);
        taken[at] += take;
        left -= take;
    }
}

/// The mean over all finished playouts.
fn mean_of(choices: &[MoveStats]) -> f64 {
    let n: u32 = choices.iter().map(MoveStats::back).sum();
    let total: f64 = choices.iter().map(|c| c.mean * f64::from(c.back())).sum();
    if n > 0 { total / f64::from(n) } else { 50.0 }
}
