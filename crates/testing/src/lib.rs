//! Helpers of Surmise's own tests: data that may be missing, and tests that were skipped.
//!
//! Only tests should be here. A test that lacks its data or a program says so through [`skip`], and `make test` prints
//! all of these lines, with their number, at its end.
//!
//! ```no_run
//! let Some(folder) = surmise_testing::conformance("my_test") else {
//!     return;
//! };
//! assert!(folder.join("index.json").exists());
//! ```

use std::io::Write;
use std::path::{Path, PathBuf};

/// Notes that a test was skipped: in the file that `SURMISE_SKIPPED` names, or on standard error.
///
/// # Panics
/// If the file cannot be written.
pub fn skip(test: &str, why: &str) {
    let line = format!("SKIPPED: {test}: {why}\n");
    let Some(path) = std::env::var_os("SURMISE_SKIPPED") else {
        // Not `eprintln!`, which the test runner keeps to itself.
        let _ = std::io::stderr().write_all(line.as_bytes());
        return;
    };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("cannot write {}: {error}", Path::new(&path).display()));
}

/// Rules and recorded plays that others made, `../shared/conformance` beside the project; none, and a note, if they are
/// not there.
///
/// # Panics
/// If the folder is there but has no index.
pub fn conformance(test: &str) -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/conformance");
    folder_at(beside.as_ref(), test)
}

/// As [`conformance`], for a folder anywhere.
///
/// # Panics
/// If the folder is there but has no index.
pub fn folder_at(folder: &Path, test: &str) -> Option<PathBuf> {
    if !folder.exists() {
        skip(test, &format!("{} is not there", folder.display()));
        return None;
    }
    let index = folder.join("index.json");
    assert!(index.exists(), "{} is there, but has no index.json", folder.display());
    Some(folder.to_owned())
}
