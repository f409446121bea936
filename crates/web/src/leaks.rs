//! Deliberate leaks: each makes one kind of answer depend on the true state. Compiled for tests only; `secrets`
//! switches them on, one after the other, to show that it finds them.

use crate::table::Table;
use sha2::{Digest, Sha256};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Where something leaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leak {
    /// In views.
    View,
    /// In the numbers of events.
    Number,
    /// In the headers of the answer to a move.
    Header,
    /// In beliefs.
    Belief,
    /// In whether taking back needs consent.
    Undo,
    /// In the message about an illegal move.
    Message,
}

/// All of them.
pub const ALL: [Leak; 6] = [
    Leak::View,
    Leak::Number,
    Leak::Header,
    Leak::Belief,
    Leak::Undo,
    Leak::Message,
];

static ACTIVE: AtomicUsize = AtomicUsize::new(0);

/// Switches a leak on, or all of them off.
pub fn switch(leak: Option<Leak>) {
    ACTIVE.store(leak.map_or(0, |leak| leak as usize + 1), Ordering::SeqCst);
}

/// A number that depends on the true state, if this leak is on, else 0.
pub fn truth(leak: Leak, table: &Table) -> u64 {
    if ACTIVE.load(Ordering::SeqCst) != leak as usize + 1 {
        return 0;
    }
    let state = table.record().states.last().map(|state| state.join(" "));
    let hash = Sha256::digest(state.unwrap_or_default().as_bytes());
    u64::from(hash[0]) + 1
}
