//! What threads gain: `speed [--threads 1,2] [--algorithm A] [--tries N] [--histories N] [--rows N] GAME…`
//!
//! For each number of threads in turns, the best of many short tries, so that other work on the machine disturbs
//! little: seconds to build the tree and its form, iterations a second (on one thread, in slices of some milliseconds),
//! and seconds for one NashConv.

use game::Seed;
use propnet::Scalar;
use std::time::Instant;
use surmise_solve::{Algorithm, Form, Limits, Solver, Threads, Tree};

fn main() {
    let mut args = std::env::args().skip(1);
    let (mut numbers, mut algorithm, mut tries) = (vec![1, 2], Algorithm::Cfr, 200);
    let mut usual = Threads::default();
    let mut games = Vec::new();
    while let Some(arg) = args.next() {
        let mut value = || args.next().unwrap_or_default();
        match arg.as_str() {
            "--threads" => numbers = value().split(',').filter_map(|n| n.parse().ok()).collect(),
            "--algorithm" => algorithm = value().parse().expect("an algorithm"),
            "--tries" => tries = value().parse().expect("a number"),
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
        let mut trees = Vec::new();
        for _ in 0..(tries / 20).max(1) {
            trees.clear();
            for (n, best) in numbers.iter().zip(&mut best) {
                let threads = Threads { n: *n, ..usual };
                let started = Instant::now();
                let limits = Limits::default();
                let tree = Tree::build_on(&threads, &mut sim, &limits, &mut |_| {}).expect("a tree");
                Form::on(&threads, &tree);
                best[0] = best[0].min(started.elapsed().as_secs_f64());
                trees.push((threads, tree));
            }
        }
        let forms: Vec<Form<'_>> = trees.iter().map(|(threads, tree)| Form::on(threads, tree)).collect();
        let mut solvers: Vec<_> = forms.iter().map(|form| algorithm.solver(form, Seed(1))).collect();
        let slice = slice(solvers[0].as_mut());
        for _ in 0..tries {
            for ((form, solver), best) in forms.iter().zip(&mut solvers).zip(&mut best) {
                let started = Instant::now();
                solver.iterate(slice);
                best[1] = best[1].max(slice as f64 / started.elapsed().as_secs_f64());
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

/// Iterations that take about 5 milliseconds.
fn slice(solver: &mut dyn Solver) -> u64 {
    let mut n = 1;
    loop {
        let started = Instant::now();
        solver.iterate(n);
        if started.elapsed().as_secs_f64() > 0.003 {
            return n;
        }
        n *= 2;
    }
}
