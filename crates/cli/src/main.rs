//! The `surmise` program: arguments, printing, progress and signals around the library `surmise`.
//!
//! Each command is a file in `commands/` that reads its arguments, asks the library and prints the answer.

mod cache;
mod cli;
mod commands;
mod complete;
mod console;
mod interrupt;
mod log;
mod memory;
mod open;
mod output;
mod progress;
mod threads;

use std::process::ExitCode;

fn main() -> ExitCode {
    memory::keep_few_heaps();
    cli::run()
}
