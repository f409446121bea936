//! Gates of machine code: what one instruction computes of other values.
//!
//! Some processors compute any function of three values in one instruction. Then a circuit is covered by cones of at
//! most three inputs, of which only the top is computed: the technology mapping of field-programmable gate arrays
//! (Cong, Wu and Ding, "Cut ranking and pruning", FPGA 1999). For each value a few cuts are kept, those with the
//! least area flow: the share of gates that the cut needs, where a value that is read n times counts for 1/n to each
//! reader.

use super::emit::Kind;
use crate::circuit::{Circuit, Op, Wire};
use crate::schedule::operands;
use game::StopFlag;

/// How a value is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    /// An operation on two values.
    Pair(Kind, [Wire; 2]),
    /// A function of three values, which may be the same. Bit `4a + 2b + c` is its result for `a`, `b` and `c`.
    Table(u8, [Wire; 3]),
}

impl Gate {
    /// The values that it reads.
    pub fn inputs(&self) -> &[Wire] {
        match self {
            Gate::Pair(_, inputs) => inputs,
            Gate::Table(_, inputs) => inputs,
        }
    }
}

/// The operation of a value, as a gate.
pub(super) fn pair_of(op: Op) -> Option<Gate> {
    Some(match op {
        Op::And(a, b) => Gate::Pair(Kind::And, [a, b]),
        Op::AndNot(a, b) => Gate::Pair(Kind::AndNot, [a, b]),
        Op::Or(a, b) => Gate::Pair(Kind::Or, [a, b]),
        Op::Xor(a, b) => Gate::Pair(Kind::Xor, [a, b]),
        _ => return None,
    })
}

/// Every operation as a gate.
pub(super) fn pairs(circuit: &Circuit) -> Vec<Option<Gate>> {
    circuit.ops().iter().map(|&op| pair_of(op)).collect()
}

/// Gates of up to three inputs for all stores of a circuit without components. Values without a gate are not computed.
/// `None` if the flag is raised.
pub(super) fn threes(circuit: &Circuit, stop: &StopFlag) -> Option<Vec<Option<Gate>>> {
    let cuts = best_cuts(circuit, stop)?;
    let mut required = vec![false; circuit.ops().len()];
    circuit
        .stores
        .iter()
        .for_each(|&(_, wire)| required[wire.0 as usize] = true);
    let mut gates = vec![None; circuit.ops().len()];
    for at in (0..circuit.ops().len()).rev() {
        let wire = Wire(at as u32);
        if required[at] && pair_of(circuit.op(wire)).is_some() {
            let gate = gate_of(circuit, wire, &cuts[at]);
            gate.inputs().iter().for_each(|input| required[input.0 as usize] = true);
            gates[at] = Some(gate);
        }
    }
    Some(gates)
}

/// Values from which another value is computed, ascending.
#[derive(Clone, Copy, Debug)]
struct Cut {
    inputs: [Wire; 3],
    n: u8,
    /// Operations between the inputs and the value.
    size: u8,
    flow: f32,
}

/// Cuts kept for each value.
const KEPT: usize = 3;
/// Operations of a cone, at most.
const LARGEST: u8 = 12;

impl Cut {
    const NONE: Cut = Cut {
        inputs: [Wire(0); 3],
        n: 0,
        size: 0,
        flow: 0.0,
    };

    fn inputs(&self) -> &[Wire] {
        &self.inputs[..usize::from(self.n)]
    }

    /// The value itself. Constants are no inputs.
    fn itself(circuit: &Circuit, wire: Wire) -> Cut {
        let is_constant = matches!(circuit.op(wire), Op::Zero | Op::One);
        Cut {
            inputs: [wire; 3],
            n: u8::from(!is_constant),
            ..Cut::NONE
        }
    }

    /// The inputs of both, unless there are more than three.
    fn join(&self, other: &Cut) -> Option<Cut> {
        let mut joined = Cut {
            size: self.size + other.size + 1,
            ..Cut::NONE
        };
        let (mut a, mut b) = (self.inputs(), other.inputs());
        while let Some(&next) = match (a.first(), b.first()) {
            (Some(x), Some(y)) => Some(x.min(y)),
            (x, y) => x.or(y),
        } {
            if joined.n == 3 || joined.size > LARGEST {
                return None;
            }
            joined.inputs[usize::from(joined.n)] = next;
            joined.n += 1;
            a = if a.first() == Some(&next) { &a[1..] } else { a };
            b = if b.first() == Some(&next) { &b[1..] } else { b };
        }
        (joined.n > 0).then_some(joined)
    }
}

/// Operations between two checks of the stop flag.
const BETWEEN_LOOKS: usize = 4_096;

/// The cut with the least area flow of every operation; `None` if the flag is raised.
fn best_cuts(circuit: &Circuit, stop: &StopFlag) -> Option<Vec<Cut>> {
    let ops = circuit.ops();
    let readers = readers(circuit);
    let mut cuts = vec![[Cut::NONE; KEPT]; ops.len()];
    let mut n_cuts = vec![0_u8; ops.len()];
    // Share of gates that one reader of a value pays for.
    let mut share = vec![0.0_f32; ops.len()];
    for (at, &op) in ops.iter().enumerate() {
        if at % BETWEEN_LOOKS == 0 && stop.is_raised() {
            return None;
        }
        let Some((a, b)) = operands(op).filter(|_| readers[at] > 0) else {
            continue;
        };
        let of = |wire: Wire| {
            let at = wire.0 as usize;
            std::iter::once(Cut::itself(circuit, wire)).chain(cuts[at][..usize::from(n_cuts[at])].iter().copied())
        };
        let (mut kept, mut n) = ([Cut::NONE; KEPT], 0);
        for x in of(a) {
            for y in of(b) {
                if let Some(mut cut) = x.join(&y) {
                    cut.flow = 1.0 + cut.inputs().iter().map(|input| share[input.0 as usize]).sum::<f32>();
                    keep(&mut kept, &mut n, cut);
                }
            }
        }
        share[at] = kept[0].flow / readers[at] as f32;
        cuts[at] = kept;
        n_cuts[at] = n as u8;
    }
    Some(cuts.into_iter().map(|[best, ..]| best).collect())
}

/// Adds a cut to the best ones, least flow first.
fn keep(kept: &mut [Cut; KEPT], n: &mut usize, cut: Cut) {
    if kept[..*n].iter().any(|other| other.inputs() == cut.inputs()) {
        return;
    }
    let at = kept[..*n].partition_point(|other| (other.flow, other.n) <= (cut.flow, cut.n));
    if at < KEPT {
        *n = (*n + 1).min(KEPT);
        kept[at..*n].rotate_right(1);
        kept[at] = cut;
    }
}

/// Number of needed operations and stores that read each value.
fn readers(circuit: &Circuit) -> Vec<u32> {
    let needed = circuit.needed();
    let mut readers = vec![0; circuit.ops().len()];
    for (at, &op) in circuit.ops().iter().enumerate().filter(|(at, _)| needed[*at]) {
        if let Some((a, b)) = operands(op) {
            debug_assert!(at > a.0 as usize && at > b.0 as usize);
            readers[a.0 as usize] += 1;
            readers[b.0 as usize] += 1;
        }
    }
    circuit
        .stores
        .iter()
        .for_each(|&(_, wire)| readers[wire.0 as usize] += 1);
    readers
}

/// The gate that computes a value from the inputs of a cut.
fn gate_of(circuit: &Circuit, wire: Wire, cut: &Cut) -> Gate {
    let table = table(circuit, wire, cut.inputs());
    let [a, b, c] = cut.inputs;
    match cut.n {
        1 => Gate::Table(table, [a, a, a]),
        2 => match table {
            0xc0 => Gate::Pair(Kind::And, [a, b]),
            0xfc => Gate::Pair(Kind::Or, [a, b]),
            0x3c => Gate::Pair(Kind::Xor, [a, b]),
            0x0c => Gate::Pair(Kind::AndNot, [a, b]),
            0x30 => Gate::Pair(Kind::AndNot, [b, a]),
            _ => Gate::Table(table, [a, b, b]),
        },
        _ => Gate::Table(table, [a, b, c]),
    }
}

/// The function of a value's inputs, for all eight assignments at once.
fn table(circuit: &Circuit, wire: Wire, inputs: &[Wire]) -> u8 {
    if let Some(at) = inputs.iter().position(|&input| input == wire) {
        return [0xf0, 0xcc, 0xaa][at];
    }
    let of = |wire: Wire| table(circuit, wire, inputs);
    match circuit.op(wire) {
        Op::And(a, b) => of(a) & of(b),
        Op::AndNot(a, b) => !of(a) & of(b),
        Op::Or(a, b) => of(a) | of(b),
        Op::Xor(a, b) => of(a) ^ of(b),
        Op::One => 0xff,
        Op::Zero => 0,
        Op::Load(_) | Op::Settled { .. } => unreachable!("a cut separates a value from all leaves"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(gates: &[Option<Gate>]) -> usize {
        gates.iter().flatten().count()
    }

    #[test]
    fn a_full_adder_is_two_gates() {
        let mut circuit = Circuit::new();
        let [a, b, c] = [2, 3, 4].map(|cell| circuit.load(cell));
        let half = circuit.xor(a, b);
        let sum = circuit.xor(half, c);
        let both = circuit.and(a, b);
        let through = circuit.and(half, c);
        let carry = circuit.or(both, through);
        circuit.store(5, sum);
        circuit.store(6, carry);
        let gates = threes(&circuit, &StopFlag::default()).expect("nobody stops it");
        assert_eq!(count(&gates), 2);
        assert_eq!(gates[sum.0 as usize], Some(Gate::Table(0x96, [a, b, c])));
        assert_eq!(gates[carry.0 as usize], Some(Gate::Table(0xe8, [a, b, c])));
        assert_eq!(count(&pairs(&circuit)), 5);
    }

    #[test]
    fn complements_cost_nothing_within_a_cone() {
        let mut circuit = Circuit::new();
        let [a, b, c] = [2, 3, 4].map(|cell| circuit.load(cell));
        let not = circuit.not(a);
        let or = circuit.or(not, b);
        let all = circuit.and(or, c);
        circuit.store(5, all);
        circuit.store(6, not);
        let gates = threes(&circuit, &StopFlag::default()).expect("nobody stops it");
        assert_eq!(gates[not.0 as usize], Some(Gate::Table(0x0f, [a, a, a])));
        assert_eq!(gates[all.0 as usize], Some(Gate::Table(0x8a, [a, b, c])));
        assert_eq!(count(&gates), 2);
    }
}
