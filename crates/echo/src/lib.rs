//! A protocol that filestone does not know, added from outside.
//!
//! Echo is made up, and as unlike RPC as a file protocol of a few lines can be: frames of its
//! own, a session that a client has to open before it may ask anything, a token that every
//! request carries and that the server changes whenever it likes, by a message that comes
//! unasked and wants an answer. Nothing in the other crates names it; what is here is what a
//! protocol is made of:
//!
//! | file | what is in it |
//! |---|---|
//! | `wire` | bytes ↔ messages |
//! | `client` | one simulated client without I/O |
//! | `target` | finding the server, connecting clients, what the record says of it |
//! | `server` | a server, to have something to measure |

#![forbid(unsafe_code)]

pub mod client;
pub mod server;
pub mod target;
pub mod wire;

pub use server::EchoServer;
pub use target::Echo;
