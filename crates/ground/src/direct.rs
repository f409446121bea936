//! The naive evaluator of ground programs: the definition of what a [`Program`] means.
//!
//! Each component of atoms that depend on each other is evaluated until nothing changes, in dependency order.
//! Simulators of other forms of a program (networks of gates in `propnet`) are compared with this evaluator in tests.

use crate::program::{AtomId, Output, Program};
use crate::scc::Graph;
use game::{Fault, Goal, Meter, MoveId, PerceptId, RoleId, Simulator, State};
use std::sync::Arc;

/// A simulator of a ground program. A state is a bitset over the fluents.
#[derive(Clone)]
pub struct Direct {
    program: Arc<Program>,
    /// Numbers of rules, by component of their heads.
    strata: Arc<Vec<Vec<u32>>>,
    meter: Meter,
}

impl Direct {
    /// A simulator of a program.
    pub fn new(program: Arc<Program>) -> Direct {
        let edges: Vec<(u32, u32)> = program
            .rules
            .iter()
            .flat_map(|r| r.body.iter().map(|l| (r.head.0, l.atom().0)))
            .collect();
        let component = Graph::new(program.n_atoms as usize, &edges).components();
        let mut strata = vec![Vec::new(); program.n_atoms as usize];
        for (number, rule) in program.rules.iter().enumerate() {
            strata[component[rule.head.0 as usize] as usize].push(number as u32);
        }
        strata.retain(|rules| !rules.is_empty());
        Direct {
            program,
            strata: Arc::new(strata),
            meter: Meter::default(),
        }
    }

    /// The program that is run.
    pub fn program(&self) -> &Program {
        &self.program
    }

    fn evaluate(&self, state: &State, joint: &[MoveId]) -> Vec<bool> {
        let program = &*self.program;
        let mut holds = vec![false; program.n_atoms as usize];
        for (fluent, atom) in program.true_atoms.iter().enumerate() {
            holds[atom.0 as usize] = has(state, fluent);
        }
        for (does, mv) in program.does_atoms.iter().zip(joint) {
            if let Some(atom) = does.get(mv.0 as usize) {
                holds[atom.0 as usize] = true;
            }
        }
        for stratum in self.strata.iter() {
            self.close(stratum, &mut holds);
        }
        holds
    }

    fn close(&self, stratum: &[u32], holds: &mut [bool]) {
        let mut changed = true;
        while changed {
            changed = false;
            for rule in stratum.iter().map(|&n| &self.program.rules[n as usize]) {
                let holds_lit = |l: &crate::Lit| holds[l.atom().0 as usize] != l.is_neg();
                if !holds[rule.head.0 as usize] && rule.body.iter().all(holds_lit) {
                    holds[rule.head.0 as usize] = true;
                    changed = true;
                }
            }
        }
    }

    fn pack(&self, fluents: impl Iterator<Item = usize>) -> State {
        let mut state = State::default();
        state.0.resize(self.program.fluents.len().div_ceil(64), 0);
        for fluent in fluents {
            state.0[fluent / 64] |= 1 << (fluent % 64);
        }
        state
    }
}

fn has(state: &State, fluent: usize) -> bool {
    state
        .0
        .get(fluent / 64)
        .is_some_and(|word| word >> (fluent % 64) & 1 == 1)
}

fn is_on(output: Output, holds: &[bool]) -> bool {
    match output {
        Output::Never => false,
        Output::Always => true,
        Output::Atom(AtomId(atom)) => holds[atom as usize],
    }
}

fn on(outputs: &[Output], holds: &[bool]) -> impl Iterator<Item = usize> {
    (0..outputs.len()).filter(|&n| is_on(outputs[n], holds))
}

fn position(names: &[String], text: &str) -> Option<u32> {
    names.binary_search_by(|n| n.as_str().cmp(text)).ok().map(|n| n as u32)
}

impl Simulator for Direct {
    fn roles(&self) -> &[String] {
        &self.program.roles
    }

    fn initial(&mut self) -> Result<State, Fault> {
        Ok(self.pack(self.program.initial.iter().map(|&f| f as usize)))
    }

    fn terminal(&mut self, state: &State) -> Result<bool, Fault> {
        Ok(is_on(self.program.terminal, &self.evaluate(state, &[])))
    }

    fn legal(&mut self, state: &State, role: RoleId, out: &mut Vec<MoveId>) -> Result<(), Fault> {
        let holds = self.evaluate(state, &[]);
        out.clear();
        let legal = &self.program.legal[role.0 as usize];
        out.extend(on(legal, &holds).map(|n| MoveId(n as u32)));
        Ok(())
    }

    fn next(&mut self, state: &State, joint: &[MoveId]) -> Result<State, Fault> {
        let holds = self.evaluate(state, joint);
        self.meter.states += 1;
        Ok(self.pack(on(&self.program.next, &holds)))
    }

    fn percepts(
        &mut self,
        state: &State,
        joint: &[MoveId],
        role: RoleId,
        out: &mut Vec<PerceptId>,
    ) -> Result<(), Fault> {
        let holds = self.evaluate(state, joint);
        out.clear();
        let sees = &self.program.sees[role.0 as usize];
        out.extend(on(sees, &holds).map(|n| PerceptId(n as u32)));
        Ok(())
    }

    fn goal(&mut self, state: &State, role: RoleId) -> Result<Goal, Fault> {
        let holds = self.evaluate(state, &[]);
        let goals = &self.program.goals[role.0 as usize];
        let on = |(value, output): &(i32, Output)| is_on(*output, &holds).then_some(*value);
        let given: Vec<i32> = goals.iter().filter_map(on).collect();
        Ok(match given[..] {
            [] => Goal::None,
            [value] => Goal::Value(value),
            [.., largest] => Goal::Many(largest),
        })
    }

    fn fluents(&self, state: &State) -> Vec<String> {
        let names = &self.program.fluents;
        (0..names.len())
            .filter(|&f| has(state, f))
            .map(|f| names[f].clone())
            .collect()
    }

    fn state_of(&mut self, fluents: &[String]) -> Option<State> {
        let numbers: Option<Vec<usize>> = fluents
            .iter()
            .map(|text| position(&self.program.fluents, text).map(|f| f as usize))
            .collect();
        Some(self.pack(numbers?.into_iter()))
    }

    fn move_text(&self, role: RoleId, mv: MoveId) -> &str {
        &self.program.moves[role.0 as usize][mv.0 as usize]
    }

    fn find_move(&mut self, role: RoleId, text: &str) -> Option<MoveId> {
        position(&self.program.moves[role.0 as usize], text).map(MoveId)
    }

    fn percept_text(&self, role: RoleId, percept: PerceptId) -> &str {
        &self.program.percepts[role.0 as usize][percept.0 as usize]
    }

    fn find_percept(&mut self, role: RoleId, text: &str) -> Option<PerceptId> {
        position(&self.program.percepts[role.0 as usize], text).map(PerceptId)
    }

    fn meter(&self) -> &Meter {
        &self.meter
    }

    fn fork(&self) -> Box<dyn Simulator> {
        let mut fork = self.clone();
        fork.meter = Meter::default();
        Box::new(fork)
    }
}
