//! What can go wrong in an experiment: where, and what.
//!
//! The text of an error leaves out the text of its [`source`](std::error::Error::source); [`full`] joins both.

use crate::spec::SpecProblem;
use crate::{BoxError, Spec};
use belief::{BeliefError, EnumerateError};
use game::Fault;
use referee::SeatingError;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result of something in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an experiment cannot be read, run or reported.
#[derive(Debug)]
pub enum Error {
    /// A spec that cannot be read.
    Spec {
        /// Name of the file or preset.
        origin: String,
        /// Line in the text; none for what was set on the command line.
        line: Option<usize>,
        /// What is wrong there.
        problem: SpecProblem,
    },
    /// A cell of a spec that cannot be played.
    Cell {
        /// Name of the file or preset.
        origin: String,
        /// Line of the game or the player.
        line: usize,
        /// What is wrong with the game or the player.
        problem: CellProblem,
    },
    /// A size that does not exist.
    UnknownSize(String),
    /// A file or folder that the system does not let us use.
    Io {
        /// What was tried.
        action: FileAction,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A folder without `lab.json`.
    NoExperiment {
        /// The folder.
        folder: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A file where a folder is needed.
    NotAFolder(PathBuf),
    /// A folder with the results of another spec.
    OtherExperiment {
        /// The folder.
        folder: PathBuf,
        /// Name of the spec whose results the folder holds.
        holds: String,
        /// Name of the spec that was to be run.
        wanted: String,
    },
    /// A folder with results at a larger size.
    LargerSize {
        /// The folder.
        folder: PathBuf,
        /// Size of its results.
        holds: String,
        /// Size that was to be run.
        wanted: String,
    },
    /// A folder with files that are not an experiment's.
    OtherFiles {
        /// The folder.
        folder: PathBuf,
        /// Name of one of the files.
        file: String,
    },
    /// A folder in which another run is playing.
    FolderInUse(PathBuf),
    /// A journal that another run is writing.
    JournalInUse(PathBuf),
    /// A JSON file of the lab that cannot be read.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the reader of JSON says.
        source: serde_json::Error,
    },
    /// A journal with a broken line before its end.
    DamagedJournal {
        /// The journal.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
    },
    /// A line of a journal that differs from its checksum.
    WrongChecksum {
        /// The journal.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
    },
    /// Two different results of one match.
    Contradiction {
        /// Key of the cell.
        cell: String,
        /// Number of the match.
        number: u64,
        /// Versions of the programs that played it.
        versions: [String; 2],
    },
    /// A finished match that has no such player, so that it cannot belong to its cell.
    NoSuchPlayer {
        /// Key of the cell.
        cell: String,
        /// Number of the match.
        number: u64,
        /// The player, from 0.
        player: usize,
    },
    /// Files of a game or player that changed between submitting and playing.
    FilesChanged {
        /// The game or player.
        name: String,
    },
    /// A match that broke off.
    Match {
        /// Key of the cell.
        cell: String,
        /// The game.
        game: String,
        /// Number of the match.
        number: u64,
        /// Why.
        problem: MatchProblem,
    },
    /// Slurm did not do what was asked.
    Slurm(SlurmProblem),
}

/// What was tried with a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAction {
    /// Reading a file, or listing a folder.
    Read,
    /// Writing a file.
    Write,
    /// Writing files into a folder.
    WriteInto,
    /// Locking a file.
    Lock,
    /// Finding out its full name.
    Resolve,
}

/// Why a cell cannot be played.
#[derive(Debug)]
pub enum CellProblem {
    /// The game cannot be opened.
    Game(BoxError),
    /// The game needs another number of players.
    Seats {
        /// The game.
        game: String,
        /// How many players it needs, and how many there are.
        error: SeatingError,
    },
    /// A player does not exist or does not play this game.
    Player(BoxError),
}

/// Why a match broke off.
#[derive(Debug)]
pub enum MatchProblem {
    /// A player could be seated before, and now cannot.
    Player(BoxError),
    /// The game failed.
    Game(Fault),
    /// The belief that was measured failed.
    Belief(BeliefError),
    /// Enumerating the information set failed.
    Enumeration(EnumerateError),
    /// The record has a move that the simulator does not know.
    UnknownMove(String),
    /// The record has a percept that the simulator does not know.
    UnknownPercept(String),
    /// The focused player has no seat.
    NoFocus,
}

/// What Slurm did not do.
#[derive(Debug)]
pub enum SlurmProblem {
    /// One of its programs cannot be run.
    NotInstalled {
        /// The program.
        program: String,
        /// The system's answer.
        source: io::Error,
    },
    /// One of its programs failed.
    Failed {
        /// The program with its arguments.
        command: String,
        /// What the program wrote to its standard error.
        said: String,
    },
    /// `sbatch` did not answer with the number of a job.
    NoJobNumber {
        /// What `sbatch` answered.
        said: String,
    },
}

impl Error {
    pub(crate) fn cell(spec: &Spec, line: usize, problem: CellProblem) -> Error {
        Error::Cell {
            origin: spec.origin.clone(),
            line,
            problem,
        }
    }

    pub(crate) fn io(action: FileAction, path: &Path) -> impl Fn(io::Error) -> Error + Copy + '_ {
        move |source| Error::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }
}

/// An error with everything that led to it, as one line.
pub fn full(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Spec {
                origin,
                line: Some(line),
                problem,
            } => write!(f, "{origin}:{line}: {problem}"),
            Error::Spec { origin, problem, .. } => write!(f, "{origin}: {problem}"),
            Error::Cell { origin, line, problem } => write!(f, "{origin}:{line}: {problem}"),
            Error::UnknownSize(name) => write!(f, "there is no size `{name}`; choose plain, quick or paper"),
            Error::Io { action, path, .. } => write!(f, "{action} `{}`", path.display()),
            Error::NoExperiment { folder, .. } => write!(
                f,
                "`{}` is not the folder of an experiment: it has no lab.json",
                folder.display()
            ),
            Error::NotAFolder(path) => write!(f, "`{}` is a file; name a folder", path.display()),
            Error::OtherExperiment { folder, holds, wanted } => write!(
                f,
                "`{}` holds the results of `{holds}`, not of `{wanted}`; choose another folder with --out",
                folder.display()
            ),
            Error::LargerSize { folder, holds, wanted } => write!(
                f,
                "`{}` holds results at the size `{holds}`, which are not replaced by those at the size `{wanted}`; \
                 choose another folder with --out",
                folder.display()
            ),
            Error::OtherFiles { folder, file } => write!(
                f,
                "`{}` holds other files, such as `{file}`; choose another folder with --out",
                folder.display()
            ),
            Error::FolderInUse(folder) => write!(
                f,
                "another run is at work in `{}`; wait for it, or choose another folder with --out",
                folder.display()
            ),
            Error::JournalInUse(path) => write!(f, "`{}` is being written by another run", path.display()),
            Error::Damaged { path, .. } => write!(f, "`{}` is damaged", path.display()),
            Error::DamagedJournal { path, line } => write!(
                f,
                "{}:{line}: this is not a finished match, and others follow it; something damaged the file. Delete \
                 the line, and its match is played again",
                path.display()
            ),
            Error::WrongChecksum { path, line } => write!(
                f,
                "{}:{line}: the line differs from its checksum; something changed the file. Delete the line, and its \
                 match is played again",
                path.display()
            ),
            Error::Contradiction { cell, number, versions } => write!(
                f,
                "match {number} of cell {cell} came out differently twice (by {} and by {}), so these results cannot \
                 be trusted; begin anew in another folder",
                versions[0], versions[1]
            ),
            Error::NoSuchPlayer { cell, number, player } => {
                write!(f, "match {number} of cell {cell} has no player {}", player + 1)
            }
            Error::FilesChanged { name } => write!(
                f,
                "the files of `{name}` have changed since this was submitted; submit it again"
            ),
            Error::Match {
                cell,
                game,
                number,
                problem,
            } => write!(f, "cell {cell} ({game}), match {number}: {problem}"),
            Error::Slurm(problem) => problem.fmt(f),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Error::Io { source, .. } | Error::NoExperiment { source, .. } => Some(source),
            Error::Damaged { source, .. } => Some(source),
            // The text of these problems is part of the text above, so their own causes come next.
            Error::Cell { problem, .. } => problem.source(),
            Error::Match { problem, .. } => problem.source(),
            Error::Slurm(SlurmProblem::NotInstalled { source, .. }) => Some(source),
            _ => None,
        }
    }
}

impl fmt::Display for FileAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileAction::Read => "cannot read",
            FileAction::Write => "cannot write",
            FileAction::WriteInto => "cannot write into",
            FileAction::Lock => "cannot lock",
            FileAction::Resolve => "cannot find the full name of",
        })
    }
}

impl fmt::Display for CellProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CellProblem::Game(error) | CellProblem::Player(error) => error.fmt(f),
            CellProblem::Seats { game, error } => write!(f, "{game}: {error}"),
        }
    }
}

impl StdError for CellProblem {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            CellProblem::Game(error) | CellProblem::Player(error) => error.source(),
            CellProblem::Seats { .. } => None,
        }
    }
}

impl fmt::Display for MatchProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MatchProblem::Player(error) => error.fmt(f),
            MatchProblem::Game(fault) => fault.fmt(f),
            MatchProblem::Belief(error) => error.fmt(f),
            MatchProblem::Enumeration(error) => error.fmt(f),
            MatchProblem::UnknownMove(text) => write!(f, "the game does not know the move `{text}`"),
            MatchProblem::UnknownPercept(text) => write!(f, "the game does not know the percept `{text}`"),
            MatchProblem::NoFocus => f.write_str("the focused player has no seat"),
        }
    }
}

impl StdError for MatchProblem {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            MatchProblem::Player(error) => error.source(),
            // A fault with a cause has the text of that cause.
            MatchProblem::Game(fault) => fault.source().and_then(StdError::source),
            MatchProblem::Belief(error) => error.source(),
            MatchProblem::Enumeration(error) => error.source(),
            _ => None,
        }
    }
}

impl From<Fault> for MatchProblem {
    fn from(fault: Fault) -> MatchProblem {
        MatchProblem::Game(fault)
    }
}

impl From<BeliefError> for MatchProblem {
    fn from(error: BeliefError) -> MatchProblem {
        MatchProblem::Belief(error)
    }
}

impl fmt::Display for SlurmProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SlurmProblem::NotInstalled { program, .. } => write!(
                f,
                "cannot run `{program}`; Slurm's commands have to be installed and in the PATH"
            ),
            SlurmProblem::Failed { command, said } => write!(f, "`{command}` failed: {said}"),
            SlurmProblem::NoJobNumber { said } => write!(f, "sbatch answered `{said}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error with a cause.
    #[derive(Debug)]
    struct Outer(io::Error);

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("outer")
        }
    }

    impl StdError for Outer {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn causes_are_told_once() {
        let cause = || io::Error::other("inner");
        let cell = Error::Cell {
            origin: "x.toml".to_owned(),
            line: 4,
            problem: CellProblem::Player(Box::new(Outer(cause()))),
        };
        assert_eq!(cell.to_string(), "x.toml:4: outer");
        assert_eq!(full(&cell), "x.toml:4: outer: inner");
        let io = Error::io(FileAction::Read, Path::new("a/b"))(cause());
        assert_eq!(full(&io), "cannot read `a/b`: inner");
    }
}
