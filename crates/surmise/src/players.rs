//! Players by name: `name:key=value,…`, and the short forms of the papers such as `hp:16,4`.

use crate::engine::Engine;
use anyhow::{Result, anyhow, bail};
use belief::SamplerKind;
use game::{Batch, Playouts, RoleId, Seed};
use propnet::{Lanes, Rollouts};
use referee::Seat;
use search::{Cheater, First, HyperPlay, MonteCarlo, Random, Tools};

/// Who is to play, as asked for on the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerSpec {
    /// As written.
    pub text: String,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Random,
    Legal,
    Mc {
        playouts: u64,
    },
    Cheat {
        playouts: u64,
    },
    HyperPlay {
        sampler: SamplerKind,
        options: belief::Options,
        playouts: u64,
    },
}

/// Names and what they mean, for messages and help.
pub const PLAYERS: &str = "random, legal, mc:PLAYOUTS, hp:MODELS,PLAYOUTS, cheat:PLAYOUTS";

impl PlayerSpec {
    /// Reads a player's name and options.
    pub fn parse(text: &str) -> Result<PlayerSpec> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        let mut options = Options::parse(text, options)?;
        let kind = match name {
            "random" => Kind::Random,
            "legal" => Kind::Legal,
            "mc" => Kind::Mc {
                playouts: options.number("playouts", 100)?,
            },
            "hp" => hyperplay(&mut options)?,
            "cheat" => Kind::Cheat {
                playouts: options.number("playouts", 100)?,
            },
            _ => bail!("there is no player `{name}`; there are {PLAYERS}"),
        };
        options.finish()?;
        Ok(PlayerSpec {
            text: text.to_owned(),
            kind,
        })
    }

    /// Whether it can only play games in which nothing is hidden.
    pub fn needs_complete_information(&self) -> bool {
        matches!(self.kind, Kind::Mc { .. })
    }

    /// Somebody to sit in a role's place for one match.
    pub fn seat(&self, engine: &Engine, role: RoleId, seed: Seed) -> Result<Seat> {
        let tools = tools(engine, role, seed);
        Ok(match &self.kind {
            Kind::Random => Seat::Player(Box::new(Random::new(tools)?)),
            Kind::Legal => Seat::Player(Box::new(First::new(tools)?)),
            Kind::Mc { playouts } => Seat::Player(Box::new(MonteCarlo::new(tools, *playouts))),
            Kind::Cheat { playouts } => Seat::Cheat(Box::new(Cheater::new(tools, *playouts))),
            Kind::HyperPlay {
                sampler,
                options,
                playouts,
            } => Seat::Player(Box::new(HyperPlay::new(tools, *sampler, options, *playouts)?)),
        })
    }
}

/// `hp:MODELS,PLAYOUTS,sampler=…,weights=…,remedy=…`
fn hyperplay(options: &mut Options<'_>) -> Result<Kind> {
    let sampler = options.choice("sampler")?.unwrap_or_default();
    let weights = options.choice("weights")?.unwrap_or_default();
    let remedy = options.choice("remedy")?.unwrap_or_default();
    let models = options.number("models", 64)? as usize;
    let playouts = options.number("playouts", 16)?;
    Ok(Kind::HyperPlay {
        sampler,
        options: belief::Options {
            models,
            weights,
            remedy,
            ..belief::Options::default()
        },
        playouts,
    })
}

fn tools(engine: &Engine, role: RoleId, seed: Seed) -> Tools {
    let playouts = engine
        .compiled()
        .map(|game| Box::new(Rollouts::new(game, 1)) as Box<dyn Playouts>);
    let batch = engine
        .compiled()
        .map(|game| Box::new(Lanes::new(game, seed)) as Box<dyn Batch>);
    Tools {
        sim: engine.state_simulator(),
        batch,
        playouts,
        role,
        seed,
    }
}

/// Options after the colon: by position or by name.
struct Options<'a> {
    player: &'a str,
    by_name: Vec<(&'a str, &'a str)>,
    by_position: std::collections::VecDeque<&'a str>,
}

impl<'a> Options<'a> {
    fn parse(player: &'a str, text: &'a str) -> Result<Options<'a>> {
        let mut options = Options {
            player,
            by_name: Vec::new(),
            by_position: std::collections::VecDeque::new(),
        };
        for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            match part.split_once('=') {
                Some((key, value)) => options.by_name.push((key.trim(), value.trim())),
                None => options.by_position.push_back(part),
            }
        }
        Ok(options)
    }

    /// The text of an option, by name or else by position.
    fn text(&mut self, name: &str) -> Option<&'a str> {
        match self.by_name.iter().position(|(key, _)| *key == name) {
            Some(at) => Some(self.by_name.remove(at).1),
            None => self.by_position.pop_front(),
        }
    }

    /// A positive number.
    fn number(&mut self, name: &str, default: u64) -> Result<u64> {
        let Some(text) = self.text(name) else {
            return Ok(default);
        };
        match text.parse() {
            Ok(0) | Err(_) => bail!("`{}`: {name} must be a positive number, not `{text}`", self.player),
            Ok(number) => Ok(number),
        }
    }

    /// One of a few words, by name only.
    fn choice<T: std::str::FromStr<Err = String>>(&mut self, name: &str) -> Result<Option<T>> {
        let Some(at) = self.by_name.iter().position(|(key, _)| *key == name) else {
            return Ok(None);
        };
        let (_, text) = self.by_name.remove(at);
        text.parse()
            .map(Some)
            .map_err(|why| anyhow!("`{}`: {why}", self.player))
    }

    /// Nothing may be left over.
    fn finish(self) -> Result<()> {
        let left = self
            .by_name
            .first()
            .map(|(key, _)| *key)
            .or(self.by_position.front().copied());
        match left {
            Some(option) => bail!("`{}` does not take `{option}`", self.player),
            None => Ok(()),
        }
    }
}
