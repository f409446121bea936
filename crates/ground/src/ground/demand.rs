//! Restriction of relations to the instances that are needed.
//!
//! A relation such as `count(x,y,z,w,p,n)` may have millions of instances, of which the game uses two. The calls of a
//! relation follow, as far as static knowledge goes, from the rules that use it: from constants, from static literals
//! beside the use, and from the calls of the rule's own head (magic sets, Bancilhon et al. 1986; we pass static
//! information only). The calls form a static relation, which is added to the bodies of the relation's rules:
//!
//! ```text
//! full(w) ⇐ count(a,b,w).  count(x,y,p) ⇐ true(cell(x,p)), true(cell(y,p)).
//! becomes  asked(a,b,w).   count(x,y,p) ⇐ asked(x,y,p), true(cell(x,p)), true(cell(y,p)).
//! ```
//!
//! [`restrict_by_atoms`] passes on what the state says, too: a literal is asked about the values that the literals
//! before it may give. A count that is carried from place to place is then ground as far as it can be counted. The
//! relation of calls is found together with the instances, and leaves no trace in the ground program ([filters]).
//!
//! [filters]: crate::theory::Relation::is_filter

use crate::reference::{EvaluationLimits, Known, Machine};
use crate::theory::{Layer, Literal, RelId, Relation, Rule, Theory, rel};
use gdl::Term;
use std::sync::Arc;

/// Steps for computing the calls of one relation. A relation of calls that takes more would restrict little.
const STEPS: u64 = 20_000;

/// What is known when a literal is asked about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Knowing {
    /// The static literals of its rule.
    Static,
    /// These, and the literals before it: fluents and moves, then relations in the order of the text, then negations.
    Earlier,
}

/// Adds its relation of calls to the rules of each relation, where static knowledge restricts it.
pub(crate) fn restrict(theory: &mut Theory) {
    let mut exempt = exempt(theory);
    for _ in 0..4 {
        let asked = asked_positions(theory, &exempt, Knowing::Static);
        let (restricted, demands) = with_demands(theory, &asked, Knowing::Static);
        let hard = hard_to_evaluate(&restricted, &demands);
        if hard.is_empty() {
            *theory = restricted;
            return;
        }
        hard.iter().for_each(|r| exempt[r.0 as usize] = true);
    }
}

/// Pairs of conditions of a rule, over all rules, from which on nothing is restricted by what holds before: each
/// condition gets a rule with those before it, so that a rule of thousands of conditions would become millions.
const MOST_PAIRS: usize = 300_000;

/// Adds its relation of calls to the rules of each relation, where what may hold before restricts it.
pub(crate) fn restrict_by_atoms(theory: &mut Theory) {
    if theory.rules.iter().map(|rule| rule.body.len().pow(2)).sum::<usize>() > MOST_PAIRS {
        return;
    }
    let asked = asked_positions(theory, &exempt(theory), Knowing::Earlier);
    *theory = with_demands(theory, &asked, Knowing::Earlier).0;
}

/// Whether each relation is never restricted: the relations of the language itself, static ones, and those without
/// arguments.
fn exempt(theory: &Theory) -> Vec<bool> {
    let is_exempt = |(number, info): (usize, &Relation)| {
        number <= rel::INPUT.0 as usize || info.layer == Layer::Static || info.arity == 0
    };
    theory.relations.iter().enumerate().map(is_exempt).collect()
}

/// Per relation, the arguments whose values are known in every use.
fn asked_positions(theory: &Theory, exempt: &[bool], knowing: Knowing) -> Vec<Known> {
    let mut asked: Vec<Known> = theory
        .relations
        .iter()
        .zip(exempt)
        .map(|(r, &exempt)| Known::of(0..if exempt { 0 } else { r.arity }))
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for rule in &theory.rules {
            for (n, used, args) in calls(rule) {
                let before = asked[used.0 as usize];
                let bound = bound_before(theory, rule, n, asked[rule.head.0 as usize], knowing);
                let covered = |&a: &usize| {
                    let mut all = true;
                    args[a].for_each_var(&mut |v| all &= bound[v as usize]);
                    all && before.has(a)
                };
                let left = Known::of((0..args.len()).filter(covered));
                changed |= left != before;
                asked[used.0 as usize] = left;
            }
        }
    }
    asked
}

/// The literals of a rule that ask a relation: their places, relations and arguments.
fn calls(rule: &Rule) -> impl Iterator<Item = (usize, RelId, &[Term])> {
    rule.body.iter().enumerate().filter_map(|(n, literal)| match literal {
        Literal::Pos(used, args) | Literal::Neg(used, args) => Some((n, *used, &args[..])),
        Literal::Distinct(..) => None,
    })
}

/// The variables that are known before a literal.
fn bound_before(theory: &Theory, rule: &Rule, n: usize, asked: Known, knowing: Knowing) -> Vec<bool> {
    let mut bound = vec![false; rule.n_vars];
    let mut bind = |v: u32| bound[v as usize] = true;
    for (_, term) in rule.args.iter().enumerate().filter(|(a, _)| asked.has(*a)) {
        term.for_each_var(&mut bind);
    }
    for literal in known_before(theory, rule, n, knowing) {
        literal.for_each_var(&mut bind);
    }
    bound
}

/// The positive literals that are known before a literal.
fn known_before<'r>(
    theory: &'r Theory,
    rule: &'r Rule,
    n: usize,
    knowing: Knowing,
) -> impl Iterator<Item = &'r Literal> {
    let turn = |n: usize, literal: &Literal| match literal {
        Literal::Pos(r, _) if theory.relation(*r).layer == Layer::Static => (0, 0),
        Literal::Pos(rel::TRUE | rel::DOES, _) => (1, n),
        Literal::Pos(..) => (2, n),
        Literal::Neg(..) | Literal::Distinct(..) => (3, n),
    };
    let own = turn(n, &rule.body[n]);
    let is_known = move |&(place, literal): &(usize, &Literal)| match (turn(place, literal), knowing) {
        ((0, _), _) => true,
        (_, Knowing::Static) => false,
        (other, Knowing::Earlier) => matches!(literal, Literal::Pos(..)) && other < own,
    };
    rule.body
        .iter()
        .enumerate()
        .filter(is_known)
        .map(|(_, literal)| literal)
}

/// The theory with a relation of calls beside each relation that is restricted.
fn with_demands(theory: &Theory, asked: &[Known], knowing: Knowing) -> (Theory, Vec<(RelId, RelId)>) {
    let mut restricted = theory.clone();
    let mut demand_of: Vec<Option<RelId>> = vec![None; theory.relations.len()];
    let mut demands = Vec::new();
    for (n, relation) in theory.relations.iter().enumerate() {
        let arity = (0..relation.arity).filter(|&a| asked[n].has(a)).count();
        if arity > 0 {
            let demand = match knowing {
                Knowing::Static => restricted.add_relation(format!("asked of {}", relation.label), arity),
                Knowing::Earlier => restricted.add_filter(format!("ever asked of {}", relation.label), arity),
            };
            demand_of[n] = Some(demand);
            demands.push((RelId(n as u32), demand));
        }
    }
    let call = |relation: RelId, args: &[Term]| {
        let demand = demand_of[relation.0 as usize]?;
        let known = (0..args.len()).filter(|&a| asked[relation.0 as usize].has(a));
        Some((demand, known.map(|a| args[a].clone()).collect::<Vec<Term>>()))
    };
    for (n, rule) in theory.rules.iter().enumerate() {
        let own = call(rule.head, &rule.args).map(|(demand, args)| Literal::Pos(demand, args));
        for (place, used, args) in calls(rule) {
            let Some((head, args)) = call(used, args) else { continue };
            let known = known_before(theory, rule, place, knowing).chain(&own);
            let body = knowledge_about(rule, known.collect(), &args, knowing);
            restricted.rules.push(Rule {
                head,
                args,
                body,
                n_vars: rule.n_vars,
            });
        }
        restricted.rules[n].body.extend(own);
    }
    restricted.analyse();
    (restricted, demands)
}

/// The literals that contain variables of these terms, and, of what earlier literals say, those that contain variables
/// of these, and so on.
fn knowledge_about(rule: &Rule, known: Vec<&Literal>, args: &[Term], knowing: Knowing) -> Vec<Literal> {
    let mut wanted = vec![false; rule.n_vars];
    args.iter()
        .for_each(|t| t.for_each_var(&mut |v| wanted[v as usize] = true));
    let speaks = |literal: &Literal, wanted: &[bool]| {
        let mut speaks = false;
        literal.for_each_var(&mut |v| speaks |= wanted[v as usize]);
        speaks
    };
    let mut n_wanted = 0;
    while knowing == Knowing::Earlier && n_wanted != wanted.iter().filter(|&&w| w).count() {
        n_wanted = wanted.iter().filter(|&&w| w).count();
        for literal in &known {
            if speaks(literal, &wanted) {
                literal.for_each_var(&mut |v| wanted[v as usize] = true);
            }
        }
    }
    known.into_iter().filter(|l| speaks(l, &wanted)).cloned().collect()
}

/// The relations whose calls take too many steps to compute.
fn hard_to_evaluate(theory: &Theory, demands: &[(RelId, RelId)]) -> Vec<RelId> {
    let mut machine = Machine::new(
        Arc::new(theory.clone()),
        EvaluationLimits {
            steps: STEPS,
            ..EvaluationLimits::default()
        },
    );
    let mut hard = Vec::new();
    for &(relation, demand) in demands {
        let nothing_known = vec![None; theory.relation(demand).arity];
        if machine.rows(demand, &nothing_known).is_err() {
            hard.push(relation);
        }
    }
    hard
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules_after(conditions: usize) -> (usize, usize) {
        let chain: String = (0..conditions).map(|n| format!("(p ?x{n} ?x{})", n + 1)).collect();
        let text = format!(
            "(role r) (init (on a b)) (legal r wait) (goal r 0) (<= (next (on ?x ?y)) (true (on ?x ?y)))
             (<= (p ?x ?y) (true (on ?x ?y))) (<= terminal (true (on ?x0 ?z)) {chain})"
        );
        let mut theory = Theory::new(&gdl::read(&text, &gdl::Options::default()).rules);
        theory.for_grounding();
        let before = theory.rules.len();
        restrict_by_atoms(&mut theory);
        (before, theory.rules.len())
    }

    #[test]
    fn long_rules_are_left_as_they_are() {
        let (before, after) = rules_after(3);
        assert_eq!(after, before + 3, "one rule for each question about p");
        let (before, after) = rules_after(3_000);
        assert_eq!(after, before);
    }
}
