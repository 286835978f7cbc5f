//! Sockets: how connections are made, and RPC calls one at a time.

pub mod connect;
pub mod retry;
pub mod rpc;
mod xid;

pub use connect::{Dial, Pending, allow_open_files};
pub use xid::first_xid;
