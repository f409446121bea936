//! The games that Surmise ships, from rules text to name.
//!
//! Come here for the rules of a bundled game: `krieg-tictactoe:size=5,line=4` is a name and its parameters. The rules
//! are the files of `games/`, templates embedded in the binary; their opening comment says everything that
//! [`Game`] knows, so there is one place to look.
//!
//! ```
//! let rules = surmise_catalogue::rules("monty-hall:doors=4").unwrap();
//! assert!(rules.contains("(door 4)"));
//! let error = surmise_catalogue::rules("monty-hall:doors=1000").unwrap_err();
//! assert!(error.to_string().contains("3..50"));
//! ```

mod header;

pub use header::{Game, Parameter, Requirement};

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../games/", $name, ".kif")))),*]
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
    "connect-four",
    "goofspiel",
    "guess-who",
    "hidden-connect",
    "krieg-tictactoe",
    "kuhn-poker",
    "leduc-poker",
    "liars-dice",
    "mastermind",
    "matching-pennies",
    "meier",
    "monty-hall",
    "number-guessing",
    "phantom-tictactoe",
    "scissors-paper-rock",
    "tictactoe",
    "tiger",
    "transit",
];

/// Every game, in alphabetical order.
pub fn games() -> &'static [Game] {
    static GAMES: OnceLock<Vec<Game>> = OnceLock::new();
    GAMES.get_or_init(|| {
        TEMPLATES
            .iter()
            .map(|(name, text)| Game::from_template(name, text))
            .collect()
    })
}

/// The game of this name, without parameters.
pub fn find(name: &str) -> Option<&'static Game> {
    games().iter().find(|g| g.name == name)
}

/// The rules of a game given by name and parameters, such as `krieg-tictactoe:size=5,line=4`.
pub fn rules(spec: &str) -> Result<String, Error> {
    Ok(open(spec)?.1)
}

/// A game given by name and parameters, its prose filled in with them, and its rules.
pub fn open(spec: &str) -> Result<(Game, String), Error> {
    let (name, settings) = spec.split_once(':').unwrap_or((spec, ""));
    let game = find(name).ok_or_else(|| Error::unknown_game(name))?;
    let values = game.values(settings)?;
    let fill = |text: &str| {
        environment()
            .render_str(text, context(&values))
            .map_err(|e| Error::new(format!("{name}: {e}")))
    };
    let filled = Game {
        about: game.about.iter().map(|p| fill(p)).collect::<Result<_, _>>()?,
        source: fill(&game.source)?,
        sees: fill(&game.sees)?,
        hidden: fill(&game.hidden)?,
        optimum: fill(&game.optimum)?,
        ..game.clone()
    };
    Ok((filled, fill(game.template)?))
}

/// Why a game could not be had. The message says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl Error {
    fn new(message: String) -> Error {
        Error { message }
    }

    fn unknown_game(name: &str) -> Error {
        let close: Vec<&str> = games()
            .iter()
            .map(|g| g.name)
            .filter(|g| !name.is_empty() && (g.contains(name) || similar(g, name)))
            .collect();
        let hint = match close.as_slice() {
            [] => "`surmise games` lists them".to_owned(),
            names => format!("did you mean {}?", names.join(" or ")),
        };
        Error::new(format!("no game is called `{name}`; {hint}"))
    }
}

/// Whether two names share most of their letters in order: catches slips and missing hyphens.
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

impl Game {
    /// The values of all parameters for `size=5,line=4`; what is not named has its default.
    pub fn values(&self, settings: &str) -> Result<BTreeMap<&'static str, i64>, Error> {
        let mut values: BTreeMap<&'static str, i64> = BTreeMap::new();
        for setting in settings.split(',').filter(|s| !s.trim().is_empty()) {
            let (name, value) = self.setting(setting.trim())?;
            if values.insert(name, value).is_some() {
                return Err(Error::new(format!("`{name}` is given twice for {}", self.name)));
            }
        }
        for parameter in &self.parameters {
            values.entry(parameter.name).or_insert(parameter.default);
        }
        self.check_requirements(&values)?;
        Ok(values)
    }

    fn setting(&self, setting: &str) -> Result<(&'static str, i64), Error> {
        let Some((name, value)) = setting.split_once('=') else {
            return Err(Error::new(format!(
                "`{setting}` is not a parameter; write `{}:name=value` ({})",
                self.name,
                self.parameter_summary()
            )));
        };
        let Some(parameter) = self.parameters.iter().find(|p| p.name == name.trim()) else {
            return Err(Error::new(format!(
                "{} has no parameter `{name}`; {}",
                self.name,
                self.parameter_summary()
            )));
        };
        let Parameter { name, min, max, .. } = *parameter;
        match value.trim().parse::<i64>() {
            Ok(value) if (min..=max).contains(&value) => Ok((name, value)),
            _ => Err(Error::new(format!(
                "{}: `{name}` must be a number in {min}..{max} ({}), not `{}`",
                self.name, parameter.description, value
            ))),
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

    fn check_requirements(&self, values: &BTreeMap<&'static str, i64>) -> Result<(), Error> {
        let env = environment();
        for requirement in &self.requirements {
            let holds = env
                .compile_expression(requirement.expression)
                .and_then(|e| e.eval(context(values)))
                .map_err(|e| Error::new(format!("{}: {e}", self.name)))?;
            if !holds.is_true() {
                let given: Vec<String> = values.iter().map(|(k, v)| format!("{k}={v}")).collect();
                return Err(Error::new(format!(
                    "{} needs {}: {} (here {})",
                    self.name,
                    requirement.expression,
                    requirement.reason,
                    given.join(", ")
                )));
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
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../games");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .filter_map(|f| f.unwrap().file_name().to_str()?.strip_suffix(".kif").map(str::to_owned))
            .collect();
        files.sort();
        let names: Vec<&str> = games().iter().map(|g| g.name).collect();
        assert_eq!(files, names);
    }
}
