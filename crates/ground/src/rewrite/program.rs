//! Rules while they are rewritten, and what passes ask about them.

use gdl::{Atom, Clause, Literal, Rules, Symbol, Symbols, Term, kw};
use rustc_hash::{FxHashMap, FxHashSet};

/// A relation: name and number of arguments.
pub(super) type Rel = (Symbol, usize);

/// Rules that are being rewritten.
pub(super) struct Draft {
    pub symbols: Symbols,
    pub clauses: Vec<Clause>,
    /// Auxiliary relations that are not to be inlined again.
    pub kept: FxHashSet<Symbol>,
}

impl Draft {
    pub fn new(rules: &Rules) -> Draft {
        Draft {
            symbols: rules.symbols.clone(),
            clauses: rules.clauses.clone(),
            kept: FxHashSet::default(),
        }
    }

    /// The rules again, with everything that rewriting does not touch taken from the original.
    pub fn finish(self, original: &Rules) -> Rules {
        let mut rules = original.clone();
        rules.symbols = self.symbols;
        rules.clauses = self.clauses;
        rules
    }

    /// A name that nothing has yet.
    pub fn fresh(&mut self, base: Symbol, tag: &str) -> Symbol {
        let base = self.symbols.text(base).split('#').next().unwrap_or_default().to_owned();
        let mut n = 1;
        loop {
            let name = format!("{base}#{tag}{n}");
            if self.symbols.get(&name).is_none() {
                return self.symbols.intern(&name);
            }
            n += 1;
        }
    }

    /// The relations that depend on state or move.
    pub fn changing(&self) -> FxHashSet<Rel> {
        let mut users: FxHashMap<Rel, Vec<Rel>> = FxHashMap::default();
        for clause in &self.clauses {
            for used in clause.body.iter().filter_map(relation_of) {
                users.entry(used).or_default().push(rel(&clause.head));
            }
        }
        let mut changing: FxHashSet<Rel> = FxHashSet::default();
        let mut todo: Vec<Rel> = vec![(kw::TRUE, 1), (kw::DOES, 2)];
        while let Some(relation) = todo.pop() {
            if changing.insert(relation) {
                todo.extend(users.get(&relation).into_iter().flatten());
            }
        }
        changing
    }

    /// The rows of every relation that is ground facts only.
    pub fn facts(&self) -> FxHashMap<Rel, Vec<&[Term]>> {
        let mut facts: FxHashMap<Rel, Vec<&[Term]>> = FxHashMap::default();
        let mut derived: FxHashSet<Rel> = FxHashSet::default();
        for clause in &self.clauses {
            let head = rel(&clause.head);
            match clause.body.is_empty() && clause.head.is_ground() {
                true => facts.entry(head).or_default().push(&clause.head.args),
                false => drop(derived.insert(head)),
            }
        }
        facts.retain(|r, _| !derived.contains(r) && ![kw::TRUE, kw::DOES].contains(&r.0));
        facts
    }

    /// The numbers of the clauses of each relation.
    pub fn definitions(&self) -> FxHashMap<Rel, Vec<usize>> {
        let mut definitions: FxHashMap<Rel, Vec<usize>> = FxHashMap::default();
        for (n, clause) in self.clauses.iter().enumerate() {
            definitions.entry(rel(&clause.head)).or_default().push(n);
        }
        definitions
    }
}

pub(super) fn rel(atom: &Atom) -> Rel {
    (atom.relation, atom.args.len())
}

/// The relation of a literal; none for `distinct`.
pub(super) fn relation_of(literal: &Literal) -> Option<Rel> {
    match literal {
        Literal::Pos(atom) | Literal::Neg(atom) => Some(rel(atom)),
        Literal::Distinct(..) => None,
    }
}

/// Whether the language gives the relation a meaning of its own.
pub(super) fn is_keyword(relation: Rel) -> bool {
    relation.0.is_keyword_relation()
}

pub(super) fn pos(relation: Symbol, args: Vec<Term>) -> Literal {
    Literal::Pos(Atom { relation, args })
}

/// The variables of a literal, ascending, each once.
pub(super) fn vars(literal: &Literal) -> Vec<u32> {
    let mut vars = Vec::new();
    literal.for_each_var(&mut |v| vars.push(v));
    vars.sort_unstable();
    vars.dedup();
    vars
}

/// The variables of an atom, ascending, each once.
pub(super) fn atom_vars(atom: &Atom) -> Vec<u32> {
    let mut vars = Vec::new();
    atom.for_each_var(&mut |v| vars.push(v));
    vars.sort_unstable();
    vars.dedup();
    vars
}

/// A clause with its variables numbered in the order of occurrence, and each test as soon as its variables are bound.
pub(super) fn tidy(head: Atom, body: Vec<Literal>, names: &[String], offset: u32) -> Clause {
    let mut unique: Vec<Literal> = Vec::with_capacity(body.len());
    for literal in in_order(body) {
        if !unique.contains(&literal) {
            unique.push(literal);
        }
    }
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    let mut variables = Vec::new();
    let mut number = |v: u32| {
        *numbers.entry(v).or_insert_with(|| {
            let name = names.get(v as usize).cloned();
            variables.push(name.unwrap_or_else(|| format!("?v{}", variables.len())));
            variables.len() as u32 - 1
        })
    };
    let head = map_atom(&head, &mut |v| Term::Var(number(v)));
    let body = unique
        .iter()
        .map(|l| map_literal(l, &mut |v| Term::Var(number(v))))
        .collect();
    Clause {
        head,
        body,
        variables,
        offset,
    }
}

/// Positive literals as they are, each test as soon as its variables are bound.
pub(super) fn in_order(body: Vec<Literal>) -> Vec<Literal> {
    let (positive, mut tests): (Vec<Literal>, Vec<Literal>) =
        body.into_iter().partition(|l| matches!(l, Literal::Pos(_)));
    let mut bound: FxHashSet<u32> = FxHashSet::default();
    let mut ordered = Vec::with_capacity(positive.len() + tests.len());
    let mut take_ready = |bound: &FxHashSet<u32>, ordered: &mut Vec<Literal>| {
        let (ready, waiting) = std::mem::take(&mut tests)
            .into_iter()
            .partition(|l| vars(l).iter().all(|v| bound.contains(v)));
        tests = waiting;
        let ready: Vec<Literal> = ready;
        ordered.extend(ready);
    };
    take_ready(&bound, &mut ordered);
    for literal in positive {
        literal.for_each_var(&mut |v| {
            bound.insert(v);
        });
        ordered.push(literal);
        take_ready(&bound, &mut ordered);
    }
    ordered.extend(tests);
    ordered
}

pub(super) fn map_term(term: &Term, to: &mut impl FnMut(u32) -> Term) -> Term {
    match term {
        Term::Var(v) => to(*v),
        Term::Fun(symbol, args) => Term::Fun(*symbol, args.iter().map(|t| map_term(t, to)).collect()),
    }
}

pub(super) fn map_atom(atom: &Atom, to: &mut impl FnMut(u32) -> Term) -> Atom {
    Atom {
        relation: atom.relation,
        args: atom.args.iter().map(|t| map_term(t, to)).collect(),
    }
}

pub(super) fn map_literal(literal: &Literal, to: &mut impl FnMut(u32) -> Term) -> Literal {
    match literal {
        Literal::Pos(atom) => Literal::Pos(map_atom(atom, to)),
        Literal::Neg(atom) => Literal::Neg(map_atom(atom, to)),
        Literal::Distinct(a, b) => Literal::Distinct(map_term(a, to), map_term(b, to)),
    }
}

/// Variables in the order in which a body mentions them, so that equal auxiliary rules look equal.
pub(super) fn in_body_order(body: &[Literal], vars: &[u32]) -> Vec<Term> {
    let mut ordered: Vec<Term> = Vec::new();
    for literal in body {
        literal.for_each_var(&mut |v| {
            let term = Term::Var(v);
            if vars.contains(&v) && !ordered.contains(&term) {
                ordered.push(term);
            }
        });
    }
    ordered
}

/// Whether every variable of the clause occurs in a positive literal of its body.
pub(super) fn is_safe(head: &Atom, body: &[Literal]) -> bool {
    let mut bound: FxHashSet<u32> = FxHashSet::default();
    for literal in body.iter().filter(|l| matches!(l, Literal::Pos(_))) {
        literal.for_each_var(&mut |v| {
            bound.insert(v);
        });
    }
    let mut safe = true;
    head.for_each_var(&mut |v| safe &= bound.contains(&v));
    body.iter()
        .for_each(|l| l.for_each_var(&mut |v| safe &= bound.contains(&v)));
    safe
}
