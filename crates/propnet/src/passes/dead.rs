//! Removes gates that no output needs.

use super::rebuild;
use crate::network::Network;
use crate::tuning::Bounds;

/// The same network without unused gates; `None` if the work was stopped.
pub(crate) fn remove_dead(net: &Network, bounds: &Bounds) -> Option<Network> {
    rebuild(net, net.same_leaves(), bounds, |_, _| None)
}
