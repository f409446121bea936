//! The GGP protocol over real sockets on loopback. Tests are named after the numbers of the conformance checklist
//! (docs/protocol.md): 1 to 19 try our player, 20 to 29 our manager, 30 and 31 Java peers, 32 both of ours, 33 traces.

mod ended;
mod java;
mod manager;
mod ours;
mod player;
mod records;
mod stored;
mod support;
