//! Times the reference simulator on recorded plays: `replay FILTER [LINES]`.

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Instant;
use support::conformance::{SKIPS, entries, follow};
use surmise_ground::Reference;
use surmise_testing::conformance as folder;

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let lines: usize = std::env::args()
        .nth(2)
        .map_or(usize::MAX, |n| n.parse().expect("a number"));
    let Some(folder) = folder("replay") else { return };
    for entry in entries(&folder).iter().filter(|e| e.name.contains(&filter)) {
        let reading = entry.read();
        let start = Instant::now();
        let mut sim = match Reference::new(&reading.rules) {
            Ok(sim) => sim,
            Err(e) => {
                println!("{:32} does not start: {e}", entry.name);
                continue;
            }
        };
        let started = start.elapsed();
        let trace = entry.lines();
        let start = Instant::now();
        let outcome = follow(&mut sim, &trace, lines, SKIPS, &entry.name);
        let mut outcome = outcome.map_or_else(|e| e, |n| format!("{n} lines ok"));
        outcome.truncate(300);
        println!(
            "{:32} start {:8.3} s, {:4} lines {:8.3} s, {}",
            entry.name,
            started.as_secs_f64(),
            trace.len().min(lines),
            start.elapsed().as_secs_f64(),
            outcome
        );
    }
}
