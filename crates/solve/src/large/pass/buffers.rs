//! Memory that passes use again: getting it from the system anew takes longer than much of what is done with it.

use std::sync::{Mutex, PoisonError};

/// Lists of numbers that are in no use. Their contents do not matter.
#[derive(Default)]
pub(in super::super) struct Buffers(Mutex<Vec<Vec<f64>>>);

impl Buffers {
    /// Takes a list, which is empty if there is none left.
    pub fn take(&self) -> Vec<f64> {
        self.lock().pop().unwrap_or_default()
    }

    /// Gives a list back.
    pub fn give(&self, list: Vec<f64>) {
        if list.capacity() > 0 {
            self.lock().push(list);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Vec<f64>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
