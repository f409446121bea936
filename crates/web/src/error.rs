//! Errors of the API: a status, a code for programs, a message and advice for people.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// HTTP status.
    pub status: u16,
    /// Kind of error, for programs.
    pub code: &'static str,
    /// The error in one sentence.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

#[derive(Serialize)]
struct Body<'a> {
    error: Inner<'a>,
}

#[derive(Serialize)]
struct Inner<'a> {
    code: &'a str,
    message: &'a str,
    help: &'a str,
}

impl ApiError {
    /// An error with all its parts.
    pub fn new(status: u16, code: &'static str, message: impl Into<String>, help: impl Into<String>) -> ApiError {
        ApiError {
            status,
            code,
            message: message.into(),
            help: help.into(),
        }
    }

    /// A request that makes no sense.
    pub fn bad(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> ApiError {
        ApiError::new(400, code, message, help)
    }

    /// The same answer for a table that does not exist and a token that does not fit.
    pub fn no_table() -> ApiError {
        ApiError::new(
            404,
            "no-table",
            "there is no such table, or the token does not belong to it",
            "use the link as it was given to you",
        )
    }

    /// A limit of the server was reached.
    pub fn busy(message: impl Into<String>) -> ApiError {
        ApiError::new(503, "busy", message, "try again in a moment")
    }

    /// Work that took too long.
    pub fn slow(message: impl Into<String>) -> ApiError {
        ApiError::new(503, "too-slow", message, "try again, or ask for less")
    }

    /// Something that is not allowed now.
    pub fn conflict(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> ApiError {
        ApiError::new(409, code, message, help)
    }

    /// A failure of the server itself.
    pub fn internal() -> ApiError {
        ApiError::new(
            500,
            "internal",
            "the server failed",
            "please report this, with the server's log",
        )
    }

    /// The JSON of the answer.
    pub fn json(&self) -> String {
        let error = Inner {
            code: self.code,
            message: &self.message,
            help: &self.help,
        };
        serde_json::to_string(&Body { error }).unwrap_or_default()
    }
}

impl From<surmise::Error> for ApiError {
    fn from(error: surmise::Error) -> ApiError {
        let help = match &error {
            surmise::Error::NoGame { .. } => "GET /api/games lists the games",
            surmise::Error::Rules { .. } => "POST /api/check shows every finding with its place",
            surmise::Error::Player(_) | surmise::Error::Unsuitable { .. } => "GET /api/players lists the players",
            _ => "correct the request and send it again",
        };
        let code = match &error {
            surmise::Error::NoGame { .. } => "no-game",
            surmise::Error::Rules { .. } | surmise::Error::Engine(_) | surmise::Error::NoEngine(_) => "rules",
            surmise::Error::Player(_) | surmise::Error::Unsuitable { .. } => "player",
            surmise::Error::NoRole { .. } => "no-role",
            surmise::Error::Record(_) | surmise::Error::OtherMatch(_) => "record",
            surmise::Error::Stopped { .. } => return ApiError::slow(error.to_string()),
            _ => "failed",
        };
        ApiError::bad(code, error.to_string(), help)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = [("content-type", "application/json"), ("cache-control", "no-store")];
        (status, headers, self.json()).into_response()
    }
}
