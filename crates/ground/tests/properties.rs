//! The reference simulator and ground programs agree on random games, over whole plays.

mod support;

use game::Seed;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::sync::Arc;
use support::walk::compare_play;
use surmise_ground::testing::random_game;
use surmise_ground::{Direct, GroundError, Limits, Reference, Splitting, ground};

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn engines_agree(genes in prop::collection::vec(any::<u8>(), 250..900), seed in any::<u64>()) {
        let text = random_game(&genes);
        let reading = gdl::read(&text, &gdl::Options::default());
        prop_assert!(reading.is_playable(), "{}", reading.render("random"));
        let mut reference = Reference::new(&reading.rules).expect("starts");
        let ways = [
            (Splitting::Off, false),
            (Splitting::Components, false),
            (Splitting::Full, false),
            (Splitting::Off, true),
            (Splitting::Thorough, true),
        ];
        for (splitting, asked) in ways {
            let limits = Limits { splitting, asked, ..Limits::default() };
            let program = ground(&reading.rules, &limits, &mut |_| ());
            let program = program.map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
            check_program(&program);
            let mut direct = Direct::new(Arc::new(program));
            for play in 0..3 {
                let rng = Seed(seed).nth(play).rng();
                compare_play(&mut reference, &mut direct, rng)
                    .map_err(|e| TestCaseError::fail(format!("{splitting:?}, asked {asked}: {e}\n{text}")))?;
            }
        }
    }
}

/// Relations that are negated in a cycle; on ground atoms the cycle may vanish.
#[test]
fn engines_agree_on_local_stratification() {
    let near = prop::collection::vec((0..6_usize, 0..6_usize), 0..9);
    let compared = Cell::new(0);
    let config = ProptestConfig {
        cases: cases(),
        source_file: Some(file!()),
        ..ProptestConfig::default()
    };
    let outcome = TestRunner::new(config).run(&near, |near| {
        let text = negative_cycle(&near);
        // The reader refuses such rules; the engines must give them their meaning or refuse them.
        let rules = gdl::read(&text, &gdl::Options::default()).rules;
        let mut reference = Reference::new(&rules).expect("starts");
        let program = match ground(&rules, &Limits::default(), &mut |_| ()) {
            Ok(program) => program,
            Err(GroundError::NegativeCycle { .. }) => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(format!("{error}\n{text}"))),
        };
        compared.set(compared.get() + 1);
        let mut direct = Direct::new(Arc::new(program));
        compare_play(&mut reference, &mut direct, Seed(0).rng())
            .map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(
        compared.get() >= cases() / 10,
        "only {} games were compared",
        compared.get()
    );
}

/// p(x) unless q(x); q(x) if p(y) for some y near x.
fn negative_cycle(near: &[(usize, usize)]) -> String {
    let mut text = "(role r) (init go) (goal r 0) (<= terminal (true stop))
        (<= (p ?x) (true go) (d ?x) (not (q ?x))) (<= (q ?x) (d ?x) (some ?x) (p ?y) (not (far ?x ?y)))
        (<= (some ?x) (d ?x) (not (none ?x))) (<= (none ?x) (d ?x) (true (no ?x)))
        (<= (legal r (p ?x)) (p ?x)) (<= (legal r (q ?x)) (q ?x))
        (<= (next ?f) (true ?f)) (<= (next (no ?x)) (does r (p ?x)))"
        .to_owned();
    for x in 0..6 {
        text.push_str(&format!("(d {x})"));
        for y in (0..6).filter(|&y| !near.contains(&(x, y))) {
            text.push_str(&format!("(far {x} {y})"));
        }
    }
    text
}

fn cases() -> u32 {
    if std::env::var_os("SURMISE_FULL").is_some() {
        5000
    } else {
        300
    }
}

/// Checks the promises of [`surmise_ground::Program`].
fn check_program(program: &surmise_ground::Program) {
    let inputs: Vec<u32> = program
        .true_atoms
        .iter()
        .chain(program.does_atoms.iter().flatten())
        .map(|a| a.0)
        .collect();
    assert!(program.fluents.is_sorted() && program.moves.iter().all(|m| m.is_sorted()));
    assert!(program.rules.is_sorted_by_key(|r| r.head));
    for rule in &program.rules {
        assert!(!inputs.contains(&rule.head.0), "an input has a rule");
        assert!(
            !rule.body.is_empty(),
            "{} is constant",
            program.names[rule.head.0 as usize]
        );
        assert!(rule.body.is_sorted_by(|a, b| a < b));
    }
    let mut given = vec![false; program.n_atoms as usize];
    inputs
        .iter()
        .chain(program.rules.iter().map(|r| &r.head.0))
        .for_each(|&a| given[a as usize] = true);
    assert!(given.iter().all(|&g| g), "an atom that nothing gives");
}
