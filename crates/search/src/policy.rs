//! Models of the other roles that are better than uniform play.
//!
//! A belief weighs a history by the probabilities of the others' moves; a playout draws the others' moves. Both accept
//! any [`OpponentModel`]. The one here models opponents as Monte Carlo players: the higher the mean payoff of random
//! games after a move, the likelier the move.

use crate::Tools;
use crate::flat::{Guess, PlayoutPlan, worths};
use belief::OpponentModel;
use game::limits::PLAYOUT_ROUNDS;
use game::{Budget, Fault, MoveId, RoleId, RootTotals, Seed, Simulator, State, StopFlag};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Mutex;

/// Opponents modelled as `mc` players that know the state. Their moves follow the logistic rule; its temperature is at
/// least the standard error of a value.
pub struct McOpponents {
    inner: Mutex<ThinkingOpponent>,
    playouts: u64,
}

struct ThinkingOpponent {
    tools: Tools,
    known: FxHashMap<(State, RoleId), Vec<f64>>,
}

/// Number of states from which on the cache is emptied.
const MEMORY: usize = 200_000;
/// Smallest temperature: the difference in points that makes a move e times as likely.
const TEMPERATURE: f64 = 5.0;

impl McOpponents {
    /// Opponents with this many playouts for each of their moves.
    pub fn new(tools: Tools, playouts: u64) -> McOpponents {
        McOpponents {
            inner: Mutex::new(ThinkingOpponent {
                tools,
                known: FxHashMap::default(),
            }),
            playouts,
        }
    }
}

impl ThinkingOpponent {
    fn think(&mut self, state: &State, role: RoleId, legal: &[MoveId], playouts: u64) -> Result<Vec<f64>, Fault> {
        self.tools.role = role;
        let guess = Guess {
            state: state.clone(),
            weight: 1.0,
        };
        let plan = PlayoutPlan {
            playouts,
            seed: self.tools.seed.nth(u64::from(role.0)),
        };
        let unlimited = Budget::until(StopFlag::default());
        let worths = worths(&mut self.tools, &[guess], plan, &unlimited)?;
        let best = worths.first().map_or(0.0, |w| w.mean);
        let scale = worths.iter().map(|w| w.stderr).fold(TEMPERATURE, f64::max);
        let weight = |mv: &MoveId| {
            let worth = worths.iter().find(|w| w.mv == *mv);
            worth.map_or(0.0, |w| ((w.mean - best) / scale).exp())
        };
        let mut weights: Vec<f64> = legal.iter().map(weight).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= sum);
        Ok(weights)
    }
}

impl OpponentModel for McOpponents {
    fn probabilities(&self, state: &State, role: RoleId, legal: &[MoveId], out: &mut Vec<f64>) {
        out.clear();
        let even = 1.0 / legal.len() as f64;
        let mut inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        if legal.len() == 1 {
            out.push(1.0);
            return;
        }
        if inner.known.len() > MEMORY {
            inner.known.clear();
        }
        let key = (state.clone(), role);
        if let Some(known) = inner.known.get(&key) {
            out.extend_from_slice(known);
            return;
        }
        // If the playouts fail, the opponent moves uniformly.
        let thought = inner.think(state, role, legal, self.playouts);
        let thought = thought.unwrap_or_else(|_| vec![even; legal.len()]);
        out.extend_from_slice(&thought);
        inner.known.insert(key, thought);
    }
}

/// Playouts in which we and nature move uniformly and the others by a model.
pub(crate) fn play_by_policy(
    sim: &mut dyn Simulator,
    others: &dyn OpponentModel,
    me: RoleId,
    roots: &[State],
    per_root: u64,
    seed: Seed,
    stop: &StopFlag,
) -> Result<Vec<RootTotals>, Fault> {
    let n_roles = sim.roles().len();
    let mut all = Vec::with_capacity(roots.len());
    for (number, root) in roots.iter().enumerate() {
        let mut totals = RootTotals {
            points: vec![0; n_roles],
            ..RootTotals::default()
        };
        for game in 0..per_root {
            if stop.is_raised() {
                break;
            }
            let seed = seed.nth(number as u64).nth(game);
            play(sim, others, me, root, seed, &mut totals)?;
        }
        all.push(totals);
    }
    Ok(all)
}

fn play(
    sim: &mut dyn Simulator,
    others: &dyn OpponentModel,
    me: RoleId,
    root: &State,
    seed: Seed,
    totals: &mut RootTotals,
) -> Result<(), Fault> {
    let mut rng = seed.rng();
    let nature = sim.nature();
    let mut state = root.clone();
    let (mut legal, mut chances) = (Vec::new(), Vec::new());
    totals.playouts += 1;
    for _ in 0..PLAYOUT_ROUNDS {
        if sim.terminal(&state)? {
            for (role, points) in totals.points.iter_mut().enumerate() {
                *points += u64::from(sim.goal(&state, RoleId(role as u16))?.points());
            }
            return Ok(());
        }
        let mut joint: SmallVec<[MoveId; 4]> = SmallVec::new();
        for role in (0..totals.points.len()).map(|r| RoleId(r as u16)) {
            sim.legal(&state, role, &mut legal)?;
            if legal.is_empty() {
                totals.stuck += 1;
                return Ok(());
            }
            if role == me || Some(role) == nature || legal.len() == 1 {
                joint.push(*rng.pick(&legal));
                continue;
            }
            others.probabilities(&state, role, &legal, &mut chances);
            let mut left = rng.unit() * chances.iter().sum::<f64>();
            let pick = chances.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            joint.push(legal[pick.unwrap_or(legal.len() - 1)]);
        }
        state = sim.next(&state, &joint)?;
    }
    totals.stuck += 1;
    Ok(())
}
