//! Grounding: constants are folded, limits are kept, cycles are found.

mod support;

use game::{RoleId, Simulator, StopFlag};
use std::sync::Arc;
use support::{face, joint, rules};
use surmise_ground::{Direct, GroundError, Limits, Output, Program, Reference, Splitting, ground};

fn program(text: &str) -> Program {
    ground(&rules(text), &Limits::default(), &mut |_| ()).expect("grounds")
}

#[test]
fn static_parts_are_folded_away() {
    let program = program(
        "(role r) (role random) (c a) (c b) (init (on a)) (<= (legal ?r wait) (role ?r))
         (<= (legal r (light ?x)) (c ?x) (not (true (on ?x)))) (goal random 50)
         (<= (next (on ?x)) (true (on ?x))) (<= (next (on ?x)) (does r (light ?x)))
         (<= terminal (true (on a)) (true (on b)))
         (<= (goal r 100) terminal) (<= (goal r 00) (not terminal)) (<= (goal r 7) (c z))
         (<= (sees r alarm) (true (on z))) (<= (sees r ok) (c a))",
    );
    assert_eq!(program.fluents, ["(on a)", "(on b)"]);
    assert_eq!(program.moves[0], ["(light a)", "(light b)", "wait"]);
    assert_eq!(program.moves[1], ["wait"]);
    assert_eq!(program.legal[0][2], Output::Always);
    assert_eq!(program.initial, [0]);
    assert_eq!(program.percepts[0], ["ok"]);
    assert_eq!(program.sees[0], [Output::Always]);
    assert_eq!(program.goals[1], [(50, Output::Always)]);
    let values: Vec<i32> = program.goals[0].iter().map(|g| g.0).collect();
    assert_eq!(values, [0, 100]);
    assert!(matches!(program.terminal, Output::Atom(_)));
    assert_eq!(program.names.len(), program.n_atoms as usize);
    assert!(program.rules.is_sorted_by_key(|r| r.head));
}

#[test]
fn fluents_that_cannot_follow_and_moves_that_cannot_be_made_are_gone() {
    let program = program(
        "(role r) (init a) (legal r wait) (<= (legal r jump) (true c)) (<= (next a) (true a))
         (<= (next b) (does r jump)) (<= (next c) (true b)) (<= (next c) (true c) (true d))
         (<= (next d) (true d)) (<= terminal (true c)) (goal r 0)",
    );
    assert_eq!(program.fluents, ["a"]);
    assert_eq!(program.moves, [["wait"]]);
    assert_eq!(program.terminal, Output::Never);
}

#[test]
fn spellings_of_one_goal_value_are_one() {
    let text = "(role r) (init a) (init b) (legal r wait) (<= terminal (true a))
         (<= (goal r 0) (true a)) (<= (goal r 00) (true b)) (<= (goal r ?w) (word ?w) (true b)) (word x)
         (<= (next a) (true b)) (<= (next c) (true a))";
    let mut sim = Direct::new(Arc::new(program(text)));
    let s0 = sim.initial().unwrap();
    assert_eq!(sim.program().goals[0].len(), 1);
    assert_eq!(sim.goal(&s0, RoleId(0)), Ok(game::Goal::Value(0)));
}

#[test]
fn negative_cycles_among_atoms_are_refused_and_shown() {
    let reading = gdl::read(
        "(role r) (init x) (goal r 0) (<= terminal (true y)) (legal r wait) (<= (next p) odd)
         (<= odd (true x) (not even)) (<= even (true x) (not odd))",
        &gdl::Options::default(),
    );
    let error = ground(&reading.rules, &Limits::default(), &mut |_| ()).unwrap_err();
    let GroundError::NegativeCycle { cycle } = &error else {
        panic!("{error}");
    };
    assert_eq!(cycle.first(), cycle.last());
    assert!(
        cycle.iter().any(|a| a == "odd") && cycle.iter().any(|a| a == "even"),
        "{error}"
    );
    // The same names without a cycle on atoms are fine.
    let goals = "(role r) (init x) (legal r w) (<= terminal (true x)) (<= (goal r 100) (true y))
         (<= (goal ?r 0) (role ?r) (not (goal ?r 100)))";
    assert_eq!(program(goals).goals[0], [(0, Output::Always)]);
}

#[test]
fn blow_ups_end_at_the_budget_and_name_the_relation() {
    let digits: String = (0..10).map(|n| format!("(d {n}) ")).collect();
    let text = format!(
        "(role r) {digits} (init (sum 0 0 0 0 0 0)) (init (full 9)) (goal r 0)
         (<= terminal (true (full ?n)) (big ?n ?n ?n ?n ?n ?n ?n)) (<= (next (full ?n)) (true (full ?n)))
         (<= (legal r (put ?x)) (d ?x))
         (<= (next (sum ?y 0 0 0 0 0)) (does r (put ?y)))
         (<= (big ?a ?b ?c ?e ?f ?g ?h) (true (sum ?a 0 0 0 0 0))
             (d ?b) (d ?c) (d ?e) (d ?f) (d ?g) (d ?h))"
    );
    let rules = rules(&text);
    let limits = Limits {
        instances: 200_000,
        ..Limits::default()
    };
    let mut last = 0;
    let error = ground(&rules, &limits, &mut |p| last = p.instances).unwrap_err();
    let GroundError::TooLarge { relation, size, limit } = &error else {
        panic!("{error}");
    };
    assert_eq!(relation, "big/7");
    assert!(*size > 100_000 && last > 100_000);
    assert!(limit.contains("200000"), "{limit}");

    let small = Limits {
        bytes: 1 << 20,
        ..Limits::default()
    };
    let error = ground(&rules, &small, &mut |_| ()).unwrap_err();
    assert!(
        error.to_string().contains("bytes") && error.to_string().contains("big/7"),
        "{error}"
    );

    let mut sim = Reference::new(&rules).unwrap();
    let s0 = sim.initial().unwrap();
    assert!(!sim.terminal(&s0).unwrap());
    let put = joint(&mut sim, &["(put 9)"]);
    let s1 = sim.next(&s0, &put).unwrap();
    assert!(sim.terminal(&s1).unwrap());
}

#[test]
fn relations_are_grounded_only_where_they_are_asked() {
    // 20^4 combinations of cells could be counted, through two relations and a recursion; two are.
    let cells: String = (0..20).map(|n| format!("(cell {n}) (init (on {n} red)) ")).collect();
    let text = format!(
        "(role r) {cells} (line 1 2 3 4) (line 5 6 7 8) (goal r 0) (<= (legal r (off ?x)) (cell ?x))
         (<= (next (on ?x ?c)) (true (on ?x ?c)) (not (does r (off ?x))))
         (<= terminal (line ?a ?b ?c ?d) (not (lit ?a ?b ?c ?d red)))
         (<= (lit ?a ?b ?c ?d ?k) (all ?a ?b ?c ?d ?k))
         (<= (all ?a ?b ?c ?d ?k) (true (on ?a ?k)) (true (on ?b ?k)) (true (on ?c ?k)) (true (on ?d ?k)))
         (<= (all ?a ?b ?c ?d ?k) (all ?b ?a ?d ?c ?k) (true (on ?a ?k)))"
    );
    let mut instances = 0;
    let program = ground(&rules(&text), &Limits::default(), &mut |p| instances = p.instances).expect("grounds");
    assert!(instances < 200, "{instances}");
    assert!(matches!(program.terminal, Output::Atom(_)));
}

#[test]
fn static_type_checks_do_not_keep_a_game_from_being_grounded() {
    // 3^12 lists exist, but only two are ever asked about.
    let cons = |e: &[&str]| e.iter().rev().fold("nil".to_owned(), |t, e| format!("(cons {e} {t})"));
    let vars: Vec<String> = (0..16).map(|n| format!("?v{n}")).collect();
    let vars: Vec<&str> = vars.iter().map(String::as_str).collect();
    let kinds: String = vars.iter().map(|v| format!("(kind {v}) ")).collect();
    let (a, b) = (cons(&["a"; 16]), cons(&["b"; 16]));
    let text = format!(
        "(role r) (kind a) (kind b) (kind c) (init (board {a})) (goal r 0)
         (<= (islist {}) {kinds}) (<= (legal r (set {b})) (islist {b}))
         (<= (next (board ?l)) (does r (set ?l)) (islist ?l)) (<= terminal (true (board {b})))",
        cons(&vars)
    );
    let program = program(&text);
    assert_eq!(program.fluents.len(), 2);
}

#[test]
fn growing_terms_are_refused() {
    let reading = gdl::read(
        "(role r) (init (n z)) (legal r wait) (goal r 0) (<= terminal (true (n q)))
         (<= (next (n (s ?x))) (true (n ?x)))",
        &gdl::Options::default(),
    );
    let error = ground(&reading.rules, &Limits::default(), &mut |_| ()).unwrap_err();
    assert!(
        matches!(&error, GroundError::Unbounded { relation, .. } if relation == "next/1"),
        "{error}"
    );
}

#[test]
fn grounding_can_be_stopped() {
    let digits: String = (0..10).map(|n| format!("(d {n}) ")).collect();
    let text = format!(
        "(role r) {digits} (init x) (goal r 0) (legal r wait) (<= terminal (true y))
         (<= (next (f ?a ?b ?c ?e ?f)) (true x) (d ?a) (d ?b) (d ?c) (d ?e) (d ?f))"
    );
    let stop = StopFlag::default();
    let limits = Limits {
        stop: stop.clone(),
        ..Limits::default()
    };
    let result = ground(&rules(&text), &limits, &mut |_| stop.raise());
    assert_eq!(result.unwrap_err(), GroundError::Stopped);
}

#[test]
fn grounding_repeats_itself() {
    let text = "(role a) (role b) (init (at 1)) (s 1 2) (s 2 3) (s 3 1) (<= (legal ?r go) (role ?r))
         (<= (legal a (jump ?x)) (s ?x ?y) (not (true (at ?x))))
         (<= (next (at ?y)) (true (at ?x)) (s ?x ?y) (does a go)) (<= (next (at ?x)) (does a (jump ?x)))
         (<= terminal (true (at 3))) (<= (goal ?r 50) (role ?r)) (<= (sees b ?m) (does a ?m))";
    let (one, two) = (program(text), program(text));
    assert_eq!(format!("{one:?}"), format!("{two:?}"));
}

#[test]
fn splitting_changes_the_rules_but_not_the_game() {
    let text = "(role r) (n 1) (n 2) (n 3) (n 4) (n 5) (n 6) (s 1 2) (s 2 3) (s 3 4) (s 4 5) (s 5 6)
         (init (at 1 1)) (goal r 0) (<= (legal r (go ?x ?y)) (n ?x) (n ?y) (not (true (at ?x ?y))))
         (<= (next (at ?x ?y)) (true (at ?x ?y))) (<= (next (at ?x ?y)) (does r (go ?x ?y)))
         (<= terminal (true (at ?a ?b)) (s ?a ?c) (true (at ?c ?d)) (s ?c ?e) (true (at ?e ?f))
             (distinct ?b ?d) (distinct ?d ?f))";
    let rules = rules(text);
    let grounded = |splitting| {
        let limits = Limits {
            splitting,
            ..Limits::default()
        };
        ground(&rules, &limits, &mut |_| ()).expect("grounds")
    };
    let (off, full) = (grounded(Splitting::Off), grounded(Splitting::Full));
    assert!(
        full.rules.len() < off.rules.len(),
        "{} {}",
        full.rules.len(),
        off.rules.len()
    );
    let mut sims = [Direct::new(Arc::new(off)), Direct::new(Arc::new(full))];
    let mut states = sims.each_mut().map(|s| s.initial().unwrap());
    for text in ["(go 2 3)", "(go 4 2)", "(go 3 1)"] {
        let faces = [0, 1].map(|n| face(&mut sims[n], &states[n]).unwrap());
        assert_eq!(faces[0], faces[1]);
        states = [0, 1].map(|n| {
            let mv = joint(&mut sims[n], &[text]);
            sims[n].next(&states[n], &mv).unwrap()
        });
    }
    assert!(sims[1].terminal(&states[1]).unwrap());
}

/// Stones are counted from place to place; only what the places before may hold can have been counted.
#[test]
fn a_count_that_is_carried_along_is_ground_as_far_as_it_is_asked_for() {
    let next: String = (0..8).map(|n| format!("(s {n} {}) (n {n}) ", n + 1)).collect();
    let text = format!(
        "(role r) {next} (n 8) (init (none 0)) (<= (goal r ?w) (count 0 0 ?w) (distinct ?w 0)) (<= (goal r 0) (count 0 0 0))
         (<= (legal r (put ?x)) (s ?x ?y) (not (true (stone ?x))))
         (<= (next (stone ?x)) (does r (put ?x))) (<= (next (stone ?x)) (true (stone ?x)))
         (<= terminal (count 0 0 3))
         (<= (count ?x ?w ?all) (true (stone ?x)) (s ?x ?y) (s ?w ?v) (count ?y ?v ?all))
         (<= (count ?x ?w ?all) (not (true (stone ?x))) (s ?x ?y) (n ?w) (count ?y ?w ?all))
         (<= (count 8 ?w ?w) (n ?w) (not (true (stone 9))))"
    );
    let rules = rules(&text);
    let grounded = |asked| {
        let limits = Limits {
            asked,
            ..Limits::default()
        };
        let mut instances = 0;
        let program = ground(&rules, &limits, &mut |progress| instances = progress.instances);
        (program.expect("grounds"), instances)
    };
    let ((all, n_all), (asked, n_asked)) = (grounded(false), grounded(true));
    // At place x, w stones may have been counted before, and d follow: d is at most 8 - x, and w + d at most 8. What is
    // asked for has w at most x besides. Of both, the program keeps only what is asked for.
    let at = |x: usize, most: usize| (0..=most).map(|w| (8 - x).min(8 - w) + 1).sum::<usize>();
    let counts: usize = (0..8).map(|x| at(x, x)).sum();
    let counts_in = |program: &Program| program.names.iter().filter(|name| name.starts_with("(count ")).count();
    assert_eq!([&all, &asked].map(counts_in), [counts, counts]);
    // Each that is left out has an instance for an empty place, one for a stone, or both.
    let left_out: usize = (0..=8).map(|x| at(x, 8) - at(x, x)).sum();
    assert!(
        n_all - n_asked >= left_out && n_all - n_asked <= 2 * left_out,
        "{n_all} {n_asked} {left_out}"
    );
    let mut sims = [Direct::new(Arc::new(all)), Direct::new(Arc::new(asked))];
    let mut states = sims.each_mut().map(|s| s.initial().unwrap());
    for text in ["(put 2)", "(put 7)", "(put 0)"] {
        let faces = [0, 1].map(|n| face(&mut sims[n], &states[n]).unwrap());
        assert_eq!(faces[0], faces[1]);
        states = [0, 1].map(|n| {
            let mv = joint(&mut sims[n], &[text]);
            sims[n].next(&states[n], &mv).unwrap()
        });
    }
    assert!(sims[1].terminal(&states[1]).unwrap());
    assert_eq!(sims[1].goal(&states[1], RoleId(0)), Ok(game::Goal::Value(3)));
}
