//! How the moves of a playout step are chosen: which columns share a choice circuit.

use super::choice::choose;
use crate::circuit::{Circuit, Wire};
use crate::lower::Lowering;
use crate::network::{Network, Signal};

/// One choice circuit per group.
#[derive(Clone, Debug, Default)]
pub struct ChoicePlan {
    /// The groups.
    pub groups: Vec<Group>,
}

/// Columns from which one is chosen. A column joins moves of which at most one is ever legal at a time.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// The moves of each column, as role and move.
    pub columns: Vec<Vec<(usize, usize)>>,
}

/// The moves of a group, chosen.
pub struct Made {
    /// Role, move, lanes in which it is made.
    pub moves: Vec<(usize, usize, Wire)>,
    /// Lanes in which every role of the group has a move.
    pub any: Wire,
}

impl ChoicePlan {
    /// Every role by itself, every move its own column.
    pub fn separate(net: &Network) -> ChoicePlan {
        let column = |role: usize, n: usize| (0..n).map(|mv| vec![(role, mv)]).collect();
        let groups = net.n_moves().into_iter().enumerate();
        ChoicePlan { groups: groups.map(|(role, n)| Group { columns: column(role, n) }).collect() }
    }
}

impl Group {
    /// Adds the group's choice to a circuit.
    pub fn choose(&self, circuit: &mut Circuit, lower: &mut Lowering, net: &Network, random: &[Wire]) -> Made {
        let signals: Vec<Signal> =
            self.columns.iter().flatten().map(|&(role, mv)| net.outputs.legal[role][mv]).collect();
        lower.ensure(circuit, &signals);
        let mut columns = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            let mut joined = circuit.zero();
            for &(role, mv) in column {
                let legal = lower.plain(circuit, net.outputs.legal[role][mv]);
                joined = circuit.or(joined, legal);
            }
            columns.push(joined);
        }
        let chosen = choose(circuit, &columns, random);
        let mut moves = Vec::new();
        for (column, pick) in self.columns.iter().zip(chosen.picks) {
            for &(role, mv) in column {
                let wire = if column.len() == 1 {
                    pick
                } else {
                    let legal = lower.plain(circuit, net.outputs.legal[role][mv]);
                    circuit.and(pick, legal)
                };
                moves.push((role, mv, wire));
            }
        }
        Made { moves, any: chosen.any }
    }
}
