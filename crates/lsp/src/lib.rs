//! A language server for game rules in GDL-II: findings while you type, meanings, completion, navigation, renaming,
//! formatting, and explanations of states.
//!
//! [`stdio`] serves an editor over standard input and output; `surmise lsp` calls it. [`serve`] serves any
//! [`lsp_server::Connection`], as tests do:
//!
//! ```
//! use lsp_server::{Connection, Message, Request};
//! use surmise_lsp::{ServeOptions, serve};
//!
//! let (server, client) = Connection::memory();
//! let thread = std::thread::spawn(move || serve(server, &ServeOptions::default()));
//! let params = serde_json::json!({ "capabilities": {} });
//! let ask = |id: i32, method: &str| Request::new(id.into(), method.to_owned(), &params);
//! client.sender.send(ask(1, "initialize").into())?;
//! let Message::Response(answer) = client.receiver.recv()? else { panic!("an answer is expected") };
//! assert_eq!(answer.response_result.unwrap()["serverInfo"]["name"], "surmise");
//! client.sender.send(ask(2, "shutdown").into())?;
//! client.receiver.recv()?;
//! client.sender.send(lsp_server::Notification::new("exit".to_owned(), ()).into())?;
//! assert!(thread.join().unwrap()?.orderly);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to read next: `server.rs` has the loop over messages; `document.rs` and `analysis.rs` keep what a text says;
//! `index.rs` finds the names in it; `features/` answers questions, one file each; `background.rs` runs grounding and
//! random games, whose results are `facts.rs`; `transport.rs` guards against bad and oversized messages.
//!
//! Typing is answered from the text alone: reading takes time linear in its size. What takes longer happens on other
//! threads, with limits, and is dropped when the text changes.

mod analysis;
mod background;
mod document;
mod facts;
mod features;
mod index;
mod keywords;
mod position;
mod server;
mod settings;
mod transport;
mod variables;

pub use server::{Exit, ServeOptions, serve};
pub use transport::{MAX_MESSAGE, MAX_VALUES};

use std::io::{self, BufReader};

/// Serves an editor over standard input and output until it says `exit`, closes the stream, or the flag is raised.
///
/// # Errors
/// If threads cannot be started.
pub fn stdio(options: &ServeOptions) -> io::Result<Exit> {
    streams(BufReader::new(io::stdin()), io::stdout(), options)
}

/// Serves a client over two streams of bytes.
///
/// # Errors
/// If threads cannot be started.
pub fn streams(
    input: impl io::BufRead + Send + 'static,
    output: impl io::Write + Send + 'static,
    options: &ServeOptions,
) -> io::Result<Exit> {
    let (connection, threads) = transport::connect(input, output)?;
    let exit = serve(connection, options)?;
    threads.finish();
    Ok(exit)
}
