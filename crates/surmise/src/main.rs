//! The `surmise` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    surmise::run()
}
