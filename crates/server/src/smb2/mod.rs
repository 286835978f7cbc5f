//! SMB2 and SMB3 over the same tree as NFS, without I/O.
//!
//! | module | content |
//! |---|---|
//! | `options` | options: users, protection, dialects, credits |
//! | `service` | interface for workers |
//! | `conversation` | interface without a worker, for tests |
//! | `frames` | from a frame to its response: protection, compounds, credits, waiting requests |
//! | `connection`, `window` | state of a connection |
//! | `exchange` | context of a command |
//! | `negotiate`, `setup`, `create`, `data`, `locking`, `query`, `change`, `listing`, `control` |
//! the commands |
//! | `open_table`, `held`, `locks`, `caching`, `oplock_rules`, `connection_id` | state shared by
//! connections: share modes, locks, oplocks and leases, and events |
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

pub use connection::SmbConnection;
pub use connection_id::{ConnectionId, CrossConnectionEvent, RoutedEvent};
pub use conversation::SmbConversation;
pub use frames::{
    CloseConnection, Envelope, FaultAction, Frames, Moment, SessionEnd, command_of, is_work, open,
};
pub use options::{Protection, ProtectionParseError, SmbOptions, User};
pub use service::SmbService;
