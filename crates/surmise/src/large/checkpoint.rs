//! Checkpoints of a solver at work.
//!
//! A checkpoint is written under another name and renamed when it is whole and on the disk, so that there is a whole
//! one whenever the program is killed. Waiting for the disk is left to a thread: the work goes on meanwhile. When the
//! work was stopped by hand there is no time to wait: the last checkpoint is renamed as soon as it is written, which
//! outlives the program, and an older one is kept if writing takes too long.

use crate::{Error, files};
use solve::{LargeSolver, RatingWork, RestoreError};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between two checkpoints.
pub(super) const BETWEEN: Duration = Duration::from_secs(120);

/// Time for the last checkpoint of a run that was stopped by hand.
const AT_THE_END: Duration = Duration::from_millis(1200);

/// Where a run saves its work.
pub(super) struct Checkpoints {
    path: PathBuf,
    written: Instant,
    /// A file that is on its way to the disk.
    syncing: Option<JoinHandle<io::Result<()>>>,
}

impl Checkpoints {
    pub fn new(path: &Path) -> Checkpoints {
        Checkpoints {
            path: path.to_owned(),
            written: Instant::now(),
            syncing: None,
        }
    }

    /// Where the work is saved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is time to save the work, and the last file has reached the disk.
    pub fn is_due(&self) -> bool {
        self.written.elapsed() > BETWEEN && self.syncing.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Saves the work while it goes on. Returns false if `stopped` became true before all was written.
    ///
    /// # Errors
    /// If this file or the one before cannot be written.
    pub fn save(&mut self, solver: &LargeSolver<'_>, stopped: &dyn Fn() -> bool) -> Result<bool, Error> {
        self.finish()?;
        self.written = Instant::now();
        let beside = files::beside(&self.path);
        let file = match self.write(solver, &beside, stopped) {
            Err(error) if error.kind() == ErrorKind::TimedOut => return Ok(false),
            other => other.map_err(Error::io("cannot write", &self.path))?,
        };
        let path = self.path.clone();
        self.syncing = Some(std::thread::spawn(move || {
            file.sync_all()?;
            std::fs::rename(&beside, &path)?;
            files::sync_folder(&path);
            Ok(())
        }));
        Ok(true)
    }

    /// Saves the work for the last time and waits until it is on the disk.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn save_last(&mut self, solver: &LargeSolver<'_>) -> Result<(), Error> {
        self.save(solver, &|| false)?;
        self.finish()
    }

    /// Saves the work for the last time, in a hurry. Returns false if there was no time; then an older checkpoint
    /// stays, if there is one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save_in_a_hurry(&mut self, solver: &LargeSolver<'_>) -> Result<bool, Error> {
        let deadline = Instant::now() + AT_THE_END;
        // The file that is on its way has the same name beside the last one; both must not be renamed.
        while self.syncing.as_ref().is_some_and(|thread| !thread.is_finished()) {
            if Instant::now() > deadline {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.finish()?;
        let beside = files::beside(&self.path);
        match self.write(solver, &beside, &|| Instant::now() > deadline) {
            Ok(_) => {
                std::fs::rename(&beside, &self.path).map_err(Error::io("cannot write", &self.path))?;
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::TimedOut => Ok(false),
            Err(error) => Err(Error::io("cannot write", &self.path)(error)),
        }
    }

    /// Waits for the file that is on its way to the disk.
    fn finish(&mut self) -> Result<(), Error> {
        let Some(thread) = self.syncing.take() else {
            return Ok(());
        };
        let written = thread
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the writing thread ended")));
        written.map_err(Error::io("cannot write", &self.path))
    }

    /// Writes a file; removes it again if that fails or takes too long.
    fn write(&self, solver: &LargeSolver<'_>, beside: &Path, stopped: &dyn Fn() -> bool) -> io::Result<File> {
        let write = || {
            let file = File::create(beside)?;
            let mut out = Abandoned {
                out: BufWriter::with_capacity(1 << 20, file),
                stopped,
            };
            solver.save(&mut out)?;
            out.out.into_inner().map_err(io::IntoInnerError::into_error)
        };
        write().inspect_err(|_| drop(std::fs::remove_file(beside)))
    }
}

/// A file that is given up when nobody has time for it any more.
struct Abandoned<'a> {
    out: BufWriter<File>,
    stopped: &'a dyn Fn() -> bool,
}

impl Write for Abandoned<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match (self.stopped)() {
            true => Err(ErrorKind::TimedOut.into()),
            false => self.out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Whether a checkpoint can be written: a file beside it is made and removed.
///
/// # Errors
/// If it cannot.
pub(super) fn try_out(path: &Path) -> Result<(), Error> {
    let beside = files::beside(path);
    let made = File::create(&beside).and_then(|_| std::fs::remove_file(&beside));
    made.map_err(Error::io("cannot write", path))
}

/// Goes on where a checkpoint was written.
///
/// # Errors
/// If the file cannot be read or is no checkpoint of the same game.
pub(super) fn restore(solver: &mut LargeSolver<'_>, path: &Path) -> Result<(), Error> {
    let file = File::open(path).map_err(Error::io("cannot read", path))?;
    let restored = solver.restore(&mut BufReader::with_capacity(1 << 20, file));
    restored.map_err(|error| unusable(path, error))
}

/// Takes over the parts of a rating that are done.
///
/// # Errors
/// If the file cannot be read or is no checkpoint of the same rating.
pub(super) fn restore_rating(work: &RatingWork, path: &Path) -> Result<(), Error> {
    let file = File::open(path).map_err(Error::io("cannot read", path))?;
    let restored = work.restore(&mut BufReader::new(file));
    restored.map_err(|error| unusable(path, error))
}

/// Saves the parts of a rating that are done.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn save_rating(work: &RatingWork, path: &Path) -> Result<(), Error> {
    files::write_with(path, &mut |file| {
        let mut out = BufWriter::new(file);
        work.save(&mut out)?;
        out.flush()
    })
}

fn unusable(path: &Path, error: RestoreError) -> Error {
    match error {
        RestoreError::Io(error) if error.kind() != ErrorKind::UnexpectedEof => Error::io("cannot read", path)(error),
        RestoreError::Io(_) => Error::format(path, "is no checkpoint of this game: it is too short"),
        error => Error::format(path, format!("cannot be continued: {error}")),
    }
}
