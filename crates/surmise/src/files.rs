//! Reading and writing files as wholes.

use crate::Error;
use serde_json::Value;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

/// Bytes that a JSON file may have: records of very long matches stay below.
const MAX_JSON: u64 = 1 << 30;

/// Writes a file as a whole: under a temporary name beside its place, synced, then renamed. A reader, or a process that
/// is killed, never leaves or finds half a file. What is no regular file, such as `/dev/stdout` or a pipe, is written
/// to and stays what it is.
///
/// # Errors
/// If the file cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_with(path, &mut |file| file.write_all(bytes))
}

/// As [`write`], for contents that are written piece by piece.
///
/// # Errors
/// If the file cannot be written.
pub fn write_with(path: &Path, contents: &mut dyn FnMut(&mut File) -> std::io::Result<()>) -> Result<(), Error> {
    if std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        let opened = File::options().write(true).open(path);
        let written = opened.and_then(|mut file| contents(&mut file));
        return written.map_err(Error::io("cannot write", path));
    }
    let beside = beside(path);
    let mut whole = || -> std::io::Result<()> {
        let mut file = File::create(&beside)?;
        contents(&mut file)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)?;
        sync_folder(path);
        Ok(())
    };
    whole().map_err(|source| {
        let _ = std::fs::remove_file(&beside);
        Error::io("cannot write", path)(source)
    })
}

/// The temporary name of a file that is not whole yet.
pub(crate) fn beside(path: &Path) -> std::path::PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

/// Makes a rename durable, on systems where folders can be synced.
pub(crate) fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
        let _ = folder.sync_all();
    }
}

/// Whether there is a file here with other bytes than these, so that writing them would lose something. An empty file
/// has nothing to lose.
pub fn differs(path: &Path, bytes: &[u8]) -> bool {
    match std::fs::metadata(path) {
        Ok(about) if !about.is_file() || about.len() == 0 => false,
        Ok(about) if about.len() == bytes.len() as u64 => std::fs::read(path).is_ok_and(|there| there != bytes),
        Ok(_) => true,
        Err(_) => false,
    }
}

/// Bytes of a text that a person writes: a spec, a view.
pub const SMALL_TEXT: u64 = 16 << 20;

/// Bytes of the longest text that a program writes: records of very long matches, strategies and traces stay below.
pub const LARGE_TEXT: u64 = MAX_JSON;

/// Reads a text file of at most so many bytes. A file that is no text, such as a device that never ends, is refused at
/// its first zero byte.
///
/// # Errors
/// If the file cannot be read, is too long, or is no text.
pub fn read_text(path: &Path, most: u64) -> Result<String, Error> {
    let file = File::open(path).map_err(Error::io("cannot read", path))?;
    text_from(file, path, most)
}

/// Reads text of at most so many bytes from standard input.
///
/// # Errors
/// As [`read_text`].
pub fn read_stdin(most: u64) -> Result<String, Error> {
    text_from(std::io::stdin().lock(), Path::new("standard input"), most)
}

fn text_from(mut from: impl Read, path: &Path, most: u64) -> Result<String, Error> {
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        let n = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => n,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::io("cannot read", path)(error)),
        };
        if chunk[..n].contains(&0) {
            return Err(Error::format(path, "is not text: it has a zero byte"));
        }
        bytes.extend_from_slice(&chunk[..n]);
        if bytes.len() as u64 > most {
            return Err(Error::format(path, format!("is longer than {} MiB", most >> 20)));
        }
    }
    String::from_utf8(bytes).map_err(|_| Error::format(path, "is not text in UTF-8"))
}

/// Bytes of the longest file of a training.
const MAX_TENSORS: u64 = 4 << 30;

/// Reads a file of a training: a regular file of at most four gibibytes.
///
/// # Errors
/// If the file cannot be read, is no regular file, or is too long.
pub(crate) fn read_tensors(path: &Path) -> Result<Vec<u8>, Error> {
    let file = File::open(path).map_err(Error::io("cannot read", path))?;
    let about = file.metadata().map_err(Error::io("cannot read", path))?;
    if !about.is_file() {
        return Err(Error::format(path, "is not a regular file"));
    }
    if about.len() > MAX_TENSORS {
        return Err(Error::format(path, format!("is longer than {} GiB", MAX_TENSORS >> 30)));
    }
    let mut bytes = Vec::new();
    let read = file.take(MAX_TENSORS).read_to_end(&mut bytes);
    read.map_err(Error::io("cannot read", path))?;
    Ok(bytes)
}

/// Reads a JSON file, of at most a gibibyte.
///
/// # Errors
/// If the file cannot be read or is not JSON.
pub fn read_json(path: &Path) -> Result<Value, Error> {
    let text = read_text(path, MAX_JSON)?;
    serde_json::from_str(&text).map_err(|error| Error::format(path, format!("is not JSON: {error}")))
}
