//! Tests of games: a file next to the rules says what a play of the game must look like, and the rules are asked.
//!
//! [`GameTests::parse`] reads the file, [`TestGames`] finds the rules that it names, [`run`] compares. [`mutate`] makes
//! mutants of the rules and says which of them neither the checks nor the tests notice. docs/game-tests.md describes
//! the lines; [`TEST_WORDS`] lists them.
//!
//! ```
//! use surmise::game_tests::{GameTests, TestGames, TestOptions, run};
//!
//! let text = "game monty-hall\nplay candidate:(choose 1) random:(hide-car 2)\nmoves random (leave-closed 2)\n";
//! let tests = GameTests::parse("monty.test", text).unwrap();
//! let report = run(&tests, &TestGames::default(), &TestOptions::default(), &mut |_| {});
//! assert!(report.passed());
//! ```

mod enumerate;
mod lockstep;
mod mutants;
mod parse;
mod play;
mod render;
mod run;
mod value;

pub use mutants::{ClassCounts, MutantResult, MutateOptions, MutationReport, mutate, tested_games};
pub use parse::{GameTests, Statement, TEST_WORDS, TestLine, TestMistake, TestWord, Word, Written, render_mistakes};
pub use run::{Difference, LineResult, TestOptions, TestReport, Verdict, run};

use crate::{Error, Game, GameText, files};
use enumerate::Unanswered;
use game::StopFlag;
use std::path::{Path, PathBuf};

/// Where the rules and records that tests name are found.
#[derive(Clone, Debug, Default)]
pub struct TestGames {
    /// Folder of the test file, in which names of files are looked for first.
    folder: PathBuf,
    /// The rules of lines before the first `game` line.
    own: Option<String>,
    /// Rules under test in place of those of a name.
    replaced: Option<(String, GameText)>,
}

impl TestGames {
    /// The games for a test file: names are relative to its folder, and without a `game` line the rules are the `.kif`
    /// or `.gdl` file of the same name beside it.
    pub fn beside(file: &Path) -> TestGames {
        let own = ["kif", "gdl"].map(|ending| file.with_extension(ending));
        let own = own.iter().find(|path| path.is_file());
        TestGames {
            folder: file.parent().unwrap_or(Path::new("")).to_owned(),
            own: own.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())),
            replaced: None,
        }
    }

    /// The same with other rules under a name.
    pub(crate) fn with(&self, name: &str, text: GameText) -> TestGames {
        TestGames {
            replaced: Some((name.to_owned(), text)),
            ..self.clone()
        }
    }

    /// The name of the rules before the first `game` line.
    pub fn own(&self) -> Option<&str> {
        self.own.as_deref()
    }

    /// The rules of a name: a file in the folder of the tests, or a game of the catalogue.
    ///
    /// # Errors
    /// If there are none.
    pub fn text(&self, name: &str) -> Result<GameText, Error> {
        if let Some((_, text)) = self.replaced.as_ref().filter(|(replaced, _)| replaced == name) {
            return Ok(text.clone());
        }
        let beside = self.folder.join(name);
        match beside.is_file() {
            true => GameText::find(&beside.to_string_lossy()),
            false => GameText::find(name),
        }
    }

    /// The text of a record.
    fn record(&self, name: &str) -> Result<String, Error> {
        files::read_text(&self.folder.join(name), files::LARGE_TEXT)
    }
}

/// Bounds of the value of a game for a role, within so many joint moves, or why there are none.
pub(crate) fn value_of(game: &Game, role: &str, work: u64, stop: &StopFlag) -> Result<(f64, f64), String> {
    let role = game.role(role).map_err(|error| error.to_string())?;
    match value::of_game(game, role, work, stop) {
        Ok(bounds) => Ok((bounds.low, bounds.high)),
        Err(Unanswered::Work) => Err(format!("it takes more than {work} joint moves or histories")),
        Err(Unanswered::Stopped) => Err("stopped".to_owned()),
        Err(Unanswered::None(why)) => Err(why),
        Err(Unanswered::Fault(fault)) => Err(fault.to_string()),
    }
}
