//! Probes: how often does each clause apply?
//!
//! For each clause with conditions a clause is added that derives a relation of its own, with the number of the clause
//! as argument; the rows of that relation are the clauses that apply in a round. At the end of a game there is no move,
//! so clauses that do not depend on one derive a second relation as well.

use super::RuleCount;
use crate::Reference;
use game::{Fault, MoveId, State};
use gdl::{Atom, Clause, Literal, Rules, Span, Symbol, Term, kw};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Relations of the probes. No name of a description contains a space.
const IN_ROUND: &str = "in round";
const AT_END: &str = "at end";

/// Clauses that are probed at most.
const MAX_PROBES: usize = 5_000;

/// Rules with probes.
pub(super) struct Probe {
    pub rules: Rules,
    /// Number in the rules of each clause that is probed.
    clauses: Vec<usize>,
}

impl Probe {
    pub fn new(rules: &Rules) -> Probe {
        let mut probed = rules.clone();
        let in_round = probed.symbols.intern(IN_ROUND);
        let at_end = probed.symbols.intern(AT_END);
        let by_move = relations_by_move(rules);
        let is_rule =
            |(_, c): &(usize, &Clause)| !c.body.is_empty() && !matches!(c.head.relation, kw::BASE | kw::INPUT);
        let clauses: Vec<usize> = rules
            .clauses
            .iter()
            .enumerate()
            .filter(is_rule)
            .map(|(i, _)| i)
            .collect();
        let clauses: Vec<usize> = clauses.into_iter().take(MAX_PROBES).collect();
        for (number, &i) in clauses.iter().enumerate() {
            let clause = &rules.clauses[i];
            let number = Term::constant(probed.symbols.intern(&number.to_string()));
            let mut add = |relation| {
                probed.clauses.push(Clause {
                    head: Atom {
                        relation,
                        args: vec![number.clone()],
                    },
                    body: clause.body.clone(),
                    variables: clause.variables.clone(),
                    offset: clause.offset,
                });
            };
            add(in_round);
            if !relations(&clause.body).any(|r| by_move.contains(&r)) {
                add(at_end);
            }
        }
        Probe { rules: probed, clauses }
    }

    pub fn counts(&self) -> Counts {
        Counts {
            rounds: vec![0; self.clauses.len()],
            ends: vec![0; self.clauses.len()],
        }
    }
}

fn relations(body: &[Literal]) -> impl Iterator<Item = (Symbol, usize)> {
    body.iter().filter_map(|literal| match literal {
        Literal::Pos(atom) | Literal::Neg(atom) => Some((atom.relation, atom.args.len())),
        Literal::Distinct(..) => None,
    })
}

/// Relations that depend on the moves of the round.
fn relations_by_move(rules: &Rules) -> HashSet<(Symbol, usize)> {
    let mut users: HashMap<(Symbol, usize), Vec<(Symbol, usize)>> = HashMap::new();
    for clause in &rules.clauses {
        let head = (clause.head.relation, clause.head.args.len());
        for relation in relations(&clause.body) {
            users.entry(relation).or_default().push(head);
        }
    }
    let mut found = HashSet::new();
    let mut todo = vec![(kw::DOES, 2), (kw::NEXT, 1), (kw::SEES, 2)];
    while let Some(relation) = todo.pop() {
        if found.insert(relation) {
            todo.extend(users.get(&relation).into_iter().flatten());
        }
    }
    found
}

/// How often each probed clause applied.
#[derive(Default)]
pub(super) struct Counts {
    rounds: Vec<u64>,
    ends: Vec<u64>,
}

impl Counts {
    /// Counts the clauses that apply in a round.
    pub fn add_round(&mut self, sim: &mut Reference, state: &State, joint: &[MoveId]) -> Result<(), Fault> {
        for clause in sim.rows_of(IN_ROUND, state, Some(joint))? {
            add(&mut self.rounds, &clause);
        }
        Ok(())
    }

    /// Counts the clauses that apply in a terminal state.
    pub fn add_end(&mut self, sim: &mut Reference, state: &State) -> Result<(), Fault> {
        for clause in sim.rows_of(AT_END, state, None)? {
            add(&mut self.rounds, &clause);
            add(&mut self.ends, &clause);
        }
        Ok(())
    }

    /// The counts by rule of the source, in order; the clauses into which one rule was split are its alternatives.
    pub fn by_rule(&self, probe: &Probe, rules: &Rules) -> Vec<RuleCount> {
        let mut found: BTreeMap<Span, RuleCount> = BTreeMap::new();
        for (number, &i) in probe.clauses.iter().enumerate() {
            let clause = &rules.clauses[i];
            // Auxiliary clauses of large disjunctions are part of another rule.
            if rules.symbols.text(clause.head.relation).starts_with("or#") {
                continue;
            }
            let place = rules.head_place(clause);
            let count = found.entry(place).or_insert_with(|| RuleCount {
                place,
                rounds: Vec::new(),
                ends: 0,
                is_goal: clause.head.relation == kw::GOAL,
            });
            count.rounds.push(self.rounds[number]);
            count.ends = count.ends.max(self.ends[number]);
        }
        found.into_values().collect()
    }
}

fn add(counts: &mut [u64], clause: &str) {
    if let Some(count) = clause.parse().ok().and_then(|i: usize| counts.get_mut(i)) {
        *count += 1;
    }
}
