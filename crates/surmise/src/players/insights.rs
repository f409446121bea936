//! Perfect-information players by name, alone or inside of others: `uct:500`, and `hp:16,with=uct:500,with.c=1`.

use super::Options;
use anyhow::{Result, bail};
use search::{Flat, Insight, Minimax, MinimaxOptions, Nested, NestedOptions, Uct, UctOptions};

/// Which insight, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum InsightSpec {
    Flat(Flat),
    Uct(UctOptions),
    Minimax(MinimaxOptions),
    Nested(NestedOptions),
}

/// Their names.
const INSIGHTS: &str = "mc, uct, minimax, nested";

impl InsightSpec {
    /// Reads the options of an insight; nothing if the name is of something else.
    pub(super) fn parse(name: &str, options: &mut Options<'_>) -> Result<Option<InsightSpec>> {
        Ok(Some(match name {
            "mc" => InsightSpec::Flat(flat(options)?),
            "uct" => InsightSpec::Uct(uct(options)?),
            "minimax" => InsightSpec::Minimax(minimax(options)?),
            "nested" => InsightSpec::Nested(nested(options)?),
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
            InsightSpec::Uct(options) => Box::new(Uct::new(*options)),
            InsightSpec::Minimax(options) => Box::new(Minimax::new(*options)),
            InsightSpec::Nested(options) => Box::new(Nested::new(*options)),
        }
    }
}

/// `mc:PLAYOUTS`
pub(super) fn flat(options: &mut Options<'_>) -> Result<Flat> {
    Ok(Flat {
        playouts: options.some_number("playouts")?,
    })
}

/// `uct:SIMULATIONS,c=…,policy=…,batch=…,playouts=…,solve=…`
fn uct(options: &mut Options<'_>) -> Result<UctOptions> {
    let usual = UctOptions::default();
    Ok(UctOptions {
        c: exploration(options)?.unwrap_or(usual.c),
        policy: options.choice("policy")?.unwrap_or_default(),
        batch: match options.named_number("batch", 0)? {
            0 => None,
            batch => Some(batch),
        },
        playouts: options.named_number("playouts", 1)?,
        solve: switch(options, "solve")?.unwrap_or(usual.solve),
        simulations: options.some_number("simulations")?,
    })
}

/// `minimax:DEPTH,nodes=…,playouts=…,simultaneous=…`
fn minimax(options: &mut Options<'_>) -> Result<MinimaxOptions> {
    let usual = MinimaxOptions::default();
    Ok(MinimaxOptions {
        nodes: match options.named_number("nodes", 0)? {
            0 => None,
            nodes => Some(nodes),
        },
        playouts: options.named_number("playouts", usual.playouts)?,
        simultaneous: options.choice("simultaneous")?.unwrap_or_default(),
        depth: options.some_number("depth")?.map(|depth| depth.min(1_000) as u32),
    })
}

/// `nested:LEVEL,PLAYOUTS`
fn nested(options: &mut Options<'_>) -> Result<NestedOptions> {
    let usual = NestedOptions::default();
    let level = options.number("level", u64::from(usual.level))?;
    if level > 6 {
        bail!("`{}`: nobody can wait for level {level}; choose 1 to 6", options.player);
    }
    Ok(NestedOptions {
        level: level as u32,
        playouts: options.some_number("playouts")?,
    })
}

fn exploration(options: &mut Options<'_>) -> Result<Option<f64>> {
    let Some(text) = options.named("c") else {
        return Ok(None);
    };
    match text.parse() {
        Ok(c) if (0.0..1e6).contains(&c) => Ok(Some(c)),
        _ => bail!("`{}`: c must be a number of at least 0, not `{text}`", options.player),
    }
}

fn switch(options: &mut Options<'_>, name: &str) -> Result<Option<bool>> {
    match options.named(name) {
        None => Ok(None),
        Some("on") => Ok(Some(true)),
        Some("off") => Ok(Some(false)),
        Some(other) => bail!("`{}`: {name} is on or off, not `{other}`", options.player),
    }
}

#[cfg(test)]
mod tests {
    use super::super::PlayerSpec;

    #[test]
    fn insights_are_read_alone_and_inside_of_others() {
        for text in [
            "mc",
            "uct",
            "uct:500,c=0.5,policy=mast,batch=8,playouts=2,solve=off",
            "minimax:depth=4,simultaneous=pessimistic",
            "minimax:nodes=1000,playouts=8",
            "nested:2,3",
            "hp:16,with=uct:500",
            "hp:16,with=uct:500,with.c=1,with.policy=uniform,sampler=naive",
            "hp:16,with=minimax:2",
            "cheat:with=uct",
            "cheat:20",
        ] {
            PlayerSpec::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }

    #[test]
    fn wrong_options_are_named() {
        for (text, part) in [
            ("uct:c=x", "c must be"),
            ("uct:policy=best", "choose uniform or mast"),
            ("uct:0", "positive"),
            ("nested:9", "level 9"),
            ("hp:16,with=chess", "nothing called `chess`"),
            ("hp:16,4,with=uct", "does not take `4`"),
            ("hp:16,with=uct,with.depth=3", "does not take `depth`"),
            ("hp:16,with.c=1", "does not take `with.c`"),
            ("minimax:simultaneous=no", "mixed or pessimistic"),
        ] {
            let error = PlayerSpec::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
