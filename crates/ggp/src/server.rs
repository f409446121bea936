//! A player that managers can call.
//!
//! A thread accepts connections and starts a thread for each, so that an INFO is answered while a player is thinking.
//! The state of a match is in its [`Session`]. The server knows which matches there are.

use crate::error::Error;
use crate::factory::PlayerFactory;
use crate::http::{self, Refusal, Request, RequestLimits};
use crate::message::{self, Message, News, Variant};
use crate::session::{self, MatchStart, Session};
use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tracing::{debug, info, warn};

/// Options of a server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Address to listen on.
    pub bind: SocketAddr,
    /// Name of the player, one word.
    pub name: String,
    /// Most matches at the same time.
    pub max_matches: usize,
    /// Time after the clocks of a match have run out, after which a silent match may be dropped for another one.
    pub forget: Duration,
    /// Most connections at the same time.
    pub max_connections: usize,
    /// Limits of a request.
    pub limits: RequestLimits,
    /// Variant of the protocol; none to find it out from the messages.
    pub variant: Option<Variant>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        ServerOptions {
            bind: SocketAddr::from(([127, 0, 0, 1], 9147)),
            name: "Surmise".to_owned(),
            max_matches: 1,
            forget: Duration::from_secs(30),
            max_connections: 256,
            limits: RequestLimits::default(),
            variant: None,
        }
    }
}

/// A player that listens for managers.
pub struct Server {
    listener: TcpListener,
    shared: Arc<ServerState>,
}

/// Stops a [`Server`] from another thread.
#[derive(Clone)]
pub struct ServerHandle {
    shared: Arc<ServerState>,
    address: SocketAddr,
}

impl ServerHandle {
    /// Stops the server: it accepts no connections any more, and its matches are dropped.
    pub fn stop(&self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes the server up.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
        self.shared.lock().clear();
    }

    /// Number of matches that are being played.
    pub fn matches(&self) -> usize {
        self.shared.lock().len()
    }
}

struct ServerState {
    options: ServerOptions,
    factory: Arc<dyn PlayerFactory>,
    matches: Mutex<HashMap<String, MatchEntry>>,
    connections: AtomicUsize,
    stopped: AtomicBool,
}

/// A match, or a match whose rules are still being read.
#[derive(Clone)]
enum MatchEntry {
    Opening { since: Instant, play_clock: u64 },
    Open(Arc<Session>),
}

impl Server {
    /// Listens on the address.
    ///
    /// # Errors
    /// If the address cannot be used.
    pub fn bind(options: ServerOptions, factory: Arc<dyn PlayerFactory>) -> io::Result<Server> {
        let listener = TcpListener::bind(options.bind)?;
        let shared = ServerState {
            options,
            factory,
            matches: Mutex::new(HashMap::new()),
            connections: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        };
        Ok(Server {
            listener,
            shared: Arc::new(shared),
        })
    }

    /// The address that it listens on.
    ///
    /// # Errors
    /// If the system does not know it.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// A handle to stop the server.
    ///
    /// # Errors
    /// If the system does not know the address.
    pub fn handle(&self) -> io::Result<ServerHandle> {
        let mut address = self.address()?;
        if address.ip().is_unspecified() {
            address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        Ok(ServerHandle {
            shared: self.shared.clone(),
            address,
        })
    }

    /// Serves until it is stopped.
    pub fn serve(self) {
        for stream in self.listener.incoming() {
            if self.shared.stopped.load(Ordering::SeqCst) {
                return;
            }
            match stream {
                Ok(stream) => self.take(stream),
                Err(error) => {
                    // Most likely there are no file descriptors left; connections that end free some.
                    warn!("cannot take a connection: {error}");
                    std::thread::sleep(Duration::from_millis(50));
                }
            }
        }
    }

    fn take(&self, stream: TcpStream) {
        let shared = self.shared.clone();
        if shared.connections.fetch_add(1, Ordering::SeqCst) >= shared.options.max_connections {
            shared.connections.fetch_sub(1, Ordering::SeqCst);
            warn!("more connections than are allowed; one is turned away");
            let _ = stream.set_nonblocking(true);
            let _ = io::Write::write_all(
                &mut &stream,
                b"HTTP/1.0 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy",
            );
            return;
        }
        let spawned = std::thread::Builder::new()
            .name("connection".to_owned())
            .spawn(move || {
                let served = catch_unwind(AssertUnwindSafe(|| shared.serve_one(&stream)));
                if served.is_err() {
                    warn!("a connection broke down; please report this");
                    let _ = http::reply(&stream, 200, "OK", "text/acl", "what");
                }
                shared.connections.fetch_sub(1, Ordering::SeqCst);
            });
        if let Err(error) = spawned {
            warn!("cannot start a thread: {error}");
            self.shared.connections.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl ServerState {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, MatchEntry>> {
        self.matches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve_one(self: &Arc<Self>, stream: &TcpStream) {
        let _ = stream.set_nodelay(true);
        let sent = match http::read_request(stream, &self.options.limits) {
            Ok(request) => self.answer_http(stream, &request),
            Err(Refusal::Gone) => Ok(()),
            Err(Refusal::Status(status, reason)) => {
                debug!(status, "a request that is none: {reason}");
                http::reply(stream, status, reason, "text/acl", "what")
            }
        };
        if let Err(error) = sent {
            debug!("a reply could not be sent: {error}");
        }
    }

    fn answer_http(self: &Arc<Self>, stream: &TcpStream, request: &Request) -> io::Result<()> {
        let body = match request.method.as_str() {
            "OPTIONS" => return http::reply(stream, 200, "OK", "text/acl", ""),
            "GET" | "HEAD" => match http::decode_target(&request.target) {
                body if body.is_empty() => {
                    return http::reply(stream, 200, "OK", "text/plain; charset=utf-8", &self.status_page());
                }
                body => body,
            },
            "POST" => request.body.clone(),
            _ => return http::reply(stream, 405, "Method Not Allowed", "text/acl", "what"),
        };
        let text = gdl::source::decode(&body).text;
        let reply = match Message::parse(&text) {
            Some(message) => self.answer(&message, request.arrived),
            None if message::is_infix(&text) => {
                warn!(
                    bytes = body.len(),
                    "a message in infix notation, as ggp_python sends them; this player speaks KIF: \
                     (START id role (rules…) 30 10)"
                );
                "what".to_owned()
            }
            None => {
                warn!(
                    bytes = body.len(),
                    "not a message: {:?}",
                    text.chars().take(60).collect::<String>()
                );
                "what".to_owned()
            }
        };
        http::reply(stream, 200, "OK", "text/acl", &reply)
    }

    fn status_page(&self) -> String {
        let matches: Vec<String> = self.lock().keys().cloned().collect();
        let state = match matches.len() {
            0 => "It is free.".to_owned(),
            _ => format!("It plays {}.", matches.join(", ")),
        };
        format!(
            "This is {}, a general game player. {state}\n\nIt speaks the GGP protocol: send messages such as (INFO) by \
             POST, or as a path, as in GET /(INFO).\n",
            self.options.name
        )
    }

    fn answer(self: &Arc<Self>, message: &Message<'_>, arrived: Instant) -> String {
        match message {
            Message::Info => format!(
                "((name {}) (status {}) (species alien))",
                self.options.name,
                if self.is_full() { "busy" } else { "available" }
            ),
            Message::Ping | Message::Preview { .. } if self.is_full() => "busy".to_owned(),
            Message::Ping | Message::Preview { .. } => "ready".to_owned(),
            Message::Start { .. } => self.start(message, arrived),
            Message::Play { id, news } => match self.find(id, arrived) {
                Found::Open(session) => session.play(news, arrived),
                Found::StillOpening => "nil".to_owned(),
                Found::Unknown => unknown(message, id),
            },
            Message::Stop { id, news } => self.stop(message, id, Some(news)),
            Message::Abort { id } => self.stop(message, id, None),
        }
    }

    fn is_full(&self) -> bool {
        self.lock().len() >= self.options.max_matches
    }

    /// The match of this name. Waits for its rules to be read, at most for the time of a move.
    fn find(&self, id: &str, arrived: Instant) -> Found {
        loop {
            match self.lock().get(id) {
                None => return Found::Unknown,
                Some(MatchEntry::Open(session)) => {
                    session.touch();
                    return Found::Open(session.clone());
                }
                Some(MatchEntry::Opening { play_clock, .. }) => {
                    if arrived.elapsed() >= session::due(*play_clock).1 {
                        warn!(id, "is asked for a move while its rules are read");
                        return Found::StillOpening;
                    }
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn start(self: &Arc<Self>, message: &Message<'_>, arrived: Instant) -> String {
        let Message::Start {
            id,
            role,
            rules,
            start_clock,
            play_clock,
        } = *message
        else {
            return "what".to_owned();
        };
        let start = MatchStart {
            id: id.to_owned(),
            role: role.to_owned(),
            rules: rules.to_owned(),
            start_clock,
            play_clock,
            variant: self.options.variant,
        };
        match self.admit(&start) {
            Admission::Kept => {}
            Admission::Again => return "ready".to_owned(),
            Admission::Full => {
                info!(id, "refused: there are as many matches as are allowed");
                return "busy".to_owned();
            }
        }
        info!(id, role, start_clock, play_clock, bytes = rules.len(), "starts");
        // Reading the rules may take longer than the start clock, so the answer does not wait for it.
        let (sender, opened) = std::sync::mpsc::channel();
        let shared = self.clone();
        let open = move || {
            let _ = sender.send(shared.open(start));
        };
        if let Err(error) = std::thread::Builder::new().name("open".to_owned()).spawn(open) {
            warn!("cannot start a thread: {error}");
            self.lock().remove(id);
            return "busy".to_owned();
        }
        let (_, answer) = session::due(start_clock);
        match opened.recv_timeout(answer.saturating_sub(arrived.elapsed())) {
            Ok(Some(session)) => {
                session.prepare(arrived);
                session.touch();
                "ready".to_owned()
            }
            Ok(None) => "busy".to_owned(),
            Err(_) => {
                warn!(id, "reading the rules takes longer than the start clock");
                "ready".to_owned()
            }
        }
    }

    /// Reads the rules of a match that was admitted.
    fn open(&self, start: MatchStart) -> Option<Arc<Session>> {
        let id = start.id.clone();
        let opened = catch_unwind(AssertUnwindSafe(|| Session::open(start, self.factory.clone())));
        let opened = opened.unwrap_or_else(|_| Err(Error::Panicked));
        let mut matches = self.lock();
        match opened {
            // A match without an entry was aborted meanwhile.
            Ok(session) if matches.contains_key(&id) => {
                let session = Arc::new(session);
                matches.insert(id, MatchEntry::Open(session.clone()));
                Some(session)
            }
            Ok(_) => None,
            Err(why) => {
                warn!(id, "refused: {why}");
                matches.remove(&id);
                None
            }
        }
    }

    /// Admits a match, if there is room for it.
    fn admit(&self, start: &MatchStart) -> Admission {
        let mut matches = self.lock();
        if let Some(MatchEntry::Open(session)) = matches.get(&start.id) {
            let b = &session.start;
            let same = (&b.role, &b.rules, b.start_clock, b.play_clock)
                == (&start.role, &start.rules, start.start_clock, start.play_clock);
            return match same && !session.is_playing() {
                true => Admission::Again,
                false => Admission::Full,
            };
        }
        if matches.contains_key(&start.id) {
            return Admission::Full;
        }
        if matches.len() >= self.options.max_matches {
            let stale = |entry: &MatchEntry| match entry {
                MatchEntry::Open(session) => session.is_stale(self.options.forget),
                MatchEntry::Opening { since, .. } => since.elapsed() > Duration::from_secs(600),
            };
            let forgotten = matches.iter().find(|(_, entry)| stale(entry)).map(|(id, _)| id.clone());
            let Some(forgotten) = forgotten else {
                return Admission::Full;
            };
            warn!(id = forgotten, "dropped: its manager has been silent for long");
            matches.remove(&forgotten);
        }
        let opening = MatchEntry::Opening {
            since: Instant::now(),
            play_clock: start.play_clock,
        };
        matches.insert(start.id.clone(), opening);
        Admission::Kept
    }

    fn stop(&self, message: &Message<'_>, id: &str, news: Option<&News<'_>>) -> String {
        let removed = self.lock().remove(id);
        match (removed, news) {
            (None, _) => return unknown(message, id),
            (Some(MatchEntry::Open(session)), Some(news)) => session.stop(news),
            (Some(MatchEntry::Open(session)), None) => {
                session.cancel();
                info!(id, "is given up by its manager");
            }
            (Some(MatchEntry::Opening { .. }), _) => info!(id, "is given up while its rules are read"),
        }
        match news {
            Some(_) => "done".to_owned(),
            None => "aborted".to_owned(),
        }
    }
}

enum Found {
    Open(Arc<Session>),
    StillOpening,
    Unknown,
}

enum Admission {
    Kept,
    Again,
    Full,
}

fn unknown(message: &Message<'_>, id: &str) -> String {
    warn!(id, "{} of a match that is not played here", message.word());
    "busy".to_owned()
}
