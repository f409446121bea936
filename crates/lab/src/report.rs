//! The report of an experiment: a self-contained HTML page, and the same data as CSV, JSON and SVG.

mod axis;
mod charts;
mod cite;
mod curves;
mod dodge;
mod html;
mod labels;
mod ladder;
mod palette;
mod svg;
mod table;
mod tables;

use crate::claims::{self, CheckedClaim};
use crate::error::Result;
use crate::folder::{Folder, Manifest, Results};
use crate::spec::PaperValue;
use crate::stats::Interval;
use crate::summary::{CellSummary, summarise};
use crate::{Cell, Spec};
use serde_json::{Value, json};
use std::path::PathBuf;
use svg::{Chart, Use};
use table::Table;

/// The script of the page, which sorts tables.
pub const SCRIPT: &str = include_str!("report/page.js");

/// The data of a report.
struct ReportData<'a> {
    spec: &'a Spec,
    manifest: &'a Manifest,
    summaries: Vec<CellSummary<'a>>,
    claims: Vec<CheckedClaim<'a>>,
    charts: Vec<Chart>,
    /// Ratings, if the spec asks for them.
    standings: Vec<ladder::Standing>,
    tables: Vec<Table>,
}

/// A report in one line, for an index of several reports.
pub struct ReportLine {
    /// Name of the experiment.
    pub name: String,
    /// Title of the experiment.
    pub title: String,
    /// Number of matches.
    pub games: usize,
    /// Number of claims that hold, that have too little data, that do not hold.
    pub claims: [usize; 3],
    /// The claims in words, with their verdicts.
    pub said: Vec<(String, claims::ClaimVerdict)>,
}

/// Writes the page, its tables as CSV and LaTeX, its plots as SVG, `report.json` and `cite.bib` into the folder.
///
/// # Errors
/// If it is not the folder of an experiment, or cannot be written.
pub fn write(folder: &Folder) -> Result<(ReportLine, Vec<PathBuf>)> {
    let (_, manifest, spec) = Folder::open(&folder.path)?;
    let (line, files) = files(&spec, &manifest, folder.load()?)?;
    let mut written = Vec::new();
    for (name, text) in files {
        folder.write(&name, text.as_bytes())?;
        written.push(folder.file(&name));
    }
    Ok((line, written))
}

/// The files of a report, by name.
///
/// # Errors
/// If the results are not of this spec.
pub fn files(spec: &Spec, manifest: &Manifest, results: Results) -> Result<(ReportLine, Vec<(String, String)>)> {
    let results = crate::run::kept(spec, results)?;
    let summaries = summarise(spec, &results)?;
    let claims = claims::check(spec, &summaries);
    let plots = spec.plots.iter();
    let charts: Vec<Chart> = plots
        .map(|plot| charts::chart(plot, &summaries, &spec.references))
        .collect();
    let standings = spec.ladder.as_ref();
    let standings = standings.map_or_else(Vec::new, |ladder| ladder::standings(ladder, &summaries, spec.level));
    let mut report = ReportData {
        standings,
        spec,
        manifest,
        summaries,
        claims,
        charts,
        tables: Vec::new(),
    };
    report.tables = tables::all(&report);
    let mut files = vec![
        ("report.html".to_owned(), html::page(&report)),
        ("cells.csv".to_owned(), report.cells_csv()),
        ("report.json".to_owned(), report.json()),
        ("cite.bib".to_owned(), cite::bibtex(spec, manifest)),
    ];
    for table in &report.tables {
        files.push((format!("{}.tex", table.name), table.latex()));
        // The cells have a file of their own, with every measured value.
        if table.name != "cells" {
            files.push((format!("{}.csv", table.name), table.csv()));
        }
    }
    if report.summaries.iter().any(CellSummary::has_beliefs) {
        files.push(("rounds.csv".to_owned(), report.rounds_csv()));
    }
    if let Some(ladder) = &spec.ladder {
        files.push(("ladder.csv".to_owned(), ladder::csv(&report.standings)));
        files.push(("ladder.tex".to_owned(), ladder::latex(ladder, &report.standings)));
        let chart = ladder::chart(ladder, &report.standings);
        files.extend(chart.map(|chart| ("ladder.svg".to_owned(), chart.svg(Use::File))));
    }
    for (number, chart) in report.charts.iter().enumerate() {
        files.push((format!("plot-{}.svg", number + 1), chart.svg(Use::File)));
        files.push((format!("plot-{}.csv", number + 1), chart.csv()));
    }
    Ok((report.line(), files))
}

/// An HTML page with links to the reports of several experiments.
pub fn index(lines: &[ReportLine]) -> String {
    html::index(lines)
}

impl ReportData<'_> {
    fn line(&self) -> ReportLine {
        let count = |verdict| self.claims.iter().filter(|c| c.verdict == verdict).count();
        ReportLine {
            name: self.spec.name.clone(),
            title: self.spec.title.clone(),
            games: self.games(),
            claims: [
                count(claims::ClaimVerdict::Holds),
                count(claims::ClaimVerdict::TooLittleData),
                count(claims::ClaimVerdict::DoesNotHold),
            ],
            said: self.claims.iter().map(|c| (c.claim.says.clone(), c.verdict)).collect(),
        }
    }

    fn games(&self) -> usize {
        let mut keys: Vec<(&str, usize)> = self
            .summaries
            .iter()
            .map(|s| (s.cell.key.as_str(), s.played.len()))
            .collect();
        keys.sort();
        keys.dedup_by_key(|(key, _)| *key);
        keys.iter().map(|(_, n)| n).sum()
    }

    /// The names of all variables, in the order of the cells.
    fn variables(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.summaries.iter().flat_map(|s| &s.cell.vars) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    fn references<'s>(&'s self, cell: &'s Cell) -> impl Iterator<Item = &'s PaperValue> {
        self.spec.references.iter().filter(|r| cell.matches(&r.only))
    }

    /// The name of a role, if the folder knows it.
    fn role(&self, cell: &Cell, role: usize) -> Option<String> {
        self.manifest.roles.get(&cell.game)?.get(role).cloned()
    }

    /// Measured values that get a column.
    fn measures(&self) -> Vec<String> {
        let beliefs = self.summaries.iter().any(CellSummary::has_beliefs);
        let mut names: Vec<String> = match beliefs {
            true => [
                "cost",
                "cost-measured",
                "p-mid",
                "p-end",
                "weighted-p-mid",
                "weighted-p-end",
                "live",
            ]
            .map(String::from)
            .to_vec(),
            false => ["score", "touches", "states"].map(String::from).to_vec(),
        };
        for reference in &self.spec.references {
            if !names.contains(&reference.measure) {
                names.push(reference.measure.clone());
            }
        }
        names.retain(|name| self.summaries.iter().any(|s| s.value(name).is_some()));
        names
    }

    /// All measured values: those with a column, and the payoffs of all players.
    fn all_measures(&self) -> Vec<String> {
        let mut names = self.measures();
        let seats = self.summaries.iter().map(|s| s.cell.players.len()).max().unwrap_or(1);
        if seats > 1 {
            names.extend((1..=seats).map(|player| format!("score-{player}")));
        }
        names
    }

    fn cells_csv(&self) -> String {
        let (variables, measures) = (self.variables(), self.all_measures());
        let mut header: Vec<String> = ["cell", "game", "players", "focus", "swap", "seed", "games", "complete"]
            .map(String::from)
            .to_vec();
        header.extend(variables.iter().map(|v| format!("var {v}")));
        for measure in &measures {
            header.extend(["", " low", " high", " n", " method", " paper"].map(|s| format!("{measure}{s}")));
        }
        let seats = self.summaries.iter().map(|s| s.by_seat().len()).max().unwrap_or(0);
        for seat in 1..=seats {
            header.extend(["", " low", " high", " n"].map(|s| format!("score in seat {seat}{s}")));
        }
        header.extend([
            "paper states".to_owned(),
            "replaced moves".to_owned(),
            "given up".to_owned(),
        ]);
        let mut out = row(&header);
        for summary in &self.summaries {
            let cell = summary.cell;
            let mut fields = vec![
                cell.key.clone(),
                cell.game.clone(),
                cell.players.join(" | "),
                (cell.focus + 1).to_string(),
                cell.swap.to_string(),
                cell.seed.to_string(),
                summary.played.len().to_string(),
                summary.complete.to_string(),
            ];
            fields.extend(variables.iter().map(|v| cell.var(v).unwrap_or_default().to_owned()));
            for measure in &measures {
                let value = summary.value(measure);
                let show = |pick: fn(&Interval) -> f64| value.as_ref().map(|v| pick(v).to_string()).unwrap_or_default();
                fields.extend([show(|v| v.mean), show(|v| v.low), show(|v| v.high)]);
                fields.push(value.map(|v| v.n.to_string()).unwrap_or_default());
                fields.push(value.map(|v| v.method.to_owned()).unwrap_or_default());
                let paper = self
                    .references(cell)
                    .find(|r| r.measure == *measure)
                    .and_then(|r| r.value);
                fields.push(paper.map(|v| v.to_string()).unwrap_or_default());
            }
            let in_seats = summary.by_seat();
            for seat in 0..seats {
                let value = in_seats.get(seat).map(|(_, value)| value);
                let show = |pick: fn(&Interval) -> f64| value.map(|v| pick(v).to_string()).unwrap_or_default();
                fields.extend([show(|v| v.mean), show(|v| v.low), show(|v| v.high)]);
                fields.push(value.map(|v| v.n.to_string()).unwrap_or_default());
            }
            let states = self.references(cell).find_map(|r| r.states);
            fields.push(states.map(|v| v.to_string()).unwrap_or_default());
            fields.extend([summary.illegal().to_string(), summary.given_up().to_string()]);
            out += &row(&fields);
        }
        out
    }

    fn rounds_csv(&self) -> String {
        let header = [
            "cell",
            "game",
            "round",
            "games",
            "completion",
            "valid",
            "valid history",
            "touches a model",
            "random cost",
            "random cost measured",
            "live",
            "histories bound",
            "p q1",
            "p median",
            "p q3",
            "p tested",
            "weighted p median",
            "weighted p tested",
        ];
        let mut out = row(&header.map(String::from));
        for summary in &self.summaries {
            for r in &summary.rounds {
                let number = |v: f64| if v.is_finite() { v.to_string() } else { String::new() };
                out += &row(&[
                    summary.cell.key.clone(),
                    summary.cell.game.clone(),
                    r.round.to_string(),
                    r.games.to_string(),
                    number(r.completion),
                    number(r.valid),
                    number(r.valid_history),
                    number(r.touches),
                    number(r.random),
                    r.random_measured.map(number).unwrap_or_default(),
                    number(r.live),
                    number(r.histories),
                    number(crate::stats::quantile(&r.p, 0.25)),
                    number(crate::stats::quantile(&r.p, 0.5)),
                    number(crate::stats::quantile(&r.p, 0.75)),
                    r.p.len().to_string(),
                    number(crate::stats::quantile(&r.p_weighted, 0.5)),
                    r.p_weighted.len().to_string(),
                ]);
            }
        }
        out
    }

    fn json(&self) -> String {
        let measures = self.all_measures();
        let cell = |summary: &CellSummary<'_>| {
            let vars: serde_json::Map<String, Value> =
                summary.cell.vars.iter().map(|(n, v)| (n.clone(), json!(v))).collect();
            let values: serde_json::Map<String, Value> = measures
                .iter()
                .filter_map(|m| Some((m.clone(), interval_json(&summary.value(m)?))))
                .collect();
            let paper: Vec<Value> = self
                .references(summary.cell)
                .map(
                    |r| json!({"measure": r.measure, "value": r.value, "pm": r.pm, "states": r.states, "says": r.says}),
                )
                .collect();
            let seats: Vec<Value> = summary
                .by_seat()
                .iter()
                .map(|(role, value)| json!({"role": self.role(summary.cell, *role), "score": interval_json(value)}))
                .collect();
            let cell = summary.cell;
            json!({
                "cell": cell.key, "game": cell.game, "players": cell.players, "focus": cell.focus + 1,
                "swap": cell.swap, "seed": cell.seed, "variables": vars, "games": summary.played.len(),
                "complete": summary.complete, "values": values, "seats": seats, "paper": paper,
                "repeatable": cell.is_repeatable(), "replaced": summary.illegal(),
            })
        };
        let claim = |checked: &CheckedClaim<'_>| {
            let claim = checked.claim;
            json!({
                "says": claim.says, "measure": claim.measure, "above": claim.above, "below": claim.below,
                "margin": claim.margin,
                "verdict": checked.verdict.to_string(),
                "parts": checked.parts.iter().map(part_json).collect::<Vec<_>>(),
            })
        };
        let mut whole = json!({
            "name": self.spec.name, "title": self.spec.title, "paper": self.spec.paper, "size": self.manifest.size,
            "command": self.manifest.command, "version": self.manifest.version, "level": self.spec.level,
            "cells": self.summaries.iter().map(cell).collect::<Vec<_>>(),
            "claims": self.claims.iter().map(claim).collect::<Vec<_>>(),
            "left_out": self.spec.left_out, "made": self.manifest.provenance,
        });
        if self.spec.ladder.is_some() {
            whole["ladder"] = ladder::as_json(&self.standings);
        }
        serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
    }
}

fn part_json((label, value, verdict): &(String, Interval, claims::ClaimVerdict)) -> Value {
    json!({"of": label, "value": interval_json(value), "verdict": verdict.to_string()})
}

fn interval_json(value: &Interval) -> Value {
    let finite = |v: f64| if v.is_finite() { json!(v) } else { Value::Null };
    json!({
        "mean": finite(value.mean), "low": finite(value.low), "high": finite(value.high),
        "n": value.n, "method": value.method,
    })
}

/// A line of CSV (RFC 4180).
fn row(fields: &[String]) -> String {
    let quoted = |field: &String| match field.contains([',', '"', '\n']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.clone(),
    };
    fields.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n"
}
