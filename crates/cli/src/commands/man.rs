//! `surmise man`: manual pages.

use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::ExitCode;

/// Write manual pages, one for each command
#[derive(clap::Args)]
pub struct Args {
    /// Folder for the pages
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub fn run(args: &Args, command: &clap::Command) -> Result<ExitCode> {
    let cannot = || format!("cannot write manual pages to `{}`", args.out.display());
    std::fs::create_dir_all(&args.out).with_context(cannot)?;
    clap_mangen::generate_to(command.clone(), &args.out).with_context(cannot)?;
    crate::output::note(&format!("manual pages are in `{}`", args.out.display()));
    Ok(ExitCode::SUCCESS)
}
