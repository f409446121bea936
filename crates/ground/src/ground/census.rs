//! What grounding costs, rule by rule: the instances of each rule as it is written, before rules are split or folded.
//!
//! Every rule gets a head relation of its own, from which the relation that it defines is copied. The instances found
//! for the head of a rule are then those of the rule.

use super::instantiate::instantiate_counted;
use super::{GroundError, Limits, STATIC_STEPS};
use crate::reference::{EvaluationLimits, Machine, roles_in_order};
use crate::terms::TermId;
use crate::theory::{Layer, RelId, Theory, rel};
use gdl::{Atom, Clause, Literal, Rules, Term, kw};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What grounding costs.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// Rules that depend on the state and have instances, in the order of the text.
    pub rules: Vec<RuleCost>,
    /// Relations that depend on the state, in the order of their names.
    pub relations: Vec<RelationCost>,
    /// The limit that ended the count early, if one did.
    pub ended: Option<GroundError>,
}

/// Instances of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleCost {
    /// Index of its clause in the rules.
    pub clause: usize,
    /// Instances found.
    pub instances: usize,
}

/// Size of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationCost {
    /// Name and number of arguments, such as `cell/3`.
    pub relation: String,
    /// Atoms that may ever hold.
    pub atoms: usize,
    /// Instances of its rules.
    pub instances: usize,
}

/// Counts instances and atoms. A limit ends the count, and what was counted until then is returned.
///
/// # Errors
/// If the rules cannot be grounded at all.
pub fn census(rules: &Rules, limits: &Limits) -> Result<Census, GroundError> {
    let (marked, clauses) = with_heads_of_their_own(rules);
    let mut theory = Theory::new(&marked);
    if let Some(reason) = theory.unfit_relation() {
        return Err(GroundError::Invalid(reason));
    }
    theory.for_grounding();
    let theory = Arc::new(theory);
    let needed = theory.needed_for(&rel::ASKED);
    let evaluation = EvaluationLimits {
        atoms: 2 * limits.instances,
        ..EvaluationLimits::default()
    };
    let mut machine = Machine::new(theory.clone(), evaluation);
    machine.stop = limits.stop.clone();
    machine.store_static_relations(&needed, STATIC_STEPS);
    let roles = roles_in_order(&mut machine, &marked.symbols)?;
    let initial = machine.rows(rel::INIT, &[None])?;
    let initial: FxHashSet<TermId> = initial.into_iter().map(|row| row[0]).collect();
    let (found, instances, outcome) =
        instantiate_counted(&theory, &needed, &mut machine, &initial, &roles, limits, &mut |_| {});
    let mut atoms = vec![0; theory.relations.len()];
    for &atom in found.atoms.derived() {
        atoms[found.atoms.relation(atom).0 as usize] += 1;
    }
    let mut census = Census {
        ended: outcome.err(),
        ..Census::default()
    };
    let mut relations: BTreeMap<String, RelationCost> = BTreeMap::new();
    for (at, relation) in theory.relations.iter().enumerate() {
        let mut own_instances = instances[at];
        if relation.layer == Layer::Static {
            // A rule for something asked for in play is instantiated even if nothing it depends on ever changes.
            let asked = clauses.get(&relation.label).is_some_and(|(label, _)| is_output(label));
            if !asked || !needed[at] {
                continue;
            }
            let rows = machine.rows(RelId(at as u32), &vec![None; relation.arity]);
            own_instances = rows.map_or(0, |rows| rows.len());
        }
        // A rule's own relation counts for the relation that the rule defines.
        let (label, clause) = match clauses.get(&relation.label) {
            Some((label, clause)) => (label, Some(*clause)),
            None => (&relation.label, None),
        };
        if label.starts_with("facts of ") {
            continue;
        }
        let entry = relations.entry(label.clone()).or_insert_with(|| RelationCost {
            relation: label.clone(),
            atoms: 0,
            instances: 0,
        });
        match clause {
            None => entry.atoms += atoms[at],
            Some(clause) => {
                entry.instances += own_instances;
                census.rules.push(RuleCost {
                    clause,
                    instances: own_instances,
                });
            }
        }
    }
    census.rules.retain(|rule| rule.instances > 0);
    census.rules.sort_by_key(|rule| rule.clause);
    census.relations = relations.into_values().filter(|r| r.atoms > 0).collect();
    Ok(census)
}

fn is_output(label: &str) -> bool {
    ["legal/2", "next/1", "terminal/0", "goal/2", "sees/2"].contains(&label)
}

/// By label of a rule's own relation: the label of the relation that it defines, and the number of the clause.
type Owners = BTreeMap<String, (String, usize)>;

fn with_heads_of_their_own(rules: &Rules) -> (Rules, Owners) {
    let mut marked = rules.clone();
    let mut owners = Owners::new();
    let mut copies = Vec::new();
    for (number, clause) in marked.clauses.iter_mut().enumerate() {
        let given = [kw::TRUE, kw::DOES, kw::SEES_XML, kw::ROLE].contains(&clause.head.relation);
        if clause.body.is_empty() || given {
            continue;
        }
        let (name, arity) = (clause.head.relation, clause.head.args.len());
        let text = marked.symbols.text(name).to_owned();
        // No name of the rules holds this character.
        let own = marked.symbols.intern(&format!("{text}\u{1}{number}"));
        owners.insert(
            format!("{}/{arity}", marked.symbols.text(own)),
            (format!("{text}/{arity}"), number),
        );
        let args: Vec<Term> = (0..arity as u32).map(Term::Var).collect();
        copies.push(Clause {
            head: Atom {
                relation: name,
                args: args.clone(),
            },
            body: vec![Literal::Pos(Atom { relation: own, args })],
            variables: (0..arity).map(|n| format!("?v{n}")).collect(),
            ..clause.clone()
        });
        clause.head.relation = own;
    }
    marked.clauses.extend(copies);
    (marked, owners)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &str) -> Vec<(usize, usize)> {
        let rules = gdl::read(text, &gdl::Options::default()).rules;
        let census = census(&rules, &Limits::default()).unwrap();
        assert_eq!(census.ended, None);
        census.rules.iter().map(|r| (r.clause, r.instances)).collect()
    }

    /// Counted by hand: three numbers, so three legal moves, three ways to mark, nine pairs of marks.
    #[test]
    fn instances_are_those_of_the_rules_as_written() {
        let text = "(role r) (n 1) (n 2) (n 3) (init on)
            (<= (legal r (mark ?x)) (n ?x))
            (<= (next (marked ?x)) (does r (mark ?x)))
            (<= (next (marked ?x)) (true (marked ?x)))
            (<= (pair ?x ?y) (true (marked ?x)) (true (marked ?y)))
            (<= terminal (pair 1 ?y) (distinct ?y 1))
            (<= (goal r 100) (true (marked 1)))";
        assert_eq!(counts(text), [(5, 3), (6, 3), (7, 3), (8, 9), (9, 2), (10, 1)]);
    }

    #[test]
    fn what_was_counted_before_a_limit_is_kept() {
        let mut text =
            "(role r) (init (c 0)) (<= (legal r (m ?x ?y)) (n ?x) (n ?y)) (<= (next (at ?x ?y)) (does r (m ?x ?y)))
            (<= terminal (true (at 1 1))) (<= (goal r 0) (true (at 1 1)))"
                .to_owned();
        (0..60).for_each(|n| text += &format!("(n {n})"));
        let rules = gdl::read(&text, &gdl::Options::default()).rules;
        let limits = Limits {
            instances: 2_000,
            ..Limits::default()
        };
        let census = census(&rules, &limits).unwrap();
        assert!(
            matches!(census.ended, Some(GroundError::TooLarge { .. })),
            "{:?}",
            census.ended
        );
        assert!(
            census.rules.iter().map(|r| r.instances).sum::<usize>() > 900,
            "{:?}",
            census.rules
        );
    }
}
