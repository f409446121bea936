//! Properties of every sampler: it depends on its view only, repeats itself, and always gives an answer.

mod common;

use common::{believe, game, play, plenty, update};
use game::{Budget, MoveId, PerceptId, RoleId, Round, Seed, Simulator, SlowBatch, State, StopFlag, View};
use propnet::{Compiled, Lanes, Scalar};
use std::collections::{BTreeMap, BTreeSet};
use surmise_belief::{Belief, BeliefError, Joint, Model, Now, Options, Remedy, Sampler, SamplerKind, Weights, World};
use surmise_belief::{enumerate, make, possible_moves};

const GAMES: &[&str] = &[
    "blind-breakthrough:width=4,height=5",
    "krieg-tictactoe:size=3,line=3",
    "leduc-poker",
    "transit",
    "meier",
];

/// Few models, small limits: everything that can happen, happens.
fn tight() -> Options {
    Options {
        models: 12,
        layer_limit: 40,
        offline_after: 300,
        attempts: 2_000,
        ..Options::default()
    }
}

fn variants() -> Vec<(SamplerKind, Options)> {
    let mut all: Vec<_> = SamplerKind::ALL.into_iter().map(|kind| (kind, tight())).collect();
    all.push((
        SamplerKind::Trellis,
        Options {
            layer_limit: 100_000,
            ..tight()
        },
    ));
    for remedy in [Remedy::Weight, Remedy::Balance] {
        let weights = Weights::ChoiceFactor;
        all.push((
            SamplerKind::Hyperplay,
            Options {
                remedy,
                weights,
                share_dead: true,
                ..tight()
            },
        ));
    }
    all
}

/// Replays a model; panics if it does not explain the view.
fn check(sim: &mut dyn Simulator, role: RoleId, view: &View, model: &Model) {
    assert_eq!(model.history.len(), view.rounds.len());
    let mut state = sim.initial().unwrap();
    let mut log_choice = 0.0;
    let (mut legal, mut sees) = (Vec::new(), Vec::new());
    for (joint, round) in model.history.iter().zip(&view.rounds) {
        assert!(!sim.terminal(&state).unwrap());
        assert_eq!(joint[role.0 as usize], round.own);
        for (other, mv) in joint.iter().enumerate() {
            sim.legal(&state, RoleId(other as u16), &mut legal).unwrap();
            assert!(legal.contains(mv));
            if other != role.0 as usize {
                log_choice += (legal.len() as f64).ln();
            }
        }
        sim.percepts(&state, joint, role, &mut sees).unwrap();
        assert_eq!(sees, round.sees);
        state = sim.next(&state, joint).unwrap();
    }
    assert_eq!(state, model.state);
    assert!(!sim.terminal(&state).unwrap());
    assert!((log_choice - model.log_choice).abs() < 1e-9);
}

#[test]
fn models_reproduce_the_view() {
    for spec in GAMES {
        let compiled = game(spec);
        let mut sim = Scalar::new(&compiled);
        let played = play(&mut sim, &mut Seed(21).child(spec).rng(), 14);
        for role in (0..sim.roles().len()).map(|r| RoleId(r as u16)) {
            for (kind, options) in variants() {
                let mut sampler = make(kind, &options, role, Seed(2)).unwrap();
                for round in 0..played.rounds() {
                    let view = played.view(role, round);
                    update(&compiled, &mut *sampler, &view, Now::Playing);
                    let belief = sampler.belief();
                    assert!(!belief.models.is_empty());
                    let total: f64 = belief.models.iter().map(|m| m.weight).sum();
                    assert!((total - 1.0).abs() < 1e-9);
                    assert!(belief.report.ess <= belief.models.len() as f64 + 1e-9);
                    assert_eq!(belief.report.live + belief.report.offline, options.models);
                    if belief.report.relaxed.is_empty() {
                        belief
                            .models
                            .iter()
                            .for_each(|model| check(&mut sim, role, &view, model));
                    } else {
                        // Only samplers that may give up are ever at a loss on a true view.
                        assert!(
                            matches!(kind, SamplerKind::Naive | SamplerKind::Cached),
                            "{spec} {kind} {round}"
                        );
                    }
                }
            }
        }
    }
}

/// What a role sees of a history.
fn view_of(sim: &mut dyn Simulator, role: RoleId, history: &[Joint]) -> View {
    let mut state: State = sim.initial().unwrap();
    let mut view = View::default();
    for joint in history {
        let mut sees = Vec::new();
        sim.percepts(&state, joint, role, &mut sees).unwrap();
        view.rounds.push(Round {
            own: joint[role.0 as usize],
            sees,
        });
        state = sim.next(&state, joint).unwrap();
    }
    view
}

#[test]
fn two_true_states_with_one_view_give_one_belief() {
    for spec in GAMES {
        let compiled = game(spec);
        let mut sim = Scalar::new(&compiled);
        let played = play(&mut sim, &mut Seed(4).child(spec).rng(), 3);
        let mut set_of = |role: RoleId| {
            let view = played.view(role, played.rounds() - 1);
            enumerate(&mut sim, role, &view, Now::Playing, None, &plenty()).unwrap()
        };
        // The role that knows less.
        let sets = [RoleId(0), RoleId(1)].map(|role| (role, set_of(role)));
        let (role, set) = sets.into_iter().max_by_key(|(_, set)| set.histories.len()).unwrap();
        let (one, other) = (&set.histories[0], &set.histories[set.histories.len() - 1]);
        assert_ne!(one.joints, other.joints, "{spec}: nothing is hidden");
        let (one, other) = (
            view_of(&mut sim, role, &one.joints),
            view_of(&mut sim, role, &other.joints),
        );
        for (kind, options) in variants() {
            let first = believe(&compiled, kind, &options, role, Seed(9), &one);
            let second = believe(&compiled, kind, &options, role, Seed(9), &other);
            assert_eq!(first.belief(), second.belief(), "{spec} {kind}");
        }
    }
}

/// The belief on a world, without what it cost to compute.
fn on(world: &mut World, kind: SamplerKind, options: &Options, views: &[View]) -> Belief {
    let mut sampler = make(kind, options, RoleId(0), Seed(7)).unwrap();
    for view in views {
        sampler.update(world, view, Now::Playing, &plenty()).unwrap();
    }
    let mut belief = sampler.belief().clone();
    (belief.report.successors, belief.report.update_successors) = (0, 0);
    belief
}

#[test]
fn lanes_and_their_slow_twins_give_the_same_bytes() {
    for spec in GAMES {
        let compiled = game(spec);
        let mut sim = Scalar::new(&compiled);
        let played = play(&mut sim, &mut Seed(8).child(spec).rng(), 8);
        let views: Vec<View> = (0..played.rounds())
            .map(|round| played.view(RoleId(0), round))
            .collect();
        for (kind, options) in variants() {
            let mut lanes = Lanes::new(&compiled, Seed(0));
            let fast = on(&mut World::with_batch(&mut sim, &mut lanes), kind, &options, &views);
            for width in [3, 256] {
                let mut slow = SlowBatch::new(Box::new(Scalar::new(&compiled)), width);
                let twin = on(&mut World::with_batch(&mut sim, &mut slow), kind, &options, &views);
                assert_eq!(twin, fast, "{spec} {kind} {width}");
            }
            assert_eq!(
                on(&mut World::new(&mut sim), kind, &options, &views),
                fast,
                "{spec} {kind}"
            );
        }
    }
}

#[test]
fn following_and_starting_late_are_the_same() {
    let compiled = game("krieg-tictactoe:size=3,line=3");
    let mut sim = Scalar::new(&compiled);
    let played = play(&mut sim, &mut Seed(1).rng(), 6);
    let views: Vec<View> = (0..played.rounds())
        .map(|round| played.view(RoleId(0), round))
        .collect();
    for (kind, options) in variants() {
        let followed = on(&mut World::new(&mut sim), kind, &options, &views);
        let late = on(&mut World::new(&mut sim), kind, &options, &views[views.len() - 1..]);
        assert_eq!(followed.models, late.models, "{kind}");
        let again = on(&mut World::new(&mut sim), kind, &options, &views);
        assert_eq!(followed, again, "{kind}");
    }
}

/// A view of a random game with its last round made impossible in some way.
fn broken(compiled: &Compiled, how: usize) -> (View, usize) {
    let mut sim = Scalar::new(compiled);
    let played = play(&mut sim, &mut Seed(31).rng(), 8);
    let round = 3;
    let mut view = played.view(RoleId(0), 5);
    match how {
        0 => view.rounds[round].sees = vec![PerceptId(0), PerceptId(1), PerceptId(2)],
        1 => view.rounds[round].sees = vec![PerceptId(9_999)],
        2 => view.rounds[round].own = MoveId(9_999),
        _ => view.rounds[round].own = view.rounds[round - 1].own,
    }
    (view, round)
}

#[test]
fn a_view_that_nothing_explains_is_survived() {
    for spec in ["krieg-tictactoe:size=3,line=3", "blind-breakthrough:width=4,height=5"] {
        let compiled = game(spec);
        for how in 0..4 {
            let (view, round) = broken(&compiled, how);
            for (kind, options) in variants() {
                let sampler = believe(&compiled, kind, &options, RoleId(0), Seed(1), &view);
                let belief = sampler.belief();
                assert!(!belief.models.is_empty(), "{kind}");
                assert!(
                    belief.report.relaxed.contains(&round),
                    "{spec} {kind} {how}: {:?}",
                    belief.report
                );
                assert!(!belief.report.exact);
                assert!(
                    belief.report.to_string().contains("nothing explains"),
                    "{}",
                    belief.report
                );
                assert!(belief.models.iter().all(|m| m.history.len() == view.rounds.len()));
            }
        }
    }
}

/// Nature draws one of four cards. The role sees its colour and whether it is high, and a bell that never rings.
const CARDS: &str = "
    (role me) (role random) (legal me noop)
    (card 1 red low) (card 2 red high) (card 3 black low) (card 4 black high)
    (<= (legal random (draw ?c)) (card ?c ?colour ?height))
    (<= (sees me ?colour) (does random (draw ?c)) (card ?c ?colour ?height))
    (<= (sees me ?height) (does random (draw ?c)) (card ?c ?colour ?height))
    (<= (sees me bell) (true rings))
    (<= (next (drawn ?c)) (does random (draw ?c)))
    (<= (next rings) (true never)) (init start)
    (<= terminal (true never)) (goal me 0) (goal random 0)";

#[test]
fn percepts_that_nearly_agree_are_better_than_none() {
    let compiled = common::rules(CARDS);
    let mut sim = Scalar::new(&compiled);
    let me = RoleId(0);
    let own = common::mv(&mut sim, me, "noop");
    let mut percept = |text: &str| sim.find_percept(me, text).unwrap_or(PerceptId(9_999));
    let sees = |words: &[PerceptId]| View {
        rounds: vec![Round {
            own,
            sees: words.to_vec(),
        }],
    };
    let [red, high, bell] = ["red", "high", "bell"].map(&mut percept);
    for (kind, options) in variants() {
        // Percepts, and the cards that come nearest: all but the bell agree; the height was not told; it is
        // contradicted.
        for (words, cards) in [
            (&[red, high, bell][..], &["(drawn 2)"][..]),
            (&[red], &["(drawn 1)", "(drawn 2)"]),
            (&[red, bell], &["(drawn 1)", "(drawn 2)"]),
        ] {
            let sampler = believe(&compiled, kind, &options, me, Seed(1), &sees(words));
            for (state, _) in sampler.posterior() {
                let fluents = sim_fluents(&compiled, &state);
                assert!(
                    cards.iter().any(|card| fluents.iter().any(|f| f == card)),
                    "{kind} {words:?}: {fluents:?}"
                );
            }
        }
    }
}

fn sim_fluents(compiled: &Compiled, state: &State) -> Vec<String> {
    Scalar::new(compiled).fluents(state)
}

/// Nature draws a number from 1 to 20, then another one; the role is told whether the second is less.
fn two_numbers() -> Compiled {
    let mut text = String::from(
        "(role me) (role random) (legal me noop) (init first)
         (<= (legal random (draw ?n)) (n ?n))
         (<= (next (drawn ?n)) (true first) (does random (draw ?n)))
         (<= (next (drawn ?n)) (true (drawn ?n)))
         (<= (sees me less) (true (drawn ?n)) (does random (draw ?m)) (less ?m ?n))
         (<= terminal (true never)) (<= (next never) (true never)) (goal me 0) (goal random 0)",
    );
    for n in 1..=20 {
        text += &format!(" (n {n})");
        (1..n).for_each(|m| text += &format!(" (less {m} {n})"));
    }
    common::rules(&text)
}

#[test]
fn a_layer_that_is_cut_short_keeps_its_expectation() {
    let compiled = two_numbers();
    let mut sim = Scalar::new(&compiled);
    let me = RoleId(0);
    let own = common::mv(&mut sim, me, "noop");
    let less = sim.find_percept(me, "less").unwrap();
    let mut view = View {
        rounds: vec![Round { own, sees: vec![] }],
    };
    let options = Options::default();
    let mut mean = 0.0;
    const SEEDS: u64 = 200;
    for seed in 0..SEEDS {
        let mut sampler = make(SamplerKind::Trellis, &options, me, Seed(seed)).unwrap();
        view.rounds.truncate(1);
        let mut world = World::new(&mut sim);
        sampler.update(&mut world, &view, Now::Playing, &plenty()).unwrap();
        view.rounds.push(Round { own, sees: vec![less] });
        // Of 400 joint moves only a few are tried before the time is up.
        let looks = std::sync::atomic::AtomicU64::new(0);
        let stop = StopFlag::by(move || {
            let looks = looks.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            looks as f64 / 6.0
        });
        sampler
            .update(&mut world, &view, Now::Playing, &Budget::timed(stop))
            .unwrap();
        let report = &sampler.belief().report;
        assert!(!report.exact && report.update_touches < 200, "{report:?}");
        for (state, p) in sampler.posterior() {
            let fluents = sim.fluents(&state);
            let drawn = fluents
                .iter()
                .find_map(|f| f.strip_prefix("(drawn ")?.strip_suffix(')'));
            mean += p * drawn.unwrap().parse::<f64>().unwrap() / SEEDS as f64;
        }
    }
    // The first number has probability in proportion to the numbers below it.
    let exact: f64 = (1..=20).map(|n| f64::from(n * (n - 1))).sum::<f64>() / 190.0;
    assert!((mean - exact).abs() < 0.5, "{mean} for {exact}");
}

#[test]
fn the_search_for_the_last_model_has_an_end() {
    let compiled = game("krieg-tictactoe");
    let played = play(&mut Scalar::new(&compiled), &mut Seed(31).rng(), 8);
    let mut view = played.view(RoleId(0), 8);
    view.rounds[7].sees = vec![PerceptId(9_999)];
    let options = Options {
        models: 1,
        offline_after: 100,
        ..Options::default()
    };
    // There are hundreds of thousands of histories to look at.
    let sampler = believe(&compiled, SamplerKind::Hyperplay, &options, RoleId(0), Seed(1), &view);
    let report = &sampler.belief().report;
    assert!(report.relaxed.contains(&7), "{report:?}");
    assert!(report.touches < 100_000, "{report:?}");
}

#[test]
fn a_view_longer_than_any_game_is_an_error() {
    let compiled = game("monty-hall");
    let mut sim = Scalar::new(&compiled);
    let round = Round {
        own: MoveId(0),
        sees: Vec::new(),
    };
    let view = View { rounds: vec![round; 6] };
    for (kind, options) in variants() {
        let mut sampler = make(kind, &options, RoleId(0), Seed(1)).unwrap();
        let error = sampler
            .update(&mut World::new(&mut sim), &view, Now::Playing, &plenty())
            .unwrap_err();
        assert_eq!(error, BeliefError::Impossible { round: 3 }, "{kind}");
        // And the next view is a fresh start.
        sampler
            .update(&mut World::new(&mut sim), &View::default(), Now::Playing, &plenty())
            .unwrap();
        assert_eq!(sampler.belief().models.len(), options.models);
    }
}

#[test]
fn bad_requests_are_refused() {
    let none = Options {
        models: 0,
        ..Options::default()
    };
    let no_layers = Options {
        layer_limit: 0,
        ..Options::default()
    };
    let compiled = game("monty-hall");
    for kind in SamplerKind::ALL {
        let error = make(kind, &none, RoleId(0), Seed(0)).err().unwrap();
        assert!(error.to_string().contains("at least one model"));
        assert!(
            make(kind, &no_layers, RoleId(0), Seed(0))
                .err()
                .unwrap()
                .to_string()
                .contains("layer_limit")
        );
        let mut sampler = make(kind, &Options::default(), RoleId(7), Seed(0)).unwrap();
        let mut sim = Scalar::new(&compiled);
        let error = sampler.update(&mut World::new(&mut sim), &View::default(), Now::Playing, &plenty());
        assert!(error.unwrap_err().to_string().contains("no role number 7"));
    }
    assert!(
        "hyperplya"
            .parse::<SamplerKind>()
            .unwrap_err()
            .to_string()
            .contains("choose")
    );
}

/// A percept that nothing explains is searched for in the whole layer if there is time, and soon given up if there is
/// none.
#[test]
fn a_search_for_what_is_not_there_ends_soon_after_its_time() {
    const LAST: usize = 18;
    let compiled = game("blind-breakthrough");
    let mut sim = Scalar::new(&compiled);
    let mut view = play(&mut sim, &mut Seed(2).rng(), 19).views.swap_remove(1);
    let mut touches = |budget: &Budget| {
        let options = Options {
            layer_limit: 1_000,
            ..Options::default()
        };
        let mut sampler = make(SamplerKind::Trellis, &options, RoleId(1), Seed(3)).unwrap();
        let explained = View {
            rounds: view.rounds[..LAST].to_vec(),
        };
        sampler
            .update(&mut World::new(&mut sim), &explained, Now::Playing, &plenty())
            .unwrap();
        view.rounds[LAST].sees = vec![PerceptId::UNKNOWN; 2];
        sampler
            .update(&mut World::new(&mut sim), &view, Now::Playing, budget)
            .unwrap();
        assert_eq!(sampler.belief().report.relaxed, [LAST]);
        sampler.belief().report.update_touches
    };
    let stop = StopFlag::default();
    stop.raise();
    let (in_time, late) = (touches(&Budget::iterations(20_000)), touches(&Budget::until(stop)));
    assert!(in_time > 10_000, "{in_time} candidates");
    assert!(late < 5_000, "{late} of {in_time} candidates after the time was up");
}

#[test]
fn a_stopped_update_still_answers() {
    let compiled = game("blind-breakthrough:width=4,height=5");
    let mut sim = Scalar::new(&compiled);
    let played = play(&mut sim, &mut Seed(2).rng(), 9);
    let stop = StopFlag::default();
    stop.raise();
    for (kind, options) in variants() {
        for budget in [
            Budget::until(stop.clone()),
            Budget::iterations(0),
            Budget::iterations(50),
        ] {
            let mut sampler = make(kind, &options, RoleId(1), Seed(3)).unwrap();
            for round in 0..played.rounds() {
                let view = played.view(RoleId(1), round);
                sampler
                    .update(&mut World::new(&mut sim), &view, Now::Playing, &budget)
                    .unwrap();
                assert!(!sampler.belief().models.is_empty());
            }
        }
    }
}

#[test]
fn the_end_of_the_game_is_evidence() {
    let compiled = game("krieg-tictactoe:size=3,line=3");
    let mut sim = Scalar::new(&compiled);
    let played = play(&mut sim, &mut Seed(6).rng(), 40);
    let view = played.view(RoleId(0), played.rounds());
    let set = enumerate(&mut sim, RoleId(0), &view, Now::Over, None, &plenty()).unwrap();
    assert!(!set.histories.is_empty());
    for (kind, options) in variants() {
        let mut sampler = make(kind, &options, RoleId(0), Seed(3)).unwrap();
        sampler
            .update(&mut World::new(&mut sim), &view, Now::Over, &plenty())
            .unwrap();
        let relaxed = !sampler.belief().report.relaxed.is_empty();
        // Only samplers that may give up are ever at a loss on a true view.
        let may_give_up = matches!(kind, SamplerKind::Naive | SamplerKind::Cached);
        assert!(!relaxed || may_give_up, "{kind}");
        if !relaxed {
            let places = set.places();
            assert!(
                sampler
                    .belief()
                    .models
                    .iter()
                    .all(|m| places.contains_key(&m.history[..])),
                "{kind}"
            );
        }
    }
}

#[test]
fn samplers_work_on_another_thread() {
    let compiled = game("monty-hall");
    for kind in SamplerKind::ALL {
        let mut sampler: Box<dyn Sampler> = make(kind, &tight(), RoleId(0), Seed(0)).unwrap();
        let compiled = &compiled;
        let updated = std::thread::scope(|scope| {
            let update = move || {
                update(compiled, &mut *sampler, &View::default(), Now::Playing);
                sampler
            };
            scope.spawn(update).join().unwrap()
        });
        assert_eq!(updated.belief().models.len(), tight().models, "{kind}");
    }
}

#[test]
fn a_tiny_layer_finds_its_way_back() {
    let compiled = game("blind-breakthrough");
    let mut sim = Scalar::new(&compiled);
    let options = Options {
        models: 5,
        layer_limit: 2,
        ..Options::default()
    };
    let (mut resampled, mut went_back) = (0, 0);
    for number in 0..8 {
        let played = play(&mut sim, &mut Seed(number).child("tiny").rng(), 60);
        let mut sampler = make(SamplerKind::Trellis, &options, RoleId(1), Seed(number)).unwrap();
        for round in 0..played.rounds() {
            let view = played.view(RoleId(1), round);
            update(&compiled, &mut *sampler, &view, Now::Playing);
            let belief = sampler.belief();
            assert!(
                belief.report.relaxed.is_empty(),
                "game {number}, round {round}: {}",
                belief.report
            );
            belief
                .models
                .iter()
                .for_each(|model| check(&mut sim, RoleId(1), &view, model));
            resampled += usize::from(!belief.report.exact);
        }
        went_back += sampler.belief().report.rebuilt;
    }
    assert!(resampled > 20 && went_back > 0, "{resampled} {went_back}");
}

/// A belief in words, so that engines can be compared.
fn in_words(
    sim: &mut dyn Simulator,
    kind: SamplerKind,
    options: &Options,
    told: &[(String, Vec<String>)],
) -> Vec<(Vec<String>, f64)> {
    let mut view = View::default();
    for (own, sees) in told {
        let own = sim.find_move(RoleId(0), own).unwrap();
        let sees = sees.iter().map(|p| sim.find_percept(RoleId(0), p).unwrap()).collect();
        view.rounds.push(Round { own, sees });
    }
    let belief = on(&mut World::new(sim), kind, options, &[view]);
    belief
        .models
        .iter()
        .map(|m| (sim.fluents(&m.state), m.weight))
        .collect()
}

#[test]
fn any_simulator_will_do() {
    for spec in ["leduc-poker", "krieg-tictactoe:size=3,line=3"] {
        let compiled = game(spec);
        let mut sim = Scalar::new(&compiled);
        let played = play(&mut sim, &mut Seed(14).child(spec).rng(), 4);
        let words = |round: &Round| {
            let sees = round.sees.iter().map(|&p| sim.percept_text(RoleId(0), p).to_owned());
            (sim.move_text(RoleId(0), round.own).to_owned(), sees.collect::<Vec<_>>())
        };
        let told: Vec<_> = played
            .view(RoleId(0), played.rounds() - 1)
            .rounds
            .iter()
            .map(words)
            .collect();
        let text = catalogue::rules(spec).unwrap();
        let reading = gdl::read(&text, &gdl::Options::default());
        for (kind, options) in variants() {
            let mut reference = ground::Reference::new(&reading.rules).unwrap();
            let slow = in_words(&mut reference, kind, &options, &told);
            let fast = in_words(&mut sim, kind, &options, &told);
            assert_eq!(slow.len(), fast.len());
            for ((slow, p), (fast, q)) in slow.iter().zip(&fast) {
                assert_eq!(slow, fast, "{spec} {kind}");
                assert!((p - q).abs() < 1e-12);
            }
        }
    }
}

/// Possible moves and weights of fluents, with a batch and without, are those found by asking about every state.
#[test]
fn possible_moves_and_marginals_are_those_of_every_state() {
    for name in ["krieg-tictactoe:size=3,line=3", "monty-hall", "leduc-poker"] {
        let game = game(name);
        let mut sim = Scalar::new(&game);
        let mut batch = Lanes::new(&game, Seed(1));
        let mut rng = Seed(7).rng();
        // More states than one batch holds, some of them over and some repeated.
        let mut states: Vec<(State, f64)> = Vec::new();
        while states.len() < 600 {
            let played = play(&mut sim, &mut rng, 30);
            states.extend(played.states.into_iter().map(|state| (state, rng.unit())));
        }
        for n in [0, 1, 255, 256, 257, states.len()] {
            let states = &states[..n];
            for role in (0..game.roles().len()).map(|role| RoleId(role as u16)) {
                let (mut expected, mut legal) = (BTreeSet::new(), Vec::new());
                for (state, _) in states {
                    if !sim.terminal(state).unwrap() {
                        sim.legal(state, role, &mut legal).unwrap();
                        expected.extend(legal.iter().map(|&mv| sim.move_text(role, mv).to_owned()));
                    }
                }
                let expected: Vec<String> = expected.into_iter().collect();
                let alone = possible_moves(&mut World::new(&mut sim), role, states).unwrap();
                let together = possible_moves(&mut World::with_batch(&mut sim, &mut batch), role, states).unwrap();
                assert_eq!((&alone, &together), (&expected, &expected), "{name}, {n} states");
            }
            let mut weights: BTreeMap<String, f64> = BTreeMap::new();
            for (state, weight) in states {
                for fluent in sim.fluents(state) {
                    *weights.entry(fluent).or_insert(0.0) += weight;
                }
            }
            assert_eq!(sim.marginals(states), weights, "{name}, {n} states");
        }
    }
}
