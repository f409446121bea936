//! From checked forms to clauses: solves equalities, splits disjunctions, and orders bodies so that they can be
//! evaluated (docs/gdl2.md, Normal form, steps 3 to 7).

use crate::codes::Code;
use crate::diagnostic::Sink;
use crate::forms::{Condition, Form, PlacedAtom};
use crate::rules::{Atom, Clause, Information, Literal, Rules, Term};
use crate::source::Span;
use crate::symbol::{Symbols, kw};
use crate::unify::{Substitution, TooLarge};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Clauses that one rule may be split into. Disjunctions of larger rules get auxiliary relations.
const MAX_SPLIT: usize = 1024;

/// Literals that splitting may make in the whole description. After that every disjunction gets an auxiliary relation.
const MAX_SPLIT_LITERALS: usize = 500_000;

pub(crate) fn normalise(forms: &[Form], mut symbols: Symbols, sink: &mut Sink) -> Rules {
    let mut normaliser = Normaliser {
        symbols: &mut symbols,
        sink,
        clauses: Vec::new(),
        split_literals: 0,
        n_aux: 0,
    };
    for form in forms {
        normaliser.form(form);
    }
    let clauses = normaliser.clauses;
    let has_sees = clauses.iter().any(|c| c.head.relation == kw::SEES);
    let has_random = clauses
        .iter()
        .any(|c| c.head.relation == kw::ROLE && c.head.args.first() == Some(&Term::constant(kw::RANDOM)));
    Rules {
        information: Information::of(&clauses, &symbols),
        symbols,
        clauses,
        gdl2: has_sees || has_random,
        source: Arc::from(""),
    }
}

struct Normaliser<'a> {
    symbols: &'a mut Symbols,
    sink: &'a mut Sink,
    clauses: Vec<Clause>,
    split_literals: usize,
    n_aux: usize,
}

/// Whether one conjunction of a split body gave a clause.
enum Outcome {
    Kept,
    Never,
}

impl Normaliser<'_> {
    fn form(&mut self, form: &Form) {
        if !self.must_name(&form.body) {
            return self.split_form(form);
        }
        let mut form = form.clone();
        self.name_disjunctions(&mut form);
        self.split_form(&form);
    }

    fn split_form(&mut self, form: &Form) {
        let span = form.span;
        let first = self.clauses.len();
        let mut kept = false;
        for conjunction in split(&form.body) {
            self.split_literals += conjunction.len();
            kept |= matches!(self.clause(form, &conjunction), Outcome::Kept);
        }
        self.drop_repetitions(first);
        // An empty `or` has been reported already.
        if !kept && ways(&form.body) > 0 {
            self.sink.add(
                Code::RuleNever,
                span,
                "the conditions of this rule contradict each other: it never applies",
                "remove it, or look for a `distinct` of two equal terms",
            );
        }
    }

    /// Drops clauses that splitting one form gave twice. (Repeated forms have been dropped already.)
    fn drop_repetitions(&mut self, first: usize) {
        if self.clauses.len() > first + 1 {
            let made = self.clauses.split_off(first);
            let mut seen = HashSet::new();
            let is_new = |c: &Clause| seen.insert((c.head.clone(), c.body.clone()));
            self.clauses.extend(made.into_iter().filter(is_new));
        }
    }

    fn must_name(&self, body: &[Condition]) -> bool {
        let ways = ways(body);
        ways > MAX_SPLIT || (ways > 1 && self.split_literals > MAX_SPLIT_LITERALS)
    }

    /// Gives each disjunction of the body an auxiliary relation. The result is linear in the size of the form;
    /// splitting is exponential.
    fn name_disjunctions(&mut self, form: &mut Form) {
        let binders: Vec<Condition> = form
            .body
            .iter()
            .filter(|g| matches!(g, Condition::Pos(_)))
            .cloned()
            .collect();
        let mut outside: HashMap<u32, usize> = HashMap::new();
        form.head
            .atom
            .for_each_var(&mut |v| *outside.entry(v).or_insert(0) += 1);
        for condition in &form.body {
            distinct_vars(condition)
                .into_iter()
                .for_each(|v| *outside.entry(v).or_insert(0) += 1);
        }
        for i in 0..form.body.len() {
            let Condition::Or(branches, span) = &form.body[i] else {
                continue;
            };
            let (branches, span) = (branches.clone(), *span);
            let mut shared = distinct_vars(&form.body[i]);
            shared.retain(|v| outside[v] > 1);
            let head = self.aux_head(&shared, span);
            for branch in branches {
                self.aux_clause(form, &head, branch, &binders);
            }
            form.body[i] = Condition::Pos(head);
        }
    }

    fn aux_head(&mut self, vars: &[u32], span: Span) -> PlacedAtom {
        self.n_aux += 1;
        let relation = self.symbols.intern(&format!("or#{}", self.n_aux));
        PlacedAtom {
            atom: Atom {
                relation,
                args: vars.iter().map(|&v| Term::Var(v)).collect(),
            },
            span,
            args: vec![span; vars.len()],
        }
    }

    fn aux_clause(&mut self, form: &Form, head: &PlacedAtom, mut branch: Vec<Condition>, binders: &[Condition]) {
        // If the branch does not bind all its variables itself, the positive literals of the rule are added to it.
        let mut bound: HashSet<u32> = HashSet::new();
        for condition in &branch {
            if let Condition::Pos(atom) = condition {
                atom.atom.for_each_var(&mut |v| {
                    bound.insert(v);
                });
            }
        }
        let mut needed = HashSet::new();
        head.atom.for_each_var(&mut |v| {
            needed.insert(v);
        });
        branch.iter().flat_map(distinct_vars).for_each(|v| {
            needed.insert(v);
        });
        if !needed.is_subset(&bound) {
            branch.extend(binders.iter().cloned());
        }
        self.form(&Form {
            head: head.clone(),
            body: branch,
            variables: form.variables.clone(),
            span: form.span,
        });
    }

    fn clause(&mut self, form: &Form, conjunction: &[&Condition]) -> Outcome {
        let mut substitution = Substitution::default();
        for condition in conjunction {
            if let Condition::Same(a, b, _) = condition {
                match substitution.unify(a, b) {
                    Ok(true) => {}
                    Ok(false) => return Outcome::Never,
                    Err(TooLarge) => return self.too_large(form.span),
                }
            }
        }
        let built = self.build(form, conjunction, &substitution);
        match built {
            Ok(Some(clause)) => {
                self.clauses.push(clause);
                Outcome::Kept
            }
            Ok(None) => Outcome::Never,
            Err(TooLarge) => self.too_large(form.span),
        }
    }

    fn too_large(&mut self, span: Span) -> Outcome {
        self.sink.add(
            Code::Limit,
            span,
            "the equalities of this rule build terms that are too large",
            "write the terms out instead of `not distinct`",
        );
        Outcome::Kept
    }

    fn build(
        &self,
        form: &Form,
        conjunction: &[&Condition],
        substitution: &Substitution,
    ) -> Result<Option<Clause>, TooLarge> {
        let atom = |placed: &PlacedAtom| -> Result<Atom, TooLarge> {
            let args = placed.atom.args.iter().map(|t| substitution.apply(t));
            Ok(Atom {
                relation: placed.atom.relation,
                args: args.collect::<Result<_, _>>()?,
            })
        };
        let mut literals = Vec::with_capacity(conjunction.len());
        for condition in conjunction {
            match condition {
                Condition::Pos(placed) => literals.push(Literal::Pos(atom(placed)?)),
                Condition::Neg(placed) => literals.push(Literal::Neg(atom(placed)?)),
                Condition::Distinct(a, b, _) => {
                    let (a, b) = (substitution.apply(a)?, substitution.apply(b)?);
                    if a == b {
                        return Ok(None);
                    }
                    if Substitution::default().unify(&a, &b)? {
                        literals.push(Literal::Distinct(a, b));
                    }
                }
                Condition::Same(..) => {}
                Condition::Or(..) => unreachable!("split before"),
            }
        }
        let head = atom(&form.head)?;
        Ok(Some(number_variables(form, head, order(literals))))
    }
}

/// Number of conjunctions that splitting gives.
fn ways(conditions: &[Condition]) -> usize {
    conditions.iter().fold(1, |product, condition| match condition {
        Condition::Or(branches, _) => {
            let sum = branches.iter().fold(0_usize, |sum, b| sum.saturating_add(ways(b)));
            product.saturating_mul(sum)
        }
        _ => product,
    })
}

/// The conjunctions without disjunctions whose disjunction is equivalent to the body.
fn split(conditions: &[Condition]) -> Vec<Vec<&Condition>> {
    let mut ways: Vec<Vec<&Condition>> = vec![Vec::new()];
    for condition in conditions {
        match condition {
            Condition::Or(branches, _) => {
                let inner: Vec<Vec<&Condition>> = branches.iter().flat_map(|b| split(b)).collect();
                ways = ways
                    .iter()
                    .flat_map(|way| inner.iter().map(|more| way.iter().chain(more).copied().collect()))
                    .collect();
            }
            _ => ways.iter_mut().for_each(|way| way.push(condition)),
        }
    }
    ways
}

fn distinct_vars(condition: &Condition) -> Vec<u32> {
    let mut vars = Vec::new();
    collect_vars(condition, &mut vars);
    vars.sort_unstable();
    vars.dedup();
    vars
}

fn collect_vars(condition: &Condition, vars: &mut Vec<u32>) {
    match condition {
        Condition::Pos(placed) | Condition::Neg(placed) => placed.atom.for_each_var(&mut |v| vars.push(v)),
        Condition::Distinct(a, b, _) | Condition::Same(a, b, _) => {
            a.for_each_var(&mut |v| vars.push(v));
            b.for_each_var(&mut |v| vars.push(v));
        }
        Condition::Or(branches, _) => branches.iter().flatten().for_each(|g| collect_vars(g, vars)),
    }
}

/// Puts positive literals in source order, and each `not` and `distinct` as soon as its variables are bound.
fn order(literals: Vec<Literal>) -> Vec<Literal> {
    let mut waiting: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut missing: Vec<usize> = Vec::new();
    let mut tests: Vec<Option<Literal>> = Vec::new();
    let mut ordered = Vec::with_capacity(literals.len());
    let mut positives = Vec::new();
    for literal in literals {
        if matches!(literal, Literal::Pos(_)) {
            positives.push(literal);
            continue;
        }
        let mut vars = HashSet::new();
        literal.for_each_var(&mut |v| {
            vars.insert(v);
        });
        if vars.is_empty() {
            ordered.push(literal);
            continue;
        }
        vars.iter()
            .for_each(|&v| waiting.entry(v).or_default().push(tests.len()));
        missing.push(vars.len());
        tests.push(Some(literal));
    }
    let mut bound = HashSet::new();
    for literal in positives {
        let mut ready = Vec::new();
        literal.for_each_var(&mut |v| {
            if bound.insert(v) {
                for &test in waiting.get(&v).into_iter().flatten() {
                    missing[test] -= 1;
                    if missing[test] == 0 {
                        ready.push(test);
                    }
                }
            }
        });
        ordered.push(literal);
        ready.sort_unstable();
        ordered.extend(ready.into_iter().filter_map(|test| tests[test].take()));
    }
    // Only unsafe rules have literals left here, and `check` has dropped those.
    ordered.extend(tests.into_iter().flatten());
    ordered
}

/// Numbers the remaining variables in order of occurrence.
fn number_variables(form: &Form, mut head: Atom, mut body: Vec<Literal>) -> Clause {
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let mut variables = Vec::new();
    let mut renumber = |term: &mut Term| {
        rename(term, &mut |v| {
            *numbers.entry(v).or_insert_with(|| {
                variables.push(form.variables[v as usize].name.clone());
                variables.len() as u32 - 1
            })
        });
    };
    head.args.iter_mut().for_each(&mut renumber);
    for literal in &mut body {
        match literal {
            Literal::Pos(atom) | Literal::Neg(atom) => atom.args.iter_mut().for_each(&mut renumber),
            Literal::Distinct(a, b) => {
                renumber(a);
                renumber(b);
            }
        }
    }
    Clause {
        head,
        body,
        variables,
        offset: form.span.start,
    }
}

fn rename(term: &mut Term, number: &mut impl FnMut(u32) -> u32) {
    match term {
        Term::Var(v) => *v = number(*v),
        Term::Fun(_, args) => args.iter_mut().for_each(|t| rename(t, number)),
    }
}
