//! What the rules say about hidden information, before and after moves are announced.

use surmise_gdl::{Information, Options, Rules, kw, read};

/// A game of one role, with these forms besides.
fn game(forms: &str) -> Rules {
    let text = format!("(role me) (legal me a) (legal me b) (goal me 0) (<= terminal (true end)) (next end) {forms}");
    let reading = read(&text, &Options::default());
    assert!(reading.is_playable(), "{}", reading.render("test"));
    reading.rules
}

const CHANCE: &str = "(role random) (legal random heads) (legal random tails) (goal random 0)";
const SEES: &str = "(<= (sees me heads) (does random heads))";

fn sees_clauses(rules: &Rules) -> usize {
    rules.clauses.iter().filter(|c| c.head.relation == kw::SEES).count()
}

#[test]
fn rules_without_sees_are_open() {
    assert_eq!(game("").information(), Information::Open);
}

#[test]
fn chance_alone_hides_nothing() {
    let rules = game(CHANCE);
    assert!(rules.gdl2, "the role random makes it GDL-II");
    assert_eq!(rules.information(), Information::Open);
}

#[test]
fn rules_with_sees_are_hidden() {
    let rules = game(&format!("{CHANCE} {SEES}"));
    assert_eq!(rules.information(), Information::Hidden);
    let without_chance = game("(<= (sees me fine) (does me a))");
    assert_eq!(without_chance.information(), Information::Hidden);
}

#[test]
fn announcing_moves_does_not_change_the_answer() {
    let mut open = game(CHANCE);
    open.announce_moves();
    assert_eq!(sees_clauses(&open), 1, "the moves are announced");
    assert_eq!(open.information(), Information::Open);
    open.announce_moves();
    assert_eq!(sees_clauses(&open), 1, "they are announced once");

    let mut hidden = game(&format!("{CHANCE} {SEES}"));
    hidden.announce_moves();
    assert_eq!(sees_clauses(&hidden), 1, "nothing is announced");
    assert_eq!(hidden.information(), Information::Hidden);
}

#[test]
fn announcing_all_moves_opens_a_game() {
    let mut rules = game(&format!("{CHANCE} {SEES}"));
    rules.announce_all_moves();
    assert_eq!(sees_clauses(&rules), 2);
    assert_eq!(rules.information(), Information::Open);
}

#[test]
fn rules_that_announce_every_move_themselves_are_open() {
    let open = |forms: &str| game(&format!("{CHANCE} {SEES} {forms}")).information() == Information::Open;
    assert!(open("(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m))"));
    assert!(open("(<= (sees ?p (did ?q ?m)) (role ?p) (role ?q) (does ?q ?m))"));
    assert!(!open("(<= (sees ?p (did ?p ?m)) (does ?p ?m))"), "only the own move");
    assert!(
        !open("(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m) (true end))"),
        "only later"
    );
    assert!(
        !open("(<= (sees ?p (move ?q)) (role ?p) (does ?q ?m))"),
        "not which move"
    );
}

#[test]
fn a_clone_keeps_the_answer() {
    let mut rules = game(CHANCE);
    rules.announce_moves();
    assert_eq!(rules.clone().information(), Information::Open);
}
