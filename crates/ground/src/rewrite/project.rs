//! Existential variables under a negation are eliminated in a rule of their own.
//!
//! Rule splitting cannot take `g(k), ¬t(k,x)` out of a rule, because nothing in it binds `x`. With a projection of the
//! literal that binds `x` elsewhere in the rule it can:
//!
//! ```text
//! h(x,y) ⇐ b(x,y,z), g(k), ¬t(k,x).    becomes
//! h(x,y) ⇐ b(x,y,z), some(x).    some(x) ⇐ guard(x), g(k), ¬t(k,x).    guard(x) ⇐ b(x,y,z).
//! ```

use super::program::{Draft, Rel, atom_vars, in_body_order, is_safe, pos, rel, relation_of, tidy, vars};
use gdl::{Atom, Clause, Literal, Symbol, kw};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Auxiliary rules that one pass may add.
const MOST_ADDED: usize = 500;

/// Projects; returns whether any rule has such variables.
pub(super) fn project(draft: &mut Draft) -> bool {
    let mut work = Work {
        changing: draft.changing(),
        auxiliaries: FxHashMap::default(),
        draft,
    };
    let before = work.draft.clauses.len();
    for n in 0..before {
        while let Some(group) = work.group_of(n) {
            if work.draft.clauses.len() - before > MOST_ADDED {
                break;
            }
            work.take_out(n, group);
        }
    }
    work.draft.clauses.len() > before
}

struct Work<'d> {
    draft: &'d mut Draft,
    changing: FxHashSet<Rel>,
    /// Auxiliary rules, with a head that does not matter, and their relations.
    auxiliaries: FxHashMap<Clause, Symbol>,
}

/// Literals to be moved out of a rule, and what binds their other variables.
struct Group {
    literals: Vec<usize>,
    shared: Vec<u32>,
    guards: Vec<(Literal, Vec<u32>)>,
}

impl Work<'_> {
    /// The literals of one existential variable that occurs under a negation.
    fn group_of(&self, n: usize) -> Option<Group> {
        let clause = &self.draft.clauses[n];
        let is_changing = |l: &Literal| relation_of(l).is_some_and(|r| self.changing.contains(&r));
        if !self.changing.contains(&rel(&clause.head)) {
            return None;
        }
        let in_head: BTreeSet<u32> = atom_vars(&clause.head).into_iter().collect();
        let under_negation = |v: u32| {
            let has = |l: &Literal| matches!(l, Literal::Neg(_)) && is_changing(l) && vars(l).contains(&v);
            clause.body.iter().any(has)
        };
        let mut inner = (0..clause.variables.len() as u32).filter(|v| !in_head.contains(v) && under_negation(*v));
        inner.find_map(|v| try_group(clause, v, &in_head, &is_changing))
    }

    /// Replaces a group by an auxiliary relation.
    fn take_out(&mut self, n: usize, group: Group) {
        let clause = self.draft.clauses[n].clone();
        let mut body: Vec<Literal> = Vec::new();
        for (literal, kept) in &group.guards {
            body.push(match vars(literal).len() == kept.len() {
                true => literal.clone(),
                false => {
                    let base = relation_of(literal).expect("guards are atoms").0;
                    self.auxiliary(base, "guard", kept, vec![literal.clone()], &clause)
                }
            });
        }
        body.extend(group.literals.iter().map(|&l| clause.body[l].clone()));
        let use_ = self.auxiliary(clause.head.relation, "some", &group.shared, body, &clause);
        let mut rest: Vec<Literal> = (0..clause.body.len())
            .filter(|l| !group.literals.contains(l))
            .map(|l| clause.body[l].clone())
            .collect();
        rest.push(use_);
        self.draft.clauses[n] = tidy(clause.head, rest, &clause.variables, clause.offset);
    }

    /// An atom of an auxiliary relation with this rule; equal rules share the relation.
    fn auxiliary(&mut self, base: Symbol, tag: &str, kept: &[u32], body: Vec<Literal>, source: &Clause) -> Literal {
        let args = in_body_order(&body, kept);
        let head = |relation| Atom {
            relation,
            args: args.clone(),
        };
        debug_assert!(is_safe(&head(kw::TERMINAL), &body), "guards bind what is open");
        let key = tidy(head(kw::TERMINAL), body.clone(), &[], 0);
        let symbol = match self.auxiliaries.get(&key) {
            Some(symbol) => *symbol,
            None => {
                let symbol = self.draft.fresh(base, tag);
                if body.iter().filter_map(relation_of).any(|r| self.changing.contains(&r)) {
                    self.changing.insert((symbol, args.len()));
                }
                self.auxiliaries.insert(key, symbol);
                self.draft
                    .clauses
                    .push(tidy(head(symbol), body, &source.variables, source.offset));
                symbol
            }
        };
        pos(symbol, args)
    }
}

fn try_group(
    clause: &Clause,
    var: u32,
    in_head: &BTreeSet<u32>,
    is_changing: &dyn Fn(&Literal) -> bool,
) -> Option<Group> {
    // Existential variables that only occur beside the variable go with it.
    let literals: Vec<usize> = (0..clause.body.len())
        .filter(|&l| vars(&clause.body[l]).contains(&var))
        .collect();
    let rest: Vec<usize> = (0..clause.body.len()).filter(|l| !literals.contains(l)).collect();
    let mut needed = in_head.clone();
    rest.iter().for_each(|&l| needed.extend(vars(&clause.body[l])));
    let own: BTreeSet<u32> = literals.iter().flat_map(|&l| vars(&clause.body[l])).collect();
    let shared: Vec<u32> = own.intersection(&needed).copied().collect();
    let all: BTreeSet<u32> = clause.body.iter().flat_map(vars).collect();
    let positive = |l: &usize| matches!(clause.body[*l], Literal::Pos(_));
    let has_generator = literals.iter().any(|l| positive(l) && is_changing(&clause.body[*l]));
    let rest_changes = rest.iter().any(|&l| is_changing(&clause.body[l]));
    // Worth it only if the new rule has fewer variables than the old one.
    if !has_generator || !rest_changes || own.len() >= all.len() {
        return None;
    }
    let mut bound: BTreeSet<u32> = BTreeSet::new();
    literals
        .iter()
        .filter(|l| positive(l))
        .for_each(|&l| bound.extend(vars(&clause.body[l])));
    let mut guards = Vec::new();
    while let Some(open) = Some(own.difference(&bound).copied().collect::<Vec<u32>>()).filter(|o| !o.is_empty()) {
        let covers = |&&l: &&usize| vars(&clause.body[l]).iter().filter(|v| open.contains(v)).count();
        let best = rest
            .iter()
            .filter(|l| positive(l))
            .max_by_key(|l| (covers(l), std::cmp::Reverse(**l)))?;
        if covers(&best) == 0 {
            return None;
        }
        let kept: Vec<u32> = vars(&clause.body[*best])
            .into_iter()
            .filter(|v| own.contains(v))
            .collect();
        bound.extend(&kept);
        guards.push((clause.body[*best].clone(), kept));
    }
    // Without a guard, rule splitting does the same by itself.
    (!guards.is_empty()).then_some(Group {
        literals,
        shared,
        guards,
    })
}
