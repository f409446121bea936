//! Worker threads, bounded in number: nothing that computes runs on the threads that answer requests.

use crate::ApiError;
use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// A number of threads that do jobs in the order in which these came.
pub struct Pool {
    shared: Arc<Shared>,
    threads: usize,
}

struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    closed: bool,
}

/// Jobs that may wait; more are refused.
const MAX_WAITING: usize = 10_000;

impl Pool {
    /// Starts the threads.
    pub fn new(name: &str, threads: usize) -> Pool {
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            wake: Condvar::new(),
        });
        let mut started = 0;
        for _ in 0..threads.max(1) {
            let shared = shared.clone();
            let thread = std::thread::Builder::new().name(name.to_owned());
            started += usize::from(thread.spawn(move || work(&shared)).is_ok());
        }
        Pool {
            shared,
            threads: started,
        }
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Leaves a job; whether it was taken.
    pub fn spawn(&self, job: impl FnOnce() + Send + 'static) -> bool {
        let mut queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.closed || queue.jobs.len() >= MAX_WAITING {
            return false;
        }
        queue.jobs.push_back(Box::new(job));
        drop(queue);
        self.shared.wake.notify_one();
        true
    }

    /// Does a job and waits for its result without blocking the caller's thread.
    ///
    /// # Errors
    /// If there are too many jobs, the job panicked, or the time is over; the job is then not ended.
    pub async fn run<T: Send + 'static>(
        &self,
        time: Duration,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let (sender, receiver) = oneshot::channel();
        let taken = self.spawn(move || {
            let _ = sender.send(job());
        });
        if !taken {
            return Err(ApiError::busy("the server has too much to do"));
        }
        match tokio::time::timeout(time, receiver).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(_)) => Err(ApiError::internal()),
            Err(_) => Err(ApiError::slow("the work took too long")),
        }
    }

    /// Ends the threads after their current jobs; waiting jobs are dropped.
    pub fn close(&self) {
        let mut queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.closed = true;
        queue.jobs.clear();
        drop(queue);
        self.shared.wake.notify_all();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.close();
    }
}

fn work(shared: &Shared) {
    loop {
        let mut queue = shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let job = loop {
            if queue.closed {
                return;
            }
            if let Some(job) = queue.jobs.pop_front() {
                break job;
            }
            queue = shared.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        };
        drop(queue);
        if std::panic::catch_unwind(AssertUnwindSafe(job)).is_err() {
            tracing::error!("a job crashed; please report this");
        }
    }
}
