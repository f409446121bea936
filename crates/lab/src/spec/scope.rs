//! What plots, claims and references may name: checked before anything is played.
//!
//! A plot or claim may be about cells that only another size has, so the cells of all sizes count. Where a sweep is
//! left out because a name of `[set]` is empty, its variables are still known, and nothing is said about its cells.

use super::expand::Expander;
use super::problem::SpecProblem;
use super::raw::RawSpec;
use super::{Cell, Claim, PaperValue, Plot, Size, Spec, plain};
use crate::claims::is_partner;
use crate::error::Result;
use crate::summary::CellSummary;
use crate::template::fill;
use std::collections::{BTreeMap, BTreeSet};

/// The cells of all sizes, and the names of all variables.
pub(super) struct Scope {
    cells: Vec<Cell>,
    variables: BTreeSet<String>,
    /// Whether some cells are not known.
    partial: bool,
}

type Wanted = BTreeMap<String, toml::Value>;

impl Scope {
    pub fn new(expander: &Expander<'_>, raw: &RawSpec, spec: &Spec) -> Result<Scope> {
        let mut cells = spec.cells.clone();
        for size in [Size::Quick, Size::Plain, Size::Paper] {
            if size == spec.size {
                continue;
            }
            let mut other = Spec {
                cells: Vec::new(),
                left_out: Vec::new(),
                ..spec.clone()
            };
            for sweep in &raw.sweep {
                expander.sweep(sweep, size, raw.seed, &mut other)?;
            }
            cells.append(&mut other.cells);
        }
        let mut variables: BTreeSet<String> = BTreeSet::new();
        for (name, values) in raw.sweep.iter().flat_map(|sweep| &sweep.get_ref().over) {
            let tables = values
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(toml::Value::as_table);
            variables.extend(tables.flat_map(|several| several.keys().cloned()));
            variables.insert(name.clone());
        }
        variables.extend(cells.iter().flat_map(|cell| &cell.vars).map(|(name, _)| name.clone()));
        Ok(Scope {
            cells,
            variables,
            partial: !spec.left_out.is_empty(),
        })
    }

    /// Checks a plot: its axes, the names in its series, and that there is something to plot.
    pub fn plot(&self, plot: &Plot) -> Result<(), SpecProblem> {
        if !self.variables.contains(&plot.x) && !["completion", "round"].contains(&plot.x.as_str()) {
            let known = CellSummary::knows(&plot.x);
            known.then_some(()).ok_or_else(|| self.not_a_variable(&plot.x, true))?;
        }
        measure(&plot.y)?;
        let cells = self.cells_of("where", &plot.only)?;
        let unfilled = |cell: &&Cell| fill(&plot.series, &cell.vars).err();
        match cells.iter().find_map(unfilled) {
            // A curve may be named after a variable of another sweep.
            Some(_) if cells.iter().any(|cell| unfilled(cell).is_none()) => Ok(()),
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Checks a claim: its measure, and that it is about cells that there are.
    pub fn claim(&self, claim: &Claim) -> Result<(), SpecProblem> {
        measure(&claim.measure)?;
        let of = self.cells_of("of", &claim.of)?;
        let others = [("minus", &claim.minus), ("over", &claim.over)];
        let others = others
            .into_iter()
            .filter_map(|(field, wanted)| Some((field, wanted.as_ref()?)));
        for (field, wanted) in others {
            let among = self.cells_of(field, wanted)?;
            let paired = |cell: &&Cell| among.iter().any(|other| is_partner(cell, other, wanted));
            if !self.partial && !of.iter().any(paired) {
                return Err(SpecProblem::NoPartner { field });
            }
        }
        Ok(())
    }

    /// Checks a number of the paper.
    pub fn reference(&self, reference: &PaperValue) -> Result<(), SpecProblem> {
        measure(&reference.measure)?;
        self.cells_of("where", &reference.only).map(drop)
    }

    /// The cells with these values. None of them may be there if cells are missing.
    fn cells_of(&self, field: &'static str, wanted: &Wanted) -> Result<Vec<&Cell>, SpecProblem> {
        if let Some(name) = wanted.keys().find(|name| !self.variables.contains(*name)) {
            return Err(self.not_a_variable(name, false));
        }
        let cells: Vec<&Cell> = self.cells.iter().filter(|cell| cell.matches(wanted)).collect();
        if cells.is_empty() && !self.partial {
            let wanted: Vec<String> = wanted
                .iter()
                .map(|(name, v)| format!("{name} = {}", plain(v)))
                .collect();
            let wanted = wanted.join(", ");
            return Err(SpecProblem::NoCell { field, wanted });
        }
        Ok(cells)
    }

    fn not_a_variable(&self, name: &str, measures: bool) -> SpecProblem {
        SpecProblem::NotAVariable {
            name: name.to_owned(),
            known: self
                .variables
                .iter()
                .filter(|name| !name.starts_with('_'))
                .cloned()
                .collect(),
            measures,
        }
    }
}

fn measure(name: &str) -> Result<(), SpecProblem> {
    match CellSummary::knows(name) {
        true => Ok(()),
        false => Err(SpecProblem::UnknownMeasure {
            name: name.to_owned(),
            suggestion: game::closest(name, CellSummary::MEASURES.iter().copied()),
        }),
    }
}
