//! What may hold of one relation.

use super::MAX_BLOCKS;
use super::sets::{Fuel, Set};
use crate::rules::Term;
use crate::symbol::Symbol;
use std::collections::BTreeMap;

/// What may hold of a relation: products of argument sets, one for each first argument where these are told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extension {
    pub blocks: Vec<(Option<Symbol>, Vec<Set>)>,
}

impl Extension {
    /// Adds a product of argument sets; says whether there is more than before.
    pub fn add(&mut self, args: Vec<Set>, split: bool, fuel: &Fuel) -> bool {
        if args.iter().any(Set::is_empty) {
            return false;
        }
        let firsts: Vec<Symbol> = match args.first() {
            Some(Set::These(m)) if split && m.functions.is_empty() => m.constants.clone(),
            _ => Vec::new(),
        };
        if firsts.is_empty() || self.blocks.len() + firsts.len() > MAX_BLOCKS {
            return self.add_block(None, args, fuel);
        }
        let mut changed = false;
        for first in firsts {
            let mut args = args.clone();
            args[0] = Set::constant(first);
            changed |= self.add_block(Some(first), args, fuel);
        }
        changed
    }

    fn add_block(&mut self, first: Option<Symbol>, args: Vec<Set>, fuel: &Fuel) -> bool {
        let Some((_, sets)) = self.blocks.iter_mut().find(|(f, _)| *f == first) else {
            self.blocks.push((first, args));
            return true;
        };
        let mut changed = false;
        for (set, more) in sets.iter_mut().zip(&args) {
            if !more.is_subset(set, fuel) {
                *set = set.union(more, fuel);
                changed = true;
            }
        }
        changed
    }

    /// Values that an argument may have.
    pub fn argument(&self, i: usize, fuel: &Fuel) -> Set {
        let sets = self.blocks.iter().filter_map(|(_, sets)| sets.get(i));
        sets.fold(Set::empty(), |all, set| all.union(set, fuel))
    }
}

/// Collects terms; sorts them once at the end.
#[derive(Default)]
pub(super) struct Builder {
    constants: Vec<Symbol>,
    functions: BTreeMap<(Symbol, usize), Vec<Builder>>,
}

impl Builder {
    pub fn add(&mut self, term: &Term) {
        match term {
            // Facts have no variables; those that had were left out.
            Term::Var(_) => {}
            Term::Fun(name, args) if args.is_empty() => self.constants.push(*name),
            Term::Fun(name, args) => {
                let inner = self.functions.entry((*name, args.len())).or_default();
                inner.resize_with(args.len(), Builder::default);
                for (builder, arg) in inner.iter_mut().zip(args) {
                    builder.add(arg);
                }
            }
        }
    }

    pub fn finish(mut self, fuel: &Fuel) -> Set {
        fuel.burn(self.constants.len());
        self.constants.sort_unstable();
        self.constants.dedup();
        let constants = Set::of_constants(self.constants);
        self.functions.into_iter().fold(constants, |all, ((name, _), args)| {
            let args = args.into_iter().map(|b| b.finish(fuel)).collect();
            all.union(&Set::function(name, args), fuel)
        })
    }
}
