//! Builds the network of a ground program.
//!
//! Atoms are visited in dependency order (strongly connected components, Tarjan 1972). An atom becomes the factored
//! disjunction of the bodies of its rules. The atoms of a positive cycle become leaves with definitions.

use crate::network::{Network, Outputs, Signal};
use crate::passes::factor::factor;
use crate::tuning::Bounds;
use ground::{AtomId, Lit, Output, Program};

/// The network of a program, factored but not yet changed by any pass; `None` if the work was stopped.
pub fn build(program: &Program, bounds: &Bounds) -> Option<Network> {
    let n_moves: Vec<usize> = program.moves.iter().map(Vec::len).collect();
    let mut net = Network::new(program.fluents.len(), &n_moves);
    let rules = RulesByHead::new(program);
    let mut signal: Vec<Option<Signal>> = vec![None; program.n_atoms as usize];
    for (f, atom) in program.true_atoms.iter().enumerate() {
        signal[atom.0 as usize] = Some(net.fluent(f));
    }
    for (role, row) in program.does_atoms.iter().enumerate() {
        for (mv, atom) in row.iter().enumerate() {
            signal[atom.0 as usize] = Some(net.does(role, mv));
        }
    }
    let components = components(program, &rules, &signal);
    for (number, component) in components.iter().enumerate() {
        if number % 64 == 0 {
            bounds.go_on()?;
        }
        if let [atom] = component[..]
            && !rules.depends_on(program, atom, atom)
        {
            let value = define(&mut net, program, &rules, &signal, atom);
            signal[atom.0 as usize] = Some(value);
            continue;
        }
        let first = net.cycles().len();
        for atom in component {
            signal[atom.0 as usize] = Some(net.add_cycle(number as u32));
        }
        for (at, &atom) in component.iter().enumerate() {
            let definition = define(&mut net, program, &rules, &signal, atom);
            net.define_cycle(first + at, definition);
        }
    }
    let of = |output: &Output| match *output {
        Output::Never => Signal::FALSE,
        Output::Always => Signal::TRUE,
        Output::Atom(atom) => signal[atom.0 as usize].unwrap_or(Signal::FALSE),
    };
    net.outputs = Outputs {
        next: program.next.iter().map(of).collect(),
        legal: program.legal.iter().map(|row| row.iter().map(of).collect()).collect(),
        sees: program.sees.iter().map(|row| row.iter().map(of).collect()).collect(),
        goals: program
            .goals
            .iter()
            .map(|row| row.iter().map(|(v, o)| (*v, of(o))).collect())
            .collect(),
        terminal: of(&program.terminal),
    };
    Some(net)
}

/// Literals of all rule bodies: the cost of a network without any pass.
pub fn naive_ops(program: &Program) -> usize {
    program.rules.iter().map(|r| r.body.len().max(1)).sum()
}

fn define(
    net: &mut Network,
    program: &Program,
    rules: &RulesByHead,
    signal: &[Option<Signal>],
    atom: AtomId,
) -> Signal {
    let value = |lit: &Lit| {
        let plain = signal[lit.atom().0 as usize].unwrap_or(Signal::FALSE);
        if lit.is_neg() { !plain } else { plain }
    };
    let mut cubes = Vec::new();
    for &rule in rules.of(atom) {
        let cube: Vec<Signal> = program.rules[rule as usize].body.iter().map(value).collect();
        if !cube.contains(&Signal::FALSE) {
            cubes.push(cube.into_iter().filter(|&s| s != Signal::TRUE).collect());
        }
    }
    factor(net, cubes)
}

struct RulesByHead {
    starts: Vec<u32>,
    rules: Vec<u32>,
}

impl RulesByHead {
    fn new(program: &Program) -> RulesByHead {
        let mut starts = vec![0_u32; program.n_atoms as usize + 1];
        for rule in &program.rules {
            starts[rule.head.0 as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut cursor = starts.clone();
        let mut rules = vec![0; program.rules.len()];
        for (number, rule) in program.rules.iter().enumerate() {
            let slot = &mut cursor[rule.head.0 as usize];
            rules[*slot as usize] = number as u32;
            *slot += 1;
        }
        RulesByHead { starts, rules }
    }

    fn of(&self, atom: AtomId) -> &[u32] {
        let at = atom.0 as usize;
        &self.rules[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    fn depends_on(&self, program: &Program, atom: AtomId, on: AtomId) -> bool {
        self.of(atom)
            .iter()
            .any(|&r| program.rules[r as usize].body.iter().any(|l| l.atom() == on))
    }

    /// The derived atoms that an atom's rules mention.
    fn needs<'a>(&'a self, program: &'a Program, atom: AtomId) -> impl Iterator<Item = AtomId> + 'a {
        self.of(atom)
            .iter()
            .flat_map(move |&r| program.rules[r as usize].body.iter().map(|l| l.atom()))
    }
}

/// Strongly connected components of the atoms that outputs need, each after the components it depends on. Iterative,
/// since dependencies in ground programs may be hundreds of thousands of atoms deep.
fn components(program: &Program, rules: &RulesByHead, inputs: &[Option<Signal>]) -> Vec<Vec<AtomId>> {
    const UNSEEN: u32 = u32::MAX;
    let n = program.n_atoms as usize;
    let mut index = vec![UNSEEN; n];
    let mut low = vec![0_u32; n];
    let mut on_stack = vec![false; n];
    let mut stack: Vec<AtomId> = Vec::new();
    let mut found: Vec<Vec<AtomId>> = Vec::new();
    let mut counter = 0;
    for root in output_atoms(program) {
        if index[root.0 as usize] != UNSEEN || inputs[root.0 as usize].is_some() {
            continue;
        }
        let mut work: Vec<(AtomId, Vec<AtomId>)> = vec![(root, Vec::new())];
        while let Some((atom, pending)) = work.last_mut() {
            let (atom, at) = (*atom, atom.0 as usize);
            if index[at] == UNSEEN {
                index[at] = counter;
                low[at] = counter;
                counter += 1;
                stack.push(atom);
                on_stack[at] = true;
                *pending = rules
                    .needs(program, atom)
                    .filter(|a| inputs[a.0 as usize].is_none())
                    .collect();
            }
            if let Some(child) = pending.pop() {
                let c = child.0 as usize;
                if index[c] == UNSEEN {
                    work.push((child, Vec::new()));
                } else if on_stack[c] {
                    low[at] = low[at].min(index[c]);
                }
                continue;
            }
            work.pop();
            if let Some((parent, _)) = work.last() {
                let p = parent.0 as usize;
                low[p] = low[p].min(low[at]);
            }
            if low[at] == index[at] {
                let start = stack.iter().rposition(|&a| a == atom).unwrap_or(0);
                let component: Vec<AtomId> = stack.drain(start..).collect();
                component.iter().for_each(|a| on_stack[a.0 as usize] = false);
                found.push(component);
            }
        }
    }
    found
}

fn output_atoms(program: &Program) -> Vec<AtomId> {
    let all = program
        .next
        .iter()
        .chain(program.legal.iter().flatten())
        .chain(program.sees.iter().flatten());
    let all = all
        .chain(program.goals.iter().flatten().map(|(_, o)| o))
        .chain([&program.terminal]);
    all.filter_map(|o| match o {
        Output::Atom(atom) => Some(*atom),
        _ => None,
    })
    .collect()
}
