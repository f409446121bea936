//! How many distinct states a game has at least, by random plays: so that a game that is far too large is refused
//! before memory is full of its states.
//!
//! The estimate is Chao's for samples of several things each (Chao, *Estimating the Population Size for
//! Capture-Recapture Data with Unequal Catchability*, 1987): from the states that were met in one play, in two plays
//! and in more it follows how many were met in none, at least. Some states are far likelier than others in random
//! plays, which makes the estimate too small, hardly ever too large. What is returned is the lower end of its
//! confidence interval, three standard deviations below.
//!
//! States are estimated in *strata*, and the estimates added up: states with equally many legal moves of every role and
//! bits set. A stratum is likelier met as a whole or not at all, so that the states of one differ less in how likely
//! they are; and by the inequality of Cauchy and Schwarz the sum is never below the estimate of all states at once.

use super::LargeError;
use game::{MoveId, RoleId, Seed, Simulator, State, StopFlag};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// What random plays tell of the number of states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LeastStates {
    /// Distinct states at least.
    pub states: f64,
    /// Plays.
    pub plays: u32,
}

/// Standard deviations between the estimate and what is returned.
const DEVIATIONS: f64 = 3.0;

/// Plays at random until so many states were visited, with repetitions. The same plays every time.
pub(super) fn least_states(
    sim: &mut dyn Simulator,
    visits: usize,
    rounds: u32,
    stop: &StopFlag,
) -> Result<LeastStates, LargeError> {
    // For each state in how many plays it was met, the last of them, and its stratum.
    let mut met: FxHashMap<u64, (u32, u32, u64)> = FxHashMap::default();
    let mut rng = Seed(1).child("states").rng();
    let roles: Vec<RoleId> = (0..sim.roles().len() as u16).map(RoleId).collect();
    let mut joint = vec![MoveId(0); roles.len()];
    let mut legal = Vec::new();
    let (mut visited, mut plays) = (0, 0);
    while visited < visits {
        plays += 1;
        let mut state = sim.initial()?;
        for _ in 0..=rounds {
            visited += 1;
            let (count, last, stratum) = met.entry(hash(&state)).or_default();
            if *last != plays {
                (*count, *last) = (*count + 1, plays);
            }
            let is_new = *count == 1;
            let bits: u32 = state.0.iter().map(|word| word.count_ones()).sum();
            *stratum = if is_new { u64::from(bits) } else { *stratum };
            if sim.terminal(&state)? {
                break;
            }
            let mut counts = FxHasher::default();
            bits.hash(&mut counts);
            for (&role, mv) in roles.iter().zip(&mut joint) {
                sim.legal(&state, role, &mut legal)?;
                if legal.is_empty() {
                    // Whoever plays out all states says so.
                    return Ok(LeastStates { states: 0.0, plays });
                }
                legal.len().hash(&mut counts);
                *mv = *rng.pick(&legal);
            }
            *stratum = counts.finish();
            state = sim.next(&state, &joint)?;
        }
        if stop.is_raised() {
            return Err(LargeError::Stopped);
        }
    }
    let mut strata: FxHashMap<u64, Met> = FxHashMap::default();
    let mut all = Met::default();
    for &(count, _, stratum) in met.values() {
        all.add(count);
        strata.entry(stratum).or_default().add(count);
    }
    // The order of the sum is that of the strata, not that of a hash table.
    let mut strata: Vec<(u64, Met)> = strata.into_iter().collect();
    strata.sort_unstable_by_key(|(stratum, _)| *stratum);
    let samples = f64::from(plays);
    let in_strata = lower_end(strata.iter().map(|(_, met)| *met), samples);
    Ok(LeastStates {
        states: in_strata.max(lower_end(std::iter::once(all), samples)),
        plays,
    })
}

/// Numbers of states that were met, that were met in one play, and in two.
#[derive(Clone, Copy, Default)]
struct Met {
    seen: f64,
    once: f64,
    twice: f64,
}

impl Met {
    /// One more state, which was met in so many plays.
    fn add(&mut self, plays: u32) {
        self.seen += 1.0;
        self.once += f64::from(u8::from(plays == 1));
        self.twice += f64::from(u8::from(plays == 2));
    }

    /// Chao's estimate of how many there are that were not met, in the form without bias that allows `twice` to be 0,
    /// and its variance.
    fn unseen(&self, samples: f64) -> (f64, f64) {
        let Met { once, twice, .. } = *self;
        let (share, more) = ((samples - 1.0) / samples, twice + 1.0);
        let unseen = share * once * (once - 1.0) / (2.0 * more);
        if unseen <= 0.0 {
            return (0.0, 0.0);
        }
        let variance = unseen
            + share * share * once * (2.0 * once - 1.0).powi(2) / (4.0 * more * more)
            + share * share * once * once * twice * (once - 1.0).powi(2) / (4.0 * more.powi(4));
        (unseen, variance)
    }
}

fn hash(state: &State) -> u64 {
    let mut hasher = FxHasher::default();
    state.0.hash(&mut hasher);
    hasher.finish()
}

/// The lower end of the confidence interval of the sum of the estimates for some strata, by so many samples.
fn lower_end(strata: impl Iterator<Item = Met>, samples: f64) -> f64 {
    let (mut seen, mut unseen, mut variance) = (0.0, 0.0, 0.0);
    for met in strata {
        let (more, spread) = met.unseen(samples);
        (seen, unseen, variance) = (seen + met.seen, unseen + more, variance + spread);
    }
    if unseen <= 0.0 {
        return seen;
    }
    // The number of things that were not seen is taken to be log-normal, so that the end is not below what was seen.
    let spread = (DEVIATIONS * (1.0 + variance / (unseen * unseen)).ln().sqrt()).exp();
    seen + unseen / spread
}

#[cfg(test)]
mod tests {
    use super::super::graph::Draft;
    use super::super::{LargeLimits, Silence};
    use super::*;
    use crate::tests::simulator;

    #[test]
    fn the_estimate_is_below_the_truth_and_not_far() {
        for spec in ["dark-hex:width=2,height=3,hidden=1", "liars-dice", "goofspiel:cards=4"] {
            let mut sim = simulator(spec);
            let all = Draft::build(&mut sim, Silence::Counted, &LargeLimits::default(), &mut |_| {}).unwrap();
            let truth = all.len() as f64;
            let few = least_states(&mut sim, all.len() / 2, 100, &StopFlag::default()).unwrap();
            assert!(few.states <= truth, "{spec}: {few:?} of {truth}");
            assert!(few.states > truth / 6.0, "{spec}: {few:?} of {truth}");
            let many = least_states(&mut sim, 4 * all.len(), 100, &StopFlag::default()).unwrap();
            assert!(many.states <= 1.05 * truth, "{spec}: {many:?} of {truth}");
            assert!(many.states > truth / 3.0, "{spec}: {many:?} of {truth}");
        }
    }

    #[test]
    fn things_that_are_met_all_the_time_are_all_there_are() {
        let end = |seen, once, twice| lower_end(std::iter::once(Met { seen, once, twice }), 100.0);
        assert_eq!(end(10.0, 0.0, 0.0), 10.0);
        // 100 of 1,000 things drawn once each: two were drawn twice. 98 + 96 · 95 / 6 = 1,618, and far less for sure.
        let end = end(98.0, 96.0, 2.0);
        assert!((300.0..1_000.0).contains(&end), "{end}");
    }
}
