//! Options and limits of the server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Options of [`crate::Server`].
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Address to listen on.
    pub bind: SocketAddr,
    /// Folder where tables are kept; none keeps them in memory only.
    pub data: Option<PathBuf>,
    /// Folder of experiments.
    pub lab: Option<PathBuf>,
    /// Folder of pages, in place of the pages in the program.
    pub assets: Option<PathBuf>,
    /// Folders whose strategies and networks may be seated.
    pub strategies: Vec<PathBuf>,
    /// Whether players elsewhere (`remote:HOST:PORT`) may be seated.
    pub allow_remote: bool,
    /// Programs that may be seated, as `exec:PROGRAM ARGS`: whole commands, as requests have to write them.
    pub programs: Vec<String>,
    /// Names by which browsers may call this server, besides addresses and localhost.
    pub allow_hosts: Vec<String>,
    /// Limits.
    pub limits: Limits,
}

/// What requests may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Tables in memory.
    pub tables: usize,
    /// Connections at a time.
    pub connections: usize,
    /// Event streams at a time.
    pub streams: usize,
    /// Bytes of a request's body.
    pub body: usize,
    /// Time in which a request has to arrive.
    pub read_time: Duration,
    /// Threads that compute views and beliefs.
    pub quick_threads: usize,
    /// Threads that open games.
    pub open_threads: usize,
    /// Threads on which players think.
    pub think_threads: usize,
    /// Longest time that a player thinks about a move.
    pub think_time: Duration,
    /// Time after which a table that nobody looks at leaves the memory.
    pub idle: Duration,
    /// Bytes of pasted rules.
    pub rules_bytes: usize,
    /// Time for opening a game.
    pub open_time: Duration,
    /// Instances of rules when a game is grounded.
    pub instances: usize,
    /// Memory for grounding, roughly.
    pub ground_bytes: usize,
    /// Rounds of a match.
    pub rounds: usize,
    /// Solver and training runs at a time.
    pub jobs: usize,
    /// Longest time of a solver or training run.
    pub job_time: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Limits {
            tables: 500,
            connections: 512,
            streams: 256,
            body: 1 << 20,
            read_time: Duration::from_secs(10),
            quick_threads: cores.max(4),
            open_threads: 2,
            think_threads: cores.max(2),
            think_time: Duration::from_secs(10),
            idle: Duration::from_secs(3600),
            rules_bytes: 256 << 10,
            open_time: Duration::from_secs(10),
            instances: 500_000,
            ground_bytes: 256 << 20,
            rounds: surmise::game::limits::MATCH_ROUNDS,
            jobs: 2,
            job_time: Duration::from_secs(600),
        }
    }
}

/// The port of `surmise serve`.
pub const PORT: u16 = 9148;

impl Default for ServeOptions {
    fn default() -> ServeOptions {
        ServeOptions {
            bind: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT),
            data: None,
            lab: None,
            assets: None,
            strategies: Vec::new(),
            allow_remote: false,
            programs: Vec::new(),
            allow_hosts: Vec::new(),
            limits: Limits::default(),
        }
    }
}
