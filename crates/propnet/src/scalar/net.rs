//! What the scalar engine keeps up to date, prepared once per game.
//!
//! Everything that depends on the state alone is kept up to date as the state changes: legal moves, terminal, every
//! state-only gate that transitions read, and the *base* of each next bit: its value if nobody moved. A joint move
//! then needs a patch only: the next bits that read one of its move bits; see `patch`.

use super::compiled::ByteNet;
use crate::guard::best_guard;
use crate::network::{Network, Node, NodeId, Signal};
use crate::passes::{apply, needed};

/// A word that says which node to look at, and whether to complement it.
pub(super) type Ref = u32;

/// Gates in flat arrays, each with the nodes that read it.
#[derive(Debug, Default)]
pub(super) struct ScalarNet {
    pub n_nodes: usize,
    /// Gates that read each node: `gate << 1 | complement`.
    pub reader_starts: Vec<u32>,
    pub readers: Vec<u32>,
    /// Output bits that are each node, or its complement.
    pub output_starts: Vec<u32>,
    pub outputs: Vec<u32>,
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
    /// Two-input operations of the machine code.
    pub ops: usize,
    /// Per role: a literal without which none of some moves is legal; see [`Guard`].
    pub guards: Vec<Option<Guard>>,
    /// The node of each move, if next bits are kept up to date with the moves and need no patch.
    pub does: Vec<Vec<u32>>,
    /// Machine code for all of this, if that is the way to go.
    pub compiled: Option<ByteNet>,
}

/// A literal that all of some moves need, usually whose turn it is. It is left out of their gates, which would all
/// change with every turn, and looked at when legal moves are read.
#[derive(Debug)]
pub(super) struct Guard {
    /// The fluent, and the value it must have.
    pub fluent: u32,
    pub value: bool,
    /// The moves that need it, packed.
    pub moves: Vec<u64>,
}

impl ScalarNet {
    /// Prepares an acyclic network for machine code, if that is possible and patches are small.
    pub fn compiled(net: &Network) -> Option<ScalarNet> {
        let affected = affected(net);
        if is_wide(&affected) {
            return None;
        }
        let state_only = state_only(net);
        let (state_net, image) = state_network(net, &state_only);
        let (code, image) = ByteNet::new(&state_net, &image)?;
        let mut flat = flatten(&state_net);
        flat.n_nodes = code.frame_len();
        flat.image = image;
        flat.affected = affected;
        flat.ops = code.ops;
        flat.guards = net.n_moves().iter().map(|_| None).collect();
        flat.compiled = Some(code);
        Some(flat)
    }

    /// Prepares an acyclic network for updating by difference, with or without guards taken out.
    pub fn incremental(net: &Network, guarded: bool) -> ScalarNet {
        let affected = affected(net);
        if is_wide(&affected) {
            return ScalarNet::with_moves(net, guarded);
        }
        let state_only = state_only(net);
        let (mut state_net, image) = state_network(net, &state_only);
        let guards = split_guards(&mut state_net, guarded);
        let mut flat = flatten(&state_net);
        let keep = needed(&state_net, &state_net.outputs.all());
        let is_kept = |s: &Signal| keep[s.node().0 as usize] || state_net.node(s.node()) != Node::And;
        flat.image = image.iter().map(|s| s.filter(is_kept).map(reference)).collect();
        flat.affected = affected;
        flat.guards = guards;
        flat
    }

    /// Next bits are kept up to date with the moves as well: for nets in which a move may change very many bits but
    /// in fact changes few.
    fn with_moves(net: &Network, guarded: bool) -> ScalarNet {
        let mut whole = net.clone();
        whole.keep_shape();
        whole.outputs.goals.clear();
        whole.outputs.sees.clear();
        let guards = split_guards(&mut whole, guarded);
        let mut flat = flatten(&whole);
        let node = |role: usize, n: usize| (0..n).map(|mv| net.does(role, mv).node().0).collect();
        flat.does = net
            .n_moves()
            .into_iter()
            .enumerate()
            .map(|(role, n)| node(role, n))
            .collect();
        flat.guards = guards;
        let keep = needed(&whole, &whole.outputs.all());
        let state_only = state_only(net);
        let image = |at: usize| {
            let kept = keep[at] || net.node(NodeId(at as u32)) != Node::And;
            (state_only[at] && kept).then_some((at as u32) << 1)
        };
        flat.image = (0..net.len()).map(image).collect();
        flat
    }
}

/// Moves that may change more next bits than this, on average, are not patched but walked through the network.
const MOST_AFFECTED: usize = 400;

fn is_wide(affected: &[Vec<Vec<u32>>]) -> bool {
    let n_moves: usize = affected.iter().map(Vec::len).sum();
    let n_affected: usize = affected.iter().flatten().map(Vec::len).sum();
    n_affected > MOST_AFFECTED * n_moves
}

/// A guard of fewer moves is not worth the trouble.
const FEWEST_GUARDED: usize = 12;

/// Finds a role's guard, and takes it out of the legal moves that need it.
fn split_guards(net: &mut Network, guarded: bool) -> Vec<Option<Guard>> {
    (0..net.outputs.legal.len())
        .map(|role| {
            if !guarded {
                return None;
            }
            let row = net.outputs.legal[role].clone();
            let (literal, members) = best_guard(net, &row).filter(|(_, m)| m.len() >= FEWEST_GUARDED)?;
            let image = assume(net, &row, literal);
            let mut moves = vec![0_u64; row.len().div_ceil(64)];
            for m in members {
                net.outputs.legal[role][m] = apply(&image, row[m]);
                moves[m / 64] |= 1 << (m % 64);
            }
            let Node::Fluent(fluent) = net.node(literal.node()) else {
                return None;
            };
            Some(Guard {
                fluent,
                value: !literal.is_complement(),
                moves,
            })
        })
        .collect()
}

/// The nodes of a cone, rebuilt as if the literal were true.
fn assume(net: &mut Network, row: &[Signal], literal: Signal) -> Vec<Signal> {
    let cone = needed(net, row);
    let mut image: Vec<Signal> = (0..net.len()).map(|at| Signal::new(NodeId(at as u32), false)).collect();
    image[literal.node().0 as usize] = if literal.is_complement() {
        Signal::FALSE
    } else {
        Signal::TRUE
    };
    for at in (0..image.len()).filter(|&at| cone[at]) {
        let id = NodeId(at as u32);
        if net.node(id) == Node::And {
            let operands: Vec<Signal> = net.operands(id).iter().map(|&s| apply(&image, s)).collect();
            image[at] = net.and(operands);
        }
    }
    image
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
    new.outputs.legal = out
        .legal
        .iter()
        .map(|row| row.iter().map(|&s| apply(&image, s)).collect())
        .collect();
    new.outputs.terminal = apply(&image, out.terminal);
    // State-only gates that transitions read are kept as well, unless a patch computes them in no time.
    let work = tree_ops(&new);
    for at in (0..net.len()).filter(|&at| wanted[at] && !state_only[at]) {
        for s in net
            .operands(NodeId(at as u32))
            .iter()
            .filter(|s| state_only[s.node().0 as usize])
        {
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
        let below: u32 = operands
            .iter()
            .map(|s| ops[s.node().0 as usize])
            .fold(0, u32::saturating_add);
        ops[at] = below.saturating_add(operands.len().saturating_sub(1) as u32);
    }
    ops
}

fn flatten(state_net: &Network) -> ScalarNet {
    let keep = needed(state_net, &state_net.outputs.all());
    let mut flat = ScalarNet {
        n_nodes: state_net.len(),
        ..ScalarNet::default()
    };
    let mut readers: Vec<Vec<u32>> = vec![Vec::new(); state_net.len()];
    let mut outputs: Vec<Vec<u32>> = vec![Vec::new(); state_net.len()];
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
    let mut words = Words {
        flat: &mut flat,
        outputs: &mut outputs,
    };
    for row in &state_net.outputs.legal {
        let place = words.place(row);
        words.flat.legal_words.push(place);
    }
    words.flat.next_word = words.place(&state_net.outputs.next).0;
    words.flat.terminal_word = words.place(&[state_net.outputs.terminal]).0;
    (flat.reader_starts, flat.readers) = pack_rows(readers);
    (flat.output_starts, flat.outputs) = pack_rows(outputs);
    flat.fluents = (0..state_net.n_fluents())
        .map(|f| state_net.fluent(f).node().0)
        .collect();
    flat
}

fn pack_rows(rows: Vec<Vec<u32>>) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0];
    let mut all = Vec::new();
    for row in rows {
        all.extend(row);
        starts.push(all.len() as u32);
    }
    (starts, all)
}

/// A signal as a word.
pub(super) fn reference(s: Signal) -> Ref {
    s.node().0 << 1 | u32::from(s.is_complement())
}

struct Words<'a> {
    flat: &'a mut ScalarNet,
    outputs: &'a mut Vec<Vec<u32>>,
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
                self.outputs[s.node().0 as usize].push(bit as u32);
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
    rows.map(|(role, n)| (0..n).map(|mv| of_move(net.does(role, mv).node())).collect())
        .collect()
}
