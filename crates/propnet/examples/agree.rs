//! Compares all simulators on real games: `agree [--games N] FILE…`
//!
//! Random games are played on the direct evaluator of the ground program. The scalar simulators and the lanes answer
//! the same questions, and every difference is printed.

use game::{MoveId, RoleId, Seed, Simulator, State};
use ground::Direct;
use std::sync::Arc;
use std::time::Instant;
use surmise_propnet::{CompileOptions, LANES, LaneOptions, Lanes, Mask, Scalar, ScalarMode, compile};

fn main() {
    let mut args = std::env::args().skip(1).peekable();
    let mut n_games = 3;
    let mut files = Vec::new();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--games" => n_games = args.next().and_then(|n| n.parse().ok()).unwrap_or(3),
            _ => files.push(arg),
        }
    }
    let mut failed = 0;
    for file in files {
        let name = file.rsplit('/').next().unwrap_or(&file).to_string();
        let text = std::fs::read(&file).expect("a rules file");
        let reading = gdl::read(&String::from_utf8_lossy(&text), &gdl::Options::default());
        let limits = ground::Limits {
            instances: 600_000,
            ..Default::default()
        };
        let start = Instant::now();
        let program = match ground::ground(&reading.rules, &limits, &mut |_| {}) {
            Ok(program) => Arc::new(program),
            Err(error) => {
                println!("{name:28} skipped: {error}");
                continue;
            }
        };
        let grounded = start.elapsed();
        match check(&program, n_games) {
            Ok(report) => println!("{name:28} agrees: {report}, ground {:.2}", grounded.as_secs_f64()),
            Err(error) => {
                failed += 1;
                println!("{name:28} DIFFERS: {error}");
            }
        }
    }
    println!("{failed} differ");
}

fn check(program: &Arc<ground::Program>, n_games: u64) -> Result<String, String> {
    let start = Instant::now();
    let native = compile(
        program,
        &CompileOptions {
            scalar: ScalarMode::Compiled,
            ..Default::default()
        },
    );
    let net = start.elapsed();
    let portable = compile(
        program,
        &CompileOptions {
            scalar: ScalarMode::Incremental,
            lanes: LaneOptions {
                native: false,
                ..Default::default()
            },
            ..Default::default()
        },
    );
    let mut direct = Direct::new(program.clone());
    let cones = compile(
        program,
        &CompileOptions {
            scalar: ScalarMode::Cones,
            ..Default::default()
        },
    );
    let mut engines = [Scalar::new(&native), Scalar::new(&portable), Scalar::new(&cones)];
    let mut lanes = [Lanes::new(&native, Seed(1)), Lanes::new(&portable, Seed(1))];
    let start = Instant::now();
    let mut steps = 0;
    for game in 0..n_games {
        let mut rng = Seed(game).rng();
        let mut state = direct.initial().map_err(|e| e.to_string())?;
        for step in 0..300 {
            steps += 1;
            let Some(next) = compare(&mut direct, &mut engines, &mut lanes, &state, &mut rng)
                .map_err(|e| format!("game {game} step {step}: {e}"))?
            else {
                break;
            };
            state = next;
            if start.elapsed().as_secs() > 8 {
                return Ok(format!("{steps} steps (cut), net {:.2}", net.as_secs_f64()));
            }
        }
    }
    Ok(format!("{steps} steps, net {:.2}", net.as_secs_f64()))
}

fn compare(
    direct: &mut Direct,
    engines: &mut [Scalar],
    lanes: &mut [Lanes],
    state: &State,
    rng: &mut game::Rng,
) -> Result<Option<State>, String> {
    let fluents = direct.fluents(state);
    let terminal = direct.terminal(state).map_err(|e| e.to_string())?;
    let n_roles = direct.roles().len();
    let mut states = Vec::new();
    for engine in engines.iter_mut() {
        let mine = engine
            .state_of(&fluents)
            .ok_or("a reachable state cannot be represented")?;
        same("terminal", engine.terminal(&mine), Ok(terminal))?;
        states.push(mine);
    }
    for lanes in lanes.iter_mut() {
        lanes.broadcast(&states[0]);
        same(
            "lanes: terminal",
            lanes.eval(),
            if terminal { Mask::ONE } else { Mask::ZERO },
        )?;
        lanes.eval_goals();
        same("lanes: store", lanes.store(77), states[0].clone())?;
    }
    let mut joint = Vec::new();
    let mut stuck = false;
    for role in (0..n_roles).map(|r| RoleId(r as u16)) {
        let goal = direct.goal(state, role).map_err(|e| e.to_string())?;
        let mut legal: Vec<MoveId> = Vec::new();
        direct.legal(state, role, &mut legal).map_err(|e| e.to_string())?;
        for (engine, mine) in engines.iter_mut().zip(&states) {
            same("goal", engine.goal(mine, role), Ok(goal))?;
            let mut got = Vec::new();
            engine.legal(mine, role, &mut got).map_err(|e| e.to_string())?;
            same("legal", &got, &legal)?;
        }
        for lanes in lanes.iter() {
            same("lanes: goal", lanes.goal(role, 200), goal)?;
            for &mv in &legal {
                same("lanes: legal", lanes.legal(role, mv), Mask::ONE)?;
            }
        }
        match legal[..] {
            [] => stuck = true,
            _ => joint.push(*rng.pick(&legal)),
        }
    }
    if terminal || stuck {
        return Ok(None);
    }
    let next = direct.next(state, &joint).map_err(|e| e.to_string())?;
    let expected = direct.fluents(&next);
    for (engine, mine) in engines.iter_mut().zip(&states) {
        let got = engine.next(mine, &joint).map_err(|e| e.to_string())?;
        same("next", engine.fluents(&got), expected.clone())?;
    }
    for lanes in lanes.iter_mut() {
        for (role, &mv) in joint.iter().enumerate() {
            same(
                "lanes: force",
                lanes.force(RoleId(role as u16), mv, Mask::ONE),
                Mask::ONE,
            )?;
        }
        lanes.next(Mask::ONE);
    }
    for role in (0..n_roles).map(|r| RoleId(r as u16)) {
        let mut seen = Vec::new();
        direct
            .percepts(state, &joint, role, &mut seen)
            .map_err(|e| e.to_string())?;
        for (engine, mine) in engines.iter_mut().zip(&states) {
            let mut got = Vec::new();
            engine
                .percepts(mine, &joint, role, &mut got)
                .map_err(|e| e.to_string())?;
            same("sees", &got, &seen)?;
        }
        for lanes in lanes.iter_mut() {
            same("lanes: sees", lanes.agree(role, &seen), Mask::ONE)?;
        }
    }
    let want = engines[0]
        .state_of(&expected)
        .ok_or("a reachable state cannot be represented")?;
    for lanes in lanes.iter_mut() {
        lanes.commit(Mask::ONE);
        same("lanes: next", lanes.store(LANES - 1), want.clone())?;
    }
    Ok(Some(next))
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: T, expected: T) -> Result<(), String> {
    if got == expected {
        Ok(())
    } else {
        Err(format!("{what}: got {got:?}, expected {expected:?}"))
    }
}
