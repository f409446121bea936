//! The values that `testdata/facts.md` states, by solving the games. They were found by other means; see there.

mod common;

use common::game;
use game::{Simulator, StopFlag};
use surmise_solve::{BuildError, Form, Limits, Policy, Tree, equilibrium};

/// Histories of games that are solved here, with one role and with more. Larger ones take longer than a test should;
/// those with one role are checked by the catalogue's tests too.
const LIMIT: [u64; 2] = [50_000, 700_000];

/// Values that are stated: game, role, points.
fn stated() -> Vec<(String, String, f64)> {
    let mut at = String::new();
    let mut found = Vec::new();
    for line in include_str!("../../../testdata/facts.md").lines() {
        let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
        match words.as_slice() {
            ["game", spec] => at = (*spec).to_owned(),
            // Only of whole games: not after some moves.
            ["play", ..] => at.clear(),
            ["value", role, points] if !at.is_empty() => {
                found.push((at.clone(), (*role).to_owned(), points.parse().unwrap()));
            }
            _ => {}
        }
    }
    found
}

fn solved(spec: &str, role: &str) -> Result<f64, BuildError> {
    let mut sim = game(spec);
    let alone = sim.roles().len() - usize::from(sim.nature().is_some()) == 1;
    let limits = Limits {
        histories: LIMIT[usize::from(!alone)],
        ..Limits::default()
    };
    let tree = Tree::build(&mut sim, &limits, &mut |_| {})?;
    let form = Form::new(&tree);
    let names = sim.roles();
    let mut players = tree.players.iter().map(|r| names[r.0 as usize].as_str());
    let player = players.position(|name| name == role).unwrap();
    if tree.players.len() == 1 {
        return Ok(form.best_response(player, &mut Policy::uniform(&tree)));
    }
    let found = equilibrium(&form, &StopFlag::default(), Box::new(|_, _| ())).unwrap();
    let gap = form.nash_conv(&found.policy);
    assert!(gap < 1e-4, "{spec}: NashConv {gap}");
    Ok(form.values(&found.policy)[player])
}

#[test]
fn stated_values_are_those_of_the_solver() {
    let mut checked = 0;
    for (spec, role, points) in stated() {
        match solved(&spec, &role) {
            Ok(found) => {
                assert!(
                    (found - points).abs() < 1e-4,
                    "{spec}: {role} gets {found}, not {points}"
                );
                checked += 1;
            }
            Err(BuildError::TooLarge { .. }) => eprintln!("not checked, too large: {spec}"),
            Err(error) => panic!("{spec}: {error}"),
        }
    }
    assert!(checked >= 15, "only {checked} values were checked");
}
