//! The calls of the API, as docs/table.md lists them.

mod events;
mod library;
mod results;
mod tables;

use crate::ApiError;
use crate::app::App;
use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// All calls.
pub fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/api/games", get(library::games))
        .route("/api/games/{name}", get(library::game))
        .route("/api/players", get(library::players))
        .route("/api/check", post(library::check))
        .route("/api/tables", post(tables::create))
        .route("/api/tables/{id}", get(tables::view))
        .route("/api/tables/{id}/events", get(tables::events))
        .route("/api/tables/{id}/move", post(tables::play))
        .route("/api/tables/{id}/undo", post(tables::undo))
        .route("/api/tables/{id}/hint", post(tables::hint))
        .route("/api/tables/{id}/why", post(tables::why))
        .route("/api/tables/{id}/belief", get(tables::belief))
        .route("/api/tables/{id}/rematch", post(tables::rematch))
        .route("/api/tables/{id}/control", post(tables::control))
        .route("/api/tables/{id}/replay", get(tables::replay))
        .route("/api/tables/{id}/record", get(tables::record))
        .route("/api/records", post(tables::upload))
        .route("/api/jobs", get(results::jobs).post(results::start))
        .route("/api/jobs/{id}", get(results::job).delete(results::stop))
        .route("/api/jobs/{id}/events", get(results::events))
        .route("/api/lab", get(results::experiments))
        .route("/api/lab/{name}", get(results::experiment))
        .route("/lab/{name}/{file}", get(results::report))
}

/// An answer as JSON.
pub(crate) fn json<T: Serialize>(value: &T) -> Result<Response, ApiError> {
    let text = serde_json::to_string(value).map_err(|_| ApiError::internal())?;
    Ok(json_text(text))
}

/// An answer that is JSON already.
pub(crate) fn json_text(text: String) -> Response {
    let headers = [("content-type", "application/json"), ("cache-control", "no-store")];
    (StatusCode::OK, headers, text).into_response()
}

/// Reads the body of a request.
pub(crate) fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, ApiError> {
    serde_json::from_slice(body).map_err(|error| {
        ApiError::bad(
            "request",
            format!("the body is not what this call takes: {error}"),
            "docs/table.md has an example of every call",
        )
    })
}
