//! The network: n-ary AND gates with complemented edges over state bits and move bits.
//!
//! An OR is an AND of complements, so hash-consing finds De Morgan duplicates. Leaves may belong to a *choice*: a
//! family of which at most one (or exactly one) leaf holds, such as the moves of a role or the contents of a cell. A
//! formula over one choice is a set of its values, and the builder keeps it in that canonical form.
//!
//! Atoms in a positive cycle are leaves too, each with a defining signal; see [`Cycle`].

use crate::gate_table::GateTable;
use smallvec::SmallVec;
use std::ops::Not;

/// A gate or a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A node or its complement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signal(u32);

impl Signal {
    /// Never true.
    pub const FALSE: Signal = Signal(0);
    /// Always true.
    pub const TRUE: Signal = Signal(1);

    /// The node itself, or its complement.
    pub fn new(node: NodeId, complement: bool) -> Signal {
        Signal(node.0 << 1 | u32::from(complement))
    }

    /// The node it reads.
    pub fn node(self) -> NodeId {
        NodeId(self.0 >> 1)
    }

    /// Whether it is true when the node is false.
    pub fn is_complement(self) -> bool {
        self.0 & 1 == 1
    }

    /// Node and complement in one number.
    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    /// The signal of a number that [`Signal::bits`] gave.
    pub(crate) fn from_bits(bits: u32) -> Signal {
        Signal(bits)
    }

    /// Whether it is one of the two constants.
    pub fn is_constant(self) -> bool {
        self.0 < 2
    }
}

impl Not for Signal {
    type Output = Signal;

    fn not(self) -> Signal {
        Signal(self.0 ^ 1)
    }
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// The constant false; always node 0.
    False,
    /// A state bit.
    Fluent(u32),
    /// A move bit.
    Does {
        /// The role.
        role: u16,
        /// The move.
        mv: u32,
    },
    /// An atom in a positive cycle, by its index in [`Network::cycles`].
    Cycle(u32),
    /// A conjunction; its operands are in [`Network::operands`].
    And,
}

/// An atom that takes part in a positive cycle: a leaf whose value is the least solution of its definition
/// together with the other atoms of the same component.
#[derive(Clone, Copy, Debug)]
pub struct Cycle {
    /// The strongly connected component it belongs to; components are numbered in dependency order.
    pub component: u32,
    /// The leaf.
    pub node: NodeId,
    /// The definition of the atom.
    pub definition: Signal,
}

/// The outputs of a game's network.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// Per fluent.
    pub next: Vec<Signal>,
    /// Per role, per move.
    pub legal: Vec<Vec<Signal>>,
    /// Per role, per percept.
    pub sees: Vec<Vec<Signal>>,
    /// Per role, values ascending.
    pub goals: Vec<Vec<(i32, Signal)>>,
    /// Whether the game is over.
    pub terminal: Signal,
}

impl Default for Signal {
    fn default() -> Self {
        Signal::FALSE
    }
}

impl Outputs {
    /// All outputs with `f` applied.
    pub fn map(&self, mut f: impl FnMut(Signal) -> Signal) -> Outputs {
        Outputs {
            next: self.next.iter().map(|&s| f(s)).collect(),
            legal: self
                .legal
                .iter()
                .map(|row| row.iter().map(|&s| f(s)).collect())
                .collect(),
            sees: self
                .sees
                .iter()
                .map(|row| row.iter().map(|&s| f(s)).collect())
                .collect(),
            goals: self
                .goals
                .iter()
                .map(|row| row.iter().map(|&(v, s)| (v, f(s))).collect())
                .collect(),
            terminal: f(self.terminal),
        }
    }

    /// Every output signal, in a fixed order.
    pub fn all(&self) -> Vec<Signal> {
        let mut all = self.next.clone();
        all.extend(self.legal.iter().flatten());
        all.extend(self.sees.iter().flatten());
        all.extend(self.goals.iter().flatten().map(|&(_, s)| s));
        all.push(self.terminal);
        all
    }
}

/// A family of leaves of which at most one holds.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The leaves.
    pub values: Vec<NodeId>,
    /// Whether one of them always holds.
    pub total: bool,
}

/// Gates over leaves, built bottom-up: operands always have smaller numbers than their gate.
#[derive(Clone, Debug)]
pub struct Network {
    nodes: Vec<Node>,
    /// Start of each node's operands in `arena`; one more entry than nodes.
    starts: Vec<u32>,
    arena: Vec<Signal>,
    gates: GateTable,
    fluents: Vec<NodeId>,
    does: Vec<Vec<NodeId>>,
    cycles: Vec<Cycle>,
    choices: Vec<Choice>,
    /// Per node: the choice a leaf belongs to.
    choice_of: Vec<Option<(u32, u32)>>,
    /// Whether new gates are simplified by choices and absorption (off for the last structural passes).
    simplify: bool,
    /// The outputs.
    pub outputs: Outputs,
}

impl Network {
    /// A network with leaves and no gates.
    pub fn new(n_fluents: usize, n_moves: &[usize]) -> Network {
        let mut net = Network {
            nodes: Vec::new(),
            starts: vec![0],
            arena: Vec::new(),
            gates: GateTable::default(),
            fluents: Vec::new(),
            does: Vec::new(),
            cycles: Vec::new(),
            choices: Vec::new(),
            choice_of: Vec::new(),
            simplify: true,
            outputs: Outputs::default(),
        };
        net.push(Node::False, &[]);
        for f in 0..n_fluents {
            let node = net.push(Node::Fluent(f as u32), &[]);
            net.fluents.push(node);
        }
        for (role, &n) in n_moves.iter().enumerate() {
            let row: Vec<NodeId> = (0..n)
                .map(|m| {
                    net.push(
                        Node::Does {
                            role: role as u16,
                            mv: m as u32,
                        },
                        &[],
                    )
                })
                .collect();
            // Simulators guarantee exactly one `does` per role.
            net.add_choice(Choice {
                values: row.clone(),
                total: true,
            });
            net.does.push(row);
        }
        net
    }

    /// A network with the same leaves, choices and cycle atoms (whose definitions are still to be given).
    pub fn same_leaves(&self) -> Network {
        let n_moves: Vec<usize> = self.does.iter().map(Vec::len).collect();
        let mut net = Network::new(self.fluents.len(), &n_moves);
        net.simplify = self.simplify;
        for cycle in &self.cycles {
            net.add_cycle(cycle.component);
        }
        for choice in &self.choices[self.does.len()..] {
            // Leaves are numbered alike in both, since they come first.
            let values = choice.values.iter().map(|&v| net.leaf_like(self, v)).collect();
            net.add_choice(Choice {
                values,
                total: choice.total,
            });
        }
        net
    }

    /// The leaf of this network that corresponds to `node` of `other`.
    pub fn leaf_like(&self, other: &Network, node: NodeId) -> NodeId {
        match other.node(node) {
            Node::False => NodeId(0),
            Node::Fluent(f) => self.fluents[f as usize],
            Node::Does { role, mv } => self.does[role as usize][mv as usize],
            Node::Cycle(c) => self.cycles[c as usize].node,
            Node::And => unreachable!("a gate is not a leaf"),
        }
    }

    /// Turns simplification of new gates off: gates that are built from now on keep their shape.
    pub fn keep_shape(&mut self) {
        self.simplify = false;
    }

    /// Whether new gates keep their shape.
    pub(crate) fn keeps_shape(&self) -> bool {
        !self.simplify
    }

    /// Adds a gate as it was stored; `None` if no gate of a network looks like this.
    pub(crate) fn restore_gate(&mut self, operands: Vec<Signal>) -> Option<NodeId> {
        let fits = |s: &Signal| !s.is_constant() && (s.node().0 as usize) < self.nodes.len();
        if operands.len() < 2 || !operands.iter().all(fits) || !operands.is_sorted_by(|a, b| a < b) {
            return None;
        }
        let node = self.push(Node::And, &operands);
        self.gates.insert(&operands, node);
        Some(node)
    }

    /// Declares that at most one of these leaves holds.
    pub fn add_choice(&mut self, choice: Choice) {
        let id = self.choices.len() as u32;
        for (at, value) in choice.values.iter().enumerate() {
            self.choice_of[value.0 as usize] = Some((id, at as u32));
        }
        self.choices.push(choice);
    }

    /// A new atom in a positive cycle.
    pub fn add_cycle(&mut self, component: u32) -> Signal {
        let node = self.push(Node::Cycle(self.cycles.len() as u32), &[]);
        self.cycles.push(Cycle {
            component,
            node,
            definition: Signal::FALSE,
        });
        Signal::new(node, false)
    }

    /// Gives a cycle atom its definition.
    pub fn define_cycle(&mut self, index: usize, definition: Signal) {
        self.cycles[index].definition = definition;
    }

    /// Number of nodes, leaves and unused gates included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node; always false.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The kind of a node.
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id.0 as usize]
    }

    /// The operands of a gate; none for a leaf.
    pub fn operands(&self, id: NodeId) -> &[Signal] {
        let at = id.0 as usize;
        &self.arena[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// The state bit of a fluent.
    pub fn fluent(&self, f: usize) -> Signal {
        Signal::new(self.fluents[f], false)
    }

    /// The move bit of a role's move.
    pub fn does(&self, role: usize, mv: usize) -> Signal {
        Signal::new(self.does[role][mv], false)
    }

    /// Number of state bits.
    pub fn n_fluents(&self) -> usize {
        self.fluents.len()
    }

    /// Number of moves of each role.
    pub fn n_moves(&self) -> Vec<usize> {
        self.does.iter().map(Vec::len).collect()
    }

    /// Atoms in positive cycles.
    pub fn cycles(&self) -> &[Cycle] {
        &self.cycles
    }

    /// Families of exclusive leaves: first the moves of each role, then proven families of fluents.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// Every signal that must be computed: outputs, and the definitions of cycle atoms.
    pub fn roots(&self) -> Vec<Signal> {
        let mut roots = self.outputs.all();
        roots.extend(self.cycles.iter().map(|c| c.definition));
        roots
    }

    fn push(&mut self, node: Node, operands: &[Signal]) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node);
        self.arena.extend_from_slice(operands);
        self.starts.push(self.arena.len() as u32);
        self.choice_of.push(None);
        id
    }

    /// The disjunction.
    pub fn or(&mut self, operands: impl IntoIterator<Item = Signal>) -> Signal {
        !self.and(operands.into_iter().map(|s| !s))
    }

    /// The conjunction, simplified and shared.
    pub fn and(&mut self, operands: impl IntoIterator<Item = Signal>) -> Signal {
        let mut list: Vec<Signal> = operands.into_iter().filter(|&s| s != Signal::TRUE).collect();
        if !normalise(&mut list) {
            return Signal::FALSE;
        }
        if self.simplify && (!self.merge_choices(&mut list) || !self.absorb(&mut list)) {
            return Signal::FALSE;
        }
        self.intern(list)
    }

    fn intern(&mut self, list: Vec<Signal>) -> Signal {
        match list[..] {
            [] => return Signal::TRUE,
            [only] => return only,
            _ => {}
        }
        if let Some(node) = self.gates.find(&list, |node| self.operands(node) == list) {
            return Signal::new(node, false);
        }
        let node = self.push(Node::And, &list);
        self.gates.insert(&list, node);
        Signal::new(node, false)
    }

    /// Joins the operands over one choice into a single set of its values.
    fn merge_choices(&mut self, list: &mut Vec<Signal>) -> bool {
        if !self.has_choices_to_merge(list) {
            return true;
        }
        let mut sets: Vec<(u32, ValueSet, u32)> = Vec::new();
        let mut rest: Vec<Signal> = Vec::new();
        for &signal in list.iter() {
            let Some((choice, set)) = self.value_set(signal) else {
                rest.push(signal);
                continue;
            };
            match sets.iter_mut().find(|(c, _, _)| *c == choice) {
                Some((_, known, n)) => {
                    *known = known.intersect(&set);
                    *n += 1;
                }
                None => sets.push((choice, set, 1)),
            }
        }
        if sets.is_empty() {
            return true;
        }
        for (choice, set, _) in sets {
            let signal = self.set_signal(choice, set);
            if signal == Signal::FALSE {
                return false;
            }
            if signal != Signal::TRUE {
                rest.push(signal);
            }
        }
        *list = rest;
        normalise(list)
    }

    /// Whether two of these signals are sets of values of one choice, or one such set is not in its canonical form.
    fn has_choices_to_merge(&self, list: &[Signal]) -> bool {
        let mut met: SmallVec<[u32; 16]> = SmallVec::new();
        for &signal in list {
            let Some((choice, n)) = self.value_count(signal) else {
                continue;
            };
            let Choice { values, total } = &self.choices[choice as usize];
            if (*total && n * 2 > values.len()) || met.contains(&choice) {
                return true;
            }
            met.push(choice);
        }
        false
    }

    /// The choice and the number of values of [`Network::value_set`].
    fn value_count(&self, signal: Signal) -> Option<(u32, usize)> {
        let of = |signal: Signal| self.choice_of[signal.node().0 as usize];
        if let Some((choice, _)) = of(signal) {
            return Some((choice, 1));
        }
        let operands = self.operands(signal.node());
        let (choice, _) = of(*operands.first()?)?;
        let is_other = |&s: &Signal| s.is_complement() && of(s).is_some_and(|(c, _)| c == choice);
        operands.iter().all(is_other).then_some((choice, operands.len()))
    }

    /// A signal as a set of values of one choice, if it is such a set.
    fn value_set(&self, signal: Signal) -> Option<(u32, ValueSet)> {
        let node = signal.node();
        if let Some((choice, at)) = self.choice_of[node.0 as usize] {
            let set = vec![at];
            return Some((
                choice,
                ValueSet {
                    within: !signal.is_complement(),
                    values: set,
                },
            ));
        }
        // A gate that says "none of these".
        let operands = self.operands(node);
        let first = operands.first()?;
        let (choice, _) = self.choice_of[first.node().0 as usize]?;
        let mut values = Vec::with_capacity(operands.len());
        for operand in operands {
            match self.choice_of[operand.node().0 as usize] {
                Some((c, at)) if c == choice && operand.is_complement() => values.push(at),
                _ => return None,
            }
        }
        values.sort_unstable();
        Some((
            choice,
            ValueSet {
                within: signal.is_complement(),
                values,
            },
        ))
    }

    /// The canonical signal of a set of values.
    fn set_signal(&mut self, choice: u32, set: ValueSet) -> Signal {
        let Choice { values, total } = &self.choices[choice as usize];
        let mut set = set;
        if *total && set.values.len() * 2 > values.len() {
            let inside: Vec<bool> = {
                let mut inside = vec![false; values.len()];
                set.values.iter().for_each(|&v| inside[v as usize] = true);
                inside
            };
            set = ValueSet {
                within: !set.within,
                values: (0..values.len() as u32).filter(|&v| !inside[v as usize]).collect(),
            };
        }
        let mut none_of: Vec<Signal> = set
            .values
            .iter()
            .map(|&v| Signal::new(values[v as usize], true))
            .collect();
        none_of.sort_unstable();
        let none = self.intern(none_of);
        if set.within { !none } else { none }
    }

    /// Simplifies by the operands of operands: `a & (a & b) = a & b`, `a & !(!a & b) = a`, `a & !(a & b) = a & !b`.
    fn absorb(&mut self, list: &mut Vec<Signal>) -> bool {
        const WIDEST: usize = 12;
        let mut at = 0;
        while at < list.len() {
            let signal = list[at];
            if self.node(signal.node()) != Node::And || self.operands(signal.node()).len() > WIDEST {
                at += 1;
                continue;
            }
            let inner: Vec<Signal> = self.operands(signal.node()).to_vec();
            if !signal.is_complement() {
                if inner.iter().any(|&s| list.binary_search(&!s).is_ok()) {
                    return false;
                }
                let before = list.len();
                list.retain(|s| inner.binary_search(s).is_err());
                if list.len() != before {
                    at = 0;
                    continue;
                }
            } else if inner.iter().any(|&s| list.binary_search(&!s).is_ok()) {
                list.remove(at);
                continue;
            } else if inner.iter().any(|&s| list.binary_search(&s).is_ok()) {
                let left: Vec<Signal> = inner
                    .iter()
                    .copied()
                    .filter(|s| list.binary_search(s).is_err())
                    .collect();
                list.remove(at);
                let weaker = !self.and(left);
                if weaker == Signal::FALSE {
                    return false;
                }
                if weaker != Signal::TRUE {
                    list.push(weaker);
                    if !normalise(list) {
                        return false;
                    }
                }
                at = 0;
                continue;
            }
            at += 1;
        }
        true
    }
}

/// Sorts and removes duplicates; false if the conjunction is contradictory.
fn normalise(list: &mut Vec<Signal>) -> bool {
    list.sort_unstable();
    list.dedup();
    list.first() != Some(&Signal::FALSE) && list.windows(2).all(|w| w[0] != !w[1])
}

/// Values of a choice: one of these, or (if not `within`) none of these.
#[derive(Clone, Debug)]
struct ValueSet {
    within: bool,
    values: Vec<u32>,
}

impl ValueSet {
    fn intersect(&self, other: &ValueSet) -> ValueSet {
        match (self.within, other.within) {
            (true, true) => ValueSet {
                within: true,
                values: those(&self.values, &other.values, true),
            },
            (true, false) => ValueSet {
                within: true,
                values: those(&self.values, &other.values, false),
            },
            (false, true) => ValueSet {
                within: true,
                values: those(&other.values, &self.values, false),
            },
            (false, false) => {
                let mut values = self.values.clone();
                values.extend(those(&other.values, &self.values, false));
                values.sort_unstable();
                ValueSet { within: false, values }
            }
        }
    }
}

/// The values of `a` that are, or are not, in `b`; both ascending. Much longer lists are searched, others merged.
fn those(a: &[u32], b: &[u32], inside: bool) -> Vec<u32> {
    if a.len() * 16 < b.len() {
        let fits = |v: &u32| b.binary_search(v).is_ok() == inside;
        return a.iter().copied().filter(fits).collect();
    }
    let mut rest = b;
    let fits = |v: &u32| {
        let before = rest.iter().take_while(|w| *w < v).count();
        rest = &rest[before..];
        (rest.first() == Some(v)) == inside
    };
    a.iter().copied().filter(fits).collect()
}
