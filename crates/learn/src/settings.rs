//! Settings of training, and its errors.

use belief::BeliefError;
use game::Fault;
use serde_json::{Value, json};
use std::fmt;
use std::str::FromStr;

/// The method of self-play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Regrets of views, from whole games. This method is ours.
    #[default]
    Regrets,
    /// CFR from true states and from sampled states (Partridge and Thielscher 2022).
    Paper,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Method::Regrets => "regrets",
            Method::Paper => "paper",
        }
    }
}

/// A name that no [`Method`] has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMethod(pub String);

impl fmt::Display for UnknownMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no method `{}`; choose regrets or paper", self.0)
    }
}

impl std::error::Error for UnknownMethod {}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Method, UnknownMethod> {
        let known = [Method::Regrets, Method::Paper].into_iter().find(|m| m.name() == name);
        known.ok_or_else(|| UnknownMethod(name.to_owned()))
    }
}

/// Everything that determines the result of training, apart from the game.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How games are played.
    pub method: Method,
    /// Seed of the training.
    pub seed: u64,
    /// Width of hidden layers; that of the input, but between 128 and 512, if not given.
    pub width: Option<usize>,
    /// Games of a generation.
    pub games: u64,
    /// Mini-batches of a generation.
    pub batches: usize,
    /// Targets of a mini-batch.
    pub batch: usize,
    /// Targets that the replay buffer holds.
    pub buffer: usize,
    /// Adam's step size.
    pub rate: f32,
    /// Share of games in which all roles but the learner move at random.
    pub beginners: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            method: Method::default(),
            seed: 1,
            width: None,
            games: 256,
            batches: 20,
            batch: 128,
            buffer: 50_000,
            rate: 1e-3,
            beginners: 0.1,
        }
    }
}

impl Settings {
    /// The settings of a method: the paper's trains on 20 mini-batches after every game.
    pub fn of(method: Method) -> Settings {
        let usual = Settings::default();
        match method {
            Method::Regrets => usual,
            Method::Paper => Settings {
                method,
                games: 4,
                batches: 80,
                ..usual
            },
        }
    }

    /// As JSON, for the metadata of archives.
    pub fn to_json(&self) -> Value {
        json!({
            "method": self.method.name(),
            "seed": self.seed,
            "width": self.width,
            "games_per_generation": self.games,
            "batches_per_generation": self.batches,
            "batch_size": self.batch,
            "buffer": self.buffer,
            "learning_rate": self.rate,
            "beginners": self.beginners,
        })
    }

    /// From JSON; none if a field is missing or out of range.
    pub fn from_json(value: &Value) -> Option<Settings> {
        let size = |name: &str| {
            value[name]
                .as_u64()
                .filter(|&n| n > 0 && n < 1 << 32)
                .map(|n| n as usize)
        };
        Some(Settings {
            method: value["method"].as_str().unwrap_or("regrets").parse().ok()?,
            seed: value["seed"].as_u64()?,
            width: size("width"),
            games: size("games_per_generation")? as u64,
            batches: size("batches_per_generation")?,
            batch: size("batch_size")?,
            buffer: size("buffer")?,
            beginners: value["beginners"]
                .as_f64()
                .filter(|b| (0.0..=1.0).contains(b))
                .unwrap_or(0.0) as f32,
            rate: value["learning_rate"].as_f64().filter(|r| *r > 0.0 && r.is_finite())? as f32,
        })
    }
}

/// Why training is not possible.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LearnError {
    /// The game has no role but nature.
    NoPlayers,
    /// The game is too large for a network.
    TooLarge {
        /// What there are too many of.
        what: &'static str,
        /// How many.
        number: usize,
        /// How many there may be.
        limit: usize,
    },
    /// The simulator failed.
    Fault(Fault),
    /// The settings of a belief are wrong, or it could not be kept.
    Belief(BeliefError),
}

impl fmt::Display for LearnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LearnError::NoPlayers => f.write_str("the game has no role to learn for"),
            LearnError::TooLarge { what, number, limit } => write!(
                f,
                "the game is too large for a network: it has {number} {what}, and no more than {limit} are tried"
            ),
            LearnError::Fault(fault) => fault.fmt(f),
            LearnError::Belief(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LearnError {}

impl From<Fault> for LearnError {
    fn from(fault: Fault) -> Self {
        LearnError::Fault(fault)
    }
}
