//! What every player is given: the rules as a simulator, playouts, its role, and a seed.

use crate::policy::play_by_policy;
use belief::OpponentModel;
use game::{
    Batch, Fault, Meter, MoveId, Playouts, RoleId, RootTotals, Seed, Simulator, State, StopFlag, Told, one_by_one,
};

/// A player's tools. Its simulator knows the rules; it does not know the match.
pub struct Tools {
    /// The rules.
    pub sim: Box<dyn Simulator>,
    /// The rules for many states at a time, if there is such an engine.
    pub batch: Option<Box<dyn Batch>>,
    /// Whole random games, if there is an engine for them; else they are played one by one on the simulator.
    pub playouts: Option<Box<dyn Playouts>>,
    /// How the other roles move in playouts, if not uniformly. Playouts are then played one by one.
    pub others: Option<Box<dyn OpponentModel>>,
    /// The player's role.
    pub role: RoleId,
    /// Seed of the player.
    pub seed: Seed,
}

impl Tools {
    /// Canonical text of a move of mine.
    pub fn text(&self, mv: MoveId) -> &str {
        self.sim.move_text(self.role, mv)
    }

    /// The legal moves of a role.
    pub fn legal(&mut self, state: &State, role: RoleId) -> Result<Vec<MoveId>, Fault> {
        let mut moves = Vec::new();
        self.sim.legal(state, role, &mut moves)?;
        Ok(moves)
    }

    /// Plays `per_root` random games from each root.
    pub fn play_out(
        &mut self,
        roots: &[State],
        per_root: u64,
        seed: Seed,
        stop: &StopFlag,
    ) -> Result<Vec<RootTotals>, Fault> {
        if let Some(others) = &self.others {
            return play_by_policy(
                self.sim.as_mut(),
                others.as_ref(),
                self.role,
                roots,
                per_root,
                seed,
                stop,
            );
        }
        match &mut self.playouts {
            Some(playouts) => playouts.playouts(roots, per_root, seed, stop),
            None => one_by_one(self.sim.as_mut(), roots, per_root, seed, stop),
        }
    }

    /// Work done with these tools. Every state computed is a node touched; callers add the nodes that they touch
    /// without computing.
    pub fn meter(&self) -> Meter {
        let mut meter = *self.sim.meter();
        if let Some(playouts) = &self.playouts {
            meter.add(playouts.meter());
        }
        if let Some(batch) = &self.batch {
            meter.add(*batch.meter());
        }
        meter.touches = meter.states;
        meter
    }

    /// The state after a round in which every move was announced as `(did ROLE MOVE)`, as in games without `sees`
    /// rules. None if the announcements do not give a move for every role.
    pub fn follow(&mut self, state: &State, told: &Told) -> Result<Option<State>, Fault> {
        let mut joint = Vec::new();
        for role in (0..self.sim.roles().len()).map(|r| RoleId(r as u16)) {
            let name = self.sim.roles()[role.0 as usize].clone();
            let announced = |text: &str| told.sees.contains(&format!("(did {name} {text})"));
            let legal = self.legal(state, role)?;
            match legal.into_iter().find(|&m| announced(self.sim.move_text(role, m))) {
                Some(mv) => joint.push(mv),
                None => return Ok(None),
            }
        }
        self.sim.next(state, &joint).map(Some)
    }
}
