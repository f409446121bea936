//! Relations that are the same in every state: successor relations and adjacency, as far as they are cheap to find.
//!
//! Facts, and rules without functions, evaluated bottom-up within a fixed number of steps. What is found is evidence
//! for a layout and nothing else, so a relation that is not evaluated to its end does no harm.

use crate::term::{Id, Names};
use gdl::{Atom, Clause, Literal, Rules, Symbol, Term, kw};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Steps of joins, over all rules.
const STEPS: usize = 2_000_000;
/// Tuples of one relation.
const TUPLES: usize = 20_000;
/// Repetitions of recursive rules.
const REPEATS: usize = 12;

type Key = (Symbol, usize);

/// The static relations of the rules: tuples in the order in which they were found.
#[derive(Default)]
pub struct Statics {
    /// By name and number of arguments, in the order of the rules.
    pub relations: Vec<(String, Vec<Vec<Id>>)>,
}

struct Table {
    rows: Vec<Vec<Id>>,
    known: HashSet<Vec<Id>>,
    /// Rows by the value of their first argument.
    by_first: HashMap<Id, Vec<usize>>,
}

impl Table {
    fn insert(&mut self, row: Vec<Id>) -> bool {
        if self.rows.len() >= TUPLES || self.known.contains(&row) {
            return false;
        }
        if let Some(&first) = row.first() {
            self.by_first.entry(first).or_default().push(self.rows.len());
        }
        self.known.insert(row.clone());
        self.rows.push(row);
        true
    }
}

impl Statics {
    pub fn of(rules: &Rules, names: &mut Names) -> Statics {
        let fixed = static_relations(rules);
        let mut tables: BTreeMap<Key, Table> = BTreeMap::new();
        let mut order: Vec<Key> = Vec::new();
        let mut steps = STEPS;
        let mut program: Vec<(&Clause, bool)> = Vec::new();
        for clause in &rules.clauses {
            let key = key_of(&clause.head);
            if !fixed.contains(&key) {
                continue;
            }
            tables.entry(key).or_insert_with(|| {
                order.push(key);
                Table {
                    rows: Vec::new(),
                    known: HashSet::new(),
                    by_first: HashMap::new(),
                }
            });
            let negative = clause.body.iter().any(|l| matches!(l, Literal::Neg(_)));
            program.push((clause, negative));
        }
        // Rules with negation come last: what they negate is complete by then, unless it depends on negation itself.
        for phase in [false, true] {
            for _ in 0..REPEATS {
                let mut changed = false;
                for (clause, negative) in &program {
                    if *negative && !phase {
                        continue;
                    }
                    let mut found = Vec::new();
                    let mut values = vec![None; clause.variables.len()];
                    let mut join = Join {
                        rules,
                        tables: &tables,
                        names,
                        steps: &mut steps,
                        found: &mut found,
                    };
                    join.solve(clause, 0, &mut values);
                    if let Some(table) = tables.get_mut(&key_of(&clause.head)) {
                        found.into_iter().for_each(|row| changed |= table.insert(row));
                    }
                }
                if !changed || steps == 0 {
                    break;
                }
            }
        }
        let text = |key: &Key| rules.symbols.text(key.0).to_owned();
        let rows = |key: &Key| tables.get(key).map(|t| t.rows.clone()).unwrap_or_default();
        Statics {
            relations: order.iter().map(|key| (text(key), rows(key))).collect(),
        }
    }

    /// The relations with this number of arguments.
    pub fn of_arity(&self, arity: usize) -> impl Iterator<Item = &Vec<Vec<Id>>> {
        let is = move |rows: &&Vec<Vec<Id>>| rows.first().is_some_and(|row| row.len() == arity);
        self.relations.iter().map(|(_, rows)| rows).filter(is)
    }
}

struct Join<'a> {
    rules: &'a Rules,
    tables: &'a BTreeMap<Key, Table>,
    names: &'a mut Names,
    steps: &'a mut usize,
    found: &'a mut Vec<Vec<Id>>,
}

impl<'a> Join<'a> {
    /// Solves the conditions of a clause from number `at` on. The depth is bounded by the length of the body.
    fn solve(&mut self, clause: &Clause, at: usize, values: &mut Vec<Option<Id>>) {
        if *self.steps == 0 || at > 40 || self.found.len() >= TUPLES {
            return;
        }
        *self.steps -= 1;
        let Some(literal) = clause.body.get(at) else {
            if let Some(row) = self.ground(&clause.head.args, values) {
                self.found.push(row);
            }
            return;
        };
        match literal {
            Literal::Distinct(a, b) => {
                let (a, b) = (self.value(a, values), self.value(b, values));
                if a.is_some() && b.is_some() && a != b {
                    self.solve(clause, at + 1, values);
                }
            }
            Literal::Neg(atom) => {
                let row = self.ground(&atom.args, values);
                let table = self.tables.get(&key_of(atom));
                if row.is_some_and(|row| table.is_none_or(|t| !t.known.contains(&row))) {
                    self.solve(clause, at + 1, values);
                }
            }
            Literal::Pos(atom) => self.each(clause, at, atom, values),
        }
    }

    fn each(&mut self, clause: &Clause, at: usize, atom: &Atom, values: &mut Vec<Option<Id>>) {
        let tables = self.tables;
        let Some(table) = tables.get(&key_of(atom)) else {
            return;
        };
        let first = atom.args.first().and_then(|t| self.value(t, values));
        let listed = first.map(|first| table.by_first.get(&first).map_or(&[][..], Vec::as_slice));
        for n in 0..listed.map_or(table.rows.len(), <[usize]>::len) {
            let row = listed.map_or(n, |listed| listed[n]);
            if *self.steps == 0 {
                return;
            }
            *self.steps -= 1;
            let mut bound = Vec::new();
            let mut fits = true;
            for (term, &id) in atom.args.iter().zip(&table.rows[row]) {
                match (term, self.value(term, values)) {
                    (_, Some(value)) => fits = value == id,
                    (Term::Var(v), None) => {
                        values[*v as usize] = Some(id);
                        bound.push(*v as usize);
                    }
                    _ => fits = false,
                }
                if !fits {
                    break;
                }
            }
            if fits {
                self.solve(clause, at + 1, values);
            }
            bound.into_iter().for_each(|v| values[v] = None);
        }
    }

    fn value(&mut self, term: &Term, values: &[Option<Id>]) -> Option<Id> {
        match term {
            Term::Var(v) => values[*v as usize],
            Term::Fun(_, _) if term.is_ground() => Some(self.names.intern(&term.canonical(&self.rules.symbols))),
            Term::Fun(..) => None,
        }
    }

    fn ground(&mut self, terms: &[Term], values: &[Option<Id>]) -> Option<Vec<Id>> {
        terms.iter().map(|term| self.value(term, values)).collect()
    }
}

fn key_of(atom: &Atom) -> Key {
    (atom.relation, atom.args.len())
}

/// Relations that depend neither on the state nor on moves.
fn static_relations(rules: &Rules) -> BTreeSet<Key> {
    let mut fixed: BTreeSet<Key> = rules.clauses.iter().map(|c| key_of(&c.head)).collect();
    fixed.retain(|(name, _)| !name.is_keyword_relation() || *name == kw::ROLE);
    loop {
        let before = fixed.len();
        for clause in &rules.clauses {
            let depends = |literal: &Literal| match literal {
                Literal::Pos(atom) | Literal::Neg(atom) => !fixed.contains(&key_of(atom)),
                Literal::Distinct(..) => false,
            };
            if clause.body.iter().any(depends) {
                fixed.remove(&key_of(&clause.head));
            }
        }
        if fixed.len() == before {
            return fixed;
        }
    }
}
