//! Dead gates: what no output needs is left behind.

use super::rebuild;
use crate::network::Network;

/// The same network without the gates that nothing needs.
pub fn remove_dead(net: &Network) -> Network {
    rebuild(net, net.same_leaves(), |_, _| None)
}
