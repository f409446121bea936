//! Perfect-information players by name, alone or inside of others: `mc`, and `hp:16,with=mc:100`.

use super::Options;
use anyhow::{Result, bail};
use search::{Flat, Insight};

/// Which insight, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum InsightSpec {
    Flat(Flat),
}

/// Their names.
const INSIGHTS: &str = "mc";

impl InsightSpec {
    /// Reads the options of an insight; nothing if the name is of something else.
    pub(super) fn parse(name: &str, options: &mut Options<'_>) -> Result<Option<InsightSpec>> {
        Ok(Some(match name {
            "mc" => InsightSpec::Flat(flat(options)?),
            _ => return Ok(None),
        }))
    }

    /// Reads `with=NAME:NUMBER,with.KEY=VALUE`, if there is any.
    pub(super) fn nested(options: &mut Options<'_>) -> Result<Option<InsightSpec>> {
        let Some(text) = options.named("with") else {
            return Ok(None);
        };
        let (name, numbers) = text.split_once(':').unwrap_or((text, ""));
        let mut inner = Options::parse(options.player, numbers)?;
        let is_inner = |(key, value): &(&'_ str, &'_ str)| key.strip_prefix("with.").map(|key| (key, *value)).is_some();
        let (theirs, ours) = options.by_name.iter().copied().partition(is_inner);
        options.by_name = ours;
        let theirs: Vec<(&str, &str)> = theirs;
        inner
            .by_name
            .extend(theirs.iter().map(|&(key, value)| (&key["with.".len()..], value)));
        let Some(spec) = InsightSpec::parse(name, &mut inner)? else {
            bail!(
                "`{}`: there is nothing called `{name}` to play with; there are {INSIGHTS}",
                options.player
            );
        };
        inner.finish()?;
        Ok(Some(spec))
    }

    /// The insight itself.
    pub(super) fn make(&self) -> Box<dyn Insight> {
        match self {
            InsightSpec::Flat(flat) => Box::new(*flat),
        }
    }
}

/// `mc:PLAYOUTS`
pub(super) fn flat(options: &mut Options<'_>) -> Result<Flat> {
    Ok(Flat {
        playouts: options.some_number("playouts")?,
    })
}
