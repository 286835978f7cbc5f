//! Sockets: how connections are made, and RPC calls one at a time.

pub mod connect;
pub mod rpc;

pub use connect::{Dial, Pending, allow_open_files};
