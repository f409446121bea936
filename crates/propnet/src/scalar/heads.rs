//! Heads: fluents without which moves are not legal, such as the piece that would move.
//!
//! A board has many moves and few pieces. Moves that need a piece to be where it is are not kept up to date: they are computed
//! when a state is entered, piece by piece, for the pieces that there are and the role whose turn it is. A move that may come
//! from several heads is legal if one of them makes it so: each head has its part of such a move, as if the others did not hold.

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
    /// Moves, and what they need if this fluent holds.
    pub moves: Vec<(usize, Signal)>,
}

/// What is taken out of a network.
#[derive(Debug)]
pub(super) struct HeadPlan {
    pub groups: Vec<HeadGroup>,
    /// Per case of the end of the game (see [`Guards::case`]): roles and moves, none of which may be legal then.
    pub none_of: Vec<Vec<(usize, usize)>>,
}

/// Takes legal moves with heads out of a network whose guards have been split off; they are false in what is left. `likely` says
/// how often each fluent holds. `None` if there are none.
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

/// If a case of the end is a conjunction in which moves with heads must not be legal, takes those out of it.
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
    // Conjunctions with such a move in them, however deep.
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
    /// Per node: heads of it and of its complement.
    heads: FxHashMap<Signal, Rc<[u32]>>,
    /// The operand by whose heads a gate is told apart.
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

    /// What each head contributes to these moves.
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

    /// What these signals are when a head holds and no other head counts.
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
