//! Which values the arguments of relations may have, by a simple analysis of types.
//!
//! A domain is a set of constants, and of functions whose arguments have domains again. The domains are a fixpoint:
//! each rule adds to the domains of its head what the domains of its positive conditions allow, as far as the head is
//! used at all with such values (as in magic sets, Bancilhon et al. 1986, but on domains). Relations between
//! arguments are ignored except within static relations, so a domain may have values that never occur, but misses none.

use super::program::{Draft, Rel, is_keyword, rel, relation_of, vars};
use super::statics::Statics;
use gdl::{Atom, Clause, Literal, Symbol, Term, kw};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Depth of functions, beyond which a domain is everything.
const DEPTH: usize = 4;
/// Constants of a domain, beyond which it is everything.
const CONSTANTS: usize = 4_096;
/// Rounds over all rules, after which the analysis gives up.
const ROUNDS: usize = 400;
/// Clauses visited in all rounds together, after which the analysis gives up.
const VISITS: usize = 2_000_000;

/// A set of constants, ascending. The analysis copies sets far more often than it changes them, so copies share them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Constants(Rc<Vec<Symbol>>);

impl Constants {
    fn of(mut values: Vec<Symbol>) -> Constants {
        values.sort_unstable();
        values.dedup();
        Constants(Rc::new(values))
    }

    fn contains(&self, value: &Symbol) -> bool {
        self.0.binary_search(value).is_ok()
    }

    /// The constants, ascending.
    pub fn as_slice(&self) -> &[Symbol] {
        &self.0
    }

    /// Adds the constants of another set; returns whether any was new.
    fn add(&mut self, other: &Constants) -> bool {
        if Rc::ptr_eq(&self.0, &other.0) || other.0.iter().all(|value| self.contains(value)) {
            return false;
        }
        let all = self.0.iter().chain(other.0.iter()).copied();
        *self = Constants::of(all.collect());
        true
    }

    /// What two sets have in common.
    fn meet(&self, other: &Constants) -> Constants {
        if Rc::ptr_eq(&self.0, &other.0) {
            return self.clone();
        }
        let (mut a, mut b) = (&self.0[..], &other.0[..]);
        let mut common = Vec::new();
        while let (Some(x), Some(y)) = (a.first(), b.first()) {
            match x.cmp(y) {
                Ordering::Less => a = &a[1..],
                Ordering::Greater => b = &b[1..],
                Ordering::Equal => {
                    common.push(*x);
                    (a, b) = (&a[1..], &b[1..]);
                }
            }
        }
        match common.len() == self.0.len() {
            true => self.clone(),
            false => Constants(Rc::new(common)),
        }
    }
}

/// Values that a term may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Domain {
    everything: bool,
    constants: Constants,
    functions: BTreeMap<(Symbol, usize), Vec<Domain>>,
}

impl Domain {
    fn everything() -> Domain {
        Domain {
            everything: true,
            ..Domain::default()
        }
    }

    fn is_empty(&self) -> bool {
        !self.everything && self.constants.0.is_empty() && self.functions.is_empty()
    }

    /// The constants, if the domain has nothing else.
    pub fn only_constants(&self) -> Option<&[Symbol]> {
        (!self.everything && self.functions.is_empty()).then_some(self.constants.as_slice())
    }

    /// The arguments of a function in this domain.
    pub fn function(&self, symbol: Symbol, arity: usize) -> Option<&[Domain]> {
        self.functions.get(&(symbol, arity)).map(Vec::as_slice)
    }

    /// Adds what another domain has; returns whether anything was new.
    fn add(&mut self, other: &Domain, depth: usize) -> bool {
        if self.everything {
            return false;
        }
        let mut grown = self.constants.add(&other.constants);
        let too_large = other.everything || self.constants.0.len() > CONSTANTS;
        if too_large || (depth == 0 && !other.functions.is_empty()) {
            *self = Domain::everything();
            return true;
        }
        for (function, args) in &other.functions {
            grown |= !self.functions.contains_key(function);
            let own = self
                .functions
                .entry(*function)
                .or_insert_with(|| vec![Domain::default(); args.len()]);
            for (own, other) in own.iter_mut().zip(args) {
                grown |= own.add(other, depth - 1);
            }
        }
        grown
    }

    /// What two domains have in common.
    fn meet(&self, other: &Domain) -> Domain {
        match (self.everything, other.everything) {
            (true, _) => return other.clone(),
            (_, true) => return self.clone(),
            _ => {}
        }
        let mut functions = BTreeMap::new();
        for (function, args) in &self.functions {
            let Some(others) = other.functions.get(function) else {
                continue;
            };
            let args: Vec<Domain> = args.iter().zip(others).map(|(a, b)| a.meet(b)).collect();
            if !args.iter().any(Domain::is_empty) {
                functions.insert(*function, args);
            }
        }
        Domain {
            everything: false,
            constants: self.constants.meet(&other.constants),
            functions,
        }
    }
}

/// The domains of all arguments.
pub(super) struct Domains<'s> {
    statics: &'s Statics,
    changing: FxHashSet<Rel>,
    /// The values with which relations are derived.
    of: FxHashMap<Rel, Vec<Domain>>,
    /// The values with which changing relations are used. Other instances do not matter, so rules need not derive them.
    asked: FxHashMap<Rel, Vec<Domain>>,
    /// How often the derived and the used values of a relation have grown.
    growth: FxHashMap<Rel, u64>,
}

impl<'s> Domains<'s> {
    /// The domains of these rules; nothing is known if the analysis takes too long.
    pub fn new(draft: &Draft, statics: &'s Statics) -> Option<Domains<'s>> {
        let mut domains = Domains {
            statics,
            changing: draft.changing(),
            of: FxHashMap::default(),
            asked: FxHashMap::default(),
            growth: FxHashMap::default(),
        };
        let (facts, rules): (Vec<&Clause>, Vec<&Clause>) = draft.clauses.iter().partition(|c| c.body.is_empty());
        for fact in facts {
            domains.add_clause(fact);
        }
        let rounds = ROUNDS.min(VISITS / rules.len().max(1));
        let mut seen: Vec<Option<u64>> = vec![None; rules.len()];
        for _ in 0..rounds {
            let mut grown = false;
            for (clause, seen) in rules.iter().zip(&mut seen) {
                if statics.stop.is_raised() {
                    return None;
                }
                // A clause adds nothing new as long as nothing that it depends on has grown.
                let now = domains.grown_for(clause);
                if seen.replace(now) != Some(now) {
                    grown |= domains.ask(clause);
                    grown |= domains.add_clause(clause);
                }
            }
            if !grown {
                return Some(domains);
            }
        }
        None
    }

    /// How often everything has grown that decides the domains of a clause.
    fn grown_for(&self, clause: &Clause) -> u64 {
        let of = |relation: Rel| self.growth.get(&relation).copied().unwrap_or_default();
        let body = clause.body.iter().filter_map(relation_of).map(of);
        of(rel(&clause.head)) + body.sum::<u64>()
    }

    /// The domains of the variables of a clause, as far as it matters; `None` if its body never holds.
    pub fn variables(&self, clause: &Clause) -> Option<Vec<Domain>> {
        self.variables_with(clause, &|_| true)
    }

    /// The domains of the variables of a clause by some of its conditions alone, whatever its head is used for.
    pub fn alone(&self, clause: &Clause, counts: &[bool]) -> Option<Vec<Domain>> {
        let mut alone = clause.clone();
        alone.head.args.clear();
        alone.head.relation = kw::TERMINAL;
        let mut n = 0;
        alone.body.retain(|_| {
            n += 1;
            counts[n - 1]
        });
        self.variables(&alone)
    }

    /// The domains of the variables that some of the conditions and the uses of the head allow.
    fn variables_with(&self, clause: &Clause, counts: &dyn Fn(usize) -> bool) -> Option<Vec<Domain>> {
        let mut known = vec![Domain::everything(); clause.variables.len()];
        let head = rel(&clause.head);
        if self.is_asked(head) && !clause.body.is_empty() {
            let asked = self.asked.get(&head)?;
            let fits = clause
                .head
                .args
                .iter()
                .zip(asked)
                .all(|(t, d)| narrow(t, d, &mut known));
            if !fits {
                return None;
            }
        }
        for (_, literal) in clause.body.iter().enumerate().filter(|(n, _)| counts(*n)) {
            let Literal::Pos(atom) = literal else { continue };
            let domains = self.of.get(&rel(atom))?;
            for (term, domain) in atom.args.iter().zip(domains) {
                if !narrow(term, domain, &mut known) {
                    return None;
                }
            }
        }
        self.join_statics(clause, &mut known).then_some(known)
    }

    /// Whether a relation is restricted to its uses.
    fn is_asked(&self, relation: Rel) -> bool {
        self.changing.contains(&relation) && !is_keyword(relation)
    }

    /// Notes the uses of relations in a clause. A use knows what the head is asked for, the static conditions, state
    /// and move, and the conditions that come before it in an order in which few variables are open; a negation knows
    /// all positive conditions.
    fn ask(&mut self, clause: &Clause) -> bool {
        let places = self.places(clause);
        let mut grown = false;
        for (n, literal) in clause.body.iter().enumerate() {
            let (Literal::Pos(atom) | Literal::Neg(atom)) = literal else {
                continue;
            };
            let relation = rel(atom);
            if !self.is_asked(relation) {
                continue;
            }
            let Some(known) = self.variables_with(clause, &|m| places[m] < places[n]) else {
                continue;
            };
            let mut here = !self.asked.contains_key(&relation);
            let asked = self
                .asked
                .entry(relation)
                .or_insert_with(|| vec![Domain::default(); relation.1]);
            for (own, term) in asked.iter_mut().zip(&atom.args) {
                here |= own.add(&domain_of(term, &known), DEPTH);
            }
            if here {
                *self.growth.entry(relation).or_default() += 1;
            }
            grown |= here;
        }
        grown
    }

    /// The place of each condition in the order in which values are passed on: 0 for those that need no values, and the
    /// largest one for negations.
    fn places(&self, clause: &Clause) -> Vec<usize> {
        let mut places = vec![usize::MAX; clause.body.len()];
        let mut bound: FxHashSet<u32> = FxHashSet::default();
        let mut left = Vec::new();
        for (n, literal) in clause.body.iter().enumerate() {
            match literal {
                Literal::Pos(atom) if self.is_asked(rel(atom)) => left.push(n),
                Literal::Pos(_) => {
                    places[n] = 0;
                    bound.extend(vars(literal));
                }
                _ => {}
            }
        }
        for place in 1..=left.len() {
            let open = |n: &usize| vars(&clause.body[*n]).iter().filter(|v| !bound.contains(v)).count();
            let next = *left.iter().min_by_key(|n| (open(n), **n)).expect("some are left");
            left.retain(|&n| n != next);
            places[next] = place;
            bound.extend(vars(&clause.body[next]));
        }
        places
    }

    /// Restricts variables to the rows of static relations that fit; false if there are none.
    fn join_statics(&self, clause: &Clause, known: &mut [Domain]) -> bool {
        let mut changed = true;
        while changed {
            changed = false;
            for literal in &clause.body {
                let Literal::Pos(atom) = literal else { continue };
                let Some(rows) = self.statics.rows(rel(atom)).filter(|_| atom.args.len() > 1) else {
                    continue;
                };
                let fits = |row: &&Vec<Symbol>| {
                    row.iter()
                        .zip(&atom.args)
                        .all(|(value, term)| may_be(term, *value, known))
                };
                let fitting: Vec<&Vec<Symbol>> = rows.iter().filter(fits).collect();
                if fitting.is_empty() {
                    return false;
                }
                for (at, term) in atom.args.iter().enumerate() {
                    let Term::Var(v) = term else { continue };
                    let values = Constants::of(fitting.iter().map(|row| row[at]).collect());
                    let own = &mut known[*v as usize];
                    if own.only_constants().is_none_or(|own| own.len() > values.0.len()) {
                        *own = Domain {
                            constants: values,
                            ..Domain::default()
                        };
                        changed = true;
                    }
                }
            }
        }
        true
    }

    fn add_clause(&mut self, clause: &Clause) -> bool {
        let Some(known) = self.variables(clause) else {
            return false;
        };
        let mut grown = self.add_atom(rel(&clause.head), &clause.head, &known);
        // What may be legal may be done; what is initial or next may be true.
        let linked = match clause.head.relation {
            kw::LEGAL => Some(kw::DOES),
            kw::INIT | kw::NEXT => Some(kw::TRUE),
            _ => None,
        };
        if let Some(linked) = linked {
            grown |= self.add_atom((linked, clause.head.args.len()), &clause.head, &known);
        }
        grown
    }

    fn add_atom(&mut self, relation: Rel, atom: &Atom, known: &[Domain]) -> bool {
        let new = !self.of.contains_key(&relation);
        let own = self
            .of
            .entry(relation)
            .or_insert_with(|| vec![Domain::default(); relation.1]);
        let mut grown = new;
        for (own, term) in own.iter_mut().zip(&atom.args) {
            grown |= own.add(&domain_of(term, known), DEPTH);
        }
        if grown {
            *self.growth.entry(relation).or_default() += 1;
        }
        grown
    }
}

/// Whether a term may have this constant as its value.
fn may_be(term: &Term, value: Symbol, known: &[Domain]) -> bool {
    match term {
        Term::Var(v) => known[*v as usize].everything || known[*v as usize].constants.contains(&value),
        Term::Fun(symbol, args) => args.is_empty() && *symbol == value,
    }
}

/// Restricts the variables of a term to what fits a domain; false if nothing does.
fn narrow(term: &Term, domain: &Domain, known: &mut [Domain]) -> bool {
    match term {
        Term::Var(v) => {
            let met = known[*v as usize].meet(domain);
            let fits = !met.is_empty();
            known[*v as usize] = met;
            fits
        }
        _ if domain.everything => true,
        Term::Fun(symbol, args) if args.is_empty() => domain.constants.contains(symbol),
        Term::Fun(symbol, args) => match domain.function(*symbol, args.len()) {
            Some(domains) => args.iter().zip(domains).all(|(t, d)| narrow(t, d, known)),
            None => false,
        },
    }
}

fn domain_of(term: &Term, known: &[Domain]) -> Domain {
    match term {
        Term::Var(v) => known[*v as usize].clone(),
        Term::Fun(symbol, args) if args.is_empty() => Domain {
            constants: Constants::of(vec![*symbol]),
            ..Domain::default()
        },
        Term::Fun(symbol, args) => Domain {
            functions: [(
                (*symbol, args.len()),
                args.iter().map(|t| domain_of(t, known)).collect(),
            )]
            .into(),
            ..Domain::default()
        },
    }
}
