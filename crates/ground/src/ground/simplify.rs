//! Constant folding: decides atoms that were assumed to be possible.
//!
//! An atom is false if no instance derives it, or if every derivation of it needs the atom itself. It is true if an
//! instance whose body is true derives it. A fluent that is not initial and never follows is false; a move that is
//! never legal is never made. Each decision may lead to others.

use super::atoms::Ground;
use super::instantiate::{BodyLit, Instances};

/// Value of an atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Open,
    False,
    True,
}

/// An atom that holds in some state if this one can: `true(f)` for `next(f)`, `does(r,m)` for `legal(r,m)`.
pub(crate) type Feeds<'f> = &'f dyn Fn(Ground) -> Option<Ground>;

/// Decides atoms. `inputs` are set by play; those in `lasting` may hold without being derived.
pub(crate) fn decide(instances: &Instances, inputs: &[bool], lasting: &[bool], feeds: Feeds) -> Decided {
    let mut folding = Folding::new(instances, inputs, lasting, feeds);
    folding.start();
    loop {
        folding.propagate();
        if !folding.drop_unfounded() {
            return Decided {
                values: folding.values,
                alive: folding.alive,
            };
        }
    }
}

/// The result of [`decide`].
pub(crate) struct Decided {
    pub values: Vec<Value>,
    /// Instances that derive an undecided atom from undecided atoms.
    pub alive: Vec<bool>,
}

struct Folding<'i> {
    instances: &'i Instances,
    inputs: &'i [bool],
    lasting: &'i [bool],
    feeds: Feeds<'i>,
    values: Vec<Value>,
    alive: Vec<bool>,
    /// Literals of each instance that are not known to hold.
    n_left: Vec<u32>,
    /// Instances alive for each atom.
    n_alive: Vec<u32>,
    uses: Uses,
    todo: Vec<Ground>,
}

impl<'i> Folding<'i> {
    fn new(instances: &'i Instances, inputs: &'i [bool], lasting: &'i [bool], feeds: Feeds<'i>) -> Folding<'i> {
        let n_atoms = instances.atoms.len();
        let mut n_alive = vec![0; n_atoms];
        for i in 0..instances.len() {
            n_alive[instances.head(i).0 as usize] += 1;
        }
        Folding {
            instances,
            inputs,
            lasting,
            feeds,
            values: vec![Value::Open; n_atoms],
            alive: vec![true; instances.len()],
            n_left: (0..instances.len()).map(|i| instances.body(i).len() as u32).collect(),
            n_alive,
            uses: Uses::new(instances),
            todo: Vec::new(),
        }
    }

    fn start(&mut self) {
        for atom in 0..self.values.len() {
            let never = self.instances.atoms.rank(Ground(atom as u32)).is_none();
            let ungiven = !self.inputs[atom] && self.n_alive[atom] == 0;
            if never || ungiven {
                self.set(Ground(atom as u32), Value::False);
            }
        }
        for instance in 0..self.instances.len() {
            if self.n_left[instance] == 0 {
                self.set(self.instances.head(instance), Value::True);
            }
            if contradicts_itself(self.instances.body(instance)) {
                self.kill(instance);
            }
        }
    }

    fn set(&mut self, atom: Ground, value: Value) {
        if self.values[atom.0 as usize] != Value::Open {
            return;
        }
        self.values[atom.0 as usize] = value;
        self.todo.push(atom);
        if value == Value::False
            && let Some(fed) = (self.feeds)(atom)
            && !self.lasting[fed.0 as usize]
        {
            self.set(fed, Value::False);
        }
    }

    fn kill(&mut self, instance: usize) {
        if !std::mem::replace(&mut self.alive[instance], false) {
            return;
        }
        let head = self.instances.head(instance);
        self.n_alive[head.0 as usize] -= 1;
        if self.n_alive[head.0 as usize] == 0 && !self.inputs[head.0 as usize] {
            self.set(head, Value::False);
        }
    }

    fn propagate(&mut self) {
        while let Some(atom) = self.todo.pop() {
            let value = self.values[atom.0 as usize];
            for at in self.uses.of(atom) {
                let (instance, negated) = self.uses.at(at);
                if !self.alive[instance] {
                    continue;
                }
                if (value == Value::True) == negated {
                    self.kill(instance);
                    continue;
                }
                self.n_left[instance] -= 1;
                if self.n_left[instance] == 0 {
                    self.set(self.instances.head(instance), Value::True);
                }
            }
        }
    }

    /// Makes atoms without external support false; returns whether there were any.
    fn drop_unfounded(&mut self) -> bool {
        let founded = self.founded();
        let unfounded: Vec<Ground> = (0..self.values.len())
            .filter(|&a| self.values[a] == Value::Open && !founded[a])
            .map(|a| Ground(a as u32))
            .collect();
        for &atom in &unfounded {
            self.set(atom, Value::False);
        }
        !unfounded.is_empty()
    }

    /// Atoms that can be derived if all negations hold.
    fn founded(&self) -> Vec<bool> {
        let mut founded = vec![false; self.values.len()];
        let mut missing: Vec<u32> = vec![0; self.instances.len()];
        let mut todo = Vec::new();
        for (atom, &lasting) in self.lasting.iter().enumerate() {
            if lasting && self.values[atom] == Value::Open {
                reach(Ground(atom as u32), &mut founded, &mut todo);
            }
        }
        for (instance, missing) in missing.iter_mut().enumerate() {
            let counts = |l: &&BodyLit| !l.is_neg() && self.is_open(l.atom());
            *missing = self.instances.body(instance).iter().filter(counts).count() as u32;
            if *missing == 0 && self.alive[instance] {
                self.reach_head(instance, &mut founded, &mut todo);
            }
        }
        while let Some(atom) = todo.pop() {
            for at in self.uses.of(atom) {
                let (instance, negated) = self.uses.at(at);
                if negated || !self.alive[instance] || !self.is_open(atom) {
                    continue;
                }
                missing[instance] -= 1;
                if missing[instance] == 0 {
                    self.reach_head(instance, &mut founded, &mut todo);
                }
            }
        }
        founded
    }

    fn reach_head(&self, instance: usize, founded: &mut [bool], todo: &mut Vec<Ground>) {
        let head = self.instances.head(instance);
        reach(head, founded, todo);
        if let Some(fed) = (self.feeds)(head) {
            reach(fed, founded, todo);
        }
    }

    fn is_open(&self, atom: Ground) -> bool {
        self.values[atom.0 as usize] == Value::Open
    }
}

fn reach(atom: Ground, founded: &mut [bool], todo: &mut Vec<Ground>) {
    if !std::mem::replace(&mut founded[atom.0 as usize], true) {
        todo.push(atom);
    }
}

/// Bodies are sorted, so that an atom and its negation are neighbours.
fn contradicts_itself(body: &[BodyLit]) -> bool {
    body.windows(2)
        .any(|w| w[0].atom() == w[1].atom() && w[0].is_neg() != w[1].is_neg())
}

/// Where each atom is used.
struct Uses {
    starts: Vec<u32>,
    /// Instance, and whether negated, in the lowest bit.
    uses: Vec<u32>,
}

impl Uses {
    fn new(instances: &Instances) -> Uses {
        let mut starts = vec![0; instances.atoms.len() + 1];
        for i in 0..instances.len() {
            for lit in instances.body(i) {
                starts[lit.atom().0 as usize + 1] += 1;
            }
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut fill = starts.clone();
        let mut uses = vec![0; *starts.last().unwrap_or(&0) as usize];
        for i in 0..instances.len() {
            for lit in instances.body(i) {
                let at = &mut fill[lit.atom().0 as usize];
                uses[*at as usize] = (i as u32) << 1 | u32::from(lit.is_neg());
                *at += 1;
            }
        }
        Uses { starts, uses }
    }

    fn of(&self, atom: Ground) -> std::ops::Range<usize> {
        self.starts[atom.0 as usize] as usize..self.starts[atom.0 as usize + 1] as usize
    }

    fn at(&self, place: usize) -> (usize, bool) {
        let packed = self.uses[place];
        ((packed >> 1) as usize, packed & 1 == 1)
    }
}
