//! Terms and states that grow without end.

use game::{Fault, RoleId, Simulator};
use surmise_ground::{EvaluationLimits, Reference};

fn reference(text: &str, limits: EvaluationLimits) -> Reference {
    let reading = gdl::read(text, &gdl::Options::default());
    assert!(reading.is_playable(), "{:?}", reading.diagnostics);
    Reference::with(&reading.rules, limits, game::StopFlag::default()).unwrap()
}

/// Plays the first legal moves for so many rounds; returns the fault that ends play, and the longest text of a state.
fn play(sim: &mut Reference, rounds: usize) -> (Option<Fault>, usize) {
    let mut state = sim.initial().unwrap();
    let (mut legal, mut longest) = (Vec::new(), 0);
    for _ in 0..rounds {
        longest = longest.max(sim.fluents(&state).iter().map(String::len).sum());
        sim.legal(&state, RoleId(0), &mut legal).unwrap();
        match sim.next(&state, &legal[..1]) {
            Ok(next) => state = next,
            Err(fault) => return (Some(fault), longest),
        }
    }
    (None, longest)
}

fn blowup(relation: &str, limit: &str) -> Option<Fault> {
    Some(Fault::Blowup {
        relation: relation.to_owned(),
        limit: limit.to_owned(),
    })
}

/// The term doubles every round: its depth grows by one, its text by all it has.
const DOUBLING: &str = "(role a)(init (c z))(legal a go)(<= (next (c (p ?x ?x))) (true (c ?x)))
    (<= terminal (true (c never)))(goal a 0)";

#[test]
fn a_term_that_doubles_every_round_is_stopped_by_its_size() {
    let mut sim = reference(DOUBLING, EvaluationLimits::default());
    let (fault, longest) = play(&mut sim, 40);
    assert_eq!(fault, blowup("next/1", "10000 symbols of a term"));
    assert!(longest < 100_000, "{longest} bytes");
}

#[test]
fn a_state_of_many_large_terms_is_stopped_by_its_size() {
    let text = "(role a)(init (n 1))(legal a go)(<= terminal (true never))(goal a 0)
        (d 1)(d 2)(d 3)(d 4)(d 5)(d 6)(d 7)(d 8)(d 9)(d 10)
        (<= (next (n ?x ?y ?z)) (d ?x) (d ?y) (d ?z))";
    let small = EvaluationLimits {
        state: 3_999,
        ..EvaluationLimits::default()
    };
    assert_eq!(
        play(&mut reference(text, small), 2).0,
        blowup("next/1", "3999 symbols of a state")
    );
    let enough = EvaluationLimits {
        state: 4_000,
        ..EvaluationLimits::default()
    };
    assert_eq!(play(&mut reference(text, enough), 2).0, None);
}
