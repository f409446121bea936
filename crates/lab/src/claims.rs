//! The claims of a paper, compared with the results.
//!
//! A claim names a quantity and a range. The claim holds if the confidence interval of the quantity lies within the
//! range. It does not hold if the interval lies outside. There is too little data if the interval contains an end of
//! the range, or if nothing was played. A claim about several cells holds if it holds for each of them.
//!
//! A range such as "above 0" has its end where there is no effect at all. If there is none, the interval contains the
//! end however many matches are played. A claim may therefore have a `margin`, the least effect that counts: it does
//! not hold either if the whole interval lies nearer to the end than that (a test of equivalence; Schuirmann, *Journal
//! of Pharmacokinetics and Biopharmaceutics* 15, 1987).

use crate::spec::Claim;
use crate::stats::Interval;
use crate::summary::CellSummary;
use crate::{Cell, Spec};
use std::collections::BTreeMap;
use std::fmt;

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimVerdict {
    /// Every interval lies within the range.
    Holds,
    /// Some interval contains an end of the range, or there is none.
    TooLittleData,
    /// Some interval lies outside the range, or within the margin of one of its ends.
    DoesNotHold,
}

impl fmt::Display for ClaimVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // With the width that was asked for: verdicts stand in columns.
        f.pad(match self {
            ClaimVerdict::Holds => "holds",
            ClaimVerdict::TooLittleData => "too little data",
            ClaimVerdict::DoesNotHold => "does not hold",
        })
    }
}

/// A claim with its verdict.
pub struct CheckedClaim<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// Every quantity of the claim: its label, its interval, the verdict on it.
    pub parts: Vec<(String, Interval, ClaimVerdict)>,
}

/// Checks every claim of a spec.
pub fn check<'a>(spec: &'a Spec, summaries: &[CellSummary<'_>]) -> Vec<CheckedClaim<'a>> {
    spec.claims.iter().map(|claim| check_one(claim, summaries)).collect()
}

fn check_one<'a>(claim: &'a Claim, summaries: &[CellSummary<'_>]) -> CheckedClaim<'a> {
    let mut parts = Vec::new();
    for summary in summaries.iter().filter(|s| s.cell.matches(&claim.of)) {
        let Some(value) = summary.value(&claim.measure) else {
            continue;
        };
        let (value, label) = match claim.minus.as_ref().or(claim.over.as_ref()) {
            None => (value, label(summary.cell)),
            Some(other) => {
                let partner = summaries.iter().find(|s| is_partner(summary.cell, s.cell, other));
                let Some((partner, against)) = partner.and_then(|s| Some((s, s.value(&claim.measure)?))) else {
                    continue;
                };
                let named: Vec<String> = other.values().map(crate::spec::plain).collect();
                let (combined, word) = match claim.minus.is_some() {
                    true => (minus(summary, partner, claim, &value, &against), "minus"),
                    false => (value.over(&against), "over"),
                };
                (combined, format!("{} {word} {}", label(summary.cell), named.join(", ")))
            }
        };
        parts.push((label, value, judge(&value, claim)));
    }
    let worst = parts.iter().map(|(_, _, verdict)| *verdict).max();
    CheckedClaim {
        claim,
        verdict: worst.unwrap_or(ClaimVerdict::TooLittleData),
        parts,
    }
}

/// The difference of two cells: of matches in pairs, where these have the same seeds.
fn minus(
    summary: &CellSummary<'_>,
    partner: &CellSummary<'_>,
    claim: &Claim,
    value: &Interval,
    against: &Interval,
) -> Interval {
    let test = summary.test_against(partner, &claim.measure, summary.level);
    test.map_or_else(|| value.minus(against), |test| test.difference)
}

/// Whether two cells agree in every variable except the wanted ones and the variables that change together with those.
pub(crate) fn is_partner(cell: &Cell, other: &Cell, wanted: &BTreeMap<String, toml::Value>) -> bool {
    let named = |name: &String| wanted.contains_key(name);
    let apart: Vec<usize> = cell
        .vars
        .iter()
        .zip(&cell.groups)
        .filter(|((n, _), _)| named(n))
        .map(|(_, g)| *g)
        .collect();
    let mut rest = cell
        .vars
        .iter()
        .zip(&cell.groups)
        .filter(|((n, _), g)| !n.starts_with('_') && !apart.contains(g));
    other.matches(wanted) && other.key != cell.key && rest.all(|((n, v), _)| other.var(n).is_none_or(|w| w == v))
}

fn judge(value: &Interval, claim: &Claim) -> ClaimVerdict {
    let (above, below) = (
        claim.above.unwrap_or(f64::NEG_INFINITY),
        claim.below.unwrap_or(f64::INFINITY),
    );
    let margin = claim.margin.unwrap_or(0.0);
    if value.low >= above && value.high <= below {
        ClaimVerdict::Holds
    } else if value.high < above + margin || value.low > below - margin {
        ClaimVerdict::DoesNotHold
    } else {
        ClaimVerdict::TooLittleData
    }
}

/// A short label of a cell: its variables and their values, except those whose names begin with `_`. Of variables that
/// change together the first is enough, except that a pair of players is two names.
pub fn label(cell: &Cell) -> String {
    let mut groups: Vec<usize> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for ((name, value), group) in cell.vars.iter().zip(&cell.groups) {
        if !name.starts_with('_') && (!groups.contains(group) || name == "second") {
            groups.push(*group);
            words.push(format!("{name} {value}"));
        }
    }
    match words.is_empty() {
        true => cell.game.clone(),
        false => words.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(above: Option<f64>, below: Option<f64>) -> Claim {
        Claim {
            says: String::new(),
            measure: "score".to_owned(),
            of: BTreeMap::new(),
            minus: None,
            over: None,
            above,
            below,
            margin: None,
        }
    }

    #[test]
    fn what_changes_together_is_compared() {
        let text = r#"
name = "x"
title = "x"
[[sweep]]
game = "g{size}"
players = ["p{r}"]
games = 1
[sweep.over]
size = [1, 2]
r = [{ r = 1, resources = 1 }, { r = 8, resources = 64 }]
"#;
        let spec = Spec::read("x.toml", text, crate::Size::Plain, &[]).unwrap();
        let map = |value: i64| BTreeMap::from([("r".to_owned(), toml::Value::Integer(value))]);
        let partners = |cell: &Cell| -> Vec<String> {
            let of = spec.cells.iter().filter(|other| is_partner(cell, other, &map(1)));
            of.map(|c| format!("{} {}", c.game, c.players[0])).collect()
        };
        assert_eq!(partners(&spec.cells[1]), ["g1 p1"]);
        assert_eq!(partners(&spec.cells[3]), ["g2 p1"]);
    }

    #[test]
    fn labels_tell_cells_apart() {
        let text = "name = \"x\"\ntitle = \"x\"\n[[sweep]]\ngame = \"g\"\nplayers = [\"{first}\", \"{second}\"]\n\
                    games = 2\npairs = [\"a\", \"b\", \"c\"]\n";
        let spec = Spec::read("x.toml", text, crate::Size::Plain, &[]).unwrap();
        let labels: Vec<String> = spec.cells.iter().map(label).collect();
        assert_eq!(labels, ["first a, second b", "first a, second c", "first b, second c"]);
        assert_eq!(format!("{:8}|", ClaimVerdict::Holds), "holds   |");
    }

    #[test]
    fn a_verdict_is_where_the_interval_lies() {
        let value = |low, high| Interval {
            mean: (low + high) / 2.0,
            low,
            high,
            n: 10,
            method: "",
        };
        assert_eq!(judge(&value(1.0, 2.0), &claim(Some(0.0), None)), ClaimVerdict::Holds);
        assert_eq!(
            judge(&value(-2.0, -1.0), &claim(Some(0.0), None)),
            ClaimVerdict::DoesNotHold
        );
        assert_eq!(
            judge(&value(-1.0, 2.0), &claim(Some(0.0), None)),
            ClaimVerdict::TooLittleData
        );
        assert_eq!(
            judge(&value(60.0, 70.0), &claim(Some(62.0), Some(72.0))),
            ClaimVerdict::TooLittleData
        );
        assert_eq!(
            judge(&value(64.0, 70.0), &claim(Some(62.0), Some(72.0))),
            ClaimVerdict::Holds
        );
        assert_eq!(
            judge(&value(80.0, 90.0), &claim(Some(62.0), Some(72.0))),
            ClaimVerdict::DoesNotHold
        );
    }

    #[test]
    fn a_margin_lets_no_effect_be_told_from_too_little_data() {
        let judged = |low, high, claim: Claim| {
            let value = Interval {
                mean: (low + high) / 2.0,
                low,
                high,
                n: 10,
                method: "",
            };
            let with = Claim {
                margin: Some(0.1),
                ..claim.clone()
            };
            (judge(&value, &claim), judge(&value, &with))
        };
        use ClaimVerdict::{DoesNotHold, Holds, TooLittleData};
        // Medians of p of an unbiased and of a biased sampler, as the 2017 study's figure 4 has them.
        let biased = || claim(None, Some(0.5));
        assert_eq!(judged(0.456, 0.517, biased()), (TooLittleData, DoesNotHold));
        assert_eq!(judged(0.38, 0.552, biased()), (TooLittleData, TooLittleData));
        assert_eq!(judged(0.174, 0.319, biased()), (Holds, Holds));
        // A small effect that is certain is still one.
        assert_eq!(judged(0.42, 0.48, biased()), (Holds, Holds));
        let better = || claim(Some(0.0), None);
        assert_eq!(judged(-0.02, 0.09, better()), (TooLittleData, DoesNotHold));
        assert_eq!(judged(-0.02, 0.11, better()), (TooLittleData, TooLittleData));
        let between = || claim(Some(0.0), Some(1.0));
        assert_eq!(judged(0.95, 1.2, between()), (TooLittleData, DoesNotHold));
        assert_eq!(judged(0.8, 1.2, between()), (TooLittleData, TooLittleData));
    }
}
