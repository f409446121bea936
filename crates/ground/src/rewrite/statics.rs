//! The rows of small static relations, as constants.

use super::program::{Draft, Rel, relation_of};
use crate::reference::{EvaluationLimits, Machine};
use crate::theory::Theory;
use game::StopFlag;
use gdl::{Rules, Symbol};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Steps for the evaluation of one relation.
const STEPS: u64 = 200_000;
/// Rows of one relation, beyond which it is left out.
const MOST_ROWS: usize = 4_096;

/// Rows by relation. A relation that is missing is too large, not static, or has rows that are not constants.
#[derive(Default)]
pub(super) struct Statics {
    /// Flag that ends the analysis of the rules.
    pub stop: StopFlag,
    rows: FxHashMap<Rel, Vec<Vec<Symbol>>>,
}

impl Statics {
    pub fn new(rules: &Rules, stop: &StopFlag) -> Statics {
        let draft = Draft::new(rules);
        let theory = Theory::new(rules);
        let mut statics = Statics {
            stop: stop.clone(),
            ..Statics::default()
        };
        if theory.unfit_relation().is_some() {
            return statics;
        }
        let changing = draft.changing();
        let used: BTreeSet<Rel> = rules
            .clauses
            .iter()
            .flat_map(|c| c.body.iter().filter_map(relation_of))
            .filter(|r| r.1 > 0 && !changing.contains(r))
            .collect();
        let ids: Vec<_> = used.iter().map(|&r| (r, theory.find(r.0, r.1))).collect();
        let limits = EvaluationLimits {
            steps: STEPS,
            ..EvaluationLimits::default()
        };
        let mut machine = Machine::new(Arc::new(theory), limits);
        machine.stop = stop.clone();
        for (relation, id) in ids {
            let Some(rows) = id.and_then(|id| machine.rows(id, &vec![None; relation.1]).ok()) else {
                continue;
            };
            let terms = &machine.terms;
            let row = |row: &Vec<_>| -> Option<Vec<Symbol>> {
                row.iter()
                    .map(|&t| terms.args(t).is_empty().then(|| terms.symbol(t)))
                    .collect()
            };
            if rows.len() <= MOST_ROWS
                && let Some(mut rows) = rows.iter().map(row).collect::<Option<Vec<Vec<Symbol>>>>()
            {
                rows.sort_unstable();
                statics.rows.insert(relation, rows);
            }
        }
        statics
    }

    /// The rows of a relation.
    pub fn rows(&self, relation: Rel) -> Option<&[Vec<Symbol>]> {
        self.rows.get(&relation).map(Vec::as_slice)
    }
}
