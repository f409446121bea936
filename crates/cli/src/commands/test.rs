//! `surmise test`: whether games are what their tests say, and what the tests miss.

use crate::commands::JSON_VERSION;
use crate::{interrupt, open, output, progress, threads};
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use surmise::column_width;
use surmise::engine::EngineKind;
use surmise::files;
use surmise::game_tests::{
    ClassCounts, GameTests, LineResult, MutateOptions, MutationReport, TEST_WORDS, TestGames, TestMistake, TestOptions,
    TestReport, Verdict, mutate, render_mistakes, run as run_tests, tested_games,
};
use surmise::gdl::mutate::Class;

/// Test games: plays with their legal moves, percepts, payoffs and values
///
/// A test file has one line for each expectation: which moves are legal, what is seen, what holds, what is paid, the
/// value of the game, counts of plays, sizes of information sets, recorded matches. `surmise test --words` lists the
/// lines, and docs/game-tests.md explains them. Without a `game` line, tests in NAME.test are about NAME.kif beside it.
///
/// Exit status: 0 no line fails, 1 a line fails (with --deny-undecided: or is not decided), 2 mistakes in a test file,
/// 3 a file cannot be read.
#[derive(clap::Args)]
pub struct Args {
    /// Test files (of Markdown, the blocks ```test), or rules files with a test file of the same name beside them
    #[arg(required_unless_present = "words", value_name = "FILES")]
    files: Vec<String>,
    /// List the lines that a test file may have
    #[arg(long)]
    words: bool,
    /// One JSON object a line for each file
    #[arg(long)]
    json: bool,
    /// Joint moves that one line may try; what needs more is not decided
    #[arg(long, default_value_t = 2_000_000, value_name = "N")]
    work: u64,
    /// Exit with 1 if a line is not decided
    #[arg(long)]
    deny_undecided: bool,
    /// Make mutants of the rules, and say which of them neither `check --simulate` nor the tests notice
    #[arg(long)]
    mutate: bool,
    /// With --mutate: only mutants of this game, named as in the test file; may be repeated
    #[arg(long, value_name = "GAME", requires = "mutate")]
    game: Vec<String>,
    /// With --mutate: mutants of each class of slip, for each game
    #[arg(long, default_value_t = 20, value_name = "N", requires = "mutate")]
    mutants: usize,
    /// With --mutate: random games for each mutant
    #[arg(long, default_value_t = 100, value_name = "N", requires = "mutate")]
    games: u32,
    /// With --mutate: seed of the choice of mutants and of the random games
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// With --mutate: mutants tried at a time; the result does not depend on it
    #[arg(long, default_value_t = threads::all_cores(), value_parser = threads::parse, value_name = "N")]
    threads: usize,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    if args.words {
        let width = column_width(TEST_WORDS.iter().map(|word| word.shape));
        let line = |word: &surmise::game_tests::TestWord| format!("{:<width$}  {}\n", word.shape, word.meaning);
        output::print(&TEST_WORDS.iter().map(line).collect::<String>());
        return Ok(ExitCode::SUCCESS);
    }
    let mut worst = 0;
    for file in &args.files {
        if interrupt::is_raised() {
            break;
        }
        worst = worst.max(test_one(args, &test_file(file)));
    }
    match interrupt::is_raised() {
        true => Ok(interrupt::exit_code()),
        false => Ok(ExitCode::from(worst)),
    }
}

/// The test file of a rules file, or the file itself.
fn test_file(file: &str) -> PathBuf {
    let path = Path::new(file);
    let rules = path.extension().is_some_and(|e| e == "kif" || e == "gdl");
    match rules {
        true => path.with_extension("test"),
        false => path.to_owned(),
    }
}

/// Tests one file, and returns its exit status.
fn test_one(args: &Args, path: &Path) -> u8 {
    let name = path.to_string_lossy().into_owned();
    let text = match files::read_text(path, files::SMALL_TEXT) {
        Ok(text) => text,
        Err(error) => {
            report_error(args, &name, &error.to_string());
            return 3;
        }
    };
    let tests = match GameTests::parse(&name, &text) {
        Ok(tests) => tests,
        Err(mistakes) => {
            match args.json {
                true => output::json(&json!({
                    "version": JSON_VERSION, "file": name, "ok": false,
                    "mistakes": mistakes.iter().map(mistake_json).collect::<Vec<_>>(),
                })),
                false => output::print(&output::diagnostics(&render_mistakes(&name, &text, &mistakes))),
            }
            return 2;
        }
    };
    let games = TestGames::beside(path);
    let report = play_tests(args, &tests, &games);
    if args.json {
        output::json(&report_json(&tests, &report));
    } else {
        output::print(&output::diagnostics(&report.render(&tests)));
        output::print(&report.summary(&tests));
    }
    let failed = !report.passed() || (args.deny_undecided && report.undecided() > 0);
    let mut status = u8::from(failed);
    if args.mutate && report.passed() && !report.stopped {
        status = status.max(mutate_games(args, &tests, &games));
    }
    status
}

fn report_error(args: &Args, file: &str, error: &str) {
    match args.json {
        true => output::json(&json!({"version": JSON_VERSION, "file": file, "ok": false, "error": error})),
        false => output::error(error),
    }
}

fn play_tests(args: &Args, tests: &GameTests, games: &TestGames) -> TestReport {
    let bar = progress::bar("lines", tests.lines.len() as u64);
    let options = TestOptions {
        work: args.work,
        engine: open::engine_options(EngineKind::Auto, true),
        stop: interrupt::flag(),
        ..TestOptions::default()
    };
    let report = run_tests(tests, games, &options, &mut |done| {
        bar.set(done as u64, tests.lines.len() as u64)
    });
    bar.finish();
    report
}

fn mutate_games(args: &Args, tests: &GameTests, games: &TestGames) -> u8 {
    let options = MutateOptions {
        per_class: args.mutants,
        seed: args.seed,
        games: args.games,
        threads: args.threads,
        stop: interrupt::flag(),
        ..MutateOptions::default()
    };
    let mut total: Vec<MutationReport> = Vec::new();
    let started = Instant::now();
    let named = tested_games(tests, games);
    if let Some(unknown) = args.game.iter().find(|game| !named.contains(game)) {
        report_error(
            args,
            &tests.name,
            &format!(
                "{}: no line is about `{unknown}`; there are {}",
                tests.name,
                named.join(", ")
            ),
        );
        return 1;
    }
    let wanted = |game: &String| args.game.is_empty() || args.game.contains(game);
    for game in named.into_iter().filter(wanted) {
        if interrupt::is_raised() {
            break;
        }
        let bar = progress::bar(&format!("mutants of {game}"), 0);
        let report = mutate(tests, games, &game, &options, &|done, all| {
            bar.set(done as u64, all as u64)
        });
        bar.finish();
        match report {
            Ok(report) => {
                match args.json {
                    true => output::json(&mutation_json(&tests.name, &report, args.seed)),
                    false => output::print(&mutation_text(&report, args.seed)),
                }
                total.push(report);
            }
            Err(error) => {
                report_error(args, &tests.name, &format!("{game}: {error}"));
                return 1;
            }
        }
    }
    let tried: usize = total.iter().map(|report| report.mutants.len()).sum();
    let seconds = started.elapsed().as_secs_f64();
    output::note(&format!(
        "{tried} mutants in {seconds:.1} s, {:.0} ms each on {} threads",
        1e3 * seconds * args.threads as f64 / tried.max(1) as f64,
        args.threads
    ));
    if total.len() > 1 && !args.json {
        output::print(&totals_text(&total));
    }
    0
}

fn mistake_json(mistake: &TestMistake) -> Value {
    json!({
        "line": mistake.line, "column": mistake.column, "message": mistake.message, "help": mistake.help,
    })
}

fn report_json(tests: &GameTests, report: &TestReport) -> Value {
    let lines: Vec<Value> = report.lines.iter().filter_map(line_json).collect();
    json!({
        "version": JSON_VERSION,
        "file": tests.name,
        "ok": report.passed(),
        "stopped": report.stopped,
        "hold": report.holding(),
        "fail": report.failing(),
        "unreached": report.unreached(),
        "undecided": report.undecided(),
        "lines": lines,
    })
}

/// A line that does not hold.
fn line_json(line: &LineResult) -> Option<Value> {
    let mut value = json!({
        "line": line.line, "column": line.column, "text": line.text, "game": line.game, "case": line.case,
        "after": line.after,
    });
    let more = match &line.verdict {
        Verdict::Holds => return None,
        Verdict::Unreached => json!({"verdict": "unreached"}),
        Verdict::Undecided(why) => json!({"verdict": "undecided", "note": why}),
        Verdict::Fails(difference) => json!({
            "verdict": "fails", "expected": difference.expected, "found": difference.found,
            "missing": difference.missing, "unexpected": difference.unexpected, "note": difference.note,
        }),
    };
    for (key, entry) in more.as_object()? {
        value[key] = entry.clone();
    }
    Some(value)
}

fn counts_json(counts: &ClassCounts) -> Value {
    json!({
        "mutants": counts.mutants, "check": counts.check, "test": counts.test, "neither": counts.neither,
        "same": counts.same,
    })
}

fn mutation_json(file: &str, report: &MutationReport, seed: u64) -> Value {
    let classes: serde_json::Map<String, Value> = report
        .classes()
        .iter()
        .map(|(class, counts)| (class.text().to_owned(), counts_json(counts)))
        .collect();
    let unnoticed: Vec<Value> = report
        .unnoticed()
        .iter()
        .map(|mutant| {
            json!({
                "class": mutant.class.text(), "line": mutant.line, "column": mutant.column,
                "description": mutant.description, "text": mutant.text, "suggestion": mutant.suggestion,
            })
        })
        .collect();
    json!({
        "version": JSON_VERSION,
        "file": file,
        "game": report.game,
        "seed": seed,
        "mutants": report.mutants.len(),
        "chosen": report.chosen,
        "all": report.all,
        "games": report.games,
        "classes": classes,
        "unnoticed": unnoticed,
    })
}

/// Mutants without any notice that are printed for a game.
const MOST_SHOWN: usize = 20;

fn mutation_text(report: &MutationReport, seed: u64) -> String {
    let stopped = match report.mutants.len() < report.chosen {
        true => format!(" of {} chosen (stopped)", report.chosen),
        false => String::new(),
    };
    let mut out = format!(
        "\n{}: {} mutants{stopped} of {} possible, seed {seed}\n",
        report.game,
        report.mutants.len(),
        report.all
    );
    out += &table(&report.classes());
    let list = report.unnoticed();
    if list.is_empty() {
        out += "Every mutant was noticed.\n";
        return out;
    }
    for mutant in list.iter().take(MOST_SHOWN) {
        let _ = writeln!(
            out,
            "{}:{}:{}: not noticed: {} ({})",
            report.file,
            mutant.line,
            mutant.column,
            mutant.description,
            mutant.class.text()
        );
        let number = mutant.line.to_string();
        let shown: String = mutant.text.chars().take(110).collect();
        let _ = writeln!(out, "  {number} | {shown}");
        match &mutant.suggestion {
            None => {
                let _ = writeln!(
                    out,
                    "  no difference in {} random games: perhaps the same game",
                    report.games
                );
            }
            Some(lines) => {
                let _ = writeln!(out, "  a test that would notice it:\n    case {}", mutant.description);
                for line in lines {
                    let _ = writeln!(out, "    {line}");
                }
            }
        }
    }
    if list.len() > MOST_SHOWN {
        let _ = writeln!(out, "… and {} more (--json lists all)", list.len() - MOST_SHOWN);
    }
    out
}

fn table(rows: &[(Class, ClassCounts)]) -> String {
    let mut out = format!(
        "  {:<18} {:>8} {:>8} {:>8} {:>8} {:>8}\n",
        "slip", "mutants", "check", "test", "neither", "same?"
    );
    let mut all = ClassCounts::default();
    for (class, counts) in rows {
        out += &row(class.text(), counts);
        add(&mut all, counts);
    }
    out += &row("all", &all);
    out
}

fn row(name: &str, counts: &ClassCounts) -> String {
    format!(
        "  {name:<18} {:>8} {:>8} {:>8} {:>8} {:>8}\n",
        counts.mutants, counts.check, counts.test, counts.neither, counts.same
    )
}

fn add(sum: &mut ClassCounts, more: &ClassCounts) {
    sum.mutants += more.mutants;
    sum.check += more.check;
    sum.test += more.test;
    sum.neither += more.neither;
    sum.same += more.same;
}

/// The rows of all games together.
fn totals_text(reports: &[MutationReport]) -> String {
    let mut sums: BTreeMap<Class, ClassCounts> = BTreeMap::new();
    for report in reports {
        for (class, counts) in report.classes() {
            add(sums.entry(class).or_default(), &counts);
        }
    }
    let rows: Vec<_> = sums.into_iter().collect();
    format!("\nAll {} games\n{}", reports.len(), table(&rows))
}
