//! Players on loopback, and peers that misbehave.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use surmise::game::{Seed, StopFlag};
use surmise::ggp::http::{self, Peer, RequestLimits};
use surmise::ggp::{Clocks, Server, ServerHandle, ServerOptions, Variant};
use surmise::hosting::MatchHost;
use surmise::referee::{Outcome, System, replay};
use surmise::{Game, PlayerSpec, WirePlayers};

/// A player of ours that listens until it is dropped.
pub struct Player {
    pub address: SocketAddr,
    pub handle: ServerHandle,
}

impl Drop for Player {
    fn drop(&mut self) {
        self.handle.stop();
    }
}

pub fn player(with: &str) -> Player {
    player_with(with, |_| {})
}

pub fn player_with(with: &str, change: impl FnOnce(&mut ServerOptions)) -> Player {
    let mut options = ServerOptions {
        bind: ([127, 0, 0, 1], 0).into(),
        ..ServerOptions::default()
    };
    change(&mut options);
    let players = WirePlayers::new(Some(PlayerSpec::parse(with).unwrap()), Seed(1)).unwrap();
    let server = Server::bind(options, Arc::new(players)).unwrap();
    let (address, handle) = (server.address(), server.handle());
    std::thread::spawn(|| server.serve());
    Player { address, handle }
}

impl Player {
    pub fn peer(&self) -> Peer {
        Peer::parse(&self.address.to_string()).unwrap()
    }

    /// Says something as our manager does.
    pub fn say(&self, message: &str) -> String {
        let reply = http::exchange(&self.peer(), message, Duration::from_secs(20), &StopFlag::default());
        reply.unwrap_or_else(|none| panic!("{none:?} to {message}"))
    }

    #[track_caller]
    pub fn expect(&self, message: &str, reply: &str) {
        assert_eq!(self.say(message), reply, "to {message}");
    }

    /// Asks for a move, which has to be one of these, letter by letter.
    #[track_caller]
    pub fn moves(&self, message: &str, legal: &[&str]) -> String {
        let reply = self.say(message);
        assert!(legal.contains(&reply.as_str()), "`{reply}` to {message}");
        reply
    }

    /// Sends bytes in pieces with pauses between them, and reads to the end of the stream.
    pub fn raw(&self, pieces: &[&[u8]], pause: Duration, half_close: bool) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        for piece in pieces {
            // A peer that has heard enough may hang up.
            if stream.write_all(piece).is_err() {
                break;
            }
            std::thread::sleep(pause);
        }
        if half_close {
            let _ = stream.shutdown(Shutdown::Write);
        }
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The body of the reply to some bytes.
    pub fn body(&self, request: &[u8]) -> String {
        body(&self.raw(&[request], Duration::ZERO, false)).to_owned()
    }
}

pub fn body(reply: &str) -> &str {
    reply.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

pub fn post(body: &str) -> Vec<u8> {
    format!("POST / HTTP/1.0\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// A peer that does what it is told with every connection.
pub struct Fake {
    pub peer: Peer,
    /// Messages in the order in which they came, with the time.
    pub heard: Arc<Mutex<Vec<(Instant, String)>>>,
}

impl Fake {
    /// Answers each message; nothing is no answer and no end of the connection for a while.
    pub fn answering(answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Fake {
        Fake::new(move |message, stream| match answer(message) {
            Some(text) => {
                let reply = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len());
                let _ = stream.write_all(reply.as_bytes());
            }
            None => std::thread::sleep(Duration::from_secs(5)),
        })
    }

    /// Does anything with the connection once a message has come.
    pub fn new(act: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = Peer::parse(&listener.local_addr().unwrap().to_string()).unwrap();
        let heard: Arc<Mutex<Vec<(Instant, String)>>> = Arc::default();
        let (act, notes) = (Arc::new(act), heard.clone());
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (act, notes) = (act.clone(), notes.clone());
                std::thread::spawn(move || {
                    let Ok(request) = http::read_request(&stream, &RequestLimits::default()) else {
                        return;
                    };
                    let message = String::from_utf8(request.body).unwrap();
                    notes.lock().unwrap().push((Instant::now(), message.clone()));
                    act(&message, &mut stream);
                });
            }
        });
        Fake { peer, heard }
    }

    pub fn messages(&self) -> Vec<String> {
        self.heard.lock().unwrap().iter().map(|(_, m)| m.clone()).collect()
    }

    pub fn name(&self) -> String {
        format!("remote:{}", self.peer)
    }
}

/// What a well-behaved peer answers that always makes the same move.
pub fn polite(message: &str, mv: &str) -> Option<String> {
    let word = message
        .trim_start_matches(['(', ' '])
        .split(' ')
        .next()
        .unwrap_or_default();
    Some(match word {
        "START" => "ready".to_owned(),
        "STOP" => "done".to_owned(),
        "ABORT" => "aborted".to_owned(),
        "INFO)" => "available".to_owned(),
        _ => mv.to_owned(),
    })
}

/// A game of the catalogue, or rules.
pub fn open(game: &str) -> Game {
    let text = surmise::catalogue::rules(game).unwrap_or_else(|_| game.to_owned());
    Game::from_rules("test", &text).unwrap()
}

pub fn table<'a>(game: &'a Game, players: &[&str], variant: Variant) -> MatchHost<'a> {
    MatchHost {
        game,
        players: players.iter().map(|p| PlayerSpec::parse(p).unwrap()).collect(),
        variant,
        clocks: Clocks {
            start: 3,
            play: 3,
            grace: Duration::from_secs(1),
        },
        scramble: false,
        record: None,
        max_rounds: 100,
        pause: Duration::ZERO,
        stop: StopFlag::default(),
        network: Arc::new(System),
    }
}

pub fn outcome(table: &MatchHost<'_>, seed: u64) -> (String, Outcome) {
    let played = table.play(Seed(seed)).unwrap();
    replay(&played.outcome.record, table.game.simulator().as_mut()).unwrap();
    (played.id, played.outcome)
}

pub fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("surmise-wire-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// A peer that never finds a legal move, so that the referee moves for it.
pub fn helpless() -> Fake {
    Fake::answering(|message| polite(message, "(no such move)"))
}

pub fn pause(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

pub fn manage(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_surmise"));
    command
        .arg("manage")
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub fn only_record(folder: &Path) -> (String, PathBuf) {
    let files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    let records: Vec<&PathBuf> = files
        .iter()
        .filter(|f| f.extension().is_some_and(|e| e == "json"))
        .collect();
    assert_eq!(records.len(), 1, "{files:?}");
    (std::fs::read_to_string(records[0]).unwrap(), records[0].clone())
}
