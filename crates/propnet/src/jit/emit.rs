//! From a circuit to instructions: order, registers, memory.
//!
//! Operations are emitted depth first. Registers are allocated by Belady's rule: the value that is needed last is
//! spilled first. A spilled value is stored only if it is needed again and is not in memory already. Cells may be read
//! and written by the same circuit: a store waits until the old content has been read.
//!
//! Large circuits become several pieces, each a function that begins and ends with empty registers, so that a piece
//! can run over several frames while it is in the cache.

use super::cover::{Gate, pairs, threes};
use super::order::{depth_first, depth_first_gates};
use crate::circuit::{Circuit, Component, Op, Wire};
use crate::lanes::layout::{ONE, ZERO};
use crate::schedule::{Block, schedule};
use game::StopFlag;
use iced_x86::{Code, Encoder, IcedError, Instruction};
use rustc_hash::{FxHashMap, FxHashSet};

/// Which operation to emit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    And,
    AndNot,
    Or,
    Xor,
}

/// Where an operand is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Register(u8),
    Cell(u32),
}

/// Instructions on a kind of register.
pub(super) trait Target {
    /// Number of registers; at most 32.
    fn registers(&self) -> u8;
    /// Prologue and epilogue.
    fn frame(&self) -> Result<(Vec<Instruction>, Vec<Instruction>), IcedError>;
    /// Cell to register.
    fn load(&self, register: u8, cell: u32) -> Result<Instruction, IcedError>;
    /// Register to cell.
    fn store(&self, cell: u32, register: u8) -> Result<Instruction, IcedError>;
    /// Whether an operation can read this cell itself as its second operand.
    fn reads_memory(&self, kind: Kind, cell: u32) -> bool;
    /// `to = a op b`.
    fn operation(&self, kind: Kind, to: u8, a: u8, b: Place) -> Result<[Option<Instruction>; 2], IcedError>;
    /// Sets the zero flag if a register is all zero.
    fn test(&self, a: u8) -> Result<Instruction, IcedError>;
    /// Whether there is an instruction for any function of three values; then every operation can read memory.
    fn has_tables(&self) -> bool {
        false
    }
    /// `to = table(to, b, c)`; see [`Gate::Table`].
    fn table(&self, table: u8, to: u8, b: u8, c: Place) -> Result<Instruction, IcedError> {
        let _ = (table, to, b, c);
        unreachable!("this target has no tables")
    }
    /// `to = from`.
    fn copy(&self, to: u8, from: u8) -> Result<Instruction, IcedError> {
        let _ = (to, from);
        unreachable!("only tables need copies")
    }
}

/// Machine code of a circuit.
pub(super) struct Emitted {
    /// The code of all pieces.
    pub bytes: Vec<u8>,
    /// Offset of each piece: a function of its own. Pieces run in order, and pass values on through cells.
    pub entries: Vec<usize>,
    /// Cells of a frame, scratch included.
    pub n_cells: u32,
}

/// Machine code for a circuit in pieces of about `piece` bytes; scratch cells start at `scratch`. `None` if the circuit
/// cannot be encoded or the flag is raised.
pub(super) fn emit<T: Target>(
    circuit: &Circuit,
    scratch: u32,
    target: T,
    piece: usize,
    stop: &StopFlag,
) -> Option<Emitted> {
    Emitter::emit(circuit, scratch, target, piece, stop).ok().flatten()
}

/// Items emitted between two checks of the stop flag.
const BETWEEN_LOOKS: usize = 4_096;

/// Operations and stores in one order.
#[derive(Clone, Copy, Debug)]
enum Item {
    Op(Wire),
    Store(u32, Wire),
    LoopBegin(usize),
    LoopEnd(usize),
}

/// As many as any target has.
const MOST_REGISTERS: usize = 32;
const NONE: u32 = u32::MAX;

struct Emitter<'c, T> {
    target: T,
    circuit: &'c Circuit,
    /// How each value is computed.
    gates: Vec<Option<Gate>>,
    encoder: Encoder,
    ip: u64,
    /// Which value each register holds.
    held: [Option<Wire>; MOST_REGISTERS],
    register: Vec<Option<u8>>,
    /// Cell of each value, if it is in memory.
    home: Vec<u32>,
    /// Positions at which each value is read, ascending, and the index of the next one.
    uses: Vec<Vec<u32>>,
    cursor: Vec<u32>,
    free: Vec<u32>,
    /// Scratch cells in use that may be freed.
    scratch: FxHashSet<u32>,
    n_cells: u32,
    now: u32,
    loop_head: u64,
    in_loop: bool,
}

impl<'c, T: Target> Emitter<'c, T> {
    fn emit(
        circuit: &'c Circuit,
        scratch: u32,
        target: T,
        piece: usize,
        stop: &StopFlag,
    ) -> Result<Option<Emitted>, IcedError> {
        let n = circuit.ops().len();
        let (prologue, epilogue) = target.frame()?;
        let gates = match target.has_tables() && circuit.components.is_empty() {
            true => threes(circuit, stop),
            false => Some(pairs(circuit)),
        };
        let Some(gates) = gates.filter(|_| !stop.is_raised()) else {
            return Ok(None);
        };
        let mut emitter = Emitter {
            target,
            circuit,
            gates,
            encoder: Encoder::new(64),
            ip: 0,
            held: [None; MOST_REGISTERS],
            register: vec![None; n],
            home: vec![NONE; n],
            uses: vec![Vec::new(); n],
            cursor: vec![0; n],
            free: Vec::new(),
            scratch: FxHashSet::default(),
            n_cells: scratch,
            now: 0,
            loop_head: 0,
            in_loop: false,
        };
        for (at, op) in circuit.ops().iter().enumerate() {
            emitter.home[at] = match *op {
                Op::Zero => ZERO,
                Op::One => ONE,
                Op::Load(cell) => cell,
                Op::Settled { component, atom } => circuit.components[component as usize].cells[atom as usize],
                _ => NONE,
            };
        }
        emitter.put_all(&prologue)?;
        emitter.save_overwritten_copies()?;
        let items = emitter.order();
        if stop.is_raised() {
            return Ok(None);
        }
        emitter.find_uses(&items);
        let mut entries = vec![0];
        for (at, &item) in items.iter().enumerate() {
            let length = emitter.ip as usize - entries[entries.len() - 1];
            if length >= piece && !emitter.in_loop {
                emitter.flush()?;
                emitter.put_all(&epilogue)?;
                entries.push(emitter.ip as usize);
                emitter.put_all(&prologue)?;
            }
            if at % BETWEEN_LOOKS == 0 && stop.is_raised() {
                return Ok(None);
            }
            emitter.now = at as u32;
            match item {
                Item::Op(wire) => emitter.operation(wire)?,
                Item::Store(cell, wire) => emitter.store(cell, wire)?,
                Item::LoopBegin(component) => emitter.begin_loop(component)?,
                Item::LoopEnd(component) => emitter.end_loop(component)?,
            }
        }
        emitter.put_all(&epilogue)?;
        Ok(Some(Emitted {
            bytes: emitter.encoder.take_buffer(),
            entries,
            n_cells: emitter.n_cells,
        }))
    }

    /// Saves values that are the content of one stored cell and are stored to another, before the first is overwritten.
    fn save_overwritten_copies(&mut self) -> Result<(), IcedError> {
        let targets: FxHashSet<u32> = self.circuit.stores.iter().map(|&(cell, _)| cell).collect();
        for &(cell, wire) in &self.circuit.stores {
            if let Op::Load(from) = self.circuit.op(wire)
                && from != cell
                && targets.contains(&from)
                && self.home[wire.0 as usize] == from
            {
                let slot = self.fresh();
                self.load_to(0, from)?;
                self.save_to(slot, 0)?;
                // Not marked as scratch: it must last to the end.
                self.scratch.remove(&slot);
                self.home[wire.0 as usize] = slot;
            }
        }
        Ok(())
    }

    /// Operations in schedule order. Each store comes as soon as its value exists and its cell has been read.
    fn order(&self) -> Vec<Item> {
        let blocks = match self.target.has_tables() && self.circuit.components.is_empty() {
            true => {
                let roots: Vec<Wire> = self.circuit.stores.iter().map(|&(_, w)| w).collect();
                vec![Block::Straight(depth_first_gates(&self.gates, &roots))]
            }
            false => schedule(self.circuit, depth_first),
        };
        let n = self.circuit.ops().len();
        let mut items: Vec<Item> = Vec::new();
        let mut ready = vec![0_usize; n];
        let mut last_read: FxHashMap<u32, usize> = FxHashMap::default();
        for block in &blocks {
            let (Block::Straight(ops) | Block::Loop { ops, .. }) = block;
            let end = match block {
                Block::Loop { component, .. } => {
                    items.push(Item::LoopBegin(*component));
                    Some(items.len() + ops.len() + 1)
                }
                Block::Straight(_) => None,
            };
            for &wire in ops {
                items.push(Item::Op(wire));
                let after = end.unwrap_or(items.len());
                ready[wire.0 as usize] = after;
                for &read in self.gates[wire.0 as usize].iter().flat_map(Gate::inputs) {
                    if matches!(self.circuit.op(read), Op::Load(_)) {
                        last_read.insert(self.home[read.0 as usize], after);
                    }
                }
            }
            if let Block::Loop { component, .. } = block {
                items.push(Item::LoopEnd(*component));
                for &definition in &self.circuit.components[*component].definitions {
                    if let Op::Load(cell) = self.circuit.op(definition) {
                        last_read.insert(cell, items.len());
                    }
                }
            }
        }
        self.insert_stores(items, &ready, &last_read)
    }

    fn insert_stores(&self, items: Vec<Item>, ready: &[usize], last_read: &FxHashMap<u32, usize>) -> Vec<Item> {
        let mut stores: Vec<(usize, u32, Wire)> = Vec::new();
        for &(cell, wire) in &self.circuit.stores {
            if self.home[wire.0 as usize] == cell {
                continue;
            }
            // Values that are not computed here are in memory from the start: they are written last.
            let is_op = self.gates[wire.0 as usize].is_some();
            let value_at = if is_op { ready[wire.0 as usize] } else { items.len() };
            let free_at = last_read.get(&cell).copied().unwrap_or(0);
            stores.push((value_at.max(free_at), cell, wire));
        }
        stores.sort_by_key(|&(at, _, _)| at);
        let mut stores = stores.into_iter().peekable();
        let mut merged = Vec::with_capacity(items.len() + stores.len());
        let n = items.len();
        for (at, item) in items.into_iter().enumerate() {
            while let Some((_, cell, wire)) = stores.next_if(|s| s.0 <= at) {
                merged.push(Item::Store(cell, wire));
            }
            merged.push(item);
        }
        debug_assert!(stores.clone().all(|s| s.0 <= n));
        merged.extend(stores.map(|(_, cell, wire)| Item::Store(cell, wire)));
        merged
    }

    fn find_uses(&mut self, items: &[Item]) {
        let mut loop_start: Option<u32> = None;
        let mut defined = vec![0_u32; self.uses.len()];
        let mut outer: Vec<Wire> = Vec::new();
        for (at, &item) in items.iter().enumerate() {
            let at = at as u32;
            let read = |wire: Wire, uses: &mut Vec<Vec<u32>>, outer: &mut Vec<Wire>| {
                if uses[wire.0 as usize].last() != Some(&at) {
                    uses[wire.0 as usize].push(at);
                }
                if loop_start.is_some_and(|start| defined[wire.0 as usize] < start) {
                    outer.push(wire);
                }
            };
            match item {
                Item::Op(wire) => {
                    for &input in self.gates[wire.0 as usize].iter().flat_map(Gate::inputs) {
                        read(input, &mut self.uses, &mut outer);
                    }
                    defined[wire.0 as usize] = at;
                }
                Item::Store(_, wire) => read(wire, &mut self.uses, &mut outer),
                Item::LoopBegin(_) => loop_start = Some(at),
                Item::LoopEnd(component) => {
                    // Values that a loop reads from outside must be kept for all of its iterations.
                    outer.extend(&self.circuit.components[component].definitions);
                    for wire in outer.drain(..) {
                        if self.uses[wire.0 as usize].last() != Some(&at) {
                            self.uses[wire.0 as usize].push(at);
                        }
                    }
                    loop_start = None;
                }
            }
        }
    }

    /// Position of the next read of a value, strictly after now.
    fn next_use(&mut self, wire: Wire) -> u32 {
        let at = wire.0 as usize;
        let uses = &self.uses[at];
        let mut cursor = self.cursor[at] as usize;
        while cursor < uses.len() && uses[cursor] <= self.now {
            cursor += 1;
        }
        self.cursor[at] = cursor as u32;
        uses.get(cursor).copied().unwrap_or(NONE)
    }

    fn operation(&mut self, wire: Wire) -> Result<(), IcedError> {
        match self.gates[wire.0 as usize] {
            Some(Gate::Pair(kind, inputs)) => self.pair(wire, kind, inputs),
            Some(Gate::Table(table, inputs)) => self.table(wire, table, inputs),
            None => Ok(()),
        }
    }

    fn pair(&mut self, wire: Wire, kind: Kind, [mut a, mut b]: [Wire; 2]) -> Result<(), IcedError> {
        if kind != Kind::AndNot {
            // One operand must be in a register: the one that is, or else the one that is needed again sooner.
            let swap = match (self.register[a.0 as usize], self.register[b.0 as usize]) {
                (None, Some(_)) => true,
                (None, None) => self.next_use(b) < self.next_use(a),
                _ => false,
            };
            if swap {
                std::mem::swap(&mut a, &mut b);
            }
        }
        // Loading one operand must not evict the other, even if the other is not read again.
        let left = self.in_register(a, [self.register[b.0 as usize], None])?;
        let right = match self.register[b.0 as usize] {
            Some(r) => Place::Register(r),
            None => {
                let cell = self.home[b.0 as usize];
                if !self.target.reads_memory(kind, cell) || self.worth_loading(b) {
                    Place::Register(self.in_register(b, [Some(left), None])?)
                } else {
                    Place::Cell(cell)
                }
            }
        };
        self.free_register_if_dead(a);
        self.free_register_if_dead(b);
        let keep = match right {
            Place::Register(r) => [Some(left), Some(r), None],
            Place::Cell(_) => [Some(left), None, None],
        };
        let to = if self.held[left as usize].is_none() {
            left
        } else {
            self.take_register(keep)?
        };
        for instruction in self.target.operation(kind, to, left, right)?.into_iter().flatten() {
            self.put(instruction)?;
        }
        // Only now: a value that is spilled must not overwrite what this instruction still reads.
        self.free_slot_if_dead(a);
        self.free_slot_if_dead(b);
        self.hold(wire, to);
        Ok(())
    }

    /// The instruction replaces its first operand, and may read its last one from memory.
    fn table(&mut self, wire: Wire, table: u8, inputs: [Wire; 3]) -> Result<(), IcedError> {
        // Inputs that are not read again go first: they may be replaced. Those that are in no register go last.
        let mut order = [0, 1, 2];
        order.sort_by_key(|&at| {
            let input = inputs[at];
            let in_memory = self.register[input.0 as usize].is_none();
            (in_memory, (self.next_use(input) == NONE) == in_memory)
        });
        let last = inputs[order[2]];
        if self.next_use(inputs[order[0]]) != NONE && self.next_use(last) == NONE {
            // Loading it leaves a register to write to.
            order.rotate_right(1);
        }
        let [a, b, c] = order.map(|at| inputs[at]);
        let keep = [b, c].map(|input| self.register[input.0 as usize]);
        let first = self.in_register(a, keep)?;
        let keep = [Some(first), self.register[c.0 as usize]];
        let second = self.in_register(b, keep)?;
        let there = self.register[c.0 as usize];
        let third = match there {
            Some(r) => Place::Register(r),
            None if self.worth_loading(c) => Place::Register(self.in_register(c, [Some(first), Some(second)])?),
            None => Place::Cell(self.home[c.0 as usize]),
        };
        [a, b, c].iter().for_each(|&input| self.free_register_if_dead(input));
        let to = match self.held[first as usize] {
            None => first,
            Some(_) => {
                let mut keep = [Some(first), Some(second), None];
                if let Place::Register(r) = third {
                    keep[2] = Some(r);
                }
                let to = self.take_register(keep)?;
                self.put(self.target.copy(to, first)?)?;
                to
            }
        };
        let table = permute(table, order);
        self.put(self.target.table(table, to, second, third)?)?;
        [a, b, c].iter().for_each(|&input| self.free_slot_if_dead(input));
        self.hold(wire, to);
        Ok(())
    }

    /// Notes that a register holds a value, if that is read later.
    fn hold(&mut self, wire: Wire, register: u8) {
        if self.next_use(wire) != NONE {
            self.held[register as usize] = Some(wire);
            self.register[wire.0 as usize] = Some(register);
        }
    }

    fn store(&mut self, cell: u32, wire: Wire) -> Result<(), IcedError> {
        let from = self.in_register(wire, [None; 2])?;
        self.save_to(cell, from)?;
        if self.home[wire.0 as usize] == NONE {
            self.home[wire.0 as usize] = cell;
        }
        self.release_if_dead(wire);
        Ok(())
    }

    fn begin_loop(&mut self, component: usize) -> Result<(), IcedError> {
        self.flush()?;
        self.load_to(0, ZERO)?;
        for &cell in &self.circuit.components[component].cells {
            self.save_to(cell, 0)?;
        }
        self.loop_head = self.ip;
        self.in_loop = true;
        Ok(())
    }

    /// Assigns the atoms their new values, and repeats the loop if any of them changed.
    fn end_loop(&mut self, component: usize) -> Result<(), IcedError> {
        // Values computed in the loop are needed later or as definitions: all of them are stored.
        self.now -= 1;
        self.flush()?;
        self.now += 1;
        let circuit = self.circuit;
        let Component { definitions, cells, .. } = &circuit.components[component];
        self.load_to(0, ZERO)?;
        for (definition, &cell) in definitions.iter().zip(cells) {
            let from = self.home[definition.0 as usize];
            self.load_to(1, from)?;
            self.raw(Kind::Xor, 2, 1, Place::Cell(cell))?;
            self.raw(Kind::Or, 0, 0, Place::Register(2))?;
            // In place: using a new value early is correct, since definitions are monotone.
            self.save_to(cell, 1)?;
        }
        self.put(self.target.test(0)?)?;
        self.put(Instruction::with_branch(Code::Jne_rel32_64, self.loop_head)?)?;
        for &definition in definitions {
            self.release_if_dead(definition);
        }
        self.in_loop = false;
        Ok(())
    }

    fn raw(&mut self, kind: Kind, to: u8, a: u8, b: Place) -> Result<(), IcedError> {
        for instruction in self.target.operation(kind, to, a, b)?.into_iter().flatten() {
            self.put(instruction)?;
        }
        Ok(())
    }

    /// Frees all registers; values that are needed later are stored.
    fn flush(&mut self) -> Result<(), IcedError> {
        for r in 0..self.target.registers() {
            self.evict(r)?;
        }
        Ok(())
    }

    fn worth_loading(&mut self, wire: Wire) -> bool {
        let next = self.next_use(wire);
        if next == NONE {
            return false;
        }
        (0..self.target.registers()).any(|r| match self.held[r as usize] {
            None => true,
            Some(other) => self.next_use(other) > next,
        })
    }

    fn in_register(&mut self, wire: Wire, [a, b]: [Option<u8>; 2]) -> Result<u8, IcedError> {
        if let Some(r) = self.register[wire.0 as usize] {
            return Ok(r);
        }
        let r = self.take_register([a, b, None])?;
        self.load_to(r, self.home[wire.0 as usize])?;
        self.held[r as usize] = Some(wire);
        self.register[wire.0 as usize] = Some(r);
        Ok(r)
    }

    /// A register to write to: a free one, or that of the value that is needed last.
    fn take_register(&mut self, keep: [Option<u8>; 3]) -> Result<u8, IcedError> {
        let mut best = (0, 0);
        for r in 0..self.target.registers() {
            match self.held[r as usize] {
                // An operand that is not read again has freed its register: the result may be written there.
                None => return Ok(r),
                Some(wire) => {
                    let next = self.next_use(wire);
                    if next > best.0 && !keep.contains(&Some(r)) {
                        best = (next, r);
                    }
                }
            }
        }
        self.evict(best.1)?;
        Ok(best.1)
    }

    fn evict(&mut self, r: u8) -> Result<(), IcedError> {
        let Some(wire) = self.held[r as usize].take() else {
            return Ok(());
        };
        self.register[wire.0 as usize] = None;
        if self.home[wire.0 as usize] == NONE && self.next_use(wire) != NONE {
            let slot = self.fresh();
            self.home[wire.0 as usize] = slot;
            self.save_to(slot, r)?;
        }
        Ok(())
    }

    fn release_if_dead(&mut self, wire: Wire) {
        self.free_register_if_dead(wire);
        self.free_slot_if_dead(wire);
    }

    fn free_register_if_dead(&mut self, wire: Wire) {
        if self.next_use(wire) == NONE
            && let Some(r) = self.register[wire.0 as usize].take()
        {
            self.held[r as usize] = None;
        }
    }

    fn free_slot_if_dead(&mut self, wire: Wire) {
        let home = self.home[wire.0 as usize];
        if self.next_use(wire) == NONE && self.scratch.remove(&home) {
            self.free.push(home);
        }
    }

    fn fresh(&mut self) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.n_cells += 1;
            self.n_cells - 1
        });
        self.scratch.insert(slot);
        slot
    }

    fn load_to(&mut self, r: u8, cell: u32) -> Result<(), IcedError> {
        self.put(self.target.load(r, cell)?)
    }

    fn save_to(&mut self, cell: u32, r: u8) -> Result<(), IcedError> {
        self.put(self.target.store(cell, r)?)
    }

    fn put_all(&mut self, instructions: &[Instruction]) -> Result<(), IcedError> {
        instructions.iter().try_for_each(|&instruction| self.put(instruction))
    }

    fn put(&mut self, instruction: Instruction) -> Result<(), IcedError> {
        self.ip += self.encoder.encode(&instruction, self.ip)? as u64;
        Ok(())
    }
}

/// The table of a function whose arguments come in another order: the first is what was argument `order[0]`.
fn permute(table: u8, order: [usize; 3]) -> u8 {
    let mut permuted = 0;
    for row in 0..8_u8 {
        let old = (0..3).fold(0, |old, at| old | (row >> (2 - at) & 1) << (2 - order[at]));
        permuted |= (table >> old & 1) << row;
    }
    permuted
}
