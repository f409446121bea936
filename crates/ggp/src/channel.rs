//! Channels between threads of a [`Runtime`]: those of the standard library, and in a simulated runtime a bell beside
//! them, because a thread may wait only where the simulation sees it.

use referee::{Bell, Runtime};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvError, RecvTimeoutError, TryRecvError};
use std::time::Duration;

/// The sending half.
pub(crate) struct Sender<T> {
    /// None only while the sender is dropped.
    inner: Option<mpsc::Sender<T>>,
    bell: Option<Arc<dyn Bell>>,
}

/// The receiving half.
pub struct Receiver<T> {
    inner: mpsc::Receiver<T>,
    bell: Option<Arc<dyn Bell>>,
}

/// A channel with one sender and one receiver.
pub(crate) fn channel<T>(runtime: &dyn Runtime) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = mpsc::channel();
    let bell = runtime.bell();
    let sender = Sender {
        inner: Some(sender),
        bell: bell.clone(),
    };
    (sender, Receiver { inner: receiver, bell })
}

impl<T> Sender<T> {
    /// Sends; what nobody waits for is dropped.
    pub fn send(&self, value: T) {
        if let Some(inner) = &self.inner {
            let _ = inner.send(value);
        }
        self.ring();
    }

    fn ring(&self) {
        if let Some(bell) = &self.bell {
            bell.ring();
        }
    }
}

impl<T> Drop for Sender<T> {
    /// The receiver has to notice that nothing comes any more.
    fn drop(&mut self) {
        self.inner = None;
        self.ring();
    }
}

impl<T> Receiver<T> {
    /// Waits for the next value.
    ///
    /// # Errors
    /// If nothing can come any more.
    pub(crate) fn recv(&self) -> Result<T, RecvError> {
        let Some(bell) = &self.bell else {
            return self.inner.recv();
        };
        loop {
            match self.inner.try_recv() {
                Ok(value) => return Ok(value),
                Err(TryRecvError::Disconnected) => return Err(RecvError),
                Err(TryRecvError::Empty) => bell.wait(None),
            };
        }
    }

    /// Waits for the next value, at most for a time.
    ///
    /// # Errors
    /// If nothing comes in time.
    pub(crate) fn recv_timeout(&self, patience: Duration) -> Result<T, RecvTimeoutError> {
        let Some(bell) = &self.bell else {
            return self.inner.recv_timeout(patience);
        };
        loop {
            match self.inner.try_recv() {
                Ok(value) => return Ok(value),
                Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
                // A bell rings only with a value or with the end.
                Err(TryRecvError::Empty) if bell.wait(Some(patience)) => {}
                Err(TryRecvError::Empty) => return Err(RecvTimeoutError::Timeout),
            }
        }
    }

    /// The next value, if there is one.
    pub(crate) fn try_recv(&self) -> Option<T> {
        self.inner.try_recv().ok()
    }
}
