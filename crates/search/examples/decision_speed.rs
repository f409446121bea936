//! Inside a decision of HyperPlay: models brought up to date and playouts, each a CPU second, on lanes and one state at
//! a time.
//!
//! `cargo run --release -p surmise-search --example decision_speed -- [GAME…]`. The view is that of the first role
//! half way through a random game.

use belief::{Options, SamplerKind};
use game::{Budget, MoveId, RoleId, Seed, StopFlag, Told};
use propnet::{CompileOptions, Compiled, Lanes, Rollouts, Scalar, compile};
use std::error::Error;
use surmise_search::{Believer, Guess, PlayoutPlan, Tools, weigh};

const MODELS: usize = 100;
const SECONDS: f64 = 2.0;

fn main() -> Result<(), Box<dyn Error>> {
    let mut games: Vec<String> = std::env::args().skip(1).collect();
    if games.is_empty() {
        games = vec!["krieg-tictactoe:size=5".to_owned(), "blind-breakthrough".to_owned()];
    }
    for game in games {
        let text = catalogue::rules(&game).map_err(|e| format!("{game}: {e}"))?;
        let rules = gdl::read(&text, &gdl::Options::default()).rules;
        let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {})?;
        let compiled = compile(&program, &CompileOptions::default());
        let told = half_a_game(&compiled)?;
        for lanes in [true, false] {
            let (models, playouts) = measure(&compiled, &told, lanes)?;
            let engine = if lanes { "lanes" } else { "scalar" };
            let rounds = told.len();
            println!(
                "{{\"game\":\"{game}\",\"engine\":\"{engine}\",\"rounds\":{rounds},\"models_per_s\":{models:.0},\
                 \"playouts_per_s\":{playouts:.0}}}"
            );
        }
    }
    Ok(())
}

fn tools(compiled: &Compiled, lanes: bool) -> Tools {
    Tools {
        sim: Box::new(Scalar::new(compiled)),
        batch: lanes.then(|| Box::new(Lanes::new(compiled, Seed(1))) as _),
        playouts: lanes.then(|| Box::new(Rollouts::new(compiled, 1)) as _),
        others: None,
        role: RoleId(0),
        seed: Seed(1),
    }
}

/// What the first role was told in the first half of a random game.
fn half_a_game(compiled: &Compiled) -> Result<Vec<Told>, Box<dyn Error>> {
    let mut tools = tools(compiled, false);
    let mut rng = Seed(7).rng();
    let mut state = tools.sim.initial()?;
    let (mut told, mut percepts) = (Vec::new(), Vec::new());
    while !tools.sim.terminal(&state)? {
        let mut joint: Vec<MoveId> = Vec::new();
        for role in 0..tools.sim.roles().len() as u16 {
            joint.push(*rng.pick(&tools.legal(&state, RoleId(role))?));
        }
        tools.sim.percepts(&state, &joint, RoleId(0), &mut percepts)?;
        let sees = percepts
            .iter()
            .map(|&p| tools.sim.percept_text(RoleId(0), p).to_owned());
        told.push(Told {
            sees: sees.collect(),
            own: tools.text(joint[0]).to_owned(),
        });
        state = tools.sim.next(&state, &joint)?;
    }
    told.truncate(told.len() / 2);
    Ok(told)
}

/// Models brought up to date by one round, and playouts, a CPU second.
fn measure(compiled: &Compiled, told: &[Told], lanes: bool) -> Result<(f64, f64), Box<dyn Error>> {
    let options = Options {
        models: MODELS,
        layer_limit: 500,
        ..Options::default()
    };
    let budget = Budget::until(StopFlag::default());
    let (mut updated, started) = (0, cpu_seconds());
    let mut believer = Believer::new(tools(compiled, lanes), SamplerKind::Trellis, &options)?;
    while cpu_seconds() - started < SECONDS || updated == 0 {
        believer = Believer::new(tools(compiled, lanes), SamplerKind::Trellis, &options)?;
        for upto in 1..=told.len() {
            believer.update(&told[..upto], &budget)?;
            updated += believer.belief().report.live;
        }
    }
    let models = updated as f64 / (cpu_seconds() - started);
    let guess = |m: &belief::Model| Guess {
        state: m.state.clone(),
        weight: m.weight,
    };
    let guesses: Vec<Guess> = believer.belief().models.iter().map(guess).collect();
    let (mut played, started) = (0, cpu_seconds());
    while cpu_seconds() - started < SECONDS {
        let plan = PlayoutPlan {
            playouts: if lanes { 100 } else { 1 },
            seed: Seed(played),
        };
        let decision = weigh(&mut believer.tools, &guesses, plan, &budget)?;
        played += decision.candidates.iter().map(|c| c.visits).sum::<u64>();
    }
    Ok((models, played as f64 / (cpu_seconds() - started)))
}

/// CPU time of this thread: the machine may be busy with other things.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds: f64 = text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0.0);
    nanoseconds * 1e-9
}
