//! Rules that differ in one literal become one rule with an auxiliary relation.
//!
//! Rules are stored without `or`: a rule with two disjunctions of five branches is 25 rules, and each has all the
//! instances of the common part. Rules whose heads and bodies are equal except for one positive literal, whatever
//! they came from, are merged again if these literals have the same variables in common with the rest:
//!
//! ```text
//! h(x) ⇐ a(x,y), b(y).   h(x) ⇐ a(x,y), c(y,z).     become
//! h(x) ⇐ a(x,y), or(y).  or(y) ⇐ b(y).  or(y) ⇐ c(y,z).
//! ```

use super::program::{Draft, Rel, in_order, map_literal, pos, relation_of, tidy, vars};
use gdl::{Atom, Clause, Literal, Symbol, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Rounds of merging: one for each disjunction of a rule.
const ROUNDS: usize = 8;

/// Merges rules; returns whether there were any to merge.
pub(super) fn merge(draft: &mut Draft) -> bool {
    let mut auxiliaries: FxHashMap<Vec<Clause>, Symbol> = FxHashMap::default();
    let rounds = (0..ROUNDS).take_while(|_| merge_once(draft, &mut auxiliaries)).count();
    rounds > 0
}

/// A rule without one of its literals, and which of its variables the literal has, in a form that is equal for rules
/// that can be merged.
type Frame = (Atom, Vec<Literal>, Vec<u32>);

/// A rule as a member of a frame.
struct Member {
    clause: usize,
    /// The literal that is not part of the frame, with variables as in the frame; others have larger numbers.
    literal: Literal,
}

fn merge_once(draft: &mut Draft, auxiliaries: &mut FxHashMap<Vec<Clause>, Symbol>) -> bool {
    let changing = draft.changing();
    let mut frames: BTreeMap<(usize, usize), Frame> = BTreeMap::new();
    let mut members: FxHashMap<Frame, Vec<Member>> = FxHashMap::default();
    for (n, clause) in draft.clauses.iter().enumerate() {
        for at in 0..clause.body.len() {
            if let Some((frame, literal)) = frame_of(clause, at, &changing) {
                frames.insert((n, at), frame.clone());
                members.entry(frame).or_default().push(Member { clause: n, literal });
            }
        }
    }
    // The largest groups come first; among equals, those of the first clause.
    let mut order: Vec<(usize, Frame)> = Vec::new();
    let mut listed: FxHashSet<&Frame> = FxHashSet::default();
    for frame in frames.values() {
        let size = members[frame].len();
        if size > 1 && listed.insert(frame) {
            order.push((size, frame.clone()));
        }
    }
    order.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    let mut taken = vec![false; draft.clauses.len()];
    let mut replaced: FxHashMap<usize, Clause> = FxHashMap::default();
    let mut made = Vec::new();
    for (_, frame) in order {
        let group: Vec<&Member> = members[&frame].iter().filter(|m| !taken[m.clause]).collect();
        let distinct: FxHashSet<&Literal> = group.iter().map(|m| &m.literal).collect();
        if distinct.len() < 2 {
            continue;
        }
        let symbol = auxiliary(draft, &frame, &group, auxiliaries, &mut made);
        let (head, mut body, shared) = frame;
        body.push(pos(symbol, shared.iter().map(|&v| Term::Var(v)).collect()));
        let first = group[0].clause;
        let names = &draft.clauses[first].variables;
        replaced.insert(first, tidy(head, body, names, draft.clauses[first].offset));
        group.iter().for_each(|m| taken[m.clause] = true);
    }
    if replaced.is_empty() {
        return false;
    }
    let old = std::mem::take(&mut draft.clauses);
    for (n, clause) in old.into_iter().enumerate() {
        match replaced.remove(&n) {
            Some(merged) => draft.clauses.push(merged),
            None if taken[n] => {}
            None => draft.clauses.push(clause),
        }
    }
    draft.clauses.extend(made);
    true
}

/// The auxiliary relation of a group; groups with the same literals share it.
fn auxiliary(
    draft: &mut Draft,
    frame: &Frame,
    group: &[&Member],
    auxiliaries: &mut FxHashMap<Vec<Clause>, Symbol>,
    made: &mut Vec<Clause>,
) -> Symbol {
    let rules = |symbol: Symbol| -> Vec<Clause> {
        let rule = |m: &&Member| {
            let args = frame.2.iter().map(|&v| Term::Var(v)).collect();
            let head = Atom { relation: symbol, args };
            tidy(head, vec![m.literal.clone()], &[], 0)
        };
        group.iter().map(rule).collect()
    };
    // The name of the key does not matter, as long as it is the same for all.
    let key = rules(gdl::kw::TERMINAL);
    if let Some(&symbol) = auxiliaries.get(&key) {
        return symbol;
    }
    let symbol = draft.fresh(frame.0.relation, "or");
    draft.kept.insert(symbol);
    made.extend(rules(symbol));
    auxiliaries.insert(key, symbol);
    symbol
}

/// The frame of a rule without one literal, and that literal, if it may be replaced by an auxiliary relation.
fn frame_of(clause: &Clause, at: usize, changing: &FxHashSet<Rel>) -> Option<(Frame, Literal)> {
    let is_changing = |l: &Literal| relation_of(l).is_some_and(|r| changing.contains(&r));
    let literal = &clause.body[at];
    let rest: Vec<Literal> = (0..clause.body.len())
        .filter(|&n| n != at)
        .map(|n| clause.body[n].clone())
        .collect();
    let own = vars(literal);
    // Otherwise the rest multiplies nothing.
    let multiplies = |l: &Literal| is_changing(l) || vars(l).iter().any(|v| !own.contains(v));
    let suits = matches!(literal, Literal::Pos(_)) && is_changing(literal) && rest.iter().any(multiplies);
    if !suits {
        return None;
    }
    let frame = tidy(clause.head.clone(), rest.clone(), &clause.variables, 0);
    // The numbers that `tidy` gave, in the same order.
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    let mut note = |v: u32| {
        let next = numbers.len() as u32;
        *numbers.entry(v).or_insert(next)
    };
    clause.head.for_each_var(&mut |v| {
        note(v);
    });
    for l in in_order(rest) {
        l.for_each_var(&mut |v| {
            note(v);
        });
    }
    let n_shared = frame.variables.len() as u32;
    let literal = map_literal(literal, &mut |v| Term::Var(note(v)));
    let shared: Vec<u32> = vars(&literal).into_iter().filter(|&v| v < n_shared).collect();
    let mut body = frame.body;
    // Tests may stand in any order.
    body.sort_by_key(|l| match l {
        Literal::Pos(_) => String::new(),
        test => format!("{test:?}"),
    });
    Some(((frame.head, body, shared), literal))
}
