//! Damaged rules: both engines answer or refuse, and where both answer they agree.

mod support;

use game::{Rng, RoleId, Seed, Simulator, StopFlag};
use std::sync::Arc;
use support::face;
use surmise_ground::testing::random_game;
use surmise_ground::{Direct, EvaluationLimits, Limits, Reference, ground};

#[test]
fn damaged_rules_do_no_harm() {
    let rounds = if std::env::var_os("SURMISE_FULL").is_some() {
        20_000
    } else {
        400
    };
    let (mut games, mut states) = (0, 0);
    for round in 0..rounds {
        let mut rng = Seed(round).rng();
        let genes: Vec<u8> = (0..600).map(|_| rng.bits() as u8).collect();
        let text = damage(&random_game(&genes), &mut rng);
        let compared = try_game(&text, &mut rng);
        games += u64::from(compared > 0);
        states += compared;
    }
    assert!(
        games >= rounds / 2 && states >= rounds,
        "{games} games with {states} states of {rounds} were compared"
    );
}

/// Swaps, drops and repeats a few tokens.
fn damage(text: &str, rng: &mut Rng) -> String {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let mut tokens: Vec<&str> = spaced.split_whitespace().collect();
    for _ in 0..1 + rng.below(4) {
        let names: Vec<usize> = (0..tokens.len())
            .filter(|&n| !["(", ")", "<="].contains(&tokens[n]))
            .collect();
        let (a, b) = (*rng.pick(&names), *rng.pick(&names));
        match rng.below(4) {
            0 => tokens.swap(a, b),
            1 => tokens[a] = tokens[b],
            2 => tokens.insert(a, tokens[b]),
            _ => drop(tokens.remove(a)),
        }
    }
    tokens.join(" ")
}

/// Plays a game on both engines as far as both answer; returns the number of states in which they were compared.
fn try_game(text: &str, rng: &mut Rng) -> u64 {
    let reading = gdl::read(text, &gdl::Options::default());
    let evaluation = EvaluationLimits {
        atoms: 20_000,
        steps: 100_000,
        ..EvaluationLimits::default()
    };
    let limits = Limits {
        instances: 20_000,
        ..Limits::default()
    };
    let reference = Reference::with(&reading.rules, evaluation, StopFlag::default());
    let program = ground(&reading.rules, &limits, &mut |_| ());
    let Ok(mut reference) = reference else { return 0 };
    let mut direct = program.ok().map(|p| Direct::new(Arc::new(p)));
    let Ok(mut state) = reference.initial() else { return 0 };
    let mut compared = 0;
    for _ in 0..5 {
        let seen = face(&mut reference, &state);
        if let (Some(direct), Ok(seen)) = (&mut direct, &seen) {
            let same = direct.state_of(&seen.fluents).expect("a reachable state is known");
            assert_eq!(&face(direct, &same).expect("never fails"), seen, "{text}");
            compared += 1;
        }
        let Ok(seen) = seen else { return compared };
        if seen.terminal || seen.legal.iter().any(Vec::is_empty) || seen.legal.is_empty() {
            return compared;
        }
        let chosen = seen.legal.iter().enumerate().map(|(r, moves)| {
            let text = rng.pick(moves);
            reference
                .find_move(RoleId(r as u16), text)
                .expect("a legal move is known")
        });
        let joint: Vec<_> = chosen.collect();
        match reference.next(&state, &joint) {
            Ok(next) => state = next,
            Err(_) => return compared,
        }
    }
    compared
}
