//! The thread that answers questions about states. Replaying a long record takes longer than typing may wait.

use crate::background::timed;
use crate::features::why::{self, Question, Source};
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use game::StopFlag;
use lsp_server::{ErrorCode, Message, RequestId, Response};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Questions that may wait.
const WAITING: usize = 16;

/// Time for one question.
const LIMIT: Duration = Duration::from_secs(10);

/// The thread and the questions that have no answer yet.
pub struct WhyWorker {
    questions: Option<Sender<Asked>>,
    flags: Arc<Mutex<BTreeMap<RequestId, StopFlag>>>,
    thread: Option<JoinHandle<()>>,
}

struct Asked {
    id: RequestId,
    question: Question,
    source: Source,
    stop: StopFlag,
}

impl WhyWorker {
    /// Starts the thread; answers go to `answers`.
    pub fn start(answers: Sender<Message>) -> std::io::Result<WhyWorker> {
        let (questions, asked) = bounded(WAITING);
        let flags = Arc::new(Mutex::new(BTreeMap::new()));
        let done = flags.clone();
        let thread = thread::Builder::new()
            .name("lsp-why".to_owned())
            .spawn(move || work(&asked, &answers, &done))?;
        Ok(WhyWorker {
            questions: Some(questions),
            flags,
            thread: Some(thread),
        })
    }

    /// Passes on a question; an answer if that is not possible.
    pub fn submit(&self, id: RequestId, question: Question, source: Source) -> Option<Response> {
        let stop = StopFlag::default();
        let asked = Asked {
            id: id.clone(),
            question,
            source,
            stop: stop.clone(),
        };
        let sent = self
            .questions
            .as_ref()
            .expect("open until it is dropped")
            .try_send(asked);
        match sent {
            Ok(()) => {
                lock(&self.flags).insert(id, stop);
                None
            }
            Err(TrySendError::Full(_)) => {
                let why = format!("{WAITING} questions are waiting already");
                Some(Response::new_err(id, ErrorCode::RequestFailed as i32, why))
            }
            Err(TrySendError::Disconnected(_)) => {
                let why = "the thread for such questions has ended".to_owned();
                Some(Response::new_err(id, ErrorCode::InternalError as i32, why))
            }
        }
    }

    /// Stops a question.
    pub fn cancel(&self, id: &RequestId) {
        if let Some(stop) = lock(&self.flags).get(id) {
            stop.raise();
        }
    }
}

impl Drop for WhyWorker {
    fn drop(&mut self) {
        lock(&self.flags).values().for_each(StopFlag::raise);
        self.questions = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn work(asked: &Receiver<Asked>, answers: &Sender<Message>, flags: &Mutex<BTreeMap<RequestId, StopFlag>>) {
    for Asked {
        id,
        question,
        source,
        stop,
    } in asked
    {
        let answer = catch_unwind(AssertUnwindSafe(|| {
            why::answer(&question, &source, &timed(&stop, LIMIT))
        }));
        let cancelled = stop.is_raised();
        lock(flags).remove(&id);
        let response = match answer {
            _ if cancelled => Response::new_err(id, ErrorCode::RequestCanceled as i32, "cancelled".to_owned()),
            Ok(Ok(value)) => Response::new_ok(id, value),
            Ok(Err(why)) => Response::new_err(id, ErrorCode::RequestFailed as i32, why),
            Err(_) => {
                let why = "the server made a mistake; please report it".to_owned();
                Response::new_err(id, ErrorCode::InternalError as i32, why)
            }
        };
        if answers.send(response.into()).is_err() {
            return;
        }
    }
}
