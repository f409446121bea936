//! One target under libFuzzer, with our mutator: `SURMISE_FUZZ_TARGET=NAME surmise-fuzz [libFuzzer's arguments]`.
//!
//! `scripts/fuzz.sh` builds it with coverage counters and runs the targets in turn.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use std::sync::{LazyLock, Mutex, PoisonError};
use surmise::game::Seed;
use surmise_fuzz::{Mutator, Target, find};

static TARGET: LazyLock<&'static Target> = LazyLock::new(|| {
    let name = std::env::var("SURMISE_FUZZ_TARGET").unwrap_or_default();
    find(&name).unwrap_or_else(|| panic!("SURMISE_FUZZ_TARGET is no target: `{name}`"))
});

static MUTATOR: LazyLock<Mutex<Mutator>> = LazyLock::new(|| {
    let seed = std::env::var("SURMISE_FUZZ_SEED")
        .ok()
        .and_then(|text| text.parse().ok());
    let mutator = Mutator::new(Seed(seed.unwrap_or(1)), TARGET.grammar, (TARGET.seeds)());
    Mutex::new(mutator)
});

fuzz_target!(|input: &[u8]| (TARGET.run)(input));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, _seed: u32| {
    let most = max_size.min(TARGET.max_len);
    let mut mutator = MUTATOR.lock().unwrap_or_else(PoisonError::into_inner);
    let made = mutator.change(data[..size].to_vec(), most);
    data[..made.len()].copy_from_slice(&made);
    made.len()
});
