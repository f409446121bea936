//! Which slips does `surmise check` notice? Mutants of the catalogue, by class (docs/checks.md has the table).
//!
//! ```sh
//! cargo run --release -p surmise-catalogue --example mutants -- [--per-class N] [--seed N] [--static] [--missed CLASS]
//! ```
//!
//! Each game is taken with its default parameters, and at most N mutants of each class. A mutant counts as noticed if
//! it has an error or warning that the original does not have, and as listed if it has at least a new note. `--missed`
//! lists the mutants of a class that have neither; `--static` leaves out play: 100 games or 10 seconds a mutant.

use game::StopFlag;
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
    listed: usize,
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
    let original = Found::new(&reading, args.play);
    for (code, message, _) in original.check.iter().chain(&original.play) {
        println!("{name}: the original is accused: {code}: {message}");
    }
    let mutants = mutate::mutants(text, &Options::default());
    for mutant in mutants.sample(args.per_class, args.seed) {
        let tally = tallies.entry(mutant.class).or_default();
        let text = mutants.text(mutant);
        let started = Instant::now();
        let reading = gdl::read(&text, &Options::default());
        let found = Found::new(&reading, args.play && reading.is_playable());
        let by_check = found.check.difference(&original.check).next().is_some();
        let by_play = by_check || found.play.difference(&original.play).next().is_some();
        let listed = by_play || found.notes.difference(&original.notes).next().is_some();
        tally.mutants += 1;
        tally.by_check += usize::from(by_check);
        tally.by_play += usize::from(by_play);
        tally.listed += usize::from(listed);
        tally.check_ms += found.check_ms;
        tally.play_ms += started.elapsed().as_secs_f64() * 1e3;
        if !listed && args.missed.as_deref() == Some(mutant.class.text()) {
            let line = mutants.source[..mutant.span.start as usize].lines().count();
            println!("{name}:{line}: {}", mutant.description);
        }
    }
    !original.check.is_empty() || !original.play.is_empty()
}

/// Code, message and text at the place of each finding.
type Findings = BTreeSet<(&'static str, String, String)>;

struct Found {
    /// Errors and warnings without play.
    check: Findings,
    check_ms: f64,
    /// Errors and warnings of play.
    play: Findings,
    /// Notes of play.
    notes: Findings,
}

impl Found {
    fn new(reading: &Reading, play: bool) -> Found {
        let started = Instant::now();
        let mut diagnostics = reading.diagnostics.clone();
        diagnostics.extend(gdl::lint(reading));
        let check_ms = started.elapsed().as_secs_f64() * 1e3;
        let played = if play { by_play(reading) } else { Vec::new() };
        let pick = |list: &[Diagnostic], notes: bool| -> Findings {
            let wanted = list.iter().filter(|d| (d.severity == Severity::Note) == notes);
            let text = |d: &Diagnostic| reading.text.get(d.span.range()).unwrap_or_default().to_owned();
            wanted.map(|d| (d.code.text(), d.message.clone(), text(d))).collect()
        };
        Found {
            check: pick(&diagnostics, false),
            check_ms,
            play: pick(&played, false),
            notes: pick(&played, true),
        }
    }
}

fn by_play(reading: &Reading) -> Vec<Diagnostic> {
    let started = Instant::now();
    let options = AuditOptions {
        mode: Mode::Lenient,
        stop: StopFlag::by(move || started.elapsed().as_secs_f64() / 10.0),
        ..AuditOptions::default()
    };
    audit(&reading.rules, &options).diagnostics
}

fn print(tallies: &BTreeMap<mutate::Class, Tally>, accused: usize) {
    println!("| slip | mutants | `check` | `check --simulate` | and notes | ms `check` | ms `--simulate` |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let mut all = Tally::default();
    let row = |name: &str, t: &Tally| {
        let share = |n: usize| 100.0 * n as f64 / t.mutants.max(1) as f64;
        let each = |ms: f64| ms / t.mutants.max(1) as f64;
        println!(
            "| {name} | {} | {:.0} % | {:.0} % | {:.0} % | {:.2} | {:.0} |",
            t.mutants,
            share(t.by_check),
            share(t.by_play),
            share(t.listed),
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
            sum.listed += tally.listed;
            sum.check_ms += tally.check_ms;
            sum.play_ms += tally.play_ms;
        }
    }
    row("typos in names", &typos);
    row("all", &all);
    println!("{accused} originals accused");
}
