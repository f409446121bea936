//! A player as a strategy: what it would do after every view, so that it can be held against its best response.

use crate::engine::Engine;
use crate::players::PlayerSpec;
use crate::{interrupt, progress};
use anyhow::{Result, bail};
use game::{Budget, Told};
use referee::Seat;
use solve::{Infoset, Policy, Tree};

/// Asks a player in every information set of a game, each time a new one with the same seed that has lived through the
/// rounds before.
pub fn policy(player: &str, engine: &Engine, tree: &Tree, seed: game::Seed) -> Result<Policy> {
    let spec = PlayerSpec::parse(player)?;
    let mut policy = Policy::uniform(tree);
    let bar = progress::bar("information sets", tree.infosets().len() as u64);
    for set in tree.infosets() {
        ask(&spec, engine, tree, set, seed, &mut policy)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(policy)
}

fn ask(
    spec: &PlayerSpec,
    engine: &Engine,
    tree: &Tree,
    set: &Infoset,
    seed: game::Seed,
    policy: &mut Policy,
) -> Result<()> {
    let sim = engine.state_simulator();
    let role = tree.players[set.player as usize];
    let told = |round: &game::Round| Told {
        own: sim.move_text(role, round.own).to_owned(),
        sees: round
            .sees
            .iter()
            .map(|&p| sim.percept_text(role, p).to_owned())
            .collect(),
    };
    let view: Vec<Told> = tree.view(set).iter().map(told).collect();
    let Seat::Player(mut player) = spec.seat(engine, role, seed.nth(u64::from(role.0)))? else {
        bail!("`{}` sees the true state: it has no strategy to rate", spec.text);
    };
    let budget = Budget::until(interrupt::flag());
    let mut decision = game::Decision::default();
    for rounds in 0..=view.len() {
        if budget.stop.is_raised() {
            bail!("stopped before every information set was asked about");
        }
        decision = player.choose(&view[..rounds], &budget)?;
    }
    if decision.policy.is_empty() {
        bail!(
            "`{}` does not say with which probabilities it moves; cfr and strategy do",
            spec.text
        );
    }
    for sequence in set.sequences() {
        let text = sim.move_text(role, tree.move_of(sequence));
        let found = decision.policy.iter().find(|(mv, _)| mv == text);
        policy.0[sequence] = found.map_or(0.0, |(_, p)| *p);
    }
    Ok(())
}
