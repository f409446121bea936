//! How many distinct states a game has at least, by random plays: so that a game that is far too large is refused
//! before memory is full of its states.
//!
//! The estimate is Chao's for samples of several things each (Chao, *Estimating the Population Size for
//! Capture-Recapture Data with Unequal Catchability*, 1987): from the states that were met in one play, in two plays
//! and in more it follows how many were met in none, at least. Some states are far likelier than others in random
//! plays, which makes the estimate too small, hardly ever too large. What is returned is the lower end of its
//! confidence interval, three standard deviations below.

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
    // For each state in how many plays it was met, and the last of them.
    let mut met: FxHashMap<u64, (u32, u32)> = FxHashMap::default();
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
            let (count, last) = met.entry(hash(&state)).or_default();
            if *last != plays {
                (*count, *last) = (*count + 1, plays);
            }
            if sim.terminal(&state)? {
                break;
            }
            for (&role, mv) in roles.iter().zip(&mut joint) {
                sim.legal(&state, role, &mut legal)?;
                if legal.is_empty() {
                    // Whoever plays out all states says so.
                    return Ok(LeastStates { states: 0.0, plays });
                }
                *mv = *rng.pick(&legal);
            }
            state = sim.next(&state, &joint)?;
        }
        if stop.is_raised() {
            return Err(LargeError::Stopped);
        }
    }
    let in_plays = |n: u32| met.values().filter(|(count, _)| *count == n).count() as f64;
    Ok(LeastStates {
        states: lower_end(met.len() as f64, f64::from(plays), in_plays(1), in_plays(2)),
        plays,
    })
}

fn hash(state: &State) -> u64 {
    let mut hasher = FxHasher::default();
    state.0.hash(&mut hasher);
    hasher.finish()
}

/// The lower end of the confidence interval of Chao's estimate, in the form without bias that allows `twice` to be 0:
/// `seen` things in so many samples, `once` of them in one sample and `twice` in two.
fn lower_end(seen: f64, samples: f64, once: f64, twice: f64) -> f64 {
    let share = (samples - 1.0) / samples;
    let unseen = share * once * (once - 1.0) / (2.0 * (twice + 1.0));
    if unseen <= 0.0 {
        return seen;
    }
    let more = twice + 1.0;
    let variance = unseen
        + share * share * once * (2.0 * once - 1.0).powi(2) / (4.0 * more * more)
        + share * share * once * once * twice * (once - 1.0).powi(2) / (4.0 * more.powi(4));
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
        assert_eq!(lower_end(10.0, 100.0, 0.0, 0.0), 10.0);
        // 100 of 1,000 things drawn once each: two were drawn twice. 98 + 96 · 95 / 6 = 1,618, and far less for sure.
        let end = lower_end(98.0, 100.0, 96.0, 2.0);
        assert!((300.0..1_000.0).contains(&end), "{end}");
    }
}
