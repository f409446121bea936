//! Sizes of a game, the exploitability of the uniform policy, and some iterations of predictive CFR+, without a tree:
//! `cargo run --release -p surmise-solve --example large -- GAME [ITERATIONS [THREADS]]`.

use game::StopFlag;
use propnet::Scalar;
use std::time::Instant;
use surmise_solve::{LargeAlgorithm, LargeGame, LargeLimits, LargeProgress, LargeSolver, Profile, RoundsInViews};

fn main() {
    let mut args = std::env::args().skip(1);
    let spec = args.next().expect("a game");
    let iterations: u32 = args.next().map_or(0, |n| n.parse().expect("iterations"));
    let threads: usize = args.next().map_or(1, |n| n.parse().expect("threads"));
    let text = catalogue::rules(&spec).expect("a game of the catalogue");
    let mut rules = gdl::read(&text, &gdl::Options::default()).rules;
    rules.announce_moves();
    let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {}).expect("a small game");
    let mut sim = Scalar::new(&propnet::compile(&program, &propnet::CompileOptions::default()));
    let limits = LargeLimits {
        bytes: 12 << 30,
        ..LargeLimits::default()
    };
    let started = Instant::now();
    let large = LargeGame::build(&mut sim, RoundsInViews::Auto, &limits, &mut |p| {
        if p == LargeProgress::Views {
            println!("states in {:.2} s", started.elapsed().as_secs_f64());
        }
    })
    .expect("a game that fits");
    println!("{:#?}", large.sizes());
    println!(
        "built in {:.2} s, drops silent rounds: {}",
        started.elapsed().as_secs_f64(),
        large.drops_silent_rounds()
    );
    let stop = StopFlag::default();
    let started = Instant::now();
    let rating = large.rate(&Profile::uniform(&large), threads, &stop, &mut |_| {});
    println!("{rating:?}, NashConv / 2 {}", rating.nash_conv() / 2.0);
    println!("rated in {:.2} s", started.elapsed().as_secs_f64());
    let mut solver = LargeSolver::new(&large, LargeAlgorithm::Predictive, threads);
    let started = Instant::now();
    let mut next = 4;
    for iteration in 1..=iterations {
        solver.iterate(&stop, &mut |_| {});
        if iteration == next || iteration == iterations {
            next = next * 3 / 2;
            let spent = started.elapsed().as_secs_f64();
            let rating = solver.rate(&stop, &mut |_| {});
            let gap = rating.nash_conv() / 2.0;
            println!(
                "{iteration} iterations in {spent:.1} s, {} entries: {gap} {:?}",
                solver.entries, rating.values
            );
        }
    }
}
