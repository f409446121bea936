//! Kept findings are replayed, and every target is tried with some mutants of its seeds.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use surmise::game::Seed;
use surmise_fuzz::{Mutator, TARGETS, Target};

fn folder(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/fuzz")
        .join(target.name)
}

/// Runs a target. An input that breaks it is kept.
fn run(target: &Target, input: &[u8]) {
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    if let Err(panic) = outcome {
        let hash = input
            .iter()
            .fold(7_u64, |h, &b| h.wrapping_mul(31).wrapping_add(u64::from(b)));
        let file = folder(target).join(format!("broke-{hash:016x}"));
        let _ = std::fs::create_dir_all(folder(target));
        let _ = std::fs::write(&file, input);
        eprintln!("the input is in {}", file.display());
        std::panic::resume_unwind(panic);
    }
}

fn kept(target: &Target) -> Vec<Vec<u8>> {
    let Ok(listed) = std::fs::read_dir(folder(target)) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = listed.map(|f| f.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn findings_stay_mended() {
    for target in TARGETS {
        kept(target).iter().for_each(|input| run(target, input));
    }
}

#[test]
fn every_target_reads_its_seeds() {
    for target in TARGETS {
        let seeds = (target.seeds)();
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        seeds.iter().for_each(|input| run(target, input));
    }
}

#[test]
fn mutants_break_nothing() {
    let only = std::env::var("SURMISE_FUZZ_TARGET").ok();
    let wanted = |target: &&Target| only.as_deref().is_none_or(|name| name == target.name);
    for target in TARGETS.iter().filter(wanted) {
        let seeds = (target.seeds)().into_iter().chain(kept(target)).collect();
        let mut mutator = Mutator::new(Seed(1), target.grammar, seeds);
        let started = std::time::Instant::now();
        for _ in 0..target.tries {
            run(target, &mutator.make(target.max_len));
        }
        eprintln!("{}: {} inputs in {:.1?}", target.name, target.tries, started.elapsed());
    }
}

#[test]
fn a_seed_makes_the_same_inputs() {
    let made = |target: &Target| {
        let mut mutator = Mutator::new(Seed(7), target.grammar, (target.seeds)());
        (0..50).map(|_| mutator.make(target.max_len)).collect::<Vec<_>>()
    };
    let changed = |target: &Target| made(target).iter().any(|input| !(target.seeds)().contains(input));
    for target in TARGETS {
        assert!(made(target) == made(target), "{}", target.name);
        assert!(changed(target), "{}", target.name);
    }
}
