//! Players by name: `name:VALUE,KEY=VALUE`, as in `hp:16,4` or `hp:16,with=uct:500`.
//!
//! [`registry`] is the table of all players and their options. [`PlayerSpec::parse`] reads a text by that table, and
//! [`PlayerSpec::seat`] makes the player for one match. Nothing is compiled to parse a player.

mod auto;
mod error;
mod exec;
pub mod human;
mod learned;
mod make;
mod open;
mod options;
pub mod registry;
pub mod remote;

pub use error::PlayerSpecError;
pub use learned::LearnedSpec;
pub use options::{OptionDef, OptionKind, Preset};
pub use registry::PlayerDef;

use crate::engine::Engine;
use crate::exploit::{ExploitSpec, LearnedModel, ModelSpec, OpponentTables};
use crate::matches::SeriesMemory;
use crate::strategy::Strategy;
use crate::{Error, Unsuitable};
pub(crate) use auto::AutoFacts;
use auto::AutoSpec;
use belief::{OpponentModel, SamplerKind};
use exec::ExecSpec;
use game::{RoleId, Seed};
use ggp::http::Peer;
use lab::opponents::Opponent;
use learn::Blueprint;
use open::OpenSpec;
use options::Options;
use referee::Seat;
use remote::RemoteSpec;
use search::{
    By, Cfr, CfrOptions, Cheater, Either, First, Horizon, Hp2Options, HyperPlay, HyperPlayII, InsightHorizon, IsMcts,
    IsMctsOptions, Kluss, KlussError, KlussOptions, McOpponents, Perfect, PlayoutHorizon, Random, Tabular,
};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// A player and its options, as it was asked for.
#[derive(Clone, Debug)]
pub struct PlayerSpec {
    text: String,
    kind: Kind,
    /// What the others are known to do.
    opponent: Option<OpponentTables>,
    /// Every option and its value.
    options: Vec<(String, String)>,
}

/// What a player is made of.
#[derive(Clone, Debug)]
enum Kind {
    Random,
    Legal,
    Strategy(Strategy),
    Hand(Opponent),
    Remote(RemoteSpec),
    Exec(ExecSpec),
    Human {
        /// Whether beliefs are shown.
        belief: bool,
    },
    Exploit(ExploitSpec),
    Open(OpenSpec),
    Cheat(OpenSpec),
    HyperPlay {
        sampler: SamplerKind,
        belief: belief::Options,
        playouts: Option<u64>,
        with: Option<OpenSpec>,
        /// Playouts of each of the others' moves in the past, unless these are taken to be uniform.
        past: Option<u64>,
        /// The same in playouts.
        future: Option<u64>,
    },
    HyperPlayII {
        sampler: SamplerKind,
        belief: belief::Options,
        options: Hp2Options,
        /// Playouts of the `hp` part of `either`.
        either: Option<u64>,
    },
    Auto(AutoSpec),
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
        net: Option<LearnedSpec>,
    },
    Kluss {
        sampler: SamplerKind,
        belief: belief::Options,
        options: KlussOptions,
        playouts: u64,
        with: Option<OpenSpec>,
        net: Option<LearnedSpec>,
    },
    Epimc {
        sampler: SamplerKind,
        belief: belief::Options,
        options: CfrOptions,
        with: OpenSpec,
    },
}

impl PlayerSpec {
    /// Reads a player's name and options.
    ///
    /// # Errors
    /// If there is no such player or option, or a value is wrong: with a suggestion.
    pub fn parse(text: &str) -> Result<PlayerSpec, PlayerSpecError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let Some(def) = registry::find(name) else {
            return Err(PlayerSpecError::UnknownPlayer {
                name: name.to_owned(),
                suggestion: game::closest(name, registry::names()),
            });
        };
        let options = match def.whole_text {
            true => Options::whole(text, def, rest)?,
            false => Options::parse(text, def, rest)?,
        };
        Ok(PlayerSpec {
            text: text.to_owned(),
            kind: (def.make)(&options)?,
            opponent: make::opponent(&options)?,
            options: options.all(),
        })
    }

    /// The player as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Every option and its value, defaults included.
    pub fn all_options(&self) -> Vec<(String, String)> {
        self.options.clone()
    }

    /// What a player that was trained goes by.
    pub fn learned(&self) -> Option<&LearnedSpec> {
        match &self.kind {
            Kind::Cfr { net, .. } => net.as_ref(),
            _ => None,
        }
    }

    /// Whether the player needs to know the state, so that it can only play open games.
    pub fn needs_open_game(&self) -> bool {
        match &self.kind {
            Kind::Open(_) => true,
            Kind::Exploit(spec) => spec.otherwise.base.needs_open_game(),
            _ => false,
        }
    }

    /// Whether the player takes a model of the others.
    pub(crate) fn takes_opponent(&self) -> bool {
        self.options.iter().any(|(name, _)| name == "opponent")
    }

    /// The same player with a model of the others that was learned.
    pub(crate) fn with_learned(&self, model: Arc<LearnedModel>) -> PlayerSpec {
        PlayerSpec {
            opponent: Some(OpponentTables::Learned(model)),
            ..self.clone()
        }
    }

    /// Whether the player is shown the true state.
    pub fn is_cheat(&self) -> bool {
        matches!(self.kind, Kind::Cheat(_))
    }

    /// The address of a player elsewhere.
    pub fn remote(&self) -> Option<&Peer> {
        match &self.kind {
            Kind::Remote(remote) => Some(&remote.peer),
            _ => None,
        }
    }

    /// Whether the player thinks outside of this program: elsewhere, in a program of its own, or in a person's head.
    /// Its seat is a [`Seat::Guest`].
    pub fn is_guest(&self) -> bool {
        matches!(self.kind, Kind::Remote(_) | Kind::Exec(_) | Kind::Human { .. })
    }

    /// Whether the player is a program that is started for each match.
    pub fn is_program(&self) -> bool {
        matches!(self.kind, Kind::Exec(_))
    }

    /// Whether the player is a person at the terminal.
    pub fn is_human(&self) -> bool {
        matches!(self.kind, Kind::Human { .. })
    }

    /// Whether the same seed gives the same moves, as far as we can know: a program is taken to draw from its seed.
    pub fn is_repeatable(&self) -> bool {
        !matches!(self.kind, Kind::Remote(_) | Kind::Human { .. })
    }

    /// The same player with the clocks of a match, for programs whose options name none.
    pub fn with_clocks(mut self, start: Duration, play: Duration) -> PlayerSpec {
        if let Kind::Exec(exec) = &mut self.kind {
            exec.set_clocks(start, play);
        }
        self
    }

    /// How long the player trains before its first move, if it does.
    pub(crate) fn start_training(&self) -> Option<Duration> {
        self.learned().and_then(LearnedSpec::start_training)
    }

    /// The same player with what was learned before the first move, or without anything learned.
    pub(crate) fn trained(&self, blueprint: Option<Arc<Blueprint>>) -> PlayerSpec {
        let mut spec = self.clone();
        if let Kind::Cfr { net, .. } = &mut spec.kind {
            *net = match (&*net, blueprint) {
                (Some(net), Some(blueprint)) => Some(net.with(blueprint)),
                _ => None,
            };
        }
        spec
    }

    /// The strategy that the player follows, if it follows one.
    pub(crate) fn strategy(&self) -> Option<&Strategy> {
        match &self.kind {
            Kind::Strategy(strategy) => Some(strategy),
            _ => None,
        }
    }

    /// The files that decide how the player plays.
    pub fn files(&self) -> Vec<PathBuf> {
        let own = match &self.kind {
            Kind::Exec(exec) => exec.files(),
            Kind::Strategy(strategy) => vec![strategy.path().to_owned()],
            Kind::Exploit(spec) => match &spec.model {
                Some(ModelSpec::File(path)) => vec![path.clone()],
                Some(ModelSpec::Player(player)) => player.files(),
                Some(_) => Vec::new(),
                None => spec.otherwise.files(),
            },
            Kind::Cfr { net: Some(net), .. } | Kind::Kluss { net: Some(net), .. } => net.files(),
            _ => Vec::new(),
        };
        let opponent = self.opponent.as_ref().and_then(OpponentTables::file);
        own.into_iter().chain(opponent).collect()
    }

    /// The error that this player cannot play.
    pub(crate) fn unsuitable(&self, why: Unsuitable) -> Error {
        Error::Unsuitable {
            player: self.text.clone(),
            why,
        }
    }

    /// Whether the player keeps something from match to match.
    pub fn learns(&self) -> bool {
        matches!(&self.kind, Kind::Exploit(spec) if spec.model.is_none())
    }

    /// Whether the player may change to another engine within a match: nothing is learned before or between matches.
    pub fn may_change_engine(&self) -> bool {
        let values = matches!(&self.kind, Kind::Open(spec) if spec.learns_values());
        !self.learns() && self.learned().is_none() && !values
    }

    /// The player of a role for one match.
    ///
    /// # Errors
    /// If the player cannot play this game.
    pub fn seat(&self, engine: &Engine, role: RoleId, seed: Seed) -> Result<Seat, Error> {
        self.seat_with(engine, role, seed, None)
    }

    /// The same for a match of a series.
    pub(crate) fn seat_with(
        &self,
        engine: &Engine,
        role: RoleId,
        seed: Seed,
        memory: Option<&SeriesMemory>,
    ) -> Result<Seat, Error> {
        let tools = || engine.tools(role, seed);
        let player = |player| Ok(Seat::Player(player));
        let views = match &self.opponent {
            Some(opponent) => Some(opponent.views(engine, role)?),
            None => None,
        };
        match &self.kind {
            Kind::Random => player(Box::new(Random::new(tools())?)),
            Kind::Legal => player(Box::new(First::new(tools())?)),
            Kind::Strategy(strategy) => {
                let tools = tools();
                let table = strategy.table(tools.sim.roles(), role)?;
                let tabular = Tabular::new(tools, table).map_err(|error| strategy.does_not_fit(error))?;
                player(Box::new(tabular))
            }
            Kind::Hand(opponent) => {
                let mut sim = engine.state_simulator();
                let made = opponent.player(sim.as_mut(), role, seed);
                player(made.map_err(|e| Error::Fault(game::Fault::player(e)))?)
            }
            Kind::Exploit(spec) => spec.seat(&self.text, engine, role, seed, memory),
            Kind::Remote(remote) => Ok(Seat::Guest(Box::new(remote.guest(engine, role)?))),
            Kind::Exec(exec) => match exec.objection() {
                Some(why) => Err(self.unsuitable(why)),
                None => Ok(Seat::Guest(Box::new(exec.guest(engine, role, seed)?))),
            },
            Kind::Human { belief } => {
                let console = human::console().map_err(|why| self.unsuitable(why))?;
                let person = human::Human::new(engine, role, seed, *belief, console)?;
                Ok(Seat::Guest(Box::new(person)))
            }
            Kind::Open(spec) => player(Box::new(Perfect::new(tools(), spec.make()))),
            Kind::Cheat(spec) => Ok(Seat::Cheat(Box::new(Cheater::new(tools(), spec.make())))),
            Kind::HyperPlay {
                sampler,
                belief,
                playouts,
                with,
                past,
                future,
            } => {
                let by = with.map_or(By::Playouts(*playouts), |spec| By::Insight(spec.make()));
                let mut hyperplay = HyperPlay::new(tools(), *sampler, belief, by)?;
                let model = |name: &str, playouts: Option<u64>| {
                    let tools = || engine.tools(role, seed.child(name));
                    playouts.map(|n| Box::new(McOpponents::new(tools(), n)) as Box<dyn OpponentModel>)
                };
                let by_state = || {
                    let known = self.opponent.as_ref()?.by_state(engine)?;
                    Some(Box::new(known) as Box<dyn OpponentModel>)
                };
                match by_state() {
                    Some(known) => hyperplay.set_opponents(Some(known), by_state())?,
                    None => {
                        hyperplay.set_opponents(model("past", *past), model("future", *future))?;
                        views.into_iter().for_each(|views| hyperplay.set_views(views));
                    }
                }
                player(Box::new(hyperplay))
            }
            Kind::HyperPlayII {
                sampler,
                belief,
                options,
                either,
            } => {
                let mut hyperplay = HyperPlayII::new(tools(), *sampler, belief, *options)?;
                views.into_iter().for_each(|views| hyperplay.set_views(views));
                match either {
                    None => player(Box::new(hyperplay)),
                    Some(playouts) => player(Box::new(Either::new(hyperplay, *playouts))),
                }
            }
            Kind::Auto(spec) => spec.seat(engine, role, seed),
            Kind::IsMcts {
                sampler,
                belief,
                options,
            } => {
                let mut ismcts = IsMcts::new(tools(), *sampler, belief, *options)?;
                views.into_iter().for_each(|views| ismcts.set_views(views));
                player(Box::new(ismcts))
            }
            Kind::Cfr {
                sampler,
                belief,
                options,
                playouts,
                net,
            } => match net {
                Some(net) => player(net.player(engine, tools(), *sampler, belief, *options)?),
                None => {
                    let horizon = Box::new(PlayoutHorizon { playouts: *playouts });
                    player(Box::new(Cfr::new(tools(), *sampler, belief, *options, horizon)?))
                }
            },
            Kind::Kluss {
                sampler,
                belief,
                options,
                playouts,
                with,
                net,
            } => {
                let horizon: Box<dyn Horizon> = match (with, net) {
                    (Some(spec), _) => Box::new(InsightHorizon { insight: spec.make() }),
                    (None, Some(net)) => Box::new(net.horizon(engine)?),
                    (None, None) => Box::new(PlayoutHorizon { playouts: *playouts }),
                };
                match Kluss::new(tools(), *sampler, belief, *options, horizon) {
                    Ok(mut kluss) => {
                        views.into_iter().for_each(|views| kluss.set_views(views));
                        player(Box::new(kluss))
                    }
                    Err(KlussError::Belief(error)) => Err(error.into()),
                    Err(KlussError::Roles(roles)) => Err(self.unsuitable(Unsuitable::NotTwoRoles { roles })),
                }
            }
            Kind::Epimc {
                sampler,
                belief,
                options,
                with,
            } => {
                let horizon = Box::new(InsightHorizon { insight: with.make() });
                player(Box::new(Cfr::new(tools(), *sampler, belief, *options, horizon)?))
            }
        }
    }
}

impl FromStr for PlayerSpec {
    type Err = PlayerSpecError;

    fn from_str(text: &str) -> Result<PlayerSpec, PlayerSpecError> {
        PlayerSpec::parse(text)
    }
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl AsRef<str> for PlayerSpec {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_read() {
        for text in [
            "random",
            "legal",
            "mc",
            "mc:100",
            "uct",
            "uct:500,c=0.5,policy=mast,batch=8,playouts=2,solve=off",
            "minimax:2",
            "minimax:depth=4,simultaneous=pessimistic",
            "minimax:nodes=1000,playouts=8",
            "nested:2,3",
            "hp",
            "hp:16,4",
            "hp:models=16,4",
            "hp:playouts=4,16",
            "hp: 16 , 4 , sampler = naive",
            "hp:16,4,sampler=cached,weights=choice-factor,remedy=balance,layer=100",
            "hp:16,opponents=mc,playout-opponents=mc/4",
            "hp:16,with=uct:500",
            "hp:16,with=uct:500,with.c=1,with.policy=uniform,sampler=naive",
            "hp:16,with=minimax:2",
            "hp2:4,2,4,2",
            "hp2:4,2,4,2,prune=depth,maximum=80,cache=off,spread=halving,levels=3",
            "auto",
            "auto:histories=1000",
            "auto:net=somewhere",
            "either:4,2,4,2,hp-playouts=8",
            "ismcts:500,models=100,observers=single,select=exp3,c=1,batch=4,opponents=hp,rollout=hp,backup=mean",
            "cfr:40,roots=state,depth=2,iterations=10,nodes=100,chance=8,common=0,playouts=4",
            "cfr:net=somewhere,depth=0,table=off,trust=5,purify=0.1,opponents=net",
            "kluss:5000,roots=64,order=2,playouts=8,chance=8,c=2,expand=two-sided,prior=uniform,frozen=on,purify=off",
            "kluss:with=minimax:2,with.playouts=4,support=2",
            "kluss:net=somewhere",
            "epimc:3,samples=20,iterations=50,nodes=1000,chance=8,with=minimax:2",
            "hand:meier",
            "exploit",
            "exploit:model=uniform",
            "exploit:model=hp:16;4,weight=0.5,seeds=8",
            "exploit:model=records:somewhere",
            "remote:127.0.0.1:9147",
            "remote:127.0.0.1:9147,play=3,start=2,protocol=gdl1",
            "exec:python3 bot.py --depth 3",
            "exec:play=0.5,start=2,legal=off,./bot 'a, b=c'",
            "human",
            "human:belief=on",
            "cheat:20",
            "cheat:with=uct",
        ] {
            PlayerSpec::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }

    #[test]
    fn mistakes_are_named_with_a_way_out() {
        for (text, part) in [
            ("hpp", "did you mean `hp`?"),
            ("zebra", "there are random, legal, mc"),
            ("hp:modles=64", "does not take `modles`; did you mean `models`?"),
            ("hp:colour=red", "its options are models, playouts"),
            ("random:3", "does not take `3`"),
            (
                "hp:1,2,3",
                "does not take `3` without a name; without names it takes models, playouts",
            ),
            ("hp:0,4", "models must be a whole number from 1 to 1000000, not `0`"),
            ("hp:99999999999,1", "models must be a whole number from 1 to 1000000"),
            ("hp:models=3,models=4", "`models` twice"),
            ("uct:c=x", "c must be"),
            ("uct:c=NaN", "c must be"),
            ("uct:policy=best", "must be uniform or mast"),
            ("uct:0", "from 1"),
            ("nested:9", "level must be a whole number from 1 to 6"),
            ("hp:16,with=chess", "with must be"),
            ("hp:16,4,with=uct", "`playouts` together with `with`"),
            ("hp:16,with=uct,with.depth=3", "does not take `depth`"),
            ("hp:16,with.c=1", "does not take `with.c`; did you mean `with`?"),
            ("hp:opponents=mc/0", "opponents must be uniform, mc or mc/PLAYOUTS"),
            ("minimax:simultaneous=no", "mixed or pessimistic"),
            ("kluss:playouts=8,with=mc", "`playouts` together with `with`"),
            ("kluss:expand=both", "one-sided or two-sided"),
            ("cfr:depth=0", "depth must be 1 or more without net=DIR"),
            ("strategy:", "needs file: FILE"),
            ("strategy:/no/such/file", "cannot read"),
            (
                "exploit:model=/no/such/file",
                "must be uniform, a file, records:DIR or a player",
            ),
            ("exploit:weight=2", "weight must be"),
            ("exploit:weight=0.5", "weight needs model"),
            ("hand", "needs game"),
            ("hand:chess", "game must be meier"),
            ("remote", "needs address: HOST:PORT"),
            ("exec", "needs command: PROGRAM ARGS"),
            ("exec:bot 'x", "quotes in pairs"),
            ("exec:play=x,bot", "play must be a number from 0.001"),
            ("human:3", "does not take `3`"),
            ("remote:nowhere", "must be HOST:PORT"),
        ] {
            let error = PlayerSpec::parse(text).err().map(|e| e.to_string());
            let error = error.unwrap_or_else(|| panic!("{text} was read"));
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    /// What the definitions say holds without options is what the crates below do by default.
    #[test]
    fn defaults_are_those_of_the_players() {
        let kind = |text: &str| PlayerSpec::parse(text).unwrap().kind;
        let sampling = |belief: belief::Options, models| {
            let usual = belief::Options {
                models,
                ..belief::Options::default()
            };
            assert_eq!(format!("{belief:?}"), format!("{usual:?}"));
        };
        let Kind::HyperPlay { sampler, belief, .. } = kind("hp") else {
            panic!("hp");
        };
        assert_eq!(sampler, SamplerKind::default());
        sampling(belief, 64);
        let Kind::IsMcts { belief, options, .. } = kind("ismcts") else {
            panic!("ismcts");
        };
        sampling(belief, 1_000);
        assert_eq!(options, IsMctsOptions::default());
        let Kind::Cfr { belief, options, .. } = kind("cfr") else {
            panic!("cfr");
        };
        sampling(belief, 80);
        assert_eq!(options, CfrOptions::default());
        let Kind::Kluss { belief, options, .. } = kind("kluss") else {
            panic!("kluss");
        };
        sampling(belief, 256);
        assert_eq!(options, KlussOptions::default());
        assert_eq!(OpenSpec::Uct(search::UctOptions::default()), open("uct"));
        assert_eq!(OpenSpec::Minimax(search::MinimaxOptions::default()), open("minimax"));
        assert_eq!(OpenSpec::Nested(search::NestedOptions::default()), open("nested"));
    }

    fn open(text: &str) -> OpenSpec {
        match PlayerSpec::parse(text).unwrap().kind {
            Kind::Open(spec) => spec,
            other => panic!("{other:?}"),
        }
    }
}
