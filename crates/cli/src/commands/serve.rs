//! `surmise serve`: the table in the browser.

use crate::{interrupt, log, output};
use anyhow::{Context, Result};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;
use surmise_web::{Limits, ServeOptions, Server};

/// Play, watch and look at beliefs in the browser
///
/// Starts a server for this machine and prints its address. There you play any game of the catalogue, or rules that you
/// paste, against players or against people to whom you send a link; watch players; see what each seat can know; look
/// at experiments, solve small games and train players. Ctrl-C ends it; tables are kept and go on after a restart.
///
/// Whoever can open the address can open tables and let players think. Other machines are let in by --bind 0.0.0.0,
/// by name with --allow-host NAME: do that only in a network that you trust, or behind a proxy with TLS and passwords.
#[derive(clap::Args)]
pub struct Args {
    /// Port to listen on; 0 for any that is free
    #[arg(long, default_value_t = surmise_web::PORT, value_name = "PORT")]
    port: u16,
    /// Address to listen on; 0.0.0.0 lets other machines in
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    bind: IpAddr,
    /// Open the first page in the browser
    #[arg(long)]
    open: bool,
    /// Folder where tables are kept, `none` for memory only; the default is surmise in $XDG_STATE_HOME or
    /// ~/.local/state
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Folder of experiments to show, as `surmise lab run` writes them; the default is lab-results, if it is there
    #[arg(long, value_name = "DIR")]
    lab: Option<PathBuf>,
    /// Folder whose strategies (`surmise solve --out`) and networks (`surmise train --out`) may play, as strategy:NAME
    /// and cfr:net=NAME; may be given several times
    #[arg(long, value_name = "DIR")]
    strategies: Vec<PathBuf>,
    /// Let tables seat players elsewhere, as remote:HOST:PORT
    #[arg(long)]
    allow_remote: bool,
    /// Let tables seat this program, as exec:PROGRAM ARGS; may be given several times
    #[arg(long, value_name = "PROGRAM ARGS")]
    program: Vec<String>,
    /// Name of this machine by which browsers call it, as in http://NAME:9148; addresses and localhost always work
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Tables in memory at a time; those that nobody looks at wait on disk
    #[arg(long, default_value_t = Limits::default().tables, value_name = "N")]
    max_tables: usize,
    /// Connections at a time
    #[arg(long, default_value_t = Limits::default().connections, value_name = "N")]
    max_connections: usize,
    /// Seconds that a player may think about a move
    #[arg(long, default_value_t = Limits::default().think_time.as_secs(), value_name = "S",
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    think_time: u64,
    /// Threads on which players think
    #[arg(long, default_value_t = Limits::default().think_threads, value_name = "N")]
    threads: usize,
    /// Minutes after which a table that nobody looks at leaves the memory
    #[arg(long, default_value_t = Limits::default().idle.as_secs() / 60, value_name = "MIN")]
    idle: u64,
    /// Folder of pages, in place of those in the program: to edit them
    #[arg(long, value_name = "DIR")]
    assets: Option<PathBuf>,
    #[command(flatten)]
    log: log::LogArgs,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    log::start(&args.log);
    let bind = SocketAddr::new(args.bind, args.port);
    let server = Server::bind(options(args, bind)).with_context(|| {
        format!("cannot serve on {bind}; is another `surmise serve` running? --port 0 takes any free port")
    })?;
    let address = server.address()?;
    let url = format!("http://{address}/");
    output::print(&format!("Surmise serves at {url}\n"));
    if args.open {
        open_browser(&url);
    }
    server.serve(&interrupt::flag());
    Ok(ExitCode::SUCCESS)
}

fn options(args: &Args, bind: SocketAddr) -> ServeOptions {
    let usual = PathBuf::from("lab-results");
    ServeOptions {
        bind,
        data: match &args.data {
            Some(none) if none.as_os_str() == "none" => None,
            Some(folder) => Some(folder.clone()),
            None => state_folder(),
        },
        lab: args.lab.clone().or_else(|| usual.is_dir().then_some(usual)),
        assets: args.assets.clone(),
        strategies: args.strategies.clone(),
        allow_remote: args.allow_remote,
        programs: args.program.clone(),
        allow_hosts: args.allow_host.clone(),
        limits: Limits {
            tables: args.max_tables.max(1),
            connections: args.max_connections.max(1),
            think_time: Duration::from_secs(args.think_time),
            think_threads: args.threads.max(1),
            idle: Duration::from_secs(60 * args.idle.max(1)),
            ..Limits::default()
        },
    }
}

/// Where programs of this user keep their state.
fn state_folder() -> Option<PathBuf> {
    let set = |name| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let state = set("XDG_STATE_HOME").filter(|path| path.is_absolute());
    let local = || set("LOCALAPPDATA").or_else(|| set("HOME").map(|home| home.join(".local").join("state")));
    state.or_else(local).map(|folder| folder.join("surmise"))
}

/// Asks the system to show a page; if there is no browser, the address is on the terminal.
fn open_browser(url: &str) {
    let (program, args): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/c", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let quiet = || Stdio::null();
    let started = Command::new(program)
        .args(args)
        .arg(url)
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet())
        .spawn();
    if started.is_err() {
        output::note("no browser could be started; open the address yourself");
    }
}
