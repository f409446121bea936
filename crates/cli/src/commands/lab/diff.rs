//! `surmise lab diff`: two folders of results, cell by cell.

use crate::commands::JSON_VERSION;
use crate::output;
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use surmise::column_width;
use surmise::lab::diff::{CellDifference, Comparison, compare};
use surmise::lab::folder::{Folder, Results};
use surmise::lab::run::kept;
use surmise::lab::stats::Interval;
use surmise::lab::summary::{CellSummary, summarise};
use surmise::lab::{Spec, provenance};

/// Compare the results of two folders, cell by cell, with significance
///
/// Cells are the same if game, players and variables are. Matches with the same seeds are compared in pairs, others by
/// Welch's test. p is adjusted for the number of cells (Holm), and `*` marks differences that are significant at the
/// level of the first folder's spec.
#[derive(clap::Args)]
pub struct DiffArgs {
    /// Folder of the results before
    #[arg(value_name = "A")]
    before: PathBuf,
    /// Folder of the results after
    #[arg(value_name = "B")]
    after: PathBuf,
    /// Measured value to compare
    #[arg(long, default_value = "score", value_name = "NAME")]
    measure: String,
    /// One JSON object instead of a table
    #[arg(long)]
    json: bool,
}

struct Opened {
    spec: Spec,
    results: Results,
    made: String,
}

fn open(path: &Path) -> Result<Opened> {
    let (folder, manifest, spec) = Folder::open(path)?;
    let results = kept(&spec, folder.load()?)?;
    let day = match manifest.provenance.finished {
        0 => String::new(),
        finished => format!(", {}", provenance::date(finished)),
    };
    let commit = match manifest.provenance.commit.as_str() {
        "" => String::new(),
        commit => format!(" ({commit})"),
    };
    let made = format!(
        "{} at {}, surmise {}{commit}{day}",
        manifest.name, manifest.size, manifest.version
    );
    Ok(Opened { spec, results, made })
}

pub fn diff(args: &DiffArgs) -> Result<ExitCode> {
    if !CellSummary::knows(&args.measure) {
        bail!(
            "nothing called `{}` is measured; --measure takes {}",
            args.measure,
            CellSummary::MEASURES.join(", ")
        );
    }
    let (before, after) = (open(&args.before)?, open(&args.after)?);
    let level = before.spec.level;
    let compared = compare(
        &summarise(&before.spec, &before.results)?,
        &summarise(&after.spec, &after.results)?,
        &args.measure,
        level,
    );
    if args.json {
        let cells: Vec<Value> = compared.cells.iter().map(|cell| cell_json(cell, level)).collect();
        output::json(&json!({
            "version": JSON_VERSION, "measure": args.measure, "level": level, "cells": cells,
            "only_before": compared.only_before, "only_after": compared.only_after,
        }));
    } else {
        output::print(&format!("A: {}\nB: {}\n", before.made, after.made));
        output::print(&text(&compared, &args.measure, level));
    }
    if compared.cells.is_empty() {
        bail!("the folders have no cell in common");
    }
    Ok(ExitCode::SUCCESS)
}

fn cell_json(cell: &CellDifference, level: f64) -> Value {
    let interval = |value: &Interval| {
        let finite = |v: f64| if v.is_finite() { json!(v) } else { Value::Null };
        json!({
            "mean": finite(value.mean), "low": finite(value.low), "high": finite(value.high), "n": value.n,
            "method": value.method,
        })
    };
    json!({
        "cell": cell.label, "game": cell.game, "players": cell.players, "before": interval(&cell.before),
        "after": interval(&cell.after), "difference": interval(&cell.difference), "p": cell.p,
        "p_adjusted": cell.adjusted, "significant": cell.is_significant(level),
    })
}

fn text(compared: &Comparison, measure: &str, level: f64) -> String {
    let mut out = String::new();
    let width = column_width(compared.cells.iter().map(|c| c.label.as_str())).max(4);
    let percent = 100.0 * level;
    let _ = writeln!(
        out,
        "{:width$}  {:>9}  {:>9}  {:>9}  {:>21}  {:>8}",
        "cell",
        format!("{measure} A"),
        "B",
        "B - A",
        format!("{percent} % interval"),
        "p (Holm)"
    );
    for cell in &compared.cells {
        let p = match cell.adjusted {
            None => "-".to_owned(),
            Some(p) if p < 0.0001 => "< 0.0001".to_owned(),
            Some(p) => format!("{p:.4}"),
        };
        let d = &cell.difference;
        let _ = writeln!(
            out,
            "{:width$}  {:>9.2}  {:>9.2}  {:>+9.2}  {:>+9.2} ..{:>+9.2}  {:>8}{}",
            cell.label,
            cell.before.mean,
            cell.after.mean,
            d.mean,
            d.low,
            d.high,
            p,
            if cell.is_significant(level) { " *" } else { "" }
        );
    }
    let significant = compared.cells.iter().filter(|cell| cell.is_significant(level)).count();
    let _ = writeln!(
        out,
        "{significant} of {} differences are significant (*)",
        compared.cells.len()
    );
    for (folder, labels) in [("A", &compared.only_before), ("B", &compared.only_after)] {
        if !labels.is_empty() {
            let _ = writeln!(out, "{} cells are only in {folder}", labels.len());
        }
    }
    out
}
