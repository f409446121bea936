//! Sizes of a game, the exploitability of the uniform policy, and some iterations of regret minimisation, without a
//! tree (exploitability of the average, of the last strategies, and of the best so far): `cargo run --release -p
//! surmise-solve --example large -- GAME [ITERATIONS [THREADS [on|off [ALGORITHM]]]]`: with `off` symmetries are not
//! used. With `counts` in place of iterations: information sets and histories as the literature counts them, where
//! forced moves are decisions and `noop` is none.

use game::{MoveId, Simulator, StopFlag};
use propnet::Scalar;
use std::time::Instant;
use surmise_solve::{
    LargeAlgorithm, LargeGame, LargeLimits, LargeProgress, LargeSolver, Profile, RoundsInViews, is_rated,
};

fn main() {
    let mut args = std::env::args().skip(1);
    let spec = args.next().expect("a game");
    let iterations = args.next().unwrap_or_else(|| "0".to_owned());
    let threads: usize = args.next().map_or(1, |n| n.parse().expect("threads"));
    let symmetry = args.next().as_deref() != Some("off");
    let algorithm = args
        .next()
        .unwrap_or_else(|| LargeAlgorithm::default().name().to_owned());
    let algorithm = LargeAlgorithm::ALL.into_iter().find(|a| a.name() == algorithm);
    let algorithm = algorithm.expect("an algorithm");
    let text = catalogue::rules(&spec).expect("a game of the catalogue");
    let mut rules = gdl::read(&text, &gdl::Options::default()).rules;
    rules.announce_moves();
    let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {}).expect("a small game");
    let mut sim = Scalar::new(&propnet::compile(&program, &propnet::CompileOptions::default()));
    let limits = LargeLimits {
        bytes: 12 << 30,
        symmetry,
        threads,
        ..LargeLimits::default()
    };
    if iterations == "counts" {
        return count(&mut sim, &limits);
    }
    let iterations: u32 = iterations.parse().expect("iterations");
    let started = Instant::now();
    let mut least = 0;
    let large = LargeGame::build(&mut sim, RoundsInViews::Auto, &limits, &mut |step| match step {
        LargeProgress::States(so_far) => {
            if so_far.least > so_far.found && so_far.least != least {
                println!("{so_far:?} after {:.2} s", started.elapsed().as_secs_f64());
                least = so_far.least;
            }
        }
        LargeProgress::Views => println!("states in {:.2} s", started.elapsed().as_secs_f64()),
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
    let mut solver = LargeSolver::new(&large, algorithm, threads);
    let started = Instant::now();
    for iteration in 1..=u64::from(iterations) {
        solver.iterate(&stop, &mut |_| {});
        if is_rated(iteration) || iteration == u64::from(iterations) {
            let spent = started.elapsed().as_secs_f64();
            let average = solver.rate(&stop, &mut |_| {}).nash_conv() / 2.0;
            let last = solver.rate_last(&stop, &mut |_| {}).nash_conv() / 2.0;
            let kept = solver.keep_best(&stop, &mut |_| {}).nash_conv() / 2.0;
            println!(
                "{iteration} iterations in {spent:.1} s, {} entries: average {average:.3e}, last {last:.3e}, kept \
                 {kept:.3e}",
                solver.entries
            );
        }
    }
}

fn count(sim: &mut Scalar, limits: &LargeLimits) {
    let large = LargeGame::build(sim, RoundsInViews::Counted, limits, &mut |_| {}).expect("a game that fits");
    let players = large.players().iter();
    let noop: Vec<_> = players
        .map(|&role| sim.find_move(role, "noop").expect("noop"))
        .collect();
    let decides = |player: usize, moves: &[MoveId]| moves != [noop[player]];
    let sets: Vec<f64> = (0..noop.len())
        .map(|p| large.count_views(p, &|moves| decides(p, moves)))
        .collect();
    let (deciding, over) = large.count_histories(&decides);
    println!(
        "information sets {sets:?}, histories {deciding} deciding + {over} over = {}",
        deciding + over
    );
}
