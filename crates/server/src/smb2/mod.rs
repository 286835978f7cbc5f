//! SMB2 and SMB3 over the same tree as NFS, without I/O.
//!
//! | module | what is in it |
//! |---|---|
//! | `options` | what can be chosen: users, protection, dialects, credits |
//! | `service` | what a worker calls |
//! | `conversation` | the same without a worker, for tests |
//! | `frames` | from a frame to its answer: protection, compounds, credits, what waits |
//! | `connection`, `window` | what is kept of a connection |
//! | `exchange` | what a command has at hand |
//! | `negotiate`, `setup`, `create`, `data`, `locking`, `query`, `change`, `listing`, `control` | the commands |
//! | `open_table`, `held`, `locks`, `caching`, `oplock_rules`, `connection_id` | what connections share: share modes, locks, oplocks and leases, and what they tell each other |
//! | `names`, `paths`, `metadata` | names of SMB in the tree |
//! | `random` | challenges of authentications |

mod caching;
mod change;
mod connection;
mod connection_id;
mod control;
mod conversation;
mod create;
mod data;
mod exchange;
mod frames;
mod held;
mod listing;
mod locking;
mod locks;
mod metadata;
mod names;
mod negotiate;
mod open_table;
mod oplock_rules;
mod options;
mod paths;
mod query;
mod random;
mod service;
mod setup;
mod window;

pub use connection::Connection;
pub use connection_id::{ConnectionEvent, ConnectionId, RoutedEvent};
pub use conversation::SmbConversation;
pub use frames::{CloseConnection, Envelope, FaultAction, Moment, SessionEnd, is_work};
pub use options::{Protection, ProtectionParseError, SmbOptions, User};
pub use service::{Incoming, RequestContext, SmbService};
