//! The part of a report that says who is strongest: ratings, cross tables, and a plot.

use super::axis::short;
use super::svg::{Chart, Point, Series, Use, escape};
use super::table::{Field, Table};
use super::{ReportData, row};
use crate::ladder::{Meeting, Rating, games_needed, ratings};
use crate::run::score;
use crate::spec::Ladder;
use crate::stats::{self, Interval};
use crate::summary::CellSummary;
use crate::unit::FinishedMatch;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Players with their ratings and results against each other, in one game or in all.
pub(super) struct Standing {
    /// Value of the variable that ratings are kept apart by.
    by: Option<String>,
    /// The game; none for all games together.
    game: Option<String>,
    /// Players, the strongest first, with their ratings.
    players: Vec<(String, Rating)>,
    /// Results of the player of the row against that of the column.
    cross: Vec<Vec<Option<CrossResult>>>,
}

/// What a player got against another.
struct CrossResult {
    /// Score in points, 50 being level.
    score: Interval,
    /// Games played.
    games: usize,
    /// Games after which the score would differ from 50, if it stays as it is.
    needed: Option<u64>,
}

/// A round of seats between two players.
struct Observed {
    by: Option<String>,
    game: String,
    players: [String; 2],
    score: f64,
    block: usize,
}

/// The standings of a report: for each value of the variable, all games and then each game.
pub(super) fn standings(ladder: &Ladder, summaries: &[CellSummary<'_>], level: f64) -> Vec<Standing> {
    let observed: Vec<Observed> = summaries.iter().flat_map(|s| observe(ladder, s)).collect();
    let distinct = |names: Vec<Option<String>>| {
        let mut all: Vec<Option<String>> = Vec::new();
        for name in names {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        all
    };
    let mut found = Vec::new();
    for by in distinct(observed.iter().map(|o| o.by.clone()).collect()) {
        let here: Vec<&Observed> = observed.iter().filter(|o| o.by == by).collect();
        found.extend(Standing::new(&by, None, &here, level));
        let games = distinct(here.iter().map(|o| Some(o.game.clone())).collect());
        if games.len() > 1 {
            for game in games {
                let there: Vec<&Observed> = here
                    .iter()
                    .filter(|o| Some(&o.game) == game.as_ref())
                    .copied()
                    .collect();
                found.extend(Standing::new(&by, game, &there, level));
            }
        }
    }
    found
}

/// The rounds of seats of a cell of two different players; none of other cells.
fn observe(ladder: &Ladder, summary: &CellSummary<'_>) -> Vec<Observed> {
    let cell = summary.cell;
    let [first, second] = &cell.players[..] else {
        return Vec::new();
    };
    let block = cell.block();
    if first == second {
        return Vec::new();
    }
    let mut all = Vec::new();
    for played in summary.played.chunks_exact(block) {
        let lead = |one: &FinishedMatch| Some(score(cell, one, 0).ok()? - score(cell, one, 1).ok()?);
        let leads: Option<Vec<f64>> = played.iter().filter(|p| !p.goals.is_empty()).map(lead).collect();
        let Some(leads) = leads.filter(|l| l.len() == block) else {
            continue;
        };
        let mean = leads.iter().sum::<f64>() / block as f64;
        all.push(Observed {
            by: ladder.by.as_ref().and_then(|by| cell.var(by)).map(str::to_owned),
            game: cell.var(&ladder.game).unwrap_or(&cell.game).to_owned(),
            players: [first.clone(), second.clone()],
            score: 0.5 + mean / 200.0,
            block,
        });
    }
    all
}

impl Standing {
    fn new(by: &Option<String>, game: Option<String>, observed: &[&Observed], level: f64) -> Option<Standing> {
        let mut names: Vec<&String> = Vec::new();
        for name in observed.iter().flat_map(|o| &o.players) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let place = |name: &String| names.iter().position(|n| *n == name).unwrap_or(0);
        let meetings: Vec<Meeting> = observed
            .iter()
            .map(|o| Meeting {
                players: [place(&o.players[0]), place(&o.players[1])],
                score: o.score,
                games: o.block as f64,
            })
            .collect();
        let rated = ratings(names.len(), &meetings, level);
        let mut order: Vec<(usize, Rating)> = rated
            .into_iter()
            .enumerate()
            .filter_map(|(at, r)| Some((at, r?)))
            .collect();
        order.sort_by(|(a, x), (b, y)| y.points.total_cmp(&x.points).then(a.cmp(b)));
        let between = |a: usize, b: usize| -> Option<CrossResult> {
            let mut scores = Vec::new();
            let mut block = 1;
            for (o, meeting) in observed.iter().zip(&meetings) {
                block = block.max(o.block);
                if meeting.players == [a, b] {
                    scores.push(o.score);
                } else if meeting.players == [b, a] {
                    scores.push(1.0 - o.score);
                }
            }
            (!scores.is_empty()).then(|| {
                let points: Vec<f64> = scores.iter().map(|s| 100.0 * s).collect();
                CrossResult {
                    score: stats::of_scores(&points, 1, level),
                    games: scores.len() * block,
                    needed: games_needed(&scores, block, level),
                }
            })
        };
        let cross = order
            .iter()
            .map(|(a, _)| order.iter().map(|(b, _)| between(*a, *b)).collect())
            .collect();
        (!order.is_empty()).then(|| Standing {
            by: by.clone(),
            game,
            players: order.iter().map(|(at, rating)| (names[*at].clone(), *rating)).collect(),
            cross,
        })
    }

    fn title(&self, ladder: &Ladder) -> String {
        let game = self.game.as_deref().unwrap_or("all games");
        match (&ladder.by, &self.by) {
            (Some(name), Some(value)) => format!("{game}, {name} {value}"),
            _ => game.to_owned(),
        }
    }
}

/// The section of the page.
pub(super) fn section(body: &mut String, report: &ReportData<'_>) {
    let Some(ladder) = report.spec.ladder.as_ref().filter(|_| !report.standings.is_empty()) else {
        return;
    };
    *body += "<section><h2>Ladder</h2><p class=\"soft\">Ratings on Elo's scale by a fit of maximum likelihood \
              (Bradley and Terry), the mean of the players being 0: 400 points ahead are 10 of 11 points expected. \
              Cross tables show the score of the row's player, its interval, and “4 of 16”: 4 games were played, and \
              after 16 that score would differ from 50 if it stayed.</p>";
    if let Some(chart) = chart(ladder, &report.standings) {
        let _ = write!(
            body,
            "<figure><figcaption>{}</figcaption><div class=\"on-wide\">{}</div><div class=\"on-narrow\">{}</div>\
             <p class=\"files\"><a href=\"ladder.svg\">SVG</a> <a href=\"ladder.csv\">CSV</a> \
             <a href=\"ladder.tex\">LaTeX</a></p></figure>",
            escape(&chart.title),
            chart.svg(Use::Page),
            chart.svg(Use::Phone)
        );
    }
    for standing in &report.standings {
        let open = if standing.game.is_none() { " open" } else { "" };
        let _ = write!(
            body,
            "<details{open}><summary>{}</summary><div class=\"wide\"><table class=\"many cross\"><thead><tr><th>player\
             <th class=\"n\">rating\
             <th class=\"n\">games",
            escape(&standing.title(ladder))
        );
        for (name, _) in &standing.players {
            let _ = write!(body, "<th class=\"n\">{}", escape(name));
        }
        *body += "</tr></thead><tbody>";
        for ((name, rating), row) in standing.players.iter().zip(&standing.cross) {
            let _ = write!(
                body,
                "<tr><td><code>{}</code><td class=\"n\">{}<div class=\"soft\">± {:.0}</div><td class=\"n\">{}",
                escape(name),
                format!("{:+.0}", rating.points).replace('-', "−"),
                rating.half,
                short(rating.games)
            );
            for result in row {
                *body += "<td class=\"n\">";
                if let Some(result) = result {
                    let _ = write!(
                        body,
                        "{:.1}<div class=\"soft\">{:.0}–{:.0}<br>{} of {}</div>",
                        result.score.mean,
                        result.score.low,
                        result.score.high,
                        result.games,
                        result.needed.map_or("∞".to_owned(), |n| n.to_string())
                    );
                }
            }
            *body += "</tr>";
        }
        *body += "</tbody></table></div></details>";
    }
    *body += "</section>";
}

/// Ratings over all games by the values of the variable, if these are numbers; by player, if there is one value.
pub(super) fn chart(ladder: &Ladder, standings: &[Standing]) -> Option<Chart> {
    let whole: Vec<&Standing> = standings.iter().filter(|s| s.game.is_none()).collect();
    if let [only] = whole[..] {
        return Some(chart_of_players(only));
    }
    let by = ladder.by.as_ref()?;
    let mut series: Vec<Series> = Vec::new();
    for standing in whole {
        let x: f64 = standing.by.as_ref()?.parse().ok()?;
        for (name, rating) in &standing.players {
            let point = rating_at(x, rating);
            match series.iter_mut().find(|s| s.name == *name) {
                Some(known) => known.points.push(point),
                None => series.push(Series {
                    name: name.clone(),
                    points: vec![point],
                    colour: series.len(),
                    paper: false,
                }),
            }
        }
    }
    for series in &mut series {
        series.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    (!series.is_empty()).then(|| Chart {
        title: "Ratings over all games".to_owned(),
        x_label: match by.as_str() {
            "seconds" => "time for a move (s)".to_owned(),
            by => by.to_owned(),
        },
        y_label: RATING.to_owned(),
        log_x: series.iter().all(|s| s.points.iter().all(|p| p.x > 0.0)),
        log_y: false,
        percent: false,
        dodge: true,
        categories: Vec::new(),
        lines: vec![("mean".to_owned(), 0.0)],
        series,
    })
}

const RATING: &str = "rating (Elo points)";

fn rating_at(x: f64, rating: &Rating) -> Point {
    Point {
        y_low: rating.points - rating.half,
        y_high: rating.points + rating.half,
        ..Point::bare(x, rating.points)
    }
}

/// Ratings of players beside each other.
fn chart_of_players(standing: &Standing) -> Chart {
    let players = standing.players.iter().enumerate();
    Chart {
        title: "Ratings over all games".to_owned(),
        x_label: "player".to_owned(),
        y_label: RATING.to_owned(),
        log_x: false,
        log_y: false,
        percent: false,
        dodge: true,
        categories: standing.players.iter().map(|(name, _)| name.clone()).collect(),
        lines: vec![("mean".to_owned(), 0.0)],
        series: vec![Series {
            name: "rating".to_owned(),
            points: players.map(|(at, (_, rating))| rating_at(at as f64, rating)).collect(),
            colour: 0,
            paper: false,
        }],
    }
}

/// `ladder.csv`: one line for each player and each opponent.
pub(super) fn csv(standings: &[Standing]) -> String {
    let header = [
        "by", "game", "player", "rating", "half", "games", "opponent", "score", "low", "high", "met", "needed",
    ];
    let mut out = row(&header.map(String::from));
    for standing in standings {
        for ((name, rating), results) in standing.players.iter().zip(&standing.cross) {
            for ((opponent, _), result) in standing.players.iter().zip(results) {
                let Some(result) = result else { continue };
                out += &row(&[
                    standing.by.clone().unwrap_or_default(),
                    standing.game.clone().unwrap_or_default(),
                    name.clone(),
                    format!("{:.1}", rating.points),
                    format!("{:.1}", rating.half),
                    rating.games.to_string(),
                    opponent.clone(),
                    format!("{:.2}", result.score.mean),
                    format!("{:.2}", result.score.low),
                    format!("{:.2}", result.score.high),
                    result.games.to_string(),
                    result.needed.map(|n| n.to_string()).unwrap_or_default(),
                ]);
            }
        }
    }
    out
}

/// `ladder.tex`: the ratings.
pub(super) fn latex(ladder: &Ladder, standings: &[Standing]) -> String {
    let heads = [("games", false), ("player", false), ("rating", true), ("matches", true)];
    let row = |standing: &Standing, (name, rating): &(String, Rating)| {
        vec![
            Field::text(standing.title(ladder)),
            Field::code(name),
            Field::text(format!("{:+.0} ± {:.0}", rating.points, rating.half).replace('-', "−")),
            Field::text(short(rating.games)),
        ]
    };
    let rows = standings.iter().flat_map(|s| s.players.iter().map(move |p| row(s, p)));
    Table {
        name: "ladder",
        title: "Ladder".to_owned(),
        columns: heads.map(|(head, number)| (head.to_owned(), number)).to_vec(),
        rows: rows.collect(),
        remark: "",
        open: true,
    }
    .latex()
}

/// The ratings for `report.json`.
pub(super) fn as_json(standings: &[Standing]) -> Value {
    let one = |standing: &Standing| {
        let player = |(name, rating): &(String, Rating)| {
            let Rating { points, half, games } = rating;
            json!({"player": name, "rating": points, "half": half, "games": games})
        };
        json!({
            "by": standing.by, "game": standing.game,
            "players": standing.players.iter().map(player).collect::<Vec<_>>(),
        })
    };
    standings.iter().map(one).collect()
}
