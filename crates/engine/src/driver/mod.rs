//! How an RPC session meets a socket, where nothing is measured or one call at a time is.
//!
//! | file | what is in it |
//! |---|---|
//! | `connect` | making connections, at once or in the background |
//! | `retry` | pauses: after a loss, and while a server is not ready |
//! | `call` | what is called, and how a call fails |
//! | `endpoint` | a server, and what all calls to it have in common |
//! | `blocking` | one call at a time |
//! | `window` | many in flight |
//! | `xid` | where a connection's transaction ids begin |
//!
//! The calls that a load generator measures by the thousand go through `backend::sockets`.

pub mod blocking;
pub mod call;
pub mod connect;
pub mod endpoint;
pub mod retry;
pub mod window;
mod xid;

pub use blocking::RpcConnection;
pub use call::{CallError, CallFailed};
pub use connect::{
    Dial, OpenFileLimits, PendingConnection, RESERVED_PORTS, SourceRefused, allow_open_files,
    any_towards, at_port, from, is_this_host, leave, may_use_reserved_ports, open_file_limits,
};
pub use endpoint::Endpoint;
pub use filestone_protocol::session::rpc::{Program, RpcProcedure};
pub use retry::{Backoff, Retry, RetryLimit};
pub use xid::first_xid;
