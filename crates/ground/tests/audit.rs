//! Random games: what they find, and where they say it is.

use gdl::{Code, Options};
use surmise_ground::{Audit, AuditOptions, audit};

/// Two roles, three rounds, one goal each; nothing is wrong with it.
const GAME: &str = "(role left)
(role right)
(init (step 1)) (succ 1 2) (succ 2 3)
(<= (legal left go) (true (step ?n)))
(<= (legal right stay) (true (step ?n)))
(<= (legal right go) (true (step 1)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= (next moved) (or (does right go) (true moved)))
(<= terminal (true (step 3)))
(<= (goal left 100) (true moved))
(<= (goal left 0) (not (true moved)))
(<= (goal right 50) (true (step ?n)))
";

fn play(text: &str) -> Audit {
    let reading = gdl::read(text, &Options::default());
    assert!(reading.is_playable(), "{}", reading.render("game"));
    audit(&reading.rules, &AuditOptions::default())
}

/// The finding with this code is at this text, in the given line.
#[track_caller]
fn check(text: &str, code: Code, at: &str, line: usize) {
    let report = play(text);
    let found = report.diagnostics.iter().find(|d| d.code == code);
    let found = found.unwrap_or_else(|| panic!("no {}: {:?}", code.text(), report.diagnostics));
    assert_eq!(&text[found.span.range()], at);
    let before = &text[..found.span.start as usize];
    assert_eq!(before.matches('\n').count() + 1, line);
}

#[test]
fn a_sound_game_has_no_findings_and_every_rule_is_counted() {
    let report = play(GAME);
    assert_eq!(report.diagnostics, []);
    assert_eq!((report.games, report.ended, report.rounds), (100, 100, 200));
    let counts: Vec<(&str, Vec<u64>, u64)> = report
        .rules
        .iter()
        .map(|r| (&GAME[r.place.range()], r.rounds.clone(), r.ends))
        .collect();
    assert_eq!(counts.len(), 9);
    // Both rounds, and the end, in each game.
    assert_eq!(counts[0], ("(legal left go)", vec![300], 100));
    // The first round only.
    assert_eq!(counts[2], ("(legal right go)", vec![100], 0));
    assert_eq!(counts[5], ("terminal", vec![100], 100));
    // The two members of the `or`: the move in some of the first rounds, what it made in the round after that.
    let (head, members, _) = &counts[4];
    assert_eq!((*head, members.len()), ("(next moved)", 2));
    assert!((20..80).contains(&members[0]), "{members:?}");
    // One of the goals of `left` at each end.
    assert_eq!(counts[6].2 + counts[7].2, 100);
    // Games are the same for the same seed.
    assert_eq!(play(GAME).rules, report.rules);
}

#[test]
fn findings_are_at_the_rule_that_they_are_about() {
    // The role without a move, at its declaration.
    let stuck = GAME.replace(
        "(<= (legal right stay) (true (step ?n)))",
        "(<= (legal right stay) (true (step 1)))",
    );
    check(&stuck, Code::NoMove, "(role right)", 2);
    // The goal rule of the role that lacks a goal.
    let none = GAME.replace("(<= (goal left 0) (not (true moved)))", "");
    check(&none, Code::GoalNone, "(goal left 100)", 10);
    // The rule that derives something for somebody who does not play.
    let ghost = format!("{GAME}(someone ghost)\n(<= (legal ?p (haunt 1)) (someone ?p))\n");
    check(&ghost, Code::NotRole, "(legal ?p (haunt 1))", 14);
    let many = format!("{GAME}(<= (goal right 60) (true (step 3)))\n");
    check(&many, Code::GoalMany, "(goal right 50)", 12);
}

#[test]
fn a_move_that_cannot_be_known_is_named() {
    let hidden = format!("{GAME}(<= (sees right (mine ?m)) (does right ?m))\n(<= (legal left run) (true moved))\n");
    let report = play(&hidden);
    let found = report
        .diagnostics
        .iter()
        .find(|d| d.code == Code::UnknownLegal)
        .unwrap();
    assert_eq!(&hidden[found.span.range()], "(legal left run)");
    assert!(found.message.contains("`run`"), "{}", found.message);
}

#[test]
fn rules_and_goals_that_never_come_are_noted() {
    let never = format!("{GAME}(<= (legal left fly) (true moved) (not (true moved)))\n");
    check(&never, Code::NeverFired, "(legal left fly)", 13);
    let early = GAME.replace(
        "(<= (goal left 0) (not",
        "(<= (goal left 30) (true (step 2)))\n(<= (goal left 0) (not",
    );
    let report = play(&early);
    let goal = report
        .rules
        .iter()
        .find(|r| &early[r.place.range()] == "(goal left 30)")
        .unwrap();
    assert_eq!((goal.is_goal, goal.ends, goal.rounds.as_slice()), (true, 0, &[100][..]));
    assert_eq!(report.diagnostics, []);
}

#[test]
fn a_fact_that_is_gone_too_soon_is_suspected() {
    // The prize is hidden in round 1 and asked for in round 3, but nothing keeps it.
    let lost = GAME
        .replace("(succ 2 3)", "(succ 2 3) (succ 3 4)")
        .replace("(<= terminal (true (step 3)))", "(<= terminal (true (step 4)))")
        + "(<= (next (prize 1)) (true (step 1)))
(<= (legal left (take ?n)) (true (prize ?n)) (true (step 3)))\n";
    check(&lost, Code::Lost, "(legal left (take ?n))", 14);
}

#[test]
fn rules_that_cannot_be_counted_are_still_played() {
    // The last rule, asked by itself, has too many answers; play never asks it.
    let digits: String = (0..10).map(|d| format!("(digit {d})")).collect();
    let many = "(<= (number ?a ?b ?c ?d ?e ?f ?g ?h) (digit ?a) (digit ?b) (digit ?c) (digit ?d) (digit ?e) (digit ?f)
        (digit ?g) (digit ?h))";
    let text = format!("{GAME}{digits}{many}(<= (goal right 50) (number 1 1 1 1 1 1 1 1))");
    let report = play(&text);
    assert_eq!(report.games, 100);
    assert!(
        report.diagnostics.iter().all(|d| d.code != Code::RunBlowup),
        "{:?}",
        report.diagnostics
    );
}
