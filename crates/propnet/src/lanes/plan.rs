//! How the moves of a playout step are chosen: which columns share a choice circuit.
//!
//! The cost of a step is mostly the cost of choosing, which grows with the number of columns. Two proofs reduce the
//! number of columns:
//! - Roles that move in turn share one choice. A family of exclusive fluents says whose turn it is, and each role has
//!   only one move, its noop move, that it may make out of turn.
//! - Moves of which at most one is ever legal share one column: they need different values of one cell.

use super::choice::{choose, random_bits};
use crate::circuit::{Circuit, Wire};
use crate::guard::{falls_with, reads_by_legal};
use crate::lower::Lowering;
use crate::network::{Choice, Network, Node, Signal};
use crate::passes::mutex::Facts;
use crate::passes::needed;
use crate::store::{Reader, Writer};
use crate::tuning::Bounds;
use rustc_hash::FxHashMap;

/// One choice circuit per group.
#[derive(Clone, Debug, Default)]
pub struct ChoicePlan {
    /// The groups.
    pub groups: Vec<Group>,
}

/// Roles that share a choice, and the columns from which one is chosen.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Roles that move in turn; empty if the group is a single role.
    turns: Vec<Turn>,
    /// The moves of each column, as role and move; at most one of them is ever legal at a time.
    columns: Vec<Vec<(usize, usize)>>,
}

/// A role that makes its noop move unless it is its turn.
#[derive(Clone, Debug)]
struct Turn {
    role: usize,
    /// Fluents of one exclusive family that mean that it is this role's turn.
    when: Vec<Signal>,
    pass: usize,
    /// Whether the noop move may also be legal in turn, beside other moves.
    may_pass_in_turn: bool,
}

/// The chosen moves of a group.
pub struct Made {
    /// Role, move, and the lanes in which the move is made.
    pub moves: Vec<(usize, usize, Wire)>,
    /// Lanes in which every role of the group has a move.
    pub any: Wire,
}

impl ChoicePlan {
    /// Every role for itself, every move in its own column.
    pub fn separate(net: &Network) -> ChoicePlan {
        let groups = net.n_moves().into_iter().enumerate();
        let alone = |(role, n): (usize, usize)| Group {
            turns: Vec::new(),
            columns: (0..n).map(|mv| vec![(role, mv)]).collect(),
        };
        ChoicePlan {
            groups: groups.map(alone).collect(),
        }
    }

    /// Roles that move in turn together, exclusive moves in one column, as far as that is proven.
    pub(crate) fn merged(net: &Network, bounds: &Bounds) -> ChoicePlan {
        let turns = roles_in_turn(net, bounds);
        let mut groups = Vec::new();
        if turns.len() > 1 {
            let mut moves: Vec<(usize, usize)> = Vec::new();
            for turn in &turns {
                let out = |m: &usize| *m != turn.pass || turn.may_pass_in_turn;
                moves.extend((0..net.n_moves()[turn.role]).filter(out).map(|m| (turn.role, m)));
            }
            groups.push(Group {
                columns: share_columns(net, &moves, bounds),
                turns: turns.clone(),
            });
        }
        for (role, n) in net.n_moves().into_iter().enumerate() {
            if turns.len() < 2 || turns.iter().all(|t| t.role != role) {
                let moves: Vec<(usize, usize)> = (0..n).map(|m| (role, m)).collect();
                groups.push(Group {
                    columns: share_columns(net, &moves, bounds),
                    turns: Vec::new(),
                });
            }
        }
        ChoicePlan { groups }
    }

    /// Writes the plan.
    pub(crate) fn write(&self, out: &mut Writer) {
        out.list(&self.groups, |out, group| {
            out.list(&group.turns, |out, turn| {
                out.size(turn.role);
                out.list(&turn.when, |out, &s| out.signal(s));
                out.size(turn.pass);
                out.number(u32::from(turn.may_pass_in_turn));
            });
            out.list(&group.columns, |out, column| {
                out.list(column, |out, &(role, mv)| {
                    out.size(role);
                    out.size(mv);
                });
            });
        });
    }

    /// Reads a plan.
    pub(crate) fn read(from: &mut Reader) -> Option<ChoicePlan> {
        let turn = |from: &mut Reader| {
            Some(Turn {
                role: from.size()?,
                when: from.list(|from| from.signal(usize::MAX))?,
                pass: from.size()?,
                may_pass_in_turn: from.flag()?,
            })
        };
        let group = |from: &mut Reader| {
            Some(Group {
                turns: from.list(turn)?,
                columns: from.list(|from| from.list(|from| Some((from.size()?, from.size()?))))?,
            })
        };
        let groups = from.list(group)?;
        Some(ChoicePlan { groups })
    }

    /// Whether all roles, moves and nodes exist.
    pub(crate) fn is_sound(&self, n_moves: &[usize], n_nodes: usize) -> bool {
        let is_move = |role: usize, mv: usize| n_moves.get(role).is_some_and(|&n| mv < n);
        self.groups.iter().all(|group| {
            let turns = &group.turns;
            turns.iter().all(|t| is_move(t.role, t.pass))
                && turns
                    .iter()
                    .flat_map(|t| &t.when)
                    .all(|s| (s.node().0 as usize) < n_nodes)
                && group.columns.iter().flatten().all(|&(role, mv)| is_move(role, mv))
        })
    }

    /// Random vectors that each group uses, one group after the other.
    pub fn random_bits(&self) -> Vec<usize> {
        self.groups.iter().map(|g| random_bits(g.columns.len())).collect()
    }

    /// Number of columns of all groups.
    pub fn n_columns(&self) -> usize {
        self.groups.iter().map(|g| g.columns.len()).sum()
    }
}

/// Roles of which no two have a choice at the same time, by the family of fluents that says this for most moves.
fn roles_in_turn(net: &Network, bounds: &Bounds) -> Vec<Turn> {
    let families = &net.choices()[net.n_moves().len()..];
    let reads = reads_by_legal(net);
    let weight = |c: &Choice| c.values.iter().map(|v| reads[v.0 as usize]).sum::<usize>();
    let mut tried: Vec<&Choice> = families
        .iter()
        .filter(|c| c.values.len() <= bounds.tuning.most_phases)
        .collect();
    tried.sort_by_key(|c| (std::cmp::Reverse(weight(c)), c.values[0]));
    let found = tried
        .into_iter()
        .take(bounds.tuning.turn_families)
        .map(|family| turns_by(net, family, bounds));
    let best = found.max_by_key(|turns| turns.iter().map(|t| net.n_moves()[t.role]).sum::<usize>());
    let mut turns = best.unwrap_or_default();
    let mut facts = Facts::new(net, *bounds);
    for turn in &mut turns {
        let pass = net.outputs.legal[turn.role][turn.pass];
        turn.may_pass_in_turn = !turn.when.iter().all(|&now| facts.exclude(&[now, pass]));
    }
    turns
}

/// Number of moves of the roles whose turns a family distinguishes, if it is exclusive; 0 if there are no two such
/// roles.
pub(crate) fn moves_in_turn(net: &Network, family: &Choice, bounds: &Bounds) -> usize {
    let turns = turns_by(net, family, bounds);
    if turns.len() < 2 {
        0
    } else {
        turns.iter().map(|t| net.n_moves()[t.role]).sum()
    }
}

/// The roles whose every move but one needs a value of this family that no other such role needs.
fn turns_by(net: &Network, family: &Choice, bounds: &Bounds) -> Vec<Turn> {
    let n_moves = net.n_moves();
    let mut needs: Vec<Vec<Option<usize>>> = n_moves.iter().map(|&n| vec![None; n]).collect();
    let roots: Vec<Signal> = net.outputs.legal.iter().flatten().copied().collect();
    let cone = needed(net, &roots);
    for (value, &node) in family.values.iter().enumerate() {
        if bounds.is_stopped() {
            return Vec::new();
        }
        let falls = falls_with(net, &cone, Signal::new(node, false));
        for (role, row) in net.outputs.legal.iter().enumerate() {
            for (mv, s) in row.iter().enumerate() {
                if *s == Signal::FALSE || (!s.is_complement() && falls[s.node().0 as usize]) {
                    needs[role][mv].get_or_insert(value);
                }
            }
        }
    }
    let mut taken = vec![false; family.values.len()];
    let mut turns = Vec::new();
    for (role, needs) in needs.iter().enumerate() {
        let free: Vec<usize> = (0..needs.len()).filter(|&m| needs[m].is_none()).collect();
        let mut values: Vec<usize> = needs.iter().flatten().copied().collect();
        values.sort_unstable();
        values.dedup();
        // A noop move that is legal only in another role's turn needs a value too.
        let pass = match free[..] {
            [pass] => Some(pass),
            [] => lone_pass(needs, &mut values),
            _ => None,
        };
        let Some(pass) = pass else { continue };
        if values.is_empty() || values.iter().any(|&v| taken[v]) {
            continue;
        }
        values.iter().for_each(|&v| taken[v] = true);
        let when = values.iter().map(|&v| Signal::new(family.values[v], false)).collect();
        turns.push(Turn {
            role,
            when,
            pass,
            may_pass_in_turn: true,
        });
    }
    turns
}

/// If all moves need values, the noop move is the only move with its value; that value is not the role's turn.
fn lone_pass(needs: &[Option<usize>], values: &mut Vec<usize>) -> Option<usize> {
    let count = |v: usize| needs.iter().filter(|n| **n == Some(v)).count();
    let lone: Vec<usize> = (0..needs.len())
        .filter(|&m| needs[m].is_some_and(|v| count(v) == 1))
        .collect();
    let [pass] = lone[..] else { return None };
    values.retain(|&v| needs[pass] != Some(v));
    Some(pass)
}

/// Puts moves that exclude each other into one column, first fit.
fn share_columns(net: &Network, moves: &[(usize, usize)], bounds: &Bounds) -> Vec<Vec<(usize, usize)>> {
    let mut value_of: FxHashMap<Signal, (u32, u32)> = FxHashMap::default();
    for (c, choice) in net.choices().iter().enumerate().skip(net.n_moves().len()) {
        for (at, &node) in choice.values.iter().enumerate() {
            value_of.insert(Signal::new(node, false), (c as u32, at as u32));
        }
    }
    let mut columns: Vec<Vec<(usize, usize)>> = Vec::new();
    let mut needs: Vec<Vec<Vec<(u32, u32)>>> = Vec::new();
    let mut comparisons = 0;
    for &(role, mv) in moves {
        let mine = values_needed(net, &value_of, net.outputs.legal[role][mv]);
        let mut fitting = None;
        if !mine.is_empty() && comparisons < bounds.tuning.column_comparisons && !bounds.is_stopped() {
            fitting = needs.iter().position(|column| {
                comparisons += 1;
                column.iter().all(|other| exclude(&mine, other))
            });
        }
        match fitting {
            Some(at) => {
                columns[at].push((role, mv));
                needs[at].push(mine);
            }
            None => {
                columns.push(vec![(role, mv)]);
                needs.push(vec![mine]);
            }
        }
    }
    columns
}

/// Whether two moves need different values of one choice; both lists are sorted.
fn exclude(a: &[(u32, u32)], b: &[(u32, u32)]) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].0.cmp(&b[j].0) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal if a[i].1 != b[j].1 => return true,
            std::cmp::Ordering::Equal => {
                i += 1;
                j += 1;
            }
        }
    }
    false
}

/// Values of choices that a signal needs, as far as its nested conjunctions show.
fn values_needed(net: &Network, value_of: &FxHashMap<Signal, (u32, u32)>, signal: Signal) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    let mut work = vec![signal];
    while let Some(s) = work.pop() {
        if let Some(&value) = value_of.get(&s) {
            found.push(value);
        } else if !s.is_complement() && net.node(s.node()) == Node::And {
            work.extend(net.operands(s.node()));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

impl Group {
    /// Adds the group's choice to a circuit.
    pub fn choose(&self, circuit: &mut Circuit, lower: &mut Lowering, net: &Network, random: &[Wire]) -> Made {
        let legal = |(role, mv): (usize, usize)| net.outputs.legal[role][mv];
        let signals: Vec<Signal> = self.columns.iter().flatten().map(|&m| legal(m)).collect();
        lower.ensure(circuit, &signals);
        let mut columns = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            let mut joined = circuit.zero();
            for &(role, mv) in column {
                let mut wire = lower.plain(circuit, legal((role, mv)));
                if let Some(turn) = self.turns.iter().find(|t| t.role == role && t.pass == mv) {
                    let now = turn.now(circuit, lower);
                    wire = circuit.and(wire, now);
                }
                joined = circuit.or(joined, wire);
            }
            columns.push(joined);
        }
        let chosen = choose(circuit, &columns, random);
        let mut moves = Vec::new();
        for (column, pick) in self.columns.iter().zip(chosen.picks) {
            for &(role, mv) in column {
                let wire = self.share(circuit, lower, net, column, (role, mv), pick);
                moves.push((role, mv, wire));
            }
        }
        let any = self.pass(circuit, lower, net, chosen.any, &mut moves);
        Made { moves, any }
    }

    /// The lanes in which the choice of a column means this move.
    fn share(
        &self,
        circuit: &mut Circuit,
        lower: &mut Lowering,
        net: &Network,
        column: &[(usize, usize)],
        (role, mv): (usize, usize),
        pick: Wire,
    ) -> Wire {
        if column.len() == 1 {
            return pick;
        }
        let alone = column.iter().filter(|(r, _)| *r == role).count() == 1;
        // The turn distinguishes the moves of a column if they belong to different roles.
        if let Some(turn) = self.turns.iter().find(|t| t.role == role)
            && alone
        {
            let now = turn.now(circuit, lower);
            return circuit.and(now, pick);
        }
        let legal = lower.plain(circuit, net.outputs.legal[role][mv]);
        circuit.and(legal, pick)
    }

    /// Makes the noop moves of roles out of turn; returns the lanes in which every role has a move.
    fn pass(
        &self,
        circuit: &mut Circuit,
        lower: &mut Lowering,
        net: &Network,
        any: Wire,
        moves: &mut Vec<(usize, usize, Wire)>,
    ) -> Wire {
        if self.turns.is_empty() {
            return any;
        }
        let mut all = circuit.one();
        for turn in &self.turns {
            let now = turn.now(circuit, lower);
            let legal = lower.plain(circuit, net.outputs.legal[turn.role][turn.pass]);
            let waits = circuit.and_not(now, legal);
            match moves
                .iter_mut()
                .find(|(role, mv, _)| (*role, *mv) == (turn.role, turn.pass))
            {
                Some((_, _, wire)) => *wire = circuit.or(*wire, waits),
                None => moves.push((turn.role, turn.pass, waits)),
            }
            let acts = circuit.and(now, any);
            let has = circuit.or(acts, waits);
            all = circuit.and(all, has);
        }
        all
    }
}

impl Turn {
    fn now(&self, circuit: &mut Circuit, lower: &mut Lowering) -> Wire {
        let mut now = circuit.zero();
        for &s in &self.when {
            let wire = lower.plain(circuit, s);
            now = circuit.or(now, wire);
        }
        now
    }
}
