//! Reading and writing files as wholes.

use crate::Error;
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

/// Bytes that a JSON file may have: records of very long matches stay below.
const MAX_JSON: u64 = 1 << 30;

/// Writes a file as a whole: under a temporary name beside its place, synced, then renamed. A reader, or a process that
/// is killed, never leaves or finds half a file.
///
/// # Errors
/// If the file cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let whole = || -> std::io::Result<()> {
        let mut file = File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    };
    whole().map_err(|source| {
        let _ = std::fs::remove_file(&beside);
        Error::io("cannot write", path)(source)
    })
}

/// Reads a JSON file, of at most a gibibyte.
///
/// # Errors
/// If the file cannot be read or is not JSON.
pub fn read_json(path: &Path) -> Result<Value, Error> {
    let mut text = String::new();
    let file = File::open(path).map_err(Error::io("cannot read", path))?;
    let read = file.take(MAX_JSON + 1).read_to_string(&mut text);
    read.map_err(Error::io("cannot read", path))?;
    if text.len() as u64 > MAX_JSON {
        return Err(Error::format(path, "is longer than 1 GiB"));
    }
    serde_json::from_str(&text).map_err(|error| Error::format(path, format!("is not JSON: {error}")))
}
