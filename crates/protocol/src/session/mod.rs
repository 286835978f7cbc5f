//! State of one connection per protocol family, without I/O: outstanding calls, and matching of
//! replies to calls. The `client` module defines the content of the calls.

pub mod backoff;
pub mod rpc;
pub mod smb2;
