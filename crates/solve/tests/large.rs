//! Rating and solving without a tree, compared with the tree.

mod common;

use common::{game, random_game, rules};
use game::{Seed, Simulator, StopFlag};
use propnet::Scalar;
use surmise_solve::{
    Algorithm, Form, LargeAlgorithm, LargeError, LargeGame, LargeLimits, LargeProgress, LargeSampler, LargeSampling,
    LargeSolver, Limits, Policy, Profile, ProfileBuilder, RoundsInViews, Tree, is_rated,
};

fn large(sim: &mut Scalar, rounds: RoundsInViews) -> LargeGame {
    LargeGame::build(sim, rounds, &LargeLimits::default(), &mut |_| {}).unwrap()
}

/// The same policy in both forms.
fn profile(large: &LargeGame, tree: &Tree, policy: &Policy) -> (Profile, u64) {
    let mut builder = ProfileBuilder::new(large);
    for set in tree.infosets() {
        let moves: Vec<_> = set.sequences().map(|s| (tree.move_of(s), policy.0[s])).collect();
        builder.insert(set.player as usize, &tree.view(set), &moves).unwrap();
    }
    builder.finish()
}

/// Policies that are not uniform: after some iterations, and drawn at random with zeros.
fn policies(form: &Form<'_>, seed: u64) -> Vec<Policy> {
    let mut solver = Algorithm::CfrPlus.solver(form, Seed(1));
    solver.iterate(7);
    let mut rng = Seed(seed).rng();
    let drawn: Vec<f64> = (0..form.tree().n_sequences())
        .map(|_| match rng.below(3) {
            0 => 0.0,
            _ => rng.unit(),
        })
        .collect();
    vec![
        Policy::uniform(form.tree()),
        solver.average(),
        Policy::proportional(form.tree(), &drawn),
    ]
}

/// Ratings agree with those on the tree. Policies pass through single precision, so the tree gets what came out.
fn compare(mut sim: Scalar, rounds: RoundsInViews, what: &str) {
    let tree = Tree::build(&mut sim, &Limits::default(), &mut |_| {}).unwrap();
    let form = Form::new(&tree);
    let large = large(&mut sim, rounds);
    let n: u64 = large.sizes().infosets.iter().sum();
    assert_eq!(n, tree.infosets().len() as u64, "{what}");
    for policy in policies(&form, 3) {
        let single = Policy::proportional(
            &tree,
            &policy.0.iter().map(|&p| f64::from(p as f32)).collect::<Vec<_>>(),
        );
        let (profile, missing) = profile(&large, &tree, &policy);
        assert_eq!(missing, 0, "{what}");
        let rating = large.rate(&profile, 1, &StopFlag::default(), &mut |_| {});
        assert!(rating.complete);
        for (player, value) in form.values(&single).iter().enumerate() {
            let best = form.best_response(player, &mut single.clone());
            assert!(
                (rating.values[player] - value).abs() < 1e-10,
                "{what}: {rating:?} {value}"
            );
            assert!(
                (rating.best[player].0 - best).abs() < 1e-10,
                "{what}: {rating:?} {best}"
            );
            assert_eq!(rating.best[player].0, rating.best[player].1);
        }
        assert_eq!(
            rating,
            large.rate(&profile, 3, &StopFlag::default(), &mut |_| {}),
            "{what}"
        );
    }
}

#[test]
fn ratings_agree_with_the_tree_on_games_of_the_catalogue() {
    for spec in [
        "kuhn-poker",
        "leduc-poker",
        "matching-pennies",
        "scissors-paper-rock",
        "monty-hall",
        "liars-dice:sides=3",
        "liars-dice:dice=2,sides=2,sorted=1",
        "goofspiel:cards=3",
        "dark-hex:width=2,height=2",
        "dark-hex:width=2,height=2,hidden=1",
        "dark-hex:width=2,height=2,abrupt=1",
        "dark-hex:width=3,height=2,abrupt=1",
        "tiger",
        "banker-and-thief",
    ] {
        for rounds in [RoundsInViews::Auto, RoundsInViews::Counted] {
            compare(game(spec), rounds, spec);
        }
    }
}

#[test]
fn ratings_agree_with_the_tree_on_random_games() {
    let mut rng = Seed(5).rng();
    for number in 0..20 {
        let text = random_game(&mut rng);
        compare(
            Scalar::new(&rules(&text)),
            RoundsInViews::Auto,
            &format!("game {number}"),
        );
    }
}

#[test]
fn passes_solve_games_of_known_value() {
    for (spec, value) in [
        ("kuhn-poker", None),
        ("leduc-poker", None),
        ("liars-dice:sides=3", Some(55.5556)),
        ("dark-hex:width=2,height=2,hidden=1", Some(100.0)),
        ("goofspiel:cards=3", Some(50.0)),
        // One role against nature.
        ("monty-hall", Some(66.6667)),
    ] {
        let large = large(&mut game(spec), RoundsInViews::Auto);
        for algorithm in LargeAlgorithm::ALL {
            let mut solver = LargeSolver::new(&large, algorithm, 2);
            let stop = StopFlag::default();
            (0..400).for_each(|_| assert!(solver.iterate(&stop, &mut |_| {})));
            let rating = solver.rate(&stop, &mut |_| {});
            assert!(rating.nash_conv() < 0.2, "{spec} {algorithm:?}: {rating:?}");
            if let Some(value) = value {
                assert!(
                    (rating.values[0] - value).abs() < 0.1,
                    "{spec} {algorithm:?}: {rating:?}"
                );
            }
            let profile = large.rate(&solver.average(), 1, &stop, &mut |_| {});
            assert!((profile.nash_conv() - rating.nash_conv()).abs() < 1e-9, "{spec}");
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bytes_and_a_checkpoint_goes_on() {
    let large = large(&mut game("leduc-poker"), RoundsInViews::Auto);
    let stop = StopFlag::default();
    let bytes = |solver: &LargeSolver<'_>| {
        let mut out = Vec::new();
        solver.save(&mut out).unwrap();
        out
    };
    let mut saved = Vec::new();
    for algorithm in LargeAlgorithm::ALL {
        let mut one = LargeSolver::new(&large, algorithm, 1);
        let mut three = LargeSolver::new(&large, algorithm, 3);
        for iteration in 1..=18 {
            one.iterate(&stop, &mut |_| {});
            three.iterate(&stop, &mut |_| {});
            if is_rated(iteration) {
                // Whether the average was rated before a restart changes nothing.
                one.keep_best(&stop, &mut |_| {});
            }
        }
        three.keep_best(&stop, &mut |_| {});
        one.keep_best(&stop, &mut |_| {});
        saved = bytes(&one);
        let mut later = LargeSolver::new(&large, algorithm, 2);
        later.restore(&mut saved.as_slice()).unwrap();
        assert_eq!(later.iterations(), 18);
        for _ in 0..20 {
            one.iterate(&stop, &mut |_| {});
            three.iterate(&stop, &mut |_| {});
            later.iterate(&stop, &mut |_| {});
        }
        assert!(bytes(&one) == bytes(&later), "{algorithm:?}");
        assert!(one.average() == three.average(), "{algorithm:?}");
    }
    let mut later = LargeSolver::new(&large, LargeAlgorithm::default(), 2);
    for wrong in [
        &saved[..saved.len() - 1],
        &saved[..40],
        b"something else",
        &[saved.as_slice(), b"x"].concat(),
    ] {
        assert!(later.restore(&mut &wrong[..]).is_err());
        assert_eq!(later.iterations(), 0);
    }
    let other = self::large(&mut game("kuhn-poker"), RoundsInViews::Auto);
    let mut other = LargeSolver::new(&other, LargeAlgorithm::Predictive, 1);
    let error = other.restore(&mut saved.as_slice()).unwrap_err();
    assert!(error.to_string().contains("another game"), "{error}");
}

#[test]
fn too_little_memory_is_told_before_it_is_used() {
    let limits = LargeLimits {
        bytes: 100_000,
        ..LargeLimits::default()
    };
    let error = LargeGame::build(&mut game("leduc-poker"), RoundsInViews::Auto, &limits, &mut |_| {}).err();
    assert!(matches!(error, Some(LargeError::Memory { .. })), "{error:?}");
}

/// Random plays tell of more states than fit when a quarter of the memory is full.
#[test]
fn a_game_that_is_far_too_large_is_refused_early() {
    let limits = LargeLimits {
        bytes: 100 << 20,
        ..LargeLimits::default()
    };
    let mut far_too_large = game("dark-hex:width=4,height=3,hidden=1");
    let mut used = 0;
    let error = LargeGame::build(&mut far_too_large, RoundsInViews::Auto, &limits, &mut |step| {
        if let LargeProgress::States(so_far) = step {
            used = so_far.bytes;
        }
    });
    let error = error.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("random plays"), "{error}");
    assert!(used < limits.bytes / 2, "{used}");
}

#[test]
fn a_stopped_rating_gives_bounds() {
    let large = without_symmetry(&mut game("leduc-poker"));
    let profile = Profile::uniform(&large);
    let whole = large.rate(&profile, 1, &StopFlag::default(), &mut |_| {});
    let looks = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let count = looks.clone();
    let stop = StopFlag::by(move || f64::from(count.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) / 2.0);
    let part = large.rate(&profile, 1, &stop, &mut |_| {});
    assert!(!part.complete);
    for ((low, high), (best, _)) in part.best.iter().zip(&whole.best) {
        assert!(low <= best && best <= high, "{part:?} {whole:?}");
    }
    assert!(part.best.iter().any(|(low, high)| low < high), "{part:?}");
}

/// Published counts of games in which forced moves count as decisions. Waiting is a move too in GDL-II, and does not.
#[test]
fn counts_of_liars_dice_are_the_published_ones() {
    let mut sim = game("liars-dice:dice=2,sides=5,sorted=1");
    let large = large(&mut sim, RoundsInViews::Counted);
    let roles = large.players().to_vec();
    let noop: Vec<_> = roles.iter().map(|&role| sim.find_move(role, "noop").unwrap()).collect();
    let decides = |player: usize, moves: &[game::MoveId]| moves != [noop[player]];
    let views: f64 = (0..2).map(|p| large.count_views(p, &|moves| decides(p, moves))).sum();
    assert_eq!(views, 15_728_640.0);
    assert_eq!(large.count_histories(&decides).0, 235_929_600.0);
}

#[test]
fn counts_agree_with_the_tree() {
    for spec in [
        "kuhn-poker",
        "leduc-poker",
        "dark-hex:width=2,height=2,hidden=1",
        "liars-dice:dice=2,sides=2",
        "leduc-poker:ranks=2,raises=1",
        "phantom-connect:columns=3",
        "phantom-connect:columns=3,abrupt=1",
    ] {
        let mut sim = game(spec);
        let tree = Tree::build(&mut sim, &Limits::default(), &mut |_| {}).unwrap();
        let large = large(&mut sim, RoundsInViews::Counted);
        assert_eq!(large.sizes().histories, tree.histories as f64, "{spec}");
        let sets: f64 = (0..2).map(|p| large.count_views(p, &|moves| moves.len() > 1)).sum();
        assert_eq!(sets, tree.infosets().len() as f64, "{spec}");
    }
}

#[test]
fn counts_are_those_of_programs_that_know_only_the_game() {
    // Counted by a program for each of the two games, which has nothing of ours.
    for (spec, expected) in [
        ("leduc-poker:ranks=2,raises=1", [80, 80]),
        ("leduc-poker:ranks=4", [864, 864]),
        ("leduc-poker:suits=3", [1107, 1107]),
        ("leduc-poker:raises=3", [864, 864]),
        ("phantom-connect:columns=3", [1058, 606]),
        ("phantom-connect:columns=3,hidden=1", [767, 486]),
        ("phantom-connect:columns=3,abrupt=1", [503, 686]),
    ] {
        let large = large(&mut game(spec), RoundsInViews::Auto);
        assert_eq!(large.sizes().infosets, expected, "{spec}");
        if spec.starts_with("phantom-connect") {
            let histories = if spec.ends_with("abrupt=1") { 13527.0 } else { 13407.0 };
            assert_eq!(large.sizes().histories, histories, "{spec}");
        }
    }
}

#[test]
fn dropping_rounds_that_tell_something_makes_another_game() {
    // Whoever waits in the catalogue's form can count the other's failures.
    let counted = large(&mut game("dark-hex:width=2,height=2"), RoundsInViews::Auto);
    let dropped = large(&mut game("dark-hex:width=2,height=2"), RoundsInViews::Dropped);
    let hidden = large(&mut game("dark-hex:width=2,height=2,hidden=1"), RoundsInViews::Auto);
    assert!(counted.is_faithful() && !counted.drops_silent_rounds());
    assert!(!dropped.is_faithful());
    assert!(hidden.is_faithful() && hidden.drops_silent_rounds());
    assert_eq!(dropped.sizes().infosets, hidden.sizes().infosets);
    assert!(counted.sizes().infosets[1] > dropped.sizes().infosets[1]);
    let value = |large: &LargeGame| {
        let rating = large.rate(&Profile::uniform(large), 1, &StopFlag::default(), &mut |_| {});
        rating.best
    };
    let (dropped, hidden) = (value(&dropped), value(&hidden));
    for (a, b) in dropped.iter().zip(&hidden) {
        assert!((a.0 - b.0).abs() < 1e-9, "{dropped:?} {hidden:?}");
    }
}

#[test]
fn restricted_responses_trade_the_worst_case_for_gain() {
    let stop = StopFlag::default();
    for spec in ["kuhn-poker", "leduc-poker", "liars-dice:sides=3"] {
        let large = large(&mut game(spec), RoundsInViews::Auto);
        let model = Profile::uniform(&large);
        let best = large.rate(&model, 1, &stop, &mut |_| {}).best[0].0;
        let mut points = Vec::new();
        for weight in [0.0, 0.5, 0.9, 1.0] {
            let mut solver = LargeSolver::new(&large, LargeAlgorithm::Predictive, 1);
            solver.restrict(1, &model, weight);
            (0..600).for_each(|_| assert!(solver.iterate(&stop, &mut |_| {})));
            let response = solver.average();
            let against = large.rate(&response.with(1, &model), 1, &stop, &mut |_| {}).values[0];
            let worst = 100.0 - large.rate(&response, 1, &stop, &mut |_| {}).best[1].0;
            points.push((against, worst));
        }
        // More weight: more gain, and a worse worst case; the ends are the equilibrium and the best response.
        for pair in points.windows(2) {
            assert!(
                pair[1].0 > pair[0].0 - 0.05 && pair[1].1 < pair[0].1 + 0.05,
                "{spec}: {points:?}"
            );
        }
        assert!(
            (points[3].0 - best).abs() < 0.05,
            "{spec}: {points:?}, best response {best}"
        );
        let mut free = LargeSolver::new(&large, LargeAlgorithm::Predictive, 1);
        (0..600).for_each(|_| assert!(free.iterate(&stop, &mut |_| {})));
        let value = free.rate(&stop, &mut |_| {}).values[0];
        assert!((points[0].1 - value).abs() < 0.05, "{spec}: {points:?}, value {value}");
    }
}

/// The same game without its symmetries.
fn without_symmetry(sim: &mut Scalar) -> LargeGame {
    let limits = LargeLimits {
        symmetry: false,
        ..LargeLimits::default()
    };
    LargeGame::build(sim, RoundsInViews::Auto, &limits, &mut |_| {}).unwrap()
}

/// Symmetries that one can work out by hand.
#[test]
fn symmetries_are_found() {
    for (spec, symmetries) in [
        // Ranks are ordered.
        ("kuhn-poker", 1),
        ("liars-dice:sides=3", 1),
        // Both sides of both coins change places.
        ("matching-pennies", 2),
        // Scissors count double.
        ("scissors-paper-rock", 1),
        // The two cards of each rank.
        ("leduc-poker", 8),
        // Half a turn; anything else would exchange the roles.
        ("dark-hex:width=3,height=2,abrupt=1", 2),
        ("dark-hex:width=2,height=2,hidden=1", 2),
        // The three doors.
        ("monty-hall", 6),
    ] {
        let large = large(&mut game(spec), RoundsInViews::Auto);
        assert_eq!(large.sizes().symmetries, symmetries, "{spec}");
        let sizes = large.sizes();
        let walked: u64 = sizes.infosets_up_to_symmetry.iter().sum();
        let all: u64 = sizes.infosets.iter().sum();
        assert!(
            walked <= all && walked * symmetries as u64 >= all,
            "{spec}: {walked} of {all}"
        );
        assert_eq!(without_symmetry(&mut game(spec)).sizes().symmetries, 1);
    }
}

#[test]
fn symmetries_change_the_work_and_not_the_result() {
    let stop = StopFlag::default();
    for spec in [
        "matching-pennies",
        "scissors-paper-rock",
        "leduc-poker",
        "dark-hex:width=3,height=2,abrupt=1",
        "dark-hex:width=2,height=3,hidden=1",
        "goofspiel:cards=3",
    ] {
        let (with, without) = (
            large(&mut game(spec), RoundsInViews::Auto),
            without_symmetry(&mut game(spec)),
        );
        for algorithm in LargeAlgorithm::ALL {
            let mut solvers = [&with, &without].map(|large| LargeSolver::new(large, algorithm, 2));
            for _ in 0..12 {
                solvers.iter_mut().for_each(|s| assert!(s.iterate(&stop, &mut |_| {})));
            }
            let ratings = solvers.each_ref().map(|s| s.rate(&stop, &mut |_| {}));
            for player in 0..2 {
                assert!(
                    (ratings[0].values[player] - ratings[1].values[player]).abs() < 1e-7,
                    "{spec}: {ratings:?}"
                );
                assert!(
                    (ratings[0].best[player].0 - ratings[1].best[player].0).abs() < 1e-7,
                    "{spec}: {ratings:?}"
                );
            }
            // The average of either is rated alike by the game that knows symmetries: the first one has them.
            let [ours, theirs] = solvers
                .each_ref()
                .map(|s| with.rate(&s.average(), 1, &stop, &mut |_| {}));
            assert!(
                (ours.nash_conv() - theirs.nash_conv()).abs() < 1e-7,
                "{spec}: {ours:?} {theirs:?}"
            );
            if with.sizes().symmetries > 1 {
                let less = ratings[0].entries < ratings[1].entries;
                assert!(less || spec == "matching-pennies", "{spec}: {ratings:?}");
                assert_eq!(ours.entries, ratings[0].entries, "{spec}");
            }
        }
    }
}

/// A model without the symmetries of the game: restricted responses give them up, and are as without them.
#[test]
fn models_without_symmetry_are_answered_without_it() {
    let stop = StopFlag::default();
    let responses = [
        large(&mut game("leduc-poker"), RoundsInViews::Auto),
        without_symmetry(&mut game("leduc-poker")),
    ]
    .map(|large| {
        let tree = Tree::build(&mut game("leduc-poker"), &Limits::default(), &mut |_| {}).unwrap();
        let form = Form::new(&tree);
        let (model, _) = profile(&large, &tree, &policies(&form, 9)[2]);
        let mut solver = LargeSolver::new(&large, LargeAlgorithm::Predictive, 1);
        solver.restrict(1, &model, 0.6);
        (0..20).for_each(|_| assert!(solver.iterate(&stop, &mut |_| {})));
        let response = solver.average().with(1, &model);
        large.rate(&response, 1, &stop, &mut |_| {})
    });
    assert_eq!(responses[0], responses[1]);
}

#[test]
fn a_stopped_rating_goes_on() {
    let large = without_symmetry(&mut game("liars-dice:sides=5"));
    let profile = Profile::uniform(&large);
    let whole = large.rate(&profile, 1, &StopFlag::default(), &mut |_| {});
    let looks = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let count = looks.clone();
    let stop = StopFlag::by(move || f64::from(count.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) / 4.0);
    let work = large.rating_work(&profile);
    let part = large.rate_on(&profile, &work, 1, &stop, &mut |_| {});
    assert!(!part.complete && part.entries < whole.entries, "{part:?} {whole:?}");
    let mut saved = Vec::new();
    work.save(&mut saved).unwrap();
    let later = large.rating_work(&profile);
    later.restore(&mut saved.as_slice()).unwrap();
    let rest = large.rate_on(&profile, &later, 2, &StopFlag::default(), &mut |_| {});
    assert_eq!((&rest.values, &rest.best), (&whole.values, &whole.best));
    assert!(rest.complete && rest.entries < whole.entries, "{rest:?} {whole:?}");
    // Another strategy is another rating; half a file is none.
    let mut solver = LargeSolver::new(&large, LargeAlgorithm::Predictive, 1);
    assert!(solver.iterate(&StopFlag::default(), &mut |_| {}));
    let other = large.rating_work(&solver.average());
    let error = other.restore(&mut saved.as_slice()).unwrap_err();
    assert!(error.to_string().contains("another rating"), "{error}");
    assert!(later.restore(&mut &saved[..saved.len() - 3]).is_err());
}

/// Sampling on the graphs: near the equilibrium that passes find, and the same for any number of threads.
#[test]
fn sampling_approaches_the_equilibrium_on_any_number_of_threads() {
    let stop = StopFlag::default();
    for (spec, value) in [
        ("kuhn-poker", 48.6111),
        ("liars-dice:sides=3", 55.5556),
        // Both choose in one round.
        ("goofspiel:cards=3", 50.0),
        ("dark-hex:width=2,height=2,hidden=1", 100.0),
        ("dark-hex:width=2,height=2,abrupt=1", f64::NAN),
        ("monty-hall", 66.6667),
    ] {
        let large = large(&mut game(spec), RoundsInViews::Auto);
        for (sampling, iterations, close) in [
            (LargeSampling::External, 100_000, 2.0),
            (LargeSampling::Outcome, 200_000, 10.0),
        ] {
            let run = |threads: usize, slices: &[u64]| {
                let mut sampler = LargeSampler::new(&large, sampling, Seed(3), threads);
                slices.iter().for_each(|&n| sampler.iterate(n));
                assert_eq!(sampler.iterations(), iterations);
                sampler.average()
            };
            let one = run(1, &[iterations]);
            let three = run(3, &[1, 1_000, iterations - 1_001]);
            assert!(one == three, "{spec} {sampling:?}");
            let rating = large.rate(&one, 1, &stop, &mut |_| {});
            assert!(rating.nash_conv() < close, "{spec} {sampling:?}: {rating:?}");
            if !value.is_nan() {
                assert!(
                    (rating.values[0] - value).abs() < close,
                    "{spec} {sampling:?}: {rating:?}"
                );
            }
        }
    }
}
