//! How often compiling checks its stop flag, on large games of `../shared/conformance`.

use game::StopFlag;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use surmise_propnet::{CompileOptions, PlayoutOptions, compile_until};

/// Longest time between two checks of the flag. A tenth of it is usual; the rest allows for other work on the machine.
const LONGEST: Duration = Duration::from_secs(3);

/// Fails if more than [`LONGEST`] passes between two checks of the flag.
fn looks_often<R>(what: &str, f: impl FnOnce(&StopFlag) -> R) -> R {
    let started = Instant::now();
    let looks = Arc::new(Mutex::new((started, Duration::ZERO, 0)));
    let look = |looks: &Mutex<(Instant, Duration, usize)>| {
        let (last, longest, n) = &mut *looks.lock().expect("no look panics");
        *longest = (*longest).max(last.elapsed());
        *last = Instant::now();
        *n += 1;
        (*longest, *n)
    };
    let shared = looks.clone();
    let result = f(&StopFlag::by(move || {
        look(&shared);
        0.0
    }));
    let (longest, n) = look(&looks);
    assert!(longest < LONGEST, "{what}: {longest:?} between two looks");
    assert!(n > 10, "{what}: only {n} looks");
    result
}

#[test]
fn compiling_large_games_looks_at_the_flag_often() {
    let Some(folder) = surmise_testing::conformance("compiling_large_games_looks_at_the_flag_often") else {
        return;
    };
    for game in ["speedChess", "hex", "checkers"] {
        let text = std::fs::read(folder.join(format!("rules/ggp-repository/{game}.kif"))).expect("a file of rules");
        let rules = gdl::read_bytes(&text, &gdl::Options::default()).rules;
        let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {}).expect("grounds");
        let options = CompileOptions::default();
        let compiled = looks_often(game, |stop| compile_until(&program, &options, stop)).expect("nobody stops it");
        looks_often(game, |stop| compiled.prepare_scalar(stop)).expect("nobody stops it");
        looks_often(game, |stop| compiled.prepare_lanes(&PlayoutOptions::default(), stop)).expect("nobody stops it");
    }
}
