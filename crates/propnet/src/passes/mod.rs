//! Passes over networks, one file each. Every pass keeps the function of every output.

pub mod chains;
pub mod constants;
pub mod dead;
pub mod factor;
pub mod mutex;
pub mod pairs;
mod prove;

use crate::network::{Network, Node, NodeId, Signal};
use crate::tuning::Bounds;

/// Rebuilds the network from the leaves up with only the gates that the roots need. `leaf` may replace a leaf by
/// another signal of the new network. `None` if the work was stopped.
pub(crate) fn rebuild(
    net: &Network,
    fresh: Network,
    bounds: &Bounds,
    mut leaf: impl FnMut(&Network, NodeId) -> Option<Signal>,
) -> Option<Network> {
    let mut new = fresh;
    let needed = needed(net, &net.roots());
    let mut image: Vec<Signal> = vec![Signal::FALSE; net.len()];
    for at in 1..net.len() {
        if bounds.is_stopped_at(at) {
            return None;
        }
        let id = NodeId(at as u32);
        image[at] = match net.node(id) {
            Node::And if needed[at] => {
                let operands: Vec<Signal> = net.operands(id).iter().map(|&s| apply(&image, s)).collect();
                new.and(operands)
            }
            Node::And => continue,
            _ => leaf(&new, id).unwrap_or_else(|| Signal::new(new.leaf_like(net, id), false)),
        };
    }
    new.outputs = net.outputs.map(|s| apply(&image, s));
    for (at, cycle) in net.cycles().iter().enumerate() {
        new.define_cycle(at, apply(&image, cycle.definition));
    }
    Some(new)
}

/// The image of a signal under a map of nodes.
pub(crate) fn apply(image: &[Signal], signal: Signal) -> Signal {
    let plain = image[signal.node().0 as usize];
    if signal.is_complement() { !plain } else { plain }
}

/// Nodes that these roots need. Operands precede their gates, so one backward sweep is enough.
pub(crate) fn needed(net: &Network, roots: &[Signal]) -> Vec<bool> {
    let mut needed = vec![false; net.len()];
    roots.iter().for_each(|r| needed[r.node().0 as usize] = true);
    for at in (0..net.len()).rev() {
        if needed[at] {
            net.operands(NodeId(at as u32))
                .iter()
                .for_each(|s| needed[s.node().0 as usize] = true);
        }
    }
    needed
}

/// Number of readers of each node among needed gates and roots.
pub(crate) fn readers(net: &Network) -> Vec<u32> {
    let roots = net.roots();
    let needed = needed(net, &roots);
    let mut readers = vec![0; net.len()];
    roots.iter().for_each(|r| readers[r.node().0 as usize] += 1);
    for at in (0..net.len()).filter(|&at| needed[at]) {
        net.operands(NodeId(at as u32))
            .iter()
            .for_each(|s| readers[s.node().0 as usize] += 1);
    }
    readers
}

/// Number of needed gates.
pub fn count_gates(net: &Network) -> usize {
    let needed = needed(net, &net.roots());
    (0..net.len())
        .filter(|&at| needed[at] && net.node(NodeId(at as u32)) == Node::And)
        .count()
}

/// Number of two-input operations of the needed gates: the cost by which networks are compared.
pub fn count_ops(net: &Network) -> usize {
    count_ops_for(net, &net.roots())
}

/// Number of two-input operations that these roots need.
pub fn count_ops_for(net: &Network, roots: &[Signal]) -> usize {
    let needed = needed(net, roots);
    let ops = |at: usize| net.operands(NodeId(at as u32)).len().saturating_sub(1);
    (0..net.len()).filter(|&at| needed[at]).map(ops).sum()
}

#[cfg(test)]
pub(crate) mod testing {
    //! Random simulation of networks, to check that passes preserve the function.
    //!
    //! This evaluates gates, 64 assignments at a time. `ground::Direct` evaluates ground programs.

    use super::*;
    use game::Rng;

    /// Values of all outputs for the given leaves, 64 assignments at once, cycles included.
    pub fn simulate(net: &Network, state: &[u64], does: &[Vec<u64>]) -> Vec<u64> {
        let mut atoms = vec![0_u64; net.cycles().len()];
        let mut components: Vec<u32> = net.cycles().iter().map(|c| c.component).collect();
        components.sort_unstable();
        components.dedup();
        // In order: a component may read the complement of a lower one.
        for component in components {
            loop {
                let value = pass(net, state, does, &atoms);
                let before = atoms.clone();
                for (atom, cycle) in atoms.iter_mut().zip(net.cycles()) {
                    if cycle.component == component {
                        *atom = read(&value, cycle.definition);
                    }
                }
                if atoms == before {
                    break;
                }
            }
        }
        let value = pass(net, state, does, &atoms);
        net.outputs.all().iter().map(|&s| read(&value, s)).collect()
    }

    fn pass(net: &Network, state: &[u64], does: &[Vec<u64>], atoms: &[u64]) -> Vec<u64> {
        let mut value = vec![0_u64; net.len()];
        for at in 1..net.len() {
            let id = NodeId(at as u32);
            value[at] = match net.node(id) {
                Node::False => 0,
                Node::Fluent(f) => state[f as usize],
                Node::Does { role, mv } => does[role as usize][mv as usize],
                Node::Cycle(c) => atoms[c as usize],
                Node::And => net.operands(id).iter().fold(!0, |acc, &s| acc & read(&value, s)),
            };
        }
        value
    }

    fn read(value: &[u64], s: Signal) -> u64 {
        value[s.node().0 as usize] ^ if s.is_complement() { !0 } else { 0 }
    }

    /// Random leaves that respect one `does` per role and the given exclusive fluents.
    pub fn random_leaves(net: &Network, rng: &mut Rng) -> (Vec<u64>, Vec<Vec<u64>>) {
        let mut state: Vec<u64> = (0..net.n_fluents()).map(|_| rng.bits()).collect();
        let roles = net.n_moves().len();
        for choice in &net.choices()[roles..] {
            for lane in 0..64 {
                let pick = rng.below(choice.values.len() + usize::from(!choice.total));
                for (at, v) in choice.values.iter().enumerate() {
                    if let Node::Fluent(f) = net.node(*v) {
                        let bit = 1_u64 << lane;
                        state[f as usize] &= !bit;
                        state[f as usize] |= if at == pick { bit } else { 0 };
                    }
                }
            }
        }
        let mut does: Vec<Vec<u64>> = net.n_moves().iter().map(|&n| vec![0; n]).collect();
        for row in does.iter_mut().filter(|row| !row.is_empty()) {
            for lane in 0..64 {
                let mv = rng.below(row.len());
                row[mv] |= 1 << lane;
            }
        }
        (state, does)
    }

    /// Asserts that two networks compute the same outputs.
    pub fn assert_same(a: &Network, b: &Network, rng: &mut Rng) {
        for _ in 0..4 {
            let (state, does) = random_leaves(b, rng);
            assert_eq!(simulate(a, &state, &does), simulate(b, &state, &does));
        }
    }
}
