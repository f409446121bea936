//! Measures how soon compiling ends once the stop flag is raised: `stopping FILE…`
//!
//! Compiles games to the end and prints the longest time between two checks of the stop flag, for each part that can be
//! stopped. With `RUST_BACKTRACE=1` it also prints the place of every check that came late.

use game::StopFlag;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use surmise_propnet::{CompileOptions, PlayoutOptions, compile_until};

/// The time of the last check, and the longest time between two checks.
struct Looks {
    last: Instant,
    longest: Duration,
}

/// Calls a function with a flag that is never raised. Returns the result of the function, the longest time between two
/// checks of the flag, and the whole time, both in seconds.
fn watch<R>(f: impl FnOnce(&StopFlag) -> R) -> (R, f64, f64) {
    let started = Instant::now();
    let looks = Arc::new(Mutex::new(Looks {
        last: started,
        longest: Duration::ZERO,
    }));
    let look = |looks: &Mutex<Looks>| {
        let mut looks = looks.lock().expect("no look panics");
        let gap = looks.last.elapsed();
        if gap.as_secs_f64() > 0.25 && std::env::var_os("RUST_BACKTRACE").is_some() {
            eprintln!(
                "{:.2} s before {}",
                gap.as_secs_f64(),
                std::backtrace::Backtrace::force_capture()
            );
        }
        looks.longest = looks.longest.max(gap);
        looks.last = Instant::now();
        looks.longest.as_secs_f64()
    };
    let shared = looks.clone();
    let stop = StopFlag::by(move || {
        look(&shared);
        0.0
    });
    let result = f(&stop);
    (result, look(&looks), started.elapsed().as_secs_f64())
}

fn main() {
    for file in std::env::args().skip(1) {
        let name = file.rsplit('/').next().unwrap_or(&file);
        let text = std::fs::read(&file).expect("a rules file");
        let rules = gdl::read_bytes(&text, &gdl::Options::default()).rules;
        let program = match ground::ground(&rules, &ground::Limits::default(), &mut |_| {}) {
            Ok(program) => program,
            Err(error) => {
                println!("{name:24} {error}");
                continue;
            }
        };
        let (game, gap, total) = watch(|stop| compile_until(&program, &CompileOptions::default(), stop));
        let game = game.expect("nobody raises the flag");
        print!("{name:24} compile {gap:.2} of {total:.2} s");
        let (_, gap, total) = watch(|stop| game.prepare_scalar(stop));
        print!("   scalar {gap:.2} of {total:.2} s");
        let (_, gap, total) = watch(|stop| game.prepare_lanes(&PlayoutOptions::default(), stop));
        println!("   lanes {gap:.2} of {total:.2} s");
    }
}
