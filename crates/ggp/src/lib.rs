//! The GGP protocol over HTTP, both sides, for GDL-I and GDL-II.
//!
//! [`Server`] is a player that a manager elsewhere can call; who plays is passed in as a [`Bench`]. [`Remote`] is a player elsewhere,
//! as a [`referee::Guest`] at our table. [`compliance`] tries somebody else's player.
//!
//! Everything here is synchronous: a thread for each connection, of which there are few and for a short time, and two for each match
//! that is being played. Heads of HTTP messages are parsed by `httparse`; bodies are framed here ([`http`]), because peers send what
//! HTTP does not allow, such as bodies without a length, or with a wrong one.
//!
//! Reading order: [`kif`] (expressions), [`message`] (what they mean), [`http`] (how they travel), [`session`] (one match as its player
//! sees it), [`Server`], [`Remote`].

pub mod compliance;
mod error;
mod factory;
pub mod http;
pub mod kif;
pub mod message;
mod remote;
mod server;
pub mod session;
pub mod spelling;
pub mod xmltrace;

pub use error::Error;
pub use factory::{MatchPlayer, PlayerFactory};
pub use message::Variant;
pub use remote::{Clocks, Host, Remote};
pub use server::{Server, ServerHandle, ServerOptions};

/// An error of a [`PlayerFactory`], which this crate only passes on.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
