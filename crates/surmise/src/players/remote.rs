//! `remote:HOST:PORT,play=…,start=…,protocol=…`: a player elsewhere that speaks the GGP protocol.

use super::PlayerSpecError;
use super::options::Options;
use crate::Error;
use crate::engine::Engine;
use game::RoleId;
use ggp::http::Peer;
use ggp::{Clocks, Host, Remote, Variant};
use std::sync::atomic::{AtomicU64, Ordering};

/// A player elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RemoteSpec {
    pub peer: Peer,
    clocks: Clocks,
    variant: Option<Variant>,
}

impl RemoteSpec {
    pub fn new(options: &Options) -> Result<RemoteSpec, PlayerSpecError> {
        let peer = Peer::parse(options.text("address").unwrap_or_default());
        let peer = peer.ok_or_else(|| options.wrong("address", "must be HOST:PORT, as in remote:127.0.0.1:9147"))?;
        Ok(RemoteSpec {
            peer,
            clocks: Clocks {
                start: options.value("start"),
                play: options.value("play"),
                ..Clocks::default()
            },
            variant: options.maybe("protocol"),
        })
    }

    pub fn guest(&self, engine: &Engine, role: RoleId) -> Result<Remote, Error> {
        let roles = engine.state_simulator().roles().to_vec();
        let variant = self.variant.unwrap_or_else(|| usual_variant(&engine.rules));
        let host = Host::new(&match_id("match"), &engine.rules, &roles, variant, self.clocks, None);
        Ok(host?.guest(self.peer.clone(), role.0 as usize))
    }
}

/// The dialect in which a game is played over the wire unless another one is asked for.
pub fn usual_variant(rules: &gdl::Rules) -> Variant {
    match rules.gdl2 {
        true => Variant::Gdl2b,
        false => Variant::Gdl1,
    }
}

/// A unique name for a match: letters, digits, `.` and `_`, at most 40 of them, whatever the game is called. The
/// protocol allows `-` too, but the readers of some players do not (ggp-rs).
pub fn match_id(game: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let word: String = game
        .chars()
        .map(|c| if c == '-' { '_' } else { c })
        .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
        .take(16)
        .collect();
    let word = word.trim_matches('_');
    let millis = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let millis = millis.map_or(0, |d| d.as_millis() as u64);
    let number = NEXT.fetch_add(1, Ordering::Relaxed) % 100_000;
    match word {
        "" => format!("m.{millis:x}.{number}"),
        word => format!("m.{word}.{millis:x}.{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_matches_are_plain() {
        let ids: Vec<String> = [
            "krieg-tictactoe:size=5",
            "../../etc/passwd",
            "",
            "ünïcode",
            &"x".repeat(500),
        ]
        .map(match_id)
        .to_vec();
        for id in &ids {
            assert!(id.len() <= 40 && id.starts_with('m'), "{id}");
            assert!(
                id.chars().all(|c| c.is_ascii_alphanumeric() || "._".contains(c)),
                "{id}"
            );
            assert!(!id.contains(".."), "{id}");
        }
    }
}
