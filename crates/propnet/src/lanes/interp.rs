//! The interpreter of circuits: runs of one operation over vectors of `W` words.
//!
//! Operations are sorted by level, then by kind, so that a run of equal operations costs one dispatch. Values share
//! scratch cells: a cell is free again when the last reader of its value has run.

use super::cell::Cell;
use super::layout::{ONE, ZERO};
use crate::circuit::{Circuit, Op, Wire};
use crate::schedule::{Block, by_level, operands, schedule};
use game::StopFlag;
use rustc_hash::FxHashSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    And,
    AndNot,
    Or,
    Xor,
}

#[derive(Clone, Debug)]
struct Run {
    kind: Kind,
    args: Box<[[u32; 3]]>,
}

#[derive(Clone, Debug)]
enum Step {
    Runs(Vec<Run>),
    Loop { atoms: Vec<(u32, u32)>, runs: Vec<Run> },
}

/// A circuit ready to be interpreted.
#[derive(Clone, Debug)]
pub struct Interpreted {
    steps: Vec<Step>,
    /// Values that are plain copies of cells which the stores overwrite: saved first.
    saves: Vec<(u32, u32)>,
    /// Cells written at the end, and the cells they are copied from.
    stores: Vec<(u32, u32)>,
    /// Cells of a frame, scratch included.
    pub n_cells: u32,
}

impl Interpreted {
    /// Prepares a circuit; scratch cells start at `scratch`. `None` if the flag is raised.
    pub fn new(circuit: &Circuit, scratch: u32, stop: &StopFlag) -> Option<Interpreted> {
        let blocks = schedule(circuit, by_level);
        if stop.is_raised() {
            return None;
        }
        let mut places = Places::new(circuit, &blocks, scratch);
        let mut steps = Vec::new();
        for block in &blocks {
            if stop.is_raised() {
                return None;
            }
            let (Block::Straight(ops) | Block::Loop { ops, .. }) = block;
            let in_loop = matches!(block, Block::Loop { .. });
            let runs = encode(circuit, ops, &mut places, in_loop);
            steps.push(match block {
                Block::Straight(_) => Step::Runs(runs),
                Block::Loop { component, .. } => {
                    let c = &circuit.components[*component];
                    let sources = c.definitions.iter().map(|&w| places.of(circuit, w));
                    Step::Loop {
                        atoms: c.cells.iter().copied().zip(sources).collect(),
                        runs,
                    }
                }
            });
            places.end_block();
        }
        let overwritten: FxHashSet<u32> = circuit.stores.iter().map(|&(cell, _)| cell).collect();
        let mut saves = Vec::new();
        let mut stores = Vec::new();
        for &(cell, wire) in &circuit.stores {
            let mut from = places.of(circuit, wire);
            if from == cell {
                continue;
            }
            if from < scratch && overwritten.contains(&from) && !places.direct(wire) {
                let copy = places.fresh();
                saves.push((copy, from));
                from = copy;
            }
            stores.push((cell, from));
        }
        Some(Interpreted {
            steps,
            saves,
            stores,
            n_cells: places.n_cells,
        })
    }

    /// Runs the circuit once over a frame.
    pub fn run<const W: usize>(&self, frame: &mut [Cell<W>]) {
        for step in &self.steps {
            match step {
                Step::Runs(runs) => run_all(runs, frame),
                Step::Loop { atoms, runs } => settle(atoms, runs, frame),
            }
        }
        for &(to, from) in self.saves.iter().chain(&self.stores) {
            frame[to as usize] = frame[from as usize];
        }
    }
}

fn run_all<const W: usize>(runs: &[Run], frame: &mut [Cell<W>]) {
    for run in runs {
        match run.kind {
            Kind::And => apply(&run.args, frame, |a, b| a & b),
            Kind::AndNot => apply(&run.args, frame, |a, b| !a & b),
            Kind::Or => apply(&run.args, frame, |a, b| a | b),
            Kind::Xor => apply(&run.args, frame, |a, b| a ^ b),
        }
    }
}

fn apply<const W: usize>(args: &[[u32; 3]], frame: &mut [Cell<W>], op: impl Fn(u64, u64) -> u64) {
    for &[to, a, b] in args {
        let (a, b) = (frame[a as usize], frame[b as usize]);
        let out = &mut frame[to as usize];
        for at in 0..W {
            out.0[at] = op(a.0[at], b.0[at]);
        }
    }
}

fn settle<const W: usize>(atoms: &[(u32, u32)], runs: &[Run], frame: &mut [Cell<W>]) {
    for &(atom, _) in atoms {
        frame[atom as usize] = Cell::ZERO;
    }
    // Monotone, so every iteration but the last adds an atom in some lane. The bound guards against broken input.
    for _ in 0..=atoms.len() {
        run_all(runs, frame);
        let changed = atoms
            .iter()
            .any(|&(atom, from)| frame[atom as usize] != frame[from as usize]);
        if !changed {
            return;
        }
        // Definitions may be plain atoms of the same component, hence two sweeps.
        let new: Vec<Cell<W>> = atoms.iter().map(|&(_, from)| frame[from as usize]).collect();
        for (&(atom, _), value) in atoms.iter().zip(new) {
            frame[atom as usize] = value;
        }
    }
}

fn encode(circuit: &Circuit, ops: &[Wire], places: &mut Places, in_loop: bool) -> Vec<Run> {
    let mut runs: Vec<(Kind, Vec<[u32; 3]>)> = Vec::new();
    for &wire in ops {
        let (kind, a, b) = match circuit.op(wire) {
            Op::And(a, b) => (Kind::And, a, b),
            Op::AndNot(a, b) => (Kind::AndNot, a, b),
            Op::Or(a, b) => (Kind::Or, a, b),
            Op::Xor(a, b) => (Kind::Xor, a, b),
            _ => continue,
        };
        let (pa, pb) = (places.of(circuit, a), places.of(circuit, b));
        let to = places.take(wire);
        places.read(a, in_loop);
        places.read(b, in_loop);
        match runs.last_mut() {
            Some((last, args)) if *last == kind => args.push([to, pa, pb]),
            _ => runs.push((kind, vec![[to, pa, pb]])),
        }
    }
    runs.into_iter()
        .map(|(kind, args)| Run {
            kind,
            args: args.into(),
        })
        .collect()
}

/// The cell of each value.
struct Places {
    place: Vec<u32>,
    /// Readers left, per value; values that outlive the code (stores, loop definitions) count one more.
    left: Vec<u32>,
    direct: Vec<bool>,
    free: Vec<u32>,
    /// Cells to free when the block ends: values read in a loop are needed in its next pass.
    later: Vec<u32>,
    n_cells: u32,
}

const NOWHERE: u32 = u32::MAX;

impl Places {
    fn new(circuit: &Circuit, blocks: &[Block], scratch: u32) -> Places {
        let n = circuit.ops().len();
        let mut left = vec![0_u32; n];
        for block in blocks {
            let (Block::Straight(ops) | Block::Loop { ops, .. }) = block;
            for (a, b) in ops.iter().filter_map(|&w| operands(circuit.op(w))) {
                left[a.0 as usize] += 1;
                left[b.0 as usize] += 1;
            }
        }
        let mut place = vec![NOWHERE; n];
        let mut loaded = FxHashSet::default();
        for op in circuit.ops() {
            if let Op::Load(cell) = op {
                loaded.insert(*cell);
            }
        }
        let mut direct = vec![false; n];
        for &(cell, wire) in &circuit.stores {
            let at = wire.0 as usize;
            left[at] += 1;
            // A cell that nothing reads can hold the value at once.
            if !loaded.contains(&cell) && place[at] == NOWHERE && operands(circuit.op(wire)).is_some() {
                place[at] = cell;
                direct[at] = true;
            }
        }
        for component in &circuit.components {
            component.definitions.iter().for_each(|w| left[w.0 as usize] += 1);
        }
        Places {
            place,
            left,
            direct,
            free: Vec::new(),
            later: Vec::new(),
            n_cells: scratch,
        }
    }

    fn of(&self, circuit: &Circuit, wire: Wire) -> u32 {
        match circuit.op(wire) {
            Op::Zero => ZERO,
            Op::One => ONE,
            Op::Load(cell) => cell,
            Op::Settled { component, atom } => circuit.components[component as usize].cells[atom as usize],
            _ => self.place[wire.0 as usize],
        }
    }

    fn direct(&self, wire: Wire) -> bool {
        self.direct[wire.0 as usize]
    }

    fn fresh(&mut self) -> u32 {
        self.n_cells += 1;
        self.n_cells - 1
    }

    fn take(&mut self, wire: Wire) -> u32 {
        let at = wire.0 as usize;
        if self.place[at] == NOWHERE {
            self.place[at] = self.free.pop().unwrap_or_else(|| {
                self.n_cells += 1;
                self.n_cells - 1
            });
        }
        self.place[at]
    }

    fn read(&mut self, wire: Wire, in_loop: bool) {
        let at = wire.0 as usize;
        self.left[at] -= 1;
        if self.left[at] == 0 && self.place[at] != NOWHERE && !self.direct[at] {
            if in_loop {
                self.later.push(self.place[at])
            } else {
                self.free.push(self.place[at])
            }
        }
    }

    fn end_block(&mut self) {
        self.free.append(&mut self.later);
    }
}
