//! Evaluating gates in order, each once: for goals, and for games with positive cycles.

use crate::network::{Network, Node, NodeId, Signal};
use crate::passes::needed;

/// Gates of some outputs in dependency order, cycles included.
#[derive(Debug, Default)]
pub(super) struct Plain {
    gates: Vec<NodeId>,
    /// Per component: its atoms.
    components: Vec<Vec<usize>>,
}

impl Plain {
    /// Prepares the evaluation of these signals.
    pub fn new(net: &Network, roots: &[Signal]) -> Plain {
        let mut roots = roots.to_vec();
        let mut components: Vec<Vec<usize>> = Vec::new();
        let mut wanted = needed(net, &roots);
        // A cycle atom needs the definitions of its whole component.
        loop {
            let open = net.cycles().iter().find(|c| {
                wanted[c.node.0 as usize] && !components.iter().any(|m| net.cycles()[m[0]].component == c.component)
            });
            let Some(component) = open.map(|c| c.component) else {
                break;
            };
            let mates: Vec<usize> = (0..net.cycles().len())
                .filter(|&at| net.cycles()[at].component == component)
                .collect();
            roots.extend(mates.iter().map(|&at| net.cycles()[at].definition));
            components.push(mates);
            wanted = needed(net, &roots);
        }
        components.sort_by_key(|m| net.cycles()[m[0]].component);
        let is_gate = |at: &usize| wanted[*at] && net.node(NodeId(*at as u32)) == Node::And;
        Plain {
            gates: (0..net.len()).filter(is_gate).map(|at| NodeId(at as u32)).collect(),
            components,
        }
    }

    /// Evaluates; leaves but cycle atoms have their values already.
    pub fn run(&self, net: &Network, values: &mut [u8]) {
        for component in &self.components {
            component
                .iter()
                .for_each(|&at| values[net.cycles()[at].node.0 as usize] = 0);
        }
        self.pass(net, values);
        // Lower components first: an atom that still waits for a lower one must not be taken as settled.
        for component in &self.components {
            component
                .iter()
                .for_each(|&at| values[net.cycles()[at].node.0 as usize] = 0);
            self.pass(net, values);
            for _ in 0..component.len() {
                let mut changed = false;
                for &at in component {
                    let cycle = net.cycles()[at];
                    let new = u8::from(read(values, cycle.definition));
                    changed |= std::mem::replace(&mut values[cycle.node.0 as usize], new) != new;
                }
                if !changed {
                    break;
                }
                self.pass(net, values);
            }
        }
    }

    fn pass(&self, net: &Network, values: &mut [u8]) {
        for &gate in &self.gates {
            let all = net.operands(gate).iter().all(|&s| read(values, s));
            values[gate.0 as usize] = u8::from(all);
        }
    }
}

/// The value of a signal.
#[inline]
pub(super) fn read(values: &[u8], s: Signal) -> bool {
    (values[s.node().0 as usize] == 1) != s.is_complement()
}
