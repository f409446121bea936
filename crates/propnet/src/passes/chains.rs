//! Merges chains of gates: an AND that only one other AND reads becomes part of it.
//!
//! Wider gates give the extraction of common pairs more possibilities, and cost nothing themselves.

use super::{apply, needed, readers};
use crate::network::{Network, Node, NodeId, Signal};
use crate::tuning::Bounds;

/// The same network with every AND that is read once merged into the AND that reads it; `None` if the work was stopped.
pub(crate) fn merge_chains(net: &Network, bounds: &Bounds) -> Option<Network> {
    let readers = readers(net);
    let needed = needed(net, &net.roots());
    let mut new = net.same_leaves();
    new.keep_shape();
    let mut image = vec![Signal::FALSE; net.len()];
    for at in 1..net.len() {
        if bounds.is_stopped_at(at) {
            return None;
        }
        let id = NodeId(at as u32);
        if net.node(id) != Node::And {
            image[at] = Signal::new(new.leaf_like(net, id), false);
        } else if needed[at] {
            let mut operands: Vec<Signal> = Vec::new();
            for &s in net.operands(id) {
                let inner = apply(&image, s);
                let single = readers[s.node().0 as usize] == 1 && !s.is_complement();
                if single && !inner.is_complement() && new.node(inner.node()) == Node::And {
                    operands.extend_from_slice(new.operands(inner.node()));
                } else {
                    operands.push(inner);
                }
            }
            image[at] = new.and(operands);
        }
    }
    new.outputs = net.outputs.map(|s| apply(&image, s));
    for (at, cycle) in net.cycles().iter().enumerate() {
        new.define_cycle(at, apply(&image, cycle.definition));
    }
    Some(new)
}
