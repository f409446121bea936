//! The lanes as [`game::Playouts`], for players that know nothing about simulators.

use super::leaves::LeafLanes;
use super::playouts::{PlayoutOptions, playouts};
use crate::Compiled;
use game::{Fault, GameEnds, Meter, Playouts, RootTotals, Seed, State, StopFlag};

/// Random games of a compiled game, 256 at a time on each thread.
pub struct Rollouts {
    game: Compiled,
    options: PlayoutOptions,
    meter: Meter,
    /// For single games from many roots, once they were asked for.
    leaves: Option<LeafLanes>,
}

impl Rollouts {
    /// Random games on so many threads; the totals do not depend on the number.
    pub fn new(game: &Compiled, threads: usize) -> Rollouts {
        let options = PlayoutOptions {
            threads,
            ..PlayoutOptions::default()
        };
        Rollouts {
            game: game.clone(),
            options,
            meter: Meter::default(),
            leaves: None,
        }
    }
}

impl Playouts for Rollouts {
    fn playouts(
        &mut self,
        roots: &[State],
        per_root: u64,
        seed: Seed,
        stop: &StopFlag,
    ) -> Result<Vec<RootTotals>, Fault> {
        let totals = playouts(&self.game, roots, per_root, seed, &self.options, stop);
        self.meter.add(totals.meter);
        Ok(totals.roots)
    }

    fn one_each(&mut self, roots: &[&State], seed: Seed, stop: &StopFlag, out: &mut GameEnds) -> Result<(), Fault> {
        let leaves = self.leaves.get_or_insert_with(|| LeafLanes::new(&self.game));
        self.meter.states += leaves.play(roots, seed, stop, out)?;
        Ok(())
    }

    fn meter(&self) -> Meter {
        self.meter
    }
}
