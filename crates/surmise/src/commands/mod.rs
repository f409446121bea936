//! One file a command: its options, and what it does with them.

pub mod belief;
pub mod bench;
pub mod check;
pub mod compliance;
pub mod explain;
pub mod fmt;
pub mod games;
pub mod lab;
pub mod manage;
pub mod play;
pub mod player;
pub mod replay;
pub mod show;
pub mod solve;
pub mod trace;
pub mod train;
