//! Unification, with a limit on its work: equalities can describe terms of exponential size.

use crate::rules::Term;
use std::collections::HashMap;

/// The limit was reached.
#[derive(Debug)]
pub(crate) struct TooLarge;

const MAX_STEPS: usize = 100_000;

/// A triangular substitution: bindings may contain bound variables.
#[derive(Default)]
pub(crate) struct Substitution {
    bindings: HashMap<u32, Term>,
    steps: usize,
}

impl Substitution {
    /// Extends the substitution so that the terms become equal; false if that is impossible.
    pub fn unify(&mut self, a: &Term, b: &Term) -> Result<bool, TooLarge> {
        let mut todo = vec![(a.clone(), b.clone())];
        while let Some((a, b)) = todo.pop() {
            self.step()?;
            match (self.walk(a), self.walk(b)) {
                (Term::Var(v), Term::Var(w)) if v == w => {}
                (Term::Var(v), term) | (term, Term::Var(v)) => {
                    if self.occurs(v, &term)? {
                        return Ok(false);
                    }
                    self.bindings.insert(v, term);
                }
                (Term::Fun(f, a), Term::Fun(g, b)) => {
                    if f != g || a.len() != b.len() {
                        return Ok(false);
                    }
                    todo.extend(a.into_iter().zip(b));
                }
            }
        }
        Ok(true)
    }

    /// The term with the substitution applied.
    pub fn apply(&self, term: &Term) -> Result<Term, TooLarge> {
        if self.bindings.is_empty() {
            return Ok(term.clone());
        }
        let mut size = 0;
        self.apply_within(term, &mut size)
    }

    fn apply_within(&self, term: &Term, size: &mut usize) -> Result<Term, TooLarge> {
        *size += 1;
        if *size > MAX_STEPS {
            return Err(TooLarge);
        }
        match term {
            Term::Var(v) => match self.bindings.get(v) {
                Some(bound) => self.apply_within(bound, size),
                None => Ok(term.clone()),
            },
            Term::Fun(f, args) => {
                let args: Result<Vec<Term>, TooLarge> = args.iter().map(|t| self.apply_within(t, size)).collect();
                Ok(Term::Fun(*f, args?))
            }
        }
    }

    fn walk(&self, mut term: Term) -> Term {
        while let Term::Var(v) = term {
            match self.bindings.get(&v) {
                Some(bound) => term = bound.clone(),
                None => break,
            }
        }
        term
    }

    fn occurs(&mut self, v: u32, term: &Term) -> Result<bool, TooLarge> {
        let mut todo = vec![term.clone()];
        while let Some(term) = todo.pop() {
            self.step()?;
            match self.walk(term) {
                Term::Var(w) if v == w => return Ok(true),
                Term::Var(_) => {}
                Term::Fun(_, args) => todo.extend(args),
            }
        }
        Ok(false)
    }

    fn step(&mut self) -> Result<(), TooLarge> {
        self.steps += 1;
        if self.steps > MAX_STEPS { Err(TooLarge) } else { Ok(()) }
    }
}
