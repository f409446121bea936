//! From options to what a player is made of: one function a player.

use super::auto::AutoSpec;
use super::exec::ExecSpec;
use super::learned::LearnedSpec;
use super::open::OpenSpec;
use super::options::Options;
use super::remote::RemoteSpec;
use super::{Kind, PlayerSpec, PlayerSpecError};
use crate::exploit::{ExploitSpec, LedgerSpec, ModelSpec, OpponentTables, SolvedGames, TableLimits};
use crate::strategy::Strategy;
use belief::SamplerKind;
use lab::opponents::Opponent;
use search::{CfrOptions, DISCOUNT, Hp2Options, InnerOptions, IsMctsOptions, KlussOptions, Pruning};

type Made = Result<Kind, PlayerSpecError>;

pub(super) fn random(_: &Options) -> Made {
    Ok(Kind::Random)
}

pub(super) fn legal(_: &Options) -> Made {
    Ok(Kind::Legal)
}

pub(super) fn open_player(options: &Options) -> Made {
    Ok(Kind::Open(OpenSpec::new(options)))
}

pub(super) fn cheat(options: &Options) -> Made {
    options.exclude("playouts", "with")?;
    Ok(Kind::Cheat(match OpenSpec::inner(options)? {
        Some(spec) => spec,
        None => OpenSpec::flat(options),
    }))
}

pub(super) fn strategy(options: &Options) -> Made {
    let file = options.text("file").unwrap_or_default();
    let strategy = Strategy::read(file.as_ref());
    strategy
        .map(Kind::Strategy)
        .map_err(|e| PlayerSpecError::File(Box::new(e)))
}

/// The model of the others by which a player's histories are weighed.
pub(super) fn opponent(options: &Options) -> Result<Option<OpponentTables>, PlayerSpecError> {
    let Some(text) = options.def.option("opponent").and_then(|_| options.text("opponent")) else {
        return Ok(None);
    };
    let tables = text.parse::<ModelSpec>().and_then(OpponentTables::new);
    tables.map(Some).map_err(|e| PlayerSpecError::File(Box::new(e)))
}

pub(super) fn exploit(options: &Options) -> Made {
    let model = match options.text("model") {
        None => None,
        Some(text) => Some(
            text.parse::<ModelSpec>()
                .map_err(|e| PlayerSpecError::File(Box::new(e)))?,
        ),
    };
    if model.is_none() && options.maybe::<f64>("weight").is_some() {
        return Err(options.wrong(
            "weight",
            "needs model=MODEL: without one the player trusts what it has won",
        ));
    }
    Ok(Kind::Exploit(ExploitSpec {
        model,
        weight: options.maybe("weight").unwrap_or(1.0),
        seeds: options.value("seeds"),
        stake: options.value("stake"),
        games: SolvedGames::within(TableLimits {
            histories: options.value("histories"),
            ..TableLimits::default()
        }),
        otherwise: LedgerSpec {
            base: inner(options, "base", can_be_base)?,
            response: inner(options, "response", PlayerSpec::takes_opponent)?,
            reference: options.maybe("reference"),
            doubt: options.value("doubt"),
        },
    }))
}

/// A player that another one plays by, with `;` for commas.
fn inner(
    options: &Options,
    name: &'static str,
    fits: fn(&PlayerSpec) -> bool,
) -> Result<Box<PlayerSpec>, PlayerSpecError> {
    let text = options.text(name).unwrap_or_default().replace(';', ",");
    let player = PlayerSpec::parse(&text).map_err(|error| options.wrong(name, &format!("is no player: {error}")))?;
    match fits(&player) {
        true => Ok(Box::new(player)),
        false => Err(options.wrong(name, "cannot be this player")),
    }
}

fn can_be_base(player: &PlayerSpec) -> bool {
    let elsewhere = player.is_guest() || player.is_cheat();
    !elsewhere && player.start_training().is_none() && !matches!(player.kind, Kind::Exploit(_))
}

pub(super) fn hand(options: &Options) -> Made {
    let name = options.text("game").unwrap_or_default();
    let opponent =
        Opponent::parse(name).map_err(|_| options.wrong("game", "must be a game with a hand-made player"))?;
    Ok(Kind::Hand(opponent))
}

pub(super) fn remote(options: &Options) -> Made {
    Ok(Kind::Remote(RemoteSpec::new(options)?))
}

pub(super) fn exec(options: &Options) -> Made {
    Ok(Kind::Exec(ExecSpec::new(options)?))
}

pub(super) fn human(options: &Options) -> Made {
    Ok(Kind::Human {
        belief: options.is_on("belief"),
    })
}

/// Sampler and options of a player's belief, with the models that an option says.
fn sampling(options: &Options, models: &str) -> (SamplerKind, belief::Options) {
    let belief = belief::Options {
        models: options.size(models),
        weights: options.value("weights"),
        remedy: options.value("remedy"),
        layer_limit: options.size("layer"),
        ..belief::Options::default()
    };
    (options.value("sampler"), belief)
}

pub(super) fn hyperplay(options: &Options) -> Made {
    options.exclude("playouts", "with")?;
    let (sampler, belief) = sampling(options, "models");
    Ok(Kind::HyperPlay {
        sampler,
        belief,
        playouts: options.maybe("playouts"),
        with: OpenSpec::inner(options)?,
        past: options.opponents("opponents"),
        future: options.opponents("playout-opponents"),
    })
}

pub(super) fn hyperplay_ii(options: &Options) -> Made {
    simulating(options, None)
}

pub(super) fn auto(options: &Options) -> Made {
    Ok(Kind::Auto(AutoSpec {
        net: options.text("net").map(str::to_owned),
        histories: options.value("histories"),
    }))
}

pub(super) fn either(options: &Options) -> Made {
    simulating(options, Some(options.value("hp-playouts")))
}

fn simulating(options: &Options, either: Option<u64>) -> Made {
    let (sampler, belief) = sampling(options, "models");
    let mut pruning = Pruning {
        maximum: options.value("maximum"),
        ..Pruning::default()
    };
    match options.text("prune") {
        Some("win") => pruning.cut_on_win = true,
        Some("discount") => pruning.discount = DISCOUNT,
        Some("depth") => (pruning.discount, pruning.on_depth) = (DISCOUNT, true),
        _ => {}
    }
    let inner = InnerOptions {
        models: options.size("inner-models"),
        playouts: options.value("inner-playouts"),
        levels: options.value::<u32>("levels") - 1,
        pruning,
    };
    Ok(Kind::HyperPlayII {
        sampler,
        belief,
        options: Hp2Options {
            playouts: options.value("playouts"),
            inner,
            spread: options.value("spread"),
            cache: options.is_on("cache"),
        },
        either,
    })
}

pub(super) fn ismcts(options: &Options) -> Made {
    let (sampler, belief) = sampling(options, "models");
    let default = IsMctsOptions::default();
    Ok(Kind::IsMcts {
        sampler,
        belief,
        options: IsMctsOptions {
            simulations: options.maybe("simulations"),
            observers: options.value("observers"),
            selection: options.value("select"),
            exploration: options.value("c"),
            batch: options.maybe("batch").unwrap_or(default.batch),
            opponents: options.value("opponents"),
            rollout: options.value("rollout"),
            backup: options.value("backup"),
            inner: InnerOptions {
                models: options.size("inner-models"),
                playouts: options.value("inner-playouts"),
                ..default.inner
            },
        },
    })
}

pub(super) fn cfr(options: &Options) -> Made {
    options.exclude("net", "train")?;
    let (sampler, belief) = sampling(options, "samples");
    let depth = options.maybe("depth");
    let net = LearnedSpec::new(options);
    if depth == Some(0) && net.is_none() {
        return Err(options.wrong("depth", "must be 1 or more without net=DIR or train=SECONDS"));
    }
    Ok(Kind::Cfr {
        sampler,
        belief,
        options: CfrOptions {
            roots: options.value("roots"),
            depth,
            iterations: options.value("iterations"),
            nodes: options.maybe("nodes"),
            chance: options.size("chance"),
            common: options.size("common"),
        },
        playouts: options.value("playouts"),
        net,
    })
}

pub(super) fn kluss(options: &Options) -> Made {
    options.exclude("playouts", "with")?;
    options.exclude("net", "with")?;
    let (sampler, belief) = sampling(options, "roots");
    Ok(Kind::Kluss {
        sampler,
        belief,
        options: KlussOptions {
            nodes: options.maybe("nodes"),
            roots: options.size("roots"),
            order: options.maybe("order"),
            chance: options.size("chance"),
            c: options.value("c"),
            expansion: options.value("expand"),
            prior: options.value("prior"),
            slack: options.maybe("slack"),
            frozen: options.is_on("frozen"),
            iterate: options.value("iterate"),
            purify: options.is_on("purify"),
            support: options.size("support"),
        },
        playouts: options.value("playouts"),
        with: OpenSpec::inner(options)?,
        net: LearnedSpec::values(options),
    })
}

pub(super) fn epimc(options: &Options) -> Made {
    let (sampler, belief) = sampling(options, "samples");
    Ok(Kind::Epimc {
        sampler,
        belief,
        options: CfrOptions {
            depth: options.maybe("depth"),
            iterations: options.value("iterations"),
            nodes: options.maybe("nodes"),
            chance: options.size("chance"),
            common: 0,
            ..CfrOptions::default()
        },
        with: match OpenSpec::inner(options)? {
            Some(spec) => spec,
            None => return Err(options.wrong("with", "must be mc, uct, minimax or nested")),
        },
    })
}
