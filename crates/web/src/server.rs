//! The server: connections, checks of every request, and the end.

use crate::app::App;
use crate::jobs::{STRATEGIES, TRAININGS};
use crate::options::ServeOptions;
use crate::tables::Tables;
use crate::{ApiError, api, assets};
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use surmise::game::StopFlag;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

/// A server that listens.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    app: Arc<App>,
}

/// Time between looks at the flag that ends the server.
const POLL: Duration = Duration::from_millis(50);

/// Longest time between looks for tables that nobody looks at.
const SWEEP: Duration = Duration::from_secs(20);

impl Server {
    /// Binds the address and opens the folders.
    ///
    /// # Errors
    /// If the address or a folder cannot be used.
    pub fn bind(mut options: ServeOptions) -> io::Result<Server> {
        // What runs of this server found may be seated.
        let own = options
            .data
            .iter()
            .flat_map(|data| [data.join(STRATEGIES), data.join(TRAININGS)]);
        let own: Vec<_> = own.collect();
        options.strategies.extend(own);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_io()
            .enable_time()
            .build()?;
        let listener = runtime.block_on(TcpListener::bind(options.bind))?;
        let tables = Arc::new(Tables::new(options, runtime.handle().clone())?);
        let app = Arc::new(App::new(tables));
        Ok(Server { runtime, listener, app })
    }

    /// The address that was bound.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the flag is raised; then everything is saved.
    pub fn serve(self, stop: &StopFlag) {
        let Server { runtime, listener, app } = self;
        let accepting = runtime.spawn(accept(listener, app.clone()));
        let sweeping = runtime.spawn(sweep(app.clone()));
        while !stop.is_raised() && !accepting.is_finished() {
            std::thread::sleep(POLL);
        }
        accepting.abort();
        sweeping.abort();
        app.tables.shut_down();
        runtime.shutdown_background();
    }
}

async fn sweep(app: Arc<App>) {
    loop {
        let idle = app.tables.options.limits.idle;
        tokio::time::sleep(SWEEP.min(idle)).await;
        let again = app.clone();
        app.tables.quick.spawn(move || again.tables.sweep(idle, false));
    }
}

/// Takes connections, as many at a time as are allowed. Those that are too many are closed at once.
async fn accept(listener: TcpListener, app: Arc<App>) {
    let limits = app.tables.options.limits.clone();
    let places = Arc::new(Semaphore::new(limits.connections));
    let router = router(app);
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, most likely: others will be closed.
            tokio::time::sleep(POLL).await;
            continue;
        };
        let Ok(place) = places.clone().try_acquire_owned() else {
            continue;
        };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let mut http = hyper::server::conn::http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(limits.read_time)
            .max_buf_size(64 << 10)
            .keep_alive(true);
        tokio::spawn(async move {
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
            drop(place);
        });
    }
}

fn router(app: Arc<App>) -> Router {
    let body = app.tables.options.limits.body;
    api::router()
        .fallback(page)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(body))
        .layer(middleware::from_fn_with_state(app.clone(), guard))
        .with_state(app)
}

async fn wrong_method() -> ApiError {
    ApiError::new(
        405,
        "method",
        "this address takes another method",
        "docs/table.md lists the calls",
    )
}

/// Checks every request, and adds headers to every answer.
async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let method = request.method().clone();
    let mut response = match check(&app, &method, request.headers()) {
        Err(error) => error.into_response(),
        Ok(()) => match read_body(&app, request).await {
            Err(error) => error.into_response(),
            Ok(request) => explain(next.run(request).await),
        },
    };
    // The query, where tokens are, is never logged.
    tracing::debug!(%method, path, status = response.status().as_u16(), "request");
    add_headers(response.headers_mut());
    response
}

/// Reads the whole body, with limits of size and time.
async fn read_body(app: &App, request: Request) -> Result<Request, ApiError> {
    let limits = &app.tables.options.limits;
    let (parts, body) = request.into_parts();
    let too_long = || {
        ApiError::new(
            413,
            "too-long",
            format!("a request may have {} bytes", limits.body),
            "send less",
        )
    };
    let announced = parts
        .headers
        .get(header::CONTENT_LENGTH)
        .and_then(|v| v.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|bytes| bytes > limits.body as u64) {
        return Err(too_long());
    }
    let reading = axum::body::to_bytes(body, limits.body);
    match tokio::time::timeout(limits.read_time, reading).await {
        Ok(Ok(bytes)) => Ok(Request::from_parts(parts, Body::from(bytes))),
        Ok(Err(_)) => Err(too_long()),
        Err(_) => Err(ApiError::new(
            408,
            "too-slow",
            "the request did not arrive in time",
            "send it again",
        )),
    }
}

/// Errors of the framework (a query that cannot be read) as errors of the API.
fn explain(response: Response) -> Response {
    let status = response.status();
    let is_json = |value: &HeaderValue| value.as_bytes().starts_with(b"application/json");
    let ours = response.headers().get(header::CONTENT_TYPE).is_some_and(is_json);
    if ours || !matches!(status.as_u16(), 400 | 413 | 415 | 422) {
        return response;
    }
    ApiError::new(
        status.as_u16(),
        "request",
        "the request cannot be read",
        "docs/table.md has an example of every call",
    )
    .into_response()
}

/// The page may load nothing from elsewhere and runs no script that is not a file of this server.
const POLICY: &str = "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; script-src 'self'; \
                      connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'";

/// The policy of a page with stylesheets of these hashes in it.
fn policy_with(styles: &[String]) -> String {
    POLICY.replace("style-src 'self'", &format!("style-src 'self' {}", styles.join(" ")))
}

fn add_headers(headers: &mut HeaderMap) {
    let mut set = |name: &'static str, value: &'static str| {
        if !headers.contains_key(name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    };
    set("content-security-policy", POLICY);
    set("x-content-type-options", "nosniff");
    set("x-frame-options", "DENY");
    set("referrer-policy", "no-referrer");
    set("cross-origin-opener-policy", "same-origin");
    set("cross-origin-resource-policy", "same-origin");
    set("permissions-policy", "camera=(), microphone=(), geolocation=()");
    set("cache-control", "no-store");
}

/// Refuses requests that a page of another site, or a name that somebody else controls, may have caused.
fn check(app: &App, method: &Method, headers: &HeaderMap) -> Result<(), ApiError> {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default();
    if !is_own_host(host, &app.tables.options) {
        return Err(ApiError::new(
            421,
            "host",
            "this server is not called by that name",
            "use the address that it printed, or start it with --allow-host NAME",
        ));
    }
    if matches!(*method, Method::GET | Method::HEAD) {
        return Ok(());
    }
    let foreign = || {
        ApiError::new(
            403,
            "origin",
            "the request comes from a page of another site",
            "use the pages of this server",
        )
    };
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(origin) = text(header::ORIGIN) {
        let authority = origin.split_once("://").map_or("", |(_, authority)| authority);
        if !authority.eq_ignore_ascii_case(host) {
            return Err(foreign());
        }
    }
    match text(header::HeaderName::from_static("sec-fetch-site")) {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) => Err(foreign()),
    }
}

/// Whether a Host header names this server: an address, localhost, or a name that the owner allowed. Names that anyone
/// could point to this machine (DNS rebinding) are refused.
fn is_own_host(host: &str, options: &ServeOptions) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((address, _)) => address,
            None => return false,
        },
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let allowed = |own: &String| own.eq_ignore_ascii_case(name);
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok()
        || options.allow_hosts.iter().any(allowed)
}

/// A page of the program.
async fn page(State(app): State<Arc<App>>, request: Request) -> Response {
    let path = request.uri().path();
    if path.starts_with("/api/") {
        return ApiError::new(404, "no-call", "there is no such call", "docs/table.md lists the calls").into_response();
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return wrong_method().await.into_response();
    }
    let Some(asset) = assets::find(path, app.tables.options.assets.as_deref()) else {
        let headers = [("content-type", "text/plain; charset=utf-8")];
        return (
            StatusCode::NOT_FOUND,
            headers,
            "There is no such page. The first page is /.\n",
        )
            .into_response();
    };
    let cache = match asset.immutable {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    let headers = [("content-type", asset.media_type), ("cache-control", cache)];
    let mut response = (headers, asset.bytes).into_response();
    let policy = HeaderValue::from_str(&policy_with(&asset.styles));
    if let (false, Ok(policy)) = (asset.styles.is_empty(), policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}
