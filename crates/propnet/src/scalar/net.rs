//! What the scalar engine keeps up to date, prepared once per game.
//!
//! Everything that depends on the state alone is kept up to date as the state changes: legal moves, terminal, every
//! state-only gate that transitions read, and the *base* of each next bit: its value if nobody moved. A joint move
//! then needs a patch only: the next bits that read one of its move bits; see `patch`.

use super::compiled::ByteNet;
use crate::network::{Network, Node, NodeId, Signal};
use crate::passes::{apply, needed};

/// A word that says which node to look at, and whether to complement it.
pub(super) type Ref = u32;

/// Gates in flat arrays, each with the nodes that read it.
#[derive(Debug, Default)]
pub(super) struct ScalarNet {
    pub n_nodes: usize,
    /// Readers of each node: `gate << 1 | complement`, or an output at `OUTPUT` and above.
    pub reader_starts: Vec<u32>,
    pub readers: Vec<u32>,
    /// Per node, in dependency order: 0 for leaves.
    pub level: Vec<u16>,
    pub n_levels: usize,
    /// Operands that are false when every node is false, per gate.
    pub missing_at_zero: Vec<u16>,
    /// Output bits that are true when every node is false, packed.
    pub outputs_at_zero: Vec<u64>,
    /// The node of each fluent.
    pub fluents: Vec<u32>,
    /// Where each role's legal moves start among the output words, and how many words they take.
    pub legal_words: Vec<(usize, usize)>,
    /// Where the base of the next state starts among the output words.
    pub next_word: usize,
    /// The word of terminal.
    pub terminal_word: usize,
    /// Per node of the game's network: its image here, if it is kept up to date.
    pub image: Vec<Option<Ref>>,
    /// Per role and move: the next bits that read this move.
    pub affected: Vec<Vec<Vec<u32>>>,
    /// Machine code for all of this, if that is the way to go.
    pub compiled: Option<ByteNet>,
}

/// Readers from here on are output bits.
pub(super) const OUTPUT: u32 = 1 << 31;

impl ScalarNet {
    /// Prepares an acyclic network, for machine code if asked for and possible.
    pub fn new(net: &Network, compiled: bool) -> ScalarNet {
        let state_only = state_only(net);
        let (state_net, image) = state_network(net, &state_only);
        let mut flat = flatten(&state_net, net, &image);
        flat.affected = affected(net);
        if compiled && let Some((code, image)) = ByteNet::new(&state_net, &image) {
            flat.n_nodes = code.frame_len();
            flat.image = image;
            flat.compiled = Some(code);
        }
        flat
    }
}

/// Whether each node depends on the state alone.
fn state_only(net: &Network) -> Vec<bool> {
    let mut only = vec![true; net.len()];
    for at in 0..net.len() {
        let id = NodeId(at as u32);
        only[at] = match net.node(id) {
            Node::Does { .. } => false,
            _ => net.operands(id).iter().all(|s| only[s.node().0 as usize]),
        };
    }
    only
}

/// The state-only part of the network with the bases of next in place of next; and the image of every node in it
/// that depends on the state alone.
fn state_network(net: &Network, state_only: &[bool]) -> (Network, Vec<Option<Signal>>) {
    let out = &net.outputs;
    let mut roots: Vec<Signal> = out.next.clone();
    roots.extend(out.legal.iter().flatten());
    roots.push(out.terminal);
    let wanted = needed(net, &roots);
    let mut new = net.same_leaves();
    new.keep_shape();
    let mut image = vec![Signal::FALSE; net.len()];
    for at in 1..net.len() {
        let id = NodeId(at as u32);
        image[at] = match net.node(id) {
            // Nobody moves.
            Node::Does { .. } => Signal::FALSE,
            Node::And if wanted[at] => {
                let operands: Vec<Signal> = net.operands(id).iter().map(|&s| apply(&image, s)).collect();
                new.and(operands)
            }
            Node::And => continue,
            _ => Signal::new(new.leaf_like(net, id), false),
        };
    }
    new.outputs.next = out.next.iter().map(|&s| apply(&image, s)).collect();
    new.outputs.legal =
        out.legal.iter().map(|row| row.iter().map(|&s| apply(&image, s)).collect()).collect();
    new.outputs.terminal = apply(&image, out.terminal);
    // State-only gates that transitions read are kept as well, unless a patch computes them in no time.
    let work = tree_ops(&new);
    for at in (0..net.len()).filter(|&at| wanted[at] && !state_only[at]) {
        for s in net.operands(NodeId(at as u32)).iter().filter(|s| state_only[s.node().0 as usize]) {
            let s = image[s.node().0 as usize];
            if work[s.node().0 as usize] > PATCH_OPS {
                new.outputs.sees.push(vec![s]);
            }
        }
    }
    let here = |at: usize| {
        let is_gate = net.node(NodeId(at as u32)) == Node::And;
        (state_only[at] && (wanted[at] || !is_gate)).then_some(image[at])
    };
    let image = (0..net.len()).map(here).collect();
    (new, image)
}

/// Gates that take fewer operations than this are computed by each patch that reads them.
const PATCH_OPS: u32 = 6;

/// Operations that each node takes when it is computed alone.
fn tree_ops(net: &Network) -> Vec<u32> {
    let mut ops = vec![0_u32; net.len()];
    for at in 0..net.len() {
        let operands = net.operands(NodeId(at as u32));
        let below: u32 = operands.iter().map(|s| ops[s.node().0 as usize]).fold(0, u32::saturating_add);
        ops[at] = below.saturating_add(operands.len().saturating_sub(1) as u32);
    }
    ops
}

fn flatten(state_net: &Network, net: &Network, image: &[Option<Signal>]) -> ScalarNet {
    let keep = needed(state_net, &state_net.outputs.all());
    let mut flat = ScalarNet { n_nodes: state_net.len(), ..ScalarNet::default() };
    let mut readers: Vec<Vec<u32>> = vec![Vec::new(); state_net.len()];
    flat.level = vec![0; state_net.len()];
    flat.missing_at_zero = vec![0; state_net.len()];
    for at in (0..state_net.len()).filter(|&at| keep[at]) {
        let operands = state_net.operands(NodeId(at as u32));
        for s in operands {
            readers[s.node().0 as usize].push((at as u32) << 1 | u32::from(s.is_complement()));
        }
        let below = operands.iter().map(|s| flat.level[s.node().0 as usize] + 1).max();
        flat.level[at] = below.unwrap_or(0);
        // Nodes start as false, so a plain operand is missing and a complemented one is not.
        flat.missing_at_zero[at] = operands.iter().filter(|s| !s.is_complement()).count() as u16;
    }
    flat.n_levels = flat.level.iter().map(|&l| usize::from(l) + 1).max().unwrap_or(1);
    let mut words = Words { flat: &mut flat, readers: &mut readers };
    for row in &state_net.outputs.legal {
        let place = words.place(row);
        words.flat.legal_words.push(place);
    }
    words.flat.next_word = words.place(&state_net.outputs.next).0;
    words.flat.terminal_word = words.place(&[state_net.outputs.terminal]).0;
    flat.reader_starts.push(0);
    for row in readers {
        flat.readers.extend(row);
        flat.reader_starts.push(flat.readers.len() as u32);
    }
    flat.fluents = (0..net.n_fluents()).map(|f| state_net.fluent(f).node().0).collect();
    let is_kept = |s: &Signal| keep[s.node().0 as usize] || state_net.node(s.node()) != Node::And;
    flat.image = image.iter().map(|s| s.filter(is_kept).map(reference)).collect();
    flat
}

/// A signal as a word.
pub(super) fn reference(s: Signal) -> Ref {
    s.node().0 << 1 | u32::from(s.is_complement())
}

struct Words<'a> {
    flat: &'a mut ScalarNet,
    readers: &'a mut Vec<Vec<u32>>,
}

impl Words<'_> {
    /// Gives a row of outputs its words: the first, and how many.
    fn place(&mut self, row: &[Signal]) -> (usize, usize) {
        let first = self.flat.outputs_at_zero.len();
        let n = row.len().div_ceil(64).max(1);
        self.flat.outputs_at_zero.resize(first + n, 0);
        for (at, s) in row.iter().enumerate() {
            let bit = first * 64 + at;
            if s.is_complement() {
                self.flat.outputs_at_zero[bit / 64] |= 1 << (bit % 64);
            }
            if !s.is_constant() {
                self.readers[s.node().0 as usize].push(OUTPUT | bit as u32);
            }
        }
        (first, n)
    }
}

/// Per role and move: the next bits whose gates read it.
fn affected(net: &Network) -> Vec<Vec<Vec<u32>>> {
    let wanted = needed(net, &net.outputs.next);
    let mut readers: Vec<Vec<u32>> = vec![Vec::new(); net.len()];
    for at in (0..net.len()).filter(|&at| wanted[at]) {
        for s in net.operands(NodeId(at as u32)) {
            readers[s.node().0 as usize].push(at as u32);
        }
    }
    let mut next_of: Vec<Vec<u32>> = vec![Vec::new(); net.len()];
    for (f, s) in net.outputs.next.iter().enumerate() {
        next_of[s.node().0 as usize].push(f as u32);
    }
    let mut mark = vec![u32::MAX; net.len()];
    let mut stamp = 0;
    let mut of_move = |start: NodeId| {
        stamp += 1;
        let mut found = Vec::new();
        let mut work = vec![start.0];
        while let Some(at) = work.pop() {
            if std::mem::replace(&mut mark[at as usize], stamp) != stamp {
                found.extend(&next_of[at as usize]);
                work.extend(&readers[at as usize]);
            }
        }
        found.sort_unstable();
        found
    };
    let rows = net.n_moves().into_iter().enumerate();
    rows.map(|(role, n)| (0..n).map(|mv| of_move(net.does(role, mv).node())).collect()).collect()
}
