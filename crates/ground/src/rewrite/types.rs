//! Variables get the sets that their values are in.
//!
//! A static relation may be wider than the state that it is joined with: `different(x1,y1,x2,y2)` over 16 coordinates
//! has four times as many cells as a board of 8 by 8. While all conditions stand in one rule that does not matter, but
//! rule splitting takes them apart. Likewise the uses of a relation may be narrower than its rules. Here each variable
//! that its changing conditions or the uses of its head restrict more than the static conditions gets a unary static
//! condition with the values it may have; splitting copies such conditions to the rules it makes.

use super::domains::Domains;
use super::program::{Draft, pos, rel, tidy, vars};
use super::statics::Statics;
use gdl::{Atom, Literal, Symbol, Term};
use std::collections::{BTreeMap, BTreeSet};

/// Values of a set, at most.
const LARGEST_SET: usize = 256;

/// Adds sets; returns whether there are any.
pub(super) fn add_types(draft: &mut Draft, statics: &Statics) -> bool {
    let Some(domains) = Domains::new(draft, statics) else {
        return false;
    };
    let changing = draft.changing();
    let mut sets: BTreeMap<Vec<Symbol>, Symbol> = BTreeMap::new();
    for n in 0..draft.clauses.len() {
        let clause = draft.clauses[n].clone();
        if clause.body.is_empty() || !changing.contains(&rel(&clause.head)) {
            continue;
        }
        let is_static = |l: &&Literal| matches!(l, Literal::Pos(a) if !changing.contains(&rel(a)));
        let fixed: Vec<bool> = clause.body.iter().map(|l| is_static(&l)).collect();
        let mentioned: BTreeSet<u32> = clause.body.iter().filter(is_static).flat_map(vars).collect();
        let Some(all) = domains.variables(&clause) else {
            continue;
        };
        let Some(alone) = domains.alone(&clause, &fixed) else {
            continue;
        };
        let mut body = clause.body.clone();
        for v in mentioned {
            let (Some(all), Some(alone)) = (all[v as usize].only_constants(), alone[v as usize].only_constants())
            else {
                continue;
            };
            if all.len() == alone.len() || all.len() > LARGEST_SET {
                continue;
            }
            let symbol = match sets.get(all) {
                Some(symbol) => *symbol,
                None => {
                    let symbol = draft.fresh(clause.head.relation, "in");
                    sets.insert(all.to_vec(), symbol);
                    symbol
                }
            };
            body.push(pos(symbol, vec![Term::Var(v)]));
        }
        if body.len() > clause.body.len() {
            draft.clauses[n] = tidy(clause.head, body, &clause.variables, clause.offset);
        }
    }
    let found = !sets.is_empty();
    for (set, relation) in sets {
        for value in set {
            let args = vec![Term::constant(value)];
            draft.clauses.push(tidy(Atom { relation, args }, Vec::new(), &[], 0));
        }
    }
    found
}
