//! Rules compiled for one pattern of known arguments.

use crate::facts::{FactSet, IndexId};
use crate::order::{Source, order};
use crate::pattern::{Bound, Build, Key, Pat, Probe};
use crate::steps::{Step, Steps};
use crate::terms::Terms;
use crate::theory::{Layer, Literal, RelId, Rule, Theory, rel};
use gdl::Term;
use smallvec::SmallVec;

/// Which arguments of a call are known: bit i for argument i.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Known(u64);

impl Known {
    pub const NOTHING: Known = Known(0);

    pub fn of(positions: impl Iterator<Item = usize>) -> Known {
        Known(positions.fold(0, |m, p| m | 1 << p))
    }

    pub fn has(self, position: usize) -> bool {
        self.0 >> position & 1 == 1
    }
}

/// All rules of a relation, compiled for calls in which the same arguments are known.
pub(crate) struct Proc {
    pub relation: RelId,
    pub layer: Layer,
    pub rules: Vec<CompiledRule>,
    /// Number of arguments of an answer: those that the call leaves open.
    pub width: usize,
    /// Number of variables and steps that the largest rule needs.
    pub n_vars: usize,
    pub n_steps: usize,
}

/// One rule: match the known arguments, take the steps, build the answer.
pub(crate) struct CompiledRule {
    /// Patterns of the known arguments.
    pub known: Box<[Pat]>,
    pub steps: Box<[Step<Op>]>,
    /// The arguments that the call leaves open.
    pub answer: Box<[Build]>,
    /// After an answer: the last step whose next row can lead to a *different* answer.
    pub resume: Option<u32>,
}

/// A condition, with everything decided that can be decided before running.
pub(crate) enum Op {
    Distinct(Build, Build),
    /// Stored rows: facts, the state, the joint move.
    Rows {
        relation: RelId,
        index: IndexId,
        probes: Box<[Probe]>,
        pats: Box<[Pat]>,
    },
    /// A test for one stored row.
    Row {
        relation: RelId,
        row: Box<[Build]>,
        wanted: bool,
    },
    /// A derived relation.
    Call {
        proc: ProcId,
        known: Box<[Build]>,
        open: Box<[Pat]>,
    },
    /// A derived relation, negated; everything is known.
    CallNot {
        proc: ProcId,
        known: Box<[Build]>,
    },
}

/// Number of a [`Proc`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProcId(pub u32);

/// The compiler of rules.
pub(crate) struct Compiler<'m> {
    pub theory: &'m Theory,
    pub terms: &'m mut Terms,
    /// Stored rows per relation; compiling registers the indexes it wants.
    pub facts: &'m mut [FactSet],
    /// Relations whose rows are stored.
    pub stored: &'m [bool],
    /// Fluents of the initial state per functor, the guess for any state.
    pub fluents: &'m dyn Fn(&Term) -> usize,
    /// Numbers the procedures that rules call.
    pub number: &'m mut dyn FnMut(RelId, Known) -> ProcId,
}

impl Compiler<'_> {
    pub fn compile(&mut self, relation: RelId, known: Known) -> Proc {
        let theory = self.theory;
        let rules: Vec<CompiledRule> = theory
            .relation(relation)
            .rules
            .iter()
            .map(|&r| self.compile_rule(&theory.rules[r as usize], known))
            .collect();
        let arity = theory.relation(relation).arity;
        Proc {
            relation,
            layer: theory.relation(relation).layer,
            width: (0..arity).filter(|&a| !known.has(a)).count(),
            n_vars: max(theory, relation, |r| r.n_vars),
            n_steps: max(theory, relation, |r| r.body.len()),
            rules,
        }
    }

    fn compile_rule(&mut self, rule: &Rule, known: Known) -> CompiledRule {
        let mut bound = Bound::none(rule.n_vars);
        let known_pats = split_args(&rule.args, |a| known.has(a))
            .map(|t| Pat::new(t, &mut bound, self.terms))
            .collect();
        let source = |rel, args: &[Term], bound: &Bound| self.source(rel, args, bound);
        let order = order(rule, &bound, None, &source);
        let mut steps = Steps::new(rule.n_vars, |v| bound.has(v));
        for literal in order.into_iter().map(|n| &rule.body[n]) {
            let op = self.op(literal, &mut bound);
            let generates = match &op {
                Op::Rows { .. } => true,
                Op::Call { open, .. } => !open.is_empty(),
                _ => false,
            };
            steps.push(op, literal, generates);
        }
        let open = |a: usize| !known.has(a);
        let mut asked = Vec::new();
        split_args(&rule.args, open).for_each(|t| t.for_each_var(&mut |v| asked.push(v)));
        CompiledRule {
            known: known_pats,
            resume: steps.last_to_bind(&asked),
            steps: steps.finish(),
            answer: split_args(&rule.args, open)
                .map(|t| Build::new(t, self.terms))
                .collect(),
        }
    }

    fn source(&self, relation: RelId, args: &[Term], bound: &Bound) -> Source {
        if relation == rel::TRUE {
            Source::Rows((self.fluents)(&args[0]))
        } else if relation == rel::DOES {
            Source::Rows(2)
        } else if self.stored[relation.0 as usize] {
            Source::Known(expected_rows(&self.facts[relation.0 as usize], args, bound))
        } else if self.theory.relation(relation).negated_in_cycle {
            Source::Touchy
        } else {
            Source::Derived
        }
    }

    fn op(&mut self, literal: &Literal, bound: &mut Bound) -> Op {
        match literal {
            Literal::Distinct(a, b) => Op::Distinct(Build::new(a, self.terms), Build::new(b, self.terms)),
            Literal::Neg(relation, args) if self.stored[relation.0 as usize] => self.row(*relation, args, false),
            Literal::Neg(relation, args) => Op::CallNot {
                proc: (self.number)(*relation, Known::of(0..args.len())),
                known: args.iter().map(|t| Build::new(t, self.terms)).collect(),
            },
            Literal::Pos(relation, args) if self.stored[relation.0 as usize] => self.rows(*relation, args, bound),
            Literal::Pos(relation, args) => self.call(*relation, args, bound),
        }
    }

    fn row(&mut self, relation: RelId, args: &[Term], wanted: bool) -> Op {
        Op::Row {
            relation,
            row: args.iter().map(|t| Build::new(t, self.terms)).collect(),
            wanted,
        }
    }

    fn rows(&mut self, relation: RelId, args: &[Term], bound: &mut Bound) -> Op {
        if args.iter().all(|t| bound.covers(t)) {
            return self.row(relation, args, true);
        }
        let (key, probes) = Key::new(args, bound, self.terms);
        Op::Rows {
            relation,
            index: self.facts[relation.0 as usize].index(key),
            probes,
            pats: args.iter().map(|t| Pat::new(t, bound, self.terms)).collect(),
        }
    }

    fn call(&mut self, relation: RelId, args: &[Term], bound: &mut Bound) -> Op {
        let known = Known::of((0..args.len()).filter(|&a| bound.covers(&args[a])));
        Op::Call {
            proc: (self.number)(relation, known),
            known: split_args(args, |a| known.has(a))
                .map(|t| Build::new(t, self.terms))
                .collect(),
            open: split_args(args, |a| !known.has(a))
                .map(|t| Pat::new(t, bound, self.terms))
                .collect(),
        }
    }
}

/// Expected number of facts if the values of bound arguments were independent.
pub(crate) fn expected_rows(facts: &FactSet, args: &[Term], bound: &Bound) -> f64 {
    let known = (0..args.len()).filter(|&a| bound.covers(&args[a]));
    let choices: f64 = known.map(|a| facts.distinct(a).max(1) as f64).product();
    facts.rows().len() as f64 / choices
}

fn split_args(args: &[Term], keep: impl Fn(usize) -> bool) -> impl Iterator<Item = &Term> {
    args.iter().enumerate().filter(move |(a, _)| keep(*a)).map(|(_, t)| t)
}

fn max(theory: &Theory, relation: RelId, of: impl Fn(&Rule) -> usize) -> usize {
    let rules = &theory.relation(relation).rules;
    rules.iter().map(|&r| of(&theory.rules[r as usize])).max().unwrap_or(0)
}

/// The arguments of a call, the key of its table.
pub(crate) type Args = SmallVec<[crate::terms::TermId; 6]>;
