//! What all calls share.

use crate::ApiError;
use crate::jobs::Jobs;
use crate::tables::Tables;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What all calls share.
pub struct App {
    /// All tables.
    pub tables: Arc<Tables>,
    /// Solver and training runs.
    pub jobs: Jobs,
    streams: Arc<Semaphore>,
}

/// Longest wait for short work.
const QUICK: Duration = Duration::from_secs(30);

/// Longest wait for a place on a thinking thread, beyond the thinking itself.
const WAITING: Duration = Duration::from_secs(60);

impl App {
    /// What all calls share, for these tables.
    pub fn new(tables: Arc<Tables>) -> App {
        let streams = Arc::new(Semaphore::new(tables.options.limits.streams));
        let jobs = Jobs::new(&tables.options, tables.stop.clone());
        App { tables, jobs, streams }
    }

    /// Does short work on a worker thread.
    pub async fn quick<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&App) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let app = self.clone();
        self.tables.quick.run(QUICK, move || work(&app)).await?
    }

    /// Opens a game on a worker thread.
    pub async fn opening<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&App) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let app = self.clone();
        let time = self.tables.options.limits.open_time * 3;
        self.tables.opener.run(time, move || work(&app)).await?
    }

    /// Thinks on a thread where players think.
    pub async fn thinking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&App) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let app = self.clone();
        let time = self.tables.options.limits.think_time * 3 + WAITING;
        self.tables.think.run(time, move || work(&app)).await?
    }

    /// A place for an event stream.
    ///
    /// # Errors
    /// If there are too many.
    pub fn stream_permit(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let most = self.tables.options.limits.streams;
        let permit = self.streams.clone().try_acquire_owned();
        permit.map_err(|_| ApiError::busy(format!("there are {most} event streams already")))
    }
}
