//! Times each phase of setting up rewritten rules and measures random games: `rewritten FILE PASSES [SECONDS]
//! [full|thorough]`, with passes by their letters: `owfjgt`.

use game::{Seed, StopFlag};
use ground::{Limits, Passes, Splitting};
use std::time::{Duration, Instant};
use surmise_propnet::{CompileOptions, PlayoutOptions, Scalar, compile, playouts};

fn main() {
    let mut args = std::env::args().skip(1);
    let file = args.next().expect("a file of rules");
    let letters = args.next().unwrap_or_default();
    let seconds: f64 = args.next().map_or(3.0, |s| s.parse().expect("a number"));
    let splitting = match args.next().as_deref() {
        Some("full") => Splitting::Full,
        Some("components") => Splitting::Components,
        Some("off") => Splitting::Off,
        _ => Splitting::Thorough,
    };
    let passes = Passes {
        disjunctions: letters.contains('o'),
        wildcards: letters.contains('w'),
        dependencies: letters.contains('f'),
        inline: letters.contains('j'),
        project: letters.contains('g'),
        types: letters.contains('t'),
    };
    let bytes = std::fs::read(file).expect("readable");
    let rules = gdl::read_bytes(&bytes, &gdl::Options::default()).rules;
    let limits = Limits {
        splitting,
        ..Limits::default()
    };
    let mut instances = 0;
    let mut note = |p: ground::Progress| instances = p.instances;
    let start = Instant::now();
    let grounded = match passes == Passes::NONE {
        true => ground::ground(&rules, &limits, &mut note).map(|p| Some((p, passes))),
        false => ground::ground_rewritten(&rules, passes, &limits, &mut note),
    };
    let grounded = grounded.expect("grounds").expect("something to rewrite");
    println!(
        "ground {:.2} s: {instances} instances, {} rules ({})",
        start.elapsed().as_secs_f64(),
        grounded.0.rules.len(),
        grounded.1
    );
    let start = Instant::now();
    let game = compile(&grounded.0, &CompileOptions::default());
    println!(
        "compile {:.2} s: {} ops",
        start.elapsed().as_secs_f64(),
        game.stats().ops()
    );
    for pass in &game.stats().passes {
        println!("  {:10} {:8} gates {:8} ops", pass.name, pass.gates, pass.ops);
    }
    let start = Instant::now();
    let options = PlayoutOptions::default();
    game.prepare_playouts(&options, &StopFlag::default())
        .expect("nobody stops it");
    println!(
        "lanes code {:.2} s: {}",
        start.elapsed().as_secs_f64(),
        game.code_stats()
    );
    let start = Instant::now();
    game.prepare_scalar(&StopFlag::default()).expect("nobody stops it");
    println!("scalar code {:.2} s", start.elapsed().as_secs_f64());
    let stop = StopFlag::by({
        let start = Instant::now();
        move || start.elapsed().as_secs_f64() / seconds
    });
    let start = Instant::now();
    let totals = playouts(&game, &[game.initial_state()], u64::MAX / 2, Seed(1), &options, &stop);
    let rate = |n: u64| n as f64 / start.elapsed().as_secs_f64();
    println!(
        "lanes: {:.0} playouts/s, {:.0} moves/s",
        rate(totals.roots[0].playouts),
        rate(totals.meter.states)
    );
    let mut scalar = Scalar::new(&game);
    let (root, mut rng, mut n, mut moves) = (game.initial_state(), Seed(1).rng(), 0u64, 0u64);
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs_f64(seconds) {
        moves += u64::from(scalar.playout(&root, &mut rng).moves);
        n += 1;
    }
    let rate = |n: u64| n as f64 / start.elapsed().as_secs_f64();
    println!("scalar: {:.0} playouts/s, {:.0} moves/s", rate(n), rate(moves));
}
