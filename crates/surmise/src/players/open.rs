//! Players of open games, alone (`uct:500`) or inside of others (`hp:16,with=uct:500,with.c=1`).

use super::options::Options;
use super::{PlayerSpecError, registry};
use search::{Flat, Insight, Leaves, Minimax, MinimaxOptions, Nested, NestedOptions, Uct, UctOptions};

/// Which player, and its options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OpenSpec {
    Flat(Flat),
    Uct(UctOptions),
    Minimax(MinimaxOptions),
    Nested(NestedOptions),
}

impl OpenSpec {
    /// The player whose options these are.
    pub fn new(options: &Options) -> OpenSpec {
        match options.name() {
            "uct" => OpenSpec::Uct(UctOptions {
                simulations: options.maybe("simulations"),
                c: options.maybe("c"),
                policy: options.value("policy"),
                batch: options.maybe("batch"),
                playouts: options.maybe("playouts"),
                solve: options.is_on("solve"),
                leaves: options.value("leaves"),
            }),
            "minimax" => OpenSpec::Minimax(MinimaxOptions {
                depth: options.maybe::<u64>("depth").map(|depth| depth.min(1_000) as u32),
                nodes: options.maybe("nodes"),
                playouts: options.value("playouts"),
                simultaneous: options.value("simultaneous"),
            }),
            "nested" => OpenSpec::Nested(NestedOptions {
                level: options.value("level"),
                playouts: options.maybe("playouts"),
            }),
            _ => OpenSpec::flat(options),
        }
    }

    /// Flat Monte Carlo with the playouts of these options.
    pub fn flat(options: &Options) -> OpenSpec {
        OpenSpec::Flat(Flat {
            playouts: options.maybe("playouts"),
        })
    }

    /// The player that `with=NAME:NUMBERS,with.KEY=VALUE` names, if any.
    pub fn inner(options: &Options) -> Result<Option<OpenSpec>, PlayerSpecError> {
        let Some(text) = options.text("with") else {
            return Ok(None);
        };
        let (name, numbers) = text.split_once(':').unwrap_or((text, ""));
        let open = ["mc", "uct", "minimax", "nested"].contains(&name);
        match registry::find(name).filter(|_| open) {
            Some(def) => Ok(Some(OpenSpec::new(&options.inner(def, numbers)?))),
            None => Err(options.wrong("with", "must be mc, uct, minimax or nested, with their numbers")),
        }
    }

    /// Whether values are learned before the first move.
    pub fn learns_values(&self) -> bool {
        matches!(self, OpenSpec::Uct(options) if options.leaves == Leaves::Learned)
    }

    /// The search itself.
    pub fn make(&self) -> Box<dyn Insight> {
        match self {
            OpenSpec::Flat(flat) => Box::new(*flat),
            OpenSpec::Uct(options) => Box::new(Uct::new(*options)),
            OpenSpec::Minimax(options) => Box::new(Minimax::new(*options)),
            OpenSpec::Nested(options) => Box::new(Nested::new(*options)),
        }
    }
}
