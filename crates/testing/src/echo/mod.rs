//! A protocol added to filestone from outside of its crates.
//!
//! Echo is an invented protocol that differs from RPC as much as a file protocol of a few lines
//! can: its frame format, a session that a client must open before its first request, and a token
//! in every request that the server changes at any time with an unsolicited message that requires
//! an acknowledgement. Its modules are the parts of a protocol:
//!
//! | file | content |
//! |---|---|
//! | `wire` | bytes ↔ messages |
//! | `client` | one simulated client without I/O |
//! | `target` | finding the server, connecting clients, its description in the record |
//! | `server` | a server to measure |

pub mod client;
pub mod server;
pub mod target;
pub mod wire;

pub use server::EchoServer;
pub use target::Echo;
