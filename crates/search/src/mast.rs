//! Playouts that prefer moves with high means in earlier playouts, in any state: MAST.
//!
//! Finnsson and Björnsson, *Simulation-Based Approach to General Game Playing* (AAAI 2008): every move of a role has
//! the mean of the playouts in which it was made, and moves are drawn with probability proportional to `exp(mean /
//! temperature)`. A move that was never made counts as a win.
//!
//! Where we differ: only moves of playouts are counted, not moves of the tree above them.

use game::limits::PLAYOUT_ROUNDS;
use game::{Fault, MoveId, Rng, RoleId, Simulator, State, StopFlag};

/// Means of all moves.
#[derive(Default)]
pub(crate) struct Mast {
    /// Points and playouts, per role and move.
    means: Vec<Vec<(f64, f64)>>,
    /// Moves of the playout at hand.
    made: Vec<(u16, MoveId)>,
}

/// Difference of means, in points, that makes a move e times as likely.
const TEMPERATURE: f64 = 10.0;

impl Mast {
    /// Plays one game to its end and updates the means. None if the flag was raised before the end.
    pub(crate) fn play_out(
        &mut self,
        sim: &mut dyn Simulator,
        from: &State,
        rng: &mut Rng,
        stop: &StopFlag,
    ) -> Result<Option<Vec<f64>>, Fault> {
        let n_roles = sim.roles().len();
        let nature = sim.nature();
        self.means.resize(n_roles, Vec::new());
        self.made.clear();
        let mut state = from.clone();
        let mut legal = Vec::new();
        let mut joint = Vec::with_capacity(n_roles);
        let mut points = vec![0.0; n_roles];
        for _ in 0..PLAYOUT_ROUNDS {
            if sim.terminal(&state)? {
                for (role, points) in points.iter_mut().enumerate() {
                    *points = f64::from(sim.goal(&state, RoleId(role as u16))?.points());
                }
                break;
            }
            if stop.is_raised() {
                return Ok(None);
            }
            joint.clear();
            for role in (0..n_roles).map(|r| RoleId(r as u16)) {
                sim.legal(&state, role, &mut legal)?;
                let mv = match legal[..] {
                    [] => break,
                    [only] => only,
                    _ if Some(role) == nature => *rng.pick(&legal),
                    _ => self.draw(role, &legal, rng),
                };
                joint.push(mv);
            }
            if joint.len() < n_roles {
                break;
            }
            state = sim.next(&state, &joint)?;
        }
        self.learn(&points);
        Ok(Some(points))
    }

    fn draw(&mut self, role: RoleId, legal: &[MoveId], rng: &mut Rng) -> MoveId {
        let means = &self.means[role.0 as usize];
        let weight = |mv: &MoveId| {
            let mean = match means.get(mv.0 as usize) {
                Some(&(points, n)) if n > 0.0 => points / n,
                _ => 100.0,
            };
            ((mean - 100.0) / TEMPERATURE).exp()
        };
        let weights: Vec<f64> = legal.iter().map(weight).collect();
        let mut left = rng.unit() * weights.iter().sum::<f64>();
        let found = weights.iter().position(|w| {
            left -= w;
            left < 0.0
        });
        let mv = legal[found.unwrap_or(legal.len() - 1)];
        self.made.push((role.0, mv));
        mv
    }

    fn learn(&mut self, points: &[f64]) {
        for &(role, mv) in &self.made {
            let means = &mut self.means[role as usize];
            if means.len() <= mv.0 as usize {
                means.resize(mv.0 as usize + 1, (0.0, 0.0));
            }
            let (sum, n) = &mut means[mv.0 as usize];
            *sum += points[role as usize];
            *n += 1.0;
        }
    }
}
