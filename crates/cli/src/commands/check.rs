//! `surmise check`: what is wrong with rules, where, and what to write instead.

use crate::commands::JSON_VERSION;
use crate::{complete, interrupt, open, output, progress};
use anyhow::{Result, bail};
use clap_complete::ArgValueCompleter;
use serde_json::json;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use surmise::game::{Seed, StopFlag};
use surmise::gdl::diagnostic::locate;
use surmise::gdl::source::LineIndex;
use surmise::gdl::{Code, Diagnostic, Mode, Options, Reading, Severity};
use surmise::ground::{AuditOptions, audit};
use surmise::{GameText, gdl};

/// Find mistakes in rules: syntax, safety, stratification, …
///
/// Checks rules against every restriction of the language and reports all findings at once, by position.
///
/// `lenient` (the default) accepts what has one sensible reading; `--strict` makes every violation of the
/// specification an error. Each finding has a code: `surmise check --explain E-UNSAFE` says what it means, why it
/// matters and what to write instead.
///
/// Exit status: 0 nothing worse than a warning, 1 warnings with --deny-warnings, 2 errors, 3 a file cannot be read.
#[derive(clap::Args)]
pub struct Args {
    /// Rules files, `-` for standard input, or games of the catalogue
    #[arg(required_unless_present = "explain", value_name = "FILES", add = ArgValueCompleter::new(complete::games))]
    files: Vec<String>,
    /// Explain a diagnostic code (`all` lists them)
    #[arg(long, value_name = "CODE")]
    explain: Option<String>,
    /// Violations of the specification are errors
    #[arg(long)]
    strict: bool,
    /// One JSON object a line for each finding
    #[arg(long)]
    json: bool,
    /// Exit with 1 if there are warnings
    #[arg(long)]
    deny_warnings: bool,
    /// Also play random games and report what only play shows
    #[arg(long)]
    simulate: bool,
    /// Random games to play with --simulate
    #[arg(long, default_value_t = 100, value_name = "N")]
    games: u32,
    /// Seconds that --simulate may take for each file
    #[arg(long, default_value_t = 10.0, value_name = "S")]
    seconds: f64,
    /// Seed of the random games
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    #[command(flatten)]
    dialect: DialectArgs,
}

/// Options that change how rules are read.
#[derive(clap::Args)]
pub struct DialectArgs {
    /// Tell names apart by case (GDL does not)
    #[arg(long)]
    case_sensitive: bool,
    /// Which names are variables in infix notation: `question` (?x) or `upper` (Xyz)
    #[arg(long, default_value = "question", value_parser = ["question", "upper"], value_name = "STYLE")]
    infix_vars: String,
    /// Judge `knows` by the rules of GDL-III
    #[arg(long)]
    gdl3: bool,
    /// Read `action` and `percept` as domain hints
    #[arg(long)]
    stanford: bool,
}

impl DialectArgs {
    /// Reading options with these settings.
    pub fn options(&self, mode: Mode) -> Options {
        Options {
            mode,
            case_sensitive: self.case_sensitive,
            upper_vars: self.infix_vars == "upper",
            gdl3: self.gdl3,
            stanford: self.stanford,
            notation: None,
        }
    }
}

pub fn run(args: &Args) -> Result<ExitCode> {
    if let Some(code) = &args.explain {
        return explain(code);
    }
    let mut totals = Totals::default();
    for file in &args.files {
        match open::text(file) {
            Ok(loaded) => check_one(&loaded, args, &mut totals),
            Err(error) => {
                output::error(&format!("{error:#}"));
                totals.unreadable += 1;
            }
        }
    }
    if !args.json {
        output::print(&totals.summary(args.files.len()));
    }
    if interrupt::is_raised() {
        return Ok(interrupt::exit_code());
    }
    Ok(totals.exit_code(args.deny_warnings))
}

fn explain(code: &str) -> Result<ExitCode> {
    if code == "all" {
        let list: String = Code::ALL
            .iter()
            .map(|c| format!("{:<16} {}\n", c.text(), c.title()))
            .collect();
        output::print(&list);
        return Ok(ExitCode::SUCCESS);
    }
    match Code::find(code) {
        Some(code) => output::print(code.page()),
        None => bail!("there is no diagnostic `{code}`; `surmise check --explain all` lists them"),
    }
    Ok(ExitCode::SUCCESS)
}

fn check_one(loaded: &GameText, args: &Args, totals: &mut Totals) {
    let mode = if args.strict { Mode::Strict } else { Mode::Lenient };
    let reading = gdl::read_bytes(&loaded.bytes, &args.dialect.options(mode));
    let mut diagnostics = reading.diagnostics.clone();
    let mut played = String::new();
    if args.simulate && reading.is_playable() {
        let (found, note) = simulate(&reading, mode, args);
        // What was found statically has a better place than play can give it.
        diagnostics.extend(
            found
                .into_iter()
                .filter(|d| reading.diagnostics.iter().all(|s| s.code != d.code)),
        );
        diagnostics.sort_by_key(|d| d.span);
        played = format!("{}: {note}\n", loaded.name);
    }
    totals.count(&diagnostics);
    if args.json {
        output::print(&json_lines(&diagnostics, &loaded.name, &reading.text));
    } else {
        output::print(&output::diagnostics(&gdl::render(
            &diagnostics,
            &loaded.name,
            &reading.text,
        )));
        output::print(&played);
    }
}

fn simulate(reading: &Reading, mode: Mode, args: &Args) -> (Vec<Diagnostic>, String) {
    let limit = Duration::try_from_secs_f64(args.seconds)
        .unwrap_or(Duration::MAX)
        .as_secs_f64();
    let started = Instant::now();
    let stop = StopFlag::by(move || started.elapsed().as_secs_f64() / limit.max(1e-9)).under(&interrupt::flag());
    let spinner = progress::spinner("playing random games");
    let options = AuditOptions {
        seed: Seed(args.seed),
        games: args.games,
        mode,
        stop: stop.clone(),
        ..AuditOptions::default()
    };
    let report = audit(&reading.rules, &options);
    spinner.finish();
    let cut = match (report.games < args.games, interrupt::is_raised()) {
        (_, true) => " (interrupted)",
        (true, _) => " (stopped by the time limit, see --seconds)",
        _ => "",
    };
    let note = format!("played {} random games, {} rounds{cut}", report.games, report.rounds);
    (report.diagnostics, note)
}

fn json_lines(diagnostics: &[Diagnostic], file: &str, text: &str) -> String {
    let lines = LineIndex::new(text);
    let mut out = String::new();
    for located in locate(diagnostics, text, &lines) {
        let d = located.diagnostic;
        let related: Vec<_> = d
            .related
            .iter()
            .zip(&located.related)
            .map(|((_, note), at)| json!({"line": at.line, "column": at.column, "message": note}))
            .collect();
        let object = json!({
            "version": JSON_VERSION,
            "code": d.code.text(),
            "severity": d.severity.word(),
            "file": file,
            "line": located.start.line,
            "column": located.start.column,
            "end": {"line": located.end.line, "column": located.end.column},
            "message": d.message,
            "help": d.help,
            "related": related,
        });
        let _ = writeln!(out, "{object}");
    }
    out
}

#[derive(Default)]
struct Totals {
    errors: usize,
    warnings: usize,
    notes: usize,
    unreadable: usize,
}

impl Totals {
    fn count(&mut self, diagnostics: &[Diagnostic]) {
        for d in diagnostics {
            match d.severity {
                Severity::Error => self.errors += 1,
                Severity::Warning => self.warnings += 1,
                Severity::Note => self.notes += 1,
            }
        }
    }

    fn summary(&self, files: usize) -> String {
        let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
        let mut parts = Vec::new();
        for (n, word) in [(self.errors, "error"), (self.warnings, "warning"), (self.notes, "note")] {
            if n > 0 {
                parts.push(plural(n, word));
            }
        }
        if self.unreadable > 0 {
            parts.push(format!("{} unreadable", self.unreadable));
        }
        let found = if parts.is_empty() {
            "nothing to complain about".to_owned()
        } else {
            parts.join(", ")
        };
        let codes = self.errors + self.warnings > 0;
        let hint = if codes {
            " (`surmise check --explain CODE` tells more)"
        } else {
            ""
        };
        format!("{}: {found}{hint}\n", plural(files, "file"))
    }

    fn exit_code(&self, deny_warnings: bool) -> ExitCode {
        ExitCode::from(match self {
            t if t.unreadable > 0 => 3,
            t if t.errors > 0 => 2,
            t if t.warnings > 0 && deny_warnings => 1,
            _ => 0,
        })
    }
}
