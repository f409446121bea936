//! Simulations of tree searches per CPU second from the first decision on, one thread, each search with an empty tree.
//!
//! `cargo run --release -p surmise-search --example tree_speed -- [OPTIONS] GAME…`, where a game is a name of the
//! catalogue or a file. A game without hidden information is searched by UCT, others by IS-MCTS. Prints lines of JSON
//! (`benchmarks/trees.py` reads them). A simulation is a descent with its end or playout; playouts are counted apart.
//!
//! Options: `--seconds S` for each figure (2), `--simulations N,N…` a decision (1000,10000,100000), `--batch N` (as the
//! player chooses), `--playouts N` from each leaf of UCT (as the player chooses).

use belief::{Options, SamplerKind};
use game::{Budget, MoveId, Player, RoleId, Seed, Told};
use propnet::{CompileOptions, Compiled, Lanes, Rollouts, Scalar, compile};
use std::error::Error;
use surmise_search::{IsMcts, IsMctsOptions, Tools, Uct, UctOptions};

struct Settings {
    seconds: f64,
    simulations: Vec<u64>,
    batch: Option<u64>,
    playouts: Option<u64>,
}

/// Simulations and playouts, and the CPU seconds that they took.
#[derive(Default)]
struct Measured {
    simulations: u64,
    playouts: u64,
    seconds: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut settings = Settings {
        seconds: 2.0,
        simulations: vec![1_000, 10_000, 100_000],
        batch: None,
        playouts: None,
    };
    let mut games = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--seconds" => settings.seconds = value()?.parse()?,
            "--simulations" => settings.simulations = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?,
            "--batch" => settings.batch = Some(value()?.parse()?),
            "--playouts" => settings.playouts = Some(value()?.parse()?),
            _ => games.push(arg),
        }
    }
    for game in games {
        let text = match std::fs::read_to_string(&game) {
            Ok(text) => text,
            Err(_) => catalogue::rules(&game).map_err(|e| format!("{game}: {e}"))?,
        };
        let rules = gdl::read(&text, &gdl::Options::default()).rules;
        let hidden = rules.clauses.iter().any(|clause| clause.head.relation == gdl::kw::SEES);
        let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {})?;
        let compiled = compile(&program, &CompileOptions::default());
        for &simulations in &settings.simulations {
            let (player, found) = match hidden {
                true => ("ismcts", ismcts(&compiled, simulations, &settings)?),
                false => ("uct", uct(&compiled, simulations, &settings)?),
            };
            println!(
                "{{\"game\":\"{game}\",\"player\":\"{player}\",\"simulations\":{simulations},\
                 \"per_cpu_second\":{:.0},\"playouts_per_cpu_second\":{:.0}}}",
                found.simulations as f64 / found.seconds,
                found.playouts as f64 / found.seconds
            );
        }
    }
    Ok(())
}

fn tools(compiled: &Compiled, role: RoleId) -> Tools {
    Tools {
        sim: Box::new(Scalar::new(compiled)),
        batch: Some(Box::new(Lanes::new(compiled, Seed(1)))),
        playouts: Some(Box::new(Rollouts::new(compiled, 1))),
        others: None,
        role,
        seed: Seed(1),
    }
}

fn uct(compiled: &Compiled, simulations: u64, settings: &Settings) -> Result<Measured, Box<dyn Error>> {
    let mut tools = tools(compiled, RoleId(0));
    let options = UctOptions {
        simulations: Some(simulations),
        batch: settings.batch,
        playouts: settings.playouts,
        // Small games would be solved, and then there is nothing left to measure.
        solve: false,
        ..UctOptions::default()
    };
    let initial = tools.sim.initial()?;
    let mut found = Measured::default();
    let started = cpu_seconds();
    while found.seconds < settings.seconds {
        let mut uct = Uct::new(options);
        found.simulations += uct.search(
            &mut tools,
            &initial,
            Seed(found.simulations),
            &Budget::iterations(u64::MAX),
        )?;
        found.playouts += uct.playouts_made();
        found.seconds = cpu_seconds() - started;
    }
    Ok(found)
}

/// Whole decisions at the first view in which a role has a choice, its belief included.
fn ismcts(compiled: &Compiled, simulations: u64, settings: &Settings) -> Result<Measured, Box<dyn Error>> {
    let (role, told) = first_choice(compiled)?;
    let mut found = Measured::default();
    let options = IsMctsOptions {
        simulations: Some(simulations),
        batch: settings.batch.unwrap_or(0) as usize,
        ..IsMctsOptions::default()
    };
    let mut number = 0;
    while found.seconds < settings.seconds {
        let mut tools = tools(compiled, role);
        tools.seed = Seed(number);
        number += 1;
        let mut player = IsMcts::new(tools, SamplerKind::Trellis, &Options::default(), options)?;
        let budget = Budget::iterations(u64::MAX);
        let started = cpu_seconds();
        player.choose(&told, &budget)?;
        found.seconds += cpu_seconds() - started;
        found.simulations += simulations;
        found.playouts += player.playouts_made();
    }
    Ok(found)
}

/// Plays random moves until a role other than nature has a choice; what that role was told until then.
fn first_choice(compiled: &Compiled) -> Result<(RoleId, Vec<Told>), Box<dyn Error>> {
    let mut tools = tools(compiled, RoleId(0));
    let mut rng = Seed(7).rng();
    let mut state = tools.sim.initial()?;
    let roles: Vec<RoleId> = (0..tools.sim.roles().len()).map(|role| RoleId(role as u16)).collect();
    let mut told = vec![Vec::new(); roles.len()];
    let mut percepts = Vec::new();
    loop {
        let mut joint: Vec<MoveId> = Vec::new();
        for &role in &roles {
            let legal = tools.legal(&state, role)?;
            if legal.len() > 1 && Some(role) != tools.sim.nature() {
                return Ok((role, told.swap_remove(usize::from(role.0))));
            }
            joint.push(*rng.pick(&legal));
        }
        for &role in &roles {
            tools.sim.percepts(&state, &joint, role, &mut percepts)?;
            let sees: Vec<&str> = percepts.iter().map(|&p| tools.sim.percept_text(role, p)).collect();
            told[usize::from(role.0)].push(Told::new(tools.sim.move_text(role, joint[usize::from(role.0)]), sees));
        }
        state = tools.sim.next(&state, &joint)?;
    }
}

/// CPU time of this thread: the machine may be busy with other things.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds: f64 = text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0.0);
    nanoseconds * 1e-9
}
