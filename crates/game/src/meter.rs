//! Counting work, so that players can be compared by cost and not by the clock.

/// Counters kept by a simulator itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    /// Successor states computed.
    pub states: u64,
    /// Nodes of the game tree touched, computed anew or remembered: the papers' measure of cost. Simulators leave it to
    /// the code that walks the tree.
    pub touches: u64,
}

impl Meter {
    /// Adds the work of another simulator, such as a fork on another thread.
    pub fn add(&mut self, other: Meter) {
        self.states += other.states;
        self.touches += other.touches;
    }
}
