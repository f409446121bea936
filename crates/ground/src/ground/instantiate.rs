//! All instances of rules that may ever matter.
//!
//! Bottom-up and semi-naive: each atom that may hold is processed once, in the order of discovery, and joined with the
//! atoms before it. `true(f)` may hold if `f` is initial or `next(f)` may hold; `does(r,m)` may hold if `legal(r,m)`
//! may hold. Negated atoms are assumed to be possible, except for static relations, which are exact.

use super::atoms::{Atoms, Ground};
use super::join::{Join, Joiner, Op, Use};
use super::{GroundError, Limits, Progress};
use crate::pattern::{Build, Pat, match_all, probe_hash};
use crate::reference::{Known, Machine, TableId};
use crate::terms::{TermId, Terms};
use crate::theory::{Layer, RelId, Theory, rel};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;
use std::hash::Hasher;

/// Average number of times that an instance may be found again before that counts as too much work.
const REPETITIONS: usize = 8;

type Row = SmallVec<[TermId; 6]>;

/// The instances found.
pub(crate) struct Instances {
    pub atoms: Atoms,
    heads: Vec<Ground>,
    ends: Vec<u32>,
    bodies: Vec<BodyLit>,
    /// Open addressing over instance numbers + 1, to find duplicates.
    slots: Vec<u32>,
}

/// An atom of a body, or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct BodyLit(u32);

impl BodyLit {
    fn new(atom: Ground, negated: bool) -> BodyLit {
        BodyLit(atom.0 << 1 | u32::from(negated))
    }

    pub fn atom(self) -> Ground {
        Ground(self.0 >> 1)
    }

    pub fn is_neg(self) -> bool {
        self.0 & 1 == 1
    }
}

impl Instances {
    fn new(theory: &Theory) -> Instances {
        Instances {
            atoms: Atoms::new(theory),
            heads: Vec::new(),
            ends: Vec::new(),
            bodies: Vec::new(),
            slots: vec![0; 1024],
        }
    }

    pub fn len(&self) -> usize {
        self.heads.len()
    }

    pub fn head(&self, instance: usize) -> Ground {
        self.heads[instance]
    }

    pub fn body(&self, instance: usize) -> &[BodyLit] {
        let start = if instance == 0 { 0 } else { self.ends[instance - 1] };
        &self.bodies[start as usize..self.ends[instance] as usize]
    }

    fn bytes(&self) -> usize {
        self.heads.len() * 8 + self.bodies.len() * 4 + self.slots.len() * 4 + self.atoms.len() * 40
    }

    /// Adds an instance unless it exists; returns whether it is new. Symmetric rules find each instance many times.
    fn add(&mut self, head: Ground, body: &[BodyLit]) -> bool {
        let slot = self.slot_of(head, body);
        if self.slots[slot] != 0 {
            return false;
        }
        self.heads.push(head);
        self.bodies.extend_from_slice(body);
        self.ends.push(self.bodies.len() as u32);
        self.slots[slot] = self.heads.len() as u32;
        if self.heads.len() * 2 > self.slots.len() {
            self.rehash();
        }
        true
    }

    /// The slot that holds the instance, or the free one where it belongs.
    fn slot_of(&self, head: Ground, body: &[BodyLit]) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = hash_instance(head, body) as usize & mask;
        while let Some(there) = (self.slots[at] as usize).checked_sub(1) {
            if self.head(there) == head && self.body(there) == body {
                break;
            }
            at = (at + 1) & mask;
        }
        at
    }

    fn rehash(&mut self) {
        let mask = self.slots.len() * 4 - 1;
        let mut slots = vec![0; mask + 1];
        for n in 0..self.len() {
            let mut at = hash_instance(self.head(n), self.body(n)) as usize & mask;
            while slots[at] != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = n as u32 + 1;
        }
        self.slots = slots;
    }
}

/// Instantiates the rules of all relations in `needed` that depend on the state.
pub(crate) fn instantiate(
    theory: &Theory,
    needed: &[bool],
    machine: &mut Machine,
    initial: &FxHashSet<TermId>,
    roles: &[TermId],
    limits: &Limits,
    progress: &mut dyn FnMut(Progress),
) -> Result<Instances, GroundError> {
    let (found, _, outcome) = instantiate_counted(theory, needed, machine, initial, roles, limits, progress);
    outcome.map(|()| found)
}

/// As [`instantiate`], with the instances found for each head relation, also if a limit ended the work.
pub(crate) fn instantiate_counted(
    theory: &Theory,
    needed: &[bool],
    machine: &mut Machine,
    initial: &FxHashSet<TermId>,
    roles: &[TermId],
    limits: &Limits,
    progress: &mut dyn FnMut(Progress),
) -> (Instances, Vec<usize>, Result<(), GroundError>) {
    let mut work = Work {
        theory,
        needed,
        machine,
        roles,
        limits,
        progress,
        found: Instances::new(theory),
        n_found: 0,
        per_relation: vec![0; theory.relations.len()],
        n_steps: 0,
        env: Vec::new(),
        cursors: Vec::new(),
        body: Vec::new(),
        literals: Vec::new(),
    };
    // Sorted, so that atoms get the same numbers every time.
    let mut initial: Vec<TermId> = initial.iter().copied().collect();
    initial.sort_unstable();
    for fluent in initial {
        let atom = work.found.atoms.mention(rel::TRUE, &[fluent]);
        work.found.atoms.derive(atom, &work.machine.terms);
    }
    let outcome = work.run();
    (work.found, work.per_relation, outcome)
}

struct Work<'g> {
    theory: &'g Theory,
    needed: &'g [bool],
    machine: &'g mut Machine,
    roles: &'g [TermId],
    limits: &'g Limits,
    progress: &'g mut dyn FnMut(Progress),
    found: Instances,
    /// Instances found, repetitions counted.
    n_found: usize,
    /// Instances per head relation, to name the largest one if there are too many.
    per_relation: Vec<usize>,
    n_steps: u64,
    env: Vec<TermId>,
    cursors: Vec<Cursor>,
    /// The atom at each place of the body.
    body: Vec<Ground>,
    /// The body of an instance being put together.
    literals: Vec<BodyLit>,
}

#[derive(Clone, Copy)]
struct Cursor {
    at: u32,
    end: u32,
    table: Option<TableId>,
    hit: bool,
}

const BLANK: Cursor = Cursor {
    at: 0,
    end: 0,
    table: None,
    hit: false,
};

/// Joins by the relation of the given atom.
struct Joins {
    by_relation: Vec<JoinIndex>,
    without: Vec<Join>,
}

/// The joins of a relation, found by a constant that the given atom must have: rules without variables may be many.
#[derive(Default)]
struct JoinIndex {
    joins: Vec<Join>,
    /// Joins whose given atom must have a constant at a place, by place and constant.
    by_constant: Vec<(Place, FxHashMap<TermId, Vec<u32>>)>,
    /// The other joins.
    open: Vec<u32>,
}

/// The argument of an atom, an argument of that argument, and so on.
type Place = SmallVec<[u32; 4]>;

impl JoinIndex {
    fn push(&mut self, join: Join) {
        let number = self.joins.len() as u32;
        match join.given.as_ref().and_then(|(pats, _)| first_constant(pats)) {
            None => self.open.push(number),
            Some((place, constant)) => {
                let at = self.by_constant.iter().position(|(p, _)| *p == place);
                let at = at.unwrap_or_else(|| {
                    self.by_constant.push((place, FxHashMap::default()));
                    self.by_constant.len() - 1
                });
                self.by_constant[at].1.entry(constant).or_default().push(number);
            }
        }
        self.joins.push(join);
    }

    /// The numbers of the joins that an atom may fit, ascending.
    fn fitting(&self, row: &[TermId], terms: &Terms, out: &mut Vec<u32>) {
        out.clear();
        out.extend(&self.open);
        for (place, joins) in &self.by_constant {
            if let Some(joins) = term_at(row, place, terms).and_then(|term| joins.get(&term)) {
                out.extend(joins);
            }
        }
        out.sort_unstable();
    }
}

/// The first constant of a pattern, and its place.
fn first_constant(pats: &[Pat]) -> Option<(Place, TermId)> {
    let inside = |pat: &Pat| match pat {
        Pat::Const(c) => Some((Place::new(), *c)),
        Pat::Fun(_, pats) => first_constant(pats),
        Pat::Same(_) | Pat::Bind(_) => None,
    };
    (0..).zip(pats).find_map(|(at, pat)| {
        let (mut place, constant) = inside(pat)?;
        place.insert(0, at);
        Some((place, constant))
    })
}

fn term_at(row: &[TermId], place: &[u32], terms: &Terms) -> Option<TermId> {
    let (&first, inner) = place.split_first()?;
    let term = *row.get(first as usize)?;
    match inner {
        [] => Some(term),
        _ => term_at(terms.args(term), inner, terms),
    }
}

impl Work<'_> {
    fn run(&mut self) -> Result<(), GroundError> {
        let mut joins = self.compile()?;
        for join in &joins.without {
            self.run_join(join, None)?;
        }
        let mut next_compile = 64;
        let mut rank = 0;
        let mut fitting = Vec::new();
        while rank < self.found.atoms.derived().len() {
            if rank == next_compile {
                // Sizes are better known now, and orders may change. The instances found do not depend on them.
                joins = self.compile()?;
                next_compile *= 8;
            }
            let atom = self.found.atoms.derived()[rank];
            let relation = self.found.atoms.relation(atom);
            let index = &joins.by_relation[relation.0 as usize];
            index.fitting(self.found.atoms.row(atom), &self.machine.terms, &mut fitting);
            for &number in &fitting {
                self.run_join(&index.joins[number as usize], Some(atom))?;
            }
            rank += 1;
        }
        Ok(())
    }

    fn compile(&mut self) -> Result<Joins, GroundError> {
        let mut joins = Joins {
            by_relation: self.theory.relations.iter().map(|_| JoinIndex::default()).collect(),
            without: Vec::new(),
        };
        let mut joiner = Joiner::new(self.theory, self.machine, &mut self.found.atoms);
        for rule in &self.theory.rules {
            let fluid = self.theory.relation(rule.head).layer != Layer::Static;
            if !fluid || !self.needed[rule.head.0 as usize] {
                continue;
            }
            if self.limits.stop.is_raised() {
                return Err(GroundError::Stopped);
            }
            for (given, join) in joiner.joins(rule) {
                match given {
                    Some(relation) => joins.by_relation[relation.0 as usize].push(join),
                    None => joins.without.push(join),
                }
            }
        }
        Ok(joins)
    }

    /// Finds every instance that uses the given atom at the join's place and otherwise only atoms before it.
    fn run_join(&mut self, join: &Join, given: Option<Ground>) -> Result<(), GroundError> {
        if self.env.len() < join.n_vars {
            self.env.resize(join.n_vars, TermId::NONE);
        }
        if self.cursors.len() < join.steps.len() {
            self.cursors.resize(join.steps.len(), BLANK);
        }
        if self.body.len() < join.n_atoms {
            self.body.resize(join.n_atoms, Ground(0));
        }
        let mut limit = 0;
        if let (Some(atom), Some((pats, place))) = (given, &join.given) {
            let row = self.found.atoms.row(atom);
            if !match_all(pats, row, &self.machine.terms, &mut self.env) {
                return Ok(());
            }
            self.body[*place] = atom;
            limit = self.found.atoms.rank(atom).expect("a given atom is derived");
        }
        let mut at = Some((0, true));
        while let Some((step, entering)) = at {
            self.tick()?;
            let Some(current) = join.steps.get(step as usize) else {
                self.instance(join)?;
                at = join.resume.map(|s| (s, false));
                continue;
            };
            if entering {
                self.cursors[step as usize] = BLANK;
            }
            let passed = if entering {
                self.enter(&current.op, step, limit)?
            } else {
                self.retry(&current.op, step, limit)
            };
            let back = match self.cursors[step as usize].hit {
                true => current.previous,
                false => current.culprit,
            };
            at = if passed {
                Some((step + 1, true))
            } else {
                back.map(|s| (s, false))
            };
            if passed {
                self.cursors[step as usize].hit = true;
            }
        }
        Ok(())
    }

    /// Tries a step for the first time with the present values.
    fn enter(&mut self, op: &Op, step: u32, limit: u32) -> Result<bool, GroundError> {
        let Work {
            machine,
            env,
            cursors,
            found,
            body,
            ..
        } = self;
        let cursor = &mut cursors[step as usize];
        match op {
            Op::Distinct(a, b) => {
                return Ok(a.build(&mut machine.terms, env) != b.build(&mut machine.terms, env));
            }
            Op::Row { relation, row, wanted } => {
                let row = build(row, &mut machine.terms, env);
                let facts = machine.stored_rows(*relation).expect("stored when compiled");
                return Ok(facts.rows().find(&row).is_some() == *wanted);
            }
            Op::CallNot { relation, values } => {
                let values = build(values, &mut machine.terms, env);
                let known = Known::of(0..values.len());
                let table = machine.query(*relation, &values, known)?;
                return Ok(machine.table(table).answers.is_empty());
            }
            Op::Atom { relation, row, use_ } => {
                let row = build(row, &mut machine.terms, env);
                let Some(atom) = found.atoms.find_derived(*relation, &row) else {
                    return Ok(false);
                };
                body[use_.place] = atom;
                return Ok(is_old_enough(&found.atoms, atom, *use_, limit));
            }
            Op::Rows {
                relation,
                index,
                probes,
                ..
            } => {
                let hash = probe_hash(probes, env);
                let (facts, terms) = machine.stored_rows_mut(*relation).expect("stored when compiled");
                (cursor.at, cursor.end) = facts.span(*index, hash, terms);
            }
            Op::Call {
                relation,
                known,
                values,
                ..
            } => {
                let values = build(values, &mut machine.terms, env);
                cursor.table = Some(machine.query(*relation, &values, *known)?);
            }
            Op::Atoms {
                relation,
                index,
                probes,
                ..
            } => {
                let Some(list) = found.atoms.list(*relation, *index, probe_hash(probes, env)) else {
                    return Ok(false);
                };
                cursor.end = list;
            }
        }
        Ok(self.retry(op, step, limit))
    }

    /// Takes the next row of a step.
    fn retry(&mut self, op: &Op, step: u32, limit: u32) -> bool {
        let Work {
            machine,
            env,
            cursors,
            found,
            body,
            ..
        } = self;
        let cursor = &mut cursors[step as usize];
        match op {
            Op::Rows {
                relation, index, pats, ..
            } => {
                let facts = machine.stored_rows(*relation).expect("stored when compiled");
                while cursor.at < cursor.end {
                    let row = facts.at(*index, cursor.at);
                    cursor.at += 1;
                    if match_all(pats, row, &machine.terms, env) {
                        return true;
                    }
                }
                false
            }
            Op::Call { open, .. } => {
                let table = cursor.table.expect("set on entering");
                let answers = &machine.table(table).answers;
                while (cursor.at as usize) < answers.len() {
                    let row = answers.row(cursor.at as usize);
                    cursor.at += 1;
                    if match_all(open, row, &machine.terms, env) {
                        return true;
                    }
                }
                false
            }
            Op::Atoms {
                relation,
                index,
                pats,
                use_,
                ..
            } => {
                let atoms = &found.atoms;
                let list = cursor.end;
                while let Some(atom) = atoms.member(*relation, *index, list, cursor.at as usize) {
                    cursor.at += 1;
                    if !is_old_enough(atoms, atom, *use_, limit) {
                        // Lists are sorted by rank: all atoms that follow are newer.
                        return false;
                    }
                    if match_all(pats, atoms.row(atom), &machine.terms, env) {
                        body[use_.place] = atom;
                        return true;
                    }
                }
                false
            }
            _ => unreachable!("only generators are tried again"),
        }
    }

    /// Records the instance of the present values.
    fn instance(&mut self, join: &Join) -> Result<(), GroundError> {
        let Work {
            literals,
            machine,
            env,
            found,
            body,
            ..
        } = self;
        let row = build(&join.head_row, &mut machine.terms, env);
        if let Err(limit) = machine.limits.check(&machine.terms, &row) {
            return Err(GroundError::Unbounded {
                relation: self.theory.relation(join.head).label.clone(),
                limit,
            });
        }
        let head = found.atoms.mention(join.head, &row);
        if self.theory.relation(join.head).is_filter {
            self.n_found += 1;
            self.derive(join.head, head, &row);
            return self.check_budget();
        }
        literals.clear();
        let is_filter = |a: Ground| self.theory.relation(found.atoms.relation(a)).is_filter;
        let counts = |a: &&Ground| !self.limits.asked || !is_filter(**a);
        let positive = body[..join.n_atoms].iter().filter(counts);
        literals.extend(positive.map(|&a| BodyLit::new(a, false)));
        for (relation, row) in &join.negated {
            let row = build(row, &mut machine.terms, env);
            let atom = found.atoms.mention(*relation, &row);
            literals.push(BodyLit::new(atom, true));
        }
        literals.sort_unstable();
        literals.dedup();
        self.n_found += 1;
        if found.add(head, literals) {
            self.per_relation[join.head.0 as usize] += 1;
            self.derive(join.head, head, &row);
        }
        self.check_budget()
    }

    fn derive(&mut self, relation: RelId, atom: Ground, row: &[TermId]) {
        let atoms = &mut self.found.atoms;
        if !atoms.derive(atom, &self.machine.terms) {
            return;
        }
        if relation == rel::NEXT {
            let fluent = atoms.mention(rel::TRUE, row);
            atoms.derive(fluent, &self.machine.terms);
        } else if relation == rel::LEGAL && self.roles.contains(&row[0]) {
            let mv = atoms.mention(rel::DOES, row);
            atoms.derive(mv, &self.machine.terms);
        }
    }

    fn check_budget(&mut self) -> Result<(), GroundError> {
        let n = self.found.len();
        if self.n_found.is_multiple_of(1 << 16) {
            (self.progress)(Progress {
                instances: n,
                atoms: self.found.atoms.len(),
            });
        }
        let too_many = n > self.limits.instances || self.n_found / REPETITIONS > self.limits.instances;
        if !too_many && self.found.bytes() <= self.limits.bytes {
            return Ok(());
        }
        let (largest, &size) = self
            .per_relation
            .iter()
            .enumerate()
            .max_by_key(|&(_, n)| n)
            .expect("there are relations");
        Err(GroundError::TooLarge {
            relation: self.theory.relations[largest].label.clone(),
            size,
            limit: match too_many {
                true => format!("{} rule instances", self.limits.instances),
                false => format!("{} bytes", self.limits.bytes),
            },
        })
    }

    fn tick(&mut self) -> Result<(), GroundError> {
        self.n_steps += 1;
        if self.n_steps.is_multiple_of(4096) && self.limits.stop.is_raised() {
            return Err(GroundError::Stopped);
        }
        Ok(())
    }
}

fn hash_instance(head: Ground, body: &[BodyLit]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u32(head.0);
    body.iter().for_each(|l| hasher.write_u32(l.0));
    hasher.finish()
}

fn build(row: &[Build], terms: &mut Terms, env: &[TermId]) -> Row {
    row.iter().map(|b| b.build(terms, env)).collect()
}

fn is_old_enough(atoms: &Atoms, atom: Ground, use_: Use, limit: u32) -> bool {
    let rank = atoms.rank(atom).expect("only derived atoms are joined");
    if use_.older { rank < limit } else { rank <= limit }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gdl::kw;

    fn join(pats: &[Pat]) -> Join {
        Join {
            head: RelId(0),
            head_row: Box::default(),
            given: Some((pats.into(), 0)),
            steps: Box::default(),
            negated: Box::default(),
            resume: None,
            n_atoms: 1,
            n_vars: 1,
        }
    }

    #[test]
    fn only_joins_that_may_match_are_tried() {
        let mut terms = Terms::new();
        let constants = [kw::ROLE, kw::INIT, kw::TRUE, kw::DOES].map(|symbol| terms.intern(symbol, &[]));
        let mut pats: Vec<Pat> = constants.map(Pat::Const).to_vec();
        pats.extend([Pat::Bind(0), Pat::Same(0)]);
        let inner = pats.clone();
        for a in &inner {
            pats.extend(inner.iter().map(|b| Pat::Fun(kw::NEXT, [a.clone(), b.clone()].into())));
        }
        let mut index = JoinIndex::default();
        pats.iter().for_each(|pat| index.push(join(std::slice::from_ref(pat))));
        let mut rows: Vec<TermId> = constants.to_vec();
        for a in constants {
            rows.extend(constants.map(|b| terms.intern(kw::NEXT, &[a, b])));
        }
        let mut fitting = Vec::new();
        for row in rows.into_iter().map(|term| [term]) {
            index.fitting(&row, &terms, &mut fitting);
            assert!(fitting.is_sorted());
            assert!(fitting.len() < pats.len() / 2, "{} of {}", fitting.len(), pats.len());
            for (number, pat) in (0..).zip(&pats) {
                let mut env = constants;
                let matches = pat.matches(row[0], &terms, &mut env);
                assert!(!matches || fitting.contains(&number), "{pat:?}");
            }
        }
    }
}
