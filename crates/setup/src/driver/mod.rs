//! RPC sessions on sockets, for calls that are not measured or are made one at a time.
//!
//! | file | what is in it |
//! |---|---|
//! | `retry` | pauses: after a loss, and while a server is not ready |
//! | `call` | errors of calls |
//! | `endpoint` | a server, and the settings that all calls to it share |
//! | `blocking` | one call at a time |
//! | `window` | many in flight |
//! | `xid` | first transaction ID of a connection |
//!
//! The measured calls of a load generator go through `backend::sockets`.

pub mod blocking;
pub mod call;
pub mod endpoint;
pub mod retry;
pub mod window;
mod xid;

pub use blocking::RpcConnection;
pub use call::{CallError, CallFailed, UnmeasuredCallError};
pub use endpoint::Endpoint;
pub use filestone_protocol::session::rpc::{Program, RpcProcedure};
pub use retry::{Backoff, Retry, RetryLimit};
pub use xid::first_xid;
