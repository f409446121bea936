//! What is on which cell, and what changes from round to round.

use crate::family::pick;
use crate::find::{Group, Member};
use crate::sample::Samples;
use crate::term::{Atom, Id};
use std::collections::{BTreeMap, BTreeSet};

/// Rounds of the random games to look at for each board.
const STEPS: usize = 400;

/// A cell: the values of its keys, and on which board.
pub type CellKey = (Vec<Id>, Option<Id>);
/// A piece: the number of its family in the group, and its other arguments.
pub type PieceKey = (usize, Vec<Id>);
/// What is on which cell.
pub type Contents = BTreeMap<CellKey, BTreeSet<PieceKey>>;

/// One round on one board.
pub struct Diff {
    /// Number of the step.
    pub step: usize,
    pub before: Contents,
    pub after: Contents,
    pub changed: BTreeSet<CellKey>,
}

impl Member {
    pub fn cell(&self, args: &[Id]) -> CellKey {
        (pick(args, &self.keys), self.plane.map(|p| args[p]))
    }
}

impl Group {
    pub fn contents(&self, state: &[Atom]) -> Contents {
        let mut contents = Contents::new();
        for (number, member) in self.members.iter().enumerate() {
            let start = state.partition_point(|a| a.family < member.family);
            for atom in state[start..].iter().take_while(|a| a.family == member.family) {
                let piece = (number, pick(&atom.args, &member.pieces));
                contents.entry(member.cell(&atom.args)).or_default().insert(piece);
            }
        }
        contents
    }

    /// What changed on the boards of this group, in rounds spread over the random games.
    pub fn diffs(&self, samples: &Samples) -> Vec<Diff> {
        let stride = samples.steps.len().div_ceil(STEPS).max(1);
        let diff = |step: usize| {
            let round = &samples.steps[step];
            let (before, after) = (
                self.contents(&samples.states[round.before]),
                self.contents(&samples.states[round.after]),
            );
            let cells = before.keys().chain(after.keys());
            let changed = cells.filter(|c| before.get(*c) != after.get(*c)).cloned().collect();
            Diff {
                step,
                before,
                after,
                changed,
            }
        };
        (0..samples.steps.len()).step_by(stride).map(diff).collect()
    }
}

impl Diff {
    /// Pieces that came to a cell, with the cell.
    pub fn gained(&self) -> impl Iterator<Item = (&CellKey, &PieceKey)> {
        self.changed.iter().flat_map(|cell| {
            let (old, new) = (self.before.get(cell), self.after.get(cell));
            let fresh = move |piece: &&PieceKey| old.is_none_or(|old| !old.contains(*piece));
            new.into_iter().flatten().filter(fresh).map(move |piece| (cell, piece))
        })
    }

    /// Pieces that left a cell, with the cell.
    pub fn lost(&self) -> impl Iterator<Item = (&CellKey, &PieceKey)> {
        self.changed.iter().flat_map(|cell| {
            let (old, new) = (self.before.get(cell), self.after.get(cell));
            let gone = move |piece: &&PieceKey| new.is_none_or(|new| !new.contains(*piece));
            old.into_iter().flatten().filter(gone).map(move |piece| (cell, piece))
        })
    }
}

/// The role that alone had a choice in a step.
pub fn only_mover(samples: &Samples, step: usize) -> Option<usize> {
    let mut movers = samples.steps[step]
        .chose
        .iter()
        .enumerate()
        .filter(|(_, chose)| **chose);
    match (movers.next(), movers.next()) {
        (Some((role, _)), None) => Some(role),
        _ => None,
    }
}
