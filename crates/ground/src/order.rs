//! The order in which the conditions of a rule are tried.
//!
//! The order in the source has no meaning, so the cheapest condition comes first. Its cost is the number of rows that
//! are expected with the variables bound so far. Conditions that only test come as soon as possible.

use crate::pattern::Bound;
use crate::theory::{Literal, RelId, Rule};
use gdl::Term;

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
    let mut left: Vec<usize> = (0..rule.body.len()).filter(|&n| Some(n) != done).collect();
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let cost = |&n: &usize| cost(&rule.body[n], &bound, source);
        let best = (0..left.len())
            .min_by(|&a, &b| cost(&left[a]).total_cmp(&cost(&left[b])))
            .expect("some literal is left");
        let literal = left.remove(best);
        if let Literal::Pos(_, args) = &rule.body[literal] {
            bound.add_all(args);
        }
        order.push(literal);
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
