//! Whole random games from given states.

use crate::limits::PLAYOUT_ROUNDS;
use crate::{Fault, Meter, MoveId, RoleId, Seed, Simulator, State, StopFlag};

/// Totals of the playouts from one root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootTotals {
    /// Games finished, stuck ones included.
    pub playouts: u64,
    /// Games that ended because some role had no legal move, or that had too many rounds; they earn
    /// nothing.
    pub stuck: u64,
    /// Points per role, summed over games.
    pub points: Vec<u64>,
}

/// How random games ended, one from each of some roots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameEnds {
    /// Which games were finished, stuck ones included; all unless a flag was raised.
    pub ended: Vec<bool>,
    /// Points of each role, game after game; zeros for a game that is stuck or was not finished.
    pub points: Vec<u8>,
}

impl GameEnds {
    /// The points of each role in a game; none if it was not finished.
    pub fn of(&self, game: usize) -> Option<&[u8]> {
        let n_roles = self.points.len() / self.ended.len().max(1);
        self.ended[game].then(|| &self.points[game * n_roles..(game + 1) * n_roles])
    }

    /// So many games, none of which is finished.
    pub fn reset(&mut self, games: usize, n_roles: usize) {
        self.ended.clear();
        self.ended.resize(games, false);
        self.points.clear();
        self.points.resize(games * n_roles, 0);
    }

    /// What totals of single games say.
    pub fn take(&mut self, totals: &[RootTotals]) {
        self.reset(totals.len(), totals.first().map_or(0, |total| total.points.len()));
        self.ended
            .iter_mut()
            .zip(totals)
            .for_each(|(ended, total)| *ended = total.playouts > 0);
        let points = totals.iter().flat_map(|total| &total.points);
        self.points
            .iter_mut()
            .zip(points)
            .for_each(|(to, &from)| *to = from.min(100) as u8);
    }
}

/// An engine that plays random games, many at a time if it can.
pub trait Playouts: Send {
    /// Plays `per_root` random games from each root; fewer if the flag is raised. Same seed, same totals.
    fn playouts(
        &mut self,
        roots: &[State],
        per_root: u64,
        seed: Seed,
        stop: &StopFlag,
    ) -> Result<Vec<RootTotals>, Fault>;

    /// Plays one random game from each root. No root may be over. Tree searches ask for nothing else, often, and from
    /// few hundred roots at a time.
    fn one_each(&mut self, roots: &[&State], seed: Seed, stop: &StopFlag, out: &mut GameEnds) -> Result<(), Fault> {
        let roots: Vec<State> = roots.iter().map(|&root| root.clone()).collect();
        out.take(&self.playouts(&roots, 1, seed, stop)?);
        Ok(())
    }

    /// States visited so far.
    fn meter(&self) -> Meter;
}

/// Playouts one after the other on any simulator: for games that do not ground, and for tests of the fast ones. The
/// states must be states of this very simulator: a fork may not know them.
pub fn one_by_one(
    sim: &mut dyn Simulator,
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
            if !play(sim, root, seed.nth(number as u64).nth(game), &mut totals, stop)? {
                break;
            }
        }
        all.push(totals);
    }
    Ok(all)
}

/// Plays one game; a game that has not ended when the flag is raised is dropped, and that was the last.
fn play(
    sim: &mut dyn Simulator,
    root: &State,
    seed: Seed,
    totals: &mut RootTotals,
    stop: &StopFlag,
) -> Result<bool, Fault> {
    let mut rng = seed.rng();
    let mut state = root.clone();
    let n_roles = totals.points.len();
    let mut legal: Vec<MoveId> = Vec::new();
    for _ in 0..PLAYOUT_ROUNDS {
        if stop.is_raised() {
            return Ok(false);
        }
        if sim.terminal(&state)? {
            totals.playouts += 1;
            for role in 0..n_roles {
                totals.points[role] += u64::from(sim.goal(&state, RoleId(role as u16))?.points());
            }
            return Ok(true);
        }
        let mut joint = Vec::with_capacity(n_roles);
        for role in 0..n_roles {
            sim.legal(&state, RoleId(role as u16), &mut legal)?;
            if legal.is_empty() {
                totals.playouts += 1;
                totals.stuck += 1;
                return Ok(true);
            }
            joint.push(*rng.pick(&legal));
        }
        state = sim.next(&state, &joint)?;
    }
    totals.playouts += 1;
    totals.stuck += 1;
    Ok(true)
}
