//! The GGP protocol over HTTP, both sides, for GDL-I and GDL-II.
//!
//! [`Server`] is a player that managers can call; its players come from a [`PlayerFactory`]. [`Remote`] is a remote
//! player as a [`referee::Guest`], for matches of our own referee. [`compliance`] tests other people's players.
//! [`xmltrace`] reads and writes traces of games in the format of Dresden's GameController, [`xmlmatch`] reads its
//! matches.
//!
//! Most programs should use the crate `surmise`, whose players speak the protocol already, or its commands `surmise
//! player` and `surmise manage`. Come here to put players of your own behind the protocol, or to talk to remote players
//! from a program of your own:
//!
//! ```
//! use game::{Budget, Decision, Fault, Meter, Player, RoleId, Seed, Simulator, StopFlag, Told};
//! use referee::{Match, Seat, Seating};
//! use std::sync::Arc;
//! use surmise_ggp::http::Peer;
//! use surmise_ggp::{BoxError, Clocks, Host, MatchPlayer, PlayerFactory, Server, ServerOptions, Variant};
//!
//! /// Shows heads, as a player of the protocol and as a player of the referee.
//! struct Heads;
//! impl MatchPlayer for Heads {
//!     fn prepare(&mut self, _: &Budget) -> Option<String> {
//!         None
//!     }
//!     fn choose(&mut self, _: &[Told], _: &Budget) -> Result<Decision, Fault> {
//!         Ok(Decision::plain("(show heads)"))
//!     }
//! }
//! impl Player for Heads {
//!     fn choose(&mut self, _: &[Told], _: &Budget) -> Result<Decision, Fault> {
//!         Ok(Decision::plain("(show heads)"))
//!     }
//!     fn meter(&self) -> Meter {
//!         Meter::default()
//!     }
//! }
//!
//! struct HeadsFactory;
//! impl PlayerFactory for HeadsFactory {
//!     fn player(&self, _: &str, _: &gdl::Rules, _: RoleId, _: &StopFlag) -> Result<Box<dyn MatchPlayer>, BoxError> {
//!         Ok(Box::new(Heads))
//!     }
//!     fn fallback(&self, _: &str, _: &gdl::Rules, _: RoleId, _: &StopFlag) -> Result<Box<dyn MatchPlayer>, BoxError> {
//!         Ok(Box::new(Heads))
//!     }
//!     fn simulator(&self, rules: &gdl::Rules, _: &StopFlag) -> Result<Box<dyn Simulator>, BoxError> {
//!         Ok(Box::new(ground::Reference::new(rules)?))
//!     }
//! }
//!
//! // A player that listens on a free port.
//! let options = ServerOptions { bind: ([127, 0, 0, 1], 0).into(), ..ServerOptions::default() };
//! let server = Server::bind(options, Arc::new(HeadsFactory))?;
//! let (address, handle) = (server.address(), server.handle());
//! std::thread::spawn(|| server.serve());
//!
//! // A match of this remote player, in the first seat, and a local one.
//! let mut rules = gdl::read(&catalogue::rules("matching-pennies")?, &gdl::Options::default()).rules;
//! rules.announce_moves();
//! let mut sim = ground::Reference::new(&rules)?;
//! let host = Host::new("m1", &rules, sim.roles(), Variant::Gdl2b, Clocks::default(), None)?;
//! let peer = Peer::parse(&address.to_string()).expect("an address");
//! let seating = Seating::new(&sim);
//! let seats = seating.seats(0, Seed(1), |player, role, _| -> Result<Seat, Fault> {
//!     Ok(match player {
//!         0 => Seat::Guest(Box::new(host.guest(peer.clone(), role.0.into()))),
//!         _ => Seat::Player(Box::new(Heads)),
//!     })
//! })?;
//! let names = seating.names(&["remote", "local"], 0);
//! let outcome = Match::new(&mut sim, seats, names, Seed(1)).play()?;
//! assert_eq!(outcome.record.goals, [100, 0]);
//! handle.stop();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything here is synchronous: a thread for each connection, of which there are few and for a short time, and two
//! threads for each match. Heads of HTTP messages are parsed by `httparse`. Bodies are framed in [`http`], because
//! peers send bodies that HTTP does not allow, such as bodies without a length or with a wrong one.
//!
//! Where to read next: [`kif`] (expressions), [`message`] (messages), [`http`] (how they travel), [`session`] (one
//! match as its player sees it), [`Server`], [`Remote`]. The guide for users is `docs/protocol.md`.

mod channel;
pub mod compliance;
mod error;
mod factory;
pub mod http;
pub mod kif;
pub mod message;
pub mod net;
mod places;
pub mod presence;
mod remote;
mod server;
pub mod session;
pub mod spelling;
pub mod xmlmatch;
pub mod xmltrace;

pub use error::Error;
pub use factory::{MatchPlayer, PlayedEnd, PlayedMatch, PlayerFactory};
pub use message::Variant;
pub use remote::{Clocks, Host, Remote};
pub use server::{Server, ServerHandle, ServerOptions};

/// An error of a [`PlayerFactory`], which this crate only passes on.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
