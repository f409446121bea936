//! Rounds whose joint moves are too many to list.

mod common;

use common::{believe, play, rules};
use game::{Budget, RoleId, Seed};
use propnet::Scalar;
use surmise_belief::{EnumerateError, Now, Options, SamplerKind, enumerate};

/// So many roles with two moves each; the first role sees whether the second goes.
fn crowd(n_roles: usize) -> String {
    let roles: String = (0..n_roles).map(|n| format!("(role r{n})")).collect();
    format!(
        "{roles}(<= (legal ?r go) (role ?r))(<= (legal ?r stay) (role ?r))(init (s 0))
         (<= (next (s 1)) (true (s 0)))(<= (next (s 2)) (true (s 1)))(<= (next went) (does r1 go))
         (<= (goal ?r 50) (role ?r))(<= terminal (true (s 2)))(<= (sees r0 m) (does r1 go))"
    )
}

#[test]
fn beliefs_about_a_crowd_take_little_memory() {
    for n_roles in [40, 63, 70] {
        let compiled = rules(&crowd(n_roles));
        let played = play(&mut Scalar::new(&compiled), &mut Seed(5).rng(), 1);
        let view = played.view(RoleId(0), 1);
        for kind in SamplerKind::ALL {
            let options = Options {
                models: 4,
                ..Options::default()
            };
            let sampler = believe(&compiled, kind, &options, RoleId(0), Seed(1), &view);
            let posterior = sampler.posterior();
            assert_eq!(posterior.len(), 1, "{kind:?}, {n_roles} roles");
            assert_eq!(posterior[0].0, played.states[1], "{kind:?}, {n_roles} roles");
        }
    }
}

#[test]
fn listing_a_crowd_ends_with_its_budget() {
    let compiled = rules(&crowd(40));
    let played = play(&mut Scalar::new(&compiled), &mut Seed(5).rng(), 1);
    let view = played.view(RoleId(0), 1);
    let budget = Budget::iterations(1_000);
    let listed = enumerate(
        &mut Scalar::new(&compiled),
        RoleId(0),
        &view,
        Now::Playing,
        None,
        &budget,
    );
    assert_eq!(listed, Err(EnumerateError::TooLarge));
}
