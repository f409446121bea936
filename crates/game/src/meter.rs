//! Counting work, so that players can be compared by cost and not by the clock.

/// Counters kept by a simulator itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    /// Successor states computed: the papers' measure of cost.
    pub states: u64,
}

impl Meter {
    /// Adds the work of another simulator, such as a fork on another thread.
    pub fn add(&mut self, other: Meter) {
        self.states += other.states;
    }
}
