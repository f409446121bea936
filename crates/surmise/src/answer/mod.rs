//! What a solution says, for people: how often each situation arises, how often each move is made there, what each
//! move is worth, and which situations do not matter.
//!
//! A *situation* is an information set. It arises at most once in a game, since every role has perfect recall. All
//! numbers are exact sums over the terminal nodes of the tree, given the strategies of the solution.

mod figures;
mod html;
mod picture;
mod tables;
mod text;

pub use figures::Figures;

use crate::{Error, How, Solution};
use std::fmt;
use std::str::FromStr;

/// A form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerFormat {
    /// Plain text for a terminal.
    Text,
    /// Markdown.
    Markdown,
    /// Comma-separated values, one line for each move of each situation.
    Csv,
    /// A page with the tree drawn.
    Html,
    /// JSON, with all situations.
    Json,
}

impl FromStr for AnswerFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<AnswerFormat, Error> {
        match text {
            "text" | "txt" => Ok(AnswerFormat::Text),
            "markdown" | "md" => Ok(AnswerFormat::Markdown),
            "csv" => Ok(AnswerFormat::Csv),
            "html" | "htm" => Ok(AnswerFormat::Html),
            "json" => Ok(AnswerFormat::Json),
            other => Err(Error::Option {
                option: "format",
                must: format!("must be text, markdown, csv, html or json, not `{other}`"),
            }),
        }
    }
}

/// Whether a situation needs thought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The choice matters.
    Matters,
    /// The payoff of the role is settled, whatever anybody does from here on.
    Settled,
    /// All moves are worth the same, and nobody could gain if the role always made the same one of them.
    Free,
    /// The situation arises less than once in 20,000 games.
    Rare,
}

impl Weight {
    /// Its name in CSV and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Weight::Matters => "matters",
            Weight::Settled => "settled",
            Weight::Free => "free",
            Weight::Rare => "rare",
        }
    }
}

/// A probability below which a situation is [`Weight::Rare`].
pub const RARE: f64 = 5e-5;

/// A move in a situation.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveAnswer {
    /// The move.
    pub mv: String,
    /// How often the strategy makes it.
    pub frequency: f64,
    /// Expected points of the role if it makes the move here and keeps to its strategy later; none if the others never
    /// let the situation arise.
    pub value: Option<f64>,
    /// Points less than the best move.
    pub loss: Option<f64>,
}

/// A round of what a role was told, where it chose or perceived something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldRound {
    /// The round, counted from 1.
    pub round: usize,
    /// The own move, if there was a choice.
    pub chose: Option<String>,
    /// The percepts.
    pub sees: Vec<String>,
}

impl fmt::Display for ToldRound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "round {}: ", self.round)?;
        if let Some(mv) = &self.chose {
            write!(f, "chose {mv}")?;
        }
        if !self.sees.is_empty() {
            let and = if self.chose.is_some() { ", " } else { "" };
            write!(f, "{and}sees {}", self.sees.join(" "))?;
        }
        Ok(())
    }
}

/// A solution and its figures.
pub struct Answer<'s> {
    /// The solution.
    pub solution: &'s Solution<'s>,
    /// The figures of its situations.
    pub figures: Figures,
    /// Remarks that stand below the heading.
    pub notes: Vec<String>,
}

impl<'s> Answer<'s> {
    /// Works out the figures of a solution.
    pub fn new(solution: &'s Solution<'s>) -> Answer<'s> {
        Answer {
            solution,
            figures: Figures::new(solution),
            notes: Vec::new(),
        }
    }

    /// The answer as a document. `top` is the number of situations of each role to list; CSV and JSON have all.
    pub fn document(&self, format: AnswerFormat, top: usize) -> String {
        match format {
            AnswerFormat::Text => self.text(top),
            AnswerFormat::Markdown => self.markdown(top),
            AnswerFormat::Csv => self.csv(),
            AnswerFormat::Html => self.html(top),
            AnswerFormat::Json => self.solution.json_with(Some(&self.figures)),
        }
    }

    /// The situations of a player that matter, the most frequent first. If none does, all that can arise.
    pub fn situations(&self, player: usize) -> Vec<usize> {
        let mut sets = self.of_weight(player, Weight::Matters);
        if sets.is_empty() {
            let all = self.solution.tree.tree.infosets_of(player);
            sets = all.filter(|&set| self.figures.arises[set] > 0.0).collect();
            if sets.iter().any(|&set| self.figures.weights[set] != Weight::Rare) {
                sets.clear();
            }
        }
        let arises = &self.figures.arises;
        sets.sort_by(|&a, &b| arises[b].total_cmp(&arises[a]).then(a.cmp(&b)));
        sets
    }

    fn of_weight(&self, player: usize, weight: Weight) -> Vec<usize> {
        let all = self.solution.tree.tree.infosets_of(player);
        all.filter(|&set| self.figures.weights[set] == weight).collect()
    }

    /// What the role of a situation was told, round by round. Rounds without a choice and without a percept are left
    /// out.
    pub fn told(&self, set: usize) -> Vec<ToldRound> {
        let (tree, sim) = (&self.solution.tree.tree, self.solution.tree.sim.as_ref());
        let set = &tree.infosets()[set];
        let role = tree.players[set.player as usize];
        let rounds = tree.view(set).into_iter().zip(tree.decided(set)).enumerate();
        let told = rounds.map(|(at, (round, decided))| ToldRound {
            round: at + 1,
            chose: decided.then(|| sim.move_text(role, round.own).to_owned()),
            sees: round
                .sees
                .iter()
                .map(|&p| sim.percept_text(role, p).to_owned())
                .collect(),
        });
        told.filter(|t| t.chose.is_some() || !t.sees.is_empty()).collect()
    }

    /// The same as one line.
    pub fn words(&self, set: usize) -> String {
        let told = self.told(set);
        match told.is_empty() {
            true => "at the start".to_owned(),
            false => told.iter().map(ToldRound::to_string).collect::<Vec<_>>().join("; "),
        }
    }

    /// The moves of a situation, the most frequent first, and those of equal frequency by value.
    pub fn moves(&self, set: usize) -> Vec<MoveAnswer> {
        let (tree, sim) = (&self.solution.tree.tree, self.solution.tree.sim.as_ref());
        let infoset = &tree.infosets()[set];
        let role = tree.players[infoset.player as usize];
        let best = self.figures.best_value(infoset);
        let mut moves: Vec<MoveAnswer> = infoset
            .sequences()
            .map(|s| {
                let value = Some(self.figures.values[s]).filter(|v| v.is_finite());
                MoveAnswer {
                    mv: sim.move_text(role, tree.move_of(s)).to_owned(),
                    frequency: self.solution.policy.0[s],
                    value,
                    loss: value.map(|v| best - v),
                }
            })
            .collect();
        let steps = |p: f64| (p * 1e6).round();
        moves.sort_by(|a, b| {
            let worth = |m: &MoveAnswer| m.value.unwrap_or(f64::NEG_INFINITY);
            let by_frequency = steps(b.frequency).total_cmp(&steps(a.frequency));
            by_frequency.then(worth(b).total_cmp(&worth(a)).then(a.mv.cmp(&b.mv)))
        });
        moves
    }

    /// What a role can expect, in a sentence.
    pub fn sentence(&self, player: usize) -> String {
        let solution = self.solution;
        let (value, best) = (solution.values[player], solution.best[player]);
        let points = format!("{value:.4} points on average");
        let gain = best - value;
        let others: Vec<&str> = (0..solution.values.len())
            .filter(|&p| p != player)
            .map(|p| solution.role(p))
            .collect();
        let exact = gain < EXACT && solution.is_promised() && solution.nash_conv() < EXACT;
        match &solution.how {
            How::Optimum => format!("{points}. No strategy gets more."),
            How::Committed(leader, _) if leader == solution.role(player) => {
                let other = others.join(", ");
                format!("{points}, if {other} knows this strategy and makes the best of it.")
            }
            How::Committed(..) => format!("{points}, by its best response."),
            _ if exact && others.len() == 1 => {
                format!(
                    "{points} at least, whatever {} does. No strategy guarantees more.",
                    others[0]
                )
            }
            _ if gain < EXACT => format!("{points}. No change of its own strategy alone gets more."),
            _ => format!("{points}, {best:.4} by best response ({gain:.4} more)."),
        }
    }

    /// The counts of situations that are not listed, in sentences.
    fn left_out(&self, player: usize, listed: usize, how_to_get_more: &str) -> Vec<String> {
        let mut out = Vec::new();
        let shown = self.situations(player).len();
        if listed < shown {
            out.push(format!("{} ({how_to_get_more}).", more(shown - listed)));
        }
        let listed_rare = self.of_weight(player, Weight::Matters).is_empty() && shown > 0;
        let rest = [
            (
                Weight::Free,
                "all moves are worth the same and nobody could gain if one of them were always made",
            ),
            (Weight::Settled, "the result is settled, whatever anybody does"),
        ];
        for (weight, why) in rest {
            match self.of_weight(player, weight).len() {
                0 => {}
                n => out.push(format!("In {}, {why}.", situations(n))),
            }
        }
        match self.of_weight(player, Weight::Rare).len() {
            0 => {}
            _ if listed_rare => {}
            1 => out.push("1 situation arises less than once in 20,000 games, or never.".to_owned()),
            n => out.push(format!(
                "{n} situations arise less than once in 20,000 games, or never."
            )),
        }
        out
    }
}

/// A gain in points below which a strategy counts as a best response.
const EXACT: f64 = 1e-3;

fn situations(n: usize) -> String {
    match n {
        1 => "1 situation".to_owned(),
        n => format!("{n} situations"),
    }
}

fn more(n: usize) -> String {
    match n {
        1 => "1 more situation matters".to_owned(),
        n => format!("{n} more situations matter"),
    }
}

/// A share in percent, with as many digits as a strategy needs.
fn percent(p: f64) -> String {
    format!("{:.2} %", 100.0 * p)
}

/// Points, and how much less than the best move they are.
fn points(mv: &MoveAnswer) -> (String, String) {
    let value = mv.value.map_or_else(|| "–".to_owned(), |v| format!("{:.2}", v + 0.0));
    let loss = match mv.loss {
        Some(loss) if loss >= 0.005 => format!("{loss:.2}"),
        _ => String::new(),
    };
    (value, loss)
}

/// Moves of a situation to list, and those to sum up: moves that are never made, if there are many.
fn listed(moves: &[MoveAnswer]) -> (&[MoveAnswer], &[MoveAnswer]) {
    let made = moves.iter().take_while(|m| m.frequency >= RARE).count();
    match moves.len() <= FEW {
        true => (moves, &[]),
        false => moves.split_at((made + 1).min(moves.len())),
    }
}

/// Moves up to which all are listed, made or not.
const FEW: usize = 4;

/// What is said of moves that are never made and not listed.
fn summed_up(moves: &[MoveAnswer]) -> Option<String> {
    let least = moves.iter().filter_map(|m| m.loss).fold(f64::INFINITY, f64::min);
    match moves.len() {
        0 => None,
        n if least.is_finite() => Some(format!("{n} others never: {least:.2} points less, or worse")),
        n => Some(format!("{n} others never")),
    }
}
