//! The command line: one definition for parsing, help and completions.

use crate::commands::{
    belief, bench, check, compliance, explain, fmt, games, lab, manage, play, player, replay, show, solve, trace, train,
};
use crate::output;
use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// A general game player for games with hidden information.
///
/// Give Surmise the rules of any game in GDL-II and it reads, checks and plays it. GAME is a rules file, `-` for standard
/// input, or a name from the catalogue with parameters, such as `krieg-tictactoe:size=5,line=4`.
#[derive(Parser)]
#[command(name = "surmise", version, about, long_about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Match(play::Args),
    Show(show::Args),
    Games(games::Args),
    Check(check::Args),
    Fmt(fmt::Args),
    Trace(trace::Args),
    Belief(belief::Args),
    Explain(explain::Args),
    Solve(solve::Args),
    Train(train::Args),
    Bench(bench::Args),
    Lab(lab::Args),
    Replay(replay::Args),
    Player(player::Args),
    Manage(manage::Args),
    Compliance(compliance::Args),
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

const GREETING: &str = "\
Surmise plays games with hidden information from their rules alone.

  surmise match krieg-tictactoe   HyperPlay against a random player, in the dark
  surmise games                   the games that come with it; `surmise show monty-hall` explains one
  surmise check my-game.kif       what is wrong with rules of your own, and what to write instead

`surmise --help` lists every command, `surmise COMMAND --help` explains one.
";

/// Runs the program and says how it went.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let Some(command) = cli.command else {
        output::print(GREETING);
        return ExitCode::SUCCESS;
    };
    let outcome = match command {
        Command::Match(args) => play::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Player(args) => player::run(&args),
        Command::Manage(args) => manage::run(&args),
        Command::Compliance(args) => compliance::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Games(args) => games::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Fmt(args) => fmt::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Belief(args) => belief::run(&args),
        Command::Solve(args) => solve::run(&args),
        Command::Train(args) => train::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Lab(args) => lab::run(&args),
        Command::Completions { shell } => completions(shell),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("surmise: {error:#}");
        ExitCode::FAILURE
    })
}

fn completions(shell: clap_complete::Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "surmise", &mut script);
    output::print(&String::from_utf8(script)?);
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
