//! The table in the browser: play any game, watch players, see what each seat can know, look at results.
//!
//! [`Server`] serves pages and a JSON API (docs/table.md). [`table::Table`] is the engine of one table, without HTTP
//! and threads; [`tables::Tables`] keeps all tables, lets players think on worker threads and writes tables to disk.
//!
//! ```no_run
//! use surmise_web::{ServeOptions, Server};
//! use surmise::game::StopFlag;
//!
//! let server = Server::bind(ServeOptions::default())?;
//! println!("http://{}", server.address()?);
//! server.serve(&StopFlag::default());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! What a seat is shown is computed from what its role was told: see `table::mind`.

// The helpers of the tests name the crate as its users do.
#[cfg(test)]
extern crate self as surmise_web;

mod api;
mod app;
pub mod assets;
mod error;
pub mod games;
mod jobs;
mod lab;
#[cfg(test)]
mod leaks;
mod options;
mod picture_json;
pub mod place;
pub mod pool;
mod requests;
#[cfg(test)]
mod secrets;
mod server;
mod store;
pub mod table;
pub mod tables;
pub mod token;

pub use error::ApiError;
pub use options::{Limits, PORT, ServeOptions};
pub use picture_json::PictureJson;
pub use requests::NewTable;
pub use server::Server;
