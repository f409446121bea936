//! Rewriting of rules before grounding: the same answers from fewer rule instances.
//!
//! Some rules have few instances that matter and millions that do not. Each file here is one pass from rules to rules:
//!
//! | pass | what it does |
//! |---|---|
//! | `disjunctions` | rules that differ in one literal become one rule with an auxiliary relation |
//! | `wildcards` | arguments that may be anything of a set are dropped |
//! | `dependencies` | a negation with an argument that the state determines loses the argument |
//! | `inline` | relations that are used once are replaced by their rules |
//! | `project` | existential variables under a negation are eliminated in a rule of their own |
//! | `types` | variables get the sets that their values are in |
//!
//! Every pass keeps the meaning of every relation that a game is asked for, in every state. `dependencies` does so
//! only in states in which certain families of fluents are exclusive; these families are returned and must be proven
//! ([`crate::unproven`]).
//!
//! No pass makes every game smaller. The passes are therefore candidates: the caller grounds and compiles with and
//! without them, and keeps what is smallest.

mod dependencies;
mod disjunctions;
mod domains;
mod inline;
mod program;
mod project;
mod statics;
mod types;
mod wildcards;

pub use dependencies::Family;

use game::StopFlag;
use gdl::Rules;
use program::Draft;
use statics::Statics;
use std::fmt;

/// Clauses of a description, beyond which it is not rewritten.
const MOST_CLAUSES: usize = 20_000;
/// Conditions of a clause, beyond which a description is not rewritten.
const LONGEST_CLAUSE: usize = 200;

/// Which passes to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Passes {
    /// Auxiliary relations for rules that differ in one literal.
    pub disjunctions: bool,
    /// No arguments that may be anything.
    pub wildcards: bool,
    /// No arguments under a negation that the state determines.
    pub dependencies: bool,
    /// No relations that are used once.
    pub inline: bool,
    /// Existential variables under a negation in rules of their own.
    pub project: bool,
    /// Sets of values for variables.
    pub types: bool,
}

impl Passes {
    /// No pass.
    pub const NONE: Passes = Passes {
        disjunctions: false,
        wildcards: false,
        dependencies: false,
        inline: false,
        project: false,
        types: false,
    };

    /// All passes.
    pub const ALL: Passes = Passes {
        disjunctions: true,
        wildcards: true,
        dependencies: true,
        inline: true,
        project: true,
        types: true,
    };

    /// The passes that rule splitting profits from most often.
    pub const USUAL: Passes = Passes {
        project: false,
        ..Passes::ALL
    };

    /// All passes that need no proof.
    pub const UNCONDITIONAL: Passes = Passes {
        dependencies: false,
        ..Passes::ALL
    };

    fn named(self) -> [(bool, &'static str); 6] {
        [
            (self.disjunctions, "disjunctions"),
            (self.wildcards, "wildcards"),
            (self.dependencies, "dependencies"),
            (self.inline, "inlining"),
            (self.project, "projection"),
            (self.types, "types"),
        ]
    }
}

impl fmt::Display for Passes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self
            .named()
            .iter()
            .filter(|(on, _)| *on)
            .map(|(_, name)| *name)
            .collect();
        f.write_str(if names.is_empty() { "no rewriting" } else { "" })?;
        f.write_str(&names.join(", "))
    }
}

/// Rules after rewriting.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The new rules.
    pub rules: Rules,
    /// The passes that changed something.
    pub passes: Passes,
    /// Families of fluents of which at most one may hold in any state for the new rules to mean the same.
    pub families: Vec<Family>,
}

/// Rewrites rules; `None` if no pass changes them, or if the work was stopped. Deterministic.
///
/// `families` restricts the pass over dependencies to these families, as far as they are given.
pub fn rewrite(rules: &Rules, passes: Passes, families: Option<&[Family]>, stop: &StopFlag) -> Option<Rewritten> {
    let is_long = |c: &gdl::Clause| c.body.len() > LONGEST_CLAUSE;
    if rules.clauses.len() > MOST_CLAUSES || rules.clauses.iter().any(is_long) {
        return None;
    }
    let statics = Statics::new(rules, stop);
    let mut draft = Draft::new(rules);
    let mut changed = Passes::NONE;
    let mut needed = Vec::new();
    if passes.disjunctions && !stop.is_raised() {
        changed.disjunctions = disjunctions::merge(&mut draft);
    }
    if passes.wildcards && !stop.is_raised() {
        changed.wildcards = wildcards::drop_wildcards(&mut draft, &statics);
    }
    if passes.dependencies && !stop.is_raised() {
        needed = dependencies::reduce(&mut draft, &statics, rules, families, stop);
        changed.dependencies = !needed.is_empty();
    }
    if passes.inline && !stop.is_raised() {
        changed.inline = inline::inline(&mut draft);
    }
    if passes.project && !stop.is_raised() {
        changed.project = project::project(&mut draft);
    }
    if passes.types && !stop.is_raised() {
        changed.types = types::add_types(&mut draft, &statics);
    }
    let worth = changed != Passes::NONE && !stop.is_raised();
    worth.then(|| Rewritten {
        rules: draft.finish(rules),
        passes: changed,
        families: needed,
    })
}
