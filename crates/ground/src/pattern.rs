//! Terms of rules, compiled against what is known to be bound.
//!
//! Rules are safe and facts are ground, so which variables have a value at a given point of a rule is known before
//! the rule is run. A term of the rule is therefore either a thing to [`Build`] or a [`Pat`] to match, an
//! index is probed with the leaves that are known ([`Key`]), and going back needs no trail.

use crate::terms::{TermId, Terms};
use gdl::{Symbol, Term};
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Variables of one rule that have a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Bound(Vec<bool>);

impl Bound {
    pub fn none(n_vars: usize) -> Bound {
        Bound(vec![false; n_vars])
    }

    pub fn has(&self, var: u32) -> bool {
        self.0[var as usize]
    }

    pub fn add(&mut self, var: u32) {
        self.0[var as usize] = true;
    }

    pub fn add_all(&mut self, terms: &[Term]) {
        terms.iter().for_each(|t| t.for_each_var(&mut |v| self.add(v)));
    }

    /// Whether every variable of the term has a value.
    pub fn covers(&self, term: &Term) -> bool {
        let mut all = true;
        term.for_each_var(&mut |v| all &= self.has(v));
        all
    }
}

/// How to match a ground term.
#[derive(Clone, Debug)]
pub(crate) enum Pat {
    Const(TermId),
    /// Must equal the variable's value.
    Same(u32),
    /// Gives the variable its value.
    Bind(u32),
    Fun(Symbol, Box<[Pat]>),
}

impl Pat {
    /// Compiles a term; variables met for the first time are added to `bound`.
    pub fn new(term: &Term, bound: &mut Bound, terms: &mut Terms) -> Pat {
        match term {
            Term::Var(v) if bound.has(*v) => Pat::Same(*v),
            Term::Var(v) => {
                bound.add(*v);
                Pat::Bind(*v)
            }
            _ if term.is_ground() => Pat::Const(intern(term, terms)),
            Term::Fun(symbol, args) => {
                let args = args.iter().map(|a| Pat::new(a, bound, terms)).collect();
                Pat::Fun(*symbol, args)
            }
        }
    }

    /// Matches, writing the variables that the pattern binds. A failed match may leave some written.
    #[inline]
    pub fn matches(&self, term: TermId, terms: &Terms, env: &mut [TermId]) -> bool {
        match self {
            Pat::Const(c) => *c == term,
            Pat::Same(v) => env[*v as usize] == term,
            Pat::Bind(v) => {
                env[*v as usize] = term;
                true
            }
            Pat::Fun(symbol, pats) => match_fun(*symbol, pats, term, terms, env),
        }
    }
}

fn match_fun(symbol: Symbol, pats: &[Pat], term: TermId, terms: &Terms, env: &mut [TermId]) -> bool {
    terms.symbol(term) == symbol
        && terms.args(term).len() == pats.len()
        && match_all(pats, terms.args(term), terms, env)
}

/// Matches a row of terms.
#[inline]
pub(crate) fn match_all(pats: &[Pat], row: &[TermId], terms: &Terms, env: &mut [TermId]) -> bool {
    pats.iter().zip(row).all(|(pat, &term)| pat.matches(term, terms, env))
}

/// How to make a ground term from variables that all have values.
#[derive(Clone, Debug)]
pub(crate) enum Build {
    Const(TermId),
    Var(u32),
    Fun(Symbol, Box<[Build]>),
}

impl Build {
    pub fn new(term: &Term, terms: &mut Terms) -> Build {
        match term {
            Term::Var(v) => Build::Var(*v),
            _ if term.is_ground() => Build::Const(intern(term, terms)),
            Term::Fun(symbol, args) => Build::Fun(*symbol, args.iter().map(|a| Build::new(a, terms)).collect()),
        }
    }

    #[inline]
    pub fn build(&self, terms: &mut Terms, env: &[TermId]) -> TermId {
        match self {
            Build::Const(c) => *c,
            Build::Var(v) => env[*v as usize],
            Build::Fun(symbol, parts) => build_fun(*symbol, parts, terms, env),
        }
    }
}

fn build_fun(symbol: Symbol, parts: &[Build], terms: &mut Terms, env: &[TermId]) -> TermId {
    let args: smallvec::SmallVec<[TermId; 8]> = parts.iter().map(|p| p.build(terms, env)).collect();
    terms.intern(symbol, &args)
}

fn intern(term: &Term, terms: &mut Terms) -> TermId {
    match term {
        Term::Var(_) => unreachable!("only ground terms are interned"),
        Term::Fun(symbol, args) => {
            let args: Vec<TermId> = args.iter().map(|a| intern(a, terms)).collect();
            terms.intern(*symbol, &args)
        }
    }
}

/// Which leaves of a row an index is keyed on, and the functions around them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key(Box<[KeyPart]>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum KeyPart {
    Any,
    Leaf,
    Fun(Symbol, Box<[KeyPart]>),
}

/// Where the value of a key's leaf comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Probe {
    Const(TermId),
    Var(u32),
}

impl Key {
    /// The key that finds the rows matching `row` best, and the values to look up, given what is bound.
    pub fn new(row: &[Term], bound: &Bound, terms: &mut Terms) -> (Key, Box<[Probe]>) {
        let mut probes = Vec::new();
        let parts = row.iter().map(|t| key_part(t, bound, terms, &mut probes)).collect();
        (Key(parts), probes.into())
    }

    /// The hash under which a row is filed, if it has the key's shape.
    pub fn of_row(&self, row: &[TermId], terms: &Terms) -> Option<u64> {
        let mut hasher = FxHasher::default();
        let fits = self
            .0
            .iter()
            .zip(row)
            .all(|(part, &term)| hash_part(part, term, terms, &mut hasher));
        fits.then(|| hasher.finish())
    }
}

/// The hash under which rows with these leaves are filed.
#[inline]
pub(crate) fn probe_hash(probes: &[Probe], env: &[TermId]) -> u64 {
    let mut hasher = FxHasher::default();
    for probe in probes {
        hasher.write_u32(match probe {
            Probe::Const(c) => c.0,
            Probe::Var(v) => env[*v as usize].0,
        });
    }
    hasher.finish()
}

fn key_part(term: &Term, bound: &Bound, terms: &mut Terms, probes: &mut Vec<Probe>) -> KeyPart {
    match term {
        Term::Var(v) if bound.has(*v) => {
            probes.push(Probe::Var(*v));
            KeyPart::Leaf
        }
        Term::Var(_) => KeyPart::Any,
        _ if term.is_ground() => {
            probes.push(Probe::Const(intern(term, terms)));
            KeyPart::Leaf
        }
        Term::Fun(symbol, args) => KeyPart::Fun(
            *symbol,
            args.iter().map(|a| key_part(a, bound, terms, probes)).collect(),
        ),
    }
}

fn hash_part(part: &KeyPart, term: TermId, terms: &Terms, hasher: &mut FxHasher) -> bool {
    match part {
        KeyPart::Any => true,
        KeyPart::Leaf => {
            hasher.write_u32(term.0);
            true
        }
        KeyPart::Fun(symbol, parts) => {
            let args = terms.args(term);
            terms.symbol(term) == *symbol
                && args.len() == parts.len()
                && parts.iter().zip(args).all(|(p, &a)| hash_part(p, a, terms, hasher))
        }
    }
}
