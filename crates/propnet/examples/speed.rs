//! Measures how fast games run: `speed [--seconds S] [--playouts N] [--engines sij] [--passes] [--rewritten]
//! [--whole BYTES] [--piece BYTES] [--groups N] [--pairs N] [--visits N] [--store GAME.net]
//! FILE…`
//!
//! `--store` keeps the compiled game of the last file; a file named `*.net` is such a game.
//!
//! Engines: `s` scalar, `i` interpreted lanes, `j` lanes as machine code. Rates are per second of the thread's CPU
//! time. With `--playouts` the scalar simulator plays exactly N games, for tools that count instructions.

use game::{RoleId, Seed, Simulator, StopFlag};
use ground::Passes;
use std::time::Instant;
use surmise_propnet::passes::pairs::PairBudget;
use surmise_propnet::{CompileOptions, Compiled, LaneOptions, PlayoutOptions, Scalar, ScalarMode, compile, playouts};

fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ')
        .next()
        .and_then(|t| t.parse::<f64>().ok())
        .unwrap_or(0.0)
        / 1e9
}

fn main() {
    let mut args = std::env::args().skip(1);
    let (mut seconds, mut engines, mut passes, mut split) = (1.0, "sij".to_string(), false, true);
    let (mut mode, mut most, mut rewritten) = (ScalarMode::Auto, u64::MAX, false);
    let (mut lane_options, mut store, mut pairs) = (LaneOptions::default(), None, PairBudget::default());
    let mut files = Vec::new();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--seconds" => seconds = args.next().and_then(|s| s.parse().ok()).unwrap_or(1.0),
            "--playouts" => most = args.next().and_then(|s| s.parse().ok()).unwrap_or(u64::MAX),
            "--engines" => engines = args.next().unwrap_or_default(),
            "--passes" => passes = true,
            "--pairs" => pairs.pairs = args.next().and_then(|s| s.parse().ok()).unwrap_or(0),
            "--visits" => pairs.visits = args.next().and_then(|s| s.parse().ok()).unwrap_or(0),
            "--store" => store = args.next(),
            "--whole" => lane_options.most_whole = args.next().and_then(|s| s.parse().ok()).unwrap_or(0),
            "--piece" => lane_options.piece = args.next().and_then(|s| s.parse().ok()).unwrap_or(0),
            "--groups" => lane_options.most_groups = args.next().and_then(|s| s.parse().ok()).unwrap_or(1),
            "--rewritten" => rewritten = true,
            "--nosplit" => split = false,
            "--incremental" => mode = ScalarMode::Incremental,
            "--cones" => mode = ScalarMode::Cones,
            "--compiled" => mode = ScalarMode::Compiled,
            _ => files.push(arg),
        }
    }
    for file in files {
        let name = file
            .rsplit('/')
            .next()
            .unwrap_or(&file)
            .trim_end_matches(".kif")
            .to_string();
        let text = std::fs::read(&file).expect("a rules file");
        let options = CompileOptions {
            scalar: mode,
            lanes: lane_options,
            pairs,
            ..Default::default()
        };
        if file.ends_with(".net") {
            let game = Compiled::from_bytes(&text, &options).expect("a stored game");
            let sees = game.stats().sees_ops > 0;
            engines.contains('s').then(|| scalar(&game, seconds, most, sees));
            engines.contains('j').then(|| lanes("native", &game, seconds, sees));
            continue;
        }
        let t0 = cpu_seconds();
        let reading = gdl::read(&String::from_utf8_lossy(&text), &gdl::Options::default());
        let mut limits = ground::Limits::default();
        if rewritten {
            limits.splitting = ground::Splitting::Thorough;
        }
        if !split {
            limits.splitting = ground::Splitting::Off;
        }
        let ground = match rewritten {
            true => ground::ground_rewritten(&reading.rules, Passes::USUAL, &limits, &mut |_| {})
                .map(|made| made.expect("some pass changes the rules").0),
            false => ground::ground(&reading.rules, &limits, &mut |_| {}),
        };
        let program = match ground {
            Ok(program) => program,
            Err(error) => {
                println!("{name}: {error}");
                continue;
            }
        };
        let t1 = cpu_seconds();
        let game = compile(&program, &options);
        let t2 = cpu_seconds();
        if let Some(path) = &store {
            std::fs::write(path, game.to_bytes().expect("a game that can be stored")).expect("a file");
        }
        let s = game.stats();
        let moves: Vec<usize> = program.moves.iter().map(Vec::len).collect();
        print!(
            "{name:22} props {:5} moves {moves:?} ground {:.2}s net {:.2}s gates {} ops {} (A {} G {} N {} S {})",
            program.fluents.len(),
            t1 - t0,
            t2 - t1,
            s.gates(),
            s.ops(),
            s.legal_ops,
            s.goal_ops,
            s.next_ops,
            s.sees_ops
        );
        println!(
            " families {} columns {}",
            game.exclusive_fluents().len(),
            game.n_columns()
        );
        if passes {
            s.passes
                .iter()
                .for_each(|p| println!("    {:12} gates {:7} ops {:8}", p.name, p.gates, p.ops));
        }
        let sees = s.sees_ops > 0 || program.percepts.iter().any(|p| !p.is_empty());
        if engines.contains('s') {
            scalar(&game, seconds, most, sees);
        }
        if engines.contains('i') {
            let options = CompileOptions {
                lanes: LaneOptions {
                    native: false,
                    ..lane_options
                },
                ..Default::default()
            };
            lanes("interp", &compile(&program, &options), seconds, sees);
        }
        if engines.contains('j') {
            lanes("native", &game, seconds, sees);
        }
    }
}

fn scalar(game: &Compiled, seconds: f64, most: u64, sees: bool) {
    let mut sim = Scalar::new(game);
    let root = sim.initial().expect("initial");
    let mut rng = Seed(1).rng();
    for window in 0..2 {
        let (start, wall) = (cpu_seconds(), Instant::now());
        let (mut n, mut moves, mut points) = (0_u64, 0_u64, 0_u64);
        let limit = if window == 0 && most < u64::MAX {
            0.0
        } else if window == 0 {
            seconds * 0.3
        } else {
            seconds
        };
        while wall.elapsed().as_secs_f64() < limit && n < most {
            for _ in 0..8 {
                let played = if sees {
                    sim.playout_seeing(&root, &mut rng)
                } else {
                    sim.playout(&root, &mut rng)
                };
                n += 1;
                moves += u64::from(played.moves);
                points += u64::from(sim.points(RoleId(0)));
            }
        }
        if window == 1 {
            report("scalar", n, moves, points, cpu_seconds() - start, "");
        }
    }
}

fn lanes(label: &str, game: &Compiled, seconds: f64, sees: bool) {
    let roots = [game.initial_state()];
    let options = PlayoutOptions {
        percepts: sees,
        ..Default::default()
    };
    let t = cpu_seconds();
    playouts(game, &roots, 1, Seed(2), &options, &StopFlag::default());
    let setup = cpu_seconds() - t;
    let mut best: (f64, u64, u64, u64, f64) = (0.0, 0, 0, 0, 1.0);
    for window in 0..3 {
        let stop = StopFlag::default();
        let flag = stop.clone();
        let watch = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_secs_f64(seconds / 3.0));
            flag.raise();
        });
        let start = cpu_seconds();
        let t = playouts(game, &roots, u64::MAX / 2, Seed(window), &options, &stop);
        let cpu = cpu_seconds() - start;
        let _ = watch.join();
        let rate = t.roots[0].playouts as f64 / cpu;
        if rate > best.0 {
            best = (rate, t.roots[0].playouts, t.meter.states, t.roots[0].points[0], cpu);
        }
    }
    report(
        label,
        best.1,
        best.2,
        best.3,
        best.4,
        &format!("code {setup:.2}s {}", game.code_stats()),
    );
}

fn report(label: &str, n: u64, moves: u64, points: u64, cpu: f64, extra: &str) {
    println!(
        "    {label:7} {:>12.0} playouts/s {:>13.0} moves/s  length {:.2} mean {:.2}  {extra}",
        n as f64 / cpu,
        moves as f64 / cpu,
        moves as f64 / n as f64,
        points as f64 / n as f64
    );
}
