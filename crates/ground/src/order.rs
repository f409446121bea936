//! The order in which the conditions of a rule are tried.
//!
//! The order in the source has no meaning, so the cheapest condition comes first. Its cost is the number of rows that
//! are expected with the variables bound so far. Conditions that only test come as soon as possible.

use crate::pattern::Bound;
use crate::theory::{Literal, RelId, Rule};
use gdl::Term;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A source of rows, as the estimate sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// Stored and indexed; with what is bound, so many rows are to be expected.
    Known(f64),
    /// About so many rows in all, stored and indexed.
    Rows(usize),
    /// Derived on demand.
    Derived,
    /// Derived on demand, with a negation that may depend on itself: tried last.
    Touchy,
}

/// The numbers of the literals of the body, except `done`, in the order in which to try them.
pub(crate) fn order(
    rule: &Rule,
    bound: &Bound,
    done: Option<usize>,
    source: &dyn Fn(RelId, &[Term], &Bound) -> Source,
) -> Vec<usize> {
    let mut bound = bound.clone();
    // A cost changes only when a variable of the literal gets a value.
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); rule.n_vars];
    for (n, literal) in rule.body.iter().enumerate() {
        literal.for_each_var(&mut |v| readers[v as usize].push(n));
    }
    // Costs are not negative, so their bits are in the same order. Of equal costs the first literal is taken.
    let bits = |n: usize, bound: &Bound| cost(&rule.body[n], bound, source).to_bits();
    let mut costs: Vec<Option<u64>> = (0..rule.body.len())
        .map(|n| (Some(n) != done).then(|| bits(n, &bound)))
        .collect();
    let waiting = |(n, cost): (usize, &Option<u64>)| cost.map(|cost| Reverse((cost, n)));
    let mut heap: BinaryHeap<Reverse<(u64, usize)>> = costs.iter().enumerate().filter_map(waiting).collect();
    let mut order = Vec::with_capacity(costs.len());
    while let Some(Reverse((cost, literal))) = heap.pop() {
        if costs[literal] != Some(cost) {
            continue;
        }
        costs[literal] = None;
        order.push(literal);
        let Literal::Pos(_, args) = &rule.body[literal] else {
            continue;
        };
        let mut new = Vec::new();
        args.iter()
            .for_each(|t| t.for_each_var(&mut |v| new.extend((!bound.has(v)).then_some(v))));
        bound.add_all(args);
        for reader in new.into_iter().flat_map(|v| std::mem::take(&mut readers[v as usize])) {
            if costs[reader].is_some() {
                let cost = bits(reader, &bound);
                costs[reader] = Some(cost);
                heap.push(Reverse((cost, reader)));
            }
        }
    }
    order
}

/// Expected number of rows of an unknown relation.
const UNKNOWN_ROWS: f64 = 80.0;

fn cost(literal: &Literal, bound: &Bound, source: &dyn Fn(RelId, &[Term], &Bound) -> Source) -> f64 {
    match literal {
        Literal::Distinct(a, b) if bound.covers(a) && bound.covers(b) => 0.0,
        Literal::Neg(rel, args) if args.iter().all(|t| bound.covers(t)) => match source(*rel, args, bound) {
            Source::Known(_) | Source::Rows(_) => 0.1,
            Source::Derived => 0.8,
            Source::Touchy => f64::MAX / 2.0,
        },
        Literal::Distinct(..) | Literal::Neg(..) => f64::INFINITY,
        Literal::Pos(rel, args) => {
            let open = openness(args, bound);
            match source(*rel, args, bound) {
                Source::Known(rows) => expected(rows, open.ceil(), 0.2),
                Source::Rows(rows) => expected(rows as f64, open, 0.2),
                Source::Derived | Source::Touchy => 2.0 * expected(UNKNOWN_ROWS, open, 0.4),
            }
        }
    }
}

/// Expected number of rows: all rows if everything is open, about one if nothing is.
fn expected(rows: f64, open: f64, if_closed: f64) -> f64 {
    if open == 0.0 {
        if_closed
    } else {
        rows.max(0.5).powf(open)
    }
}

/// Share of the leaves of a row that are still unknown.
fn openness(args: &[Term], bound: &Bound) -> f64 {
    let (mut open, mut all) = (0, 0);
    args.iter().for_each(|t| count_leaves(t, bound, &mut open, &mut all));
    if all == 0 {
        0.0
    } else {
        f64::from(open) / f64::from(all)
    }
}

fn count_leaves(term: &Term, bound: &Bound, open: &mut u32, all: &mut u32) {
    match term {
        Term::Fun(_, args) if !args.is_empty() => args.iter().for_each(|t| count_leaves(t, bound, open, all)),
        _ => {
            *all += 1;
            *open += u32::from(!bound.covers(term));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use game::{Rng, Seed};

    /// The meaning of [`order`]: after each literal the costs of all that are left.
    fn slowly(
        rule: &Rule,
        bound: &Bound,
        done: Option<usize>,
        source: &dyn Fn(RelId, &[Term], &Bound) -> Source,
    ) -> Vec<usize> {
        let mut bound = bound.clone();
        let mut left: Vec<usize> = (0..rule.body.len()).filter(|&n| Some(n) != done).collect();
        let mut order = Vec::new();
        while !left.is_empty() {
            let cost = |&n: &usize| cost(&rule.body[n], &bound, source);
            let best = (0..left.len())
                .min_by(|&a, &b| cost(&left[a]).total_cmp(&cost(&left[b])))
                .unwrap();
            let literal = left.remove(best);
            if let Literal::Pos(_, args) = &rule.body[literal] {
                bound.add_all(args);
            }
            order.push(literal);
        }
        order
    }

    fn random_rule(rng: &mut Rng) -> Rule {
        let n_vars = 1 + rng.below(8);
        let term = |rng: &mut Rng| match rng.below(6) {
            0 => Term::Fun(gdl::kw::ROLE, vec![]),
            1 => Term::Fun(gdl::kw::ROLE, vec![Term::Var(rng.below(n_vars) as u32)]),
            _ => Term::Var(rng.below(n_vars) as u32),
        };
        let literal = |rng: &mut Rng| {
            let relation = RelId(rng.below(5) as u32);
            let args: Vec<Term> = (0..rng.below(4)).map(|_| term(rng)).collect();
            match rng.below(6) {
                0 => Literal::Neg(relation, args),
                1 => Literal::Distinct(term(rng), term(rng)),
                _ => Literal::Pos(relation, args),
            }
        };
        let body = (0..1 + rng.below(12)).map(|_| literal(rng)).collect();
        Rule {
            head: RelId(0),
            args: vec![],
            body,
            n_vars,
        }
    }

    #[test]
    fn orders_are_those_of_costs_computed_anew() {
        let source = |relation: RelId, args: &[Term], bound: &Bound| match relation.0 {
            0 => Source::Derived,
            1 => Source::Touchy,
            2 => Source::Known(args.iter().filter(|t| !bound.covers(t)).count() as f64 * 7.0),
            n => Source::Rows(n as usize * 10),
        };
        let mut rng = Seed(3).rng();
        for _ in 0..2_000 {
            let rule = random_rule(&mut rng);
            let done = (rng.below(2) == 0).then(|| rng.below(rule.body.len()));
            let bound = Bound::none(rule.n_vars);
            assert_eq!(
                order(&rule, &bound, done, &source),
                slowly(&rule, &bound, done, &source),
                "{rule:?}"
            );
        }
    }
}
