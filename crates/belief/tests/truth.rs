//! Samplers against the whole information set.

mod common;

use belief::{EnumerateError, InformationSet, Now, Options, SamplerKind, World, enumerate, make};
use common::{Played, game, play, plenty};
use game::{Budget, RoleId, Seed, Simulator};
use propnet::{Compiled, Lanes, Scalar};
use rustc_hash::FxHashMap;

/// Nodes that listing an information set may take in these tests.
const NODES: u64 = 20_000;

/// Games and parameters small enough to list the information sets of, at least for some rounds.
const SMALL: &[&str] = &[
    "banker-and-thief",
    "battleships-in-fog",
    "biased-blind-tictactoe",
    "blind-breakthrough:width=3,height=4",
    "blind-tictactoe",
    "border-protection",
    "breakthrough:width=3,height=4",
    "connect-four",
    "goofspiel",
    "guess-who",
    "hidden-connect",
    "krieg-tictactoe:size=3,line=3",
    "kuhn-poker",
    "leduc-poker",
    "liars-dice",
    "mastermind",
    "matching-pennies",
    "meier",
    "monty-hall",
    "number-guessing",
    "phantom-tictactoe",
    "scissors-paper-rock",
    "tictactoe",
    "tiger",
    "transit",
];

/// The information set before a round, unless it is too large to list.
fn truth(compiled: &Compiled, played: &Played, role: RoleId, round: usize) -> Option<InformationSet> {
    let mut sim = Scalar::new(compiled);
    let budget = Budget::iterations(NODES);
    match enumerate(&mut sim, role, &played.view(role, round), Now::Playing, None, &budget) {
        Ok(set) => Some(set),
        Err(EnumerateError::TooLarge) => None,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn trellis_is_exact() {
    for spec in SMALL {
        let compiled = game(spec);
        let mut sim = Scalar::new(&compiled);
        let mut lanes = Lanes::new(&compiled, Seed(0));
        let played = play(&mut sim, &mut Seed(11).child(spec).rng(), 40);
        for role in (0..sim.roles().len()).map(|r| RoleId(r as u16)) {
            let options = Options {
                models: 3,
                layer_limit: 1_000_000,
                ..Options::default()
            };
            let mut sampler = make(SamplerKind::Trellis, &options, role, Seed(1)).unwrap();
            let mut rounds = 0;
            for round in 0..played.rounds() {
                let Some(set) = truth(&compiled, &played, role, round) else {
                    break;
                };
                let mut world = World::with_batch(&mut sim, &mut lanes);
                sampler
                    .update(&mut world, &played.view(role, round), Now::Playing, &plenty())
                    .unwrap();
                let report = &sampler.belief().report;
                assert!(report.exact);
                assert_eq!(report.histories, Some(set.histories.len() as f64), "{spec} {round}");
                let truth = set.states();
                let believed: FxHashMap<_, _> = sampler.posterior().into_iter().collect();
                assert_eq!(believed.len(), truth.len(), "{spec} {round}");
                for (state, (_, p)) in &truth {
                    assert!((believed[state] - p).abs() < 1e-12, "{spec} {round}");
                }
                rounds += 1;
            }
            assert!(rounds >= 1, "{spec}: not even the first round");
        }
    }
}
