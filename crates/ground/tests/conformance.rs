//! Every recorded play of `../shared/conformance`, by the reference simulator and by ground programs.
//!
//! The usual run follows long plays of large programs only part of the way; `SURMISE_FULL=1` goes to the end.

mod support;

use std::sync::Arc;
use support::conformance::{Entry, SKIPS, entries, folder, follow};
use surmise_ground::{Direct, GroundError, Limits, Reference, Splitting, ground};

/// Games that do not ground within the default limits: the relation that grows.
const UNGROUNDED: &[(&str, &str)] = &[
    ("chess", "threatened_with_capture/7"),
    ("ruleDepthExponential", "prereq20/20"),
];

#[test]
fn reference_replays_every_trace() {
    check_each(&|entry| {
        let rules = entry.read().rules;
        let mut sim = Reference::new(&rules).map_err(|e| e.to_string())?;
        follow(&mut sim, &entry.lines(), usize::MAX, SKIPS, &entry.name)
    });
}

#[test]
fn ground_programs_replay_every_trace() {
    check_each(&|entry| ground_and_follow(entry, Splitting::Full));
}

#[test]
fn ground_programs_without_splitting_replay_every_trace() {
    check_each(&|entry| match entry.name.as_str() {
        // Large without splitting; their time is better spent elsewhere.
        "blobwars" | "knightazons" | "skirmish" | "skirmishFinal1" | "racer" | "crisscross" if !full_run() => Ok(()),
        "amazons" | "amazons.v1" | "racer" => Ok(()),
        _ => ground_and_follow(entry, Splitting::Off),
    });
}

fn ground_and_follow(entry: &Entry, splitting: Splitting) -> Result<(), String> {
    let limits = Limits {
        splitting,
        ..Limits::default()
    };
    let program = match (ground(&entry.read().rules, &limits, &mut |_| ()), grows(entry)) {
        (Ok(program), None) => program,
        (Err(GroundError::TooLarge { relation, size, .. }), Some(named)) => {
            assert!(relation == named && size > 100_000, "{relation} with {size}");
            return Ok(());
        }
        (Ok(_), Some(_)) => return Err("grounds by now: take it off the list".to_owned()),
        (Err(e), _) => return Err(e.to_string()),
    };
    // The naive evaluator looks at every rule a dozen times per line.
    let max_lines = match full_run() {
        true => usize::MAX,
        false => (500_000 / program.rules.len().max(1)).max(2),
    };
    let mut sim = Direct::new(Arc::new(program));
    follow(&mut sim, &entry.lines(), max_lines, SKIPS, &entry.name)
}

fn grows(entry: &Entry) -> Option<&str> {
    UNGROUNDED
        .iter()
        .find(|(game, _)| *game == entry.name)
        .map(|(_, relation)| *relation)
}

fn full_run() -> bool {
    std::env::var_os("SURMISE_FULL").is_some()
}

/// Checks all entries and reports all that fail.
fn check_each(check: &dyn Fn(&Entry) -> Result<(), String>) {
    let Some(folder) = folder() else { return };
    let failures: Vec<String> = entries(&folder)
        .iter()
        .filter_map(|entry| check(entry).err().map(|e| format!("{}: {e}", entry.name)))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
