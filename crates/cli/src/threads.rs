//! How many threads a command uses.

/// More are not of use to anybody, and might not be had.
const MOST: usize = 256;

/// Reads `--threads`.
///
/// # Errors
/// If it is not a number of threads.
pub fn parse(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=MOST) => Ok(n),
        _ => Err(format!("threads are counted from 1 to {MOST}")),
    }
}

/// One for each core.
pub fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get().min(MOST))
}
