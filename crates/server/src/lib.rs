//! The built-in, in-memory server of NFSv3 and SMB: calibration target, demonstration and test double.
//!
//! It serves NFSv3, MOUNT version 3 and NLM version 4 (RFC 1813), and answers for the port mapper
//! (RFC 1833), all on one port, by TCP and UDP, over IPv4 and IPv6; and, on another port, the
//! dialects 2.0.2 to 3.1.1 of SMB over the same tree, so that one file is seen through both.
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
//! | module | what is in it |
//! |---|---|
//! | `tree` | files and directories in memory |
//! | `dispatch` | NFS: from the bytes of a call to those of its reply, without I/O |
//! | `smb2` | SMB2 and SMB3: from a frame to its answer, without I/O |
//! | `reply` | replies on their way out; file data are referred to, not copied |
//! | `granting`, `callback` | telling clients that the lock they wait for is theirs |
//! | [`faults`] | what goes wrong on purpose |
//! | `queue` | calls that wait for workers, so that response times are known beforehand |
//! | `worker` | a thread: sockets, waiting, sending |
//! | `server` | starting and stopping them all |
//! | [`tbench`] | a server of its own: the other end of bare TCP |
//!
//! # Limits
//!
//! AUTH_NONE and AUTH_SYS are the flavors understood: callers are who they say they are, and held to
//! the permissions of that user. Locks (NLM) are advisory; there is no status monitor, so those of a
//! client that has gone stay, and locks of SMB do not concern NFS, nor does what NFS changes take
//! back what clients of SMB cache. NFSv4 is not served; of SMB, durable handles, further channels,
//! directory leases, change notification, streams, DFS and server-side copies are not. A datagram to a socket bound to
//! "any" address is answered from the address that the route back has.

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

pub use counters::Counters;
pub use options::{ListingBound, Options};
pub use queue::{QueueOptions, ServiceTime, ServiceTimeParseError};
pub use server::{Running, Server};
pub use smb2::{Protection, ProtectionParseError, SessionEnd, SmbConversation, SmbOptions, User};
pub use tbench::{TbenchCounters, TbenchOptions, TbenchServer};
pub use tree::InitialTree;
