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

use crate::reference::{EvaluationLimits, Known, Machine};
use crate::theory::{Layer, Literal, RelId, Rule, Theory, rel};
use std::sync::Arc;

/// Steps for computing the calls of one relation. A relation of calls that takes more would restrict little.
const STEPS: u64 = 20_000;

/// Adds its relation of calls to the rules of each relation.
pub(crate) fn restrict(theory: &mut Theory) {
    let mut exempt: Vec<bool> = (0..theory.relations.len())
        .map(|r| is_exempt(theory, RelId(r as u32)))
        .collect();
    for _ in 0..4 {
        let asked = asked_positions(theory, &exempt);
        let (restricted, demands) = with_demands(theory, &asked);
        let hard = hard_to_evaluate(&restricted, &demands);
        if hard.is_empty() {
            *theory = restricted;
            return;
        }
        hard.iter().for_each(|r| exempt[r.0 as usize] = true);
    }
}

/// Relations of the language itself, which are not restricted.
fn is_exempt(theory: &Theory, relation: RelId) -> bool {
    let info = theory.relation(relation);
    relation.0 <= rel::INPUT.0 || info.layer == Layer::Static || info.arity == 0
}

/// Per relation, the arguments whose values are statically known in every use.
fn asked_positions(theory: &Theory, exempt: &[bool]) -> Vec<Known> {
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
            let bound = statically_bound(theory, rule, asked[rule.head.0 as usize]);
            for literal in &rule.body {
                let (Literal::Pos(used, args) | Literal::Neg(used, args)) = literal else {
                    continue;
                };
                let covered = |&a: &usize| {
                    let mut all = true;
                    args[a].for_each_var(&mut |v| all &= bound[v as usize]);
                    all && asked[used.0 as usize].has(a)
                };
                let left = Known::of((0..args.len()).filter(covered));
                changed |= left != asked[used.0 as usize];
                asked[used.0 as usize] = left;
            }
        }
    }
    asked
}

fn statically_bound(theory: &Theory, rule: &Rule, asked: Known) -> Vec<bool> {
    let mut bound = vec![false; rule.n_vars];
    let mut bind = |v: u32| bound[v as usize] = true;
    for (_, term) in rule.args.iter().enumerate().filter(|(a, _)| asked.has(*a)) {
        term.for_each_var(&mut bind);
    }
    for literal in rule.body.iter().filter(|l| is_static(theory, l)) {
        literal.for_each_var(&mut bind);
    }
    bound
}

fn is_static(theory: &Theory, literal: &Literal) -> bool {
    matches!(literal, Literal::Pos(r, _) if theory.relation(*r).layer == Layer::Static)
}

/// The theory with a relation of calls beside each relation that is restricted.
fn with_demands(theory: &Theory, asked: &[Known]) -> (Theory, Vec<(RelId, RelId)>) {
    let mut restricted = theory.clone();
    let mut demand_of: Vec<Option<RelId>> = vec![None; theory.relations.len()];
    let mut demands = Vec::new();
    for (n, relation) in theory.relations.iter().enumerate() {
        let arity = (0..relation.arity).filter(|&a| asked[n].has(a)).count();
        if arity > 0 {
            let demand = restricted.add_relation(format!("asked of {}", relation.label), arity);
            demand_of[n] = Some(demand);
            demands.push((RelId(n as u32), demand));
        }
    }
    let literal_for = |relation: RelId, args: &[gdl::Term]| {
        let demand = demand_of[relation.0 as usize]?;
        let known = (0..args.len()).filter(|&a| asked[relation.0 as usize].has(a));
        Some(Literal::Pos(demand, known.map(|a| args[a].clone()).collect()))
    };
    for (n, rule) in theory.rules.iter().enumerate() {
        let own = literal_for(rule.head, &rule.args);
        for literal in &rule.body {
            let (Literal::Pos(used, args) | Literal::Neg(used, args)) = literal else {
                continue;
            };
            if let Some(Literal::Pos(head, args)) = literal_for(*used, args) {
                let body = knowledge_about(theory, rule, own.as_ref(), &args);
                restricted.rules.push(Rule {
                    head,
                    args,
                    body,
                    n_vars: rule.n_vars,
                });
            }
        }
        restricted.rules[n].body.extend(own);
    }
    restricted.analyse();
    (restricted, demands)
}

/// The static literals of a rule, its relation of calls among them, that contain variables of these terms.
fn knowledge_about(theory: &Theory, rule: &Rule, own: Option<&Literal>, args: &[gdl::Term]) -> Vec<Literal> {
    let mut wanted = vec![false; rule.n_vars];
    args.iter()
        .for_each(|t| t.for_each_var(&mut |v| wanted[v as usize] = true));
    let speaks = |literal: &&Literal| {
        let mut speaks = false;
        literal.for_each_var(&mut |v| speaks |= wanted[v as usize]);
        speaks
    };
    let fixed = rule.body.iter().filter(|l| is_static(theory, l));
    fixed.chain(own).filter(speaks).cloned().collect()
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
