//! Sets of ground terms, over-approximated: each argument of a function has a set of its own.
//!
//! `{(cell 1 2 x), (cell 2 1 o)}` becomes `(cell {1 2} {1 2} {x o})`. Terms that nest deeper than [`MAX_DEPTH`] become
//! [`Set::Any`] there, so that rules which build ever larger terms reach a fixpoint.

use crate::rules::Term;
use crate::symbol::Symbol;
use std::cell::Cell;
use std::cmp::Ordering;
use std::sync::Arc;

/// Levels of nesting that are told apart.
const MAX_DEPTH: u8 = 5;

/// Work that may still be done. Operations on sets are counted; when the fuel is used up, the analysis is given up.
#[derive(Debug)]
pub(crate) struct Fuel(Cell<u64>);

impl Fuel {
    pub fn new(steps: u64) -> Fuel {
        Fuel(Cell::new(steps))
    }

    pub fn burn(&self, steps: usize) {
        self.0.set(self.0.get().saturating_sub(steps as u64 + 1));
    }

    pub fn is_empty(&self) -> bool {
        self.0.get() == 0
    }
}

/// A set of ground terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    /// Every term.
    Any,
    /// These terms.
    These(Arc<Members>),
}

/// The terms of a set: constants, and products of sets under a function name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Members {
    /// Constants, sorted.
    pub constants: Vec<Symbol>,
    /// Functions, sorted by name and number of arguments; no argument set is empty.
    pub functions: Vec<(Symbol, Vec<Set>)>,
    depth: u8,
}

impl Members {
    fn new(constants: Vec<Symbol>, functions: Vec<(Symbol, Vec<Set>)>) -> Members {
        let inner = functions.iter().flat_map(|(_, args)| args).map(Set::depth).max();
        let depth = inner.map_or(0, |d| d + 1);
        Members {
            constants,
            functions,
            depth,
        }
    }

    pub fn function(&self, name: Symbol, arity: usize) -> Option<&[Set]> {
        let at = self
            .functions
            .binary_search_by(|(n, args)| (*n, args.len()).cmp(&(name, arity)));
        at.ok().map(|at| self.functions[at].1.as_slice())
    }
}

impl Set {
    pub fn empty() -> Set {
        Set::These(Arc::new(Members::default()))
    }

    pub fn constant(name: Symbol) -> Set {
        Set::These(Arc::new(Members::new(vec![name], Vec::new())))
    }

    /// A set of constants, which are sorted.
    pub fn of_constants(constants: Vec<Symbol>) -> Set {
        Set::These(Arc::new(Members::new(constants, Vec::new())))
    }

    /// The product of the argument sets under a name; empty if one of them is.
    pub fn function(name: Symbol, args: Vec<Set>) -> Set {
        if args.is_empty() {
            return Set::constant(name);
        }
        if args.iter().any(Set::is_empty) {
            return Set::empty();
        }
        let args = args.into_iter().map(|a| a.limited(MAX_DEPTH - 1)).collect();
        Set::These(Arc::new(Members::new(Vec::new(), vec![(name, args)])))
    }

    /// The set with everything deeper than `depth` levels forgotten.
    fn limited(self, depth: u8) -> Set {
        match &self {
            Set::Any => self,
            Set::These(members) if members.depth <= depth => self,
            Set::These(_) if depth == 0 => Set::Any,
            Set::These(members) => {
                let limit = |args: &Vec<Set>| args.iter().map(|a| a.clone().limited(depth - 1)).collect();
                let functions = members.functions.iter().map(|(n, args)| (*n, limit(args))).collect();
                Set::These(Arc::new(Members::new(members.constants.clone(), functions)))
            }
        }
    }

    fn depth(&self) -> u8 {
        match self {
            Set::Any => 0,
            Set::These(members) => members.depth,
        }
    }

    pub fn is_empty(&self) -> bool {
        matches!(self, Set::These(m) if m.constants.is_empty() && m.functions.is_empty())
    }

    /// The only member, if it is a constant.
    pub fn single(&self) -> Option<Symbol> {
        match self {
            Set::These(m) if m.functions.is_empty() && m.constants.len() == 1 => Some(m.constants[0]),
            _ => None,
        }
    }

    pub fn contains(&self, term: &Term) -> bool {
        match (self, term) {
            (Set::Any, _) => true,
            (Set::These(m), Term::Fun(name, args)) if args.is_empty() => m.constants.binary_search(name).is_ok(),
            (Set::These(m), Term::Fun(name, args)) => m
                .function(*name, args.len())
                .is_some_and(|sets| sets.iter().zip(args).all(|(set, arg)| set.contains(arg))),
            (Set::These(_), Term::Var(_)) => false,
        }
    }

    pub fn without(&self, constant: Symbol) -> Set {
        match self {
            Set::These(m) if m.constants.binary_search(&constant).is_ok() => {
                let constants = m.constants.iter().copied().filter(|&c| c != constant).collect();
                Set::These(Arc::new(Members::new(constants, m.functions.clone())))
            }
            _ => self.clone(),
        }
    }

    pub fn is_subset(&self, other: &Set, fuel: &Fuel) -> bool {
        match (self, other) {
            (_, Set::Any) => true,
            (Set::Any, _) => false,
            (Set::These(a), Set::These(b)) => {
                if Arc::ptr_eq(a, b) {
                    return true;
                }
                fuel.burn(a.constants.len() + a.functions.len());
                a.constants.len() <= b.constants.len()
                    && is_sorted_subset(&a.constants, &b.constants)
                    && a.functions.iter().all(|(name, args)| {
                        b.function(*name, args.len())
                            .is_some_and(|sets| args.iter().zip(sets).all(|(x, y)| x.is_subset(y, fuel)))
                    })
            }
        }
    }

    pub fn union(&self, other: &Set, fuel: &Fuel) -> Set {
        let (Set::These(a), Set::These(b)) = (self, other) else {
            return Set::Any;
        };
        if Arc::ptr_eq(a, b) || other.is_empty() {
            return self.clone();
        }
        if self.is_empty() {
            return other.clone();
        }
        fuel.burn(a.constants.len() + b.constants.len() + a.functions.len() + b.functions.len());
        if fuel.is_empty() {
            return Set::Any;
        }
        if other.is_subset(self, fuel) {
            return self.clone();
        }
        let constants = merge(&a.constants, &b.constants);
        let functions = merge_functions(&a.functions, &b.functions, |x, y| {
            Some(x.iter().zip(y).map(|(x, y)| x.union(y, fuel)).collect())
        });
        Set::These(Arc::new(Members::new(constants, functions)))
    }

    pub fn intersect(&self, other: &Set, fuel: &Fuel) -> Set {
        let (a, b) = match (self, other) {
            (Set::Any, set) | (set, Set::Any) => return set.clone(),
            (Set::These(a), Set::These(b)) => (a, b),
        };
        if Arc::ptr_eq(a, b) {
            return self.clone();
        }
        fuel.burn(a.constants.len().min(b.constants.len()) + a.functions.len() + b.functions.len());
        if fuel.is_empty() {
            return self.clone();
        }
        let (small, large) = if a.constants.len() <= b.constants.len() {
            (a, b)
        } else {
            (b, a)
        };
        let is_shared = |c: &Symbol| large.constants.binary_search(c).is_ok();
        let constants: Vec<Symbol> = small.constants.iter().copied().filter(is_shared).collect();
        let mut functions = Vec::new();
        for (name, args) in &a.functions {
            if let Some(others) = b.function(*name, args.len()) {
                let args: Vec<Set> = args.iter().zip(others).map(|(x, y)| x.intersect(y, fuel)).collect();
                if !args.iter().any(Set::is_empty) {
                    functions.push((*name, args));
                }
            }
        }
        if constants.len() == a.constants.len() && functions == a.functions {
            return self.clone();
        }
        Set::These(Arc::new(Members::new(constants, functions)))
    }
}

fn is_sorted_subset(a: &[Symbol], b: &[Symbol]) -> bool {
    let mut rest = b.iter();
    a.iter().all(|x| rest.by_ref().any(|y| y == x))
}

fn merge(a: &[Symbol], b: &[Symbol]) -> Vec<Symbol> {
    let mut out = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let order = match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) => x.cmp(y),
            (Some(_), None) => Ordering::Less,
            _ => Ordering::Greater,
        };
        out.push(if order == Ordering::Greater { b[j] } else { a[i] });
        i += usize::from(order != Ordering::Greater);
        j += usize::from(order != Ordering::Less);
    }
    out
}

type Functions = Vec<(Symbol, Vec<Set>)>;

fn merge_functions(a: &Functions, b: &Functions, both: impl Fn(&[Set], &[Set]) -> Option<Vec<Set>>) -> Functions {
    let mut out = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let key = |f: &(Symbol, Vec<Set>)| (f.0, f.1.len());
        let order = match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) => key(x).cmp(&key(y)),
            (Some(_), None) => Ordering::Less,
            _ => Ordering::Greater,
        };
        match order {
            Ordering::Less => out.push(a[i].clone()),
            Ordering::Greater => out.push(b[j].clone()),
            Ordering::Equal => out.extend(both(&a[i].1, &b[j].1).map(|args| (a[i].0, args))),
        }
        i += usize::from(order != Ordering::Greater);
        j += usize::from(order != Ordering::Less);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> Set {
        // One letter a constant.
        let of = |c: char| Set::constant(Symbol(u32::from(c)));
        let fuel = Fuel::new(1 << 40);
        text.chars().fold(Set::empty(), |set, c| set.union(&of(c), &fuel))
    }

    fn f(args: &[&str]) -> Set {
        Set::function(Symbol(1), args.iter().map(|a| set(a)).collect())
    }

    #[test]
    fn constants_behave_as_sets() {
        let fuel = Fuel::new(1 << 40);
        assert_eq!(set("ab").union(&set("bc"), &fuel), set("abc"));
        assert_eq!(set("abc").intersect(&set("bcd"), &fuel), set("bc"));
        assert!(set("ab").intersect(&set("c"), &fuel).is_empty());
        assert!(set("ac").is_subset(&set("abc"), &fuel) && !set("abc").is_subset(&set("ab"), &fuel));
        assert_eq!(set("abc").without(Symbol(u32::from('b'))), set("ac"));
        assert_eq!(set("a").single(), Some(Symbol(u32::from('a'))));
    }

    #[test]
    fn functions_are_products() {
        let fuel = Fuel::new(1 << 40);
        let both = f(&["a", "x"]).union(&f(&["b", "y"]), &fuel);
        assert_eq!(both, f(&["ab", "xy"]));
        assert!(f(&["a", "y"]).is_subset(&both, &fuel));
        assert_eq!(both.intersect(&f(&["bc", "y"]), &fuel), f(&["b", "y"]));
        assert!(both.intersect(&f(&["c", "y"]), &fuel).is_empty());
        assert!(f(&["a", ""]).is_empty());
        let mixed = both.union(&set("a"), &fuel);
        assert!(both.is_subset(&mixed, &fuel) && !mixed.is_subset(&both, &fuel));
    }

    #[test]
    fn deep_terms_are_cut() {
        let fuel = Fuel::new(1 << 40);
        let mut deep = set("a");
        for _ in 0..50 {
            deep = deep.union(&Set::function(Symbol(1), vec![deep.clone()]), &fuel);
        }
        let next = deep.union(&Set::function(Symbol(1), vec![deep.clone()]), &fuel);
        assert_eq!(deep, next);
        assert!(deep.depth() <= MAX_DEPTH);
    }
}
