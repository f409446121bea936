//! What `lint` proves never to happen does not happen in play.
//!
//! The static analysis is compared with random games of the reference simulator, on mutants of the catalogue: a rule of
//! which a condition never holds, or whose conditions never meet, must not apply in any game.

use gdl::ast::Node;
use gdl::{Code, Options, Reading, Span, kw, lint, mutate};
use ground::{AuditOptions, audit};

const GAMES: &[&str] = &[
    "kuhn-poker",
    "krieg-tictactoe:size=3,line=3",
    "matching-pennies",
    "meier",
    "monty-hall",
    "number-guessing",
    "phantom-tictactoe",
    "tictactoe",
    "tiger",
    "transit",
];

/// Places of the heads of rules that are proved never to apply.
fn dead_rules(reading: &Reading) -> Vec<Span> {
    let mut heads = Vec::new();
    for finding in lint(reading) {
        let proves = match finding.code {
            Code::NotMade | Code::NoValue | Code::NotLegal | Code::NotRole => {
                finding.message.contains("this condition never holds")
            }
            Code::RuleNever => finding.message.contains("conditions of this rule never hold"),
            Code::Lost => finding.message.contains("is lost before"),
            _ => false,
        };
        let form = reading
            .ast
            .forms
            .iter()
            .find(|f| f.span.start <= finding.span.start && f.span.end >= finding.span.end);
        if let (true, Some([_, head, conditions @ ..])) = (proves, form.map(Node::items)) {
            let holds = |n: &&Node| n.span.start <= finding.span.start && n.span.end >= finding.span.end;
            let inside = conditions.iter().find(holds);
            let plain = inside.is_none_or(|n| !matches!(n.head_name(), Some(kw::OR | kw::AND | kw::NOT)));
            heads.extend(plain.then_some(head.span));
        }
    }
    heads
}

#[test]
fn dead_rules_never_apply() {
    let options = AuditOptions {
        games: 20,
        max_rounds: 60,
        ..AuditOptions::default()
    };
    let (mut proved, mut wrong) = (0, Vec::new());
    for game in GAMES {
        let text = surmise_catalogue::rules(game).unwrap();
        let mutants = mutate::mutants(&text, &Options::default());
        for mutant in mutants.sample(4, 3) {
            let text = mutants.text(mutant);
            let reading = gdl::read(&text, &Options::default());
            let dead = dead_rules(&reading);
            if dead.is_empty() {
                continue;
            }
            let report = audit(&reading.rules, &options);
            for head in dead {
                let Some(rule) = report.rules.iter().find(|r| r.place.start == head.start) else {
                    continue;
                };
                proved += 1;
                if rule.rounds.iter().any(|&n| n > 0) {
                    wrong.push(format!("{game}, {}: {}", mutant.description, &text[head.range()]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(proved > 100, "only {proved} proofs were compared");
}
