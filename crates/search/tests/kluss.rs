//! Knowledge-limited unfrozen subgame solving, on games whose answer is known.

mod common;

use belief::{Options, SamplerKind};
use common::{TestGame, budget, turns};
use game::{Budget, Decision, Player, StopFlag, Told};
use surmise_search::{Kluss, KlussError, KlussOptions, PlayoutHorizon, Tools};

fn make(tools: Tools, options: KlussOptions) -> Result<Kluss, KlussError> {
    let belief = Options {
        models: options.roots,
        ..Options::default()
    };
    let horizon = Box::new(PlayoutHorizon { playouts: 16 });
    Kluss::new(tools, SamplerKind::Trellis, &belief, options, horizon)
}

fn player(tools: Tools, nodes: u64) -> Kluss {
    let options = KlussOptions {
        nodes: Some(nodes),
        ..KlussOptions::default()
    };
    make(tools, options).unwrap()
}

fn told(own: &str, sees: &[&str]) -> Told {
    Told {
        own: own.to_owned(),
        sees: sees.iter().map(|s| (*s).to_owned()).collect(),
    }
}

fn p(decision: &Decision, mv: &str) -> f64 {
    let found = decision.policy.iter().find(|(m, _)| m == mv);
    found.unwrap_or_else(|| panic!("no `{mv}` in {decision:?}")).1
}

#[test]
fn scissors_count_double() {
    let table = TestGame::of("scissors-paper-rock");
    for role in 0..2 {
        let decision = player(table.tools(role, 1), 1_000).choose(&[], &budget()).unwrap();
        for (mv, known) in [("rock", 0.4), ("paper", 0.4), ("scissors", 0.2)] {
            assert!((p(&decision, mv) - known).abs() < 0.01, "{decision:?}");
        }
        assert!(decision.belief.contains("the whole game is solved"), "{decision:?}");
    }
}

#[test]
fn poker_players_bluff_as_much_as_they_may() {
    // Kuhn: the first player bets a jack with some probability up to 1/3, and a king three times as often; the second
    // bets a jack after a check in one of three cases.
    let table = TestGame::of("kuhn-poker");
    let asked = |role, rounds: &[Told]| {
        let mut player = player(table.tools(role, 1), 1_000);
        let decisions = (0..=rounds.len()).map(|n| player.choose(&rounds[..n], &budget()).unwrap());
        decisions.last().unwrap()
    };
    let bet = |card: &str| p(&asked(0, &[told("noop", &[card])]), "bet");
    let (jack, queen, king) = (bet("(card jack)"), bet("(card queen)"), bet("(card king)"));
    assert!(jack < 0.35 && queen < 0.01, "{jack} {queen} {king}");
    assert!((king - 3.0 * jack).abs() < 0.02, "{jack} {queen} {king}");
    let after_check = [told("noop", &["(card jack)"]), told("noop", &["(did player1 check)"])];
    let bluff = p(&asked(1, &after_check), "bet");
    assert!((bluff - 1.0 / 3.0).abs() < 0.01, "{bluff}");
}

#[test]
fn small_open_games_are_played_without_mistakes() {
    let table = TestGame::opened("tictactoe");
    // Two in a row have to be blocked, and a third one of the own wins.
    let mut rounds = turns(&["(mark 1 1)", "(mark 2 2)", "(mark 1 2)", "(mark 3 3)"]);
    for (role, mv) in [(0, "(mark 1 3)"), (1, "(mark 1 3)")] {
        if role == 1 {
            rounds = turns(&["(mark 1 1)", "(mark 2 2)", "(mark 1 2)"]);
        }
        let names = ["xplayer", "oplayer"];
        let heard: Vec<Told> = rounds
            .iter()
            .map(|joint| Told {
                own: joint[role].clone(),
                sees: (0..2).map(|r| format!("(did {} {})", names[r], joint[r])).collect(),
            })
            .collect();
        let mut player = player(table.tools(role as u16, 1), 2_000);
        let decision = player.choose(&heard, &budget()).unwrap();
        assert_eq!(decision.mv, mv, "{decision:?}");
    }
}

/// A step straight ahead may be blocked by a pawn that is out of sight. What is legal in some positions is a move to
/// be weighed, whatever else is legal there.
#[test]
fn moves_that_may_be_illegal_are_weighed() {
    let table = TestGame::of("blind-breakthrough:width=4,height=6");
    let heard = [
        told("(move 2 2 2 3)", &[]),
        told("noop", &[]),
        told("(move 2 3 2 4)", &[]),
        told("noop", &["(target 1 5)", "(target 3 5)"]),
    ];
    let decision = player(table.tools(0, 1), 400).choose(&heard, &budget()).unwrap();
    let worth = |mv: &str| {
        let found = decision.candidates.iter().find(|c| c.mv == mv);
        found.unwrap_or_else(|| panic!("no {mv} in {decision:?}")).mean
    };
    // A capture is always legal; the step is blocked unless the pawn ahead has moved, and then a random move is made.
    assert!(worth("(move 2 4 1 5)") > worth("(move 2 4 2 5)"), "{decision:?}");
    assert_eq!(decision.mv, "(move 2 4 1 5)");
}

/// Both move at once, and a round has 256 joint moves from each position: our own moves are looked at first, in both
/// seats.
#[test]
fn our_moves_of_a_simultaneous_round_are_valued_first() {
    let table = TestGame::of("krieg-tictactoe:size=4,line=4");
    for role in 0..2 {
        let decision = player(table.tools(role, 1), 16).choose(&[], &budget()).unwrap();
        assert_eq!(decision.candidates.len(), 16, "role {role}: {decision:?}");
    }
}

#[test]
fn the_tree_is_carried_over() {
    let table = TestGame::of("phantom-tictactoe");
    let mut player = player(table.tools(0, 1), 2_000);
    let first = player.choose(&[], &budget()).unwrap();
    assert!(
        first.belief.contains("1 positions of 1 (exact belief)"),
        "{}",
        first.belief
    );
    assert!(
        first.belief.contains("and 0 carried over") && first.belief.contains("no gadget"),
        "{}",
        first.belief
    );
    let rounds = [told(&first.mv, &[])];
    let second = player.choose(&rounds, &budget()).unwrap();
    assert!(!second.belief.contains("and 0 carried over"), "{}", second.belief);
    assert!(second.belief.contains("margins from"), "{}", second.belief);
}

#[test]
fn same_seed_same_decision() {
    let table = TestGame::of("krieg-tictactoe");
    let rounds = [
        told("(mark 2 2)", &["(placed oplayer)", "(placed xplayer)"]),
        told("(mark 1 1)", &["(placed xplayer)"]),
    ];
    let decide = |tools: Tools| {
        let mut player = player(tools, 1_000);
        let decisions = (0..=2).map(|n| player.choose(&rounds[..n], &budget()).unwrap());
        decisions.collect::<Vec<_>>()
    };
    assert_eq!(decide(table.tools(0, 1)), decide(table.tools(0, 1)));
    assert_ne!(decide(table.tools(0, 1)), decide(table.tools(0, 2)));
}

#[test]
fn an_answer_when_there_is_no_time() {
    for name in ["phantom-tictactoe", "leduc-poker", "krieg-tictactoe"] {
        let table = TestGame::of(name);
        let flag = StopFlag::default();
        flag.raise();
        let decision = player(table.tools(0, 1), 1_000)
            .choose(&[], &Budget::timed(flag))
            .unwrap();
        assert!(!decision.mv.is_empty());
    }
}

#[test]
fn percepts_that_nothing_explains_are_survived() {
    let table = TestGame::of("phantom-tictactoe");
    let mut player = player(table.tools(0, 1), 500);
    player.choose(&[], &budget()).unwrap();
    let decision = player.choose(&[told("(mark 9 9)", &["nonsense"])], &budget()).unwrap();
    assert!(!decision.mv.is_empty());
}

#[test]
fn other_numbers_of_roles_are_refused() {
    let alone = make(TestGame::of("monty-hall").tools(0, 1), KlussOptions::default())
        .err()
        .unwrap();
    assert!(alone.to_string().contains("use `hp2` or `ismcts`"), "{alone}");
}
