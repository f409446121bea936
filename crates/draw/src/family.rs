//! Facts about each family of fluents, observed in the random games: keys, orders, how many hold at once.

use crate::order::{Ordered, Orders};
use crate::sample::Samples;
use crate::term::Id;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// States in which keys are looked at.
const STATES: usize = 300;

/// A family of fluents with what was observed of it.
pub struct Observed<'a> {
    pub samples: &'a Samples,
    pub family: usize,
    /// Values of each argument.
    pub domains: Vec<BTreeSet<Id>>,
    /// How the values of each argument are ordered.
    pub order: Vec<Ordered>,
    /// Whether an argument is always a role.
    pub is_role: Vec<bool>,
    /// Most fluents of the family that hold in one state.
    pub most: usize,
    keys: RefCell<BTreeMap<Vec<usize>, bool>>,
}

impl<'a> Observed<'a> {
    /// All families.
    pub fn all(samples: &'a Samples, orders: &Orders, roles: &BTreeSet<Id>) -> Vec<Observed<'a>> {
        let one = |(family, domains): (usize, Vec<BTreeSet<Id>>)| {
            let counts = (0..samples.states.len()).map(|s| samples.of_family(s, family).len());
            Observed {
                samples,
                family,
                order: domains.iter().map(|d| orders.sort(d, &samples.names).1).collect(),
                is_role: domains.iter().map(|d| !d.is_empty() && d.is_subset(roles)).collect(),
                most: counts.max().unwrap_or(0),
                domains,
                keys: RefCell::default(),
            }
        };
        samples.domains().into_iter().enumerate().map(one).collect()
    }

    pub fn name(&self) -> &str {
        &self.samples.fluents.list[self.family].name
    }

    pub fn arity(&self) -> usize {
        self.domains.len()
    }

    /// Whether an argument can be an axis by itself: ordered, with more than one value, and no role.
    pub fn is_axis(&self, at: usize) -> bool {
        self.order[at] > Ordered::Mention && (2..=64).contains(&self.domains[at].len()) && !self.is_role[at]
    }

    /// Whether in every state at most one fluent holds for each tuple of these arguments.
    pub fn is_key(&self, key: &[usize]) -> bool {
        if key.len() == self.arity() {
            return true;
        }
        if let Some(&known) = self.keys.borrow().get(key) {
            return known;
        }
        let mut seen = HashSet::new();
        let unique = |state: usize| {
            seen.clear();
            let atoms = self.samples.of_family(state, self.family);
            atoms.iter().all(|atom| seen.insert(pick(&atom.args, key)))
        };
        let is = self.some_states().all(unique);
        self.keys.borrow_mut().insert(key.to_vec(), is);
        is
    }

    /// Whether the same tuples of these arguments occur in every state.
    pub fn is_total(&self, key: &[usize]) -> bool {
        let tuples = |state: usize| -> BTreeSet<Vec<Id>> {
            let atoms = self.samples.of_family(state, self.family);
            atoms.iter().map(|atom| pick(&atom.args, key)).collect()
        };
        let mut states = self.some_states();
        let Some(first) = states.next().map(tuples) else {
            return false;
        };
        !first.is_empty() && states.all(|state| tuples(state) == first)
    }

    /// Tuples of these arguments that ever occur.
    pub fn cells(&self, key: &[usize]) -> BTreeSet<Vec<Id>> {
        self.samples
            .tuples(self.family)
            .into_iter()
            .map(|args| pick(args, key))
            .collect()
    }

    fn some_states(&self) -> impl Iterator<Item = usize> + use<> {
        let states = self.samples.states.len();
        let stride = states.div_ceil(STATES).max(1);
        // The last state shows most of what piles up.
        (0..states).step_by(stride).chain(states.checked_sub(1))
    }
}

/// Some of the arguments.
pub fn pick(args: &[Id], at: &[usize]) -> Vec<Id> {
    at.iter().map(|&i| args[i]).collect()
}
