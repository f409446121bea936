//! `surmise fmt`: rules in the canonical layout.

use crate::commands::check::DialectArgs;
use crate::{open, output};
use anyhow::{Context, Result, bail};
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use surmise::gdl::{Mode, Notation, Severity};
use surmise::{GameText, gdl};

/// Print rules in the canonical layout, in either notation
///
/// Prints rules in the canonical layout, so that two versions of a game can be compared line by line.
///
/// Comments and spelling are kept; formatting what was formatted changes nothing. The notation stays as it is unless
/// --infix or --prefix asks for the other. A file with syntax errors is left alone.
///
/// Exit status: 0 done, 1 with --check if a file is not formatted, 2 syntax errors, 3 a file cannot be read.
#[derive(clap::Args)]
pub struct Args {
    /// Rules files, or `-` for standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<String>,
    /// Rewrite the files
    #[arg(long, conflicts_with = "check")]
    write: bool,
    /// Only say which files are not formatted
    #[arg(long)]
    check: bool,
    /// Print infix notation: `next(?f) <= true(?f).`
    #[arg(long, conflicts_with = "prefix")]
    infix: bool,
    /// Print prefix notation: `(<= (next ?f) (true ?f))`
    #[arg(long)]
    prefix: bool,
    #[command(flatten)]
    dialect: DialectArgs,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let mut worst = 0;
    for file in &args.files {
        let loaded = match open::text(file) {
            Ok(loaded) => loaded,
            Err(error) => {
                output::error(&format!("{error:#}"));
                worst = worst.max(3);
                continue;
            }
        };
        match formatted(&loaded, args) {
            Ok(text) => worst = worst.max(deliver(&loaded, &text, args)?),
            Err(error) => {
                output::error(&format!("{error:#}"));
                worst = worst.max(2);
            }
        }
    }
    Ok(ExitCode::from(worst))
}

fn formatted(loaded: &GameText, args: &Args) -> Result<String> {
    let reading = gdl::read_bytes(&loaded.bytes, &args.dialect.options(Mode::Lenient));
    let syntax: Vec<gdl::Diagnostic> = reading
        .diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error && d.code.is_syntax())
        .cloned()
        .collect();
    if !syntax.is_empty() {
        let text = gdl::render(&syntax, &loaded.name, &reading.text);
        bail!(
            "{} is left alone, since it cannot be read completely:\n{text}",
            loaded.name
        );
    }
    let notation = match (args.infix, args.prefix) {
        (true, _) => Notation::Infix,
        (_, true) => Notation::Prefix,
        _ => reading.ast.notation,
    };
    gdl::format::format(&reading.ast, &reading.text, &reading.rules.symbols, notation).map_err(|unwritable| {
        let lines = gdl::source::LineIndex::new(&reading.text);
        let at = lines.positions(&reading.text, &[unwritable.span.start])[0];
        anyhow::anyhow!(
            "{}:{}:{}: the name `{}` cannot be written in infix notation; rename it first",
            loaded.name,
            at.line,
            at.column,
            gdl::source::short(&unwritable.name)
        )
    })
}

/// Prints, writes or judges; returns the exit status.
fn deliver(loaded: &GameText, text: &str, args: &Args) -> Result<u8> {
    let changed = loaded.bytes != text.as_bytes();
    if args.check {
        if changed {
            output::print(&format!("{} is not formatted\n", loaded.name));
        }
        return Ok(u8::from(changed));
    }
    if !args.write {
        output::print(text);
        return Ok(0);
    }
    let path = Path::new(&loaded.name);
    if !path.is_file() {
        bail!("`{}` is not a file that could be rewritten", loaded.name);
    }
    if changed {
        replace(path, text).with_context(|| format!("cannot write `{}`", loaded.name))?;
        output::note(&format!("formatted `{}`", loaded.name));
    }
    Ok(0)
}

/// Writes beside the file and renames, so that nothing is lost if the machine stops in between.
pub fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let target = path.canonicalize()?;
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = target.with_file_name(name);
    let write = || {
        let mut file = std::fs::File::create(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    let written = write()
        .and_then(|()| std::fs::set_permissions(&temporary, std::fs::metadata(&target)?.permissions()))
        .and_then(|()| std::fs::rename(&temporary, &target));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}
