//! Features of states, from the texts of fluents.
//!
//! A feature is the number of fluents that hold among some that have something in common: the relation, the constant at
//! one place, or the constants at two places. `(cell a 1 white queen)` counts as itself, as a fact of `cell`, as one
//! with `white` and `queen` at the last places (a white queen, wherever it stands), and so on. Each fluent is a feature
//! of its own, too. Which constants are kinds of things and which are positions is left to the fit.

use std::collections::{BTreeMap, BTreeSet};

/// The features in which each fluent counts.
pub(super) struct Features {
    /// Where the features of each fluent end in `list`.
    ends: Vec<u32>,
    list: Vec<u32>,
    /// Number of features.
    pub n: usize,
}

/// Games with more fluents have no features.
const MOST_FLUENTS: usize = 20_000;
/// Places of a fluent that are looked at.
const MOST_PLACES: usize = 8;

impl Features {
    /// The features of these fluents, given by their canonical texts; none if they are too many.
    pub fn new(fluents: &[String]) -> Option<Features> {
        if fluents.len() > MOST_FLUENTS {
            return None;
        }
        let mut groups: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (number, fluent) in fluents.iter().enumerate() {
            for key in kinds(fluent) {
                groups.entry(key).or_default().push(number as u32);
            }
        }
        let mut of: Vec<Vec<u32>> = (0..fluents.len() as u32).map(|f| vec![f]).collect();
        let mut n = fluents.len();
        let mut known = BTreeSet::new();
        for members in groups.into_values().filter(|members| members.len() > 1) {
            if known.contains(&members) {
                continue;
            }
            members.iter().for_each(|&fluent| of[fluent as usize].push(n as u32));
            n += 1;
            known.insert(members);
        }
        let mut features = Features {
            ends: Vec::with_capacity(of.len()),
            list: Vec::new(),
            n,
        };
        for own in of {
            features.list.extend(own);
            features.ends.push(features.list.len() as u32);
        }
        Some(features)
    }

    /// Number of fluents.
    pub fn fluents(&self) -> usize {
        self.ends.len()
    }

    /// The features in which a fluent counts.
    pub fn of(&self, fluent: usize) -> &[u32] {
        let start = if fluent == 0 { 0 } else { self.ends[fluent - 1] };
        &self.list[start as usize..self.ends[fluent] as usize]
    }
}

/// What a fluent has in common with others, as texts.
fn kinds(fluent: &str) -> Vec<String> {
    let (name, places) = split(fluent);
    let places = &places[..places.len().min(MOST_PLACES)];
    let mut kinds = vec![name.to_owned()];
    for (at, one) in places.iter().enumerate() {
        kinds.push(format!("{name} {at} {one}"));
        for (later, other) in places.iter().enumerate().skip(at + 1) {
            kinds.push(format!("{name} {at} {one} {later} {other}"));
        }
    }
    kinds
}

/// The relation and the arguments of a term in canonical text.
fn split(term: &str) -> (&str, Vec<&str>) {
    let Some(inner) = term.strip_prefix('(').and_then(|term| term.strip_suffix(')')) else {
        return (term, Vec::new());
    };
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in inner.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ' ' if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    (parts[0], parts[1..].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_split_at_the_top() {
        assert_eq!(split("(cell (at 1 2) white)"), ("cell", vec!["(at 1 2)", "white"]));
        assert_eq!(split("night"), ("night", vec![]));
    }

    /// Two cells with two things each: the fluents, `cell`, each cell, each thing; a pair of places is one fluent.
    #[test]
    fn fluents_count_in_what_they_share() {
        let fluents = ["(cell 1 o)", "(cell 1 x)", "(cell 2 o)", "(cell 2 x)", "night"].map(str::to_owned);
        let features = Features::new(&fluents).unwrap();
        assert_eq!(features.n, 5 + 1 + 2 + 2);
        let shared = |a: usize, b: usize| features.of(a).iter().filter(|f| features.of(b).contains(f)).count();
        assert_eq!((shared(0, 1), shared(0, 2), shared(0, 3)), (2, 2, 1));
        assert_eq!(features.of(4), [4]);
    }
}
