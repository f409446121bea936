//! Guards: literals that are left out of legal moves and terminal, and tested when those are read.

use crate::guard::best_guard;
use crate::network::{Network, Node, NodeId, Signal};
use crate::passes::{apply, needed};
use crate::tuning::Bounds;

/// A literal that many moves need, usually whose turn it is. It is left out of the gates of these moves, which would
/// otherwise all change with every turn, and tested when legal moves are read.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    /// The fluent, and the value it must have.
    pub fluent: u32,
    pub value: bool,
    /// The moves that need it.
    pub moves: Vec<usize>,
}

impl Guard {
    /// Whether the literal holds in a state.
    #[inline(always)]
    pub fn is_open(&self, state: &[u64]) -> bool {
        (state[self.fluent as usize / 64] >> (self.fluent % 64) & 1 == 1) == self.value
    }
}

/// The guards of one role. A move has at most one guard.
#[derive(Clone, Debug)]
pub(super) struct RoleGuards {
    pub guards: Vec<Guard>,
    /// Packed moves without a closed guard, indexed by the set of open guards.
    visible: Vec<Vec<u64>>,
}

impl RoleGuards {
    fn new(guards: Vec<Guard>, n_moves: usize) -> RoleGuards {
        let visible = (0..1_usize << guards.len())
            .map(|open| {
                let mut words = vec![u64::MAX; n_moves.div_ceil(64)];
                let closed = guards.iter().enumerate().filter(|(at, _)| open >> at & 1 == 0);
                for &m in closed.flat_map(|(_, guard)| &guard.moves) {
                    words[m / 64] &= !(1 << (m % 64));
                }
                words
            })
            .collect();
        RoleGuards { guards, visible }
    }

    /// Packed moves without a guard that is closed in this state.
    #[inline(always)]
    pub fn visible(&self, state: &[u64]) -> &[u64] {
        let open = |(at, guard): (usize, &Guard)| usize::from(guard.is_open(state)) << at;
        &self.visible[self.guards.iter().enumerate().map(open).sum::<usize>()]
    }
}

/// The guards that were taken out of a network.
#[derive(Clone, Debug)]
pub(super) struct Guards {
    pub roles: Vec<RoleGuards>,
    /// Fluents whose values select the signal of terminal: see [`Guards::case`].
    pub ends: Vec<u32>,
}

impl Guards {
    /// Takes guards out of a network. One more row of legal moves then tells whether a state is terminal, with one
    /// signal for each combination of the guards' values.
    pub fn split(net: &mut Network, bounds: &Bounds) -> Guards {
        let roles: Vec<RoleGuards> = (0..net.outputs.legal.len())
            .take_while(|_| !bounds.is_stopped())
            .map(|role| RoleGuards::new(split_legal(net, role, bounds), net.outputs.legal[role].len()))
            .collect();
        let ends = split_terminal(net, &roles, bounds);
        Guards { roles, ends }
    }

    /// The signal of the last row that says whether this state is terminal.
    #[inline(always)]
    pub fn case(&self, state: &[u64]) -> usize {
        let holds = |f: u32| (state[f as usize / 64] >> (f % 64) & 1) as usize;
        self.ends.iter().rev().fold(0, |case, &f| case * 2 + holds(f))
    }

    /// Moves by role and guard, and the moves of each role without a guard.
    pub fn moves(&self, legal: &[Vec<Signal>]) -> Vec<(usize, Option<Guard>, Vec<usize>)> {
        let mut groups = Vec::new();
        for (role, of_role) in self.roles.iter().enumerate() {
            let mut free = vec![true; legal[role].len()];
            for guard in &of_role.guards {
                guard.moves.iter().for_each(|&m| free[m] = false);
                groups.push((role, Some(guard.clone()), guard.moves.clone()));
            }
            groups.push((role, None, (0..free.len()).filter(|&m| free[m]).collect()));
        }
        groups
    }

    /// Whether a guard is known to be open in a case.
    pub fn is_open_in(&self, guard: &Guard, case: usize) -> bool {
        let at = self.ends.iter().position(|&f| f == guard.fluent);
        at.is_some_and(|at| (case >> at & 1 == 1) == guard.value)
    }
}

/// Finds a role's guards, and takes them out of the legal moves that need them.
fn split_legal(net: &mut Network, role: usize, bounds: &Bounds) -> Vec<Guard> {
    let tuning = bounds.tuning;
    let mut guards = Vec::new();
    let mut left: Vec<usize> = (0..net.outputs.legal[role].len()).collect();
    while guards.len() < tuning.most_guards && left.len() >= tuning.fewest_guarded {
        let row: Vec<Signal> = left.iter().map(|&m| net.outputs.legal[role][m]).collect();
        let Some((literal, members)) = best_guard(net, &row, bounds).filter(|(_, m)| m.len() >= tuning.fewest_guarded)
        else {
            break;
        };
        let Node::Fluent(fluent) = net.node(literal.node()) else {
            break;
        };
        let image = assume(net, &row, &[literal], bounds);
        let moves: Vec<usize> = members.iter().map(|&at| left[at]).collect();
        for (&m, &at) in moves.iter().zip(&members) {
            net.outputs.legal[role][m] = apply(&image, row[at]);
        }
        left.retain(|m| moves.binary_search(m).is_err());
        guards.push(Guard {
            fluent,
            value: !literal.is_complement(),
            moves,
        });
    }
    guards
}

/// Splits terminal by the values of guards, and adds the cases as the last row of legal moves. Returns the fluents that
/// select the case. Many games end when the role in turn has no legal move. Then terminal depends on all moves of all
/// roles, and without the split every turn would change all of them.
fn split_terminal(net: &mut Network, roles: &[RoleGuards], bounds: &Bounds) -> Vec<u32> {
    let terminal = net.outputs.terminal;
    let cone = needed(net, &[terminal]);
    let guards = roles.iter().flat_map(|role| &role.guards);
    let mut ends: Vec<u32> = guards.map(|guard| guard.fluent).collect();
    ends.sort_unstable();
    ends.dedup();
    ends.retain(|&f| cone[net.fluent(f as usize).node().0 as usize]);
    // One word has a bit for each case.
    ends.truncate(bounds.tuning.most_ends.min(6));
    let cases: Vec<Signal> = (0..1 << ends.len())
        .map(|case: usize| {
            let literal = |(at, &f): (usize, &u32)| Signal::new(net.fluent(f as usize).node(), case >> at & 1 == 0);
            let literals: Vec<Signal> = ends.iter().enumerate().map(literal).collect();
            let image = assume(net, &[terminal], &literals, bounds);
            apply(&image, terminal)
        })
        .collect();
    net.outputs.terminal = Signal::FALSE;
    net.outputs.legal.push(cases);
    ends
}

/// The nodes of a cone, rebuilt under the assumption that the literals hold and the fluents that they exclude do not.
fn assume(net: &mut Network, row: &[Signal], literals: &[Signal], bounds: &Bounds) -> Vec<Signal> {
    let cone = needed(net, row);
    let mut image: Vec<Signal> = (0..net.len()).map(|at| Signal::new(NodeId(at as u32), false)).collect();
    for literal in literals.iter().filter(|s| !s.is_complement()) {
        let families = net.choices().iter().filter(|c| c.values.contains(&literal.node()));
        for other in families.flat_map(|choice| &choice.values) {
            image[other.0 as usize] = Signal::FALSE;
        }
    }
    for literal in literals {
        image[literal.node().0 as usize] = if literal.is_complement() {
            Signal::FALSE
        } else {
            Signal::TRUE
        };
    }
    for (round, at) in (0..image.len()).filter(|&at| cone[at]).enumerate() {
        if bounds.is_stopped_at(round) {
            break;
        }
        let id = NodeId(at as u32);
        if net.node(id) == Node::And {
            let operands: Vec<Signal> = net.operands(id).iter().map(|&s| apply(&image, s)).collect();
            image[at] = net.and(operands);
        }
    }
    image
}
