//! Which slips does `surmise check` notice? Mutants of the catalogue, by class (docs/checks.md has the table).
//!
//! ```sh
//! cargo run --release -p surmise-catalogue --example mutants -- [--per-class N] [--seed N] [--static] [--missed CLASS]
//! ```
//!
//! Each game is taken with its default parameters, and at most N mutants of each class. A mutant counts as noticed if
//! it has an error or warning that the original does not have. `--missed` lists the mutants of a class that nothing
//! noticed; `--static` leaves out play.

use gdl::{Diagnostic, Mode, Options, Reading, Severity, mutate};
use ground::{AuditOptions, audit};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

struct Args {
    per_class: usize,
    seed: u64,
    play: bool,
    missed: Option<String>,
    game: Option<String>,
}

#[derive(Default)]
struct Tally {
    mutants: usize,
    by_check: usize,
    by_play: usize,
    check_ms: f64,
    play_ms: f64,
}

fn main() {
    let args = arguments();
    let mut tallies: BTreeMap<mutate::Class, Tally> = BTreeMap::new();
    let mut accused = 0;
    for game in surmise_catalogue::games() {
        if args.game.as_ref().is_some_and(|g| g != game.name) {
            continue;
        }
        let text = surmise_catalogue::rules(game.name).expect("a game of the catalogue");
        accused += usize::from(study(game.name, &text, &args, &mut tallies));
    }
    print(&tallies, accused);
}

fn arguments() -> Args {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| words.iter().position(|w| w == name).and_then(|i| words.get(i + 1));
    Args {
        per_class: value("--per-class").map_or(5, |n| n.parse().expect("a number")),
        seed: value("--seed").map_or(1, |n| n.parse().expect("a number")),
        play: !words.iter().any(|w| w == "--static"),
        missed: value("--missed").cloned(),
        game: value("--game").cloned(),
    }
}

/// Adds the mutants of one game; says whether the original itself is accused of something.
fn study(name: &str, text: &str, args: &Args, tallies: &mut BTreeMap<mutate::Class, Tally>) -> bool {
    let reading = gdl::read(text, &Options::default());
    let original_static = accusations(&by_check(&reading));
    let original_play = if args.play { accusations(&by_play(&reading)) } else { BTreeSet::new() };
    for (code, message) in original_static.iter().chain(&original_play) {
        println!("{name}: the original is accused: {code}: {message}");
    }
    let mutants = mutate::mutants(text, &Options::default());
    for mutant in mutants.sample(args.per_class, args.seed) {
        let tally = tallies.entry(mutant.class).or_default();
        let text = mutants.text(mutant);
        tally.mutants += 1;
        let started = Instant::now();
        let reading = gdl::read(&text, &Options::default());
        let found = accusations(&by_check(&reading));
        tally.check_ms += started.elapsed().as_secs_f64() * 1e3;
        let noticed = found.difference(&original_static).next().is_some();
        tally.by_check += usize::from(noticed);
        let mut played = noticed;
        if args.play && reading.is_playable() {
            let found = accusations(&by_play(&reading));
            tally.play_ms += started.elapsed().as_secs_f64() * 1e3;
            played |= found.difference(&original_play).next().is_some();
        }
        tally.by_play += usize::from(played);
        if !played && args.missed.as_deref() == Some(mutant.class.text()) {
            let line = mutants.source[..mutant.span.start as usize].lines().count();
            println!("{name}:{line}: {}", mutant.description);
        }
    }
    !original_static.is_empty() || !original_play.is_empty()
}

fn by_check(reading: &Reading) -> Vec<Diagnostic> {
    let mut all = reading.diagnostics.clone();
    all.extend(gdl::lint(reading));
    all
}

fn by_play(reading: &Reading) -> Vec<Diagnostic> {
    let options = AuditOptions {
        mode: Mode::Lenient,
        ..AuditOptions::default()
    };
    audit(&reading.rules, &options).diagnostics
}

fn accusations(diagnostics: &[Diagnostic]) -> BTreeSet<(&'static str, String)> {
    let serious = diagnostics.iter().filter(|d| d.severity > Severity::Note);
    serious.map(|d| (d.code.text(), d.message.clone())).collect()
}

fn print(tallies: &BTreeMap<mutate::Class, Tally>, accused: usize) {
    println!("| slip | mutants | `check` | `check --simulate` | ms `check` | ms `--simulate` |");
    println!("|---|---:|---:|---:|---:|---:|");
    let mut all = Tally::default();
    let row = |name: &str, t: &Tally| {
        let share = |n: usize| 100.0 * n as f64 / t.mutants.max(1) as f64;
        let each = |ms: f64| ms / t.mutants.max(1) as f64;
        println!(
            "| {name} | {} | {:.0} % | {:.0} % | {:.2} | {:.0} |",
            t.mutants,
            share(t.by_check),
            share(t.by_play),
            each(t.check_ms),
            each(t.play_ms)
        );
    };
    let mut typos = Tally::default();
    for (class, tally) in tallies {
        row(class.text(), tally);
        let is_name = class.is_typo() && !matches!(class, mutate::Class::TypoVariable | mutate::Class::TypoPercept);
        for sum in [&mut all].into_iter().chain(is_name.then_some(&mut typos)) {
            sum.mutants += tally.mutants;
            sum.by_check += tally.by_check;
            sum.by_play += tally.by_play;
            sum.check_ms += tally.check_ms;
            sum.play_ms += tally.play_ms;
        }
    }
    row("typos in names", &typos);
    row("all", &all);
    println!("{accused} originals accused");
}
