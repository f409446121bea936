//! Beliefs whose truth is known by hand.

mod common;

use common::{believe, game, mv, rules};
use game::{PerceptId, RoleId, Round, Seed, Simulator, View};
use propnet::{Compiled, Scalar};
use surmise_belief::{Options, Remedy, Sampler, SamplerKind, Weights};

const ME: RoleId = RoleId(0);

/// A view in words.
fn view(compiled: &Compiled, rounds: &[(&str, &[&str])]) -> View {
    let mut sim = Scalar::new(compiled);
    let mut round = |(own, sees): &(&str, &[&str])| {
        let mut sees: Vec<PerceptId> = sees.iter().map(|p| sim.find_percept(ME, p).unwrap()).collect();
        sees.sort_unstable();
        Round {
            own: mv(&mut sim, ME, own),
            sees,
        }
    };
    View {
        rounds: rounds.iter().map(&mut round).collect(),
    }
}

/// The probability of a fluent.
fn probability(compiled: &Compiled, sampler: &dyn Sampler, fluent: &str) -> f64 {
    let sim = Scalar::new(compiled);
    let states = sampler.posterior();
    let holds = states
        .iter()
        .filter(|(state, _)| sim.fluents(state).iter().any(|f| f == fluent));
    holds.map(|(_, p)| p).sum()
}

fn silo_a(text: &str, seen: &[(&str, &[&str])], kind: SamplerKind, options: &Options) -> f64 {
    let compiled = rules(text);
    let view = view(&compiled, seen);
    let sampler = believe(&compiled, kind, options, ME, Seed(3), &view);
    probability(&compiled, &*sampler, "(in a)")
}

const TWO: &str = include_str!("games/two-silos.kif");
const LATE: &str = include_str!("games/late-silos.kif");
const TWO_SEEN: &[(&str, &[&str])] = &[("noop", &[]), ("noop", &["light"])];
const LATE_SEEN: &[(&str, &[&str])] = &[("noop", &[]), ("noop", &[]), ("noop", &["light"])];

#[test]
fn hyperplay_is_biased_and_proposal_weights_mend_it() {
    for (text, seen) in [(TWO, TWO_SEEN), (LATE, LATE_SEEN)] {
        let with = |weights, remedy| {
            let options = Options {
                models: 4_000,
                weights,
                remedy,
                ..Options::default()
            };
            silo_a(text, seen, SamplerKind::Hyperplay, &options)
        };
        let paper = with(Weights::ChoiceFactor, Remedy::None);
        assert!((paper - 0.5).abs() < 0.03, "{paper}");
        let equal = with(Weights::Equal, Remedy::None);
        assert!((equal - 0.5).abs() < 0.03, "{equal}");
        let proposal = with(Weights::Proposal, Remedy::None);
        assert!((proposal - 0.2).abs() < 0.015, "{proposal}");
        // All histories are equally likely here, so that the paper's remedies work as well.
        let weight = with(Weights::ChoiceFactor, Remedy::Weight);
        assert!((weight - 0.2).abs() < 1e-9, "{weight}");
        let balance = with(Weights::ChoiceFactor, Remedy::Balance);
        assert!((balance - 0.2).abs() < 1e-9, "{balance}");
    }
}

#[test]
fn other_samplers_see_through_silos() {
    for (text, seen) in [(TWO, TWO_SEEN), (LATE, LATE_SEEN)] {
        let options = Options {
            models: 4_000,
            ..Options::default()
        };
        let trellis = silo_a(text, seen, SamplerKind::Trellis, &options);
        assert!((trellis - 0.2).abs() < 1e-12, "{trellis}");
        for kind in [SamplerKind::Naive, SamplerKind::Cached] {
            let p = silo_a(text, seen, kind, &options);
            assert!((p - 0.2).abs() < 0.03, "{kind}: {p}");
        }
    }
}

#[test]
fn monty_hall() {
    for doors in 3..=5 {
        let compiled = game(&format!("monty-hall:doors={doors}"));
        let view = view(&compiled, &[("(choose 1)", &[]), ("noop", &["(closed 3)"])]);
        let n = f64::from(doors);
        let options = Options {
            models: 6_000,
            ..Options::default()
        };
        let chosen = |kind, options: &Options| {
            let sampler = believe(&compiled, kind, options, ME, Seed(5), &view);
            probability(&compiled, &*sampler, "(car 1)")
        };
        assert!((chosen(SamplerKind::Trellis, &options) - 1.0 / n).abs() < 1e-12);
        for kind in [SamplerKind::Naive, SamplerKind::Cached, SamplerKind::Hyperplay] {
            let p = chosen(kind, &options);
            assert!((p - 1.0 / n).abs() < 0.02, "{kind}: {p} with {doors} doors");
        }
        let paper = Options {
            weights: Weights::ChoiceFactor,
            ..options.clone()
        };
        assert!((chosen(SamplerKind::Hyperplay, &paper) - 1.0 / n).abs() < 0.02);
        let equal = Options {
            weights: Weights::Equal,
            ..options
        };
        assert!((chosen(SamplerKind::Hyperplay, &equal) - 0.5).abs() < 0.03);
    }
}
