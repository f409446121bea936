//! What happens, as it happens, on standard error: for people, or one JSON object a line.

use tracing::Level;
use tracing_subscriber::fmt;

/// How to write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Log {
    /// Lines for people
    #[default]
    Text,
    /// One JSON object a line
    Json,
    /// Nothing
    Off,
}

/// Options about it.
#[derive(clap::Args)]
pub struct LogArgs {
    /// How to tell what happens, on standard error
    #[arg(long, value_enum, default_value_t = Log::Text, value_name = "FORMAT")]
    log: Log,
    /// Tell more: every message, and what players believe
    #[arg(long, short)]
    verbose: bool,
}

/// Starts telling.
pub fn start(args: &LogArgs) {
    let level = if args.verbose { Level::DEBUG } else { Level::INFO };
    let told = fmt()
        .with_max_level(level)
        .with_target(false)
        // A line that cannot be written is dropped; telling so on the same stream would panic.
        .log_internal_errors(false)
        .with_writer(std::io::stderr);
    // Somebody else may have started already, as in tests.
    let _ = match args.log {
        Log::Off => Ok(()),
        Log::Json => told.json().flatten_event(true).try_init(),
        Log::Text => {
            let colours = std::io::IsTerminal::is_terminal(&std::io::stderr());
            told.with_ansi(colours).compact().try_init()
        }
    };
}
