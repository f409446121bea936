//! Responses to a model of the other role: examples worked out by hand, and what has to hold in any game.

mod common;

use common::{game, tree};
use game::StopFlag;
use surmise_solve::{Form, Limits, LpError, Policy, Response, Tree, Trust, equilibrium, response};

fn respond(form: &Form<'_>, player: usize, model: &Policy, trust: &Trust) -> Response {
    response(form, player, model, trust, &StopFlag::default()).unwrap()
}

#[track_caller]
fn near(value: f64, expected: f64, by: f64) {
    assert!((value - expected).abs() <= by, "{value} is not {expected} within {by}");
}

fn value(form: &Form<'_>) -> f64 {
    let found = equilibrium(form, &StopFlag::default(), Box::new(|_, _| ())).unwrap();
    form.values(&found.policy)[0]
}

/// Player 1 of Kuhn poker against uniform moves, by hand; a chip is 25 points.
///
/// Equilibria of player 1 bet the jack with α ≤ 1/3, call with the queen with α + 1/3 and bet the king with 3α. Against
/// uniform moves they win (1/6 + α)/3 chips, at best 1/6. The best response bets jack and queen; betting or checking
/// the king wins 3/2 either way. It wins 1/2 chip. If it always bets, the other loses 1 with the jack (fold), wins 2
/// with the king, and with the queen wins or loses 2: player 1 gets -1/3. If it checks the king, it gets -1/2.
#[test]
fn kuhn_poker_by_hand() {
    let tree = tree("kuhn-poker");
    let form = Form::new(&tree);
    let uniform = Policy::uniform(&tree);
    let equilibrium = respond(&form, 0, &uniform, &Trust::Match(0.0));
    near(equilibrium.worst, 50.0 - 25.0 / 18.0, 1e-4);
    near(equilibrium.gain, 50.0 + 25.0 / 6.0, 1e-3);
    let best = respond(&form, 0, &uniform, &Trust::Match(1.0));
    near(best.gain, 62.5, 1e-4);
    near(best.worst, 50.0 - 25.0 / 3.0, 1e-3);
}

/// A model that always shows heads: below one half the free part makes up for it, above it the guess is heads.
#[test]
fn matching_pennies_by_hand() {
    let mut sim = game("matching-pennies");
    let tree = Tree::build(&mut sim, &Limits::default(), &mut |_| {}).unwrap();
    let form = Form::new(&tree);
    for player in 0..2 {
        let set = tree.infosets()[tree.infosets_of(1 - player)][0];
        let mut model = Policy::uniform(&tree);
        model.0[set.sequences().start] = 1.0;
        model.0[set.sequences().start + 1] = 0.0;
        for (trust, gain, worst) in [(0.25, 50.0, 50.0), (0.75, 100.0, 0.0), (1.0, 100.0, 0.0)] {
            for trust in [Trust::Match(trust), Trust::Sets(vec![trust])] {
                let found = respond(&form, player, &model, &trust);
                near(found.gain, gain, 1e-3);
                near(found.worst, worst, 1e-3);
            }
        }
        // Guessing heads with probability q gains 100 q and risks all but 100 (1 - q).
        let safe = respond(&form, player, &model, &Trust::Safe(30.0));
        near(safe.gain, 70.0, 1e-3);
        near(safe.worst, 30.0, 1e-3);
    }
}

/// More trust never gains less against the model, nor has a better worst case.
#[test]
fn frontiers_are_monotone_and_end_in_equilibrium_and_best_response() {
    for spec in ["kuhn-poker", "goofspiel:cards=3", "liars-dice:sides=3", "leduc-poker"] {
        let tree = tree(spec);
        let form = Form::new(&tree);
        let uniform = Policy::uniform(&tree);
        let value = value(&form);
        for player in 0..2 {
            let value = if player == 0 { value } else { 100.0 - value };
            let mut last: Option<Response> = None;
            for weight in [0.0, 0.5, 0.9, 1.0] {
                let found = respond(&form, player, &uniform, &Trust::Match(weight));
                if let Some(last) = &last {
                    assert!(found.gain > last.gain - 1e-3, "{spec}: {weight}");
                    assert!(found.worst < last.worst + 1e-3, "{spec}: {weight}");
                }
                // The safe response with the same worst case gains as much.
                let safe = respond(&form, player, &uniform, &Trust::Safe(found.worst - 1e-6));
                assert!(
                    safe.worst > found.worst - 1e-3,
                    "{spec} {weight}: {} {}",
                    safe.worst,
                    found.worst
                );
                // Near equilibrium a millionth of a point buys a hundredth.
                near(safe.gain, found.gain, 0.05);
                match weight {
                    0.0 => near(found.worst, value, 1e-3),
                    1.0 => near(found.gain, form.best_response(player, &mut uniform.clone()), 1e-4),
                    _ => {}
                }
                last = Some(found);
            }
            let sets = tree.infosets_of(1 - player).len();
            let nothing = respond(&form, player, &uniform, &Trust::Sets(vec![0.0; sets]));
            near(nothing.worst, value, 1e-4);
            let everything = respond(&form, player, &uniform, &Trust::Sets(vec![1.0; sets]));
            near(everything.gain, form.best_response(player, &mut uniform.clone()), 1e-4);
        }
    }
}

#[test]
fn other_games_are_refused() {
    let stopped = StopFlag::default();
    stopped.raise();
    let kuhn = tree("kuhn-poker");
    let uniform = Policy::uniform(&kuhn);
    let error = response(&Form::new(&kuhn), 0, &uniform, &Trust::Match(0.5), &stopped);
    assert_eq!(error.unwrap_err(), LpError::Stopped);
    let alone = tree("monty-hall");
    let uniform = Policy::uniform(&alone);
    let error = response(
        &Form::new(&alone),
        0,
        &uniform,
        &Trust::Match(0.5),
        &StopFlag::default(),
    );
    assert_eq!(error.unwrap_err(), LpError::Roles(1));
}
