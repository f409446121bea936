//! Heads: fluents that moves need, such as the piece that would move.
//!
//! A board has many moves and few pieces. Moves that need a piece on its square are not kept up to date. They are
//! computed when a state is entered, piece by piece, for the pieces that exist and the role in turn. A move with
//! several heads is legal if one of its heads makes it legal: each head has its own part of such a move, computed as if
//! the other heads did not hold.

use super::guards::{Guard, Guards};
use crate::network::{Network, Node, NodeId, Signal};
use crate::passes::needed;
use crate::tuning::Bounds;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Moves with heads, behind one guard of a role or behind none.
#[derive(Debug)]
pub(super) struct HeadGroup {
    pub role: usize,
    pub guard: Option<Guard>,
    pub heads: Vec<Head>,
}

/// A fluent and the moves that need it.
#[derive(Debug)]
pub(super) struct Head {
    pub fluent: u32,
    /// Moves, and their conditions if this fluent holds.
    pub moves: Vec<(usize, Signal)>,
}

/// Moves with heads that were taken out of a network.
#[derive(Debug)]
pub(super) struct HeadPlan {
    pub groups: Vec<HeadGroup>,
    /// Per case of the end of the game (see [`Guards::case`]): roles and moves, none of which may be legal in that
    /// case.
    pub none_of: Vec<Vec<(usize, usize)>>,
}

/// Takes legal moves with heads out of a network whose guards have been split off; they are false in the rest. `likely`
/// is the frequency of each fluent. `None` if there are no such moves or the work was stopped.
pub(super) fn take_heads(net: &mut Network, guards: &Guards, likely: &[f32], bounds: &Bounds) -> Option<HeadPlan> {
    let mut groups: Vec<HeadGroup> = Vec::new();
    let mut headed: FxHashMap<Signal, Vec<(usize, usize)>> = FxHashMap::default();
    for (role, guard, moves) in guards.moves(&net.outputs.legal) {
        bounds.go_on()?;
        let moves: Vec<(usize, Signal)> = moves.into_iter().map(|m| (m, net.outputs.legal[role][m])).collect();
        let roots: Vec<Signal> = moves.iter().map(|&(_, s)| s).collect();
        let finder = HeadFinder::new(net, &roots, likely, bounds.tuning.most_heads);
        let is_headed = |s: Signal| finder.heads(s).is_some_and(|heads| !heads.is_empty());
        let moves: Vec<(usize, Signal)> = moves.into_iter().filter(|&(_, s)| is_headed(s)).collect();
        if moves.len() < bounds.tuning.fewest_headed {
            continue;
        }
        for &(m, s) in &moves {
            headed.entry(s).or_default().push((groups.len(), m));
        }
        let heads = finder.split(net, &moves, bounds);
        groups.push(HeadGroup { role, guard, heads });
    }
    if headed.is_empty() {
        return None;
    }
    let none_of = (0..1 << guards.ends.len())
        .map(|case| {
            let is_open = |&&(group, _): &&(usize, usize)| {
                let guard = groups[group].guard.as_ref();
                guard.is_none_or(|guard| guards.is_open_in(guard, case))
            };
            let place = |s: Signal| {
                let (group, m) = headed.get(&s)?.iter().find(is_open)?;
                Some((groups[*group].role, *m))
            };
            take_none_of(net, case, place)
        })
        .collect();
    for (group, m) in headed.into_values().flatten() {
        net.outputs.legal[groups[group].role][m] = Signal::FALSE;
    }
    Some(HeadPlan { groups, none_of })
}

/// Takes moves with heads that must not be legal out of a case of the end, if that case is a conjunction.
fn take_none_of(
    net: &mut Network,
    case: usize,
    place: impl Fn(Signal) -> Option<(usize, usize)>,
) -> Vec<(usize, usize)> {
    let row = net.outputs.legal.len() - 1;
    let root = net.outputs.legal[row][case];
    let is_gate = |s: Signal| !s.is_complement() && net.node(s.node()) == Node::And;
    if !is_gate(root) {
        return place(!root).map_or_else(Vec::new, |found| {
            net.outputs.legal[row][case] = Signal::TRUE;
            vec![found]
        });
    }
    // Conjunctions that contain such a move at any depth.
    let cone = needed(net, &[root]);
    let mut has_move = vec![false; net.len()];
    for at in (0..net.len()).filter(|&at| cone[at]) {
        let operands = net.operands(NodeId(at as u32)).iter();
        has_move[at] = operands
            .copied()
            .any(|s| place(!s).is_some() || is_gate(s) && has_move[s.node().0 as usize]);
    }
    let (mut found, mut rest) = (Vec::new(), Vec::new());
    let mut work = vec![root];
    let mut seen = FxHashSet::default();
    while let Some(s) = work.pop() {
        if !seen.insert(s) {
            continue;
        }
        match place(!s) {
            Some(place) => found.push(place),
            None if is_gate(s) && has_move[s.node().0 as usize] => work.extend(net.operands(s.node())),
            None => rest.push(s),
        }
    }
    if !found.is_empty() {
        rest.sort_unstable();
        net.outputs.legal[row][case] = net.and(rest);
        found.sort_unstable();
    }
    found
}

/// The heads of the signals in a cone.
struct HeadFinder {
    most_heads: usize,
    /// Heads of nodes and of complements of nodes.
    heads: FxHashMap<Signal, Rc<[u32]>>,
    /// The operand whose heads are the heads of a gate.
    chosen: FxHashMap<NodeId, Signal>,
}

impl HeadFinder {
    fn new(net: &Network, roots: &[Signal], likely: &[f32], most_heads: usize) -> HeadFinder {
        let cone = needed(net, roots);
        let mut finder = HeadFinder {
            most_heads,
            heads: FxHashMap::default(),
            chosen: FxHashMap::default(),
        };
        finder.heads.insert(Signal::FALSE, Rc::from([]));
        for at in (0..net.len()).filter(|&at| cone[at]) {
            let id = NodeId(at as u32);
            match net.node(id) {
                Node::Fluent(f) => {
                    finder.heads.insert(Signal::new(id, false), Rc::from([f]));
                }
                Node::And => finder.add_gate(net, id, likely),
                _ => {}
            }
        }
        finder
    }

    fn heads(&self, signal: Signal) -> Option<&Rc<[u32]>> {
        self.heads.get(&signal)
    }

    fn add_gate(&mut self, net: &Network, gate: NodeId, likely: &[f32]) {
        let weight = |heads: &Rc<[u32]>| heads.iter().map(|&f| likely[f as usize]).sum::<f32>();
        let with_heads = net.operands(gate).iter().filter_map(|&s| Some((s, self.heads(s)?)));
        let best = with_heads.min_by(|(_, a), (_, b)| weight(a).total_cmp(&weight(b)));
        if let Some((s, heads)) = best {
            let heads = heads.clone();
            self.heads.insert(Signal::new(gate, false), heads);
            self.chosen.insert(gate, s);
        }
        let mut all: Vec<u32> = Vec::new();
        for &s in net.operands(gate) {
            match self.heads(!s) {
                Some(heads) if all.len() + heads.len() <= 4 * self.most_heads => all.extend(&heads[..]),
                _ => return,
            }
        }
        all.sort_unstable();
        all.dedup();
        if all.len() <= self.most_heads {
            self.heads.insert(Signal::new(gate, true), Rc::from(all));
        }
    }

    /// The part of each head in these moves.
    fn split(&self, net: &mut Network, moves: &[(usize, Signal)], bounds: &Bounds) -> Vec<Head> {
        let mut of_head: FxHashMap<u32, Vec<(usize, Signal)>> = FxHashMap::default();
        for &(m, s) in moves {
            for &f in self.heads(s).into_iter().flat_map(|heads| heads.iter()) {
                of_head.entry(f).or_default().push((m, s));
            }
        }
        let mut heads: Vec<(u32, Vec<(usize, Signal)>)> = of_head.into_iter().collect();
        heads.sort_unstable_by_key(|&(f, _)| f);
        let heads = heads.into_iter().take_while(|_| !bounds.is_stopped());
        let split = heads.map(|(fluent, moves)| {
            let parts = self.parts(net, fluent, &moves);
            let moves = moves.into_iter().map(|(m, s)| (m, parts[&s])).collect();
            Head { fluent, moves }
        });
        split.collect()
    }

    /// These signals under the assumption that one head holds and no other.
    fn parts(&self, net: &mut Network, head: u32, moves: &[(usize, Signal)]) -> FxHashMap<Signal, Signal> {
        let has_head = |s: &Signal| self.heads(*s).is_some_and(|heads| heads.binary_search(&head).is_ok());
        let through = |net: &Network, s: Signal| -> Vec<Signal> {
            match (net.node(s.node()), s.is_complement()) {
                (Node::And, false) => vec![self.chosen[&s.node()]],
                (Node::And, true) => net.operands(s.node()).iter().map(|&s| !s).filter(has_head).collect(),
                _ => Vec::new(),
            }
        };
        let mut work: Vec<Signal> = moves.iter().map(|&(_, s)| s).collect();
        let mut seen = FxHashSet::default();
        while let Some(s) = work.pop() {
            if seen.insert(s) {
                work.extend(through(net, s));
            }
        }
        let mut order: Vec<Signal> = seen.into_iter().collect();
        order.sort_unstable_by_key(|s| s.node());
        let mut parts: FxHashMap<Signal, Signal> = FxHashMap::default();
        for s in order {
            let below = through(net, s);
            let part = match (net.node(s.node()), s.is_complement()) {
                (Node::And, false) => {
                    let part = |o: Signal| if o == below[0] { parts[&o] } else { o };
                    let operands: Vec<Signal> = net.operands(s.node()).iter().map(|&o| part(o)).collect();
                    net.and(operands)
                }
                (Node::And, true) => net.or(below.iter().map(|o| parts[o]).collect::<Vec<_>>()),
                _ => Signal::TRUE,
            };
            parts.insert(s, part);
        }
        parts
    }
}
