//! The facts of the catalogue's games (`testdata/facts.md`) run through the same code as `surmise test`.

use std::collections::BTreeMap;
use surmise::catalogue;
use surmise::game_tests::{GameTests, TestGames, TestOptions, TestReport, Verdict, run};

/// Lines that are not decided here: values and enumerations beyond the work allowed.
const MOST_UNDECIDED: usize = 12;

fn facts() -> (GameTests, TestReport) {
    let text = include_str!("../../../testdata/facts.md");
    let tests = GameTests::parse("facts.md", text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    let options = TestOptions {
        work: 200_000,
        ..TestOptions::default()
    };
    let report = run(&tests, &TestGames::default(), &options, &mut |_| {});
    (tests, report)
}

#[test]
fn every_fact_holds() {
    let (tests, report) = facts();
    for line in &report.lines {
        if let Verdict::Undecided(why) = &line.verdict {
            eprintln!(
                "not decided: facts.md:{} ({}): {}: {why}",
                line.line, line.game, line.text
            );
        }
    }
    assert!(report.passed(), "{}", report.render(&tests));
    assert_eq!(report.unreached(), 0);
    let undecided = report.undecided();
    assert!(undecided <= MOST_UNDECIDED, "{undecided} lines were not decided");
    assert!(report.holding() > 700, "only {} lines hold", report.holding());
    let mut by_game: BTreeMap<&str, usize> = BTreeMap::new();
    for line in report.lines.iter().filter(|line| line.verdict == Verdict::Holds) {
        *by_game
            .entry(line.game.split(':').next().unwrap_or_default())
            .or_insert(0) += 1;
    }
    for game in catalogue::games() {
        let facts = by_game.get(game.name).copied().unwrap_or(0);
        assert!(facts >= 4, "{} has only {facts} facts", game.name);
    }
}
