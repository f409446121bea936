//! Random ground programs, for tests.
//!
//! Simulators of these programs are compared with [`ground::Direct`], the naive evaluator of ground programs.

use game::Rng;
use ground::{AtomId, GroundRule, Lit, Output, Program};
use std::sync::Arc;

/// A random game: negation, positive cycles, several roles, outputs that are inputs, percepts, several goals.
pub fn random_program(rng: &mut Rng) -> Arc<Program> {
    let mut make = Maker::new(rng);
    make.inputs(rng);
    let state_inputs = make.program.true_atoms.clone();
    let mut readable = state_inputs.clone();
    for _ in 0..1 + rng.below(3) {
        let new = make.layer(rng, &readable);
        readable.extend(new);
    }
    make.state_outputs(rng, &readable);
    readable.extend(make.program.does_atoms.iter().flatten());
    for _ in 0..1 + rng.below(2) {
        let new = make.layer(rng, &readable);
        readable.extend(new);
    }
    make.move_outputs(rng, &readable);
    make.clock(rng);
    Arc::new(make.program)
}

struct Maker {
    program: Program,
}

impl Maker {
    fn new(rng: &mut Rng) -> Maker {
        let n_roles = 1 + rng.below(3);
        let moves = |rng: &mut Rng| (0..1 + rng.below(6)).map(|m| format!("m{m}")).collect();
        let percepts = |rng: &mut Rng| (0..rng.below(4)).map(|p| format!("p{p}")).collect();
        let program = Program {
            roles: (0..n_roles).map(|r| format!("r{r}")).collect(),
            fluents: (0..2 + rng.below(9))
                .map(|f| format!("(f {} {})", f / 3, f % 3))
                .collect(),
            moves: (0..n_roles).map(|_| moves(rng)).collect(),
            percepts: (0..n_roles).map(|_| percepts(rng)).collect(),
            ..Program::default()
        };
        Maker { program }
    }

    fn atom(&mut self) -> AtomId {
        self.program.n_atoms += 1;
        AtomId(self.program.n_atoms - 1)
    }

    fn inputs(&mut self, rng: &mut Rng) {
        self.program.true_atoms = (0..self.program.fluents.len()).map(|_| self.atom()).collect();
        self.program.does_atoms = self
            .program
            .moves
            .clone()
            .iter()
            .map(|row| row.iter().map(|_| self.atom()).collect())
            .collect();
        self.program.initial = (0..self.program.fluents.len() as u32)
            .filter(|_| rng.below(2) == 0)
            .collect();
    }

    fn layer(&mut self, rng: &mut Rng, readable: &[AtomId]) -> Vec<AtomId> {
        let heads: Vec<AtomId> = (0..2 + rng.below(6)).map(|_| self.atom()).collect();
        for &head in &heads {
            for _ in 0..1 + rng.below(4) {
                let mut body: Vec<Lit> = (0..1 + rng.below(3))
                    .map(|_| {
                        let atom = *rng.pick(readable);
                        if rng.below(3) == 0 {
                            Lit::neg(atom)
                        } else {
                            Lit::pos(atom)
                        }
                    })
                    .collect();
                if rng.below(3) == 0 {
                    // Positive recursion within the layer.
                    body.push(Lit::pos(*rng.pick(&heads)));
                }
                body.sort_unstable();
                body.dedup();
                self.program.rules.push(GroundRule {
                    head,
                    body: body.into(),
                });
            }
        }
        heads
    }

    fn output(&self, rng: &mut Rng, readable: &[AtomId]) -> Output {
        match rng.below(12) {
            0 => Output::Never,
            1 => Output::Always,
            // Often an atom made last, sometimes a bare input.
            2..5 => Output::Atom(*rng.pick(readable)),
            _ => Output::Atom(readable[readable.len() - 1 - rng.below(readable.len().min(5))]),
        }
    }

    fn state_outputs(&mut self, rng: &mut Rng, readable: &[AtomId]) {
        for row in self.program.moves.clone() {
            let mut legal: Vec<Output> = row.iter().map(|_| self.output(rng, readable)).collect();
            let always = rng.below(legal.len());
            legal[always] = Output::Always;
            self.program.legal.push(legal);
            let values = [0, 30, 100, 120];
            let goals = values[..rng.below(5)]
                .iter()
                .map(|&v| (v, self.output(rng, readable)))
                .collect();
            self.program.goals.push(goals);
        }
        self.program.terminal = match rng.below(5) {
            0 => Output::Atom(*rng.pick(readable)),
            _ => {
                // A rare condition, so that games last.
                let atom = self.atom();
                let mut body: Vec<Lit> = (0..3).map(|_| Lit::pos(*rng.pick(readable))).collect();
                body.sort_unstable();
                body.dedup();
                self.program.rules.push(GroundRule {
                    head: atom,
                    body: body.into(),
                });
                Output::Atom(atom)
            }
        };
    }

    fn move_outputs(&mut self, rng: &mut Rng, readable: &[AtomId]) {
        self.program.next = (0..self.program.fluents.len())
            .map(|_| self.output(rng, readable))
            .collect();
        let percepts = self.program.percepts.clone();
        self.program.sees = percepts
            .iter()
            .map(|row| row.iter().map(|_| self.output(rng, readable)).collect())
            .collect();
    }

    /// A chain of fluents, each true one step after the one before; the last ends the game.
    fn clock(&mut self, rng: &mut Rng) {
        let length = 3 + rng.below(12);
        let atoms: Vec<AtomId> = (0..length).map(|_| self.atom()).collect();
        for (at, &atom) in atoms.iter().enumerate() {
            let p = &mut self.program;
            if at == 0 {
                p.initial.push(p.fluents.len() as u32);
            }
            p.fluents.push(format!("(time {at:02})"));
            p.true_atoms.push(atom);
            p.next.push(if at == 0 {
                Output::Never
            } else {
                Output::Atom(atoms[at - 1])
            });
        }
        let head = self.atom();
        let mut ends = vec![atoms[length - 1]];
        if let Output::Atom(other) = self.program.terminal {
            ends.push(other);
        }
        for end in ends {
            self.program.rules.push(GroundRule {
                head,
                body: [Lit::pos(end)].into(),
            });
        }
        self.program.terminal = Output::Atom(head);
    }
}
