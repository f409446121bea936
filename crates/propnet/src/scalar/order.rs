//! The order of the nodes of an [`EventNet`](super::events::EventNet).
//!
//! Operands come before the gates that read them. Within a level, gates that were busy in a trial come first: a step
//! of a large game needs a few thousand of its gates, and what they need should share cache lines.

use super::trial::Trial;
use crate::network::{Network, Node, NodeId, Signal};
use crate::passes::needed;

/// Heat of a gate's change, where an update of its count has 1: a change needs the gate's readers too.
const CHANGE_HEAT: u32 = 8;

/// The new numbers of a network's nodes.
pub(super) struct Numbers {
    /// Numbers of the gates that outputs need. Each stage fills whole words.
    gates: Vec<Option<u32>>,
    /// Words of pending bits up to the end of each stage.
    pub ends: [usize; 3],
    /// Number of the first fluent.
    pub fluents: usize,
    /// Number of each role's first move.
    pub does: Vec<usize>,
    pub n_nodes: usize,
}

impl Numbers {
    /// Numbers by stage and level.
    pub fn new(net: &Network) -> Numbers {
        Numbers::ordered(net, |_| 0)
    }

    /// Numbers by which gates that are busy in a trial come together, so that what a step needs stays in the
    /// processor's caches; and the trial by these numbers. The trial was counted with the numbers of [`Numbers::new`].
    pub fn by_heat(net: &Network, trial: &Trial) -> (Numbers, Trial) {
        let old = Numbers::new(net);
        let changes = |node: NodeId| old.of(net, node).map_or(0, |at| trial.changes[at]);
        let heat = |at: usize| {
            let id = NodeId(at as u32);
            // A gate of two operands is left alone as long as it does not change.
            let updates: u32 = match net.operands(id) {
                [_, _] => 0,
                operands => operands.iter().map(|s| changes(s.node())).sum(),
            };
            (CHANGE_HEAT * changes(id) + updates)
                .checked_ilog2()
                .map_or(0, |log| log + 1)
        };
        let new = Numbers::ordered(net, |at| u32::MAX - heat(at));
        let mut moved = trial.clone();
        for (id, number) in new.gates() {
            if let Some(from) = old.of(net, id) {
                moved.changes[number as usize] = trial.changes[from];
                moved.held[number as usize] = trial.held[from];
            }
        }
        (new, moved)
    }

    /// Numbers by stage, level and the rank of a gate within its level.
    fn ordered(net: &Network, rank: impl Fn(usize) -> u32) -> Numbers {
        let out = &net.outputs;
        let mut legal: Vec<Signal> = out.legal.iter().flatten().copied().collect();
        legal.push(out.terminal);
        let sees: Vec<Signal> = out.sees.iter().flatten().copied().collect();
        let levels = levels(net);
        let mut gates = vec![None; net.len()];
        let mut n = 0_u32;
        let ends = [&legal, &out.next, &sees].map(|roots| {
            let cone = needed(net, roots);
            let is_new = |at: usize| cone[at] && net.node(NodeId(at as u32)) == Node::And && gates[at].is_none();
            let mut fresh: Vec<usize> = (0..net.len()).filter(|&at| is_new(at)).collect();
            // By level, so that similar gates share words.
            fresh.sort_by_cached_key(|&at| (levels[at], rank(at)));
            for at in fresh {
                gates[at] = Some(n);
                n += 1;
            }
            n = n.next_multiple_of(64);
            n as usize / 64
        });
        let fluents = n as usize;
        let mut n_nodes = fluents + net.n_fluents();
        let mut does = Vec::new();
        for n_moves in net.n_moves() {
            does.push(n_nodes);
            n_nodes += n_moves;
        }
        Numbers {
            gates,
            ends,
            fluents,
            does,
            n_nodes,
        }
    }

    /// The number of a node, unless it is a constant or not needed.
    pub fn of(&self, net: &Network, node: NodeId) -> Option<usize> {
        match net.node(node) {
            Node::Fluent(f) => Some(self.fluents + f as usize),
            Node::Does { role, mv } => Some(self.does[role as usize] + mv as usize),
            Node::And => self.gates[node.0 as usize].map(|at| at as usize),
            _ => None,
        }
    }

    /// The gates with their new numbers.
    pub fn gates(&self) -> impl Iterator<Item = (NodeId, u32)> + '_ {
        let numbered = |(at, number): (usize, &Option<u32>)| number.map(|n| (NodeId(at as u32), n));
        self.gates.iter().enumerate().filter_map(numbered)
    }
}

/// Per node, the length of the longest path from a leaf.
fn levels(net: &Network) -> Vec<u32> {
    let mut levels = vec![0; net.len()];
    for at in 0..net.len() {
        let operands = net.operands(NodeId(at as u32)).iter();
        levels[at] = operands.map(|s| levels[s.node().0 as usize] + 1).max().unwrap_or(0);
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_program::random_program;
    use crate::{CompileOptions, compile};
    use game::{Rng, Seed};

    /// A trial with random counts.
    fn random_trial(numbers: &Numbers, rng: &mut Rng) -> Trial {
        let mut counts = || (0..numbers.n_nodes).map(|_| rng.below(50) as u32).collect();
        Trial::counted(counts(), counts(), 50)
    }

    /// The new numbers are an order in which operands come first, and the trial moves with them.
    fn assert_sound(net: &Network, old: &Numbers, trial: &Trial, new: &Numbers, moved: &Trial) {
        assert_eq!(
            (old.ends, old.fluents, old.n_nodes),
            (new.ends, new.fluents, new.n_nodes)
        );
        for at in 0..net.len() {
            let id = NodeId(at as u32);
            let (Some(from), Some(to)) = (old.of(net, id), new.of(net, id)) else {
                assert_eq!(old.of(net, id), new.of(net, id));
                continue;
            };
            assert_eq!(
                (trial.changes[from], trial.held[from]),
                (moved.changes[to], moved.held[to])
            );
            if net.node(id) == Node::And {
                let gates = net.operands(id).iter().filter(|s| net.node(s.node()) == Node::And);
                assert!(gates.filter_map(|s| new.of(net, s.node())).all(|operand| operand < to));
            }
        }
        let mut taken: Vec<u32> = new.gates().map(|(_, number)| number).collect();
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken.len(), old.gates().count());
    }

    #[test]
    fn busy_gates_move_within_their_level() {
        let mut n_moved = 0;
        for case in 0..200 {
            let mut rng = Seed(9).nth(case).rng();
            let game = compile(&random_program(&mut rng), &CompileOptions::default());
            let net = game.flat_network();
            let old = Numbers::new(net);
            let trial = random_trial(&old, &mut rng);
            let (new, moved) = Numbers::by_heat(net, &trial);
            assert_sound(net, &old, &trial, &new, &moved);
            n_moved += old.gates().zip(new.gates()).filter(|(a, b)| a != b).count();
        }
        assert!(n_moved > 100, "{n_moved}");
    }

    /// Three gates of one level; the one that changes most comes first, then the one that is updated most.
    #[test]
    fn the_busiest_gate_comes_first() {
        let mut net = Network::new(9, &[1]);
        net.keep_shape();
        let gates: Vec<Signal> = (0..3)
            .map(|at| {
                let operands: Vec<Signal> = (0..3).map(|f| net.fluent(at * 3 + f)).collect();
                net.and(operands)
            })
            .collect();
        net.outputs.legal = vec![vec![Signal::FALSE]];
        net.outputs.next = gates.iter().copied().chain([Signal::FALSE; 6]).collect();
        let old = Numbers::new(&net);
        let mut changes = vec![0; old.n_nodes];
        let number = |numbers: &Numbers, at: usize| numbers.of(&net, gates[at].node()).expect("a gate");
        changes[number(&old, 2)] = 40;
        changes[old.fluents + 4] = 60;
        let (new, _) = Numbers::by_heat(&net, &Trial::counted(changes.clone(), changes, 100));
        let mut order = [0, 1, 2];
        order.sort_by_key(|&at| number(&new, at));
        assert_eq!(order, [2, 1, 0]);
    }
}
