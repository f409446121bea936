//! A rule compiled to be instantiated from one of its atoms.

use super::atoms::Atoms;
use crate::facts::IndexId;
use crate::order::{Source, order};
use crate::pattern::{Bound, Build, Key, Pat, Probe};
use crate::reference::{Known, Machine, expected_rows};
use crate::steps::{Step, Steps};
use crate::theory::{Layer, Literal, RelId, Rule, Theory, rel};
use gdl::{Symbol, Term};
use rustc_hash::FxHashMap;

/// Finds the instances of a rule in which a given atom (if any) is used at a given place.
pub(crate) struct Join {
    pub head: RelId,
    pub head_row: Box<[Build]>,
    /// The pattern of the given atom and its place among the atoms of the body.
    pub given: Option<(Box<[Pat]>, usize)>,
    pub steps: Box<[Step<Op>]>,
    /// Negated atoms that depend on the state; they do not restrict the instances.
    pub negated: Box<[(RelId, Box<[Build]>)]>,
    /// After an instance: the last step whose next row can lead to a different one.
    pub resume: Option<u32>,
    /// Positive atoms of the body that depend on the state.
    pub n_atoms: usize,
    pub n_vars: usize,
}

/// A condition of a join.
pub(crate) enum Op {
    Distinct(Build, Build),
    /// Static, stored.
    Rows {
        relation: RelId,
        index: IndexId,
        probes: Box<[Probe]>,
        pats: Box<[Pat]>,
    },
    /// Static, stored, all known.
    Row {
        relation: RelId,
        row: Box<[Build]>,
        wanted: bool,
    },
    /// Static, on demand.
    Call {
        relation: RelId,
        known: Known,
        values: Box<[Build]>,
        open: Box<[Pat]>,
    },
    /// Static, on demand, negated.
    CallNot {
        relation: RelId,
        values: Box<[Build]>,
    },
    /// Depends on the state.
    Atoms {
        relation: RelId,
        index: u32,
        probes: Box<[Probe]>,
        pats: Box<[Pat]>,
        use_: Use,
    },
    /// Depends on the state, all known.
    Atom {
        relation: RelId,
        row: Box<[Build]>,
        use_: Use,
    },
}

/// The atom of the body, and its latest rank. Each instance is then found exactly once: from its newest atom, and if
/// that atom is used twice, from its first use.
#[derive(Clone, Copy)]
pub(crate) struct Use {
    pub place: usize,
    /// Must be older than the given atom.
    pub older: bool,
}

/// Compiles joins with what is known about sizes at the time.
pub(crate) struct Joiner<'g> {
    pub theory: &'g Theory,
    pub machine: &'g mut Machine,
    pub atoms: &'g mut Atoms,
    sizes: FxHashMap<(RelId, Option<(Symbol, usize)>), usize>,
}

/// Expected number of atoms of a kind of which none is known yet.
const UNSEEN_ATOMS: usize = 64;

impl<'g> Joiner<'g> {
    pub fn new(theory: &'g Theory, machine: &'g mut Machine, atoms: &'g mut Atoms) -> Joiner<'g> {
        let mut sizes = FxHashMap::default();
        for &atom in atoms.derived() {
            let relation = atoms.relation(atom);
            let kind = atoms
                .row(atom)
                .last()
                .map(|&t| (machine.terms.symbol(t), machine.terms.args(t).len()));
            *sizes.entry((relation, None)).or_insert(0) += 1;
            *sizes.entry((relation, kind)).or_insert(0) += 1;
        }
        Joiner {
            theory,
            machine,
            atoms,
            sizes,
        }
    }

    /// One join per positive atom of the body that depends on the state; one without a given atom if there is none.
    pub fn joins(&mut self, rule: &Rule) -> Vec<(Option<RelId>, Join)> {
        let places: Vec<(usize, RelId)> = (0..rule.body.len())
            .filter_map(|n| match &rule.body[n] {
                Literal::Pos(r, _) if self.is_fluid(*r) => Some((n, *r)),
                _ => None,
            })
            .collect();
        let numbers = self.places(rule);
        if places.is_empty() {
            return vec![(None, self.join(rule, None, &numbers))];
        }
        places
            .into_iter()
            .map(|(n, r)| (Some(r), self.join(rule, Some(n), &numbers)))
            .collect()
    }

    fn is_fluid(&self, relation: RelId) -> bool {
        self.theory.relation(relation).layer != Layer::Static
    }

    fn join(&mut self, rule: &Rule, given: Option<usize>, places: &[usize]) -> Join {
        let mut bound = Bound::none(rule.n_vars);
        let given_pats = given.map(|n| match &rule.body[n] {
            Literal::Pos(_, args) => {
                let terms = &mut self.machine.terms;
                args.iter().map(|t| Pat::new(t, &mut bound, terms)).collect()
            }
            _ => unreachable!("only positive atoms are given"),
        });
        let theory = self.theory;
        let is_fluid = |r: RelId| theory.relation(r).layer != Layer::Static;
        let source = |r, args: &[Term], bound: &Bound| self.source(r, args, bound);
        let mut order = order(rule, &bound, given, &source);
        order.retain(|&n| !matches!(&rule.body[n], Literal::Neg(r, _) if is_fluid(*r)));

        let mut steps = Steps::new(rule.n_vars, |v| bound.has(v));
        for n in order {
            let use_ = Use {
                place: places[n],
                older: given.is_some_and(|g| n < g),
            };
            let (op, generates) = self.op(&rule.body[n], use_, &mut bound);
            steps.push(op, &rule.body[n], generates);
        }
        let mut telling = Vec::new();
        rule.args.iter().for_each(|t| t.for_each_var(&mut |v| telling.push(v)));
        let fluid = |l: &&Literal| l.relation().is_some_and(is_fluid);
        rule.body
            .iter()
            .filter(fluid)
            .for_each(|l| l.for_each_var(&mut |v| telling.push(v)));
        let negated: Vec<(RelId, &[Term])> = rule
            .body
            .iter()
            .filter_map(|l| match l {
                Literal::Neg(r, args) if is_fluid(*r) => Some((*r, &args[..])),
                _ => None,
            })
            .collect();
        Join {
            head: rule.head,
            given: given_pats.zip(given.map(|n| places[n])),
            resume: steps.last_to_bind(&telling),
            steps: steps.finish(),
            n_atoms: places[rule.body.len()],
            n_vars: rule.n_vars,
            negated: negated.iter().map(|(r, args)| (*r, self.builds(args))).collect(),
            head_row: self.builds(&rule.args),
        }
    }

    /// Number of positive atoms that depend on the state before each place of the body, and in all of it.
    fn places(&self, rule: &Rule) -> Vec<usize> {
        let counts = |l: &Literal| matches!(l, Literal::Pos(r, _) if self.is_fluid(*r));
        let mut n = 0;
        let before = rule.body.iter().map(|literal| {
            n += usize::from(counts(literal));
            n
        });
        std::iter::once(0).chain(before).collect()
    }

    fn source(&self, relation: RelId, args: &[Term], bound: &Bound) -> Source {
        if self.is_fluid(relation) {
            return Source::Rows(self.guess(relation, args));
        }
        match self.machine.stored_rows(relation) {
            Some(facts) => Source::Known(expected_rows(facts, args, bound)),
            None => Source::Derived,
        }
    }

    fn guess(&self, relation: RelId, args: &[Term]) -> usize {
        let kind = match args.last() {
            Some(Term::Fun(symbol, inner)) => Some((*symbol, inner.len())),
            _ => None,
        };
        let known = self.sizes.get(&(relation, kind)).copied();
        // There are many moves, and none is known early on.
        let unseen = if relation == rel::DOES {
            4 * UNSEEN_ATOMS
        } else {
            UNSEEN_ATOMS
        };
        known.unwrap_or(unseen)
    }

    fn op(&mut self, literal: &Literal, use_: Use, bound: &mut Bound) -> (Op, bool) {
        match literal {
            Literal::Distinct(a, b) => {
                let terms = &mut self.machine.terms;
                (Op::Distinct(Build::new(a, terms), Build::new(b, terms)), false)
            }
            Literal::Neg(relation, args) => (self.not(*relation, args), false),
            Literal::Pos(relation, args) => {
                let closed = args.iter().all(|t| bound.covers(t));
                let op = match (self.is_fluid(*relation), closed) {
                    (true, true) => Op::Atom {
                        relation: *relation,
                        row: self.builds(args),
                        use_,
                    },
                    (true, false) => self.atoms(*relation, args, use_, bound),
                    (false, _) => self.fixed(*relation, args, bound),
                };
                (op, !closed)
            }
        }
    }

    fn not(&mut self, relation: RelId, args: &[Term]) -> Op {
        let row = self.builds(args);
        match self.machine.stored_rows(relation) {
            Some(_) => Op::Row {
                relation,
                row,
                wanted: false,
            },
            None => Op::CallNot { relation, values: row },
        }
    }

    fn atoms(&mut self, relation: RelId, args: &[Term], use_: Use, bound: &mut Bound) -> Op {
        let terms = &mut self.machine.terms;
        let (key, probes) = Key::new(args, bound, terms);
        let pats = args.iter().map(|t| Pat::new(t, bound, terms)).collect();
        Op::Atoms {
            relation,
            index: self.atoms.index(relation, key, terms),
            probes,
            pats,
            use_,
        }
    }

    fn fixed(&mut self, relation: RelId, args: &[Term], bound: &mut Bound) -> Op {
        let closed = args.iter().all(|t| bound.covers(t));
        if closed && self.machine.stored_rows(relation).is_some() {
            return Op::Row {
                relation,
                row: self.builds(args),
                wanted: true,
            };
        }
        if let Some((facts, terms)) = self.machine.stored_rows_mut(relation) {
            let (key, probes) = Key::new(args, bound, terms);
            let pats = args.iter().map(|t| Pat::new(t, bound, terms)).collect();
            return Op::Rows {
                relation,
                index: facts.index(key),
                probes,
                pats,
            };
        }
        let known = Known::of((0..args.len()).filter(|&a| bound.covers(&args[a])));
        let terms = &mut self.machine.terms;
        let mut values = Vec::new();
        let mut open = Vec::new();
        for (a, term) in args.iter().enumerate() {
            if known.has(a) {
                values.push(Build::new(term, terms));
            } else {
                open.push(Pat::new(term, bound, terms));
            }
        }
        Op::Call {
            relation,
            known,
            values: values.into(),
            open: open.into(),
        }
    }

    fn builds(&mut self, terms: &[Term]) -> Box<[Build]> {
        terms.iter().map(|t| Build::new(t, &mut self.machine.terms)).collect()
    }
}
