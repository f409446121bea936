//! A player as a strategy: what it would do after every view, so that it can be held against its best response.

use crate::engine::Engine;
use crate::players::PlayerSpec;
use crate::{interrupt, progress};
use anyhow::{Result, bail};
use game::{Budget, Fault, RoleId, Told};
use learn::Response;
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

/// What a role can get against a player's table.
pub struct Bounds {
    pub role: String,
    pub response: Response,
}

/// Holds the table of a learned player against its best response without a tree: for games that are too large for one. All roles
/// at once, each on a thread of its own.
pub fn walk(player: &str, engine: &Engine, ignore: f64) -> Result<Vec<Bounds>> {
    let spec = PlayerSpec::parse(player)?;
    let Some(net) = spec.learned() else {
        bail!("--walk rates what was learned by heart, such as cfr:net=DIR; `{player}` has learned nothing");
    };
    let horizon = net.horizon(engine)?;
    let sim = engine.state_simulator();
    let nature = sim.nature();
    let roles = sim.roles().to_vec();
    let players = (0..roles.len() as u16).map(RoleId).filter(|&r| Some(r) != nature);
    let spinner = progress::spinner("walking the views of every role");
    let work = |role| {
        let mut sim = engine.state_simulator();
        horizon.best_response(sim.as_mut(), role, ignore, &interrupt::flag())
    };
    let work = &work;
    let answers: Vec<(RoleId, Result<Response, Fault>)> = std::thread::scope(|scope| {
        let running: Vec<_> = players.map(|role| (role, scope.spawn(move || work(role)))).collect();
        let ended = running.into_iter().map(|(role, thread)| {
            (
                role,
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            )
        });
        ended.collect()
    });
    spinner.finish_and_clear();
    let mut bounds = Vec::new();
    for (role, response) in answers {
        bounds.push(Bounds {
            role: roles[usize::from(role.0)].clone(),
            response: response?,
        });
    }
    Ok(bounds)
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
