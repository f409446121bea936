//! The rules of the games that Surmise ships, by name and parameters.
//!
//! Use this crate to get the text of a game, such as `krieg-tictactoe:size=5,line=4`. To play or solve the game, use
//! the crate `surmise`, which opens games of the catalogue by the same names. This crate does not know GDL: it fills
//! templates and hands out text.
//!
//! ```
//! use surmise_catalogue::{CatalogueError, find, rules};
//!
//! let text = rules("monty-hall:doors=4")?;
//! assert!(text.contains("(door 4)"));
//!
//! let game = find("monty-hall").unwrap();
//! assert_eq!((game.parameters[0].name, game.parameters[0].max), ("doors", 50));
//!
//! let error = rules("monty-hall:doors=1000").unwrap_err();
//! assert!(matches!(error, CatalogueError::OutOfRange { .. }));
//! assert!(error.to_string().contains("`doors` must be a number in 3..50"));
//! # Ok::<(), CatalogueError>(())
//! ```
//!
//! The templates are the files of `games/`, embedded in the binary. The opening comment of a file has all fields of
//! [`CatalogueEntry`]; CONTRIBUTING.md says how to add a game. Read next: `docs/gdl2.md` for the language of the rules.

mod error;
mod header;

pub use error::CatalogueError;
pub use header::{CatalogueEntry, Parameter, Requirement};

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value};
use std::collections::BTreeMap;
use std::sync::OnceLock;

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../games/", $name, ".kif")))),*]
    };
}

/// Name and template of every game, in alphabetical order.
const TEMPLATES: &[(&str, &str)] = embedded![
    "banker-and-thief",
    "battleships-in-fog",
    "biased-blind-tictactoe",
    "blind-breakthrough",
    "blind-tictactoe",
    "border-protection",
    "breakthrough",
    "chess",
    "connect-four",
    "dark-hex",
    "fog-minichess",
    "fog-of-war-chess",
    "goofspiel",
    "guess-who",
    "hidden-connect",
    "inspection",
    "krieg-tictactoe",
    "kriegspiel",
    "kriegspiel-minichess",
    "kuhn-poker",
    "leduc-poker",
    "liars-dice",
    "mastermind",
    "matching-pennies",
    "meier",
    "mini-stratego",
    "monty-hall",
    "number-guessing",
    "phantom-connect",
    "phantom-tictactoe",
    "recon-minichess",
    "scissors-paper-rock",
    "tictactoe",
    "tiger",
    "transit",
];

/// Every game, in alphabetical order.
pub fn games() -> &'static [CatalogueEntry] {
    static GAMES: OnceLock<Vec<CatalogueEntry>> = OnceLock::new();
    GAMES.get_or_init(|| {
        TEMPLATES
            .iter()
            .map(|(name, text)| CatalogueEntry::from_template(name, text))
            .collect()
    })
}

/// The game of this name, without parameters.
pub fn find(name: &str) -> Option<&'static CatalogueEntry> {
    games().iter().find(|g| g.name == name)
}

/// The rules of a game given by name and parameters, such as `krieg-tictactoe:size=5,line=4`.
///
/// # Errors
/// If there is no such game, or a parameter is unknown or out of range.
pub fn rules(spec: &str) -> Result<String, CatalogueError> {
    Ok(open(spec)?.1)
}

/// A game given by name and parameters, with the parameters filled into its prose, and its rules.
///
/// # Errors
/// If there is no such game, or a parameter is unknown or out of range.
pub fn open(spec: &str) -> Result<(CatalogueEntry, String), CatalogueError> {
    let (name, settings) = spec.split_once(':').unwrap_or((spec, ""));
    let game = find(name).ok_or_else(|| unknown_game(name))?;
    let values = game.values(settings)?;
    let fill = |text: &str| {
        environment()
            .render_str(text, context(&values))
            .map_err(|e| template_error(name, &e))
    };
    let filled = CatalogueEntry {
        about: game.about.iter().map(|p| fill(p)).collect::<Result<_, _>>()?,
        source: fill(&game.source)?,
        sees: fill(&game.sees)?,
        hidden: fill(&game.hidden)?,
        optimum: fill(&game.optimum)?,
        ..game.clone()
    };
    Ok((filled, fill(game.template)?))
}

fn unknown_game(name: &str) -> CatalogueError {
    let is_close = |game: &&str| !name.is_empty() && (game.contains(name) || similar(game, name));
    CatalogueError::UnknownGame {
        name: name.to_owned(),
        close: games().iter().map(|g| g.name).filter(is_close).collect(),
    }
}

fn template_error(game: &str, error: &minijinja::Error) -> CatalogueError {
    CatalogueError::Template {
        game: game.to_owned(),
        message: error.to_string(),
    }
}

/// Whether all but two letters of the longer name are a common subsequence: finds typing errors and missing hyphens.
fn similar(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().take(64).collect());
    let mut row: Vec<usize> = vec![0; b.len() + 1];
    for &x in &a {
        let mut diagonal = 0;
        for (j, &y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y { diagonal + 1 } else { above.max(row[j]) };
            diagonal = above;
        }
    }
    row[b.len()] + 2 >= a.len().max(b.len())
}

impl CatalogueEntry {
    /// The values of all parameters for settings such as `size=5,line=4`. Parameters that are not set have their
    /// defaults.
    ///
    /// # Errors
    /// If a parameter is unknown, given twice or out of range, or if a requirement does not hold.
    pub fn values(&self, settings: &str) -> Result<BTreeMap<&'static str, i64>, CatalogueError> {
        let mut values: BTreeMap<&'static str, i64> = BTreeMap::new();
        for setting in settings.split(',').filter(|s| !s.trim().is_empty()) {
            let (name, value) = self.setting(setting.trim())?;
            if values.insert(name, value).is_some() {
                return Err(CatalogueError::GivenTwice {
                    game: self.name,
                    parameter: name,
                });
            }
        }
        for parameter in &self.parameters {
            values.entry(parameter.name).or_insert(parameter.default);
        }
        self.check_requirements(&values)?;
        Ok(values)
    }

    fn setting(&self, setting: &str) -> Result<(&'static str, i64), CatalogueError> {
        let Some((name, value)) = setting.split_once('=') else {
            return Err(CatalogueError::NotASetting {
                game: self.name,
                setting: setting.to_owned(),
                takes: self.parameter_summary(),
            });
        };
        let Some(parameter) = self.parameters.iter().find(|p| p.name == name.trim()) else {
            return Err(CatalogueError::UnknownParameter {
                game: self.name,
                parameter: name.to_owned(),
                takes: self.parameter_summary(),
            });
        };
        match value.trim().parse::<i64>() {
            Ok(value) if (parameter.min..=parameter.max).contains(&value) => Ok((parameter.name, value)),
            _ => Err(CatalogueError::OutOfRange {
                game: self.name,
                parameter: parameter.clone(),
                value: value.to_owned(),
            }),
        }
    }

    /// The parameters with their ranges, for messages.
    pub fn parameter_summary(&self) -> String {
        if self.parameters.is_empty() {
            return "it takes none".to_owned();
        }
        let list: Vec<String> = self
            .parameters
            .iter()
            .map(|p| format!("{} {}..{}, default {}", p.name, p.min, p.max, p.default))
            .collect();
        format!("it takes {}", list.join("; "))
    }

    fn check_requirements(&self, values: &BTreeMap<&'static str, i64>) -> Result<(), CatalogueError> {
        let env = environment();
        for requirement in &self.requirements {
            let holds = env
                .compile_expression(requirement.expression)
                .and_then(|e| e.eval(context(values)))
                .map_err(|e| template_error(self.name, &e))?;
            if !holds.is_true() {
                return Err(CatalogueError::Requirement {
                    game: self.name,
                    requirement: requirement.clone(),
                    values: values.clone(),
                });
            }
        }
        Ok(())
    }
}

fn context(values: &BTreeMap<&'static str, i64>) -> Value {
    Value::from_pairs(values.iter().map(|(&name, &value)| (name, value)))
}

fn environment() -> Environment<'static> {
    let mut env = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build();
    env.set_syntax(syntax.expect("these options go together"));
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_error(spec: &str, expected: &str) {
        let message = rules(spec).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }

    #[test]
    fn wrong_names_and_parameters_are_explained() {
        check_error("monty-hal", "did you mean monty-hall?");
        check_error("chess-boxing", "`surmise games` lists them");
        check_error("", "`surmise games` lists them");
        check_error("monty-hall:doors=2", "`doors` must be a number in 3..50");
        check_error("monty-hall:doors=many", "not `many`");
        check_error(
            "monty-hall:door=3",
            "has no parameter `door`; it takes doors 3..50, default 3",
        );
        check_error("monty-hall:5", "write `monty-hall:name=value`");
        check_error("monty-hall:doors=3,doors=4", "given twice");
        check_error("krieg-tictactoe:size=4,line=5", "needs line <= size");
        check_error("kuhn-poker:cards=4", "it takes none");
    }

    #[test]
    fn every_file_is_in_the_catalogue() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/games");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .filter_map(|f| f.unwrap().file_name().to_str()?.strip_suffix(".kif").map(str::to_owned))
            .collect();
        files.sort();
        let names: Vec<&str> = games().iter().map(|g| g.name).collect();
        assert_eq!(files, names);
    }
}
