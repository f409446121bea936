//! Starters: files that work at once, to be changed.

use crate::Error;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starter {
    /// Rules and their tests: NAME.kif and NAME.test.
    Game,
    /// An experiment: NAME.toml.
    Lab,
    /// A player in plain Python, for `exec:python3 NAME.py`: NAME.py.
    ExecPlayer,
    /// A player for the Python package of Surmise: NAME.py.
    PythonPlayer,
    /// A player in Rust: a Cargo project in the folder NAME.
    RustPlayer,
}

/// The sources that this library was built from.
const SOURCES: &str = env!("CARGO_MANIFEST_DIR");

impl Starter {
    /// The files of a starter: paths and texts. `sources` is the folder of the package `surmise`, for projects in Rust;
    /// without it, the one that this library was built from.
    ///
    /// # Errors
    /// If the name is not a word of letters, digits, `-` and `_` that begins with a letter.
    pub fn files(self, name: &str, sources: Option<&Path>) -> Result<Vec<(PathBuf, String)>, Error> {
        let good = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.len() <= 64
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if !good {
            return Err(Error::Option {
                option: "NAME",
                must: format!("must be letters, digits, `-` and `_`, beginning with a letter, not `{name}`"),
            });
        }
        let sources = sources
            .unwrap_or(Path::new(SOURCES))
            .to_string_lossy()
            .replace('\\', "/");
        let filled = |text: &str| {
            text.replace("{{name}}", name)
                .replace("{{class}}", &class_name(name))
                .replace("{{surmise}}", &sources)
        };
        let named = |ending: &str| PathBuf::from(format!("{name}.{ending}"));
        Ok(match self {
            Starter::Game => vec![
                (named("kif"), filled(include_str!("../starters/game.kif"))),
                (named("test"), filled(include_str!("../starters/game.test"))),
            ],
            Starter::Lab => vec![(named("toml"), filled(include_str!("../starters/lab.toml")))],
            Starter::ExecPlayer => vec![(named("py"), filled(include_str!("../starters/player-exec.py")))],
            Starter::PythonPlayer => vec![(named("py"), filled(include_str!("../starters/player.py")))],
            Starter::RustPlayer => vec![
                (
                    Path::new(name).join("Cargo.toml"),
                    filled(include_str!("../starters/player-cargo.toml")),
                ),
                (
                    Path::new(name).join("src/main.rs"),
                    filled(include_str!("../starters/player-main.rs")),
                ),
            ],
        })
    }

    /// Writes the files of a starter into a folder, and returns their paths.
    ///
    /// # Errors
    /// If one of them exists: then nothing is written. Or if they cannot be written.
    pub fn write(self, name: &str, folder: &Path, sources: Option<&Path>) -> Result<Vec<PathBuf>, Error> {
        let files = self.files(name, sources)?;
        let paths: Vec<PathBuf> = files.iter().map(|(path, _)| folder.join(path)).collect();
        if let Some(there) = paths.iter().find(|path| path.exists()) {
            return Err(Error::format(there, "is there already; choose another name or folder"));
        }
        for ((_, text), path) in files.iter().zip(&paths) {
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).map_err(Error::io("cannot make the folder", parent))?;
            }
            let file = OpenOptions::new().write(true).create_new(true).open(path);
            let mut file = file.map_err(Error::io("cannot write", path))?;
            file.write_all(text.as_bytes())
                .map_err(Error::io("cannot write", path))?;
        }
        Ok(paths)
    }
}

/// A name for a class: `my-player` is `MyPlayer`.
fn class_name(name: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        letters.next().map_or(String::new(), |first| {
            first.to_ascii_uppercase().to_string() + letters.as_str()
        })
    };
    name.split(['-', '_']).map(capital).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game_tests::{GameTests, TestGames, TestOptions, run};
    use gdl::{Mode, Options};
    use ground::{AuditOptions, audit};

    #[test]
    fn the_game_is_clean_and_its_tests_hold() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Starter::Game.write("my-game", folder.path(), None).unwrap();
        let text = std::fs::read_to_string(&paths[0]).unwrap();
        let strict = Options {
            mode: Mode::Strict,
            ..Options::default()
        };
        let reading = gdl::read(&text, &strict);
        assert!(reading.diagnostics.is_empty(), "{}", reading.render("my-game.kif"));
        let found = audit(&reading.rules, &AuditOptions::default()).diagnostics;
        assert!(found.is_empty(), "{found:?}");
        let tests = GameTests::parse("my-game.test", &std::fs::read_to_string(&paths[1]).unwrap()).unwrap();
        let report = run(
            &tests,
            &TestGames::beside(&paths[1]),
            &TestOptions::default(),
            &mut |_| {},
        );
        assert!(report.passed() && report.undecided() == 0, "{}", report.render(&tests));
        assert!(report.holding() > 30);
    }

    #[test]
    fn nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine.test"), "open\n").unwrap();
        let error = Starter::Game.write("mine", folder.path(), None).unwrap_err();
        assert!(error.to_string().contains("is there already"), "{error}");
        assert!(!folder.path().join("mine.kif").exists(), "nothing is written");
        for name in ["", "../x", "a b", "1st", "a/b"] {
            assert!(Starter::Game.files(name, None).is_err(), "{name}");
        }
    }

    #[test]
    fn the_experiment_is_accepted() {
        let files = Starter::Lab.files("mine", None).unwrap();
        let spec = lab::Spec::read("mine.toml", &files[0].1, lab::Size::Quick, &[]).unwrap();
        assert_eq!(spec.name, "mine");
    }

    #[test]
    fn classes_are_named_after_the_player() {
        assert_eq!(class_name("my-new_player"), "MyNewPlayer");
    }
}
