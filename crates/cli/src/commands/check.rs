//! `surmise check`: what is wrong with rules, where, and what to write instead.

use crate::commands::JSON_VERSION;
use crate::{complete, interrupt, open, output, progress};
use anyhow::{Context, Result, bail};
use clap_complete::ArgValueCompleter;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use surmise::game::{Seed, StopFlag};
use surmise::gdl::diagnostic::locate;
use surmise::gdl::source::LineIndex;
use surmise::gdl::{Code, Diagnostic, Fix, Mode, Options, Reading, Severity};
use surmise::ground::{Audit, AuditOptions, audit};
use surmise::{GameText, gdl};

/// Find mistakes in rules: syntax, safety, stratification, …
///
/// Checks rules against every restriction of the language and reports all findings at once, by position.
///
/// `lenient` (the default) accepts what has one sensible reading; `--strict` makes every violation of the
/// specification an error. Each finding has a code: `surmise check --explain E-UNSAFE` says what it means, why it
/// matters and what to write instead.
///
/// Beyond the language, the rules are followed round by round to find names, values and rules that can never matter:
/// fluents that nothing makes, moves that are never legal, facts that are lost. With --simulate random games are
/// played, and rules that never applied are listed.
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
    /// With --simulate, list how often each rule applied, and each member of its `or`
    #[arg(long, requires = "simulate")]
    counts: bool,
    /// Rewrite the files with the fixes that keep the meaning
    #[arg(long)]
    fix: bool,
    /// As --fix, and also replace misspelled names by what was probably meant
    #[arg(long)]
    fix_guesses: bool,
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
            Ok(mut loaded) => {
                if (args.fix || args.fix_guesses)
                    && let Err(error) = fix_file(&mut loaded, args)
                {
                    output::error(&format!("{error:#}"));
                    totals.unreadable += 1;
                }
                check_one(&loaded, args, &mut totals);
            }
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

/// Rounds of fixing: one fix may uncover another.
const MAX_FIXING: usize = 50;

/// Applies fixes and rewrites the file, if there are any.
fn fix_file(loaded: &mut GameText, args: &Args) -> Result<()> {
    let path = std::path::Path::new(&loaded.name);
    if !path.is_file() {
        bail!("`{}` is not a file that could be rewritten", loaded.name);
    }
    let mut applied = 0;
    for round in 0..MAX_FIXING {
        let reading = gdl::read_bytes(&loaded.bytes, &args.dialect.options(Mode::Lenient));
        let mut findings = reading.diagnostics.clone();
        findings.extend(gdl::lint(&reading));
        // Guesses are made once, since a wrong guess may invite another.
        let guess = args.fix_guesses && round == 0;
        let fixes = findings
            .iter()
            .filter_map(|d| d.fixes.iter().find(|f| guess || !f.changes_meaning));
        let (text, n) = gdl::fix::apply(&reading.text, fixes.flat_map(|f| &f.edits));
        if n == 0 {
            break;
        }
        applied += n;
        loaded.bytes = text.into_bytes();
    }
    if applied > 0 {
        let text = String::from_utf8_lossy(&loaded.bytes).into_owned();
        super::fmt::replace(path, &text).with_context(|| format!("cannot write `{}`", loaded.name))?;
        let changes = if applied == 1 { "change" } else { "changes" };
        output::note(&format!("`{}`: {applied} {changes}", loaded.name));
    }
    Ok(())
}

fn check_one(loaded: &GameText, args: &Args, totals: &mut Totals) {
    let mode = if args.strict { Mode::Strict } else { Mode::Lenient };
    let reading = gdl::read_bytes(&loaded.bytes, &args.dialect.options(mode));
    let mut diagnostics = reading.diagnostics.clone();
    diagnostics.extend(gdl::lint(&reading));
    diagnostics.sort_by_key(|d| d.span);
    let mut played = String::new();
    if args.simulate && reading.is_playable() {
        let (report, note) = simulate(&reading, mode, args);
        let proved = std::mem::take(&mut diagnostics);
        let is_new = |d: &Diagnostic| !proved.iter().any(|p| says_as_much(p, d, &reading.text));
        diagnostics.extend(report.diagnostics.iter().filter(|d| is_new(d)).cloned());
        diagnostics.extend(proved);
        diagnostics.sort_by_key(|d| d.span);
        played = match args.json {
            true => String::new(),
            false => format!("{}: {note}\n", loaded.name),
        };
        if args.counts {
            played += &counts(&report, loaded, &reading, args.json);
        }
    }
    totals.count(&diagnostics);
    if args.json {
        output::print(&json_lines(&diagnostics, &loaded.name, &reading.text));
        output::print(&played);
    } else {
        output::print(&output::diagnostics(&gdl::render(
            &diagnostics,
            &loaded.name,
            &reading.text,
        )));
        output::print(&played);
    }
}

/// Whether a static finding says already what play found: the same code, or a reason why this rule never applies.
fn says_as_much(proved: &Diagnostic, played: &Diagnostic, text: &str) -> bool {
    let dead = matches!(
        proved.code,
        Code::RuleNever | Code::NotMade | Code::NotLegal | Code::NoValue | Code::Lost | Code::Undef | Code::NotRole
    );
    // The rule begins before its head, and ends before the next rule; a blank line or `(<=` is enough to tell.
    let same_rule = || {
        let (a, b) = (
            played.span.start.min(proved.span.start),
            played.span.start.max(proved.span.start),
        );
        text.get(a as usize..b as usize)
            .is_some_and(|between| !between.contains("<="))
    };
    match played.code {
        Code::NeverFired => dead && same_rule(),
        code => proved.code == code,
    }
}

/// How often each rule applied.
fn counts(report: &Audit, loaded: &GameText, reading: &Reading, as_json: bool) -> String {
    let lines = LineIndex::new(&reading.text);
    let starts: Vec<u32> = report.rules.iter().map(|r| r.place.start).collect();
    let places = lines.positions(&reading.text, &starts);
    if as_json {
        let rules: Vec<_> = report
            .rules
            .iter()
            .zip(&places)
            .map(|(r, at)| json!({"line": at.line, "column": at.column, "rounds": r.rounds, "ends": r.ends}))
            .collect();
        let (games, ended, rounds) = (report.games, report.ended, report.rounds);
        let simulation = json!({"games": games, "ended": ended, "rounds": rounds, "rules": rules});
        return format!(
            "{}\n",
            json!({"version": JSON_VERSION, "file": loaded.name, "simulation": simulation})
        );
    }
    let mut out = String::from("  line     rounds       ends  rule\n");
    for (rule, at) in report.rules.iter().zip(&places) {
        let total: u64 = rule.rounds.iter().sum();
        let head: Vec<&str> = reading.text[rule.place.range()].split_whitespace().collect();
        let members: Vec<String> = rule.rounds.iter().map(u64::to_string).collect();
        let members = match members.len() {
            1 => String::new(),
            _ => format!("  (or: {})", members.join(", ")),
        };
        let _ = writeln!(
            out,
            "  {:>4} {total:>10} {:>10}  {}{members}",
            at.line,
            rule.ends,
            head.join(" ")
        );
    }
    out
}

fn simulate(reading: &Reading, mode: Mode, args: &Args) -> (Audit, String) {
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
    let applied = report.rules.iter().filter(|r| r.rounds.iter().any(|&n| n > 0)).count();
    let rules = match report.rules.len() {
        0 => String::new(),
        n => format!("; {applied} of {n} rules applied{}", unreached(&report)),
    };
    let note = format!(
        "played {} random games, {} rounds{cut}{rules}",
        report.games, report.rounds
    );
    (report, note)
}

/// How many goals held at the end of no game.
fn unreached(report: &Audit) -> String {
    let goals = report.rules.iter().filter(|r| r.is_goal);
    match goals.filter(|r| r.ends == 0).count() {
        0 => String::new(),
        _ if report.ended == 0 => String::new(),
        1 => ", 1 goal held at no end".to_owned(),
        n => format!(", {n} goals held at no end"),
    }
}

fn json_lines(diagnostics: &[Diagnostic], file: &str, text: &str) -> String {
    let lines = LineIndex::new(text);
    let mut out = String::new();
    let mut fixes = fixes_json(diagnostics, text, &lines).into_iter();
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
            "fixes": fixes.next().unwrap_or_default(),
        });
        let _ = writeln!(out, "{object}");
    }
    out
}

/// The fixes of each diagnostic, with lines and columns computed in one pass.
fn fixes_json(diagnostics: &[Diagnostic], text: &str, lines: &LineIndex) -> Vec<Value> {
    let edits = diagnostics.iter().flat_map(|d| &d.fixes).flat_map(|f| &f.edits);
    let offsets: Vec<u32> = edits.flat_map(|e| [e.span.start, e.span.end]).collect();
    let mut positions = lines.positions(text, &offsets).into_iter();
    let mut position = || {
        let at = positions.next().expect("one position per offset");
        json!({"line": at.line, "column": at.column})
    };
    let mut of_fix = |fix: &Fix| {
        let edits: Vec<Value> = fix
            .edits
            .iter()
            .map(|e| {
                let (start, end) = (position(), position());
                let bytes = [e.span.start, e.span.end];
                json!({"start": start, "end": end, "bytes": bytes, "replacement": e.replacement})
            })
            .collect();
        json!({"title": fix.title, "changes_meaning": fix.changes_meaning, "edits": edits})
    };
    let of_diagnostic = |d: &Diagnostic| Value::from(d.fixes.iter().map(&mut of_fix).collect::<Vec<Value>>());
    diagnostics.iter().map(of_diagnostic).collect()
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
