//! Games to solve.
#![allow(dead_code, reason = "every test file uses a part of it")]

use game::Rng;
use propnet::{Compiled, Scalar};
use std::fmt::Write as _;
use surmise_solve::{BuildError, Limits, Tree};

/// A compiled game from its rules.
pub fn rules(text: &str) -> Compiled {
    let reading = gdl::read(text, &gdl::Options::default());
    assert!(reading.is_playable(), "{:?}", reading.diagnostics);
    let mut rules = reading.rules;
    rules.announce_moves();
    let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {}).unwrap();
    propnet::compile(&program, &propnet::CompileOptions::default())
}

/// The simulator of a game of the catalogue.
pub fn game(spec: &str) -> Scalar {
    Scalar::new(&rules(&catalogue::rules(spec).unwrap()))
}

/// The tree of a game of the catalogue.
pub fn tree(spec: &str) -> Tree {
    Tree::build(&mut game(spec), &Limits::default(), &mut |_| {}).unwrap()
}

/// The tree of some rules.
pub fn tree_of(text: &str) -> Result<Tree, BuildError> {
    Tree::build(&mut Scalar::new(&rules(text)), &Limits::default(), &mut |_| {})
}

/// Nature gives each role one of two signals; both choose twice, the second time having seen what the other did; goals
/// are drawn at random, and so is how many moves there are.
pub fn random_game(rng: &mut Rng) -> String {
    let (signals, moves) = (["low", "high"], [2 + rng.below(2), 2 + rng.below(2)]);
    let mut text = "
        (role ann) (role bob) (role random) (init (step 1))
        (<= (legal random (deal ?s ?t)) (true (step 1)) (signal ?s) (signal ?t))
        (<= (legal random noop) (not (true (step 1))))
        (<= (legal ann noop) (true (step 1))) (<= (legal bob noop) (true (step 1)))
        (<= (legal ann ?m) (not (true (step 1))) (can ann ?m)) (<= (legal bob ?m) (not (true (step 1))) (can bob ?m))
        (<= (sees ann ?s) (does random (deal ?s ?t))) (<= (sees bob ?t) (does random (deal ?s ?t)))
        (<= (sees ann (other ?m)) (does bob ?m)) (<= (sees bob (other ?m)) (does ann ?m))
        (<= (next (dealt ?s ?t)) (does random (deal ?s ?t))) (<= (next (dealt ?s ?t)) (true (dealt ?s ?t)))
        (<= (next (did 1 ?m ?n)) (true (step 2)) (does ann ?m) (does bob ?n))
        (<= (next (did 1 ?m ?n)) (true (did 1 ?m ?n)))
        (<= (next (did 2 ?m ?n)) (true (step 3)) (does ann ?m) (does bob ?n))
        (<= (next (step 2)) (true (step 1))) (<= (next (step 3)) (true (step 2))) (<= (next (step 4)) (true (step 3)))
        (<= terminal (true (step 4)))
        (<= (now ?g ?h) (true (dealt ?s ?t)) (true (did 1 ?a ?b)) (true (did 2 ?c ?d)) (pay ?s ?t ?a ?b ?c ?d ?g ?h))
        (<= (goal ann ?g) (now ?g ?h)) (<= (goal bob ?h) (now ?g ?h))
        (signal low) (signal high)\n"
        .to_owned();
    for (role, n) in ["ann", "bob"].iter().zip(moves) {
        for m in 0..n {
            let _ = write!(text, "(can {role} {m}) ");
        }
    }
    for s in signals {
        for t in signals {
            for choice in 0..(moves[0] * moves[1]).pow(2) {
                let (a, rest) = (choice % moves[0], choice / moves[0]);
                let (b, rest) = (rest % moves[1], rest / moves[1]);
                let (c, d) = (rest % moves[0], rest / moves[0]);
                let goal = rng.below(101);
                let _ = writeln!(text, "(pay {s} {t} {a} {b} {c} {d} {goal} {})", 100 - goal);
            }
        }
    }
    text
}
