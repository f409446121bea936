//! From plots and results to charts: curves, the paper's numbers beside them, and labels.

use super::labels::measure_label;
use super::svg::{Chart, Point, Series};
use crate::spec::{PaperValue, Plot};
use crate::stats::{self, Interval};
use crate::summary::{CellSummary, RoundSummary};
use crate::template::fill;
use crate::unit::FinishedMatch;

/// A plot of the results.
pub(super) fn chart(plot: &Plot, summaries: &[CellSummary<'_>], references: &[PaperValue]) -> Chart {
    let plotted: Vec<&CellSummary<'_>> = summaries.iter().filter(|s| s.cell.matches(&plot.only)).collect();
    let categories = categories(plot, &plotted);
    let mut series: Vec<Series> = Vec::new();
    for summary in &plotted {
        let name = fill(&plot.series, &summary.cell.vars).unwrap_or_else(|_| plot.series.clone());
        let points = points(plot, summary, &categories);
        let paper = paper_points(plot, summary, references, &categories);
        let mut add = |name: String, points: Vec<Point>, paper: bool| match series.iter_mut().find(|s| s.name == name) {
            Some(known) => known.points.extend(points),
            None => series.push(Series {
                name,
                points,
                colour: 0,
                paper,
            }),
        };
        add(name.clone(), points, false);
        if !paper.is_empty() {
            add(format!("{name} (paper)"), paper, true);
        }
    }
    series.retain(|s| !s.points.is_empty());
    for series in &mut series {
        series.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        series.points.dedup_by(|a, b| a == b);
    }
    // The paper's curves come last, in the colours of ours.
    series.sort_by_key(|s| s.paper);
    let ours: Vec<String> = series.iter().filter(|s| !s.paper).map(|s| s.name.clone()).collect();
    for (number, series) in series.iter_mut().enumerate() {
        let name = series.name.trim_end_matches(" (paper)");
        let found = ours.iter().position(|other| series.paper && other == name);
        series.colour = found.unwrap_or(number);
    }
    let label = |given: &str, name: &str| match given.is_empty() {
        true => measure_label(name),
        false => given.to_owned(),
    };
    Chart {
        title: plot.title.clone(),
        x_label: label(&plot.x_label, &plot.x),
        y_label: label(&plot.y_label, &plot.y),
        log_x: plot.log_x && categories.is_empty(),
        log_y: plot.log_y,
        percent: plot.y.starts_with("score") || plot.y.split('@').next() == Some("live"),
        dodge: is_variable(plot, &plotted) || ["completion", "round"].contains(&plot.x.as_str()),
        lines: plot.lines.iter().map(|(label, at)| (label.clone(), *at)).collect(),
        categories,
        series,
    }
}

fn is_variable(plot: &Plot, plotted: &[&CellSummary<'_>]) -> bool {
    plotted.iter().any(|s| s.cell.var(&plot.x).is_some())
}

/// The values of the x axis where they are words, in the order of the cells; empty where all are numbers.
fn categories(plot: &Plot, plotted: &[&CellSummary<'_>]) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for value in plotted.iter().filter_map(|s| s.cell.var(&plot.x)) {
        if !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    }
    match values
        .iter()
        .all(|value| value.parse::<f64>().is_ok_and(f64::is_finite))
    {
        true => Vec::new(),
        false => values,
    }
}

/// Place on the x axis: a number, or the number of a category.
fn place(text: &str, categories: &[String]) -> Option<f64> {
    match categories.is_empty() {
        true => text.parse().ok(),
        false => categories.iter().position(|c| c == text).map(|at| at as f64),
    }
}

/// The paper's numbers for a cell. Where x is measured, the paper's own count of states is the place; where x is the
/// round, numbers of a round (`live@16`) are drawn there.
fn paper_points(
    plot: &Plot,
    summary: &CellSummary<'_>,
    references: &[PaperValue],
    categories: &[String],
) -> Vec<Point> {
    let mut points = Vec::new();
    for reference in references.iter().filter(|r| summary.cell.matches(&r.only)) {
        let (measure, round) = match reference.measure.split_once('@') {
            Some((measure, round)) if plot.x == "round" => (measure, round.parse().ok()),
            _ => (&reference.measure[..], None),
        };
        if measure != plot.y {
            continue;
        }
        let x = match summary.cell.var(&plot.x) {
            Some(text) => place(text, categories),
            None if ["touches", "states"].contains(&plot.x.as_str()) => reference.states,
            None => round,
        };
        if let (Some(x), Some(y)) = (x, reference.value) {
            let pm = reference.pm.unwrap_or(0.0);
            points.push(Point {
                y_low: y - pm,
                y_high: y + pm,
                ..Point::bare(x, y)
            });
        }
    }
    points
}

/// Least share of matches that must reach a round for the round to be drawn.
const DRAWN: f64 = 0.25;

fn points(plot: &Plot, summary: &CellSummary<'_>, categories: &[String]) -> Vec<Point> {
    let by_round = |x: fn(&RoundSummary) -> f64| {
        let reached = |r: &&RoundSummary| r.games as f64 >= DRAWN * summary.played.len() as f64;
        let of = |r: &RoundSummary| {
            let y = at_round(&plot.y, r, summary)?;
            let bounded = |v: f64| if v.is_finite() { v } else { y.mean };
            y.mean.is_finite().then(|| Point {
                y_low: bounded(y.low),
                y_high: bounded(y.high),
                ..Point::bare(x(r), y.mean)
            })
        };
        summary.rounds.iter().filter(reached).filter_map(of).collect()
    };
    match plot.x.as_str() {
        "completion" => return by_round(|r| r.completion),
        "round" => return by_round(|r| r.round as f64),
        _ => {}
    }
    let x = match summary.cell.var(&plot.x) {
        Some(text) => place(text, categories).map(|x| (x, x, x)),
        None => summary.value(&plot.x).map(|v| (v.mean, v.low, v.high)),
    };
    match (x, summary.value(&plot.y)) {
        (Some((x, x_low, x_high)), Some(y)) => vec![Point {
            x,
            x_low,
            x_high,
            y: y.mean,
            y_low: y.low,
            y_high: y.high,
        }],
        _ => Vec::new(),
    }
}

/// A value of a round with its interval.
fn at_round(name: &str, r: &RoundSummary, summary: &CellSummary<'_>) -> Option<Interval> {
    let reports = || {
        summary
            .played
            .iter()
            .filter_map(|p: &FinishedMatch| p.beliefs.get(r.round - 1))
    };
    // Touches of a model are a ratio of sums; the cost of random sampling is taken as known.
    let cost = |random: f64| {
        let pairs: Vec<(f64, f64)> = reports().map(|b| (b.touches as f64, b.live as f64)).collect();
        let ratio = stats::ratio(&pairs, summary.level);
        scaled(&ratio, 100.0 / random)
    };
    Some(match name {
        "cost" => cost(r.random),
        "cost-measured" => cost(r.random_measured?),
        "live" => {
            let shares: Vec<f64> = reports().map(|b| 100.0 * b.live as f64 / b.models as f64).collect();
            stats::student(&shares, summary.level).within(0.0, 100.0)
        }
        "valid" => Interval {
            mean: 100.0 * r.valid_history,
            low: 100.0 * r.valid_history,
            high: 100.0 * r.valid_history,
            n: r.games,
            method: "pooled",
        },
        _ => stats::median(&r.p, summary.level),
    })
}

fn scaled(value: &Interval, by: f64) -> Interval {
    Interval {
        mean: value.mean * by,
        low: value.low * by,
        high: value.high * by,
        ..*value
    }
}
