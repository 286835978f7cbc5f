//! The built-in, in-memory server of NFSv3 and SMB: calibration target, demonstration and test double.
//!
//! The server provides NFSv3, MOUNT version 3 and NLM version 4 (RFC 1813), and the port mapper
//! (RFC 1833), all on one port, by TCP and UDP, over IPv4 and IPv6; and, on another port, the
//! dialects 2.0.2 to 3.1.1 of SMB over the same tree, so that both protocols access the same files.
//!
//! ```no_run
//! use filestone_server::{Options, Server};
//!
//! let server = Server::start(Options::default())?;
//! println!("nfs://127.0.0.1:{}/export", server.port());
//! server.stop();
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! | module | content |
//! |---|---|
//! | `tree` | files and directories in memory |
//! | `dispatch` | NFS: from the bytes of a call to those of its reply, without I/O |
//! | `smb2` | SMB2 and SMB3: from a frame to its response, without I/O |
//! | `reply` | outgoing replies; file data are referenced, not copied |
//! | `granting`, `callback` | notification of clients whose locks are granted |
//! | [`faults`] | fault injection |
//! | `queue` | calls that wait for simulated workers, for known response times |
//! | `worker` | a thread: sockets, waiting, sending |
//! | `server` | start and stop of all threads |
//! | [`tbench`] | a separate server: the other end of bare TCP |
//!
//! # Limits
//!
//! The supported flavors are AUTH_NONE and AUTH_SYS: the identity of a caller is trusted, and the
//! permissions of that user apply. Locks (NLM) are advisory; there is no status monitor, so the
//! locks of a client that has disappeared stay. Locks of SMB do not affect NFS, and changes by NFS
//! do not break oplocks and leases of SMB clients. NFSv4 is not served; in SMB, durable handles,
//! additional channels, directory leases, change notification, streams, DFS and server-side copies
//! are not. A reply to a datagram on a socket bound to "any" address is sent from the address that
//! the return route has.

#![forbid(unsafe_code)]

mod callback;
mod clock;
mod counters;
mod dispatch;
pub mod faults;
mod framing;
mod granting;
mod listen;
mod options;
mod queue;
mod reply;
mod responder;
mod server;
mod smb2;
pub mod tbench;
mod tree;
mod worker;

pub use counters::ServerCounters;
pub use options::{ListingBound, Options};
pub use queue::{QueueOptions, ServiceTime, ServiceTimeParseError};
pub use server::{Running, Server};
pub use smb2::{Protection, ProtectionParseError, SessionEnd, SmbConversation, SmbOptions, User};
pub use tbench::{TbenchCounters, TbenchOptions, TbenchServer};
pub use tree::InitialTree;
