//! Dead gates: what no output needs is left behind.

use super::rebuild;
use crate::network::Network;
use crate::tuning::Bounds;

/// The same network without the gates that nothing needs.
pub(crate) fn remove_dead(net: &Network, bounds: &Bounds) -> Option<Network> {
    rebuild(net, net.same_leaves(), bounds, |_, _| None)
}
