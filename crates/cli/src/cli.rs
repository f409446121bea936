//! The command line: one definition for parsing, help, completions and man pages.

use crate::commands::{
    belief, bench, check, compliance, draw, explain, fmt, games, lab, lsp, man, manage, match_, new, player, players,
    replay, serve, show, solve, test, trace, train,
};
use crate::{cache, interrupt, memory, output, progress};
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::CompleteEnv;
use std::process::ExitCode;

/// A general game player for games with hidden information.
///
/// Give Surmise the rules of any game in GDL-II and it reads, checks and plays it. GAME is a rules file, `-` for
/// standard input, or a name from the catalogue with parameters, such as `krieg-tictactoe:size=5,line=4`.
#[derive(Parser)]
#[command(name = "surmise", version, about, long_about, max_term_width = 100, after_help = EXIT_STATUS)]
struct Cli {
    /// No progress and no notes on standard error; errors are still printed
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Stop with a message when the program holds more than so many MiB of memory
    // The help of the program names it below, so that the help of every command stays short.
    #[arg(long, global = true, value_name = "MIB", hide = true)]
    memory: Option<u64>,
    /// Folder in which compiled games are kept, or `off`
    #[arg(long, global = true, value_name = "DIR", hide = true)]
    game_cache: Option<std::ffi::OsString>,
    #[command(subcommand)]
    command: Option<Command>,
}

const EXIT_STATUS: &str = "\
With --memory MIB, or the variable SURMISE_MEMORY, every command stops with a message when it holds more memory;
without them, when it holds seven eighths of what was free.
Compiled games are kept in $XDG_CACHE_HOME/surmise; --game-cache DIR|off, or SURMISE_CACHE, changes that.

Exit status: 0 done; 1 failed, or a check did not pass; 2 wrong arguments (check, fmt: errors in the rules);
3 check, fmt: a file cannot be read; 130 stopped by Ctrl-C, SIGTERM or --memory, with what was done printed and kept.";

#[derive(Subcommand)]
enum Command {
    Match(match_::Args),
    Serve(serve::Args),
    Show(show::Args),
    Games(games::Args),
    Players(players::Args),
    Check(check::Args),
    Test(test::Args),
    Fmt(fmt::Args),
    New(new::Args),
    Lsp(lsp::Args),
    Trace(trace::Args),
    Belief(belief::Args),
    Draw(draw::Args),
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
    ///
    /// The script asks this program for completions, so that names of games and players are completed too. For bash:
    /// `source <(surmise completions bash)`.
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    Man(man::Args),
}

const GREETING: &str = "\
Surmise plays games with hidden information from their rules alone.

  surmise match krieg-tictactoe   a match in the dark: the automatic player against a random one
  surmise games                   the games that come with it; `surmise show monty-hall` explains one
  surmise check my-game.kif       what is wrong with rules of your own, and what to write instead

`surmise --help` lists every command, `surmise COMMAND --help` explains one.
";

/// Runs the program and returns its exit status.
pub fn run() -> ExitCode {
    CompleteEnv::with_factory(Cli::command).complete();
    let cli = Cli::parse();
    if cli.quiet {
        progress::be_quiet();
    }
    if let Err(error) = memory::limit(cli.memory) {
        output::error(&format!("{error:#}"));
        return ExitCode::from(2);
    }
    if let Err(error) = cache::set(cli.game_cache) {
        output::error(&format!("{error:#}"));
        return ExitCode::from(2);
    }
    let Some(command) = cli.command else {
        output::print(GREETING);
        return ExitCode::SUCCESS;
    };
    let outcome = match command {
        Command::Match(args) => match_::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Player(args) => player::run(&args),
        Command::Players(args) => players::run(&args),
        Command::Manage(args) => manage::run(&args),
        Command::Compliance(args) => compliance::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Games(args) => games::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Fmt(args) => fmt::run(&args),
        Command::New(args) => new::run(&args),
        Command::Lsp(args) => lsp::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Belief(args) => belief::run(&args),
        Command::Draw(args) => draw::run(&args),
        Command::Solve(args) => solve::run(&args),
        Command::Train(args) => train::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Lab(args) => lab::run(&args),
        Command::Completions { shell } => completions(shell),
        Command::Man(args) => man::run(&args, &Cli::command()),
    };
    outcome.unwrap_or_else(|error| {
        output::error(&format!("{error:#}"));
        match interrupt::is_raised() {
            true => ExitCode::from(interrupt::STOPPED),
            false => ExitCode::FAILURE,
        }
    })
}

fn completions(shell: clap_complete::Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    let name = shell.to_string();
    let shells = clap_complete::env::Shells::builtins();
    let found = shells
        .completer(&name)
        .ok_or_else(|| anyhow::anyhow!("there are no completions for {name}"))?;
    found.write_registration("COMPLETE", "surmise", "surmise", "surmise", &mut script)?;
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
