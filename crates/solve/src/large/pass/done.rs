//! Tasks of a pass that are done, to go on later.

use super::Worth;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What tasks are worth, by number. Tasks are cut by the game only, so that numbers stay the same.
#[derive(Debug, Default)]
pub(in super::super) struct Done(Mutex<BTreeMap<usize, Worth>>);

impl Done {
    pub fn tasks(&self) -> MutexGuard<'_, BTreeMap<usize, Worth>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
