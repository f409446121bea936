//! Server-sent events: a stream of views.

use crate::place::{Place, Shown};
use crate::table::Viewer;
use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// Time between signs of life on a stream.
const ALIVE: Duration = Duration::from_secs(15);

/// Chunks of a stream, and the permit that it holds.
struct Chunks {
    receiver: mpsc::Receiver<Bytes>,
    _permit: OwnedSemaphorePermit,
}

impl Stream for Chunks {
    type Item = Result<Bytes, std::convert::Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.receiver.poll_recv(context).map(|chunk| chunk.map(Ok))
    }
}

/// The views of a viewer, from the current one on.
pub fn stream(place: Arc<Place>, viewer: Viewer, permit: OwnedSemaphorePermit) -> Response {
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(feed(place, viewer, sender));
    chunked(receiver, permit)
}

/// An answer that goes on as long as chunks come.
pub fn chunked(receiver: mpsc::Receiver<Bytes>, permit: OwnedSemaphorePermit) -> Response {
    let chunks = Chunks {
        receiver,
        _permit: permit,
    };
    let headers = [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-store"),
        ("x-accel-buffering", "no"),
    ];
    (headers, Body::from_stream(chunks)).into_response()
}

async fn feed(place: Arc<Place>, viewer: Viewer, sender: mpsc::Sender<Bytes>) {
    let (mut last, mut receiver) = place.subscribe(viewer);
    if sender.send(event(&last)).await.is_err() {
        return;
    }
    loop {
        let next = tokio::select! {
            next = receiver.recv() => next,
            () = tokio::time::sleep(ALIVE) => {
                place.touch();
                if sender.send(Bytes::from_static(b":\n\n")).await.is_err() {
                    return;
                }
                continue;
            }
            () = sender.closed() => return,
        };
        let shown = match next {
            Ok(shown) => shown,
            // A reader that is too slow is shown the newest view.
            Err(RecvError::Lagged(_)) => place.shown(viewer),
            Err(RecvError::Closed) => return,
        };
        if shown.0 <= last.0 {
            continue;
        }
        last = shown;
        if sender.send(event(&last)).await.is_err() {
            return;
        }
    }
}

fn event((number, view): &Shown) -> Bytes {
    Bytes::from(format!("id: {number}\ndata: {view}\n\n"))
}
