//! The GGP protocol over real sockets on loopback. Tests are named after the numbers of the conformance checklist
//! (docs/protocol.md): 1 to 19 try our player, 20 to 29 our manager, 32 both.

mod manager;
mod player;
mod support;
