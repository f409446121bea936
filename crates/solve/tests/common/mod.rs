//! Games to solve.
#![allow(dead_code, reason = "every test file uses a part of it")]

use propnet::{Compiled, Scalar};
use solve::{BuildError, Limits, Tree};

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
