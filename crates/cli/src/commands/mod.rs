//! One file a command: its arguments, and what is printed.

pub mod belief;
pub mod bench;
pub mod check;
pub mod compliance;
pub mod draw;
pub mod explain;
pub mod fmt;
pub mod games;
pub mod lab;
pub mod lsp;
pub mod man;
pub mod manage;
#[path = "match.rs"]
pub mod match_;
pub mod new;
pub mod player;
pub mod players;
pub mod replay;
pub mod serve;
pub mod show;
pub mod solve;
pub mod test;
pub mod trace;
pub mod train;

/// Version of the JSON that commands print; docs/json.md has the schemas. It changes when a field changes its meaning
/// or goes away.
pub const JSON_VERSION: u32 = 1;
