//! Answers of the reference simulator: facts about known games, and corner cases of the language.

mod support;

use game::{Fault, Goal, RoleId, Simulator, State, StopFlag};
use std::collections::BTreeSet;
use support::conformance::entry;
use support::{joint, legal_texts, percept_texts, rules};
use surmise_ground::{EvaluationLimits, Reference};
use surmise_testing::conformance as folder;

fn reference(text: &str) -> Reference {
    Reference::new(&rules(text)).expect("starts")
}

/// A game of one role `r` that never ends, with these clauses.
fn game(clauses: &str) -> Reference {
    reference(&format!(
        "(role r) (init dawn) (<= (legal r wait) (true dawn)) (goal r 0) (<= terminal (true dusk)) {clauses}"
    ))
}

/// The legal moves of the first role in the initial state.
fn first_moves(sim: &mut Reference) -> Vec<String> {
    let state = sim.initial().unwrap();
    legal_texts(sim, &state, 0).unwrap()
}

/// Checks the moves that the clauses make legal for `r` besides waiting.
#[track_caller]
fn check_moves(clauses: &str, expected: &[&str]) {
    let mut moves = first_moves(&mut game(clauses));
    moves.retain(|m| m != "wait");
    assert_eq!(moves, expected, "{clauses}");
}

const SMOKE: &str = "
(role random) (role guesser) (side h) (side t) (init (phase flip))
(<= (legal random (flip ?s)) (true (phase flip)) (side ?s))
(<= (legal random noop) (true (phase call)))
(<= (legal guesser noop) (true (phase flip)))
(<= (legal guesser (call ?s)) (true (phase call)) (side ?s))
(<= (legal guesser peek) (true (phase call)) (not (true peeked)))
(<= (next (coin ?s)) (or (does random (flip ?s)) (true (coin ?s))))
(<= (next (phase call)) (or (true (phase flip)) (does guesser peek)))
(<= (next (phase over)) (does guesser (call ?s)))
(<= (next (called ?s)) (does guesser (call ?s)))
(<= (next peeked) (or (does guesser peek) (true peeked)))
(<= (sees guesser (coin ?s)) (does guesser peek) (true (coin ?s)))
(<= (terminal) (true (phase over)))
(<= right (true (called ?s)) (true (coin ?s)))
(<= (goal guesser 100) right (not (true peeked)))
(<= (goal guesser 90) right (true peeked))
(<= (goal guesser 0) (true (phase over)) (not right))
(goal random 0)";

#[test]
fn smoke_game_has_eight_histories_and_thirteen_states() {
    let mut sim = reference(SMOKE);
    let mut states = BTreeSet::new();
    let initial = sim.initial().unwrap();
    assert_eq!(count_histories(&mut sim, &initial, &mut states), 8);
    assert_eq!(states.len(), 13);
    assert_eq!(sim.nature(), Some(RoleId(0)));
}

fn count_histories(sim: &mut Reference, state: &State, states: &mut BTreeSet<State>) -> usize {
    states.insert(state.clone());
    if sim.terminal(state).unwrap() {
        return 1;
    }
    let (mut nature, mut guesser) = (Vec::new(), Vec::new());
    sim.legal(state, RoleId(0), &mut nature).unwrap();
    sim.legal(state, RoleId(1), &mut guesser).unwrap();
    let mut histories = 0;
    for &first in &nature {
        for &second in &guesser {
            let next = sim.next(state, &[first, second]).unwrap();
            histories += count_histories(sim, &next, states);
        }
    }
    histories
}

#[test]
fn smoke_game_percepts_and_goals() {
    let mut sim = reference(SMOKE);
    let s0 = sim.initial().unwrap();
    let flip = joint(&mut sim, &["(flip h)", "noop"]);
    assert!(percept_texts(&mut sim, &s0, &flip, 1).unwrap().is_empty());
    let s1 = sim.next(&s0, &flip).unwrap();
    assert_eq!(legal_texts(&mut sim, &s1, 1).unwrap(), ["(call h)", "(call t)", "peek"]);
    let peek = joint(&mut sim, &["noop", "peek"]);
    assert_eq!(percept_texts(&mut sim, &s1, &peek, 1).unwrap(), ["(coin h)"]);
    let s2 = sim.next(&s1, &peek).unwrap();
    let call = joint(&mut sim, &["noop", "(call h)"]);
    let s3 = sim.next(&s2, &call).unwrap();
    assert_eq!(sim.fluents(&s3), ["(called h)", "(coin h)", "(phase over)", "peeked"]);
    assert_eq!(sim.goal(&s3, RoleId(1)), Ok(Goal::Value(90)));
    assert_eq!(sim.goal(&s3, RoleId(0)), Ok(Goal::Value(0)));
    assert_eq!(sim.meter().states, 3);
}

/// Counted by hand in the rules: roles, fluents of the initial state, legal moves there.
#[test]
fn golden_facts() {
    let Some(folder) = folder("golden_facts") else { return };
    let expected: &[(&str, &[&str], usize, &[usize])] = &[
        ("montyhall", &["candidate", "random"], 4, &[3, 3]),
        ("meier", &["random", "p1", "p2"], 2, &[36, 1, 1]),
        ("pennies", &["alice", "random"], 3, &[1, 4]),
        ("kriegTTT_5x5", &["xplayer", "oplayer"], 26, &[25, 25]),
        ("mastermind448", &["random", "player"], 2, &[4, 1]),
        ("transit", &["transit", "patrol"], 4, &[1, 4]),
        ("ticTacToe", &["xplayer", "oplayer"], 10, &[9, 1]),
    ];
    for (game, roles, n_fluents, n_legal) in expected {
        let mut sim = Reference::new(&entry(&folder, game).read().rules).expect("starts");
        let s0 = sim.initial().unwrap();
        let legal: Vec<usize> = (0..roles.len())
            .map(|r| legal_texts(&mut sim, &s0, r).unwrap().len())
            .collect();
        assert_eq!(sim.roles(), *roles, "{game}");
        assert_eq!(sim.fluents(&s0).len(), *n_fluents, "{game}");
        assert_eq!(legal, *n_legal, "{game}");
    }
}

/// Derived by hand from the rules: game, first joint move, what each role sees.
#[test]
fn golden_percepts() {
    let Some(folder) = folder("golden_percepts") else {
        return;
    };
    type Golden<'a> = (&'a str, &'a [&'a str], &'a [&'a [&'a str]]);
    let expected: &[Golden] = &[
        (
            "montyhall",
            &["(choose 1)", "(hide_car 1)"],
            &[&["(does candidate (choose 1))"], &[]],
        ),
        (
            "meier",
            &["(roll p1 1 1)", "noop", "noop"],
            // Everybody sees what the players do, nature too.
            &[
                &["(does p1 noop)", "(does p2 noop)"],
                &["(does p1 noop)", "(does p2 noop)", "(my_dice 1 1)"],
                &["(does p1 noop)", "(does p2 noop)"],
            ],
        ),
        (
            "kriegTTT_5x5",
            &["(mark 1 1)", "(mark 1 1)"],
            &[&["(mark 1 1)"], &["(mark 1 1)"]],
        ),
    ];
    for (game, moves, percepts) in expected {
        let mut sim = Reference::new(&entry(&folder, game).read().rules).expect("starts");
        let s0 = sim.initial().unwrap();
        let moves = joint(&mut sim, moves);
        assert_eq!(sim.roles().len(), percepts.len(), "{game}");
        for (role, expected) in percepts.iter().enumerate() {
            let seen = percept_texts(&mut sim, &s0, &moves, role).unwrap();
            assert_eq!(seen, *expected, "{game}, role {role}");
        }
    }
}

#[test]
fn pennies_percepts_come_one_round_late() {
    let Some(folder) = folder("pennies_percepts_come_one_round_late") else {
        return;
    };
    let mut sim = Reference::new(&entry(&folder, "pennies").read().rules).expect("starts");
    let s0 = sim.initial().unwrap();
    let (mut alice, mut nature) = (Vec::new(), Vec::new());
    sim.legal(&s0, RoleId(0), &mut alice).unwrap();
    sim.legal(&s0, RoleId(1), &mut nature).unwrap();
    let first = [alice[0], nature[0]];
    assert_eq!(percept_texts(&mut sim, &s0, &first, 0).unwrap(), ["(coins unset)"]);
    assert_eq!(sim.goal(&s0, RoleId(1)), Ok(Goal::None));
}

#[test]
fn literal_order_carries_no_meaning() {
    check_moves(
        "(c a) (c b) (<= (legal r (do ?x ?y)) (distinct ?x ?y) (c ?x) (c ?y))",
        &["(do a b)", "(do b a)"],
    );
    check_moves("(c a) (c b) (d a) (<= (legal r ?x) (not (d ?x)) (c ?x))", &["b"]);
}

#[test]
fn recursion_ends_in_the_least_model() {
    let chain = "(s 1 2) (s 2 3) (s 3 4)";
    // Right, left and double recursion.
    for recursive in ["(s ?x ?y) (lt ?y ?z)", "(lt ?x ?y) (s ?y ?z)", "(lt ?x ?y) (lt ?y ?z)"] {
        check_moves(
            &format!(
                "{chain} (<= (lt ?x ?y) (s ?x ?y)) (<= (lt ?x ?z) {recursive})
                 (<= (legal r (from ?x)) (lt ?x 4))"
            ),
            &["(from 1)", "(from 2)", "(from 3)"],
        );
    }
    // A ring, mutual recursion, cycles without a base.
    check_moves(
        "(e 1 2) (e 2 3) (e 3 1) (<= (on ?x ?y) (e ?x ?y)) (<= (on ?x ?z) (off ?x ?y) (e ?y ?z))
         (<= (off ?x ?y) (on ?x ?y)) (<= (legal r ?y) (off 1 ?y))",
        &["1", "2", "3"],
    );
    check_moves("(<= p q) (<= q p) (<= (legal r a) p) (<= (legal r b) (not p))", &["b"]);
    check_moves("(<= p p) (<= p (true dawn)) (<= (legal r a) p)", &["a"]);
}

#[test]
fn two_components_that_meet_late_are_one() {
    // From 1 the search enters the ring 2-3-4 twice before the edge back to 1 is found.
    check_moves(
        "(e 1 2) (e 2 3) (e 3 4) (e 4 2) (e 4 1) (e 1 5) (e 5 3)
         (<= (reach ?x ?y) (e ?x ?y)) (<= (reach ?x ?z) (e ?x ?y) (reach ?y ?z))
         (<= (legal r ?y) (reach 3 ?y))",
        &["1", "2", "3", "4", "5"],
    );
}

#[test]
fn goal_by_not_goal() {
    let text = |cond: &str| {
        format!(
            "(role a) (role b) (init x) (legal a go) (legal b go) (<= terminal (true x))
             (<= (goal a 100) (true {cond})) (<= (goal ?r 0) (role ?r) (not (goal ?r 100)))"
        )
    };
    let mut sim = reference(&text("x"));
    let s0 = sim.initial().unwrap();
    assert_eq!(sim.goal(&s0, RoleId(0)), Ok(Goal::Value(100)));
    assert_eq!(sim.goal(&s0, RoleId(1)), Ok(Goal::Value(0)));
    let mut sim = reference(&text("y"));
    let s0 = sim.initial().unwrap();
    assert_eq!(sim.goal(&s0, RoleId(0)), Ok(Goal::Value(0)));
}

/// Rules as the reader understands them, without its verdict.
fn unchecked(text: &str) -> Reference {
    let reading = gdl::read(text, &gdl::Options::default());
    Reference::new(&reading.rules).expect("starts")
}

#[test]
fn negation_inside_a_component_is_settled_on_atoms() {
    // p(free) waits for ¬q(a), which waits for p(free): as relations a cycle, as atoms none, because of `far`.
    let mut sim = unchecked(
        "(role r) (init x) (d a) (d b) (d c) (far a a) (far a b) (far b a) (far b b) (far b c)
         (far c a) (far c b) (far c c) (goal r 0) (<= terminal (true y))
         (<= (p ?x) (true x) (d ?x) (not (q ?x)))
         (<= (q ?x) (d ?x) (p ?y) (not (far ?x ?y)))
         (<= (legal r (p ?x)) (p ?x)) (<= (legal r (q ?x)) (q ?x))",
    );
    // Only (a c) is not far: q(a) ⇐ p(c); q(b), q(c) never; so p(b), p(c) hold, q(a) holds, p(a) does not.
    assert_eq!(first_moves(&mut sim), ["(p b)", "(p c)", "(q a)"]);
}

#[test]
fn a_real_negative_cycle_is_a_fault_and_leaves_the_rest_usable() {
    let mut sim = unchecked(
        "(role r) (init x) (goal r 0) (<= terminal (true y)) (legal r wait)
         (<= (next p) (not odd)) (<= odd (true x) (not odd))",
    );
    let s0 = sim.initial().unwrap();
    let wait = joint(&mut sim, &["wait"]);
    let fault = sim.next(&s0, &wait).unwrap_err().to_string();
    assert!(fault.contains("E-NEG-CYCLE") && fault.contains("odd/0"), "{fault}");
    assert_eq!(first_moves(&mut sim), ["wait"]);
}

#[test]
fn roles_of_facts_first_then_of_rules_by_text() {
    let sim = reference(
        "(role b) (<= (role ?x) (extra ?x)) (extra z) (extra d) (role a) (extra b)
         (<= (legal ?r go) (role ?r)) (goal a 0) (<= terminal (true x))",
    );
    assert_eq!(sim.roles(), ["b", "a", "d", "z"]);
}

#[test]
fn atoms_of_non_roles_are_ignored_but_can_be_seen() {
    let mut sim = reference(
        "(role r) (init x) (who r) (who hole) (<= (legal ?w dig) (who ?w)) (<= terminal (true y))
         (<= (goal ?w 7) (who ?w)) (word fine) (<= (goal r ?x) (word ?x)) (<= (sees ?w earth) (who ?w) (does r dig))",
    );
    let s0 = sim.initial().unwrap();
    let dig = joint(&mut sim, &["dig"]);
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(sim.raw_legal(&s0).unwrap(), [pair("hole", "dig"), pair("r", "dig")]);
    assert_eq!(
        sim.raw_sees(&s0, &dig).unwrap(),
        [pair("hole", "earth"), pair("r", "earth")]
    );
    let goals = [pair("hole", "7"), pair("r", "7"), pair("r", "fine")];
    assert_eq!(sim.raw_goals(&s0).unwrap(), goals);
    assert_eq!(sim.goal(&s0, RoleId(0)), Ok(Goal::Value(7)));
    assert_eq!(percept_texts(&mut sim, &s0, &dig, 0).unwrap(), ["earth"]);
}

#[test]
fn goal_values_are_numbers_not_spellings() {
    let mut sim = game("(goal r 00)");
    let s0 = sim.initial().unwrap();
    assert_eq!(sim.goal(&s0, RoleId(0)), Ok(Goal::Value(0)));
    let mut sim = game("(goal r 100) (goal r 50)");
    assert_eq!(sim.goal(&s0, RoleId(0)), Ok(Goal::Many(100)));
}

#[test]
fn hints_can_be_read() {
    let mut sim = game("(base (f 1)) (base dawn) (<= (input r ?x) (c ?x)) (c go)");
    assert_eq!(sim.base_hints().unwrap(), ["(f 1)", "dawn"]);
    assert_eq!(sim.input_hints().unwrap(), [("r".to_owned(), "go".to_owned())]);
    assert!(game("").base_hints().unwrap().is_empty());
}

#[test]
fn next_in_sees_speaks_of_the_successor() {
    let mut sim = reference(
        "(role r) (init (at 1)) (succ 1 2) (succ 2 3) (legal r go) (goal r 0)
         (<= terminal (true (at 3))) (<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))
         (<= (sees r (now ?x)) (next (at ?x))) (<= (sees r (then ?x)) (true (at ?x)))",
    );
    let s0 = sim.initial().unwrap();
    let go = joint(&mut sim, &["go"]);
    assert_eq!(percept_texts(&mut sim, &s0, &go, 0).unwrap(), ["(now 2)", "(then 1)"]);
}

#[test]
fn states_read_from_text_are_the_same_states() {
    let mut sim = reference(SMOKE);
    let s0 = sim.initial().unwrap();
    let texts = sim.fluents(&s0);
    assert_eq!(sim.state_of(&texts), Some(s0.clone()));
    assert_eq!(sim.state_of(&["(phase never)".to_owned()]), None);
    let mut fork = sim.fork();
    assert_eq!(fork.initial().unwrap(), s0);
    assert_eq!(fork.fluents(&s0), texts);
    assert_eq!(fork.meter().states, 0);
}

#[test]
fn questions_that_make_no_sense_are_faults() {
    let mut sim = reference(SMOKE);
    let s0 = sim.initial().unwrap();
    let unknown = |r: Result<_, Fault>| matches!(r, Err(Fault::Foreign(_)));
    assert!(unknown(sim.next(&s0, &[]).map(|_| ())));
    assert!(unknown(
        sim.next(&s0, &[game::MoveId(999), game::MoveId(0)]).map(|_| ())
    ));
    assert!(unknown(sim.goal(&s0, RoleId(7)).map(|_| ())));
}

/// A type check whose relation has 3^25 instances: only goal-directed evaluation can play this.
fn nested_list(depth: usize) -> String {
    let cons = |elements: &[String]| {
        elements
            .iter()
            .rev()
            .fold("nil".to_owned(), |tail, e| format!("(cons {e} {tail})"))
    };
    let vars: Vec<String> = (0..depth).map(|n| format!("?v{n}")).collect();
    let kinds: String = vars.iter().map(|v| format!("(kind {v}) ")).collect();
    let initial: Vec<String> = (0..depth).map(|n| ["a", "b", "c"][n % 3].to_owned()).collect();
    let swapped: Vec<String> = (0..depth).map(|n| ["b", "a", "c"][n % 3].to_owned()).collect();
    format!(
        "(role r) (kind a) (kind b) (kind c) (init (board {board})) (goal r 0)
         (<= (islist {pattern}) {kinds})
         (<= (legal r (keep ?l)) (true (board ?l)) (islist ?l))
         (<= (legal r swap) (islist {swapped}))
         (<= (next (board ?l)) (does r (keep ?l)) (islist ?l))
         (<= (next (board {swapped})) (does r swap))
         (<= terminal (true (board {swapped})))",
        board = cons(&initial),
        swapped = cons(&swapped),
        pattern = cons(&vars),
    )
}

#[test]
fn relations_with_astronomically_many_instances_are_asked_piecemeal() {
    let mut sim = reference(&nested_list(25));
    let s0 = sim.initial().unwrap();
    assert_eq!(legal_texts(&mut sim, &s0, 0).unwrap().len(), 2);
    let swap = joint(&mut sim, &["swap"]);
    let s1 = sim.next(&s0, &swap).unwrap();
    assert!(sim.terminal(&s1).unwrap());
}

#[test]
fn long_chains_need_no_deep_stack() {
    let chain: String = (0..20_000).map(|n| format!("(s n{n} n{}) ", n + 1)).collect();
    let mut sim = game(&format!(
        "{chain} (<= (below ?x) (s ?x ?y) (below ?y)) (<= (below n20000) (true dawn))
         (<= (legal r a) (below n0)) (<= (legal r b) (not (below n1)))"
    ));
    assert_eq!(first_moves(&mut sim), ["a", "wait"]);
}

#[test]
fn growing_terms_end_at_a_guard_that_names_the_relation() {
    let grown = "(<= (n (s ?x)) (n ?x)) (n z)";
    let mut sim = unchecked(&format!(
        "(role r) {grown} (legal r wait) (goal r 0) (<= terminal (n q)) (<= (next ?x) (n ?x))"
    ));
    let s0 = sim.initial().unwrap();
    let wait = joint(&mut sim, &["wait"]);
    let fault = sim.next(&s0, &wait).unwrap_err();
    assert!(
        matches!(&fault, Fault::Blowup { relation, .. } if relation == "n/1"),
        "{fault}"
    );
    assert_eq!(first_moves(&mut sim), ["wait"]);
}

#[test]
fn too_many_atoms_end_at_a_guard() {
    let digits: String = (0..10).map(|n| format!("(d {n}) ")).collect();
    let text = format!(
        "(role r) {digits} (init x) (legal r wait) (goal r 0) (<= terminal (true y))
         (<= (next (all ?a ?b ?c ?e ?f)) (true x) (d ?a) (d ?b) (d ?c) (d ?e) (d ?f))"
    );
    let limits = EvaluationLimits {
        atoms: 5_000,
        ..EvaluationLimits::default()
    };
    let mut sim = Reference::with(&rules(&text), limits, StopFlag::default()).unwrap();
    let s0 = sim.initial().unwrap();
    let wait = joint(&mut sim, &["wait"]);
    let fault = sim.next(&s0, &wait).unwrap_err();
    assert!(
        matches!(&fault, Fault::Blowup { relation, .. } if relation == "next/1"),
        "{fault}"
    );
}

#[test]
fn the_stop_flag_ends_a_question() {
    let digits: String = (0..10).map(|n| format!("(d {n}) ")).collect();
    let mut sim = game(&format!(
        "{digits} (<= (legal r never)
            (true dawn) (d ?a) (d ?b) (d ?c) (d ?e) (d ?f) (d ?g) (d ?h) (d ?i) (d ?j)
            (not (some ?a ?b ?c ?e ?f ?g ?h ?i ?j)))
         (<= (some ?a ?b ?c ?e ?f ?g ?h ?i ?j)
            (true dawn) (d ?a) (d ?b) (d ?c) (d ?e) (d ?f) (d ?g) (d ?h) (d ?i) (d ?j))"
    ));
    let stop = StopFlag::default();
    sim.set_stop(stop.clone());
    stop.raise();
    let s0 = sim.initial().unwrap();
    assert_eq!(legal_texts(&mut sim, &s0, 0), Err(Fault::Stopped));
}
