//! Calls about experiments, solver and training runs.

use super::events::chunked;
use super::{json, read};
use crate::app::App;
use crate::jobs::Job;
use crate::requests::NewJob;
use crate::{ApiError, assets, lab};
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::mpsc;

/// Shortest time between two events of a run.
const PACE: Duration = Duration::from_millis(250);

/// Time between signs of life.
const ALIVE: Duration = Duration::from_secs(15);

/// `GET /api/jobs`.
pub async fn jobs(State(app): State<Arc<App>>) -> Result<Response, ApiError> {
    json(&app.jobs.list())
}

/// `POST /api/jobs`.
pub async fn start(State(app): State<Arc<App>>, body: Bytes) -> Result<Response, ApiError> {
    let request: NewJob = read(&body)?;
    json(
        &app.opening(move |app| app.jobs.start(&request, &app.tables.shelf))
            .await?,
    )
}

/// `GET /api/jobs/ID`.
pub async fn job(State(app): State<Arc<App>>, Path(id): Path<String>) -> Result<Response, ApiError> {
    json(&app.jobs.find(&id)?.json(true))
}

/// `DELETE /api/jobs/ID`.
pub async fn stop(State(app): State<Arc<App>>, Path(id): Path<String>) -> Result<Response, ApiError> {
    let job = app.jobs.find(&id)?;
    job.stop();
    json(&job.json(true))
}

/// `GET /api/jobs/ID/events`.
pub async fn events(State(app): State<Arc<App>>, Path(id): Path<String>) -> Result<Response, ApiError> {
    let job = app.jobs.find(&id)?;
    let permit = app.stream_permit()?;
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(feed(job, sender));
    Ok(chunked(receiver, permit))
}

async fn feed(job: Arc<Job>, sender: mpsc::Sender<Bytes>) {
    let mut changes = job.changes();
    loop {
        let running = job.is_running();
        let number = *changes.borrow_and_update();
        let Ok(text) = serde_json::to_string(&job.json(true)) else {
            return;
        };
        let event = Bytes::from(format!("id: {number}\ndata: {text}\n\n"));
        if sender.send(event).await.is_err() {
            return;
        }
        if !running {
            // The page closes the stream when it sees that the run has ended.
            sender.closed().await;
            return;
        }
        tokio::time::sleep(PACE).await;
        while let Err(_quiet) = tokio::time::timeout(ALIVE, changes.changed()).await {
            if sender.send(Bytes::from_static(b":\n\n")).await.is_err() {
                return;
            }
        }
    }
}

/// `GET /api/lab`.
pub async fn experiments(State(app): State<Arc<App>>) -> Result<Response, ApiError> {
    let list = app.quick(|app| Ok(app.tables.options.lab.as_deref().map_or_else(Vec::new, lab::list)));
    json(&list.await?)
}

/// `GET /api/lab/NAME`.
pub async fn experiment(State(app): State<Arc<App>>, Path(name): Path<String>) -> Result<Response, ApiError> {
    json(
        &app.quick(move |app| lab::find(app.tables.options.lab.as_deref(), &name))
            .await?,
    )
}

/// Reports bring their own styles. The only script that runs is the lab's own, which sorts tables: a folder of results
/// may come from anywhere.
fn report_policy() -> &'static str {
    static POLICY: OnceLock<String> = OnceLock::new();
    POLICY.get_or_init(|| {
        format!(
            "default-src 'none'; style-src 'unsafe-inline'; script-src {}; img-src 'self' data:; sandbox \
             allow-scripts; frame-ancestors 'none'",
            assets::hash(surmise::lab::report::SCRIPT)
        )
    })
}

/// `GET /lab/NAME/FILE`.
pub async fn report(
    State(app): State<Arc<App>>,
    Path((name, file)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let found = app.quick(move |app| lab::report(app.tables.options.lab.as_deref(), &name, &file));
    let (bytes, media) = found.await?;
    let headers = [("content-type", media), ("content-security-policy", report_policy())];
    Ok((headers, bytes).into_response())
}
