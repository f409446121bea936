//! Players by name: `name:key=value,…`, and the short forms of the papers such as `hp:16,4`.

mod insights;
mod learned;
pub(crate) mod remote;

use crate::engine::Engine;
use crate::strategy::Strategy;
use anyhow::{Context, Result, anyhow, bail};
use belief::SamplerKind;
use game::{Batch, Playouts, RoleId, Seed};
use ggp::http::Peer;
use insights::InsightSpec;
use lab::opponents::Opponent;
pub use learned::Net;
use propnet::{Lanes, Rollouts};
use referee::Seat;
use remote::RemoteSpec;
use search::{
    Auto, By, Cfr, CfrOptions, Cheater, DISCOUNT, First, Hp2Options, HyperPlay, HyperPlayII, InnerOptions, IsMcts,
    IsMctsOptions, McOpponents, Perfect, PlayoutHorizon, Pruning, Random, Tabular, Tools,
};
use std::path::PathBuf;

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
    Strategy(Strategy),
    Hand(Opponent),
    Remote(RemoteSpec),
    Perfect(InsightSpec),
    Cheat(InsightSpec),
    HyperPlay {
        sampler: SamplerKind,
        options: belief::Options,
        playouts: Option<u64>,
        with: Option<InsightSpec>,
        opponents: Others,
    },
    HyperPlayII {
        sampler: SamplerKind,
        belief: belief::Options,
        options: Hp2Options,
        auto: Option<u64>,
    },
    IsMcts {
        sampler: SamplerKind,
        belief: belief::Options,
        options: IsMctsOptions,
    },
    Cfr {
        sampler: SamplerKind,
        belief: belief::Options,
        options: CfrOptions,
        playouts: u64,
        net: Option<Net>,
    },
}

/// Whether HyperPlay takes the others to be Monte Carlo players, with so many playouts for each of their moves: as they played, and as they
/// play on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Others {
    past: Option<u64>,
    future: Option<u64>,
}

/// Names and what they mean, for messages and help.
pub const PLAYERS: &str = "random, legal, mc:PLAYOUTS, uct:SIMULATIONS, minimax:DEPTH, nested:LEVEL,PLAYOUTS, hp:MODELS,PLAYOUTS, \
     hp2:MODELS,PLAYOUTS,INNER_MODELS,INNER_PLAYOUTS, auto, ismcts:SIMULATIONS, cfr:SAMPLES, strategy:FILE, remote:HOST:PORT, \
     hand:GAME, cheat:PLAYOUTS";

impl PlayerSpec {
    /// What a player that goes by something learned goes by.
    pub fn learned(&self) -> Option<&Net> {
        match &self.kind {
            Kind::Cfr { net, .. } => net.as_ref(),
            _ => None,
        }
    }

    /// Reads a player's name and options.
    pub fn parse(text: &str) -> Result<PlayerSpec> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        if name == "strategy" {
            // A file's name may hold anything, and is not taken apart.
            let kind = Kind::Strategy(Strategy::read(options)?);
            let text = text.to_owned();
            return Ok(PlayerSpec { text, kind });
        }
        if name == "remote" {
            let kind = Kind::Remote(RemoteSpec::parse(text, options)?);
            let text = text.to_owned();
            return Ok(PlayerSpec { text, kind });
        }
        let mut options = Options::parse(text, options)?;
        let kind = match name {
            "random" => Kind::Random,
            "legal" => Kind::Legal,
            "hand" => Kind::Hand(Opponent::parse(options.text("game").unwrap_or_default())?),
            "hp" => hyperplay(&mut options)?,
            "hp2" => hyperplay2(&mut options, None)?,
            "auto" => {
                let playouts = options.named_number("hp-playouts", 16)?;
                hyperplay2(&mut options, Some(playouts))?
            }
            "ismcts" => ismcts(&mut options)?,
            "cfr" => cfr(&mut options)?,
            "cheat" => Kind::Cheat(match InsightSpec::nested(&mut options)? {
                Some(spec) => spec,
                None => InsightSpec::Flat(insights::flat(&mut options)?),
            }),
            _ => match InsightSpec::parse(name, &mut options)? {
                Some(spec) => Kind::Perfect(spec),
                None => bail!("there is no player `{name}`; there are {PLAYERS}"),
            },
        };
        options.finish()?;
        Ok(PlayerSpec {
            text: text.to_owned(),
            kind,
        })
    }

    /// Whether it can only play games in which nothing is hidden.
    pub fn needs_complete_information(&self) -> bool {
        matches!(self.kind, Kind::Perfect(_))
    }

    /// Whether it is shown the true state, which only a referee in the same program can do.
    pub fn is_cheat(&self) -> bool {
        matches!(self.kind, Kind::Cheat(_))
    }

    /// Where it is, if it plays elsewhere.
    pub fn remote(&self) -> Option<&Peer> {
        match &self.kind {
            Kind::Remote(remote) => Some(&remote.peer),
            _ => None,
        }
    }

    /// The files that it plays by.
    pub fn files(&self) -> Vec<PathBuf> {
        match &self.kind {
            Kind::Strategy(_) => self
                .text
                .strip_prefix("strategy:")
                .map(PathBuf::from)
                .into_iter()
                .collect(),
            Kind::Cfr { net: Some(net), .. } => net.files(),
            _ => Vec::new(),
        }
    }

    /// Somebody to sit in a role's place for one match.
    pub fn seat(&self, engine: &Engine, role: RoleId, seed: Seed) -> Result<Seat> {
        let make_tools = |name: &str| tools(engine, role, seed.child(name));
        let tools = tools(engine, role, seed);
        Ok(match &self.kind {
            Kind::Random => Seat::Player(Box::new(Random::new(tools)?)),
            Kind::Legal => Seat::Player(Box::new(First::new(tools)?)),
            Kind::Strategy(strategy) => {
                let table = strategy.table(tools.sim.roles(), role)?;
                Seat::Player(Box::new(
                    Tabular::new(tools, table).with_context(|| strategy.context())?,
                ))
            }
            Kind::Hand(opponent) => {
                let mut sim = tools.sim;
                Seat::Player(opponent.player(sim.as_mut(), role, seed)?)
            }
            Kind::Remote(remote) => Seat::Guest(Box::new(remote.guest(engine, role)?)),
            Kind::Perfect(spec) => Seat::Player(Box::new(Perfect::new(tools, spec.make()))),
            Kind::Cheat(spec) => Seat::Cheat(Box::new(Cheater::new(tools, spec.make()))),
            Kind::HyperPlay {
                sampler,
                options,
                playouts,
                with,
                opponents,
            } => {
                let by = with.map_or(By::Playouts(*playouts), |spec| By::Insight(spec.make()));
                let mut player = HyperPlay::new(tools, *sampler, options, by)?;
                let model = |name: &str, playouts| {
                    Box::new(McOpponents::new(make_tools(name), playouts)) as Box<dyn belief::OpponentModel>
                };
                player.set_opponents(
                    opponents.past.map(|n| model("past", n)),
                    opponents.future.map(|n| model("future", n)),
                )?;
                Seat::Player(Box::new(player))
            }
            Kind::HyperPlayII {
                sampler,
                belief,
                options,
                auto,
            } => {
                let player = HyperPlayII::new(tools, *sampler, belief, *options)?;
                match auto {
                    None => Seat::Player(Box::new(player)),
                    Some(playouts) => Seat::Player(Box::new(Auto::new(player, *playouts))),
                }
            }
            Kind::IsMcts {
                sampler,
                belief,
                options,
            } => Seat::Player(Box::new(IsMcts::new(tools, *sampler, belief, *options)?)),
            Kind::Cfr {
                sampler,
                belief,
                options,
                playouts,
                net,
            } => match net {
                Some(net) => Seat::Player(net.player(engine, tools, *sampler, belief, *options)?),
                None => {
                    let horizon = Box::new(PlayoutHorizon { playouts: *playouts });
                    Seat::Player(Box::new(Cfr::new(tools, *sampler, belief, *options, horizon)?))
                }
            },
        })
    }
}

/// `hp2:MODELS,PLAYOUTS,INNER_MODELS,INNER_PLAYOUTS,prune=…,cache=…`
fn hyperplay2(options: &mut Options<'_>, auto: Option<u64>) -> Result<Kind> {
    let (sampler, believing) = sampling(options)?;
    let pruning = match options.named("prune") {
        None | Some("none") => Pruning::default(),
        Some("win") => Pruning {
            cut_on_win: true,
            ..Pruning::default()
        },
        Some("discount") => Pruning {
            discount: DISCOUNT,
            ..Pruning::default()
        },
        Some("depth") => Pruning {
            discount: DISCOUNT,
            on_depth: true,
            ..Pruning::default()
        },
        Some(other) => bail!("there is no pruning `{other}`; choose none, win, discount or depth"),
    };
    let maximum = match options.named("maximum") {
        None => 100,
        Some(text) => match text.parse() {
            Ok(points @ 1..=100) => points,
            _ => bail!("maximum must be between 1 and 100, not `{text}`"),
        },
    };
    let cache = match options.named("cache") {
        None | Some("on") => true,
        Some("off") => false,
        Some(other) => bail!("cache is on or off, not `{other}`"),
    };
    let spread = options.choice("spread")?.unwrap_or_default();
    let levels = match options.named_number("levels", 2)? {
        levels @ 2..=20 => levels as u32 - 1,
        other => bail!("levels must be between 2 and 20, not {other}"),
    };
    let models = options.number("models", 16)? as usize;
    let playouts = options.number("playouts", 2)?;
    let inner = InnerOptions {
        models: options.number("inner-models", 8)? as usize,
        playouts: options.number("inner-playouts", 4)?,
        levels,
        pruning: Pruning { maximum, ..pruning },
    };
    Ok(Kind::HyperPlayII {
        sampler,
        belief: belief::Options { models, ..believing },
        options: Hp2Options {
            playouts,
            inner,
            spread,
            cache,
        },
        auto,
    })
}

/// `ismcts:SIMULATIONS,models=…,observers=…,select=…,c=…,batch=…,opponents=…`
fn ismcts(options: &mut Options<'_>) -> Result<Kind> {
    let (sampler, believing) = sampling(options)?;
    let default = IsMctsOptions::default();
    let observers = options.choice("observers")?.unwrap_or_default();
    let selection = options.choice("select")?.unwrap_or_default();
    let exploration = match options.named("c") {
        None => default.exploration,
        Some(text) => match text.parse() {
            Ok(c) if (0.0..1e6).contains(&c) => c,
            _ => bail!("c must be a number of at least 0, not `{text}`"),
        },
    };
    let opponents = options.choice("opponents")?.unwrap_or_default();
    let rollout = options.choice("rollout")?.unwrap_or_default();
    let backup = options.choice("backup")?.unwrap_or_default();
    let inner = InnerOptions {
        models: options.named_number("inner-models", default.inner.models as u64)? as usize,
        playouts: options.named_number("inner-playouts", default.inner.playouts)?,
        ..default.inner
    };
    let batch = options.named_number("batch", 0)? as usize;
    let models = options.named_number("models", 1_000)? as usize;
    Ok(Kind::IsMcts {
        sampler,
        belief: belief::Options { models, ..believing },
        options: IsMctsOptions {
            simulations: options.some_number("simulations")?,
            observers,
            selection,
            exploration,
            batch,
            opponents,
            rollout,
            backup,
            inner,
        },
    })
}

/// `cfr:SAMPLES,roots=…,depth=…,iterations=…,nodes=…,chance=…,common=…,playouts=…`
fn cfr(options: &mut Options<'_>) -> Result<Kind> {
    let (sampler, believing) = sampling(options)?;
    let default = CfrOptions::default();
    let number = |options: &mut Options<'_>, name: &str| match options.named(name) {
        None => Ok(None),
        Some(text) => match text.parse::<usize>() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(anyhow!("{name} must be a number, not `{text}`")),
        },
    };
    let net = Net::parse(options)?;
    let depth = number(options, "depth")?;
    if depth == Some(0) && net.is_none() {
        bail!("depth=0 needs something learned to go by: net=DIR");
    }
    Ok(Kind::Cfr {
        sampler,
        options: CfrOptions {
            roots: options.choice("roots")?.unwrap_or_default(),
            depth,
            iterations: options.named_number("iterations", default.iterations)?,
            nodes: number(options, "nodes")?,
            chance: options.named_number("chance", default.chance as u64)? as usize,
            common: number(options, "common")?.unwrap_or(default.common),
        },
        net,
        playouts: options.named_number("playouts", 32)?,
        belief: belief::Options {
            models: options.number("samples", 80)? as usize,
            ..believing
        },
    })
}

/// How a player comes by its beliefs; how many models is said elsewhere.
fn sampling(options: &mut Options<'_>) -> Result<(SamplerKind, belief::Options)> {
    let usual = belief::Options::default();
    let sampler = options.choice("sampler")?.unwrap_or_default();
    let belief = belief::Options {
        weights: options.choice("weights")?.unwrap_or_default(),
        remedy: options.choice("remedy")?.unwrap_or_default(),
        layer_limit: options.named_number("layer", usual.layer_limit as u64)? as usize,
        ..usual
    };
    Ok((sampler, belief))
}

/// `hp:MODELS,PLAYOUTS,sampler=…,weights=…,remedy=…`, or `with=…` in place of playouts
fn hyperplay(options: &mut Options<'_>) -> Result<Kind> {
    let (sampler, believing) = sampling(options)?;
    let opponents = Others {
        past: opponents(options, "opponents")?,
        future: opponents(options, "playout-opponents")?,
    };
    let models = options.number("models", 64)? as usize;
    let with = InsightSpec::nested(options)?;
    let playouts = match with {
        Some(_) => None,
        None => options.some_number("playouts")?,
    };
    Ok(Kind::HyperPlay {
        sampler,
        options: belief::Options { models, ..believing },
        playouts,
        with,
        opponents,
    })
}

/// `mc` or `mc/PLAYOUTS`, or nothing for uniform play.
fn opponents(options: &mut Options<'_>, name: &str) -> Result<Option<u64>> {
    let Some(text) = options.named(name) else {
        return Ok(None);
    };
    match text.split_once('/').unwrap_or((text, "16")) {
        ("uniform", _) => Ok(None),
        ("mc", playouts) => options.positive(name, playouts).map(Some),
        _ => bail!("{name} are uniform, mc or mc/PLAYOUTS, not `{text}`"),
    }
}

/// What a player of a role is given.
pub fn tools(engine: &Engine, role: RoleId, seed: Seed) -> Tools {
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
        others: None,
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

    /// The text of an option that has no place of its own.
    fn named(&mut self, name: &str) -> Option<&'a str> {
        let at = self.by_name.iter().position(|(key, _)| *key == name)?;
        Some(self.by_name.remove(at).1)
    }

    /// A positive number that has no place of its own.
    fn named_number(&mut self, name: &str, default: u64) -> Result<u64> {
        self.named(name).map_or(Ok(default), |text| self.positive(name, text))
    }

    /// A positive number.
    fn number(&mut self, name: &str, default: u64) -> Result<u64> {
        self.text(name).map_or(Ok(default), |text| self.positive(name, text))
    }

    /// A positive number, if there is one.
    fn some_number(&mut self, name: &str) -> Result<Option<u64>> {
        self.text(name).map(|text| self.positive(name, text)).transpose()
    }

    fn positive(&self, name: &str, text: &str) -> Result<u64> {
        match text.parse() {
            Ok(0) | Err(_) => bail!("`{}`: {name} must be a positive number, not `{text}`", self.player),
            Ok(number) => Ok(number),
        }
    }

    /// One of a few words, by name only.
    fn choice<T: std::str::FromStr<Err: std::fmt::Display>>(&mut self, name: &str) -> Result<Option<T>> {
        let Some(text) = self.named(name) else {
            return Ok(None);
        };
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
