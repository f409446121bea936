//! What threads gain: `speed [--threads 1,2] [--algorithm A] [--seconds S] [--histories N] [--rows N] GAME…`
//!
//! For each number of threads in turns, three times, the best of which counts: seconds to build the tree and its form,
//! iterations a second, and seconds for one NashConv.

use game::Seed;
use propnet::Scalar;
use solve::{Algorithm, Form, Limits, Threads, Tree};
use std::time::Instant;

fn main() {
    let mut args = std::env::args().skip(1);
    let (mut numbers, mut algorithm, mut seconds) = (vec![1, 2], Algorithm::Cfr, 1.0);
    let mut usual = Threads::default();
    let mut games = Vec::new();
    while let Some(arg) = args.next() {
        let mut value = || args.next().unwrap_or_default();
        match arg.as_str() {
            "--threads" => numbers = value().split(',').filter_map(|n| n.parse().ok()).collect(),
            "--algorithm" => algorithm = value().parse().expect("an algorithm"),
            "--seconds" => seconds = value().parse().expect("seconds"),
            "--histories" => usual.histories = value().parse().expect("a number"),
            "--rows" => usual.rows = value().parse().expect("a number"),
            _ => games.push(arg),
        }
    }
    println!("game, threads: build s, {} iterations/s, NashConv s", algorithm.name());
    for spec in games {
        let text = catalogue::rules(&spec).expect("a game of the catalogue");
        let mut rules = gdl::read(&text, &gdl::Options::default()).rules;
        rules.announce_moves();
        let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {}).expect("a small game");
        let mut sim = Scalar::new(&propnet::compile(&program, &propnet::CompileOptions::default()));
        let mut best = vec![[f64::INFINITY, 0.0, f64::INFINITY]; numbers.len()];
        for _ in 0..3 {
            for (n, best) in numbers.iter().zip(&mut best) {
                let threads = Threads { n: *n, ..usual };
                let started = Instant::now();
                let limits = Limits::default();
                let tree = Tree::build_on(&threads, &mut sim, &limits, &mut |_| {}).expect("a tree");
                let form = Form::on(&threads, &tree);
                best[0] = best[0].min(started.elapsed().as_secs_f64());
                let mut solver = algorithm.solver(&form, Seed(1));
                let (started, mut slice) = (Instant::now(), 1);
                while started.elapsed().as_secs_f64() < seconds {
                    solver.iterate(slice);
                    if started.elapsed().as_secs_f64() < 0.05 {
                        slice *= 2;
                    }
                }
                best[1] = best[1].max(solver.iterations() as f64 / started.elapsed().as_secs_f64());
                let policy = solver.average();
                let started = Instant::now();
                form.nash_conv(&policy);
                best[2] = best[2].min(started.elapsed().as_secs_f64());
            }
        }
        for (n, [build, rate, check]) in numbers.iter().zip(best) {
            println!("{spec}, {n}: {build:.3} s, {rate:.0}/s, {check:.6} s");
        }
    }
}
