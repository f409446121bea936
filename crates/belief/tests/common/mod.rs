//! Games to try samplers on, and views of random play.
#![allow(dead_code, reason = "every test file uses a part of it")]

use game::{Budget, MoveId, Rng, RoleId, Round, Seed, Simulator, State, View};
use propnet::{Compiled, Lanes, Scalar};
use surmise_belief::{Joint, Now, Options, Sampler, SamplerKind, World, make};

/// A compiled game of the catalogue.
pub fn game(spec: &str) -> Compiled {
    rules(&catalogue::rules(spec).unwrap())
}

/// A compiled game from its rules.
pub fn rules(text: &str) -> Compiled {
    let reading = gdl::read(text, &gdl::Options::default());
    assert!(reading.is_playable(), "{:?}", reading.diagnostics);
    let program = ground::ground(&reading.rules, &ground::Limits::default(), &mut |_| {}).unwrap();
    propnet::compile(&program, &propnet::CompileOptions::default())
}

/// A random game as it truly went.
pub struct PlayedGame {
    pub joints: Vec<Joint>,
    /// From the initial state on.
    pub states: Vec<State>,
    /// Of every role.
    pub views: Vec<View>,
}

impl PlayedGame {
    /// A role's view before a round.
    pub fn view(&self, role: RoleId, round: usize) -> View {
        View {
            rounds: self.views[role.0 as usize].rounds[..round].to_vec(),
        }
    }

    /// Rounds before which a role was asked to move.
    pub fn rounds(&self) -> usize {
        self.joints.len()
    }
}

/// Plays a random game.
pub fn play(sim: &mut dyn Simulator, rng: &mut Rng, max_rounds: usize) -> PlayedGame {
    let n_roles = sim.roles().len();
    let mut state = sim.initial().unwrap();
    let mut played = PlayedGame {
        joints: Vec::new(),
        states: vec![state.clone()],
        views: vec![View::default(); n_roles],
    };
    let (mut legal, mut sees) = (Vec::new(), Vec::new());
    while !sim.terminal(&state).unwrap() && played.joints.len() < max_rounds {
        let mut joint = Joint::new();
        for role in 0..n_roles {
            sim.legal(&state, RoleId(role as u16), &mut legal).unwrap();
            joint.push(*rng.pick(&legal));
        }
        for role in 0..n_roles {
            sim.percepts(&state, &joint, RoleId(role as u16), &mut sees).unwrap();
            let own: MoveId = joint[role];
            played.views[role].rounds.push(Round {
                own,
                sees: sees.clone(),
            });
        }
        state = sim.next(&state, &joint).unwrap();
        played.joints.push(joint);
        played.states.push(state.clone());
    }
    played
}

/// A sampler updated with a view in one go, on lanes.
pub fn believe(
    game: &Compiled,
    kind: SamplerKind,
    options: &Options,
    role: RoleId,
    seed: Seed,
    view: &View,
) -> Box<dyn Sampler> {
    let mut sampler = make(kind, options, role, seed).unwrap();
    update(game, &mut *sampler, view, Now::Playing);
    sampler
}

/// Updates a sampler on lanes.
pub fn update(game: &Compiled, sampler: &mut dyn Sampler, view: &View, now: Now) {
    let mut sim = Scalar::new(game);
    let mut lanes = Lanes::new(game, Seed(0));
    let mut world = World::with_batch(&mut sim, &mut lanes);
    sampler.update(&mut world, view, now, &plenty()).unwrap();
}

pub fn plenty() -> Budget {
    Budget::iterations(u64::MAX)
}

/// Moves by role name.
pub fn mv(sim: &mut dyn Simulator, role: RoleId, text: &str) -> MoveId {
    sim.find_move(role, text).unwrap_or_else(|| panic!("no move {text}"))
}
