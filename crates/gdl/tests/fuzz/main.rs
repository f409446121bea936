//! Any bytes at all give diagnostics, never a panic, and formatting never changes the rules.
//!
//! A mutational fuzzer that runs on stable: seeds are the examples of the diagnostic pages and `testdata/fuzz/`; each
//! round cuts, repeats, swaps and splices them. `cargo test -p surmise-gdl` does a bounded run with a fixed seed;
//! `make fuzz` goes on for as long as `SURMISE_FUZZ_SECONDS` says, with a new seed, and writes what breaks to
//! `testdata/fuzz/`.

mod mutate;

use mutate::Mutator;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use surmise_gdl::{Code, Mode, Notation, Options, Reading};

const ROUNDS: u64 = 4_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fuzz")
}

fn seeds() -> Vec<Vec<u8>> {
    let pages = Code::ALL.iter().flat_map(|c| c.page().split("```gdl").skip(1));
    let blocks = pages.filter_map(|b| {
        b.split_once('\n')?
            .1
            .split_once("```")
            .map(|(b, _)| b.as_bytes().to_vec())
    });
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    files.sort();
    blocks.chain(files.iter().map(|f| std::fs::read(f).unwrap())).collect()
}

#[test]
fn nothing_breaks_the_reader() {
    let seconds: u64 = std::env::var("SURMISE_FUZZ_SECONDS")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(0);
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let seed = if seconds > 0 { clock.as_nanos() as u64 } else { 1 };
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut mutator = Mutator::new(seed, seeds());
    for input in mutator.seeds().to_vec() {
        judge(&input);
    }
    let mut rounds = 0;
    while rounds < ROUNDS || Instant::now() < end {
        judge(&mutator.next());
        rounds += 1;
    }
    eprintln!("{rounds} inputs, seed {seed}");
}

fn judge(input: &[u8]) {
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| check_input(input)));
    if let Err(panic) = outcome {
        let hash = input
            .iter()
            .fold(7_u64, |h, &b| h.wrapping_mul(31).wrapping_add(u64::from(b)));
        let file = folder().join(format!("broke-{hash:016x}"));
        let _ = std::fs::write(&file, input);
        eprintln!("the input is in {}", file.display());
        std::panic::resume_unwind(panic);
    }
}

/// What must be true of every input.
fn check_input(input: &[u8]) {
    for (mode, notation) in [
        (Mode::Lenient, None),
        (Mode::Strict, Some(Notation::Prefix)),
        (Mode::Lenient, Some(Notation::Infix)),
    ] {
        let options = Options {
            mode,
            notation,
            gdl3: mode == Mode::Strict,
            ..Options::default()
        };
        let reading = surmise_gdl::read_bytes(input, &options);
        assert!(reading.render("x").lines().count() >= reading.diagnostics.len());
        let readable = reading
            .diagnostics
            .iter()
            .all(|d| !(d.code.is_syntax() && d.code.text().starts_with('E')));
        if readable {
            check_formatting(&reading, &options);
        }
    }
}

fn check_formatting(reading: &Reading, options: &Options) {
    for notation in [Notation::Prefix, Notation::Infix] {
        let print = |r: &Reading| surmise_gdl::format::format(&r.ast, &r.text, &r.rules.symbols, notation);
        let Ok(once) = print(reading) else {
            continue;
        };
        let options = Options {
            notation: Some(notation),
            ..*options
        };
        let again = surmise_gdl::read(&once, &options);
        assert_eq!(print(&again).as_ref(), Ok(&once), "formatting is not stable");
        let same = reading.ast.forms.len() == again.ast.forms.len();
        assert!(same, "formatting changed the number of forms:\n{once}");
        assert_eq!(
            reading.ast.comments.len(),
            again.ast.comments.len(),
            "a comment was lost:\n{once}"
        );
        assert_eq!(
            reading.rules.clauses.len(),
            again.rules.clauses.len(),
            "formatting changed the rules:\n{once}"
        );
        for (a, b) in reading.rules.clauses.iter().zip(&again.rules.clauses) {
            let head = |c: &surmise_gdl::Clause, r: &Reading| c.head.canonical(&r.rules.symbols);
            assert_eq!(head(a, reading), head(b, &again), "formatting changed a rule:\n{once}");
            assert_eq!(a.body.len(), b.body.len(), "formatting changed a rule:\n{once}");
        }
    }
}
