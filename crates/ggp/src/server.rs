//! A player that managers can call.
//!
//! A thread accepts connections and starts a thread for each, so that an INFO is answered while a player is thinking.
//! The state of a match is in its [`Session`](crate::session::Session). The server knows which matches there are
//! (`matches`).

mod matches;

use crate::factory::PlayerFactory;
use crate::http::{self, HttpReply, Refusal, Request, RequestLimits, printable};
use crate::message::{self, Message, Variant};
use crate::net::{Connection, Listener};
use crate::places::Places;
use crate::presence::Caller;
use crate::session;
use matches::MatchEntry;
use referee::{Runtime, System};
use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tracing::{debug, warn};

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
    listener: Arc<dyn Listener>,
    address: SocketAddr,
    shared: Arc<ServerState>,
}

/// Stops a [`Server`] from another thread.
#[derive(Clone)]
pub struct ServerHandle {
    shared: Arc<ServerState>,
    listener: Arc<dyn Listener>,
}

impl ServerHandle {
    /// Stops the server: it accepts no connections any more, and its matches are dropped.
    pub fn stop(&self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.listener.wake();
        let dropped = std::mem::take(&mut *self.shared.lock());
        dropped.into_values().for_each(MatchEntry::dismiss);
    }

    /// Number of matches that are being played.
    pub fn matches(&self) -> usize {
        self.shared.lock().len()
    }

    /// Number of connections that are open.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }
}

struct ServerState {
    options: ServerOptions,
    factory: Arc<dyn PlayerFactory>,
    runtime: Arc<dyn Runtime>,
    /// In the order of their names, so that choices among them do not depend on chance.
    matches: Mutex<BTreeMap<String, MatchEntry>>,
    /// The matches that compute, those included that were given up and have not ended yet.
    places: Arc<Places>,
    connections: AtomicUsize,
    stopped: AtomicBool,
}

impl Server {
    /// Listens on the address.
    ///
    /// # Errors
    /// If the address cannot be used.
    pub fn bind(options: ServerOptions, factory: Arc<dyn PlayerFactory>) -> io::Result<Server> {
        let listener = TcpListener::bind(options.bind)?;
        let options = ServerOptions {
            bind: listener.local_addr()?,
            ..options
        };
        Ok(Server::on(Arc::new(listener), Arc::new(System), options, factory))
    }

    /// A server on any kind of network.
    pub fn on(
        listener: Arc<dyn Listener>,
        runtime: Arc<dyn Runtime>,
        options: ServerOptions,
        factory: Arc<dyn PlayerFactory>,
    ) -> Server {
        let address = options.bind;
        let shared = ServerState {
            places: Arc::new(Places::new(options.max_matches, runtime.clone())),
            options,
            factory,
            runtime,
            matches: Mutex::default(),
            connections: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        };
        Server {
            listener,
            address,
            shared: Arc::new(shared),
        }
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A handle to stop the server.
    pub fn handle(&self) -> ServerHandle {
        ServerHandle {
            shared: self.shared.clone(),
            listener: self.listener.clone(),
        }
    }

    /// Serves until it is stopped.
    pub fn serve(self) {
        loop {
            let accepted = self.listener.accept();
            if self.shared.stopped.load(Ordering::SeqCst) {
                return;
            }
            match accepted {
                Ok(connection) => self.take(connection),
                Err(error) => {
                    // Most likely there are no file descriptors left; connections that end free some.
                    warn!("cannot take a connection: {error}");
                    self.shared.runtime.sleep(Duration::from_millis(50));
                }
            }
        }
    }

    fn take(&self, connection: Box<dyn Connection>) {
        let shared = self.shared.clone();
        if shared.connections.fetch_add(1, Ordering::SeqCst) >= shared.options.max_connections {
            shared.connections.fetch_sub(1, Ordering::SeqCst);
            warn!("more connections than are allowed; one is turned away");
            let busy = b"HTTP/1.0 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy";
            let _ = connection.write(busy, Duration::from_millis(1));
            // What has come is read: closing a connection with unread bytes would discard the reply.
            if matches!(connection.peek(), Ok(1)) {
                let _ = connection.read(&mut [0; 16 << 10], Duration::from_millis(1));
            }
            return;
        }
        let serving = move || {
            let served = catch_unwind(AssertUnwindSafe(|| shared.serve_one(connection.as_ref())));
            if served.is_err() {
                warn!("a connection broke down; please report this");
                let _ = http::reply(connection.as_ref(), plain((200, "OK"), "what"));
            }
            drop(connection);
            shared.connections.fetch_sub(1, Ordering::SeqCst);
        };
        if let Err(error) = self.shared.runtime.spawn("connection", Box::new(serving)) {
            warn!("cannot start a thread: {error}");
            self.shared.connections.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl ServerState {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, MatchEntry>> {
        self.matches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve_one(self: &Arc<Self>, connection: &dyn Connection) {
        let sent = match http::read_request(connection, &self.options.limits) {
            Ok(request) => self.answer_http(connection, &request),
            Err(Refusal::Gone) => Ok(()),
            Err(Refusal::Status(status, reason)) => {
                debug!(status, "a request that is none: {reason}");
                http::reply(connection, plain((status, reason), "what"))
            }
        };
        if let Err(error) = sent {
            debug!("a reply could not be sent: {error}");
        }
    }

    fn answer_http(self: &Arc<Self>, connection: &dyn Connection, request: &Request) -> io::Result<()> {
        let Some(origin) = self.origin(request) else {
            let (host, origin) = (request.host.as_deref(), request.origin.as_deref());
            warn!(host, origin, "refused: --allow-host and --allow-origin let it in");
            return http::reply(connection, plain((403, "Forbidden"), "what"));
        };
        let send = |status, kind, body: &str| {
            let origin = origin.as_deref();
            http::reply(
                connection,
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
            Some(message) => self.answer(&message, &Caller::new(connection, request.arrived)),
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
            None if request.from_page => None,
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
            Message::Play { id, news } => self.play(message, id, news, caller),
            Message::Stop { id, news } => self.stop(message, id, Some(news)),
            Message::Abort { id } => self.stop(message, id, None),
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
