//! Perfect-information players in games whose values are known.

mod common;

use belief::{Options, SamplerKind};
use common::{TestGame, budget, mean, turns};
use game::{Budget, Fault, Player, Seed, StopFlag, Told};
use surmise_search::{
    By, Flat, HyperPlay, Insight, Leaves, Minimax, MinimaxOptions, Nested, NestedOptions, Perfect, PlayoutPolicy,
    Simultaneous, Uct, UctOptions,
};

fn uct(simulations: u64) -> Box<dyn Insight> {
    Box::new(Uct::new(UctOptions {
        simulations: Some(simulations),
        ..UctOptions::default()
    }))
}

fn mast(simulations: u64) -> Box<dyn Insight> {
    Box::new(Uct::new(UctOptions {
        simulations: Some(simulations),
        policy: PlayoutPolicy::Mast,
        ..UctOptions::default()
    }))
}

fn learned(simulations: u64) -> Box<dyn Insight> {
    Box::new(Uct::new(UctOptions {
        simulations: Some(simulations),
        leaves: Leaves::Learned,
        ..UctOptions::default()
    }))
}

fn minimax(depth: u32) -> Box<dyn Insight> {
    Box::new(Minimax::new(MinimaxOptions {
        depth: Some(depth),
        ..MinimaxOptions::default()
    }))
}

fn pessimistic(depth: u32) -> Box<dyn Insight> {
    Box::new(Minimax::new(MinimaxOptions {
        depth: Some(depth),
        simultaneous: Simultaneous::Pessimistic,
        ..MinimaxOptions::default()
    }))
}

fn flat(playouts: u64) -> Box<dyn Insight> {
    Box::new(Flat {
        playouts: Some(playouts),
    })
}

fn nested(level: u32, playouts: u64) -> Box<dyn Insight> {
    Box::new(Nested::new(NestedOptions {
        level,
        playouts: Some(playouts),
    }))
}

/// Plays some games of tic-tac-toe; the player must not lose any, in either seat.
fn never_loses(ours: fn() -> Box<dyn Insight>, theirs: Option<fn() -> Box<dyn Insight>>, games: u64) {
    let table = TestGame::of("tictactoe");
    for seed in 0..games {
        let seat = (seed % 2) as usize;
        let mut players = [None, None];
        players[seat] = Some(Perfect::new(table.tools(seat as u16, seed), ours()));
        players[1 - seat] = theirs.map(|make| Perfect::new(table.tools(1 - seat as u16, seed), make()));
        let goals = table.play(&mut players, seed);
        assert!(goals[seat] >= 50, "seed {seed}, seat {seat}: {goals:?}");
    }
}

#[test]
fn minimax_never_loses_tictactoe() {
    never_loses(|| minimax(9), None, 12);
    never_loses(|| minimax(9), Some(|| flat(50)), 4);
    never_loses(|| minimax(9), Some(|| uct(300)), 4);
}

#[test]
fn uct_never_loses_tictactoe() {
    never_loses(|| uct(2_000), None, 40);
    never_loses(|| uct(2_000), Some(|| flat(100)), 20);
    never_loses(|| uct(2_000), Some(|| minimax(9)), 4);
    never_loses(|| mast(2_000), None, 10);
    never_loses(|| learned(2_000), None, 4);
}

#[test]
fn tictactoe_is_a_draw_whatever_the_first_move() {
    let table = TestGame::of("tictactoe");
    let decision = table.ask(0, 1, minimax(9), &[]);
    assert_eq!(decision.candidates.len(), 9);
    for candidate in &decision.candidates {
        assert!((candidate.mean - 50.0).abs() < 1e-3, "{decision:?}");
    }
    // Tree search approaches the value, for every move that it visits often.
    let searched = table.ask(0, 1, uct(100_000), &[]);
    assert_eq!(searched.candidates.len(), 9);
    for candidate in &searched.candidates {
        assert!(candidate.visits > 1_000, "{searched:?}");
        assert!((candidate.mean - 50.0).abs() < 3.0, "{searched:?}");
    }
}

/// The role to move after these moves wins with exactly these `best` moves, within so many rounds.
fn wins(moves: &[u32], best: &[&str], depth: u32) {
    let table = TestGame::of("connect-four");
    let moves: Vec<String> = moves.iter().map(|c| format!("(drop {c})")).collect();
    let moves: Vec<&str> = moves.iter().map(String::as_str).collect();
    let role = (moves.len() % 2) as u16;
    let decision = table.ask(role, 1, minimax(depth), &turns(&moves));
    assert!(best.contains(&decision.mv.as_str()), "{decision:?}");
    for candidate in &decision.candidates {
        let wins = candidate.mean > 99.9;
        assert_eq!(wins, best.contains(&candidate.mv.as_str()), "{candidate:?}");
    }
    let proved = table.ask(role, 1, uct(20_000), &turns(&moves));
    assert!(best.contains(&proved.mv.as_str()), "{proved:?}");
    assert_eq!(proved.candidates[0].mean, 100.0, "{proved:?}");
}

#[test]
fn mates_in_connect_four() {
    // Three in a column.
    wins(&[1, 2, 1, 2, 1, 3], &["(drop 1)"], 1);
    // The other has three in a row with one end open; it must be closed, and that wins nothing yet.
    let table = TestGame::of("connect-four");
    let threatened: Vec<String> = [1, 2, 1, 3, 7, 4].iter().map(|c| format!("(drop {c})")).collect();
    let threatened: Vec<&str> = threatened.iter().map(String::as_str).collect();
    for insight in [minimax(3), uct(10_000)] {
        assert_eq!(table.ask(0, 1, insight, &turns(&threatened)).mv, "(drop 5)");
    }
    // Two in the middle of an empty row: a third makes two threats at once. Rounds: mine, theirs, mine.
    wins(&[4, 4, 5, 5], &["(drop 3)", "(drop 6)"], 3);
}

#[test]
fn an_earlier_win_is_preferred() {
    // A win at once, and a win later by going on with the row.
    let table = TestGame::of("connect-four");
    let moves = ["(drop 4)", "(drop 1)", "(drop 4)", "(drop 1)", "(drop 4)", "(drop 7)"];
    for insight in [minimax(5), uct(5_000)] {
        assert_eq!(table.ask(0, 2, insight, &turns(&moves)).mv, "(drop 4)");
    }
}

#[test]
fn simultaneous_games_have_their_value() {
    for (name, cards) in [
        ("scissors-paper-rock", ""),
        ("matching-pennies", ""),
        ("goofspiel", ":cards=4"),
    ] {
        let table = TestGame::opened(&format!("{name}{cards}"));
        for role in [0, 1] {
            let decision = table.ask(role, 1, minimax(6), &[]);
            let best = decision.candidates.iter().map(|c| c.mean).fold(0.0, f64::max);
            assert!((best - 50.0).abs() < 0.01, "{name}: {decision:?}");
        }
    }
}

#[test]
fn mixtures_are_drawn_as_they_should() {
    let table = TestGame::opened("scissors-paper-rock");
    let mut counts = std::collections::BTreeMap::new();
    for seed in 0..1_000 {
        *counts.entry(table.ask(0, seed, minimax(1), &[]).mv).or_insert(0) += 1;
    }
    assert!((150..250).contains(&counts["scissors"]), "{counts:?}");
    assert!((340..460).contains(&counts["paper"]), "{counts:?}");
    let worst = table.ask(0, 1, pessimistic(1), &[]);
    assert_eq!((worst.mv.as_str(), worst.candidates[0].mean.round()), ("rock", 25.0));
}

#[test]
fn uct_survives_simultaneous_moves() {
    // Decoupled UCT promises no equilibrium; here all three means come close to the value.
    let decision = TestGame::opened("scissors-paper-rock").ask(0, 1, uct(30_000), &[]);
    assert!(
        decision.candidates.iter().all(|c| (c.mean - 50.0).abs() < 5.0),
        "{decision:?}"
    );
    // The same in a game of several rounds, whose value is 50 as well.
    let decision = TestGame::opened("goofspiel").ask(1, 1, uct(3_000), &[]);
    assert!((decision.candidates[0].mean - 50.0).abs() < 10.0, "{decision:?}");
}

/// Three players and chance: each in turn takes the coin or throws it; who throws heads has 60, the others 20.
const THREE: &str = "
    (role a) (role b) (role c) (role random)
    (init (turn a)) (after a b) (after b c) (after c a)
    (<= (legal ?p take) (true (turn ?p)))
    (<= (legal ?p throw) (true (turn ?p)))
    (<= (legal ?p noop) (role ?p) (distinct ?p random) (not (true (turn ?p))))
    (legal random heads) (legal random tails)
    (<= (next (won ?p 40)) (does ?p take))
    (<= (next (won ?p 100)) (does ?p throw) (does random heads))
    (<= (next (turn ?q)) (does ?p throw) (does random tails) (true (turn ?p)) (after ?p ?q))
    (<= over (true (won ?p ?n)))
    (<= terminal over)
    (<= (goal ?p ?n) (true (won ?p ?n)))
    (<= (goal ?p 10) (role ?p) over (not (winner ?p)))
    (<= (winner ?p) (true (won ?p ?n)))
    (<= (goal ?p 10) (role ?p) (not over))";

#[test]
fn three_roles_and_nature() {
    let table = TestGame::from_text(THREE);
    // Throwing is worth 100 half of the time, and if it fails the next player throws as well: 50 and a bit.
    let deep = table.ask(
        1,
        1,
        minimax(8),
        &[vec!["throw".into(), "noop".into(), "noop".into(), "tails".into()]],
    );
    assert_eq!(deep.mv, "throw");
    assert!(
        (mean(&deep, "take") - 40.0).abs() < 0.1 && mean(&deep, "throw") > 55.0,
        "{deep:?}"
    );
    for insight in [uct(4_000), mast(1_000), nested(2, 60), flat(500)] {
        let name = insight.name();
        assert_eq!(table.ask(0, 1, insight, &[]).mv, "throw", "{name}");
    }
}

/// A role that may run out of moves.
const STUCK: &str = "
    (role a) (role b)
    (init start)
    (<= (legal a go) (true start))
    (<= (legal a wait) (true start))
    (legal b noop)
    (<= (next start) (does a wait))
    (<= (next lost) (does a go))
    (<= terminal (true never))
    (<= (next never) (true never))
    (<= (init never) (true nothing))
    (goal a 50) (goal b 50)";

#[test]
fn a_game_that_gets_stuck_is_a_fault_and_no_panic() {
    let table = TestGame::from_text(STUCK);
    for insight in [uct(50), mast(5), minimax(3), nested(2, 2), flat(4)] {
        let name = insight.name();
        let mut tools = table.slow_tools(0, 1);
        let mut player = Perfect::new(table.tools(0, 1), insight);
        let initial = tools.sim.initial().unwrap();
        assert!(!tools.sim.terminal(&initial).unwrap());
        let told = [Told {
            own: "go".into(),
            sees: vec!["(did a go)".into(), "(did b noop)".into()],
        }];
        let fault = player.choose(&told, &budget()).unwrap_err();
        assert!(matches!(&fault, Fault::NoMove { .. }), "{name}: {fault}");
    }
}

#[test]
fn a_stopped_player_still_has_a_move() {
    let table = TestGame::of("connect-four");
    let stop = StopFlag::default();
    stop.raise();
    let insights = [
        uct(1 << 40),
        mast(1 << 40),
        minimax(60),
        nested(3, 1 << 40),
        flat(1 << 40),
    ];
    for insight in insights {
        let name = insight.name();
        let mut player = Perfect::new(table.tools(0, 1), insight);
        let decision = player.choose(&[], &Budget::timed(stop.clone())).unwrap();
        assert!(decision.mv.starts_with("(drop"), "{name}: {decision:?}");
    }
}

#[test]
fn the_same_seed_decides_the_same() {
    let table = TestGame::of("breakthrough:width=5,height=5");
    let makers: [fn() -> Box<dyn Insight>; 5] =
        [|| uct(1_500), || mast(40), || minimax(3), || nested(2, 1), || flat(30)];
    for make in makers {
        let first = table.ask(0, 7, make(), &[]);
        assert_eq!(first, table.ask(0, 7, make(), &[]), "{}", make().name());
    }
}

#[test]
fn without_lanes_players_play_too() {
    let table = TestGame::of("tictactoe");
    for insight in [uct(200), mast(50), minimax(2), nested(2, 1), flat(20)] {
        let mut player = Perfect::new(table.slow_tools(0, 3), insight);
        let first = player.choose(&[], &budget()).unwrap();
        assert!(first.mv.starts_with("(mark"), "{first:?}");
        assert!(player.meter().states > 0);
    }
}

#[test]
fn the_tree_is_kept_between_moves() {
    let table = TestGame::of("tictactoe");
    let mut tools = table.tools(0, 1);
    let initial = tools.sim.initial().unwrap();
    let mut uct = Uct::new(UctOptions {
        simulations: Some(500),
        solve: false,
        ..UctOptions::default()
    });
    let first = uct.value(&mut tools, &initial, Seed(1), &budget()).unwrap();
    let second = uct.value(&mut tools, &initial, Seed(2), &budget()).unwrap();
    let visits = |worths: &[surmise_search::Worth]| worths.iter().map(|w| w.visits).sum::<u64>();
    assert_eq!((visits(&first), visits(&second)), (500, 1_000));
}

/// Learning before the first move, at it, and a second time: the same values of moves, and the reason with them.
#[test]
fn learned_leaves_are_the_same_each_time() {
    let table = TestGame::of("connect-four");
    let decide = |prepared: bool| {
        let mut player = Perfect::new(table.tools(0, 3), learned(500));
        if prepared {
            player.prepare(&StopFlag::default()).unwrap();
        }
        player.choose(&[], &budget()).unwrap()
    };
    let decision = decide(true);
    assert_eq!((&decision, &decision), (&decide(false), &decide(true)));
    assert!(decision.belief.contains("values learned from"), "{}", decision.belief);
}

#[test]
fn nested_search_finds_the_only_line() {
    // A lock of twelve switches that opens for one combination, which is told digit by digit in the goal.
    let mut text = String::from("(role r) (init (step 0)) (init (right 0)) (legal r on) (legal r off)\n");
    for n in 0..12 {
        text += &format!(
            "(succ {n} {})\n(digit {n} {})\n",
            n + 1,
            if n * 7 % 5 < 3 { "on" } else { "off" }
        );
    }
    text += "(<= (next (step ?b)) (true (step ?a)) (succ ?a ?b))
        (<= good (true (step ?a)) (digit ?a ?d) (does r ?d))
        (<= (next (right ?b)) (true (right ?a)) (succ ?a ?b) good)
        (<= (next (right ?a)) (true (right ?a)) (not good))
        (<= terminal (true (step 12)))\n";
    for n in 0..=12 {
        text += &format!(
            "(<= (goal r {}) (true (right {n})))\n",
            n * 8 + if n == 12 { 4 } else { 0 }
        );
    }
    let table = TestGame::from_text(&text);
    let goals = table.play(&mut [Some(Perfect::new(table.tools(0, 1), nested(3, 2)))], 1);
    assert_eq!(goals, [100]);
}

#[test]
fn hyperplay_with_an_insight() {
    let table = TestGame::of("krieg-tictactoe");
    for make in [|| uct(100), || minimax(2)] {
        let options = Options {
            models: 8,
            ..Options::default()
        };
        let mut player =
            HyperPlay::new(table.tools(0, 1), SamplerKind::Trellis, &options, By::Insight(make())).unwrap();
        let decision = player.choose(&[], &budget()).unwrap();
        assert!(decision.mv.starts_with("(mark"), "{decision:?}");
        assert!(decision.candidates.iter().all(|c| c.visits > 0), "{decision:?}");
        assert!(player.meter().states > 0);
    }
}

#[test]
fn hyperplay_averages_over_models() {
    // Behind one of three doors, and one was opened: minimax in each model says 100 or 0.
    let table = TestGame::of("monty-hall");
    let told = [("(choose 1)", vec![]), ("noop", vec!["(closed 3)".to_owned()])];
    let told = told.map(|(own, sees)| Told { own: own.into(), sees });
    let options = Options::default();
    let mut player = HyperPlay::new(
        table.tools(0, 1),
        SamplerKind::Trellis,
        &options,
        By::Insight(minimax(3)),
    )
    .unwrap();
    let decision = player.choose(&told, &budget()).unwrap();
    assert_eq!(decision.mv, "switch");
    assert!((mean(&decision, "switch") - 200.0 / 3.0).abs() < 1e-3, "{decision:?}");
}

/// The first player chooses who gets how much; the second can do nothing.
const DIVIDE: &str = "
(role chooser) (role waiter)
(init ready)
(<= (legal chooser fair) (true ready)) (<= (legal chooser kind) (true ready)) (legal waiter noop)
(<= (next (did ?m)) (does chooser ?m))
(<= terminal (not (true ready)))
(<= (goal chooser 60) (true (did fair))) (<= (goal waiter 40) (true (did fair)))
(<= (goal chooser 10) (true (did kind))) (<= (goal waiter 90) (true (did kind)))
";

#[test]
fn a_role_without_a_choice_is_worth_something() {
    let table = TestGame::from_text(DIVIDE);
    for seat in 0..2 {
        for mut insight in [flat(4), uct(200), minimax(2)] {
            let mut tools = table.tools(seat, 1);
            let state = tools.sim.initial().unwrap();
            let payoffs = insight.payoffs(&mut tools, &state, Seed(1), &budget()).unwrap();
            let close = |(payoff, known): (&f64, f64)| (payoff - known).abs() < 5.0;
            assert!(
                payoffs.iter().zip([60.0, 40.0]).all(close),
                "{}: {payoffs:?}",
                insight.name()
            );
            assert_eq!(usize::from(tools.role.0), usize::from(seat), "the role is as before");
        }
    }
}
