//! Places for the matches that compute: a match that was given up keeps its place until its work has ended.
//!
//! Only the player that was asked for needs a place. Reading the rules and the fallback player are quick and do not
//! wait for one, so that a match has legal moves while its predecessor still winds down.

use game::StopFlag;
use referee::Runtime;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tracing::warn;

/// Longest time that a match waits for matches that were given up to end their work.
const WINDING_DOWN: Duration = Duration::from_secs(10);

/// All places of a server.
pub struct Places {
    most: usize,
    taken: Mutex<Vec<Weak<()>>>,
    runtime: Arc<dyn Runtime>,
}

impl Places {
    /// So many places.
    pub fn new(most: usize, runtime: Arc<dyn Runtime>) -> Places {
        Places {
            most,
            taken: Mutex::default(),
            runtime,
        }
    }

    /// A place, when there is one. None if the match is given up meanwhile.
    fn take(&self, stop: &StopFlag) -> Option<Arc<()>> {
        let since = self.runtime.now();
        while !stop.is_raised() {
            let mut taken = lock(&self.taken);
            taken.retain(|place| place.strong_count() > 0);
            let late = self.runtime.now() - since > WINDING_DOWN;
            if taken.len() < self.most || late {
                if late {
                    warn!("a match that was given up still computes");
                }
                let place = Arc::new(());
                taken.push(Arc::downgrade(&place));
                return Some(place);
            }
            drop(taken);
            self.runtime.sleep(Duration::from_millis(5));
        }
        None
    }
}

/// The place of one match, taken when its player is first made. It is free when the match and its work have ended.
pub struct Place {
    places: Arc<Places>,
    held: Mutex<Option<Arc<()>>>,
}

impl Place {
    /// Not taken yet.
    pub fn new(places: Arc<Places>) -> Place {
        Place {
            places,
            held: Mutex::default(),
        }
    }

    /// Waits for the place. False if the match is given up meanwhile.
    pub fn wait(&self, stop: &StopFlag) -> bool {
        if lock(&self.held).is_some() {
            return true;
        }
        let Some(place) = self.places.take(stop) else {
            return false;
        };
        // Another player of the match may have been quicker; one place is enough.
        lock(&self.held).get_or_insert(place);
        true
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
