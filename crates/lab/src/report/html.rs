//! The report as an HTML page.

use super::svg::{escape, short};
use super::{ReportData, ReportLine};
use crate::claims::{CheckedClaim, ClaimVerdict, label};
use crate::spec::PaperValue;
use crate::stats::{Interval, quantile};
use crate::summary::CellSummary;
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");

/// The report of an experiment.
pub fn page(report: &ReportData<'_>) -> String {
    let mut body = String::new();
    let spec = report.spec;
    let _ = write!(body, "<header><h1>{}</h1>", escape(&spec.title));
    if let Some(paper) = &spec.paper {
        let _ = write!(body, "<p class=\"paper\">{}</p>", escape(paper));
    }
    let incomplete = report.summaries.iter().filter(|s| !s.complete).count();
    let _ = write!(
        body,
        "<p>{} Intervals are at the {} % level. {} games in {} cells, size <em>{}</em>.</p>",
        prose(&spec.about),
        short(100.0 * spec.level),
        report.games(),
        report.summaries.len(),
        escape(&report.manifest.size)
    );
    if incomplete > 0 {
        let _ = write!(
            body,
            "<p class=\"warning\">{incomplete} cells are not finished; run the command below again to go on.</p>"
        );
    }
    let mut versions: Vec<&str> = report
        .summaries
        .iter()
        .flat_map(|s| s.played)
        .map(|p| p.version.as_str())
        .collect();
    versions.sort();
    versions.dedup();
    if versions.len() > 1 {
        let _ = write!(
            body,
            "<p class=\"warning\">These matches were played by different versions of the program: {}.</p>",
            escape(&versions.join(", "))
        );
    }
    for what in &spec.left_out {
        let _ = write!(body, "<p class=\"warning\">{}</p>", prose(what));
    }
    body += "</header>";
    claims(&mut body, report);
    for chart in &report.charts {
        let _ = write!(body, "<figure>{}</figure>", chart.svg());
    }
    super::ladder::section(&mut body, report);
    cells(&mut body, report);
    seats(&mut body, report);
    rounds(&mut body, report);
    made(&mut body, report);
    whole(&spec.title, &body)
}

/// An index of several reports.
pub fn index(lines: &[ReportLine]) -> String {
    let mut body = String::from(
        "<header><h1>Experiments</h1><p>Each is a page of its own.</p></header><table><thead>\
         <tr><th>experiment<th>what<th class=\"n\">games<th>claims</tr></thead><tbody>",
    );
    for line in lines {
        let mut said = String::new();
        for (words, verdict) in &line.said {
            let _ = write!(said, "<li>{} {}</li>", badge(*verdict), escape(words));
        }
        let _ = write!(
            body,
            "<tr><td><a href=\"{0}/report.html\">{0}</a><td>{1}<td class=\"n\">{2}\
             <td><ul class=\"plain\">{said}</ul></tr>",
            escape(&line.name),
            escape(&line.title),
            line.games
        );
    }
    body += "</tbody></table>";
    whole("Experiments", &body)
}

fn whole(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{}</title><style>{STYLE}</style></head>\
         <body><main>{body}</main></body></html>\n",
        escape(title)
    )
}

/// Text in which parts between backquotes are set as code.
fn prose(text: &str) -> String {
    let part = |(at, part): (usize, &str)| match at % 2 {
        0 => escape(part),
        _ => format!("<code>{}</code>", escape(part)),
    };
    text.split('`').enumerate().map(part).collect()
}

/// The name of a game or player as code, with possible line breaks after `,` and `:`.
fn code(text: &str) -> String {
    format!(
        "<code>{}</code>",
        escape(text).replace(',', ",<wbr>").replace(':', ":<wbr>")
    )
}

fn badge(verdict: ClaimVerdict) -> String {
    let class = match verdict {
        ClaimVerdict::Holds => "yes",
        ClaimVerdict::TooLittleData => "open",
        ClaimVerdict::DoesNotHold => "no",
    };
    format!("<span class=\"badge {class}\">{verdict}</span>")
}

fn claims(body: &mut String, report: &ReportData<'_>) {
    if report.claims.is_empty() {
        return;
    }
    *body += "<section><h2>What the paper says, and what the numbers say</h2>\
              <table><thead><tr><th>claim<th>verdict<th>measured</tr></thead><tbody>";
    for checked in &report.claims {
        let mut parts = String::new();
        for (label, value, verdict) in &checked.parts {
            let mark = if *verdict == checked.verdict || checked.parts.len() == 1 {
                ""
            } else {
                " class=\"soft\""
            };
            let (mean, range) = interval(value, &checked.claim.measure);
            let _ = write!(
                parts,
                "<li{mark}>{}: {mean} <span class=\"soft\">({range})</span></li>",
                escape(label)
            );
        }
        if checked.parts.is_empty() {
            parts = "<li class=\"soft\">nothing was played</li>".to_owned();
        }
        let _ = write!(
            body,
            "<tr><td>{}<div class=\"soft\">{}</div><td>{}<td><ul class=\"plain\">{parts}</ul></tr>",
            escape(&checked.claim.says),
            wanted(checked),
            badge(checked.verdict)
        );
    }
    *body += "</tbody></table></section>";
}

fn wanted(checked: &CheckedClaim<'_>) -> String {
    let claim = checked.claim;
    let quantity = match (&claim.minus, &claim.over) {
        (Some(_), _) => format!("difference of {}", claim.measure),
        (_, Some(_)) => format!("ratio of {}", claim.measure),
        _ => claim.measure.clone(),
    };
    match (claim.above, claim.below) {
        (Some(a), Some(b)) => format!("{quantity} between {} and {}", short(a), short(b)),
        (Some(a), None) => format!("{quantity} above {}", short(a)),
        (None, Some(b)) => format!("{quantity} below {}", short(b)),
        (None, None) => quantity,
    }
}

/// An estimate and its interval as two texts.
fn interval(value: &Interval, measure: &str) -> (String, String) {
    let probability = measure.trim_start_matches("weighted-").starts_with('p');
    let show = |v: f64| match probability {
        true if v < 0.0005 => "&lt;0.001".to_owned(),
        true => format!("{v:.3}"),
        false => number(v, value.mean.abs()),
    };
    let range = match value.low.is_finite() && value.high.is_finite() {
        true => format!("{} to {}", show(value.low), show(value.high)),
        false => format!("n = {}, too few for an interval", value.n),
    };
    (show(value.mean), range)
}

/// A number with as many digits as a number of the size `beside` needs.
fn number(value: f64, beside: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let text = match beside {
        b if b >= 1000.0 => return thousands(value),
        b if b >= 10.0 => format!("{value:.1}"),
        b if b >= 0.1 => format!("{value:.2}"),
        b if b >= 0.001 => format!("{value:.3}"),
        0.0 => format!("{value:.1}"),
        _ => format!("{value:.1e}"),
    };
    text.replace('-', "−")
}

fn thousands(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if value < 0.0 { format!("−{out}") } else { out }
}

fn cells(body: &mut String, report: &ReportData<'_>) {
    let (variables, measures) = (report.variables(), report.measures());
    let shown: Vec<&&str> = variables.iter().filter(|v| !v.starts_with('_')).collect();
    let has_paper = |m: &String| {
        report
            .summaries
            .iter()
            .any(|s| report.references(s.cell).any(|r| r.measure == *m))
    };
    let paper_states = report.spec.references.iter().any(|r| r.states.is_some());
    *body += "<section><h2>Cells</h2><div class=\"wide\"><table><thead><tr>";
    for name in &shown {
        let _ = write!(body, "<th>{}", escape(name));
    }
    *body += "<th class=\"n\">games";
    for measure in &measures {
        let _ = write!(body, "<th class=\"n\">{}", heading(measure));
        if has_paper(measure) {
            *body += "<th class=\"n\">paper";
        }
    }
    if paper_states {
        *body += "<th class=\"n\">paper's states";
    }
    *body += "</tr></thead><tbody>";
    let columns =
        shown.len() + 1 + measures.len() + measures.iter().filter(|m| has_paper(m)).count() + usize::from(paper_states);
    for summary in &report.summaries {
        *body += "<tr class=\"cell\">";
        for name in &shown {
            let _ = write!(body, "<td>{}", escape(summary.cell.var(name).unwrap_or_default()));
        }
        let open = if summary.complete {
            ""
        } else {
            " <span class=\"soft\">(unfinished)</span>"
        };
        let _ = write!(body, "<td class=\"n\">{}{open}", summary.played.len());
        for measure in &measures {
            let value = summary.value(measure).map(|v| interval(&v, measure));
            let shown = value.map(|(mean, range)| format!("{mean}<div class=\"soft\">{range}</div>"));
            let _ = write!(body, "<td class=\"n\">{}", shown.as_deref().unwrap_or("–"));
            if has_paper(measure) {
                let found = report.references(summary.cell).find(|r| r.measure == *measure);
                let _ = write!(
                    body,
                    "<td class=\"n paper-value\">{}",
                    found.map(reference).unwrap_or_default()
                );
            }
        }
        if paper_states {
            let states = report.references(summary.cell).find_map(|r| r.states);
            let _ = write!(body, "<td class=\"n\">{}", states.map(thousands).unwrap_or_default());
        }
        let _ = write!(
            body,
            "</tr><tr class=\"who\"><td colspan=\"{columns}\">{}: {}</tr>",
            code(&summary.cell.game),
            players(summary)
        );
    }
    *body += "</tbody></table></div>";
    *body += "<p class=\"soft\">Touches are nodes of the game tree visited in a game, cache hits included (the papers' \
              measure); states are successors computed. Win rates have Wilson's interval, other means Student's, \
              medians one from order statistics.</p></section>";
}

/// The payoff of the focused player in each seat, for cells in which players change seats.
fn seats(body: &mut String, report: &ReportData<'_>) {
    let swapped: Vec<(&CellSummary<'_>, Vec<(usize, Interval)>)> = report
        .summaries
        .iter()
        .map(|s| (s, s.by_seat()))
        .filter(|(_, seats)| !seats.is_empty())
        .collect();
    let most = swapped.iter().map(|(_, seats)| seats.len()).max().unwrap_or(0);
    if most == 0 {
        return;
    }
    *body +=
        "<section><h2>By seat</h2><div class=\"wide\"><table><thead><tr><th>cell<th>player<th class=\"n\">all seats";
    for seat in 1..=most {
        let _ = write!(body, "<th class=\"n\">seat {seat}");
    }
    *body += "</tr></thead><tbody>";
    for (summary, seats) in swapped {
        let cell = summary.cell;
        let (mean, range) = interval(&summary.score(cell.focus), "score");
        let _ = write!(
            body,
            "<tr><td>{}<td>{}<td class=\"n\">{mean}<div class=\"soft\">{range}</div>",
            escape(&label(cell)),
            code(&cell.players[cell.focus])
        );
        for (role, value) in &seats {
            let name = report.role(cell, *role).unwrap_or_default();
            let (mean, range) = interval(value, "score");
            let _ = write!(
                body,
                "<td class=\"n\">{mean}<div class=\"soft\">{range}</div><div class=\"soft\">as {}</div>",
                escape(&name)
            );
        }
        *body += "</tr>";
    }
    *body += "</tbody></table></div><p class=\"soft\">The same matches by the player's seat. For all seats together, \
              a round of seats is one observation.</p></section>";
}

fn heading(measure: &str) -> String {
    match measure {
        "score" => "score".to_owned(),
        "touches" => "touches / game".to_owned(),
        "states" => "states / game".to_owned(),
        "cost" => "late cost, % of random".to_owned(),
        "cost-measured" => "late cost, % of random games".to_owned(),
        "p-mid" => "median p, middle".to_owned(),
        "p-end" => "median p, end".to_owned(),
        "weighted-p-mid" => "weighted p, middle".to_owned(),
        "weighted-p-end" => "weighted p, end".to_owned(),
        "live" => "live at the end, %".to_owned(),
        other => escape(other),
    }
}

fn players(summary: &CellSummary<'_>) -> String {
    let cell = summary.cell;
    let name = |(at, player): (usize, &String)| match at == cell.focus && cell.players.len() > 1 {
        true => format!("<strong>{}</strong>", code(player)),
        false => code(player),
    };
    let names: Vec<String> = cell.players.iter().enumerate().map(name).collect();
    let swapped = if cell.swap {
        " <span class=\"soft\">seats swapped</span>"
    } else {
        ""
    };
    names.join(", ") + swapped
}

fn reference(reference: &PaperValue) -> String {
    let mut out = reference.value.map(|v| number(v, v.abs())).unwrap_or_default();
    if let Some(pm) = reference.pm {
        let _ = write!(out, " ± {pm}");
    }
    if let Some(says) = &reference.says {
        let _ = write!(out, "<div class=\"soft\">{}</div>", escape(says));
    }
    out
}

fn rounds(body: &mut String, report: &ReportData<'_>) {
    for summary in report.summaries.iter().filter(|s| !s.rounds.is_empty()) {
        let _ = write!(
            body,
            "<details><summary>Round by round: {}</summary><div class=\"wide\"><table><thead><tr>",
            escape(&label(summary.cell))
        );
        for (at, name) in [
            "round",
            "games",
            "P(valid), %",
            "P(valid history), %",
            "touches / model",
            "random, by P(valid)",
            "random, played",
            "live, %",
            "histories at most",
            "p: quartiles",
            "tested",
            "weighted p",
        ]
        .iter()
        .enumerate()
        {
            let _ = write!(body, "<th class=\"n\">{}", if at == 0 { "round" } else { name });
        }
        *body += "</tr></thead><tbody>";
        for r in &summary.rounds {
            let p = |q| number(quantile(&r.p, q), 0.01);
            let quartiles = if r.p.is_empty() {
                "–".to_owned()
            } else {
                format!("{} {} {}", p(0.25), p(0.5), p(0.75))
            };
            let fields = [
                r.round.to_string(),
                r.games.to_string(),
                number(100.0 * r.valid, 10.0),
                short(100.0 * r.valid_history),
                number(r.touches, r.touches),
                number(r.random, r.random),
                r.random_measured
                    .map(|v| number(v, v))
                    .unwrap_or_else(|| "–".to_owned()),
                number(100.0 * r.live, 10.0),
                short(r.histories),
                quartiles,
                r.p.len().to_string(),
                number(quantile(&r.p_weighted, 0.5), 0.01),
            ];
            *body += "<tr>";
            for field in fields {
                let _ = write!(body, "<td class=\"n\">{field}");
            }
            *body += "</tr>";
        }
        *body += "</tbody></table></div></details>";
    }
}

fn made(body: &mut String, report: &ReportData<'_>) {
    let _ = write!(
        body,
        "<section><h2>How this was made</h2><pre><code>{}</code></pre><p>surmise {}. The matches are in \
         <code>results.jsonl</code>, the table in <code>cells.csv</code>, everything in \
         <code>report.json</code>{}.</p>",
        escape(&report.manifest.command),
        escape(&report.manifest.version),
        if report.charts.is_empty() {
            ""
        } else {
            ", the plots in <code>plot-N.svg</code>"
        }
    );
    let _ = write!(
        body,
        "<details><summary>The spec</summary><pre><code>{}</code></pre></details></section>",
        escape(&report.spec.text)
    );
}
