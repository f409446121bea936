//! `surmise lsp`: the language server.

use crate::interrupt;
use anyhow::{Context, Result};
use std::process::ExitCode;

/// Serve an editor: findings while you type, completion, navigation, …
///
/// Speaks the Language Server Protocol on standard input and output. Editors start it; docs/editor.md says how.
/// Settings come from the editor.
///
/// Exit status: 0 after `shutdown` and `exit`, 1 if the editor closed the connection without them.
#[derive(clap::Args)]
pub struct Args {
    /// Standard input and output, which is what is used in any case; editors add this option
    #[arg(long)]
    stdio: bool,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    // There is no other way to speak.
    let _ = args.stdio;
    let options = surmise_lsp::ServeOptions {
        stop: interrupt::flag(),
        ..surmise_lsp::ServeOptions::default()
    };
    let exit = surmise_lsp::stdio(&options).context("cannot start the language server")?;
    if interrupt::is_raised() {
        return Ok(interrupt::exit_code());
    }
    Ok(match exit.orderly {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
