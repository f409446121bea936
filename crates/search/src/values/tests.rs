//! Learning in games whose values are known.

use super::*;
use game::Batch;
use propnet::{CompileOptions, Lanes, Scalar, compile};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const SMALL: Plan = Plan {
    rounds: 2,
    states: 20_000,
    games: 400,
    choices: 4,
};

/// White takes a token; nature draws one of four cards. With the good token white wins by three of them, with the bad
/// one by one of them.
const TOKENS: &str = "(role white) (role black) (role random) (init begin)
    (token good) (token bad) (card 1) (card 2) (card 3) (card 4)
    (<= (legal white (take ?t)) (true begin) (token ?t))
    (<= (legal white noop) (not (true begin)))
    (legal black noop)
    (<= (legal random noop) (true begin))
    (<= (legal random (draw ?c)) (true (has ?t)) (card ?c))
    (<= (next (has ?t)) (does white (take ?t)))
    (<= (next (end white)) (true (has good)) (does random (draw ?c)) (distinct ?c 4))
    (<= (next (end black)) (true (has good)) (does random (draw 4)))
    (<= (next (end black)) (true (has bad)) (does random (draw ?c)) (distinct ?c 4))
    (<= (next (end white)) (true (has bad)) (does random (draw 4)))
    (<= terminal (true (end ?r)))
    (<= (goal ?r 100) (true (end ?r)))
    (<= (goal white 0) (true (end black)))
    (<= (goal black 0) (true (end white)))
    (goal random 0)";

fn tools(text: &str, lanes: bool) -> Tools {
    let rules = gdl::read(text, &gdl::Options::default()).rules;
    let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {}).unwrap();
    let game = compile(&program, &CompileOptions::default());
    Tools {
        sim: Box::new(Scalar::new(&game)),
        batch: lanes.then(|| Box::new(Lanes::new(&game, Seed(1))) as Box<dyn Batch>),
        playouts: None,
        others: None,
        role: RoleId(0),
        seed: Seed(1),
    }
}

fn learned(tools: &mut Tools, seed: u64, plan: Plan) -> Learner {
    let mut learner = Learner::new(tools, Seed(seed), plan);
    assert!(learner.learn(tools, &StopFlag::default()).unwrap());
    learner
}

#[test]
fn values_are_the_chances_of_winning() {
    let mut tools = tools(TOKENS, true);
    let plan = Plan { games: 2_000, ..SMALL };
    let learner = learned(&mut tools, 1, plan);
    let values = learner.values().unwrap();
    for (fluent, chance) in [("(has good)", 75.0), ("(has bad)", 25.0)] {
        let state = tools.sim.state_of(&[fluent.to_owned()]).unwrap();
        let found = values.of(&state);
        assert!((found[0] - chance).abs() < 5.0, "{fluent}: {found:?}");
        assert!(
            (found[0] + found[1] - 100.0).abs() < 1e-9,
            "the payoffs are opposed: {found:?}"
        );
    }
    assert!(
        learner.report().contains("decided games; loss 0."),
        "{}",
        learner.report()
    );
}

/// Lanes and simulators learn the same to the last bit, and so does a learner that is interrupted.
#[test]
fn ways_to_learn_agree() {
    let text = catalogue::rules("breakthrough:width=5,height=5").unwrap();
    let mut plain = tools(&text, false);
    let mut wide = tools(&text, true);
    let expected = learned(&mut plain, 7, SMALL);
    let bits = |learner: &Learner| -> Vec<u64> {
        let weights = |(weights, constant): &(Vec<f32>, f64)| {
            let weights: Vec<u64> = weights.iter().map(|w| u64::from(w.to_bits())).collect();
            [weights, vec![constant.to_bits()]].concat()
        };
        learner.values().unwrap().roles.iter().flat_map(weights).collect()
    };
    assert_eq!(bits(&learned(&mut wide, 7, SMALL)), bits(&expected));
    assert_ne!(bits(&learned(&mut wide, 8, SMALL)), bits(&expected), "another seed");
    let looks = Arc::new(AtomicU32::new(0));
    let stop = StopFlag::by(move || f64::from(looks.fetch_add(1, Ordering::Relaxed)) / 20.0);
    let mut broken = Learner::new(&wide, Seed(7), SMALL);
    let before = wide.meter().states;
    assert!(!broken.learn(&mut wide, &stop).unwrap() && broken.values().is_none());
    assert!(
        wide.meter().states - before <= 21 * 2 * TOGETHER as u64,
        "it stops soon"
    );
    broken.learn(&mut wide, &StopFlag::default()).unwrap();
    assert_eq!(bits(&broken), bits(&expected));
}

#[test]
fn what_cannot_be_predicted_has_no_values() {
    // Every card wins for either role with the same chance, whatever the token.
    let coin = TOKENS.replace("(distinct ?c 4)", "(distinct ?c 4) (distinct ?c 3)");
    let more = "(<= (next (end black)) (true (has good)) (does random (draw 3)))
        (<= (next (end white)) (true (has bad)) (does random (draw 3)))";
    let mut even = tools(&format!("{coin} {more}"), true);
    let learner = learned(&mut even, 3, SMALL);
    assert!(learner.values().is_none());
    assert!(learner.report().contains("say nothing"), "{}", learner.report());
    // Without numbered fluents nothing is tried.
    let rules = gdl::read(TOKENS, &gdl::Options::default()).rules;
    even.sim = Box::new(ground::Reference::new(&rules).unwrap());
    even.batch = None;
    let mut none = Learner::new(&even, Seed(3), SMALL);
    assert!(!none.learn(&mut even, &StopFlag::default()).unwrap());
    assert!(none.report().contains("no numbered fluents"));
}

/// Drawn games are not counted, games of a single role all are.
#[test]
fn decided_games_count() {
    let drawn = TOKENS.replace("(goal ?r 100) (true (end ?r))", "(goal ?r 0) (true (end ?r))");
    let mut tools = tools(&drawn, true);
    let learner = learned(&mut tools, 1, SMALL);
    assert!(
        learner.values().is_none() && learner.report().contains(" 0 decided games"),
        "{}",
        learner.report()
    );
}
