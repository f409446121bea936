//! Circuits: straight-line code of two-input operations on wide bit vectors, in single-assignment form.
//!
//! A circuit reads and writes *cells* (one vector each) of a frame; see `lanes::layout`. Circuits are built with
//! hash-consing and constant folding. The interpreter runs them, or they are compiled to machine code.

use rustc_hash::FxHashMap;

/// A value: the result of an operation, a cell's content at entry, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Wire(pub u32);

/// The definition of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// All zeros.
    Zero,
    /// All ones.
    One,
    /// The content of a cell when the circuit starts.
    Load(u32),
    /// The conjunction of two values.
    And(Wire, Wire),
    /// The second value without the first, as in `vpandn`.
    AndNot(Wire, Wire),
    /// The disjunction of two values.
    Or(Wire, Wire),
    /// The exclusive disjunction of two values.
    Xor(Wire, Wire),
    /// The value of a cycle atom when its component has settled.
    Settled {
        /// Number of the component in the circuit.
        component: u32,
        /// Number of the atom in the component.
        atom: u32,
    },
}

/// Atoms that depend on each other: set to zero, then recomputed until nothing changes.
#[derive(Clone, Debug, Default)]
pub struct Component {
    /// The atoms' values, as [`Op::Settled`].
    pub atoms: Vec<Wire>,
    /// Definitions of the atoms.
    pub definitions: Vec<Wire>,
    /// Cells that hold the atoms while they settle.
    pub cells: Vec<u32>,
}

/// Operations, stores, and components that are evaluated repeatedly.
#[derive(Clone, Debug, Default)]
pub struct Circuit {
    ops: Vec<Op>,
    shared: FxHashMap<Op, Wire>,
    /// Cells written at the end: cell and value. A cell may be read and written; all reads see the old content.
    pub stores: Vec<(u32, Wire)>,
    /// Positive cycles, in dependency order.
    pub components: Vec<Component>,
}

impl Circuit {
    /// A circuit that does nothing.
    pub fn new() -> Circuit {
        Circuit::default()
    }

    /// The operations; operands precede their uses, except through a component's definitions.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The definition of a value.
    pub fn op(&self, wire: Wire) -> Op {
        self.ops[wire.0 as usize]
    }

    /// The value with this definition, if there is one.
    pub fn find(&self, op: Op) -> Option<Wire> {
        self.shared.get(&op).copied()
    }

    fn intern(&mut self, op: Op) -> Wire {
        if let Some(&wire) = self.shared.get(&op) {
            return wire;
        }
        let wire = Wire(self.ops.len() as u32);
        self.ops.push(op);
        self.shared.insert(op, wire);
        wire
    }

    /// All zeros.
    pub fn zero(&mut self) -> Wire {
        self.intern(Op::Zero)
    }

    /// All ones.
    pub fn one(&mut self) -> Wire {
        self.intern(Op::One)
    }

    /// A cell's content at entry.
    pub fn load(&mut self, cell: u32) -> Wire {
        self.intern(Op::Load(cell))
    }

    /// A new component of `n` atoms, which are in these cells while they settle. Definitions are given later.
    pub fn add_component(&mut self, cells: Vec<u32>) -> usize {
        let component = self.components.len() as u32;
        let atoms: Vec<Wire> = (0..cells.len() as u32)
            .map(|atom| self.intern(Op::Settled { component, atom }))
            .collect();
        self.components.push(Component {
            atoms,
            definitions: Vec::new(),
            cells,
        });
        component as usize
    }

    /// The conjunction of two values.
    pub fn and(&mut self, a: Wire, b: Wire) -> Wire {
        if a == b {
            return a;
        }
        match (self.op(a), self.op(b)) {
            (Op::Zero, _) | (_, Op::One) => a,
            (_, Op::Zero) | (Op::One, _) => b,
            _ => self.intern(Op::And(a.min(b), a.max(b))),
        }
    }

    /// The second value without the first.
    pub fn and_not(&mut self, not: Wire, b: Wire) -> Wire {
        if not == b {
            return self.zero();
        }
        match (self.op(not), self.op(b)) {
            (Op::Zero, _) | (_, Op::Zero) => b,
            (Op::One, _) => self.zero(),
            _ => self.intern(Op::AndNot(not, b)),
        }
    }

    /// The disjunction of two values.
    pub fn or(&mut self, a: Wire, b: Wire) -> Wire {
        if a == b {
            return a;
        }
        match (self.op(a), self.op(b)) {
            (Op::Zero, _) | (_, Op::One) => b,
            (_, Op::Zero) | (Op::One, _) => a,
            _ => self.intern(Op::Or(a.min(b), a.max(b))),
        }
    }

    /// The exclusive disjunction of two values.
    pub fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        if a == b {
            return self.zero();
        }
        match (self.op(a), self.op(b)) {
            (Op::Zero, _) => b,
            (_, Op::Zero) => a,
            (Op::One, _) => self.not(b),
            (_, Op::One) => self.not(a),
            _ => self.intern(Op::Xor(a.min(b), a.max(b))),
        }
    }

    /// The complement. It costs an operation, so callers keep track of polarities instead where they can.
    pub fn not(&mut self, a: Wire) -> Wire {
        match self.op(a) {
            Op::Zero => self.one(),
            Op::One => self.zero(),
            Op::AndNot(x, y) if self.op(y) == Op::One => x,
            _ => {
                let one = self.one();
                self.intern(Op::AndNot(a, one))
            }
        }
    }

    /// `if` then `a` else `b`.
    pub fn select(&mut self, condition: Wire, a: Wire, b: Wire) -> Wire {
        let yes = self.and(condition, a);
        let no = self.and_not(condition, b);
        self.or(yes, no)
    }

    /// Writes a value to a cell at the end.
    pub fn store(&mut self, cell: u32, value: Wire) {
        self.stores.push((cell, value));
    }

    /// Two-input operations that the stores and components need.
    pub fn cost(&self) -> usize {
        let needed = self.needed();
        let is_op = |op: &Op| matches!(op, Op::And(..) | Op::AndNot(..) | Op::Or(..) | Op::Xor(..));
        self.ops
            .iter()
            .zip(needed)
            .filter(|(op, needed)| *needed && is_op(op))
            .count()
    }

    /// Which values the stores need. A component is needed as a whole or not at all.
    pub fn needed(&self) -> Vec<bool> {
        let mut needed = vec![false; self.ops.len()];
        let mut component = vec![false; self.components.len()];
        let mut work: Vec<Wire> = self.stores.iter().map(|&(_, w)| w).collect();
        while let Some(wire) = work.pop() {
            if std::mem::replace(&mut needed[wire.0 as usize], true) {
                continue;
            }
            match self.op(wire) {
                Op::And(a, b) | Op::AndNot(a, b) | Op::Or(a, b) | Op::Xor(a, b) => work.extend([a, b]),
                Op::Settled { component: c, .. } if !component[c as usize] => {
                    component[c as usize] = true;
                    work.extend(&self.components[c as usize].atoms);
                    work.extend(&self.components[c as usize].definitions);
                }
                _ => {}
            }
        }
        needed
    }
}
