//! The report as text.

use super::{GameReport, GoodPlay, Lengths, SeatResult};
use crate::column_width;
use gdl::Information;
use lab::stats::Interval;
use std::fmt::Write as _;

/// Rules and relations that are listed.
const MOST_COSTS: usize = 8;

/// Rounds that are listed; of longer games, some between the first and the last.
const MOST_ROUNDS: usize = 24;

/// The report as text for a terminal.
pub(super) fn text(report: &GameReport) -> String {
    let mut out = String::new();
    let hides = match report.information {
        Information::Open => "nothing is hidden",
        Information::Hidden => "hidden information",
    };
    let level = report.level * 100.0;
    let _ = writeln!(
        out,
        "{}: {}, {hides}; seed {}, intervals at {level} %",
        report.game,
        report.roles.join(", "),
        report.seed
    );
    random(&mut out, report);
    match &report.good {
        Ok(good) => good_play(&mut out, good),
        Err(why) => {
            let _ = writeln!(out, "\nGood play\n  not played: {why}");
        }
    }
    value(&mut out, report);
    hidden(&mut out, report);
    tells(&mut out, report);
    grounding(&mut out, report);
    if !report.unfinished.is_empty() {
        let _ = writeln!(out, "\nStopped early: {} not complete", report.unfinished.join(", "));
    }
    out
}

fn random(out: &mut String, report: &GameReport) {
    let random = &report.random;
    let _ = writeln!(out, "\nRandom play ({} games, {} ended)", random.games, random.ended);
    if random.ended > 0 {
        lengths(out, &random.lengths);
        seats(out, &random.seats, random.draws.as_ref());
    }
    let _ = writeln!(
        out,
        "  dead ends   {} of {} games had a role without a legal move{}",
        random.dead_ends,
        random.games,
        random
            .dead_end
            .as_ref()
            .map_or(String::new(), |first| format!("; first: {first}"))
    );
    if random.too_long > 0 {
        let _ = writeln!(out, "  too long    {} games were given up", random.too_long);
    }
    let _ = writeln!(out, "\nChoice (random play)");
    let width = column_width(report.roles.iter().map(String::as_str));
    for branching in &random.branching {
        let role = &branching.role;
        match branching.choices {
            0 => {
                let _ = writeln!(out, "  {role:<width$}  never has a choice");
            }
            n => {
                let _ = writeln!(
                    out,
                    "  {role:<width$}  {} moves where it has a choice, in {:.0} % of states; at most {} (n = {n} \
                     states)",
                    estimate(&branching.moves, 1),
                    100.0 * branching.share,
                    branching.most,
                );
            }
        }
    }
}

fn good_play(out: &mut String, good: &GoodPlay) {
    let _ = writeln!(
        out,
        "\nGood play ({} matches, every seat `{}`)",
        good.matches, good.player
    );
    lengths(out, &good.lengths);
    seats(out, &good.seats, good.draws.as_ref());
}

fn lengths(out: &mut String, lengths: &Lengths) {
    let _ = writeln!(
        out,
        "  rounds      {} (shortest {}, median {:.0}, longest {})",
        estimate(&lengths.mean, 1),
        lengths.shortest,
        lengths.median,
        lengths.longest
    );
}

fn seats(out: &mut String, seats: &[SeatResult], draws: Option<&Interval>) {
    let width = column_width(seats.iter().map(|seat| seat.role.as_str()));
    for seat in seats {
        let ahead = match seats.len() {
            0 | 1 => String::new(),
            _ => format!(", ahead in {}", share(&seat.ahead)),
        };
        let _ = writeln!(
            out,
            "  payoff      {:<width$}  {}{ahead}",
            seat.role,
            estimate(&seat.payoff, 1)
        );
    }
    if let Some(draws) = draws {
        let _ = writeln!(out, "  draws       {}", share(draws));
    }
}

fn value(out: &mut String, report: &GameReport) {
    let _ = writeln!(out, "\nValue (best play)");
    match &report.value {
        Err(why) => {
            let _ = writeln!(out, "  not known: {why}");
        }
        Ok(values) => {
            for value in values {
                let found = match value.high - value.low < 1e-3 {
                    true => format!("{:.4}", value.low),
                    false => format!("{:.4} to {:.4}", value.low, value.high),
                };
                let _ = writeln!(out, "  {}  {found}", value.role);
            }
        }
    }
}

fn hidden(out: &mut String, report: &GameReport) {
    let _ = writeln!(
        out,
        "\nHidden (entropy of the belief over states, in bits, random play)"
    );
    if report.hidden.iter().all(|role| role.rounds.is_empty()) {
        let why = match report.information {
            Information::Open => "nothing: every role can follow the state",
            Information::Hidden => "not measured",
        };
        let _ = writeln!(out, "  {why}");
        return;
    }
    for role in &report.hidden {
        let _ = writeln!(out, "  {}", role.role);
        for at in spread(role.rounds.len()) {
            let round = &role.rounds[at];
            let exact = match round.exact {
                1.0 => "exact".to_owned(),
                share => format!("{:.0} % exact, the rest sampled", 100.0 * share),
            };
            let _ = writeln!(
                out,
                "    after {:>3}  {:>20} bits  {:>9.1} states  n = {} ({exact})",
                round.round,
                estimate(&round.bits, 2),
                round.states.mean,
                round.bits.n
            );
        }
    }
}

/// Which rounds are shown: all, or some at even distances with the first and the last.
fn spread(n: usize) -> Vec<usize> {
    match n {
        0..=MOST_ROUNDS => (0..n).collect(),
        n => (0..MOST_ROUNDS).map(|at| at * (n - 1) / (MOST_ROUNDS - 1)).collect(),
    }
}

fn tells(out: &mut String, report: &GameReport) {
    if report.tells.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\nWhat moves tell (expected information of the percepts that follow, in bits)"
    );
    let width = column_width(report.tells.iter().map(|t| t.role.as_str()));
    let moves = column_width(report.tells.iter().map(|t| t.name.as_str())).min(30);
    for told in &report.tells {
        let _ = writeln!(
            out,
            "  {:<width$}  {:<moves$}  {}, at most {:.2} (n = {} games, {} moves weighed)",
            told.role,
            told.name,
            estimate(&told.bits, 2),
            told.most,
            told.bits.n,
            told.weighed
        );
    }
}

fn grounding(out: &mut String, report: &GameReport) {
    let census = match &report.grounding {
        Ok(census) => census,
        Err(why) => {
            let _ = writeln!(out, "\nGrounding\n  not known: {why}");
            return;
        }
    };
    let all: usize = census.rules.iter().map(|rule| rule.instances).sum();
    let atoms: usize = census.relations.iter().map(|relation| relation.atoms).sum();
    let _ = writeln!(out, "\nGrounding ({all} instances of rules as written, {atoms} atoms)");
    if let Some(ended) = &census.ended {
        let _ = writeln!(out, "  cut short: {ended}");
    }
    let mut rules: Vec<_> = census.rules.iter().zip(&report.rules).collect();
    rules.sort_by_key(|(cost, _)| std::cmp::Reverse(cost.instances));
    for (cost, (line, text)) in rules.iter().take(MOST_COSTS) {
        let place = match line {
            0 => "        ".to_owned(),
            line => format!("line {line:<3}"),
        };
        let percent = 100.0 * cost.instances as f64 / all.max(1) as f64;
        let _ = writeln!(out, "  {:>9} ({percent:>4.1} %)  {place}  {text}", cost.instances);
    }
    if rules.len() > MOST_COSTS {
        let _ = writeln!(out, "  … {} more rules (--json lists all)", rules.len() - MOST_COSTS);
    }
    let mut relations: Vec<_> = census.relations.iter().collect();
    relations.sort_by_key(|relation| std::cmp::Reverse(relation.atoms));
    let shown = relations
        .iter()
        .take(MOST_COSTS)
        .map(|r| format!("{} {}", r.relation, r.atoms));
    let _ = writeln!(out, "  atoms: {}", shown.collect::<Vec<_>>().join(", "));
}

/// An estimate with its interval.
pub(super) fn estimate(interval: &Interval, decimals: usize) -> String {
    if interval.n == 0 {
        return "-".to_owned();
    }
    match interval.low.is_finite() && interval.high.is_finite() {
        false => format!("{:.decimals$}", interval.mean),
        true => format!(
            "{:.decimals$} [{:.decimals$}, {:.decimals$}]",
            interval.mean, interval.low, interval.high
        ),
    }
}

/// A share with its interval, in percent.
pub(super) fn share(interval: &Interval) -> String {
    if interval.n == 0 {
        return "-".to_owned();
    }
    format!(
        "{:.1} % [{:.1}, {:.1}]",
        100.0 * interval.mean,
        100.0 * interval.low,
        100.0 * interval.high
    )
}
