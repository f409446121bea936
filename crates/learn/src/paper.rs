//! Self-play as in algorithm 1 of Partridge and Thielscher (2022).
//!
//! In every state of a game, CFR from the *true* state gives the target policies and values of the network. Moves are
//! made by players that know only their view, search from states sampled with it, and average. The sampler assumes that
//! the others play the network's policy half of the time and uniformly otherwise. The method is kept for comparison:
//! hidden information leaks into the targets, so that no role learns to bluff.

use crate::blueprint::{Blueprint, LearnedHorizon, LearnedOpponents};
use crate::codec::Codec;
use crate::network::{NeuralNetwork, TargetPolicy, TrainingTarget};
use crate::selfplay::Findings;
use crate::settings::LearnError;
use crate::table::RegretTable;
use belief::{Options, SamplerKind};
use game::limits::THINKING_ROUNDS;
use game::{Budget, Player, RoleId, Seed, Simulator, State, StopFlag, Told};
use search::{Cfr, CfrOptions, Outlook, Roots, StateSearch, Tools};
use std::ops::Range;
use std::sync::Arc;

/// States sampled for a move.
const SAMPLES: usize = 16;

/// Settings of searches in training.
fn options(roots: Roots) -> CfrOptions {
    CfrOptions {
        roots,
        depth: Some(2),
        iterations: 60,
        nodes: Some(4_000),
        chance: 36,
        common: 0,
    }
}

/// Plays some games and returns their training data.
pub(crate) fn play(
    sim: &dyn Simulator,
    codec: &Codec,
    network: &NeuralNetwork,
    games: Range<u64>,
    seed: Seed,
    enough: &StopFlag,
) -> Result<Findings, LearnError> {
    let blueprint = Blueprint::new(codec.clone(), network.clone(), RegretTable::default());
    let blueprint = Arc::new(blueprint);
    let mut found = Findings::default();
    for number in games {
        if enough.is_raised() {
            break;
        }
        play_one(sim, &blueprint, seed.nth(number), &mut found)?;
        found.games += 1;
    }
    Ok(found)
}

fn tools(sim: &dyn Simulator, role: usize, seed: Seed) -> Tools {
    Tools {
        sim: sim.fork(),
        batch: None,
        playouts: None,
        others: None,
        role: RoleId(role as u16),
        seed: seed.nth(role as u64),
    }
}

fn play_one(
    sim: &dyn Simulator,
    blueprint: &Arc<Blueprint>,
    seed: Seed,
    found: &mut Findings,
) -> Result<(), LearnError> {
    let codec = blueprint.codec();
    let mut table = tools(sim, 0, seed.child("teacher"));
    let mut teacher = StateSearch::new(options(Roots::State));
    let mut horizon = LearnedHorizon::new(blueprint.clone(), None);
    let mut players: Vec<(usize, Cfr, Vec<Told>)> = Vec::new();
    for &role in &codec.players {
        players.push((role, player(sim, blueprint, role, seed)?, Vec::new()));
    }
    let mut rng = seed.child("nature").rng();
    let mut state = table.sim.initial()?;
    for round in 0..THINKING_ROUNDS as u64 {
        let outlook = teacher.look(&mut table, &mut horizon, &state, seed.child("teacher").nth(round))?;
        let Some(outlook) = outlook else { break };
        found.targets.push(target(codec, &state, &outlook));
        let mut joint = Vec::new();
        for role in 0..codec.roles.len() {
            let legal = table.legal(&state, RoleId(role as u16))?;
            let asked = players.iter_mut().find(|(r, ..)| *r == role);
            joint.push(match asked {
                None => *rng.pick(&legal),
                Some((_, player, told)) => {
                    let decision = player.choose(told, &Budget::until(StopFlag::default()))?;
                    let wanted = table.sim.find_move(RoleId(role as u16), &decision.mv);
                    wanted.filter(|mv| legal.contains(mv)).unwrap_or(legal[0])
                }
            });
        }
        for (role, _, told) in &mut players {
            let id = RoleId(*role as u16);
            let mut sees = Vec::new();
            table.sim.percepts(&state, &joint, id, &mut sees)?;
            told.push(Told {
                own: table.sim.move_text(id, joint[*role]).to_owned(),
                sees: sees.iter().map(|&p| table.sim.percept_text(id, p).to_owned()).collect(),
            });
        }
        state = table.sim.next(&state, &joint)?;
    }
    let played: u64 = players.iter().map(|(_, player, _)| player.meter().states).sum();
    found.states += played + table.meter().states;
    Ok(())
}

fn player(sim: &dyn Simulator, blueprint: &Arc<Blueprint>, role: usize, seed: Seed) -> Result<Cfr, LearnError> {
    let belief = Options {
        models: SAMPLES,
        layer_limit: 1_000,
        ..Options::default()
    };
    let horizon = Box::new(LearnedHorizon::new(blueprint.clone(), None));
    let tools = tools(sim, role, seed);
    let player = Cfr::new(tools, SamplerKind::Trellis, &belief, options(Roots::State), horizon);
    let mut player = player.map_err(LearnError::Belief)?;
    player
        .set_opponents(Box::new(LearnedOpponents(blueprint.clone())))
        .map_err(LearnError::Belief)?;
    Ok(player)
}

fn target(codec: &Codec, state: &State, outlook: &Outlook) -> TrainingTarget {
    let mut policies: Vec<TargetPolicy> = Vec::new();
    for (player, &role) in codec.players.iter().enumerate() {
        let policy = &outlook.policies[role];
        if !policy.is_empty() {
            let moves = policy.iter().map(|(mv, _)| mv.0).collect();
            let p = policy.iter().map(|(_, p)| *p as f32).collect();
            policies.push((player as u16, moves, p));
        }
    }
    TrainingTarget {
        bits: state.0.as_slice().into(),
        values: codec.players.iter().map(|&role| outlook.values[role] as f32).collect(),
        policies: policies.into(),
    }
}
