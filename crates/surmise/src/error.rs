//! What can go wrong, by case.

use crate::players::PlayerSpecError;
use belief::BeliefError;
use game::Fault;
use ground::GroundError;
use learn::{ArchiveError, LearnError};
use referee::{RecordError, SeatingError};
use solve::{BuildError, CommitError, LargeError, LpError};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a request could not be met.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder could not be read or written.
    Io {
        /// What was being done, as in `cannot read`.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file does not hold what it should.
    Format {
        /// The file.
        path: PathBuf,
        /// What it should hold, or what is wrong with it.
        wrong: String,
    },
    /// Neither a file nor a game of the catalogue has this name.
    NoGame {
        /// The name.
        name: String,
        /// What the catalogue says of it.
        source: catalogue::CatalogueError,
    },
    /// The rules have errors.
    Rules {
        /// Name of the game.
        name: String,
        /// The errors, as the checker prints them.
        rendered: String,
        /// The errors.
        diagnostics: Vec<gdl::Diagnostic>,
    },
    /// The rules cannot be run at all.
    Engine(GroundError),
    /// The engine that was asked for cannot run this game; others can.
    NoEngine(GroundError),
    /// Networks and environments need the compiled engine, and this game has none.
    NotCompiled {
        /// Why the game runs on another engine.
        why: String,
    },
    /// Compiling the game crashed.
    Crashed,
    /// A player's name or options are wrong.
    Player(PlayerSpecError),
    /// A player cannot play this game, or not in this way.
    Unsuitable {
        /// The player, as it was written.
        player: String,
        /// The reason.
        why: Unsuitable,
    },
    /// There is no such role.
    NoRole {
        /// The name that was given.
        name: String,
        /// The roles of the game.
        roles: Vec<String>,
    },
    /// Too many or too few players.
    Seating {
        /// Name of the game.
        game: String,
        /// How many are needed.
        source: SeatingError,
    },
    /// What a role was told does not fit the rules.
    View {
        /// Number of the round, counted from 1.
        round: usize,
        /// What is wrong in it.
        wrong: String,
    },
    /// A record and the rules, or what was asked of the record, do not fit.
    OtherMatch(String),
    /// A record cannot be read, or does not replay.
    Record(RecordError),
    /// A strategy or network is of another game.
    OtherGame {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        wrong: String,
    },
    /// A learned network or a checkpoint cannot be used.
    Archive {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: ArchiveError,
    },
    /// The belief could not be kept.
    Belief(BeliefError),
    /// A simulator or a player failed.
    Fault(Fault),
    /// A match failed.
    Match {
        /// Its number, counted from 1.
        number: u64,
        /// Why.
        source: Fault,
    },
    /// The game tree could not be built.
    Tree(BuildError),
    /// The game cannot be rated or solved without a tree.
    Large(LargeError),
    /// There is no commitment.
    Commit(CommitError),
    /// The linear program found no solution.
    Lp(LpError),
    /// Learning failed.
    Learn(LearnError),
    /// The GGP protocol.
    Ggp(ggp::Error),
    /// An option of a request has a wrong value.
    Option {
        /// The option.
        option: &'static str,
        /// What it may be.
        must: String,
    },
    /// The work was stopped before there was a result.
    Stopped {
        /// How far the work was.
        progress: String,
    },
}

/// Why a player cannot play a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsuitable {
    /// The player needs to know the state, and the game hides it.
    Hidden,
    /// The player is shown the true state, and no manager elsewhere shows it.
    NeedsState,
    /// The player is a program that is not there.
    NoProgram(String),
    /// The player is a person, and there is no terminal.
    NoTerminal,
    /// Nobody listens at the address of the player.
    Unreachable(String),
    /// The player runs elsewhere: the manager should call it there.
    Elsewhere,
    /// The player does not tell the probabilities of its moves.
    NoPolicy,
    /// The player has learned nothing that could be rated without a tree.
    NothingLearned,
    /// A player can be asked in every information set only on a tree, and the game is too large for one.
    NeedsTree,
    /// The game is too large to respond to a model at the table.
    TooLargeToRespond,
    /// The player is made for two roles whose goals sum to a constant.
    NotConstantSum,
    /// The player is made for two roles that are opponents.
    NotTwoRoles {
        /// Roles of the game besides nature.
        roles: usize,
    },
}

impl Error {
    /// For `map_err` on file operations.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { doing, path, source }
    }

    /// A file that does not hold what it should.
    pub(crate) fn format(path: &Path, wrong: impl Into<String>) -> Error {
        Error::Format {
            path: path.to_owned(),
            wrong: wrong.into(),
        }
    }

    /// Whether the work was stopped, which is nobody's mistake.
    pub fn is_stop(&self) -> bool {
        matches!(
            self,
            Error::Stopped { .. }
                | Error::Fault(Fault::Stopped)
                | Error::Match {
                    source: Fault::Stopped,
                    ..
                }
                | Error::Tree(BuildError::Stopped { .. })
                | Error::Lp(LpError::Stopped)
                | Error::Large(LargeError::Stopped)
                | Error::Commit(CommitError::Stopped)
                | Error::Engine(GroundError::Stopped)
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io { doing, path, source } => write!(f, "{doing} `{}`: {source}", path.display()),
            Error::Format { path, wrong } => write!(f, "`{}` {wrong}", path.display()),
            Error::NoGame { name, source } => write!(f, "{source} (and there is no file `{name}`)"),
            Error::Rules { name, rendered, .. } => write!(f, "{name} cannot be played:\n{rendered}"),
            Error::Engine(error) => error.fmt(f),
            Error::NoEngine(error) => write!(
                f,
                "the compiled engine cannot run this game: {error} (the reference engine can: `--engine reference`)"
            ),
            Error::NotCompiled { why } => {
                write!(f, "this needs the compiled engine, and the game has none: {why}")
            }
            Error::Crashed => f.write_str("compiling the game crashed; please report this"),
            Error::Player(error) => error.fmt(f),
            Error::Unsuitable { player, why } => match why {
                Unsuitable::Hidden => write!(
                    f,
                    "`{player}` needs a game in which nothing is hidden, and this game hides something; use `hp` or \
                     `hp:with=…`"
                ),
                Unsuitable::NeedsState => {
                    write!(
                        f,
                        "`{player}` needs to be shown the true state, and no manager does that"
                    )
                }
                Unsuitable::NoProgram(program) if program.contains(['/', '\\']) => {
                    write!(f, "`{player}`: there is no file `{program}`")
                }
                Unsuitable::NoProgram(program) => write!(
                    f,
                    "`{player}`: there is no program `{program}`; a program of this folder is written `./{program}`"
                ),
                Unsuitable::NoTerminal => write!(
                    f,
                    "`{player}` needs somebody at the terminal: `surmise match` and `surmise manage` seat people \
                     there, and `surmise serve` in the browser"
                ),
                Unsuitable::Unreachable(why) => write!(f, "`{player}` does not answer: {why}"),
                Unsuitable::Elsewhere => write!(
                    f,
                    "`{player}` does not think in this program; a manager calls such players itself"
                ),
                Unsuitable::NoPolicy => write!(
                    f,
                    "`{player}` does not say with which probabilities it moves; with --seeds N its moves are counted"
                ),
                Unsuitable::NotTwoRoles { roles: 1 } => write!(
                    f,
                    "`{player}` needs an opponent, and this game has one role besides nature; use `hp2` or `ismcts`"
                ),
                Unsuitable::NotTwoRoles { roles } => write!(
                    f,
                    "`{player}` plays games of two opponents, and this game has {roles} roles; use `ismcts` or `cfr`"
                ),
                Unsuitable::NeedsTree => write!(
                    f,
                    "`{player}` can be asked in every information set only on a tree, and this game is too large for \
                     one; models without a tree are uniform, files, records:DIR and cfr:net=DIR"
                ),
                Unsuitable::TooLargeToRespond => write!(
                    f,
                    "the game is too large for `{player}` to respond at the table; `surmise solve GAME --against MODEL \
                     --weight P --save FILE` and the player strategy:FILE do it beforehand"
                ),
                Unsuitable::NotConstantSum => write!(
                    f,
                    "`{player}` is for two roles whose goals sum to a constant, and those of this game do not"
                ),
                Unsuitable::NothingLearned => write!(
                    f,
                    "only what was learned can be rated without a tree, such as cfr:net=DIR; `{player}` has learned \
                     nothing"
                ),
            },
            Error::NoRole { name, roles } => {
                write!(f, "the game has no role `{name}`; its roles are {}", roles.join(", "))
            }
            Error::Seating { game, source } => write!(f, "{game}: {source}; `surmise players` lists them"),
            Error::View { round, wrong } => write!(f, "round {round}: {wrong}"),
            Error::OtherMatch(wrong) => f.write_str(wrong),
            Error::Record(error) => error.fmt(f),
            Error::OtherGame { path, wrong } => write!(f, "`{}` is for another game: {wrong}", path.display()),
            Error::Archive { path, source } => write!(f, "cannot use `{}`: {source}", path.display()),
            Error::Belief(error) => error.fmt(f),
            Error::Fault(fault) => fault.fmt(f),
            Error::Match { number, source } => write!(f, "match {number}: {source}"),
            Error::Tree(error) => error.fmt(f),
            Error::Lp(error) => error.fmt(f),
            Error::Large(error) => error.fmt(f),
            Error::Commit(error) => error.fmt(f),
            Error::Learn(error) => error.fmt(f),
            Error::Ggp(error) => error.fmt(f),
            Error::Option { option, must } => write!(f, "{option} {must}"),
            Error::Stopped { progress } => write!(f, "stopped: {progress}"),
        }
    }
}

/// Messages are complete: the text of what caused an error is part of it.
impl std::error::Error for Error {}

macro_rules! from {
    ($($source:ty => $case:ident),* $(,)?) => {
        $(impl From<$source> for Error {
            fn from(source: $source) -> Error {
                Error::$case(source)
            }
        })*
    };
}

from! {
    PlayerSpecError => Player,
    BeliefError => Belief,
    Fault => Fault,
    RecordError => Record,
    BuildError => Tree,
    LpError => Lp,
    LargeError => Large,
    CommitError => Commit,
    LearnError => Learn,
    ggp::Error => Ggp,
}
