//! Grounds conformance games and checks the programs on recorded plays: `instances FILTER [LINES]
//! [off|components|full|thorough] [PASSES]`, with passes by their letters: `owfjgt`. With
//! the variable RELATIONS, the largest relations are printed too.

#[path = "../tests/support/mod.rs"]
mod support;

use std::sync::Arc;
use std::time::Instant;
use support::conformance::{SKIPS, entries, follow};
use surmise_ground::{Direct, Limits, Passes, Splitting};
use surmise_testing::conformance as folder;

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let lines: usize = std::env::args().nth(2).map_or(0, |n| n.parse().expect("a number"));
    let splitting = match std::env::args().nth(3).as_deref() {
        Some("off") => Splitting::Off,
        Some("components") => Splitting::Components,
        Some("thorough") => Splitting::Thorough,
        _ => Splitting::Full,
    };
    let passes = std::env::args().nth(4).unwrap_or_default();
    let passes = Passes {
        disjunctions: passes.contains('o'),
        wildcards: passes.contains('w'),
        dependencies: passes.contains('f'),
        inline: passes.contains('j'),
        project: passes.contains('g'),
        types: passes.contains('t'),
    };
    let Some(folder) = folder("instances") else { return };
    for entry in entries(&folder).iter().filter(|e| e.name.contains(&filter)) {
        let reading = entry.read();
        let limits = Limits {
            splitting,
            ..Limits::default()
        };
        let start = Instant::now();
        let mut instances = 0;
        let mut note = |p: surmise_ground::Progress| instances = p.instances;
        let result = match passes == Passes::NONE {
            true => surmise_ground::ground(&reading.rules, &limits, &mut note).map(|p| Some((p, passes))),
            false => surmise_ground::ground_rewritten(&reading.rules, passes, &limits, &mut note),
        };
        let seconds = start.elapsed().as_secs_f64();
        let program = match result {
            Ok(Some((program, passes))) => {
                print!("[{passes}] ");
                program
            }
            Ok(None) => {
                println!("{:32} {seconds:8.3} s  nothing to rewrite", entry.name);
                continue;
            }
            Err(e) => {
                println!("{:32} {seconds:8.3} s  {e}", entry.name);
                continue;
            }
        };
        let moves: Vec<usize> = program.moves.iter().map(Vec::len).collect();
        print!(
            "{:32} {seconds:8.3} s {instances:8} instances {:8} rules {:8} atoms {:5} fluents {moves:?} moves",
            entry.name,
            program.rules.len(),
            program.n_atoms,
            program.fluents.len(),
        );
        if std::env::var_os("RELATIONS").is_some() {
            relations(&program);
        }
        let start = Instant::now();
        let outcome = follow(
            &mut Direct::new(Arc::new(program)),
            &entry.lines(),
            lines,
            SKIPS,
            &entry.name,
        );
        let mut outcome = outcome.map_or_else(|e| e, |n| format!("{n} lines ok"));
        outcome.truncate(300);
        println!(" {:.3} s {outcome}", start.elapsed().as_secs_f64());
    }
}

/// Prints the relations with most ground rules.
fn relations(program: &surmise_ground::Program) {
    let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for rule in &program.rules {
        let name = program.names[rule.head.0 as usize].trim_start_matches('(');
        *counts
            .entry(name.split([' ', ')']).next().unwrap_or_default())
            .or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    println!();
    counts.iter().take(16).for_each(|(name, n)| println!("{n:9} {name}"));
}
