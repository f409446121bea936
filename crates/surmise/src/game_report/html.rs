//! The report as an HTML page that loads nothing: tables, and drawings of what is hidden over time.

use super::text::{estimate, share};
use super::{GameReport, RoleHidden, SeatResult};
use gdl::Information;
use lab::stats::Interval;
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");

/// Colours of the roles in drawings.
const COLOURS: [&str; 6] = ["#3b6fb6", "#c0562f", "#3a8a54", "#8a5aa8", "#a8862a", "#4a9aa0"];

/// The report as an HTML page.
pub(super) fn page(report: &GameReport) -> String {
    let mut body = String::new();
    let hides = match report.information {
        Information::Open => "nothing is hidden",
        Information::Hidden => "hidden information",
    };
    let _ = write!(
        body,
        "<h1>{}</h1><p>Roles: {}; {hides}. Seed {}, intervals at the {} % level.</p>",
        escape(&report.game),
        escape(&report.roles.join(", ")),
        report.seed,
        100.0 * report.level
    );
    if !report.unfinished.is_empty() {
        let _ = write!(
            body,
            "<p class=\"warning\">Stopped early: {} not complete.</p>",
            report.unfinished.join(", ")
        );
    }
    play(&mut body, report);
    value(&mut body, report);
    choice(&mut body, report);
    hidden(&mut body, report);
    tells(&mut body, report);
    grounding(&mut body, report);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{} · Surmise</title>\
         <style>{STYLE}</style></head><body><main>{body}</main></body></html>\n",
        escape(&report.game)
    )
}

fn escape(text: &str) -> String {
    referee::escape(text)
}

/// A table: its head, and rows of cells.
fn table(out: &mut String, head: &[&str], rows: &[Vec<String>]) {
    *out += "<div class=\"wide\"><table><thead><tr>";
    for title in head {
        let _ = write!(out, "<th>{}</th>", escape(title));
    }
    *out += "</tr></thead><tbody>";
    for row in rows {
        *out += "<tr>";
        for cell in row {
            let _ = write!(out, "<td>{}</td>", escape(cell));
        }
        *out += "</tr>";
    }
    *out += "</tbody></table></div>";
}

fn play(out: &mut String, report: &GameReport) {
    let random = &report.random;
    *out += "<h2>Length and balance</h2>";
    let mut rows = Vec::new();
    let mut add = |name: String, n: u64, lengths: &super::Lengths, seats: &[SeatResult], draws: Option<&Interval>| {
        for (at, seat) in seats.iter().enumerate() {
            let first = |text: String| if at == 0 { text } else { String::new() };
            rows.push(vec![
                first(name.clone()),
                first(n.to_string()),
                first(estimate(&lengths.mean, 1)),
                first(format!("{}–{}", lengths.shortest, lengths.longest)),
                seat.role.clone(),
                estimate(&seat.payoff, 1),
                share(&seat.ahead),
                first(draws.map_or("-".to_owned(), share)),
            ]);
        }
    };
    if random.ended > 0 {
        add(
            "random".to_owned(),
            random.ended,
            &random.lengths,
            &random.seats,
            random.draws.as_ref(),
        );
    }
    if let Ok(good) = &report.good {
        add(
            good.player.clone(),
            good.matches,
            &good.lengths,
            &good.seats,
            good.draws.as_ref(),
        );
    }
    let head = [
        "play",
        "games",
        "rounds",
        "range",
        "seat",
        "payoff",
        "ahead of all others",
        "draws",
    ];
    table(out, &head, &rows);
    if let Err(why) = &report.good {
        let _ = write!(out, "<p>Good play was not tried: {}.</p>", escape(why));
    }
    let _ = write!(
        out,
        "<p>Dead ends: in {} of {} random games a role had no legal move{}. Given up as too long: {}.</p>",
        random.dead_ends,
        random.games,
        random
            .dead_end
            .as_ref()
            .map_or(String::new(), |first| format!(" ({})", escape(first))),
        random.too_long
    );
}

fn value(out: &mut String, report: &GameReport) {
    *out += "<h2>Value</h2>";
    match &report.value {
        Err(why) => {
            let _ = write!(out, "<p>Not known: {}.</p>", escape(why));
        }
        Ok(values) => {
            let row = |v: &super::RoleValue| match v.high - v.low < 1e-3 {
                true => vec![v.role.clone(), format!("{:.4}", v.low)],
                false => vec![v.role.clone(), format!("{:.4} to {:.4}", v.low, v.high)],
            };
            table(
                out,
                &["role", "value under best play"],
                &values.iter().map(row).collect::<Vec<_>>(),
            );
        }
    }
}

fn choice(out: &mut String, report: &GameReport) {
    *out += "<h2>Choice</h2>";
    let row = |b: &super::Branching| {
        vec![
            b.role.clone(),
            estimate(&b.moves, 1),
            format!("{:.0} %", 100.0 * b.share),
            b.most.to_string(),
            b.choices.to_string(),
        ]
    };
    let rows: Vec<_> = report.random.branching.iter().map(row).collect();
    let head = [
        "role",
        "legal moves where there is a choice",
        "states with a choice",
        "most",
        "n",
    ];
    table(out, &head, &rows);
}

fn hidden(out: &mut String, report: &GameReport) {
    *out += "<h2>Hidden over time</h2>";
    if report.hidden.iter().all(|role| role.rounds.is_empty()) {
        *out += match report.information {
            Information::Open => "<p>Nothing: every role can follow the state.</p>",
            Information::Hidden => "<p>Not measured.</p>",
        };
        return;
    }
    *out += "<p>Entropy of each role's belief over states after so many rounds of random play, in bits, with its \
             interval.</p>";
    let _ = write!(out, "<figure>{}</figure>", chart(&report.hidden));
    let mut rows = Vec::new();
    for role in &report.hidden {
        for round in &role.rounds {
            rows.push(vec![
                role.role.clone(),
                round.round.to_string(),
                estimate(&round.bits, 2),
                estimate(&round.states, 1),
                format!("{:.0} %", 100.0 * round.exact),
                round.bits.n.to_string(),
            ]);
        }
    }
    *out += "<details><summary>Table</summary>";
    let head = [
        "role",
        "rounds played",
        "bits",
        "states held possible",
        "exact beliefs",
        "n",
    ];
    table(out, &head, &rows);
    *out += "</details>";
}

/// Entropy by round, one line a role.
fn chart(roles: &[RoleHidden]) -> String {
    let (width, height, left, bottom) = (640.0, 260.0, 44.0, 34.0);
    let rounds = roles.iter().map(|r| r.rounds.len()).max().unwrap_or(1).max(2) - 1;
    let finite = |v: f64| if v.is_finite() { v } else { 0.0 };
    let tops = roles.iter().flat_map(|role| &role.rounds);
    let top = tops
        .map(|r| finite(r.bits.high).max(finite(r.bits.mean)))
        .fold(1.0, f64::max)
        .ceil();
    let x = |round: usize| left + (width - left - 12.0) * round as f64 / rounds as f64;
    let y = |bits: f64| 12.0 + (height - bottom - 12.0) * (1.0 - bits / top);
    let mut svg = format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"Entropy by round\">");
    let step = (top / 5.0).ceil().max(1.0);
    let mut tick = 0.0;
    while tick <= top {
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{left}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>",
            width - 12.0,
            left - 6.0,
            y(tick) + 4.0,
            y = y(tick),
        );
        tick += step;
    }
    let every = rounds.div_ceil(10).max(1);
    for round in (0..=rounds).step_by(every) {
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{round}</text>",
            x(round),
            height - bottom + 16.0
        );
    }
    for (at, role) in roles.iter().enumerate() {
        let colour = COLOURS[at % COLOURS.len()];
        let mut points = String::new();
        for round in &role.rounds {
            let _ = write!(points, "{:.1},{:.1} ", x(round.round), y(finite(round.bits.mean)));
            if round.bits.low.is_finite() && round.bits.high > round.bits.low {
                let _ = write!(
                    svg,
                    "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" opacity=\"0.5\"/>",
                    y(round.bits.low),
                    y(round.bits.high),
                    x = x(round.round),
                );
            }
        }
        let _ = write!(
            svg,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" points=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" style=\"fill:{colour}\">{}</text>",
            points.trim_end(),
            left + 8.0 + 110.0 * at as f64,
            height - 4.0,
            escape(&role.role)
        );
    }
    let _ = write!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">rounds played</text>",
        width - 12.0,
        height - 4.0
    );
    svg + "</svg>"
}

fn tells(out: &mut String, report: &GameReport) {
    if report.tells.is_empty() {
        return;
    }
    *out += "<h2>What moves tell</h2><p>Expected information of the percepts that follow a move, in bits.</p>";
    let row = |t: &super::MoveInformation| {
        vec![
            t.role.clone(),
            t.name.clone(),
            estimate(&t.bits, 2),
            format!("{:.2}", t.most),
            t.bits.n.to_string(),
            t.weighed.to_string(),
        ]
    };
    let rows: Vec<_> = report.tells.iter().map(row).collect();
    table(
        out,
        &["role", "move", "bits", "most", "n (games)", "moves weighed"],
        &rows,
    );
}

fn grounding(out: &mut String, report: &GameReport) {
    *out += "<h2>Grounding</h2>";
    let census = match &report.grounding {
        Ok(census) => census,
        Err(why) => {
            let _ = write!(out, "<p>Not known: {}.</p>", escape(why));
            return;
        }
    };
    if let Some(ended) = &census.ended {
        let _ = write!(
            out,
            "<p class=\"warning\">Cut short: {}.</p>",
            escape(&ended.to_string())
        );
    }
    let all: usize = census.rules.iter().map(|rule| rule.instances).sum();
    let mut rules: Vec<_> = census.rules.iter().zip(&report.rules).collect();
    rules.sort_by_key(|(cost, _)| std::cmp::Reverse(cost.instances));
    let _ = write!(out, "<p>{all} instances of the rules as they are written.</p>");
    let row = |(cost, (line, text)): &(&ground::RuleCost, &(u32, String))| {
        vec![
            cost.instances.to_string(),
            format!("{:.1} %", 100.0 * cost.instances as f64 / all.max(1) as f64),
            if *line == 0 { String::new() } else { line.to_string() },
            text.clone(),
        ]
    };
    let rows: Vec<_> = rules.iter().map(row).collect();
    table(out, &["instances", "share", "line", "rule"], &rows);
    let mut relations: Vec<_> = census.relations.iter().collect();
    relations.sort_by_key(|relation| std::cmp::Reverse(relation.atoms));
    let row = |r: &&ground::RelationCost| vec![r.relation.clone(), r.atoms.to_string(), r.instances.to_string()];
    let rows: Vec<_> = relations.iter().map(row).collect();
    table(out, &["relation", "atoms", "instances of its rules"], &rows);
}
