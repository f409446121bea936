//! A player that managers can call.
//!
//! A thread accepts connections and starts a thread for each, so that an INFO is answered while a player is thinking.
//! The state of a match is in its [`Session`]. The server knows which matches there are.

use crate::error::Error;
use crate::factory::PlayerFactory;
use crate::http::{self, HttpReply, Refusal, Request, RequestLimits, printable};
use crate::message::{self, Message, News, Variant};
use crate::presence::{Caller, Presence};
use crate::session::{self, MatchStart, Session, Work};
use game::StopFlag;
use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
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
    /// Time after the clock of a match has run out, after which a silent match makes room for another one.
    pub forget: Duration,
    /// Most connections at the same time.
    pub max_connections: usize,
    /// Limits of a request.
    pub limits: RequestLimits,
    /// Names by which managers may call this machine, besides its addresses and `localhost`.
    pub allow_hosts: Vec<String>,
    /// Origins of web pages that may call; `*` for all.
    pub allow_origins: Vec<String>,
    /// Time at the end of each clock without thinking.
    pub margin: Duration,
    /// Variant of the protocol; none to find it out from the messages.
    pub variant: Option<Variant>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        ServerOptions {
            bind: SocketAddr::from(([127, 0, 0, 1], 9147)),
            name: "Surmise".to_owned(),
            max_matches: 1,
            forget: Duration::from_secs(5),
            max_connections: 256,
            limits: RequestLimits::default(),
            allow_hosts: Vec::new(),
            allow_origins: Vec::new(),
            margin: session::MARGIN,
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
        self.shared.lock().drain().for_each(|(_, entry)| entry.dismiss());
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
    /// The matches that compute, those included that were given up and have not ended yet.
    places: Mutex<Vec<Weak<()>>>,
    connections: AtomicUsize,
    stopped: AtomicBool,
}

/// Longest clock in seconds; longer ones are cut to this. A match must not hold its place for ever.
const MAX_CLOCK: u64 = 3_600;

/// Longest time that a START waits for a sign of life of the match whose place it wants.
const LISTENING: Duration = Duration::from_secs(10);

/// Shortest silence that is taken for the absence of a manager whose next message is not overdue.
const SILENCE: Duration = Duration::from_secs(1);

/// Longest time that a match waits for matches that were given up to end their work.
const WINDING_DOWN: Duration = Duration::from_secs(10);

/// A match.
#[derive(Clone)]
struct MatchEntry {
    start: Arc<MatchStart>,
    presence: Arc<Presence>,
    stop: StopFlag,
    /// The match once its rules have been read.
    session: Option<Arc<Session>>,
}

impl MatchEntry {
    /// Ends all work on the match.
    fn dismiss(self) {
        self.stop.raise();
    }
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
            places: Mutex::new(Vec::new()),
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
                    let _ = http::reply(&stream, plain((200, "OK"), "what"));
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
                http::reply(stream, plain((status, reason), "what"))
            }
        };
        if let Err(error) = sent {
            debug!("a reply could not be sent: {error}");
        }
    }

    fn answer_http(self: &Arc<Self>, stream: &TcpStream, request: &Request) -> io::Result<()> {
        let Some(origin) = self.origin(request) else {
            let (host, origin) = (request.host.as_deref(), request.origin.as_deref());
            warn!(host, origin, "refused: --allow-host and --allow-origin let it in");
            return http::reply(stream, plain((403, "Forbidden"), "what"));
        };
        let send = |status, kind, body: &str| {
            let origin = origin.as_deref();
            http::reply(
                stream,
                HttpReply {
                    status,
                    kind,
                    body,
                    origin,
                },
            )
        };
        let body = match request.method.as_str() {
            "OPTIONS" => return send((200, "OK"), "text/acl", ""),
            "GET" | "HEAD" => match http::decode_target(&request.target) {
                body if body.is_empty() => {
                    return send((200, "OK"), "text/plain; charset=utf-8", &self.status_page());
                }
                body => body,
            },
            "POST" => request.body.clone(),
            _ => return send((405, "Method Not Allowed"), "text/acl", "what"),
        };
        let text = gdl::source::decode(&body).text;
        let text = message::mend_id(&text);
        let reply = match Message::parse(&text) {
            Some(message) => self.answer(&message, &Caller::new(stream, request.arrived)),
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
        send((200, "OK"), "text/acl", &reply)
    }

    /// Whether a request may be served, and which origin may read the reply. Managers send no Origin, and Host is an
    /// address, or a name that was given; a page in somebody's browser is told apart by either.
    fn origin(&self, request: &Request) -> Option<Option<String>> {
        let allowed = &self.options.allow_origins;
        if allowed.iter().any(|origin| origin == "*") {
            return Some(Some("*".to_owned()));
        }
        if let Some(host) = &request.host {
            let name = host_name(host);
            let known = |h: &String| h.eq_ignore_ascii_case(name);
            let is_address = name.parse::<std::net::IpAddr>().is_ok();
            if !is_address && !name.eq_ignore_ascii_case("localhost") && !self.options.allow_hosts.iter().any(known) {
                return None;
            }
        }
        match &request.origin {
            None => Some(None),
            Some(origin) if allowed.iter().any(|o| o.eq_ignore_ascii_case(origin)) => Some(Some(origin.clone())),
            Some(_) => None,
        }
    }

    fn status_page(&self) -> String {
        let matches: Vec<String> = self.lock().keys().cloned().collect();
        let state = match matches.len() {
            0 => "It is free.".to_owned(),
            _ => format!("It plays {}.", printable(&matches.join(", "))),
        };
        format!(
            "This is {}, a general game player. {state}\n\nIt speaks the GGP protocol: send messages such as (INFO) by \
             POST, or as a path, as in GET /(INFO).\n",
            self.options.name
        )
    }

    fn answer(self: &Arc<Self>, message: &Message<'_>, caller: &Caller<'_>) -> String {
        match message {
            Message::Info => format!(
                "((name {}) (status {}) (species alien))",
                self.options.name,
                if self.is_full() { "busy" } else { "available" }
            ),
            Message::Ping | Message::Preview { .. } if self.is_full() => "busy".to_owned(),
            Message::Ping | Message::Preview { .. } => "ready".to_owned(),
            Message::Start { .. } => self.start(message, caller),
            Message::Play { id, news } => match self.find(id, caller.arrived) {
                Found::Open(session) => session.play(news, caller),
                Found::StillOpening => "nil".to_owned(),
                Found::Unknown => unknown(message, id),
            },
            Message::Stop { id, news } => self.stop(message, id, Some(news)),
            Message::Abort { id } => self.stop(message, id, None),
        }
    }

    /// Whether there is no place, and no match whose manager is late.
    fn is_full(&self) -> bool {
        let matches = self.lock();
        matches.len() >= self.options.max_matches && !matches.values().any(|entry| entry.presence.is_overdue())
    }

    /// The match of this name. Waits for its rules to be read, at most for the time of a move.
    fn find(&self, id: &str, arrived: Instant) -> Found {
        let mut noted = false;
        loop {
            match self.lock().get(id) {
                None => return Found::Unknown,
                Some(entry) => {
                    let clock = entry.start.play_clock;
                    if !std::mem::replace(&mut noted, true) {
                        entry.presence.heard(clock, self.options.forget);
                    }
                    if let Some(session) = &entry.session {
                        return Found::Open(session.clone());
                    }
                    if arrived.elapsed() >= session::due(clock, self.options.margin).1 {
                        warn!(id, "is asked for a move while its rules are read");
                        return Found::StillOpening;
                    }
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn start(self: &Arc<Self>, message: &Message<'_>, caller: &Caller<'_>) -> String {
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
            start_clock: start_clock.min(MAX_CLOCK),
            play_clock: play_clock.min(MAX_CLOCK),
            margin: self.options.margin,
            variant: self.options.variant,
        };
        let entry = match self.admit(start, caller.arrived) {
            Admission::Kept(entry) => entry,
            Admission::Again => return "ready".to_owned(),
            Admission::Full => {
                info!(id, "refused: there are as many matches as are allowed");
                return "busy".to_owned();
            }
        };
        info!(id, role, start_clock, play_clock, bytes = rules.len(), "starts");
        // Reading the rules may take longer than the start clock, so the answer does not wait for it.
        let (sender, opened) = std::sync::mpsc::channel();
        let (shared, opening) = (self.clone(), entry.clone());
        let open = move || {
            let _ = sender.send(shared.open(opening));
        };
        if let Err(error) = std::thread::Builder::new().name("open".to_owned()).spawn(open) {
            warn!("cannot start a thread: {error}");
            self.forget(&entry);
            return "busy".to_owned();
        }
        let (_, answer) = session::due(entry.start.start_clock, entry.start.margin);
        match caller.wait(&entry.presence, &opened, caller.arrived + answer) {
            Ok(Some(session)) => {
                session.prepare(caller);
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
    fn open(&self, entry: MatchEntry) -> Option<Arc<Session>> {
        let id = entry.start.id.clone();
        let work = Work {
            stop: entry.stop.clone(),
            place: self.place(&entry.stop)?,
            presence: entry.presence.clone(),
        };
        let opening = || Session::open(entry.start.clone(), self.factory.clone(), work);
        let opened = catch_unwind(AssertUnwindSafe(opening)).unwrap_or(Err(Error::Panicked));
        match opened {
            Ok(session) => {
                let session = Arc::new(session);
                let mut matches = self.lock();
                // A match without an entry was given up meanwhile.
                let kept = matches.get_mut(&id).filter(|e| Arc::ptr_eq(&e.start, &entry.start))?;
                kept.session = Some(session.clone());
                Some(session)
            }
            Err(why) => {
                warn!(id, "refused: {}", printable(&why.to_string()));
                self.forget(&entry);
                None
            }
        }
    }

    /// A place among the matches that compute, when there is one. None if the match is given up meanwhile.
    fn place(&self, stop: &StopFlag) -> Option<Arc<()>> {
        let since = Instant::now();
        loop {
            if stop.is_raised() {
                return None;
            }
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            places.retain(|place| place.strong_count() > 0);
            let late = since.elapsed() > WINDING_DOWN;
            if places.len() < self.options.max_matches || late {
                if late {
                    warn!("a match that was given up still computes");
                }
                let place = Arc::new(());
                places.push(Arc::downgrade(&place));
                return Some(place);
            }
            drop(places);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Removes a match, unless another one has its name by now.
    fn forget(&self, entry: &MatchEntry) {
        let mut matches = self.lock();
        if matches
            .get(&entry.start.id)
            .is_some_and(|e| Arc::ptr_eq(&e.start, &entry.start))
        {
            matches.remove(&entry.start.id);
        }
        entry.stop.raise();
    }

    /// Admits a match, if there is room for it. If the manager of a running match may be dead, listens for a while
    /// whether it says something.
    fn admit(&self, start: MatchStart, arrived: Instant) -> Admission {
        let start = Arc::new(start);
        let listening = (Duration::from_secs(start.start_clock) / 2).min(LISTENING);
        let mut heard: Option<HashMap<String, u64>> = None;
        loop {
            let mut matches = self.lock();
            if let Some(entry) = matches.get(&start.id) {
                let playing = entry.session.as_ref().is_some_and(|session| session.is_playing());
                if *entry.start == *start && !playing {
                    return Admission::Again;
                }
                warn!(id = start.id, "starts anew: the match of this name is dropped");
                matches.remove(&start.id).into_iter().for_each(MatchEntry::dismiss);
            }
            if matches.len() < self.options.max_matches {
                let entry = MatchEntry {
                    presence: Arc::new(Presence::new(start.start_clock, self.options.forget)),
                    stop: StopFlag::default(),
                    session: None,
                    start,
                };
                matches.insert(entry.start.id.clone(), entry.clone());
                return Admission::Kept(entry);
            }
            let count = |entry: &MatchEntry| entry.presence.messages();
            let heard = heard.get_or_insert_with(|| matches.iter().map(|(id, e)| (id.clone(), count(e))).collect());
            let silent = |(id, entry): &(&String, &MatchEntry)| {
                !entry.presence.is_waiting() && heard.get(*id) == Some(&count(entry))
            };
            let over = arrived.elapsed() >= listening;
            let dead =
                |(_, entry): &(&String, &MatchEntry)| entry.presence.is_overdue() || (over && listening >= SILENCE);
            let mut silent = matches.iter().filter(silent).peekable();
            if silent.peek().is_none() {
                return Admission::Full;
            }
            if let Some(id) = silent.find(dead).map(|(id, _)| id.clone()) {
                warn!(id, "dropped: its manager is silent");
                matches.remove(&id).into_iter().for_each(MatchEntry::dismiss);
                continue;
            }
            drop(matches);
            if over {
                return Admission::Full;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn stop(&self, message: &Message<'_>, id: &str, news: Option<&News<'_>>) -> String {
        let Some(entry) = self.lock().remove(id) else {
            return unknown(message, id);
        };
        match (&entry.session, news) {
            (Some(session), Some(news)) => session.stop(news),
            (Some(_), None) => info!(id, "is given up by its manager"),
            (None, _) => info!(id, "is given up while its rules are read"),
        }
        entry.dismiss();
        match news {
            Some(_) => "done".to_owned(),
            None => "aborted".to_owned(),
        }
    }
}

fn plain<'a>(status: (u16, &'a str), body: &'a str) -> HttpReply<'a> {
    HttpReply {
        status,
        kind: "text/acl",
        body,
        origin: None,
    }
}

/// The name in a Host header, without its port.
fn host_name(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split(']').next().unwrap_or(rest);
    }
    match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') && port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    }
}

enum Found {
    Open(Arc<Session>),
    StillOpening,
    Unknown,
}

enum Admission {
    Kept(MatchEntry),
    Again,
    Full,
}

fn unknown(message: &Message<'_>, id: &str) -> String {
    warn!(id, "{} of a match that is not played here", message.word());
    "busy".to_owned()
}
