//! The built-in, in-memory NFSv3 server: calibration target, demonstration and test double.
//!
//! It serves NFSv3, MOUNT version 3 and NLM version 4 (RFC 1813), and answers for the port mapper
//! (RFC 1833), all on one port, by TCP and UDP, over IPv4 and IPv6.
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
//! | `dispatch` | from the bytes of a call to those of its reply, without I/O |
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
//! Operations do not enforce permissions; only ACCESS speaks of them. AUTH_NONE and AUTH_SYS are
//! the flavors understood. Locks (NLM) are advisory; there is no status monitor, so those of a
//! client that has gone stay. NFSv4 is not served. A datagram to a socket bound to
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
pub mod tbench;
mod tree;
mod worker;

pub use counters::Counters;
pub use options::{ListingBound, Options};
pub use queue::{QueueOptions, ServiceTime, ServiceTimeParseError};
pub use server::{Running, Server};
pub use tbench::{TbenchCounters, TbenchOptions, TbenchServer};
pub use tree::InitialTree;
