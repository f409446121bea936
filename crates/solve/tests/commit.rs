//! Commitment, compared with games worked out by hand.

mod common;

use common::{tree, tree_of};
use game::StopFlag;
use surmise_solve::{CommitError, Form, Tree, commitment};

fn committed(tree: &Tree, leader: usize) -> Vec<f64> {
    let found = commitment(tree, leader, &StopFlag::default(), &mut |_, _| {}).unwrap();
    let form = Form::new(tree);
    let values = form.values(&found.policy);
    let follower = 1 - leader;
    let best = form.best_response(follower, &mut found.policy.clone());
    assert!(
        best - values[follower] < 1e-4,
        "the follower does not respond: {best} {values:?}"
    );
    values
}

/// Conitzer and Sandholm 2006, their first example, in units of 20 points: the equilibrium is worth 2 to the leader,
/// commitment to a pure strategy 3, and to both halves 3.5.
const BY_HAND: &str = "
    (role leader) (role follower) (init (step 1))
    (<= (legal leader up) (true (step 1))) (<= (legal leader down) (true (step 1)))
    (<= (legal follower left) (true (step 1))) (<= (legal follower right) (true (step 1)))
    (<= (next (step 2)) (true (step 1)))
    (<= (next (did ?r ?m)) (does ?r ?m))
    (<= (sees leader nothing) (does leader nothing))
    (<= terminal (true (step 2)))
    (<= (goal leader ?a) (true (did leader ?x)) (true (did follower ?y)) (pay ?x ?y ?a ?b))
    (<= (goal follower ?b) (true (did leader ?x)) (true (did follower ?y)) (pay ?x ?y ?a ?b))
    (pay up left 40 20) (pay up right 80 0) (pay down left 20 0) (pay down right 60 20)
";

#[test]
fn the_example_of_the_paper() {
    let tree = tree_of(BY_HAND).unwrap();
    let values = committed(&tree, 0);
    assert!((values[0] - 70.0).abs() < 1e-3, "{values:?}");
    // The follower as leader gains nothing: left, and the leader answers up.
    let values = committed(&tree, 1);
    assert!((values[1] - 20.0).abs() < 1e-3, "{values:?}");
}

#[test]
fn with_a_constant_sum_commitment_is_worth_the_equilibrium() {
    for (spec, value) in [
        ("kuhn-poker", 48.6111),
        ("matching-pennies", 50.0),
        ("scissors-paper-rock", 50.0),
    ] {
        for leader in [0, 1] {
            let values = committed(&tree(spec), leader);
            assert!((values[0] - value).abs() < 1e-3, "{spec} {leader}: {values:?}");
        }
    }
}

#[test]
fn what_is_too_large_or_stopped_is_refused() {
    let stop = StopFlag::default();
    let error = commitment(&tree("leduc-poker"), 0, &stop, &mut |_, _| {}).unwrap_err();
    assert!(matches!(error, CommitError::TooMany(_)), "{error}");
    let error = commitment(&tree("monty-hall"), 0, &stop, &mut |_, _| {}).unwrap_err();
    assert_eq!(error, CommitError::Roles(1));
    stop.raise();
    let error = commitment(&tree("kuhn-poker"), 0, &stop, &mut |_, _| {}).unwrap_err();
    assert_eq!(error, CommitError::Stopped);
}

/// One simultaneous round of two roles with payoffs by pair of moves.
fn one_round(leader: &[&str], follower: &[&str], pay: &str) -> String {
    let legal = |role: &str, moves: &[&str]| -> String {
        let rule = |mv: &&str| format!("(<= (legal {role} {mv}) (true (step 1)))\n");
        moves.iter().map(rule).collect()
    };
    format!(
        "(role leader) (role follower) (init (step 1)) {} {} {pay}
        (<= (next (step 2)) (true (step 1)))
        (<= (next (did ?r ?m)) (does ?r ?m))
        (<= (sees leader nothing) (does leader nothing))
        (<= terminal (true (step 2)))
        (<= (goal leader ?a) (true (did leader ?x)) (true (did follower ?y)) (pay ?x ?y ?a ?b))
        (<= (goal follower ?b) (true (did leader ?x)) (true (did follower ?y)) (pay ?x ?y ?a ?b))",
        legal("leader", leader),
        legal("follower", follower)
    )
}

/// An inspector who announces an inspection in half of the cases makes violations not worth while: 100 (1 - p) = 50.
/// The inspector gets 90, and 66.67 in the equilibrium, in which the other side violates in a third of the cases.
#[test]
fn an_inspector_gains_by_announcing() {
    let pay = "(pay inspect comply 80 50) (pay inspect violate 40 0)
        (pay trust comply 100 50) (pay trust violate 0 100)";
    let tree = tree_of(&one_round(&["inspect", "trust"], &["comply", "violate"], pay)).unwrap();
    let values = committed(&tree, 0);
    assert!((values[0] - 90.0).abs() < 1e-3, "{values:?}");
    assert!((values[1] - 50.0).abs() < 1e-3, "{values:?}");
    // The other side as leader: q violations with 80 - 40 q ≤ 100 - 100 q leave the inspector trusting: q = 1/3.
    let values = committed(&tree, 1);
    assert!(
        (values[1] - (2.0 / 3.0 * 50.0 + 1.0 / 3.0 * 100.0)).abs() < 1e-3,
        "{values:?}"
    );
}

/// The post in the north covers north and middle, the one in the south middle and south. The intruder goes south as
/// soon as the north is covered two times in three: the guard gets 80/3 + 2/3 · 50 = 60, and 58.18 in the equilibrium.
#[test]
fn a_border_guard_sends_the_intruder_south() {
    let pay = "(pay north north 80 0) (pay north middle 80 0) (pay north south 50 50) (pay north stay 100 20)
        (pay south north 0 100) (pay south middle 80 0) (pay south south 80 0) (pay south stay 100 20)";
    let moves = ["north", "middle", "south", "stay"];
    let tree = tree_of(&one_round(&["north", "south"], &moves, pay)).unwrap();
    let values = committed(&tree, 0);
    assert!((values[0] - 60.0).abs() < 1e-3, "{values:?}");
    assert!((values[1] - 100.0 / 3.0).abs() < 1e-3, "{values:?}");
}
