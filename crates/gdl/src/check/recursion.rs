//! Recursion restriction: recursion must not build ever larger terms (docs/gdl2.md, Recursion restriction).
//!
//! In a rule `p(s…) ⇐ … q(v…) …` with `q` in a cycle with `p`, each `v` is ground, or is one of the `s` as a whole, or
//! is a whole argument of a positive condition that is not in a cycle with `p`.

use super::graph::Graph;
use crate::codes::Code;
use crate::diagnostic::Sink;
use crate::forms::{Condition, Form, PlacedAtom};
use crate::rules::Term;
use crate::source::short;
use crate::symbol::Symbols;
use std::collections::{HashMap, HashSet};

pub(super) fn check(forms: &[Form], graph: &Graph, symbols: &Symbols, sink: &mut Sink) {
    for form in forms {
        let head = graph.find(form.head.pred()).expect("every head is a node");
        let recursive = |atom: &PlacedAtom| graph.find(atom.pred()).is_some_and(|n| graph.in_cycle(head, n));
        let mut any = false;
        form.for_each_atom(&mut |atom, negative| any |= !negative && recursive(atom));
        if !any {
            continue;
        }
        let mut known = Known::default();
        known.add(form.head.atom.args.iter());
        let mut walk = Walk {
            recursive: &recursive,
            known,
            report: &mut |atom: &PlacedAtom, arg: usize| {
                let relation = short(symbols.text(atom.atom.relation));
                sink.add(
                    Code::Recursion,
                    atom.args[arg],
                    format!("this argument of the recursive `{relation}` is bound by nothing outside the recursion"),
                    "the terms could grow for ever: bind it by a relation that is not part of the cycle",
                );
            },
        };
        walk.conjunction(&form.body);
    }
}

/// Terms that the enclosing conjunctions supply, with multiplicity.
#[derive(Default)]
struct Known<'a>(HashMap<&'a Term, u32>);

impl<'a> Known<'a> {
    fn add(&mut self, terms: impl Iterator<Item = &'a Term>) {
        terms.for_each(|t| *self.0.entry(t).or_insert(0) += 1);
    }

    fn remove(&mut self, terms: impl Iterator<Item = &'a Term>) {
        terms.for_each(|t| *self.0.get_mut(t).expect("added before") -= 1);
    }

    fn has(&self, term: &Term) -> bool {
        self.0.get(term).is_some_and(|&n| n > 0)
    }
}

struct Walk<'a, 'w, R, F> {
    recursive: &'w R,
    known: Known<'a>,
    report: &'w mut F,
}

impl<'a, R: Fn(&PlacedAtom) -> bool, F: FnMut(&PlacedAtom, usize)> Walk<'a, '_, R, F> {
    fn conjunction(&mut self, conditions: &'a [Condition]) {
        let supplied = supplied(conditions, self.recursive);
        self.known.add(supplied.iter().copied());
        for condition in conditions {
            match condition {
                Condition::Pos(atom) if (self.recursive)(atom) => self.recursive_atom(atom),
                Condition::Or(branches, _) => branches.iter().for_each(|b| self.conjunction(b)),
                _ => {}
            }
        }
        self.known.remove(supplied.into_iter());
    }

    fn recursive_atom(&mut self, atom: &PlacedAtom) {
        for (i, term) in atom.atom.args.iter().enumerate() {
            if !term.is_ground() && !self.known.has(term) {
                (self.report)(atom, i);
            }
        }
    }
}

/// Terms that a conjunction supplies without recursion. A disjunction supplies the terms that all its branches supply.
fn supplied<'a>(conditions: &'a [Condition], recursive: &impl Fn(&PlacedAtom) -> bool) -> Vec<&'a Term> {
    let mut terms = Vec::new();
    for condition in conditions {
        match condition {
            Condition::Pos(atom) if !recursive(atom) => terms.extend(&atom.atom.args),
            Condition::Or(branches, _) => terms.extend(supplied_by_all(branches, recursive)),
            _ => {}
        }
    }
    terms
}

fn supplied_by_all<'a>(branches: &'a [Vec<Condition>], recursive: &impl Fn(&PlacedAtom) -> bool) -> HashSet<&'a Term> {
    let direct = |branch: &'a [Condition]| -> HashSet<&'a Term> {
        let atoms = branch.iter().filter_map(|condition| match condition {
            Condition::Pos(atom) if !recursive(atom) => Some(&atom.atom.args),
            _ => None,
        });
        atoms.flatten().collect()
    };
    let mut branches = branches.iter();
    let mut common = branches.next().map(|b| direct(b)).unwrap_or_default();
    for branch in branches {
        if common.is_empty() {
            break;
        }
        let here = direct(branch);
        common.retain(|t| here.contains(t));
    }
    common
}
