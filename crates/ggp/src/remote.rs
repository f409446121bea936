//! A remote player in a match of our own referee.
//!
//! Each message has a connection of its own, and each answer has a deadline. In GDL-II a remote player is sent only its
//! own moves and percepts: messages are made from what the referee tells the role, and from nothing else.

use crate::error::Error;
use crate::http::{Exchange, Manners, NoReply, Peer, printable};
use crate::kif;
use crate::message::{self, Variant};
use crate::net::Network;
use crate::spelling::{ANNOUNCEMENT, Spelling, prefix_text};
use game::{Seed, StopFlag, Told};
use gdl::{Information, Rules};
use referee::{Excuse, Guest, Reply, Substitution, System};
use std::sync::Arc;
use std::time::Duration;
use tracing::{debug, info, warn};

/// The clocks of remote players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// Seconds before the first move.
    pub start: u64,
    /// Seconds for each move.
    pub play: u64,
    /// Time after the clock in which an answer is still accepted.
    pub grace: Duration,
}

impl Default for Clocks {
    fn default() -> Self {
        Clocks {
            start: 10,
            play: 10,
            grace: Duration::from_secs(1),
        }
    }
}

/// The settings that the remote players of one match share.
#[derive(Clone)]
pub struct Host {
    /// Name of the match.
    pub id: String,
    /// Variant of the protocol.
    pub variant: Variant,
    /// The clocks.
    pub clocks: Clocks,
    /// Where connections are made: the system's network, unless it is replaced.
    pub network: Arc<dyn Network>,
    spelling: Arc<Spelling>,
    rules: Arc<str>,
    roles: Arc<[String]>,
}

impl Host {
    /// A host of a game. With a seed `scramble`, the names of the rules are scrambled.
    ///
    /// # Errors
    /// If the game has hidden information and the variant tells every move to every role.
    pub fn new(
        id: &str,
        rules: &Rules,
        roles: &[String],
        variant: Variant,
        clocks: Clocks,
        scramble: Option<Seed>,
    ) -> Result<Host, Error> {
        if variant == Variant::Gdl1 && rules.information() == Information::Hidden {
            return Err(Error::HiddenInformation);
        }
        let spelling = match scramble {
            Some(seed) => Spelling::scrambled(rules, seed),
            None => Spelling::in_ascii(rules),
        };
        let mut text = prefix_text(rules);
        if rules.information() == Information::Open && variant != Variant::Gdl1 && !has_name(&text, "sees") {
            text.push(' ');
            text.push_str(ANNOUNCEMENT);
        }
        Ok(Host {
            id: id.to_owned(),
            variant,
            clocks,
            network: Arc::new(System),
            rules: spelling.send(&text).into(),
            spelling: Arc::new(spelling),
            roles: roles.into(),
        })
    }

    /// The remote player of a role.
    pub fn guest(&self, peer: Peer, role: usize) -> Remote {
        Remote {
            host: self.clone(),
            peer,
            role,
        }
    }

    fn joint(&self, told: &Told) -> Vec<String> {
        let did = |role: &String| {
            let begin = format!("(did {role} ");
            let found = told.sees.iter().find_map(|p| p.strip_prefix(&begin)?.strip_suffix(')'));
            self.spelling.send(found.unwrap_or("nil"))
        };
        self.roles.iter().map(did).collect()
    }

    fn percepts(&self, told: &Told) -> Vec<String> {
        let mut percepts: Vec<String> = told.sees.iter().map(|p| self.spelling.send(p)).collect();
        percepts.sort();
        percepts.dedup();
        percepts
    }

    /// PLAY or STOP for a role, from what the role was told.
    fn news(&self, word: &str, told: &[Told]) -> String {
        let last = told.last();
        match self.variant {
            Variant::Gdl1 => message::news_list(word, &self.id, last.map(|t| self.joint(t)).as_deref()),
            Variant::Gdl2a => message::news_list(word, &self.id, last.map(|t| self.percepts(t)).as_deref()),
            Variant::Gdl2b => {
                let news = last.map(|t| (self.spelling.send(&t.own), self.percepts(t)));
                let news = news.as_ref().map(|(own, percepts)| (own.as_str(), &percepts[..]));
                message::news_turn(word, &self.id, told.len(), news)
            }
        }
    }
}

/// Whether a name occurs in rules.
fn has_name(rules: &str, wanted: &str) -> bool {
    let mut found = false;
    kif::map_names(rules, |name| {
        found |= name.eq_ignore_ascii_case(wanted);
        String::new()
    });
    found
}

/// A remote player.
pub struct Remote {
    host: Host,
    peer: Peer,
    role: usize,
}

impl Remote {
    fn role(&self) -> &str {
        &self.host.roles[self.role]
    }

    fn say(&self, message: &str, patience: Duration, stop: &StopFlag) -> Result<String, Excuse> {
        let (id, role) = (&self.host.id, self.role());
        debug!(
            id,
            role,
            "{role} is told {}",
            message.chars().take(200).collect::<String>()
        );
        let exchange = Exchange {
            peer: &self.peer,
            message,
            patience,
            manners: match self.host.variant {
                Variant::Gdl1 => Manners::GgpBase,
                Variant::Gdl2a | Variant::Gdl2b => Manners::Dresden,
            },
        };
        let reply = exchange.over(self.host.network.as_ref(), stop);
        let excuse = |raw: String, why| Excuse { raw, why };
        reply.map_err(|none| match none {
            NoReply::Late(raw) => excuse(raw, Substitution::Late),
            NoReply::TooLong(raw) => excuse(raw, Substitution::Unreadable),
            NoReply::Unreachable(why) => excuse(String::new(), Substitution::Missing(why)),
            NoReply::Stopped => excuse(
                String::new(),
                Substitution::Missing("the match was given up".to_owned()),
            ),
        })
    }

    /// Reads a reply to PLAY.
    fn read(&self, whole: &str) -> Result<Reply, Excuse> {
        let raw = clipped(whole);
        let why = match kif::first(whole) {
            Err(kif::KifError::Empty) => Substitution::Empty,
            Err(_) => Substitution::Unreadable,
            Ok(first) if kif::is_nil(first) => Substitution::Nil,
            Ok(first) if first.eq_ignore_ascii_case("busy") => Substitution::Busy,
            Ok(first) if !is_single(whole, first) => Substitution::Unreadable,
            Ok(first) => match self.host.spelling.receive(first) {
                Some(mv) => return Ok(Reply { mv, raw }),
                None => Substitution::Unreadable,
            },
        };
        Err(Excuse { raw, why })
    }
}

impl Guest for Remote {
    fn begin(&mut self, stop: &StopFlag) -> Result<(), Excuse> {
        let Clocks { start, play, grace } = self.host.clocks;
        let role = self.host.spelling.send(self.role());
        let message = message::start(&self.host.id, &role, &self.host.rules, start, play);
        let reply = self.say(&message, Duration::from_secs(start) + grace, stop);
        let (id, role, peer) = (&self.host.id, self.role(), &self.peer);
        match reply {
            Ok(reply) if reply.eq_ignore_ascii_case("busy") => {
                warn!(id, role, %peer, "{role} is busy");
                Err(Excuse {
                    raw: reply,
                    why: Substitution::Busy,
                })
            }
            Ok(reply) => {
                info!(id, role, %peer, "{role} begins: {}", printable(&clipped(&reply)));
                Ok(())
            }
            Err(excuse) => {
                warn!(id, role, %peer, code = excuse.why.code(), "{role} does not begin: {}", excuse.why);
                Err(excuse)
            }
        }
    }

    fn choose(&mut self, told: &[Told], stop: &StopFlag) -> Result<Reply, Excuse> {
        let clocks = self.host.clocks;
        let message = self.host.news("PLAY", told);
        let reply = self.say(&message, Duration::from_secs(clocks.play) + clocks.grace, stop);
        let reply = reply.and_then(|raw| self.read(&raw));
        let (id, role, turn) = (&self.host.id, self.role(), told.len());
        match &reply {
            Ok(reply) => info!(id, role, turn, "{role} answers {}", printable(&reply.raw)),
            Err(excuse) => warn!(
                id,
                role,
                turn,
                code = excuse.why.code(),
                "{role} has no move: {} {}",
                printable(&excuse.why.to_string()),
                printable(&excuse.raw)
            ),
        }
        reply
    }

    fn end(&mut self, told: &[Told], over: bool) {
        let (message, patience) = match over {
            true => (
                self.host.news("STOP", told),
                Duration::from_secs(self.host.clocks.play.max(1)),
            ),
            false => (message::abort(&self.host.id), Duration::from_secs(1)),
        };
        let said = self.say(&message, patience, &StopFlag::default());
        let (id, role, how) = (&self.host.id, self.role(), if over { "STOP" } else { "ABORT" });
        match said {
            Ok(reply) => debug!(id, role, "{role} answers {} to {how}", printable(&clipped(&reply))),
            Err(excuse) => debug!(id, role, "{role} does not answer to {how}: {}", excuse.why),
        }
    }
}

/// Whether a reply has a single expression. Jocular appends an explanation and a taunt, which do not count.
fn is_single(whole: &str, first: &str) -> bool {
    let end = first.as_ptr() as usize - whole.as_ptr() as usize + first.len();
    let rest = whole[end..].trim_start().to_ascii_lowercase();
    let rest = rest.strip_prefix('(').map(str::trim_start);
    match rest {
        None => whole[end..].trim().is_empty(),
        Some(rest) => rest.starts_with("explanation") || rest.starts_with("taunt"),
    }
}

/// The part of a reply that is kept.
fn clipped(reply: &str) -> String {
    match reply.char_indices().nth(2_000) {
        Some((end, _)) => reply[..end].to_owned(),
        None => reply.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str, variant: Variant) -> Result<Host, Error> {
        let mut rules = gdl::read(text, &gdl::Options::default()).rules;
        rules.announce_moves();
        Host::new("m1", &rules, &["a".to_owned()], variant, Clocks::default(), None)
    }

    #[test]
    fn a_move_is_one_expression() {
        let single = |whole: &str| is_single(whole, kif::first(whole).expect("an expression"));
        assert!(single("noop") && single(" (mark 1 1)\r\n"));
        assert!(single("noop (explanation \"so) there\") (taunt \"ha\")") && single("(m 1) ( TAUNT x)"));
        assert!(!single("noop noop") && !single("(mark 1 1) (mark 2 2)") && !single("noop )"));
    }

    const OPEN: &str = "(role a) (<= (legal ?r m) (role ?r))";

    #[test]
    fn moves_are_announced_once_and_only_where_nothing_is_hidden() {
        let sent = |text: &str, variant| host(text, variant).expect("hosted").rules.to_string();
        assert_eq!(sent(OPEN, Variant::Gdl1), OPEN);
        let announced = format!("{OPEN} {ANNOUNCEMENT}");
        assert_eq!(sent(OPEN, Variant::Gdl2b), announced);
        // Rules that announce moves themselves hide nothing, and need no second announcement.
        assert_eq!(sent(&announced, Variant::Gdl1), announced);
        assert_eq!(sent(&announced, Variant::Gdl2b), announced);
        let hidden = format!("{OPEN} (<= (sees a yes) (does a m))");
        assert_eq!(sent(&hidden, Variant::Gdl2a), hidden);
        assert!(matches!(host(&hidden, Variant::Gdl1), Err(Error::HiddenInformation)));
    }
}
