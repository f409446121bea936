//! `surmise new`: files that work at once, to be changed.

use crate::output;
use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;
use surmise::starters::Starter;

/// Start a game, a player or an experiment: commented files that work at once
///
/// `game` writes rules and their tests, `player` a player in Python that needs nothing else (`exec:python3 NAME.py`
/// seats it; --package writes a class for the Python package of Surmise instead, --rust a Cargo project), `lab` an
/// experiment. Files that exist are never overwritten.
#[derive(clap::Args)]
pub struct Args {
    /// What to start
    what: What,
    /// Its name: letters, digits, `-` and `_`
    name: String,
    /// Folder in which the files are written
    #[arg(long, default_value = ".", value_name = "DIR")]
    folder: PathBuf,
    /// A player in Rust
    #[arg(long)]
    rust: bool,
    /// A player for the Python package of Surmise
    #[arg(long, conflicts_with = "rust")]
    package: bool,
    /// With --rust: folder of the package `surmise`, in the sources of Surmise (crates/surmise)
    #[arg(long, value_name = "DIR", requires = "rust")]
    sources: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum What {
    /// Rules and their tests: NAME.kif and NAME.test
    Game,
    /// A player: NAME.py, or with --rust the folder NAME
    Player,
    /// An experiment: NAME.toml
    Lab,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let (starter, next) = match args.what {
        _ if args.rust && args.what != What::Player => anyhow::bail!("--rust is for players"),
        _ if args.package && args.what != What::Player => anyhow::bail!("--package is for players"),
        What::Game => (
            Starter::Game,
            vec![
                format!("surmise check --strict --simulate {}.kif", args.name),
                format!("surmise test {}.test", args.name),
                format!("surmise match {}.kif", args.name),
            ],
        ),
        What::Lab => (
            Starter::Lab,
            vec![format!("surmise lab run {}.toml --quick", args.name)],
        ),
        What::Player if args.rust => (
            Starter::RustPlayer,
            vec![format!("cargo run --release --manifest-path {}/Cargo.toml", args.name)],
        ),
        What::Player if args.package => (Starter::PythonPlayer, vec![format!("python {}.py", args.name)]),
        What::Player => (
            Starter::ExecPlayer,
            vec![format!(
                "surmise match krieg-tictactoe \"exec:python3 {}.py\" random",
                args.name
            )],
        ),
    };
    let paths = starter.write(&args.name, &args.folder, args.sources.as_deref())?;
    let mut out = String::new();
    for path in &paths {
        let path = path.strip_prefix(".").unwrap_or(path);
        out += &format!("{}\n", path.display());
    }
    out += "Next:\n";
    for command in next {
        out += &format!("  {command}\n");
    }
    output::print(&out);
    Ok(ExitCode::SUCCESS)
}
