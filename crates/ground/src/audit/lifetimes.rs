//! Lifetimes of fluents in play, to suspect facts that are lost.
//!
//! Fluents whose facts never last for more than one round are common: whose turn it is, which round it is. But such a
//! fluent is there in every state. One that is there now and then, never lasts, and is asked for together with another
//! fluent by a rule that never applied, was probably meant to last.

use crate::Reference;
use game::{Simulator, State};
use gdl::{Literal, Rules, Span, Term, kw};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Games that are followed: listing the fluents of every state takes time.
const MAX_GAMES: u32 = 20;
/// Facts of a fluent that have to be seen.
const MIN_SEEN: u64 = 10;

#[derive(Default)]
pub(super) struct Lifetimes {
    games: u32,
    states: u64,
    before: HashSet<String>,
    by_name: HashMap<String, Lifetime>,
}

#[derive(Default)]
struct Lifetime {
    /// States with a fact of this name.
    states: u64,
    /// Facts that were followed by another state, and those that were still there.
    seen: u64,
    survived: u64,
}

impl Lifetimes {
    pub fn begin_game(&mut self) {
        self.games += 1;
        self.before.clear();
    }

    pub fn add(&mut self, sim: &Reference, state: &State) {
        if self.games > MAX_GAMES {
            return;
        }
        let now: HashSet<String> = sim.fluents(state).into_iter().collect();
        self.states += 1;
        for fact in &self.before {
            let life = self.by_name.entry(name(fact).to_owned()).or_default();
            life.seen += 1;
            life.survived += u64::from(now.contains(fact));
        }
        let names: HashSet<&str> = now.iter().map(|f| name(f)).collect();
        for name in names {
            self.by_name.entry(name.to_owned()).or_default().states += 1;
        }
        self.before = now;
    }

    /// The fluent that was lost, by which the rule at this place never applied.
    pub fn lost(&self, rules: &Rules, place: Span) -> Option<String> {
        for clause in rules.clauses.iter().filter(|c| rules.head_place(c) == place) {
            let asked: BTreeSet<&str> = clause
                .body
                .iter()
                .filter_map(|literal| match literal {
                    Literal::Pos(atom) if atom.relation == kw::TRUE => match &atom.args[0] {
                        Term::Fun(name, _) => Some(rules.symbols.text(*name)),
                        Term::Var(_) => None,
                    },
                    _ => None,
                })
                .collect();
            let is_there = |name: &&str| self.by_name.get(*name).is_some_and(|l| l.states > 0);
            if asked.len() < 2 || !asked.iter().all(is_there) {
                continue;
            }
            let vanishes = |name: &&&str| {
                let life = &self.by_name[**name];
                life.seen >= MIN_SEEN && life.survived == 0 && life.states * 2 < self.states
            };
            if let Some(name) = asked.iter().find(vanishes) {
                return Some((*name).to_owned());
            }
        }
        None
    }
}

fn name(fact: &str) -> &str {
    let inner = fact.strip_prefix('(').unwrap_or(fact);
    inner.split([' ', ')']).next().unwrap_or(inner)
}
