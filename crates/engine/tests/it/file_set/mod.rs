//! The file set of a mix on the built-in server, over real sockets.

pub mod bench;
mod claims;
mod faults;
mod restarts;
mod reuse;
