//! From decided instances to the [`Program`]: needed atoms, numbered and named.

use super::GroundError;
use super::atoms::Ground;
use super::instantiate::Instances;
use super::simplify::{Decided, Value};
use crate::goal_value;
use crate::program::{AtomId, GroundRule, Lit, Output, Program};
use crate::scc::Graph;
use crate::terms::{TermId, Terms};
use crate::theory::{RelId, Theory, rel};
use game::StopFlag;
use gdl::Symbols;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// Input of assembling.
pub(crate) struct Parts<'p> {
    pub theory: &'p Theory,
    pub terms: &'p Terms,
    pub symbols: &'p Symbols,
    pub instances: &'p Instances,
    pub decided: &'p Decided,
    pub roles: &'p [TermId],
    pub initial: &'p FxHashSet<TermId>,
    pub stop: &'p StopFlag,
}

/// Builds the program.
pub(crate) fn assemble(parts: &Parts) -> Result<Program, GroundError> {
    let mut build = Builder::new(parts);
    build.name_everything();
    build.check_stop()?;
    build.keep_needed_rules();
    build.check_stop()?;
    let component = build.stratify()?;
    build.check_stop()?;
    Ok(build.finish(&component))
}

struct Builder<'p> {
    parts: &'p Parts<'p>,
    program: Program,
    /// Rules in old numbers, with known literals removed from bodies.
    rules: Vec<(u32, Vec<(u32, bool)>)>,
    /// Old number of each output that is an atom.
    asked: Vec<u32>,
    fluents: Vec<Ground>,
    moves: Vec<Vec<Ground>>,
    /// Atoms made here: names of the atoms past those of the instances.
    made: Vec<String>,
}

/// An output before atoms are numbered anew.
type OldOutput = Output;

impl<'p> Builder<'p> {
    fn new(parts: &'p Parts<'p>) -> Builder<'p> {
        Builder {
            parts,
            program: Program::default(),
            rules: Vec::new(),
            asked: Vec::new(),
            fluents: Vec::new(),
            moves: Vec::new(),
            made: Vec::new(),
        }
    }

    fn check_stop(&self) -> Result<(), GroundError> {
        match self.parts.stop.is_raised() {
            true => Err(GroundError::Stopped),
            false => Ok(()),
        }
    }

    fn text(&self, term: TermId) -> String {
        self.parts.terms.text(term, self.parts.symbols)
    }

    fn name_everything(&mut self) {
        self.program.roles = self.parts.roles.iter().map(|&r| self.text(r)).collect();
        let n_roles = self.parts.roles.len();
        let fluents = self.named(rel::TRUE, |row| Some((0, row[0])), 1).remove(0);
        let by_role = |row: &[TermId]| self.role_of(row[0]).map(|r| (r, row[1]));
        let moves = self.named(rel::DOES, by_role, n_roles);
        let percepts = self.named(rel::SEES, by_role, n_roles);
        let goals = self.named(rel::GOAL, by_role, n_roles);

        self.name_fluents(fluents);
        for named in moves {
            let texts = named.iter().map(|(text, _)| text.clone()).collect();
            let does: Vec<Ground> = named.into_iter().map(|(_, atom)| atom).collect();
            let legal = does.iter().map(|&m| self.fed_by(rel::LEGAL, m)).collect();
            self.program.moves.push(texts);
            self.program.legal.push(legal);
            self.moves.push(does);
        }
        for named in percepts {
            let outputs = named.iter().map(|&(_, atom)| self.output(atom)).collect();
            self.program
                .percepts
                .push(named.into_iter().map(|(text, _)| text).collect());
            self.program.sees.push(outputs);
        }
        for (role, named) in goals.into_iter().enumerate() {
            let goals = self.goals(role, named);
            self.program.goals.push(goals);
        }
        self.program.terminal = match self.parts.instances.atoms.find(rel::TERMINAL, &[]) {
            Some(atom) => self.output(atom),
            None => Output::Never,
        };
    }

    fn name_fluents(&mut self, fluents: Vec<(String, Ground)>) {
        let atoms = &self.parts.instances.atoms;
        for (number, (text, atom)) in fluents.into_iter().enumerate() {
            if self.parts.initial.contains(&atoms.row(atom)[0]) {
                self.program.initial.push(number as u32);
            }
            let next = self.fed_by(rel::NEXT, atom);
            self.program.next.push(next);
            self.program.fluents.push(text);
            self.fluents.push(atom);
        }
    }

    /// Atoms of a relation that are not false, grouped, with text, sorted by it.
    fn named(
        &self,
        relation: RelId,
        group: impl Fn(&[TermId]) -> Option<(usize, TermId)>,
        n_groups: usize,
    ) -> Vec<Vec<(String, Ground)>> {
        let mut groups = vec![Vec::new(); n_groups];
        let atoms = &self.parts.instances.atoms;
        for &atom in atoms.derived() {
            if atoms.relation(atom) != relation || self.value(atom) == Value::False {
                continue;
            }
            if let Some((n, term)) = group(atoms.row(atom)) {
                groups[n].push((self.text(term), atom));
            }
        }
        groups.iter_mut().for_each(|g| g.sort());
        groups
    }

    fn role_of(&self, term: TermId) -> Option<usize> {
        self.parts.roles.iter().position(|&r| r == term)
    }

    fn value(&self, atom: Ground) -> Value {
        self.parts.decided.values[atom.0 as usize]
    }

    fn output(&mut self, atom: Ground) -> OldOutput {
        match self.value(atom) {
            Value::False => Output::Never,
            Value::True => Output::Always,
            Value::Open => {
                self.asked.push(atom.0);
                Output::Atom(AtomId(atom.0))
            }
        }
    }

    /// The output `next(f)` of an input `true(f)`, or `legal(r,m)` of `does(r,m)`.
    fn fed_by(&mut self, relation: RelId, input: Ground) -> OldOutput {
        let atoms = &self.parts.instances.atoms;
        match atoms.find(relation, atoms.row(input)) {
            Some(atom) => self.output(atom),
            None => Output::Never,
        }
    }

    /// Goal values of a role. Spellings of one number are one value.
    fn goals(&mut self, role: usize, named: Vec<(String, Ground)>) -> Vec<(i32, OldOutput)> {
        let mut by_value: BTreeMap<i32, Vec<Ground>> = BTreeMap::new();
        for (text, atom) in named {
            if let Some(value) = goal_value(&text) {
                by_value.entry(value).or_default().push(atom);
            }
        }
        by_value
            .into_iter()
            .map(|(value, atoms)| (value, self.any_of(role, value, &atoms)))
            .collect()
    }

    fn any_of(&mut self, role: usize, value: i32, atoms: &[Ground]) -> OldOutput {
        if atoms.iter().any(|&a| self.value(a) == Value::True) {
            return Output::Always;
        }
        if let &[atom] = atoms {
            return self.output(atom);
        }
        let made = (self.parts.instances.atoms.len() + self.made.len()) as u32;
        self.made.push(format!("(goal# {} {value})", self.program.roles[role]));
        self.rules.extend(atoms.iter().map(|a| (made, vec![(a.0, false)])));
        self.asked.push(made);
        Output::Atom(AtomId(made))
    }

    /// The rules that outputs need.
    fn keep_needed_rules(&mut self) {
        let n_old = self.parts.instances.atoms.len();
        let Parts { instances, decided, .. } = self.parts;
        let is_kept = |i: &usize| decided.alive[*i] && decided.values[instances.head(*i).0 as usize] == Value::Open;
        let kept: Vec<(u32, u32)> = (0..instances.len())
            .filter(is_kept)
            .map(|i| (instances.head(i).0, i as u32))
            .collect();
        let rules_of = Graph::new(n_old, &kept);
        let mut seen = vec![false; n_old];
        let mut todo: Vec<u32> = self.asked.iter().copied().filter(|&a| a < n_old as u32).collect();
        todo.extend(self.rules.iter().flat_map(|(_, body)| body.iter().map(|l| l.0)));
        while let Some(atom) = todo.pop() {
            if std::mem::replace(&mut seen[atom as usize], true) {
                continue;
            }
            for &i in rules_of.successors(atom) {
                let open = |l: &&super::instantiate::BodyLit| self.value(l.atom()) == Value::Open;
                let body = instances.body(i as usize).iter().filter(open);
                let body: Vec<(u32, bool)> = body.map(|l| (l.atom().0, l.is_neg())).collect();
                todo.extend(body.iter().map(|l| l.0));
                self.rules.push((atom, body));
            }
        }
    }

    /// The component of each atom. No atom may depend on its own negation.
    fn stratify(&self) -> Result<Vec<u32>, GroundError> {
        let graph = self.graph();
        let component = graph.components();
        for (head, body) in &self.rules {
            let bad =
                |&&(atom, negated): &&(u32, bool)| negated && component[atom as usize] == component[*head as usize];
            let Some(&(atom, _)) = body.iter().find(bad) else {
                continue;
            };
            let back = graph.path(atom, *head).unwrap_or_default();
            let cycle = std::iter::once(*head).chain(back).map(|a| self.name(a)).collect();
            return Err(GroundError::NegativeCycle { cycle });
        }
        Ok(component)
    }

    fn graph(&self) -> Graph {
        let n = self.parts.instances.atoms.len() + self.made.len();
        let edges: Vec<(u32, u32)> = self
            .rules
            .iter()
            .flat_map(|(head, body)| body.iter().map(|l| (*head, l.0)))
            .collect();
        Graph::new(n, &edges)
    }

    fn name(&self, old: u32) -> String {
        let atoms = &self.parts.instances.atoms;
        if old as usize >= atoms.len() {
            return self.made[old as usize - atoms.len()].clone();
        }
        let atom = Ground(old);
        let label = &self.parts.theory.relation(atoms.relation(atom)).label;
        let relation = label.rsplit_once('/').map_or(label.as_str(), |(name, _)| name);
        let row = atoms.row(atom);
        if row.is_empty() {
            return relation.to_owned();
        }
        let mut out = format!("({relation}");
        for &term in row {
            out.push(' ');
            self.parts.terms.write(term, self.parts.symbols, &mut out);
        }
        out.push(')');
        out
    }

    /// Numbers inputs first, then derived atoms so that, cycles apart, an atom comes after those it depends on.
    fn finish(mut self, component: &[u32]) -> Program {
        let mut numbering = Numbering::new(component.len());
        self.program.true_atoms = self.fluents.iter().map(|a| numbering.number(a.0)).collect();
        let number_all = |of: &Vec<Ground>| of.iter().map(|a| a.0).collect::<Vec<u32>>();
        for does in self.moves.iter().map(number_all) {
            let atoms = does.into_iter().map(|a| numbering.number(a)).collect();
            self.program.does_atoms.push(atoms);
        }
        let mut heads: Vec<u32> = self.rules.iter().map(|r| r.0).chain(self.asked.clone()).collect();
        heads.sort_unstable_by_key(|&a| (component[a as usize], a));
        heads.dedup();
        for head in heads {
            numbering.number(head);
        }
        self.number_rules(&mut numbering);
        let renumber = |output: &mut Output| {
            if let Output::Atom(atom) = output {
                *atom = numbering.new[atom.0 as usize].expect("outputs are numbered");
            }
        };
        let program = &mut self.program;
        program.next.iter_mut().for_each(renumber);
        program.legal.iter_mut().flatten().for_each(renumber);
        program.sees.iter_mut().flatten().for_each(renumber);
        program.goals.iter_mut().flatten().for_each(|(_, o)| renumber(o));
        renumber(&mut program.terminal);
        program.n_atoms = numbering.old.len() as u32;
        self.program.names = numbering.old.iter().map(|&a| self.name(a)).collect();
        self.program
    }

    fn number_rules(&mut self, numbering: &mut Numbering) {
        let mut rules = Vec::with_capacity(self.rules.len());
        for (head, body) in std::mem::take(&mut self.rules) {
            let lit = |&(atom, negated): &(u32, bool)| {
                let atom = numbering.number(atom);
                if negated { Lit::neg(atom) } else { Lit::pos(atom) }
            };
            let mut body: Vec<Lit> = body.iter().map(lit).collect();
            body.sort_unstable();
            body.dedup();
            let head = numbering.number(head);
            rules.push(GroundRule {
                head,
                body: body.into(),
            });
        }
        rules.sort_unstable_by(|a, b| (a.head, &a.body).cmp(&(b.head, &b.body)));
        rules.dedup();
        self.program.rules = rules;
    }
}

/// New numbers for atoms, given out in order.
struct Numbering {
    new: Vec<Option<AtomId>>,
    old: Vec<u32>,
}

impl Numbering {
    fn new(n: usize) -> Numbering {
        Numbering {
            new: vec![None; n],
            old: Vec::new(),
        }
    }

    fn number(&mut self, old: u32) -> AtomId {
        let next = AtomId(self.old.len() as u32);
        let id = *self.new[old as usize].get_or_insert(next);
        if id == next {
            self.old.push(old);
        }
        id
    }
}
