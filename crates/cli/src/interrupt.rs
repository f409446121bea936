//! Ctrl-C and SIGTERM: the first asks the work to end and to keep what was done, the second ends the program.

use anyhow::{Result, bail};
use std::process::ExitCode;
use std::sync::OnceLock;
use surmise::game::StopFlag;

/// Exit status of a command that was stopped.
pub const STOPPED: u8 = 130;

/// The flag that Ctrl-C raises. The handler is installed when this is first asked for.
pub fn flag() -> StopFlag {
    static FLAG: OnceLock<StopFlag> = OnceLock::new();
    let install = || {
        let flag = StopFlag::default();
        let raised = flag.clone();
        // Without a handler Ctrl-C ends the program at once, as it does in other programs.
        let _ = ctrlc::set_handler(move || {
            if raised.is_raised() {
                std::process::exit(i32::from(STOPPED));
            }
            raised.raise();
        });
        flag
    };
    FLAG.get_or_init(install).clone()
}

/// Whether the program was asked to stop.
pub fn is_raised() -> bool {
    flag().is_raised()
}

/// An error if the program was asked to stop.
pub fn check(progress: &str) -> Result<()> {
    if is_raised() {
        bail!(Stopped(progress.to_owned()));
    }
    Ok(())
}

/// The error of a command that was stopped, and how far it was.
#[derive(Debug)]
pub struct Stopped(pub String);

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "stopped: {}", self.0)
    }
}

impl std::error::Error for Stopped {}

/// The exit status of a command that ended well unless it was stopped.
pub fn exit_code() -> ExitCode {
    match is_raised() {
        true => ExitCode::from(STOPPED),
        false => ExitCode::SUCCESS,
    }
}
