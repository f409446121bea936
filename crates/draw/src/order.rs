//! The order of the values of an argument: by a successor relation of the rules, by numbers, or by letters.

use crate::statics::Statics;
use crate::term::{Id, Names};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A relation of which every element has at most one successor and at most one predecessor.
#[derive(Debug)]
pub struct Chains {
    /// Path and place in the path of every element.
    pub place: HashMap<Id, (usize, usize)>,
    /// The paths.
    pub paths: Vec<Vec<Id>>,
}

/// Orders that the rules have.
#[derive(Debug, Default)]
pub struct Orders {
    pub chains: Vec<Chains>,
}

/// How the values of an argument were ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ordered {
    /// By the order in which the rules mention the values: no order at all.
    Mention,
    /// Numbers at the end of equal names, or single letters.
    Names,
    /// Letters.
    Letters,
    /// Numbers.
    Numbers,
    /// A successor relation.
    Successor,
}

impl Orders {
    pub fn of(statics: &Statics) -> Orders {
        Orders {
            chains: statics.of_arity(2).filter_map(|rows| Chains::of(rows)).collect(),
        }
    }

    /// The values in their order.
    pub fn sort(&self, values: &BTreeSet<Id>, names: &Names) -> (Vec<Id>, Ordered) {
        let mut list: Vec<Id> = values.iter().copied().collect();
        if let Some(numbers) = numbers(&list, names) {
            list.sort_by_key(|id| numbers[id]);
            return (list, Ordered::Numbers);
        }
        if let Some(letters) = letters(&list, names) {
            list.sort_by_key(|id| letters[id]);
            return (list, Ordered::Letters);
        }
        if let Some(places) = self.successor(&list) {
            list.sort_by_key(|id| places[id]);
            return (list, Ordered::Successor);
        }
        if let Some(keys) = numbered_names(&list, names) {
            list.sort_by_key(|id| keys[id]);
            return (list, Ordered::Names);
        }
        if list.iter().all(|&id| names.text(id).starts_with('(')) {
            list.sort_by_key(|&id| (names.text(id).len(), names.text(id).to_owned()));
            return (list, Ordered::Names);
        }
        (list, Ordered::Mention)
    }

    /// Places of the values in a path that has all of them.
    fn successor(&self, list: &[Id]) -> Option<BTreeMap<Id, usize>> {
        if list.len() < 2 {
            return None;
        }
        let within = |chains: &&Chains| {
            let path = chains.place.get(&list[0]).map(|p| p.0);
            path.is_some() && list.iter().all(|id| chains.place.get(id).map(|p| p.0) == path)
        };
        // The shortest path says most about the values.
        let best = self
            .chains
            .iter()
            .filter(within)
            .min_by_key(|c| c.paths[c.place[&list[0]].0].len())?;
        Some(list.iter().map(|id| (*id, best.place[id].1)).collect())
    }
}

impl Chains {
    fn of(rows: &[Vec<Id>]) -> Option<Chains> {
        let (mut next, mut previous) = (BTreeMap::new(), BTreeMap::new());
        for row in rows {
            let (a, b) = (row[0], row[1]);
            if a == b {
                continue;
            }
            let clash = next.insert(a, b).is_some_and(|old| old != b);
            if clash || previous.insert(b, a).is_some_and(|old| old != a) {
                return None;
            }
        }
        let mut chains = Chains {
            place: HashMap::new(),
            paths: Vec::new(),
        };
        let starts: Vec<Id> = next.keys().copied().filter(|id| !previous.contains_key(id)).collect();
        // Cycles start at the element that the rules mention first.
        let rest = rows.iter().map(|row| row[0]);
        for start in starts.into_iter().chain(rest) {
            if chains.place.contains_key(&start) {
                continue;
            }
            let number = chains.paths.len();
            let (mut path, mut at) = (Vec::new(), Some(start));
            while let Some(id) = at {
                if chains.place.insert(id, (number, path.len())).is_some() {
                    break;
                }
                path.push(id);
                at = next.get(&id).copied();
            }
            chains.paths.push(path);
        }
        (chains.place.len() >= 2).then_some(chains)
    }
}

fn numbers(list: &[Id], names: &Names) -> Option<BTreeMap<Id, i64>> {
    let number = |&id: &Id| names.text(id).parse::<i64>().ok().map(|n| (id, n));
    list.iter().map(number).collect()
}

/// Letters of the alphabet without gaps.
fn letters(list: &[Id], names: &Names) -> Option<BTreeMap<Id, i64>> {
    let letter = |&id: &Id| match names.text(id).as_bytes() {
        [letter @ b'a'..=b'z'] => Some((id, i64::from(*letter))),
        _ => None,
    };
    let letters: BTreeMap<Id, i64> = list.iter().map(letter).collect::<Option<_>>()?;
    let (first, last) = (letters.values().min()?, letters.values().max()?);
    (last - first + 1 == letters.len() as i64 && letters.len() >= 2).then_some(letters)
}

/// Names that differ only in the number at their end, such as `c1` to `c9`.
fn numbered_names(list: &[Id], names: &Names) -> Option<BTreeMap<Id, i64>> {
    let mut prefix = None;
    let mut keys = BTreeMap::new();
    for &id in list {
        let text = names.text(id);
        let digits = text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (name, number) = text.split_at(text.len() - digits);
        if *prefix.get_or_insert(name) != name {
            return None;
        }
        keys.insert(id, number.parse().ok()?);
    }
    Some(keys)
}
