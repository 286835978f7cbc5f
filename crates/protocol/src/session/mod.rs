//! The state of one connection, per family of protocols, without I/O: which calls are
//! under way, and which message answers which of them. What the calls say is `client`'s.

pub mod backoff;
pub mod rpc;
pub mod smb2;
