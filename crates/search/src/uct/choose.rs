//! How UCT chooses among the moves of a role.

use super::graph::MoveStats;
use game::Rng;
use smallvec::SmallVec;
use std::f64::consts::LN_2;
use std::hint::select_unpredictable;
use std::sync::OnceLock;

/// Numbers of so many bits are small.
const SMALL_BITS: u32 = 12;
/// From so many visits on, a group is spread by the level that bounds fall to.
const MANY: u32 = 16;
/// Steps of the search for that level.
const HALVINGS: u32 = 8;

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
            let small = || (0..1 << SMALL_BITS).map(f64::from);
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

    /// The square root of the logarithm; that of a large number is computed from its twelve leading bits, which makes
    /// it smaller by less than 0.003 per cent.
    #[inline]
    pub(crate) fn log(&self, n: u32) -> f64 {
        if let Some(&small) = self.log.get(n as usize) {
            return small;
        }
        let shift = n.ilog2() - SMALL_BITS + 1;
        let leading = self.log[(n >> shift) as usize];
        (leading * leading + f64::from(shift) * LN_2).sqrt()
    }
}

/// The place of a move for one visit: moves that were never made come first, in random order; then the one with the
/// highest bound, the first of several.
#[inline]
pub(super) fn most_promising(choices: &[MoveStats], width: f64, roots: &SquareRoots, rng: &mut Rng) -> usize {
    let fresh: usize = choices.iter().map(|choice| usize::from(choice.is_fresh())).sum();
    if fresh > 0 {
        let pick = rng.below(fresh);
        let (mut seen, mut found) = (0, 0);
        // Which moves are fresh cannot be predicted.
        for (at, choice) in choices.iter().enumerate() {
            let is_fresh = choice.is_fresh();
            found = select_unpredictable(is_fresh & (seen == pick), at, found);
            seen += usize::from(is_fresh);
        }
        return found;
    }
    if choices.iter().all(|choice| choice.flying < choice.visits) {
        return most_promising_of_known(choices, width, roots);
    }
    let usual = mean_of(choices);
    highest(
        choices
            .iter()
            .map(|choice| choice.reach(usual, width).bound(choice.visits, roots)),
    )
}

/// The same where every move has finished playouts.
#[inline]
pub(super) fn most_promising_of_known(choices: &[MoveStats], width: f64, roots: &SquareRoots) -> usize {
    highest(choices.iter().map(|choice| match choice.known {
        None => choice.mean + width * roots.inverse(choice.visits),
        Some((points, _)) => f64::from(points),
    }))
}

/// The place of the highest bound, the first of several. Which one it is cannot be predicted: nothing branches on it.
#[inline]
fn highest(bounds: impl Iterator<Item = f64>) -> usize {
    let (mut best, mut highest) = (0, f64::NEG_INFINITY);
    for (at, bound) in bounds.enumerate() {
        let better = bound > highest;
        best = select_unpredictable(better, at, best);
        highest = if better { bound } else { highest };
    }
    best
}

/// What a move is worth as far as known, and how much its bound lies above that for one visit.
#[derive(Clone, Copy)]
struct Reach {
    value: f64,
    width: f64,
}

impl Reach {
    #[inline]
    fn bound(self, visits: u32, roots: &SquareRoots) -> f64 {
        self.value + self.width * roots.inverse(visits)
    }

    /// The first number of visits at which the bound is not above a level.
    #[inline]
    fn visits_until(self, level: f64) -> u32 {
        let above = level - self.value;
        let root = self.width / above;
        match above > 0.0 {
            true => ((root * root) as u32).saturating_add(1),
            false => u32::MAX,
        }
    }
}

impl MoveStats {
    /// If all of its playouts are in flight, it is worth the mean of the others.
    #[inline]
    fn reach(&self, usual: f64, width: f64) -> Reach {
        match self.known {
            Some((points, _)) => Reach {
                value: f64::from(points),
                width: 0.0,
            },
            None => Reach {
                value: if self.flying < self.visits { self.mean } else { usual },
                width,
            },
        }
    }
}

/// Room for spreading groups.
#[derive(Default)]
pub(super) struct Spreading {
    reaches: Vec<Reach>,
    bounds: Vec<f64>,
    /// Visits to each move of the node at hand.
    pub taken: Vec<u32>,
}

/// Chooses for a group of visits, as if one after the other. While they are on their way means do not change: the
/// bounds of a move fall with its visits, and the group takes the highest bounds of all moves.
///
/// `blank` says whether there may be moves without finished playouts.
pub(super) fn spread(
    choices: &mut [MoveStats],
    blank: bool,
    n: u32,
    width: f64,
    roots: &SquareRoots,
    rng: &mut Rng,
    room: &mut Spreading,
) {
    let Spreading { reaches, bounds, taken } = room;
    let mut left = n;
    if blank {
        left -= spread_first(choices, n, rng, taken);
        if left == 0 {
            return;
        }
    }
    let usual = if blank { mean_of(choices) } else { 0.0 };
    reaches.clear();
    reaches.extend(choices.iter().map(|choice| choice.reach(usual, width)));
    let by_reach = reaches.iter().zip(&*choices);
    bounds.clear();
    bounds.extend(by_reach.map(|(reach, choice)| reach.bound(choice.visits, roots)));
    if left >= MANY {
        let level = level(choices, reaches, bounds, left, roots);
        for (at, choice) in choices.iter_mut().enumerate().filter(|_| level.is_finite()) {
            let more = reaches[at].visits_until(level).saturating_sub(choice.visits);
            choice.send(more);
            taken[at] += more;
            left -= more;
            bounds[at] = reaches[at].bound(choice.visits, roots);
        }
    }
    while left > 0 {
        let at = highest(bounds.iter().copied());
        // A bound without a width stays for ever.
        let take = if reaches[at].width > 0.0 { 1 } else { left };
        choices[at].send(take);
        taken[at] += take;
        left -= take;
        bounds[at] = reaches[at].bound(choices[at].visits, roots);
    }
}

/// Moves that were never made come first, in random order; how many visits they took.
fn spread_first(choices: &mut [MoveStats], n: u32, rng: &mut Rng, taken: &mut [u32]) -> u32 {
    let mut fresh: SmallVec<[u32; 32]> = SmallVec::new();
    for (at, choice) in choices.iter().enumerate() {
        if choice.is_fresh() {
            fresh.push(at as u32);
        }
    }
    let most = n.min(fresh.len() as u32);
    for _ in 0..most {
        let at = fresh.swap_remove(rng.below(fresh.len())) as usize;
        choices[at].send(1);
        taken[at] += 1;
    }
    most
}

/// A level above which there are nearly as many bounds as visits are left, and not more; infinite if none was found.
fn level(choices: &[MoveStats], reaches: &[Reach], bounds: &[f64], left: u32, roots: &SquareRoots) -> f64 {
    let best = highest(bounds.iter().copied());
    let (mut high, mut found) = (bounds[best], f64::INFINITY);
    // The best move alone has enough bounds above this.
    let mut low = reaches[best].bound(choices[best].visits.saturating_add(left), roots);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        let both = reaches.iter().zip(choices);
        let above = both.map(|(reach, choice)| reach.visits_until(middle).saturating_sub(choice.visits));
        if above.map(u64::from).sum::<u64>() <= u64::from(left) {
            (high, found) = (middle, middle);
        } else {
            low = middle;
        }
    }
    found
}

/// The mean over all finished playouts.
fn mean_of(choices: &[MoveStats]) -> f64 {
    let n: u32 = choices.iter().map(MoveStats::back).sum();
    let total: f64 = choices.iter().map(|c| c.mean * f64::from(c.back())).sum();
    if n > 0 { total / f64::from(n) } else { 50.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use game::{MoveId, Seed};

    /// Random statistics; every fourth move is proven, and some playouts are in flight.
    fn choices(rng: &mut Rng, n: usize) -> Vec<MoveStats> {
        let mut some = |at: usize| {
            let mut choice = MoveStats::new(MoveId(at as u32));
            let visits = 1 + rng.below(40) as u32;
            choice.send(visits);
            match rng.below(4) {
                0 => choice.known = Some((rng.below(90) as u8, 3)),
                1 => {}
                _ => _ = choice.land(visits, visits, f64::from(visits) * (40.0 + rng.below(20) as f64)),
            }
            choice
        };
        (0..n).map(&mut some).collect()
    }

    /// Spreading a group is choosing for its visits one after the other.
    #[test]
    fn groups_take_the_highest_bounds() {
        let (roots, mut rng) = (SquareRoots::shared(), Seed(3).rng());
        for round in 0..400 {
            let mut together = choices(&mut rng, 1 + round % 12);
            let mut single = together.clone();
            let (n, width) = (1 + rng.below(300) as u32, 10.0 + rng.below(100) as f64);
            let mut room = Spreading::default();
            room.taken.resize(together.len(), 0);
            spread(&mut together, true, n, width, roots, &mut rng, &mut room);
            assert_eq!(room.taken.iter().sum::<u32>(), n);
            let usual = mean_of(&single);
            let worth: Vec<Reach> = single.iter().map(|choice| choice.reach(usual, width)).collect();
            for _ in 0..n {
                let bound = |at: usize| worth[at].bound(single[at].visits, roots);
                let best = (1..single.len()).fold(0, |best, at| if bound(at) > bound(best) { at } else { best });
                single[best].send(1);
            }
            let visits = |choices: &[MoveStats]| choices.iter().map(|choice| choice.visits).collect::<Vec<u32>>();
            assert_eq!(visits(&together), visits(&single));
        }
    }

    #[test]
    fn logarithms_of_large_numbers_are_close() {
        let roots = SquareRoots::shared();
        for n in [4_095, 4_096, 4_097, 8_191, 100_000, 123_456_789, u32::MAX] {
            let exact = f64::from(n).ln().sqrt();
            assert!((roots.log(n) / exact - 1.0).abs() < 3e-5, "{n}");
        }
    }
}
