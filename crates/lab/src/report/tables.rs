//! The tables of a report.

use super::ReportData;
use super::html::{interval, number, thousands};
use super::labels::measure_heading;
use super::table::{Field, Table};
use crate::claims::label;
use crate::spec::PaperValue;
use crate::stats::Interval;
use crate::summary::CellSummary;

/// All tables that have something to say, in the order of the page.
pub(super) fn all(report: &ReportData<'_>) -> Vec<Table> {
    let tables = [
        cells(report),
        seats(report),
        claims(report),
        configurations(report),
        players(report),
    ];
    tables.into_iter().filter(|table| !table.is_empty()).collect()
}

fn text_or_number(text: &str) -> Field {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Field::number(text, value),
        _ => Field::text(text),
    }
}

/// Measured values that count work.
const WORK: [&str; 2] = ["touches", "states"];

fn measured(value: Option<Interval>, measure: &str) -> Field {
    match value {
        // Programs and players elsewhere do not say what they computed.
        Some(value) if WORK.contains(&measure) && value.mean == 0.0 => Field::text("–"),
        None => Field::text("–"),
        Some(value) => {
            let (mean, range) = interval(&value, measure);
            Field::number(mean, value.mean).with(range)
        }
    }
}

fn cells(report: &ReportData<'_>) -> Table {
    let (variables, measures) = (report.variables(), report.measures());
    let shown: Vec<&&str> = variables.iter().filter(|v| !v.starts_with('_')).collect();
    let has_paper = |m: &String| {
        let cells = report.summaries.iter();
        cells.flat_map(|s| report.references(s.cell)).any(|r| r.measure == *m)
    };
    let paper_states = report.spec.references.iter().any(|r| r.states.is_some());
    let mut columns: Vec<(String, bool)> = vec![("#".to_owned(), true)];
    columns.extend(shown.iter().map(|name| ((**name).to_owned(), false)));
    columns.push(("games".to_owned(), true));
    for measure in &measures {
        columns.push((measure_heading(measure), true));
        if has_paper(measure) {
            columns.push(("paper".to_owned(), true));
        }
    }
    if paper_states {
        columns.push(("paper's states".to_owned(), true));
    }
    let row = |(at, summary): (usize, &CellSummary<'_>)| {
        let mut row = vec![Field::number((at + 1).to_string(), (at + 1) as f64)];
        row.extend(
            shown
                .iter()
                .map(|name| text_or_number(summary.cell.var(name).unwrap_or_default())),
        );
        let games = summary.played.len();
        let open = if summary.complete { "" } else { "unfinished" };
        row.push(Field::number(thousands(games as f64), games as f64).with(open));
        for measure in &measures {
            row.push(measured(summary.value(measure), measure));
            if has_paper(measure) {
                let found = report.references(summary.cell).find(|r| r.measure == *measure);
                row.push(found.map(reference).unwrap_or_default());
            }
        }
        if paper_states {
            let states = report.references(summary.cell).find_map(|r| r.states);
            row.push(states.map_or_else(Field::default, |v| Field::number(thousands(v), v)));
        }
        row
    };
    Table {
        name: "cells",
        title: "Cells".to_owned(),
        columns,
        rows: report.summaries.iter().enumerate().map(row).collect(),
        remark: "Touches are nodes of the game tree visited in a game, cache hits included (the papers' measure); \
                 states are successors computed. Win rates have Wilson's interval, other means Student's, medians one \
                 from order statistics. Differences are of matches in pairs where seeds are common.",
        open: true,
    }
}

/// The payoff of the focused player in each seat, for cells in which players change seats.
fn seats(report: &ReportData<'_>) -> Table {
    let swapped: Vec<(&CellSummary<'_>, Vec<(usize, Interval)>)> = report
        .summaries
        .iter()
        .map(|s| (s, s.by_seat()))
        .filter(|(_, seats)| !seats.is_empty())
        .collect();
    let most = swapped.iter().map(|(_, seats)| seats.len()).max().unwrap_or(0);
    let heads = ["cell", "player"].map(|head| (head.to_owned(), false));
    let mut columns: Vec<(String, bool)> = heads.into_iter().chain([("all seats".to_owned(), true)]).collect();
    columns.extend((1..=most).map(|seat| (format!("seat {seat}"), true)));
    let row = |(summary, seats): &(&CellSummary<'_>, Vec<(usize, Interval)>)| {
        let cell = summary.cell;
        let mut row = vec![
            Field::text(label(cell)),
            Field::code(&cell.players[cell.focus]),
            measured(Some(summary.score(cell.focus)), "score"),
        ];
        for (role, value) in seats {
            let name = report.role(cell, *role).unwrap_or_default();
            let field = measured(Some(*value), "score");
            let more = format!("{}, as {name}", field.more);
            row.push(field.with(more));
        }
        row
    };
    Table {
        name: "seats",
        title: "By seat".to_owned(),
        rows: swapped.iter().map(row).collect(),
        columns,
        remark: "The same matches by the player's seat. For all seats together, a round of seats is one observation.",
        open: true,
    }
}

/// Every quantity of every claim. The page shows them beside the claims.
fn claims(report: &ReportData<'_>) -> Table {
    let mut rows = Vec::new();
    for checked in &report.claims {
        for (of, value, verdict) in &checked.parts {
            let field = measured(Some(*value), &checked.claim.measure);
            rows.push(vec![
                Field::text(&checked.claim.says),
                Field::text(of),
                field,
                Field::text(value.method),
                Field::text(verdict.to_string()),
            ]);
        }
    }
    let heads = [
        ("claim", false),
        ("of", false),
        ("measured", true),
        ("interval", false),
        ("verdict", false),
    ];
    Table {
        name: "claims",
        title: "Claims, part by part".to_owned(),
        columns: heads.map(|(head, number)| (head.to_owned(), number)).to_vec(),
        rows,
        remark: "",
        open: false,
    }
}

/// Game and players of each cell.
fn configurations(report: &ReportData<'_>) -> Table {
    let row = |(at, summary): (usize, &CellSummary<'_>)| {
        let cell = summary.cell;
        let mut more: Vec<String> = Vec::new();
        if cell.swap {
            more.push("seats swapped".to_owned());
        }
        if cell.players.len() > 1 {
            more.push(format!("reported: player {}", cell.focus + 1));
        }
        if !cell.is_repeatable() {
            more.push("not repeatable".to_owned());
        }
        vec![
            Field::number((at + 1).to_string(), (at + 1) as f64),
            Field::text(label(cell)),
            Field::code(&cell.game),
            Field::code(cell.players.join(" | ")).with(more.join(", ")),
            Field::code(&cell.key),
        ]
    };
    let heads = [
        ("#", true),
        ("cell", false),
        ("game", false),
        ("players", false),
        ("key", false),
    ];
    Table {
        name: "configurations",
        title: "Game and players of each cell".to_owned(),
        columns: heads.map(|(head, number)| (head.to_owned(), number)).to_vec(),
        rows: report.summaries.iter().enumerate().map(row).collect(),
        remark: "",
        open: false,
    }
}

/// Every option of every player.
fn players(report: &ReportData<'_>) -> Table {
    let row = |(player, options): (&String, &Vec<(String, String)>)| {
        let options: Vec<String> = options
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        vec![Field::code(player), Field::text(options.join("; "))]
    };
    Table {
        name: "players",
        title: "Players and all their options".to_owned(),
        columns: ["player", "options, defaults included"]
            .map(|head| (head.to_owned(), false))
            .to_vec(),
        rows: report.manifest.players.iter().map(row).collect(),
        remark: "",
        open: false,
    }
}

fn reference(reference: &PaperValue) -> Field {
    let mut text = reference.value.map(|v| number(v, v.abs())).unwrap_or_default();
    if let Some(pm) = reference.pm {
        text += &format!(" ± {pm}");
    }
    Field {
        text,
        more: reference.says.clone().unwrap_or_default(),
        sort: reference.value,
        code: false,
    }
}
