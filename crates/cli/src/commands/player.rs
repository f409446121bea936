//! `surmise player`: a player that managers elsewhere can call.

use crate::{cache, interrupt, log, output};
use anyhow::{Context, Result};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use surmise::game::Seed;
use surmise::ggp::http::RequestLimits;
use surmise::ggp::{Server, ServerOptions, Variant};
use surmise::{MatchRecorder, PlayerSpec, WirePlayers};

/// Serve a player to GGP managers
///
/// Plays any GDL-I or GDL-II game that a manager starts, for one role of it, and answers in time: with the player that
/// was asked for, or with a quick one where that fails. The manager's dialect is found out from its messages. Ctrl-C
/// ends it.
///
/// Without --with the player is `auto`, which chooses by what the game is. Players that were given a number stop
/// there; without one they use the clock.
#[derive(clap::Args)]
pub struct Args {
    /// Port to listen on; 0 for any that is free
    #[arg(long, default_value_t = 9147, value_name = "PORT")]
    port: u16,
    /// Address to listen on; 0.0.0.0 lets other machines in
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    bind: IpAddr,
    /// Who plays (as in `surmise match`)
    #[arg(long, value_name = "PLAYER", add = clap_complete::ArgValueCompleter::new(crate::complete::players))]
    with: Option<String>,
    /// Matches at a time
    #[arg(long, default_value_t = 1, value_name = "N")]
    max_matches: usize,
    /// Connections at a time
    #[arg(long, default_value_t = 256, value_name = "N")]
    max_connections: usize,
    /// Bytes of a message
    #[arg(long, default_value_t = RequestLimits::default().body, value_name = "BYTES")]
    max_body: usize,
    /// Seconds that a message may take to arrive
    #[arg(long, default_value_t = RequestLimits::default().time.as_secs(), value_name = "S")]
    max_wait: u64,
    /// Milliseconds at the end of each clock without thinking; more for managers that are slow or far away
    #[arg(long, default_value_t = 300, value_name = "MS", value_parser = clap::value_parser!(u64).range(..=60_000))]
    margin: u64,
    /// Name of this machine by which managers call it, as in http://NAME:9147; addresses and localhost always work
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Origin of web pages that may call, as in https://example.org; `*` lets every page and every host name in
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// The name it gives to INFO: one word
    #[arg(long, default_value = "Surmise", value_name = "NAME")]
    name: String,
    /// What managers speak: gdl2b, gdl2a or gdl1, if it is not to be found out
    #[arg(long, value_name = "DIALECT")]
    protocol: Option<Variant>,
    /// Seed of the players
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Write a record of every match into this folder: what the role was told, its moves and times
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    #[command(flatten)]
    log: log::LogArgs,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    log::start(&args.log);
    let word = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    anyhow::ensure!(
        !args.name.is_empty() && args.name.chars().all(word),
        "a name is one word of letters, digits, `.`, `_` and `-`, not `{}`",
        args.name
    );
    let spec = args.with.as_deref().map(PlayerSpec::parse).transpose()?;
    let mut players = WirePlayers::new(spec, Seed(args.seed))?.cached_in(cache::folder());
    let recorder = match &args.record {
        None => None,
        Some(folder) => {
            let made = MatchRecorder::new(folder, args.with.as_deref().unwrap_or("auto"));
            Some(Arc::new(
                made.with_context(|| format!("cannot write into `{}`", folder.display()))?,
            ))
        }
    };
    if let Some(recorder) = &recorder {
        players = players.recorded_by(recorder.clone());
    }
    let options = ServerOptions {
        bind: SocketAddr::new(args.bind, args.port),
        name: args.name.clone(),
        max_matches: args.max_matches.max(1),
        max_connections: args.max_connections.max(1),
        limits: RequestLimits {
            body: args.max_body.max(1),
            time: Duration::from_secs(args.max_wait.max(1)),
            ..RequestLimits::default()
        },
        allow_hosts: args.allow_host.clone(),
        allow_origins: args.allow_origin.clone(),
        margin: Duration::from_millis(args.margin),
        variant: args.protocol,
        ..ServerOptions::default()
    };
    let server = Server::bind(options, Arc::new(players));
    let server = server.with_context(|| format!("cannot listen on {}:{}", args.bind, args.port))?;
    let handle = server.handle();
    output::print(&format!("{} listens on {}\n", args.name, server.address()));
    let serving = std::thread::spawn(|| server.serve());
    let stop = interrupt::flag();
    while !stop.is_raised() && !serving.is_finished() {
        std::thread::sleep(Duration::from_millis(50));
    }
    handle.stop();
    if let Some(recorder) = recorder {
        recorder.finish();
    }
    Ok(ExitCode::SUCCESS)
}
