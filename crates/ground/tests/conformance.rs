//! Every recorded play of `../shared/conformance`, replayed by the reference simulator and by ground programs.
//!
//! The usual run follows long plays of large programs only in part; `SURMISE_FULL=1` goes to the end.

mod support;

use std::sync::Arc;
use support::conformance::{Entry, SKIPS, entries, follow};
use surmise_ground::{Direct, GroundError, Limits, Reference, Splitting, ground};
use surmise_testing::{conformance as folder, folder_at};

/// Games that do not ground within the default limits, and the relation that is too large.
const UNGROUNDED: &[(&str, &str)] = &[
    ("chess", "threatened_with_capture/7"),
    ("ruleDepthExponential", "prereq20/20"),
];

/// Minimum number of entries with recorded plays, and of their lines.
const FEWEST_TRACES: usize = 100;
const FEWEST_LINES: usize = 9_000;

#[test]
fn reference_replays_every_trace() {
    let Some(done) = check_each("reference_replays_every_trace", &|entry| {
        let rules = entry.read().rules;
        let mut sim = Reference::new(&rules).map_err(|e| e.to_string())?;
        follow(&mut sim, &entry.lines(), usize::MAX, SKIPS, &entry.name).map(Some)
    }) else {
        return;
    };
    assert!(done.traces >= FEWEST_TRACES && done.lines >= FEWEST_LINES, "{done:?}");
}

#[test]
fn ground_programs_replay_every_trace() {
    let test = "ground_programs_replay_every_trace";
    let Some(done) = check_each(test, &|entry| ground_and_follow(entry, &Limits::default())) else {
        return;
    };
    assert!(done.traces >= FEWEST_TRACES - UNGROUNDED.len(), "{done:?}");
    assert!(done.lines >= FEWEST_LINES / if full_run() { 1 } else { 4 }, "{done:?}");
}

#[test]
fn ground_programs_without_splitting_replay_every_trace() {
    let test = "ground_programs_without_splitting_replay_every_trace";
    let Some(done) = check_each(test, &|entry| match entry.name.as_str() {
        // Large without splitting: these would take most of the time.
        "blobwars" | "knightazons" | "skirmish" | "skirmishFinal1" | "racer" | "crisscross" if !full_run() => Ok(None),
        "amazons" | "amazons.v1" | "racer" => Ok(None),
        _ => ground_and_follow(
            entry,
            &Limits {
                splitting: Splitting::Off,
                ..Limits::default()
            },
        ),
    }) else {
        return;
    };
    assert!(done.traces >= FEWEST_TRACES - UNGROUNDED.len() - 8, "{done:?}");
    assert!(done.lines >= FEWEST_LINES / if full_run() { 2 } else { 4 }, "{done:?}");
}

#[test]
fn ground_programs_restricted_to_what_is_asked_replay_every_trace() {
    let test = "ground_programs_restricted_to_what_is_asked_replay_every_trace";
    let limits = Limits {
        splitting: Splitting::Thorough,
        asked: true,
        ..Limits::default()
    };
    let Some(done) = check_each(test, &|entry| match (entry.name.as_str(), grows(entry)) {
        // What is asked for may be small where the whole is not, or may not.
        (_, Some(_)) => Ok(None),
        // Here the questions are more than the answers. Other ways come first, and ground these games.
        ("checkers" | "checkersSmall", None) => Ok(None),
        (_, None) => ground_and_follow(entry, &limits),
    }) else {
        return;
    };
    assert!(done.traces >= FEWEST_TRACES - UNGROUNDED.len() - 8, "{done:?}");
}

#[test]
#[should_panic(expected = "is there, but")]
fn a_folder_without_an_index_is_a_mistake() {
    folder_at(
        env!("CARGO_MANIFEST_DIR").as_ref(),
        "a_folder_without_an_index_is_a_mistake",
    );
}

/// Number of lines compared, or `None` if the program is too large as expected.
fn ground_and_follow(entry: &Entry, limits: &Limits) -> Result<Option<usize>, String> {
    let program = match (ground(&entry.read().rules, limits, &mut |_| ()), grows(entry)) {
        (Ok(program), None) => program,
        (Err(GroundError::TooLarge { relation, size, .. }), Some(named)) => {
            assert!(relation == named && size > 100_000, "{relation} with {size}");
            return Ok(None);
        }
        (Ok(_), Some(_)) => return Err("this game grounds: take it off the list".to_owned()),
        (Err(e), _) => return Err(e.to_string()),
    };
    // The naive evaluator visits every rule a dozen times per line.
    let max_lines = match full_run() {
        true => usize::MAX,
        false => (500_000 / program.rules.len().max(1)).max(2),
    };
    let mut sim = Direct::new(Arc::new(program));
    follow(&mut sim, &entry.lines(), max_lines, SKIPS, &entry.name).map(Some)
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

/// Numbers of comparisons.
#[derive(Debug, Default)]
struct Done {
    /// Recorded plays of which at least one line was compared.
    traces: usize,
    lines: usize,
}

/// Checks all entries and reports all that fail; `None` if there are no data.
fn check_each(test: &str, check: &dyn Fn(&Entry) -> Result<Option<usize>, String>) -> Option<Done> {
    let (mut done, mut failures) = (Done::default(), Vec::new());
    for entry in entries(&folder(test)?) {
        match check(&entry) {
            Ok(lines) => {
                done.traces += usize::from(lines.is_some_and(|n| n > 0));
                done.lines += lines.unwrap_or(0);
            }
            Err(error) => failures.push(format!("{}: {error}", entry.name)),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    Some(done)
}
