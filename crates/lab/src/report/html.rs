//! The report as an HTML page.

use super::axis::short;
use super::labels::measure_heading;
use super::svg::{Use, escape};
use super::{ReportData, ReportLine, SCRIPT};
use crate::claims::{CheckedClaim, ClaimVerdict, label};
use crate::contents::NOT_REPEATABLE;
use crate::provenance::{self, duration};
use crate::stats::{Interval, quantile};
use std::collections::{BTreeMap, BTreeSet};
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
        "<p>{} Intervals are at the {} % level. {} in {}{}.</p>",
        prose(&spec.about),
        short(100.0 * spec.level),
        count(report.games(), "game"),
        count(report.summaries.len(), "cell"),
        match report.manifest.size.as_str() {
            "plain" => String::new(),
            size => format!(", size <em>{}</em>", escape(size)),
        }
    );
    if incomplete > 0 {
        let _ = write!(
            body,
            "<p class=\"warning\">{} not finished. This goes on where the run stopped:</p>\
             <pre><code>{}</code></pre>",
            match incomplete {
                1 => "One cell is".to_owned(),
                many => format!("{many} cells are"),
            },
            escape(&report.manifest.command)
        );
    }
    warnings(&mut body, report);
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
    for (number, chart) in report.charts.iter().enumerate() {
        let _ = write!(
            body,
            "<figure><figcaption>{}</figcaption><div class=\"on-wide\">{}</div><div class=\"on-narrow\">{}</div>\
             <p class=\"files\"><a href=\"plot-{3}.svg\">SVG</a> <a href=\"plot-{3}.csv\">CSV</a></p></figure>",
            escape(&chart.title),
            chart.svg(Use::Page),
            chart.svg(Use::Phone),
            number + 1
        );
    }
    super::ladder::section(&mut body, report);
    for table in &report.tables {
        let _ = write!(body, "<section>{}</section>", table.html());
    }
    rounds(&mut body, report);
    made(&mut body, report);
    whole(&spec.title, &body)
}

/// An index of several reports.
pub fn index(lines: &[ReportLine]) -> String {
    let mut body = String::from(
        "<header><h1>Experiments</h1><p>Each is a page of its own.</p></header><table class=\"stacked\"><thead>\
         <tr><th>experiment<th>title<th class=\"n\">played<th>claims</tr></thead><tbody>",
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
            count(line.games, "game")
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
         <body><main>{body}</main><script>{SCRIPT}</script></body></html>\n",
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

/// A number of things: `1 game`, `2,000 games`.
fn count(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", thousands(number as f64))
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
    let heading = match report.spec.paper {
        Some(_) => "What the paper says, and what the numbers say",
        None => "Claims, and what the numbers say",
    };
    let _ = write!(body, "<section><h2>{heading}</h2>");
    *body +=
        "<div class=\"wide\"><table class=\"stacked\"><thead><tr><th>claim<th>verdict<th>measured</tr></thead><tbody>";
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
                "<li{mark}>{}: {} <span class=\"soft\">({}{})</span></li>",
                escape(label),
                small(&mean),
                small(&range),
                if value.method == "paired" { ", paired" } else { "" }
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
    *body += "</tbody></table></div></section>";
}

fn wanted(checked: &CheckedClaim<'_>) -> String {
    let claim = checked.claim;
    let measure = measure_heading(&claim.measure);
    let quantity = match (&claim.minus, &claim.over) {
        (Some(_), _) => format!("difference of {measure}"),
        (_, Some(_)) => format!("ratio of {measure}"),
        _ => measure,
    };
    let short = |value: f64| short(value).replace('-', "−");
    let range = match (claim.above, claim.below) {
        (Some(a), Some(b)) => format!("{quantity}: between {} and {}", short(a), short(b)),
        (Some(a), None) => format!("{quantity}: above {}", short(a)),
        (None, Some(b)) => format!("{quantity}: below {}", short(b)),
        (None, None) => quantity,
    };
    match claim.margin {
        Some(margin) => format!("{range} (margin {})", short(margin)),
        None => range,
    }
}

/// An estimate and its interval as two texts.
pub(super) fn interval(value: &Interval, measure: &str) -> (String, String) {
    let probability = measure.trim_start_matches("weighted-").starts_with('p');
    // Payoffs have one digit, and two where the interval is too narrow for one.
    let digits = if value.high - value.low < 0.2 { 1.0 } else { 10.0 };
    let show = |v: f64| match probability {
        true if v < 0.0005 => "< 0.001".to_owned(),
        true => format!("{v:.3}"),
        false if measure.starts_with("score") => number(v, digits),
        false => number(v, value.mean.abs()),
    };
    let range = match value.low.is_finite() && value.high.is_finite() {
        // All matches together gave one number.
        true if value.method == "pooled" => "no interval".to_owned(),
        true if probability && value.high < 0.0005 => "all below 0.001".to_owned(),
        true => format!("{} to {}", show(value.low), show(value.high)),
        false => format!("n = {}, too few for an interval", value.n),
    };
    (show(value.mean), range)
}

/// A number with as many digits as a number of the size `beside` needs.
pub(super) fn number(value: f64, beside: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    if value == 0.0 && beside < 0.001 {
        return "0".to_owned();
    }
    let text = match beside {
        _ if value.abs() >= 1e15 => format!("{value:.1e}"),
        b if b >= 1000.0 => return thousands(value),
        b if b >= 10.0 => format!("{value:.1}"),
        b if b >= 0.1 => format!("{value:.2}"),
        b if b >= 0.001 => format!("{value:.3}"),
        0.0 => format!("{value:.1}"),
        _ => format!("{value:.1e}"),
    };
    match text.strip_prefix('-') {
        // What rounds to zero has no sign.
        Some(zero) if zero.chars().all(|c| c == '0' || c == '.') => zero.to_owned(),
        _ => text.replace('-', "−"),
    }
}

/// Text in small print, escaped. Intervals such as `−3.1 to 0.8` are never broken into lines.
pub(super) fn small(text: &str) -> String {
    escape(text)
        .replace(" to ", "&nbsp;to&nbsp;")
        .replace("&lt; ", "&lt;&nbsp;")
}

pub(super) fn thousands(value: f64) -> String {
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

/// What a reader has to know before the numbers.
fn warnings(body: &mut String, report: &ReportData<'_>) {
    let unrepeatable: BTreeSet<&str> = report
        .manifest
        .contents
        .iter()
        .filter(|(_, print)| *print == NOT_REPEATABLE)
        .map(|(player, _)| player.as_str())
        .collect();
    if !unrepeatable.is_empty() {
        let names: Vec<&str> = unrepeatable.into_iter().collect();
        let _ = write!(
            body,
            "<p class=\"warning\">Matches of these players cannot be repeated, because they live elsewhere: {}.</p>",
            escape(&names.join(", "))
        );
    }
    let mut replaced: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for played in report.summaries.iter().flat_map(|s| s.played) {
        for (player, illegal) in played.players.iter().zip(&played.illegal) {
            let count = replaced.entry(player).or_default();
            *count = (count.0 + illegal, count.1 + played.rounds as u64);
        }
    }
    for (player, (illegal, moves)) in replaced.into_iter().filter(|(_, (illegal, _))| *illegal > 0) {
        let _ = write!(
            body,
            "<p class=\"warning\">{} of {} moves of <code>{}</code> were illegal, late or missing, and \
             were replaced by random ones.</p>",
            thousands(illegal as f64),
            thousands(moves as f64),
            escape(player)
        );
    }
    if report
        .summaries
        .iter()
        .flat_map(|s| s.played)
        .any(|p| !p.remarks.is_empty())
    {
        *body += "<p>What programs wrote to standard error is in <code>stderr.txt</code>.</p>";
    }
}

fn made(body: &mut String, report: &ReportData<'_>) {
    let (manifest, made) = (report.manifest, &report.manifest.provenance);
    let _ = write!(
        body,
        "<section><h2>How this was made</h2><pre><code>{}</code></pre><dl>",
        escape(&manifest.command)
    );
    let mut seeds: Vec<u64> = report.summaries.iter().map(|s| s.cell.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    let commit = match made.commit.as_str() {
        "" => "unknown commit".to_owned(),
        commit => format!("commit {commit}"),
    };
    let date = |seconds: u64| match seconds {
        0 => "unknown".to_owned(),
        seconds => provenance::date(seconds) + " UTC",
    };
    let played: f64 = report
        .summaries
        .iter()
        .flat_map(|s| s.played)
        .filter_map(|p| p.seconds)
        .sum();
    let machine = if made.machine.is_empty() {
        "unknown"
    } else {
        &made.machine
    };
    for (what, value) in [
        ("program", format!("surmise {}, {commit}", manifest.version)),
        ("seed", seeds.join(", ")),
        ("first run began", date(made.started)),
        ("last run ended", date(made.finished)),
        (
            "duration",
            format!("{} of runs, {} of matches", duration(made.seconds), duration(played)),
        ),
        ("machine", machine.to_owned()),
    ] {
        let _ = write!(body, "<dt>{what}<dd>{}", escape(&value));
    }
    *body += "</dl><p>The matches are in <code>results.jsonl</code>, everything measured in \
              <a href=\"cells.csv\">cells.csv</a> and <a href=\"report.json\">report.json</a>, entries for a \
              bibliography in <a href=\"cite.bib\">cite.bib</a>. The SVG files of the plots have plain colours and no \
              variables: programs such as rsvg-convert or Inkscape turn them into PDF.</p>";
    let _ = write!(
        body,
        "<details><summary>The spec</summary><pre><code>{}</code></pre></details></section>",
        escape(&report.spec.text)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_differences_are_told_from_zero() {
        let shown = |mean, low, high, measure| {
            let value = Interval {
                mean,
                low,
                high,
                n: 9,
                method: "",
            };
            let (mean, range) = interval(&value, measure);
            format!("{mean}: {range}")
        };
        assert_eq!(shown(0.0, -0.046, 0.046, "score"), "0.00: −0.05 to 0.05");
        assert_eq!(shown(-0.04, -1.25, 1.0, "score"), "0.0: −1.2 to 1.0");
        assert_eq!(shown(79.95, 79.5, 80.4, "score"), "80.0: 79.5 to 80.4");
        assert_eq!(shown(1e-9, 1e-12, 1e-5, "p-mid"), "< 0.001: all below 0.001");
        assert_eq!(shown(1e-9, 1e-12, 0.2, "p-mid"), "< 0.001: < 0.001 to 0.200");
        let pooled = Interval {
            mean: 2.5,
            low: 2.5,
            high: 2.5,
            n: 9,
            method: "pooled",
        };
        assert_eq!(interval(&pooled, "valid@16").1, "no interval");
    }

    #[test]
    fn numbers_have_a_bounded_length() {
        let shown = [-0.04, -0.06, 0.0, 1_234_567.0, -2.5e60].map(|v| number(v, v.abs().max(10.0)));
        assert_eq!(shown, ["0.0", "−0.1", "0.0", "1,234,567", "−2.5e60"]);
    }

    #[test]
    fn intervals_are_not_broken_into_lines() {
        assert_eq!(small("< 0.001 to 0.2, as x"), "&lt;&nbsp;0.001&nbsp;to&nbsp;0.2, as x");
    }
}
