//! The linear program over sequences: known values, and CFR+ as its slow twin on random games.

mod common;

use common::{game, random_game, tree, tree_of};
use game::{Seed, Simulator, StopFlag};
use surmise_solve::{Algorithm, Equilibrium, Form, Limits, LpError, Tree, equilibrium};

fn lp(form: &Form<'_>) -> Result<Equilibrium, LpError> {
    equilibrium(form, &StopFlag::default(), Box::new(|_, _| ()))
}

#[track_caller]
fn near(value: f64, expected: f64, by: f64) {
    assert!((value - expected).abs() <= by, "{value} is not {expected} within {by}");
}

#[test]
fn known_values() {
    for (spec, value) in [
        ("kuhn-poker", 50.0 - 25.0 / 18.0),
        ("matching-pennies", 50.0),
        ("scissors-paper-rock", 50.0),
        ("goofspiel", 50.0),
        ("goofspiel:cards=3", 50.0),
        ("liars-dice:sides=4", 53.125),
    ] {
        let tree = tree(spec);
        let form = Form::new(&tree);
        let found = lp(&form).unwrap().policy;
        let values = form.values(&found);
        near(values[0], value, 1e-7);
        near(values[0] + values[1], 100.0, 1e-9);
        let gap = form.nash_conv(&found);
        assert!(gap < 1e-7, "{spec}: {gap}");
    }
}

#[test]
fn leduc() {
    let tree = tree("leduc-poker");
    let form = Form::new(&tree);
    let found = lp(&form).unwrap().policy;
    // Published with six digits.
    near((form.values(&found)[0] - 50.0) / 3.0, -0.085606, 5e-7);
    assert!(form.nash_conv(&found) < 1e-6, "{}", form.nash_conv(&found));
}

#[test]
fn the_only_equilibrium() {
    let mut sim = game("scissors-paper-rock");
    let tree = Tree::build(&mut sim, &Limits::default(), &mut |_| {}).unwrap();
    let found = lp(&Form::new(&tree)).unwrap().policy;
    for set in tree.infosets() {
        for sequence in set.sequences() {
            let role = tree.players[set.player as usize];
            let often = match sim.move_text(role, tree.move_of(sequence)) {
                "scissors" => 0.2,
                _ => 0.4,
            };
            near(found.0[sequence], often, 1e-9);
        }
    }
}

#[test]
fn random_games_have_the_value_that_cfr_plus_approaches() {
    let mut rng = Seed(11).rng();
    for _ in 0..6 {
        let tree = tree_of(&random_game(&mut rng)).unwrap();
        let form = Form::new(&tree);
        let found = lp(&form).unwrap().policy;
        let gap = form.nash_conv(&found);
        assert!(gap < 1e-6, "{gap}");
        let mut solver = Algorithm::CfrPlus.solver(&form, Seed(1));
        solver.iterate(5_000);
        let slow = solver.average();
        // What each role can get at best against the other's strategy bounds the value from both sides.
        let above = form.best_response(0, &mut slow.clone());
        let below = 100.0 - form.best_response(1, &mut slow.clone());
        assert!(above - below < 0.1, "{below} to {above}");
        let value = form.values(&found)[0];
        assert!((below - 1e-7..above + 1e-7).contains(&value), "{value} {below} {above}");
    }
}

#[test]
fn where_no_plan_leads_the_best_is_done() {
    // Going in is a mistake. After it, `some` is better than `none`. Bob has no choice.
    let text = "
        (role ann) (role bob) (init (step 1))
        (<= (legal ann out) (true (step 1))) (<= (legal ann in) (true (step 1)))
        (<= (legal ann some) (true (step 2))) (<= (legal ann none) (true (step 2)))
        (legal bob noop)
        (<= (next (step 2)) (does ann in)) (<= (next done) (does ann out))
        (<= (next (got some)) (does ann some)) (<= (next (got none)) (does ann none))
        (<= terminal (true done)) (<= terminal (true (got ?x)))
        (<= (goal ann 60) (true done)) (<= (goal bob 40) (true done))
        (<= (goal ann 30) (true (got some))) (<= (goal bob 70) (true (got some)))
        (<= (goal ann 0) (true (got none))) (<= (goal bob 100) (true (got none)))";
    let tree = tree_of(text).unwrap();
    let form = Form::new(&tree);
    let found = lp(&form).unwrap().policy;
    near(form.values(&found)[0], 60.0, 1e-9);
    for set in tree.infosets() {
        let best = set.sequences().map(|s| found.0[s]).fold(0.0, f64::max);
        near(best, 1.0, 1e-9);
    }
    // `some` is worth more than `none`, whatever their order.
    let late = tree.infosets()[1].sequences();
    let mut worse = found.clone();
    worse.0[late].reverse();
    let mut into = found.clone();
    let mut into_worse = worse.clone();
    for policy in [&mut into, &mut into_worse] {
        policy.0[tree.infosets()[0].sequences()].reverse();
    }
    near(form.values(&into)[0], 30.0, 1e-9);
    near(form.values(&into_worse)[0], 0.0, 1e-9);
}

#[test]
fn games_without_a_question() {
    // All payoffs are equal.
    let dull = "
        (role ann) (role bob) (init on) (legal ann a) (legal ann b) (legal bob a) (legal bob b)
        (<= (next off) (true on)) (<= terminal (true off)) (goal ann 50) (goal bob 50)";
    let tree = tree_of(dull).unwrap();
    let form = Form::new(&tree);
    let found = lp(&form).unwrap().policy;
    assert_eq!(form.values(&found), [50.0, 50.0]);
    assert_eq!(form.nash_conv(&found), 0.0);
}

#[test]
fn what_it_is_not_for() {
    let one = tree("tiger");
    assert_eq!(lp(&Form::new(&one)).unwrap_err(), LpError::Roles(1));
    let both_lose = "
        (role ann) (role bob) (init on) (legal ann a) (legal ann b) (legal bob a) (legal bob b)
        (<= (next same) (does ann ?x) (does bob ?x)) (<= (next off) (true on)) (<= terminal (true off))
        (<= (goal ann 100) (true same)) (<= (goal bob 100) (true same))
        (<= (goal ann 0) (not (true same))) (<= (goal bob 0) (not (true same)))";
    let tree_of_both = tree_of(both_lose).unwrap();
    assert_eq!(lp(&Form::new(&tree_of_both)).unwrap_err(), LpError::NotConstantSum);
    let stop = StopFlag::default();
    stop.raise();
    let kuhn = tree("kuhn-poker");
    let error = equilibrium(&Form::new(&kuhn), &stop, Box::new(|_, _| ())).unwrap_err();
    assert_eq!(error, LpError::Stopped);
}
