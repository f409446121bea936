//! Finished matches, appended to a file line by line, so that a killed run loses none of them.
//!
//! A line is written in one call as soon as its match is over. Now and then the file is synced to the disk, so that a
//! crash of the machine loses little. An incomplete last line is dropped, and its match is played again. A broken line
//! before the end is damage that the lab did not cause, and is reported.
//!
//! The last field of a line, `sum`, is a checksum of what stands before it. A line that differs from its checksum is
//! reported. Lines without a checksum are read as they are.

use crate::error::{Error, FileAction, Result};
use crate::unit::FinishedMatch;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Lines and time after which the file is synced to the disk.
const SYNC_LINES: usize = 64;
const SYNC_TIME: Duration = Duration::from_secs(2);

/// Most bytes of a line. Beliefs of very long matches stay below.
const MAX_LINE: u64 = 64 << 20;

/// A file of finished matches that one process appends to.
pub struct Journal {
    file: File,
    path: PathBuf,
    /// Bytes of whole lines.
    whole: u64,
    unsynced: usize,
    synced: Instant,
}

impl Journal {
    /// Opens a journal for appending, locks it, and cuts off an incomplete last line.
    ///
    /// # Errors
    /// If it cannot be written, or another process is writing it.
    pub fn open(path: &Path) -> Result<Journal> {
        let failed = Error::io(FileAction::Write, path);
        let mut options = OpenOptions::new();
        let opened = options.read(true).write(true).create(true).truncate(false).open(path);
        let mut file = opened.map_err(failed)?;
        if file.try_lock().is_err() {
            return Err(Error::JournalInUse(path.to_owned()));
        }
        let whole = parse(BufReader::new(&file), path)?.whole;
        file.set_len(whole).map_err(failed)?;
        file.seek(SeekFrom::Start(whole)).map_err(failed)?;
        Ok(Journal {
            file,
            path: path.to_owned(),
            whole,
            unsynced: 0,
            synced: Instant::now(),
        })
    }

    /// Adds a finished match.
    ///
    /// # Errors
    /// If the disk is full or gone.
    pub fn append(&mut self, played: &FinishedMatch) -> Result<()> {
        let mut line = serde_json::to_vec(played).expect("plain data");
        line.pop();
        let sum = checksum(&line);
        line.extend_from_slice(format!("{SUM}{sum:016x}\"}}\n").as_bytes());
        if let Err(error) = self.file.write_all(&line) {
            // Half a line must not stand before the next one: another thread may have more luck with its match.
            let _ = self.file.set_len(self.whole);
            let _ = self.file.seek(SeekFrom::Start(self.whole));
            return Err(Error::io(FileAction::Write, &self.path)(error));
        }
        self.whole += line.len() as u64;
        self.unsynced += 1;
        if self.unsynced >= SYNC_LINES || self.synced.elapsed() >= SYNC_TIME {
            self.sync()?;
        }
        Ok(())
    }

    /// Syncs the file to the disk.
    ///
    /// # Errors
    /// If the disk is full or gone.
    pub fn sync(&mut self) -> Result<()> {
        let synced = self.file.sync_data();
        synced.map_err(Error::io(FileAction::Write, &self.path))?;
        self.unsynced = 0;
        self.synced = Instant::now();
        Ok(())
    }
}

/// What stands before the checksum of a line.
const SUM: &str = ",\"sum\":\"";

/// FNV-1a: any change of one byte changes the sum.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Whether a line is what its checksum says; a line without a checksum always is.
fn is_intact(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    let place = line.windows(SUM.len()).rposition(|part| part == SUM.as_bytes());
    let Some(place) = place else { return true };
    let sum = format!("{:016x}\"}}", checksum(&line[..place]));
    &line[place + SUM.len()..] == sum.as_bytes()
}

/// The finished matches of a journal.
///
/// # Errors
/// If it cannot be read, or is damaged before its end.
pub fn read(path: &Path) -> Result<Vec<FinishedMatch>> {
    let file = File::open(path).map_err(Error::io(FileAction::Read, path))?;
    read_from(BufReader::new(file), path)
}

/// The finished matches of the contents of a journal; the path is for messages.
///
/// # Errors
/// As [`read`].
pub fn read_from(from: impl BufRead, path: &Path) -> Result<Vec<FinishedMatch>> {
    Ok(parse(from, path)?.played)
}

struct ParsedJournal {
    played: Vec<FinishedMatch>,
    /// Bytes up to the end of the last good line.
    whole: u64,
}

fn parse(mut from: impl BufRead, path: &Path) -> Result<ParsedJournal> {
    let mut parsed = ParsedJournal {
        played: Vec::new(),
        whole: 0,
    };
    let (mut at, mut broken) = (0, None);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = from.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        let read = read.map_err(Error::io(FileAction::Read, path))? as u64;
        if read == 0 {
            break;
        }
        at += read;
        let complete = line.ends_with(b"\n");
        if !complete && read == MAX_LINE {
            return Err(Error::DamagedJournal {
                path: path.to_owned(),
                line: number,
            });
        }
        let read: Option<FinishedMatch> = serde_json::from_slice(&line).ok();
        match read.filter(|played| complete && played.fits_together()) {
            Some(_) if !is_intact(&line) => {
                return Err(Error::WrongChecksum {
                    path: path.to_owned(),
                    line: number,
                });
            }
            Some(played) => {
                if let Some(line) = broken {
                    return Err(Error::DamagedJournal {
                        path: path.to_owned(),
                        line,
                    });
                }
                parsed.played.push(played);
                parsed.whole = at;
            }
            None => broken = broken.or(Some(number)),
        }
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn played(n: u64) -> FinishedMatch {
        FinishedMatch {
            cell: "c".to_owned(),
            n,
            seed: n,
            players: vec!["random".to_owned()],
            goals: vec![100],
            states: vec![1],
            touches: vec![2],
            illegal: vec![0],
            rounds: 3,
            version: "0".to_owned(),
            beliefs: Vec::new(),
            unrepeatable: false,
            remarks: Vec::new(),
            seconds: Some(0.5),
        }
    }

    #[test]
    fn a_journal_cut_anywhere_goes_on_from_its_last_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut journal = Journal::open(&path).unwrap();
        (0..3).for_each(|n| journal.append(&played(n)).unwrap());
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        let line = whole.len() / 3;
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let kept = cut / line;
            assert_eq!(read(&path).unwrap().len(), kept, "cut at {cut}");
            let mut journal = Journal::open(&path).unwrap();
            journal.append(&played(9)).unwrap();
            drop(journal);
            let after: Vec<u64> = read(&path).unwrap().iter().map(|p| p.n).collect();
            let expected: Vec<u64> = (0..kept as u64).chain([9]).collect();
            assert_eq!(after, expected, "cut at {cut}");
        }
    }

    #[test]
    fn damage_in_the_middle_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let good = serde_json::to_string(&played(0)).unwrap();
        std::fs::write(&path, format!("{good}\nrubbish\n{good}\n")).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("journal.jsonl:2:"));
        std::fs::write(&path, format!("{good}\nrubbish\n\0\0\0")).unwrap();
        assert_eq!(read(&path).unwrap().len(), 1);
    }

    #[test]
    fn a_changed_byte_changes_no_result_unnoticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut journal = Journal::open(&path).unwrap();
        (0..3).for_each(|n| journal.append(&played(n)).unwrap());
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        let results = read(&path).unwrap();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            std::fs::write(&path, &changed).unwrap();
            // What is read of a changed file is a part of the truth: lines at the end may be lost, and are played
            // again.
            if let Ok(read) = read(&path) {
                assert!(results.starts_with(&read), "byte {at}");
            }
        }
        let text = String::from_utf8(whole).unwrap();
        std::fs::write(&path, text.replacen("[100]", "[000]", 1).replace("[000]", "[50]")).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(
            error.contains("journal.jsonl:1:") && error.contains("checksum"),
            "{error}"
        );
    }

    #[test]
    fn a_match_without_an_entry_for_each_role_is_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let (good, mut bad) = (played(0), played(1));
        bad.touches.clear();
        let line = |played| serde_json::to_string(played).unwrap();
        std::fs::write(&path, format!("{}\n{}\n", line(&bad), line(&good))).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("journal.jsonl:1:"));
    }

    #[test]
    fn counts_that_no_match_can_have_are_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let round = |round, tried| crate::measure::RoundReport {
            round,
            tried,
            ..Default::default()
        };
        let good = FinishedMatch {
            beliefs: vec![round(1, 7), round(2, 7)],
            ..played(0)
        };
        let mut bad = vec![good.clone(); 4];
        bad[0].rounds = usize::MAX;
        bad[1].illegal[0] = u64::MAX / 2;
        bad[2].beliefs[1].round = 1_000_000_000;
        bad[3].beliefs[0].tried = u64::MAX;
        let line = |played| serde_json::to_string(played).unwrap();
        for bad in &bad {
            std::fs::write(&path, format!("{}\n{}\n", line(bad), line(&good))).unwrap();
            assert!(read(&path).unwrap_err().to_string().contains("journal.jsonl:1:"));
        }
        std::fs::write(&path, format!("{}\n", line(&good))).unwrap();
        assert_eq!(read(&path).unwrap(), [good]);
    }

    #[test]
    fn lines_without_a_checksum_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let old = serde_json::to_string(&played(0)).unwrap();
        std::fs::write(&path, format!("{old}\n")).unwrap();
        Journal::open(&path).unwrap().append(&played(1)).unwrap();
        assert_eq!(read(&path).unwrap(), [played(0), played(1)]);
    }

    #[cfg(unix)]
    #[test]
    fn a_line_without_end_is_not_read_for_ever() {
        let endless = read(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(endless.contains("/dev/zero:1:"), "{endless}");
    }

    #[test]
    fn two_do_not_write_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let first = Journal::open(&path).unwrap();
        assert!(Journal::open(&path).is_err());
        drop(first);
        Journal::open(&path).unwrap();
    }
}
