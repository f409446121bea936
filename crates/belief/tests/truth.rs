//! Samplers against the whole information set.

mod common;

use common::{PlayedGame, believe, game, play, plenty};
use game::{Budget, MoveId, PerceptId, RoleId, Seed, Simulator, State, View};
use propnet::{Compiled, Lanes, Scalar};
use rustc_hash::FxHashMap;
use surmise_belief::{EnumerateError, InformationSet, Now, OpponentModel, Options, SamplerKind, World};
use surmise_belief::{chi2, enumerate, make};

/// Nodes that listing an information set may take in these tests.
const NODES: u64 = 60_000;

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
fn truth(compiled: &Compiled, played: &PlayedGame, role: RoleId, round: usize) -> Option<InformationSet> {
    let mut sim = Scalar::new(compiled);
    let budget = Budget::iterations(NODES);
    match enumerate(&mut sim, role, &played.view(role, round), Now::Playing, None, &budget) {
        Ok(set) => Some(set),
        Err(EnumerateError::TooLarge) => None,
        Err(error) => panic!("{error}"),
    }
}

/// The sampler's own listing of the information set is the truth, history by history.
fn whole_set_is_listed(sampler: &dyn surmise_belief::Sampler, set: &InformationSet) {
    let models = sampler.all(set.histories.len()).unwrap();
    let places = set.places();
    assert_eq!(models.len(), set.histories.len());
    for model in &models {
        let truth = &set.histories[places[&model.history[..]]];
        assert_eq!(model.state, truth.state);
        assert!((model.weight - truth.probability).abs() < 1e-12);
    }
    assert!(sampler.all(set.histories.len() - 1).is_none());
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
                whole_set_is_listed(&*sampler, &set);
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

/// Kolmogorov and Smirnov's test of uniformity: the probability of a distance at least as large.
fn uniform(mut ps: Vec<f64>) -> f64 {
    ps.sort_by(f64::total_cmp);
    let n = ps.len() as f64;
    let distance = ps
        .iter()
        .enumerate()
        .map(|(i, p)| (p - i as f64 / n).max((i + 1) as f64 / n - p));
    let d = distance.fold(0.0, f64::max);
    let x = (n.sqrt() + 0.12 + 0.11 / n.sqrt()) * d;
    let terms = (1..100)
        .map(f64::from)
        .map(|k| (-1.0_f64).powf(k - 1.0) * (-2.0 * k * k * x * x).exp());
    (2.0 * terms.sum::<f64>()).clamp(0.0, 1.0)
}

/// Information sets with few enough histories to be sampled well, and many enough that p is nearly continuous.
fn samples(
    kind: SamplerKind,
    options: &Options,
    test: impl Fn(&InformationSet, &[surmise_belief::Model]) -> chi2::Chi2,
) -> Vec<f64> {
    let specs = [
        "krieg-tictactoe:size=3,line=3",
        "leduc-poker",
        "blind-breakthrough:width=3,height=4",
        "transit",
    ];
    let mut ps = Vec::new();
    for spec in specs {
        let compiled = game(spec);
        let mut sim = Scalar::new(&compiled);
        for number in 0..60 {
            let played = play(&mut sim, &mut Seed(number).child(spec).rng(), 5);
            let round = played.rounds() - 1;
            for role in [RoleId(0), RoleId(1)] {
                let Some(set) = truth(&compiled, &played, role, round) else {
                    continue;
                };
                if !(8..=options.models / 10).contains(&set.histories.len()) {
                    continue;
                }
                // Draws of one seed are alike, and so would be their p.
                let seed = Seed(number).child(spec).nth(u64::from(role.0));
                let sampler = believe(&compiled, kind, options, role, seed, &played.view(role, round));
                let tested = test(&set, &sampler.belief().models);
                assert!(tested.reliable);
                ps.push(tested.p);
            }
        }
    }
    ps
}

#[test]
fn trellis_and_naive_draw_from_the_posterior() {
    let options = Options {
        models: 1_000,
        attempts: 10_000_000,
        ..Options::default()
    };
    for kind in [SamplerKind::Trellis, SamplerKind::Naive] {
        let ps = samples(kind, &options, chi2::against_posterior);
        assert!(ps.len() > 40, "{kind}: only {} information sets", ps.len());
        let p = uniform(ps);
        println!("{kind}: {p}");
        assert!(p > 0.01, "{kind}: {p}");
    }
}

#[test]
fn hyperplay_is_not_uniform_over_histories() {
    let options = Options {
        models: 1_000,
        ..Options::default()
    };
    let ps = samples(SamplerKind::Hyperplay, &options, chi2::against_uniform);
    let biased = ps.iter().filter(|&&p| p < 0.01).count();
    assert!(biased * 4 > ps.len(), "{biased} of {}", ps.len());
}

/// The largest error of a state's probability, on average over seeds: goes to zero only without bias.
fn error_of_mean(kind: SamplerKind, options: &Options, spec: &str, role: RoleId, n_seeds: u64) -> f64 {
    let compiled = game(spec);
    let mut sim = Scalar::new(&compiled);
    let played = play(&mut sim, &mut Seed(77).child(spec).rng(), 5);
    let round = played.rounds() - 1;
    let view = played.view(role, round);
    let set = truth(&compiled, &played, role, round).unwrap();
    let mut errors: FxHashMap<_, f64> = set.states().into_iter().map(|(state, (_, p))| (state, -p)).collect();
    for seed in 0..n_seeds {
        let sampler = believe(&compiled, kind, options, role, Seed(seed), &view);
        for (state, p) in sampler.posterior() {
            *errors.get_mut(&state).unwrap() += p / n_seeds as f64;
        }
    }
    errors.values().fold(0.0, |worst: f64, e| worst.max(e.abs()))
}

#[test]
fn nobody_is_biased() {
    let options = Options {
        models: 400,
        layer_limit: 60,
        ..Options::default()
    };
    for spec in [
        "krieg-tictactoe:size=3,line=3",
        "leduc-poker",
        "blind-breakthrough:width=3,height=4",
    ] {
        for kind in SamplerKind::ALL {
            let error = error_of_mean(kind, &options, spec, RoleId(1), 60);
            assert!(error < 0.012, "{spec} {kind}: {error}");
        }
    }
}

/// Prefers later moves.
struct Eager;

impl OpponentModel for Eager {
    fn probabilities(&self, _: &State, _: RoleId, legal: &[MoveId], out: &mut Vec<f64>) {
        let total = (legal.len() * (legal.len() + 1) / 2) as f64;
        *out = (1..=legal.len()).map(|n| n as f64 / total).collect();
    }
}

#[test]
fn trellis_believes_a_model_of_the_opponents() {
    for spec in ["kuhn-poker", "krieg-tictactoe:size=3,line=3"] {
        let compiled = game(spec);
        let mut sim = Scalar::new(&compiled);
        let played = play(&mut sim, &mut Seed(3).child(spec).rng(), 3);
        let view = played.view(RoleId(0), played.rounds() - 1);
        let set = enumerate(&mut sim, RoleId(0), &view, Now::Playing, Some(&Eager), &plenty()).unwrap();
        let mut sampler = make(SamplerKind::Trellis, &Options::default(), RoleId(0), Seed(0)).unwrap();
        sampler.set_opponents(Box::new(Eager)).unwrap();
        sampler
            .update(&mut World::new(&mut sim), &view, Now::Playing, &plenty())
            .unwrap();
        let believed: FxHashMap<_, _> = sampler.posterior().into_iter().collect();
        for (state, (_, p)) in set.states() {
            assert!((believed[&state] - p).abs() < 1e-12, "{spec}");
        }
    }
    let mut naive = make(SamplerKind::Naive, &Options::default(), RoleId(0), Seed(0)).unwrap();
    assert!(naive.set_opponents(Box::new(Eager)).is_err());
}

/// Views of which one round was not told: no percepts, or not even the own move.
fn views_with_gaps(view: &View) -> Vec<View> {
    let mut views = Vec::new();
    for round in 0..view.rounds.len() {
        for own_is_known in [true, false] {
            let mut gap = view.clone();
            gap.rounds[round].sees = vec![PerceptId::UNKNOWN];
            if !own_is_known {
                gap.rounds[round].own = MoveId::UNKNOWN;
            }
            views.push(gap);
        }
    }
    views
}

#[test]
fn what_was_not_told_constrains_neither_the_truth_nor_the_samplers() {
    let options = Options {
        models: 600,
        layer_limit: 1_000_000,
        ..Options::default()
    };
    let mut tested = 0;
    for spec in [
        "monty-hall",
        "kuhn-poker",
        "leduc-poker",
        "krieg-tictactoe:size=3,line=3",
    ] {
        let compiled = game(spec);
        let mut sim = Scalar::new(&compiled);
        let played = play(&mut sim, &mut Seed(5).child(spec).rng(), 3);
        let whole = played.view(RoleId(0), played.rounds().min(2));
        let told = enumerate(&mut sim, RoleId(0), &whole, Now::Playing, None, &plenty()).unwrap();
        for view in views_with_gaps(&whole) {
            let set = enumerate(&mut sim, RoleId(0), &view, Now::Playing, None, &plenty()).unwrap();
            let places = set.places();
            assert!(
                told.histories.iter().all(|h| places.contains_key(&h.joints[..])),
                "{spec}"
            );
            let truth = set.states();
            for kind in SamplerKind::ALL {
                let sampler = believe(&compiled, kind, &options, RoleId(0), Seed(3), &view);
                let belief = sampler.belief();
                assert_eq!(belief.report.relaxed.len(), 1, "{spec} {kind}");
                if kind == SamplerKind::Trellis {
                    whole_set_is_listed(&*sampler, &set);
                    for (state, p) in sampler.posterior() {
                        assert!((truth[&state].1 - p).abs() < 1e-12, "{spec}");
                    }
                }
                let chi2 = chi2::against_posterior(&set, &belief.models);
                assert!(chi2.p > 1e-6, "{spec} {kind} {view:?}: {chi2:?}");
                tested += usize::from(chi2.reliable);
            }
        }
    }
    assert!(tested > 30, "{tested} samples were large enough");
}
