//! What is known about a game besides its text: which atoms can hold, and what play has shown.

use crate::index::Part;
use game::StopFlag;
use game::canonical::parts;
use gdl::{Diagnostic, Mode, Rules};
use ground::{AuditOptions, EvaluationLimits, Limits, Reference, RuleCount};
use std::collections::{BTreeMap, BTreeSet};

/// A relation or term: its name and number of arguments.
pub type Name = (String, usize);

/// Values of an argument that are kept.
const MAX_VALUES: usize = 1_000;

/// Instances of rules up to which a game is grounded for an editor.
const MAX_INSTANCES: usize = 500_000;

/// How many instances a relation or term has, and the values of its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Number of instances.
    pub size: usize,
    /// The values of each argument, at most [`MAX_VALUES`].
    pub arguments: Vec<BTreeSet<String>>,
}

impl Extent {
    fn add<'a>(&mut self, arguments: impl Iterator<Item = &'a str>) {
        self.size += 1;
        for (at, value) in arguments.enumerate() {
            if self.arguments.len() == at {
                self.arguments.push(BTreeSet::new());
            }
            let values = &mut self.arguments[at];
            if values.len() < MAX_VALUES && !values.contains(value) {
                values.insert(value.to_owned());
            }
        }
    }
}

/// What can hold in a game.
#[derive(Clone, Debug, Default)]
pub struct Extents {
    /// Relations: static ones as they are, others with every atom that may hold.
    pub relations: BTreeMap<Name, Extent>,
    /// Fluents, moves and percepts that may arise.
    pub terms: BTreeMap<(Part, Name), Extent>,
    /// Ground rules.
    pub rules: usize,
    /// Instances of each rule, by the byte offset of its form.
    pub costs: BTreeMap<u32, usize>,
    /// Why the game was not grounded, if it was not.
    pub failed: Option<String>,
}

/// What random games have shown.
#[derive(Clone, Debug)]
pub struct Played {
    /// Games begun.
    pub games: u32,
    /// Rounds of all of them.
    pub rounds: u64,
    /// How often each rule applied.
    pub rules: Vec<RuleCount>,
    /// Findings.
    pub diagnostics: Vec<Diagnostic>,
}

/// Finds what can hold, by grounding. `relations` are those of the text.
pub fn extents(rules: &Rules, relations: &[Name], stop: &StopFlag) -> Extents {
    let mut extents = Extents::default();
    if let Ok(reference) = Reference::with(rules, EvaluationLimits::default(), stop.clone()) {
        for (name, arity) in relations {
            if let Some(rows) = reference.static_rows(name, *arity) {
                let extent = extents.relations.entry((name.clone(), *arity)).or_default();
                rows.iter().for_each(|row| extent.add(row.iter().map(String::as_str)));
            }
        }
    }
    let limits = Limits {
        instances: MAX_INSTANCES,
        bytes: 256 << 20,
        stop: stop.clone(),
        ..Limits::default()
    };
    let program = match ground::ground(rules, &limits, &mut |_| ()) {
        Ok(program) => program,
        Err(error) => {
            extents.failed = Some(error.to_string());
            return extents;
        }
    };
    extents.rules = program.rules.len();
    if let Ok(census) = ground::census(rules, &limits) {
        for cost in census.rules {
            *extents.costs.entry(rules.clauses[cost.clause].offset).or_default() += cost.instances;
        }
    }
    let known: BTreeSet<&Name> = relations.iter().collect();
    for text in &program.names {
        let parts = parts(text);
        let key = (parts[0].to_owned(), parts.len() - 1);
        if known.contains(&key) {
            extents.relations.entry(key).or_default().add(parts.into_iter().skip(1));
        }
    }
    let mut term = |part, text: &str| {
        let parts = parts(text);
        let key = (part, (parts[0].to_owned(), parts.len() - 1));
        extents.terms.entry(key).or_default().add(parts.into_iter().skip(1));
    };
    let distinct = |lists: &[Vec<String>]| -> BTreeSet<String> { lists.iter().flatten().cloned().collect() };
    program.fluents.iter().for_each(|text| term(Part::Fluent, text));
    distinct(&program.moves).iter().for_each(|text| term(Part::Move, text));
    distinct(&program.percepts)
        .iter()
        .for_each(|text| term(Part::Percept, text));
    extents
}

/// Plays random games.
pub fn play(rules: &Rules, games: u32, mode: Mode, stop: &StopFlag) -> Played {
    let options = AuditOptions {
        games,
        mode,
        stop: stop.clone(),
        ..AuditOptions::default()
    };
    let audit = ground::audit(rules, &options);
    Played {
        games: audit.games,
        rounds: audit.rounds,
        rules: audit.rules,
        diagnostics: audit.diagnostics,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_of_a_small_game() {
        let text =
            "(role me) (init (lamp off)) (colour red) (colour blue) (<= (bright ?c) (colour ?c) (distinct ?c blue))
            (<= (legal me (press ?c)) (true (lamp off)) (colour ?c))
            (<= (next (lamp ?c)) (does me (press ?c)))
            (<= (lit ?c) (true (lamp ?c)) (colour ?c))
            (<= (sees me (light ?c)) (does me (press ?c)))
            (<= terminal (lit ?c)) (<= (goal me 100) (lit ?c) (bright ?c)) (<= (goal me 0) (not (lit red)))";
        let rules = gdl::read(text, &gdl::Options::default()).rules;
        let names = [("colour", 1), ("bright", 1), ("lit", 1)].map(|(n, a)| (n.to_owned(), a));
        let found = extents(&rules, &names, &StopFlag::default());
        assert_eq!(found.failed, None);
        let size = |name: &str| found.relations[&(name.to_owned(), 1)].size;
        assert_eq!((size("colour"), size("bright"), size("lit")), (2, 1, 2));
        let lamp = &found.terms[&(Part::Fluent, ("lamp".to_owned(), 1))];
        assert_eq!(lamp.size, 3);
        assert_eq!(Vec::from_iter(&lamp.arguments[0]), ["blue", "off", "red"]);
        assert_eq!(found.terms[&(Part::Move, ("press".to_owned(), 1))].size, 2);
        let rule = text.find("(<= (legal").unwrap() as u32;
        assert_eq!(found.costs[&rule], 2);
        assert_eq!(found.terms[&(Part::Percept, ("light".to_owned(), 1))].size, 2);
    }
}
