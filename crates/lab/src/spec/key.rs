//! The key of a cell, and the seeds of its matches.
//!
//! The key is a hash of what decides the results of the cell: game, players, seats, seed, measure, and the contents of
//! the files that game and players read. Nothing else is part of it. A change of the spec therefore leaves the results
//! of the other cells valid, and asking for more games keeps the games that were played.

use super::{Cell, Measure};
use game::Seed;
use serde_json::json;

impl Cell {
    /// The key that the cell should have.
    pub(super) fn hash(&self) -> String {
        let measure = match &self.measure {
            Measure::Score => json!("score"),
            Measure::Belief {
                sampler,
                models,
                nodes,
                naive,
            } => json!([sampler.to_string(), models, nodes, naive, self.focus]),
        };
        let content = json!([self.game, self.players, self.swap, self.seed, measure]);
        let key = Seed(0).child(&content.to_string());
        let key = self
            .seconds
            .map_or(key, |seconds| key.child(&format!("seconds {seconds}")));
        let key = self.contents.iter().fold(key, |key, print| key.child(print));
        format!("{:016x}", key.0)
    }

    /// The seed of a match, and the number of seats by which the players move on in it. Matches that differ only in the
    /// seats have the same seed.
    pub fn unit(&self, n: u64) -> (Seed, usize) {
        let seats = if self.swap { self.players.len() as u64 } else { 1 };
        let seed = Seed(self.seed).child("match").nth(n / seats);
        (seed, (n % seats) as usize)
    }

    /// Matches that make one observation: one for each shift of the players.
    pub fn block(&self) -> usize {
        if self.swap { self.players.len() } else { 1 }
    }
}
