//! For tests: random ground programs, and a naive evaluator that is plainly right.

use game::Rng;
use ground::{AtomId, GroundRule, Lit, Output, Program};

/// A program whose atoms are numbered by stratum, and its naive evaluator.
pub struct Twin {
    pub program: Program,
    stratum: Vec<usize>,
    n_strata: usize,
}

/// What the rules say about a state, or a state and a joint move.
pub struct Model(Vec<bool>);

impl Model {
    pub fn holds(&self, output: Output) -> bool {
        match output {
            Output::Never => false,
            Output::Always => true,
            Output::Atom(a) => self.0[a.0 as usize],
        }
    }
}

impl Twin {
    /// A random game: negation, positive cycles, several roles, outputs that are inputs, sees, several goals.
    pub fn random(rng: &mut Rng) -> Twin {
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
        make.finish()
    }

    /// The least model over a state and perhaps a joint move.
    pub fn model(&self, state: &[bool], joint: &[usize]) -> Model {
        let p = &self.program;
        let mut value = vec![false; p.n_atoms as usize];
        for (f, atom) in p.true_atoms.iter().enumerate() {
            value[atom.0 as usize] = state[f];
        }
        for (role, &mv) in joint.iter().enumerate() {
            value[p.does_atoms[role][mv].0 as usize] = true;
        }
        for stratum in 0..self.n_strata {
            loop {
                let mut changed = false;
                for rule in p.rules.iter().filter(|r| self.stratum[r.head.0 as usize] == stratum) {
                    let holds = rule.body.iter().all(|l| value[l.atom().0 as usize] != l.is_neg());
                    changed |= holds && !std::mem::replace(&mut value[rule.head.0 as usize], true);
                }
                if !changed {
                    break;
                }
            }
        }
        Model(value)
    }

    pub fn initial(&self) -> Vec<bool> {
        (0..self.program.fluents.len())
            .map(|f| self.program.initial.contains(&(f as u32)))
            .collect()
    }

    pub fn legal(&self, model: &Model, role: usize) -> Vec<usize> {
        let row = &self.program.legal[role];
        (0..row.len()).filter(|&m| model.holds(row[m])).collect()
    }

    pub fn next(&self, model: &Model) -> Vec<bool> {
        self.program.next.iter().map(|&o| model.holds(o)).collect()
    }
}

struct Maker {
    program: Program,
    stratum: Vec<usize>,
    n_strata: usize,
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
        Maker {
            program,
            stratum: Vec::new(),
            n_strata: 1,
        }
    }

    fn atom(&mut self, stratum: usize) -> AtomId {
        self.stratum.push(stratum);
        self.program.n_atoms += 1;
        AtomId(self.program.n_atoms - 1)
    }

    fn inputs(&mut self, rng: &mut Rng) {
        self.program.true_atoms = (0..self.program.fluents.len()).map(|_| self.atom(0)).collect();
        self.program.does_atoms = self
            .program
            .moves
            .clone()
            .iter()
            .map(|row| row.iter().map(|_| self.atom(0)).collect())
            .collect();
        self.program.initial = (0..self.program.fluents.len() as u32)
            .filter(|_| rng.below(2) == 0)
            .collect();
    }

    fn layer(&mut self, rng: &mut Rng, readable: &[AtomId]) -> Vec<AtomId> {
        let stratum = self.n_strata;
        self.n_strata += 1;
        let heads: Vec<AtomId> = (0..2 + rng.below(6)).map(|_| self.atom(stratum)).collect();
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
                // Something rare, so that games last.
                let stratum = self.n_strata;
                self.n_strata += 1;
                let atom = self.atom(stratum);
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
        let atoms: Vec<AtomId> = (0..length).map(|_| self.atom(0)).collect();
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
        let stratum = self.n_strata;
        self.n_strata += 1;
        let head = self.atom(stratum);
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

    fn finish(self) -> Twin {
        Twin {
            program: self.program,
            stratum: self.stratum,
            n_strata: self.n_strata,
        }
    }
}
