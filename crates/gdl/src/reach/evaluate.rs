//! Evaluation of the conditions of a rule over sets.

use super::extension::{Builder, Extension};
use super::sets::Set;
use super::{AtomGoal, Goal, MAX_PASSES, Reach, Rounds, Values};
use crate::rules::{Atom, Term};
use crate::symbol::kw;

impl<'a> Reach<'a> {
    /// Narrows the values of the variables; false if the conditions cannot hold together.
    pub(super) fn conjunction(
        &mut self,
        goals: &[Goal<'a>],
        values: &mut Values,
        now: &[Extension],
        round: Rounds,
    ) -> bool {
        let joins = |g: &Goal| match g {
            Goal::Atom(atom) => self.tables[atom.relation].is_some(),
            Goal::Same(..) | Goal::Or(_) => true,
            Goal::Distinct(..) => false,
        };
        let repeat = goals.iter().any(joins);
        let mut possible = true;
        for pass in 0..MAX_PASSES {
            let before = if repeat { values.clone() } else { Vec::new() };
            self.fuel.burn(goals.len());
            for goal in goals {
                // In the first pass all conditions are looked at, to learn which of them hold by themselves.
                if possible || pass == 0 {
                    possible &= self.goal_holds(goal, values, now, round, possible);
                }
            }
            if !possible || !repeat || *values == before || self.fuel.is_empty() {
                break;
            }
        }
        possible
    }

    fn goal_holds(
        &mut self,
        goal: &Goal<'a>,
        values: &mut Values,
        now: &[Extension],
        round: Rounds,
        possible: bool,
    ) -> bool {
        match goal {
            Goal::Atom(atom) => {
                if self.holds[atom.id] & round == 0 && self.matches(atom, now) {
                    self.holds[atom.id] |= round;
                }
                if atom.positive && possible {
                    self.narrow_by(atom, values, now)
                } else {
                    !atom.positive || possible
                }
            }
            Goal::Distinct(a, b) => self.distinct(a, b, values),
            Goal::Same(a, b) => {
                let (x, y) = (self.set_of(a, values), self.set_of(b, values));
                let both = x.intersect(&y, &self.fuel);
                !both.is_empty() && self.narrow(a, &both, values) && self.narrow(b, &both, values)
            }
            Goal::Or(branches) => {
                let mut union: Option<Values> = None;
                for branch in branches {
                    let mut own = values.clone();
                    if self.conjunction(&branch.goals, &mut own, now, round) {
                        self.branches[branch.id] |= round;
                        union = Some(match union {
                            None => own,
                            Some(all) => all.iter().zip(&own).map(|(x, y)| x.union(y, &self.fuel)).collect(),
                        });
                    }
                }
                match union {
                    Some(all) => {
                        *values = all;
                        true
                    }
                    None => false,
                }
            }
        }
    }

    /// Whether the atom may hold by itself, whatever the other conditions say.
    fn matches(&self, atom: &AtomGoal, now: &[Extension]) -> bool {
        let extension = &now[atom.relation];
        if self.preds[atom.relation].0 == kw::KNOWS {
            return true;
        }
        extension.blocks.iter().any(|(_, sets)| {
            let args = &atom.placed.atom.args;
            args.iter().zip(sets).all(|(arg, set)| may_match(arg, set))
        })
    }

    fn narrow_by(&self, atom: &AtomGoal, values: &mut Values, now: &[Extension]) -> bool {
        let args = &atom.placed.atom.args;
        if self.preds[atom.relation].0 == kw::KNOWS {
            return true;
        }
        if let Some(rows) = &self.tables[atom.relation] {
            return self.join(rows, &atom.placed.atom, values);
        }
        match now[atom.relation].blocks.as_slice() {
            [] => false,
            [(_, sets)] => args.iter().zip(sets).all(|(arg, set)| self.narrow(arg, set, values)),
            blocks => {
                let vars = variables(&atom.placed.atom);
                let before: Vec<Set> = vars.iter().map(|&v| values[v as usize].clone()).collect();
                let mut union: Vec<Set> = vec![Set::empty(); vars.len()];
                let mut any = false;
                for (_, sets) in blocks {
                    for (&v, set) in vars.iter().zip(&before) {
                        values[v as usize] = set.clone();
                    }
                    if args.iter().zip(sets).all(|(arg, set)| self.narrow(arg, set, values)) {
                        any = true;
                        for (&v, all) in vars.iter().zip(&mut union) {
                            *all = all.union(&values[v as usize], &self.fuel);
                        }
                    }
                }
                for (&v, set) in vars.iter().zip(union) {
                    values[v as usize] = set;
                }
                any
            }
        }
    }

    /// Narrows the variables of an atom to the rows of a table that fit.
    fn join(&self, rows: &[&[Term]], atom: &Atom, values: &mut Values) -> bool {
        self.fuel.burn(rows.len() * atom.args.len());
        let vars = variables(atom);
        let mut found: Vec<Builder> = vars.iter().map(|_| Builder::default()).collect();
        let mut any = false;
        for row in rows {
            let mut bound: Vec<(u32, &Term)> = Vec::with_capacity(vars.len());
            let fits = atom
                .args
                .iter()
                .zip(*row)
                .all(|(arg, term)| fits(arg, term, values, &mut bound));
            if fits {
                any = true;
                for (v, term) in bound {
                    let at = vars.binary_search(&v).expect("a variable of the atom");
                    found[at].add(term);
                }
            }
        }
        for (&v, builder) in vars.iter().zip(found) {
            let set = builder.finish(&self.fuel);
            let value = &mut values[v as usize];
            *value = value.intersect(&set, &self.fuel);
        }
        any
    }

    /// Narrows the variables of a term so that it lies in the set; false if it cannot.
    fn narrow(&self, term: &Term, set: &Set, values: &mut Values) -> bool {
        match term {
            Term::Var(v) => {
                let value = &mut values[*v as usize];
                *value = value.intersect(set, &self.fuel);
                !value.is_empty()
            }
            Term::Fun(name, args) => {
                self.fuel.burn(1);
                match set {
                    Set::Any => true,
                    Set::These(members) if args.is_empty() => members.constants.binary_search(name).is_ok(),
                    Set::These(members) => match members.function(*name, args.len()) {
                        Some(sets) => args.iter().zip(sets).all(|(arg, set)| self.narrow(arg, set, values)),
                        None => false,
                    },
                }
            }
        }
    }

    fn distinct(&self, a: &Term, b: &Term, values: &mut Values) -> bool {
        if a == b {
            return false;
        }
        let (x, y) = (self.set_of(a, values), self.set_of(b, values));
        for (term, other) in [(a, &y), (b, &x)] {
            if let (Term::Var(v), Some(constant)) = (term, other.single()) {
                let value = &mut values[*v as usize];
                *value = value.without(constant);
                if value.is_empty() {
                    return false;
                }
            }
        }
        x.single().is_none() || x.single() != y.single()
    }

    /// The values that a term may have.
    pub(super) fn set_of(&self, term: &Term, values: &Values) -> Set {
        match term {
            Term::Var(v) => values[*v as usize].clone(),
            Term::Fun(name, args) => {
                self.fuel.burn(1);
                Set::function(*name, args.iter().map(|a| self.set_of(a, values)).collect())
            }
        }
    }
}

/// Variables of an atom, sorted.
fn variables(atom: &Atom) -> Vec<u32> {
    let mut vars = Vec::new();
    atom.for_each_var(&mut |v| vars.push(v));
    vars.sort_unstable();
    vars.dedup();
    vars
}

/// Whether some term of the set has the shape of the pattern.
pub(crate) fn may_match(pattern: &Term, set: &Set) -> bool {
    match (pattern, set) {
        (_, Set::Any) => true,
        (Term::Var(_), _) => !set.is_empty(),
        (Term::Fun(name, args), Set::These(m)) if args.is_empty() => m.constants.binary_search(name).is_ok(),
        (Term::Fun(name, args), Set::These(m)) => m
            .function(*name, args.len())
            .is_some_and(|sets| args.iter().zip(sets).all(|(arg, set)| may_match(arg, set))),
    }
}

/// Whether a ground term fits a pattern, given the values of the variables; collects what the variables are bound to.
fn fits<'t>(pattern: &Term, term: &'t Term, values: &Values, bound: &mut Vec<(u32, &'t Term)>) -> bool {
    match (pattern, term) {
        (Term::Var(v), _) => match bound.iter().find(|(w, _)| w == v) {
            Some((_, other)) => *other == term,
            None => {
                bound.push((*v, term));
                values[*v as usize].contains(term)
            }
        },
        (Term::Fun(f, args), Term::Fun(g, inner)) => {
            f == g && args.len() == inner.len() && args.iter().zip(inner).all(|(a, t)| fits(a, t, values, bound))
        }
        (Term::Fun(..), Term::Var(_)) => true,
    }
}
