//! Options of players: their definitions, and reading `NAME:VALUE,VALUE,KEY=VALUE` by them.
//!
//! A definition is the only place where an option is described: parsing, messages, `surmise players` and the tables in
//! docs/players.md are made from it.

use super::PlayerDef;
use super::error::PlayerSpecError;
use game::closest;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// An option of a player.
#[derive(Clone, Copy, Debug)]
pub struct OptionDef {
    /// Its name, as in `models=64`.
    pub name: &'static str,
    /// The values that it takes.
    pub kind: OptionKind,
    /// What holds if it is not given.
    pub default: Preset,
    /// One line of help.
    pub help: &'static str,
}

/// The values that an option takes.
#[derive(Clone, Copy, Debug)]
pub enum OptionKind {
    /// A whole number.
    Count {
        /// The least.
        min: u64,
        /// The greatest.
        max: u64,
    },
    /// A decimal number.
    Number {
        /// The least.
        min: f64,
        /// The greatest.
        max: f64,
    },
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// A text of this kind, such as `FILE`.
    Text(&'static str),
    /// A player of open games with its numbers, such as `uct:500`; its named options follow as `with.KEY=VALUE`.
    OpenPlayer,
    /// `uniform`, or `mc` for Monte Carlo players, or `mc/PLAYOUTS`.
    Opponents,
}

/// What holds if an option is not given.
#[derive(Clone, Copy, Debug)]
pub enum Preset {
    /// This value.
    Value(&'static str),
    /// No value: the text says what the player does then.
    Unset(&'static str),
    /// The option must be given.
    Required,
}

/// `on` or `off`.
pub(super) const SWITCH: OptionKind = OptionKind::Choice(&["on", "off"]);

impl fmt::Display for OptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionKind::Count { min, max } => write!(f, "{min}..{max}"),
            OptionKind::Number { min, max } => write!(f, "{min}..{max}, decimal"),
            OptionKind::Choice(words) => f.write_str(&words.join(", ")),
            OptionKind::Text(what) => f.write_str(what),
            OptionKind::OpenPlayer => f.write_str("mc:N, uct:N, minimax:N or nested:L,N"),
            OptionKind::Opponents => f.write_str("uniform, mc or mc/PLAYOUTS"),
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Preset::Value(value) => f.write_str(value),
            Preset::Unset(what) => f.write_str(what),
            Preset::Required => f.write_str("must be given"),
        }
    }
}

impl OptionKind {
    /// What a value must be, unless this one is right.
    fn objection(&self, value: &str) -> Option<String> {
        let must = |what: String| Some(what);
        match self {
            OptionKind::Count { min, max } => match value.parse::<u64>() {
                Ok(number) if (*min..=*max).contains(&number) => None,
                _ => must(format!("must be a whole number from {min} to {max}")),
            },
            OptionKind::Number { min, max } => match value.parse::<f64>() {
                Ok(number) if (*min..=*max).contains(&number) => None,
                _ => must(format!("must be a number from {min} to {max}")),
            },
            OptionKind::Choice(words) if words.contains(&value) => None,
            OptionKind::Choice(words) => {
                let (last, others) = words.split_last()?;
                must(format!("must be {} or {last}", others.join(", ")))
            }
            OptionKind::Opponents => match opponents(value) {
                Some(_) => None,
                None => must("must be uniform, mc or mc/PLAYOUTS".to_owned()),
            },
            OptionKind::Text(what) if value.is_empty() => must(format!("must be a {what}")),
            OptionKind::Text(_) | OptionKind::OpenPlayer => None,
        }
    }
}

/// `KEY=VALUE,` at the beginning of a text, and what follows.
fn leading(text: &str) -> Option<(&str, &str, &str)> {
    let (first, rest) = text.split_once(',')?;
    let (key, value) = first.split_once('=')?;
    Some((key.trim(), value.trim(), rest))
}

/// `uniform`, `mc` or `mc/PLAYOUTS`: the playouts of each of the others' moves, none for uniform play.
fn opponents(value: &str) -> Option<Option<u64>> {
    match value.split_once('/').unwrap_or((value, "16")) {
        ("uniform", _) => Some(None),
        ("mc", playouts) => playouts.parse().ok().filter(|n| (1..=MOST).contains(n)).map(Some),
        _ => None,
    }
}

/// The most of anything that is counted and not kept.
pub(super) const MOST: u64 = 1_000_000_000;

/// The options that were given, checked against their definitions.
#[derive(Clone, Debug)]
pub(super) struct Options {
    player: String,
    pub def: &'static PlayerDef,
    given: BTreeMap<&'static str, String>,
    /// Options of the player that `with` names.
    inner: Vec<(String, String)>,
}

impl Options {
    /// Reads the text after a player's name.
    pub fn parse(player: &str, def: &'static PlayerDef, text: &str) -> Result<Options, PlayerSpecError> {
        let mut options = Options::none(player, def);
        let mut by_position = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                Some((key, value)) => options.take(key.trim(), value.trim())?,
                None => by_position.push(part),
            }
        }
        // A place whose option was given by name is passed over.
        let places: Vec<&'static str> = def.by_position.to_vec();
        let mut places = places.into_iter();
        for value in by_position {
            let place = places.by_ref().find(|name| !options.given.contains_key(name));
            match place {
                Some(name) => options.take(name, value)?,
                None => {
                    return Err(PlayerSpecError::TooMany {
                        player: options.player,
                        value: value.to_owned(),
                        places: def.by_position,
                    });
                }
            }
        }
        options.check()?;
        Ok(options)
    }

    /// Takes the whole text after a player's name as its first option: a file's name may hold any character. Other
    /// options stand before it, as `KEY=VALUE,`.
    pub fn whole(player: &str, def: &'static PlayerDef, mut text: &str) -> Result<Options, PlayerSpecError> {
        let mut options = Options::none(player, def);
        while let Some((key, value, rest)) = leading(text)
            && def.option(key).is_some_and(|option| option.name != def.by_position[0])
        {
            options.take(key, value)?;
            text = rest;
        }
        if !text.is_empty() {
            options.take(def.by_position[0], text)?;
        }
        options.check()?;
        Ok(options)
    }

    fn none(player: &str, def: &'static PlayerDef) -> Options {
        Options {
            player: player.to_owned(),
            def,
            given: BTreeMap::new(),
            inner: Vec::new(),
        }
    }

    /// Every option and its value, in words where there is none.
    pub fn all(&self) -> Vec<(String, String)> {
        let value = |option: &OptionDef| match self.given.get(option.name) {
            Some(given) => given.clone(),
            None => option.default.to_string(),
        };
        let named = self.def.options().map(|option| (option.name.to_owned(), value(option)));
        let inner = self
            .inner
            .iter()
            .map(|(key, value)| (format!("with.{key}"), value.clone()));
        named.chain(inner).collect()
    }

    /// The name of the player that these options are of.
    pub fn name(&self) -> &'static str {
        self.def.name
    }

    /// The options of the player that `with` names, read by that player's definition.
    pub fn inner(&self, def: &'static PlayerDef, numbers: &str) -> Result<Options, PlayerSpecError> {
        let named = self.inner.iter().map(|(key, value)| format!(",{key}={value}"));
        Options::parse(&self.player, def, &format!("{numbers}{}", named.collect::<String>()))
    }

    fn take(&mut self, key: &str, value: &str) -> Result<(), PlayerSpecError> {
        if let Some(inner) = key.strip_prefix("with.").filter(|_| self.def.option("with").is_some()) {
            self.inner.push((inner.to_owned(), value.to_owned()));
            return Ok(());
        }
        let Some(option) = self.def.option(key) else {
            return Err(PlayerSpecError::UnknownOption {
                player: self.player.clone(),
                option: key.to_owned(),
                suggestion: closest(key, self.def.options().map(|o| o.name)),
                options: self.def.options().map(|o| o.name).collect(),
            });
        };
        if let Some(must) = option.kind.objection(value) {
            return Err(PlayerSpecError::WrongValue {
                player: self.player.clone(),
                option: option.name,
                value: value.to_owned(),
                must,
            });
        }
        match self.given.insert(option.name, value.to_owned()) {
            None => Ok(()),
            Some(_) => Err(PlayerSpecError::Repeated {
                player: self.player.clone(),
                option: option.name,
            }),
        }
    }

    /// Nothing that is required is missing, and `with.KEY` belongs to a `with`.
    fn check(&self) -> Result<(), PlayerSpecError> {
        if let (false, Some((key, _))) = (self.has("with"), self.inner.first()) {
            return Err(PlayerSpecError::UnknownOption {
                player: self.player.clone(),
                option: format!("with.{key}"),
                suggestion: Some("with"),
                options: self.def.options().map(|o| o.name).collect(),
            });
        }
        let missing = |option: &&OptionDef| matches!(option.default, Preset::Required) && !self.has(option.name);
        match self.def.options().find(missing) {
            None => Ok(()),
            Some(option) => Err(PlayerSpecError::Missing {
                player: self.player.clone(),
                option: option.name,
                kind: option.kind,
            }),
        }
    }

    /// Two options that exclude each other.
    pub fn exclude(&self, option: &'static str, with: &'static str) -> Result<(), PlayerSpecError> {
        match self.has(option) && self.has(with) {
            false => Ok(()),
            true => Err(PlayerSpecError::Conflict {
                player: self.player.clone(),
                option,
                with,
            }),
        }
    }

    /// A value that is wrong for a reason that the definitions do not know.
    pub fn wrong(&self, option: &'static str, must: &str) -> PlayerSpecError {
        PlayerSpecError::WrongValue {
            player: self.player.clone(),
            option,
            value: self.text(option).unwrap_or_default().to_owned(),
            must: must.to_owned(),
        }
    }

    /// Whether an option was given.
    pub fn has(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// The text of an option: as given, or its default value.
    pub fn text(&self, name: &str) -> Option<&str> {
        if let Some(given) = self.given.get(name) {
            return Some(given);
        }
        match self
            .def
            .option(name)
            .expect("only defined options are asked for")
            .default
        {
            Preset::Value(value) => Some(value),
            Preset::Unset(_) | Preset::Required => None,
        }
    }

    /// A value that the definition has checked, if there is one.
    pub fn maybe<T: FromStr>(&self, name: &str) -> Option<T> {
        let text = self.text(name)?;
        let value = text.parse().ok();
        assert!(value.is_some(), "`{name}={text}` was checked by its definition");
        value
    }

    /// A value of an option that has a default.
    pub fn value<T: FromStr>(&self, name: &str) -> T {
        self.maybe(name).expect("the option has a default")
    }

    /// A number of things that are kept in memory.
    pub fn size(&self, name: &str) -> usize {
        self.value::<u64>(name) as usize
    }

    /// Whether a switch is on.
    pub fn is_on(&self, name: &str) -> bool {
        self.text(name) == Some("on")
    }

    /// The playouts of each of the others' moves; none for uniform play.
    pub fn opponents(&self, name: &str) -> Option<u64> {
        opponents(self.text(name)?).flatten()
    }
}
