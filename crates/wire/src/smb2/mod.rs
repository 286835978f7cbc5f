//! SMB2 and SMB3 (MS-SMB2): the header, and a file for each command.
//!
//! Dialects 2.0.2 to 3.1.1. Section numbers are those of MS-SMB2 unless another standard is named.
//! A message is a [`Header`] and a body; a frame on a connection contains one or several
//! ([`compound`]). Cryptography, and the matching of responses to requests, are elsewhere.

#[macro_use]
mod declare;

mod access;
mod attributes;
pub mod cancel;
pub mod change_notify;
mod channel;
pub mod close;
pub mod codec;
mod command;
pub mod compound;
pub mod create;
pub mod echo;
mod empty;
mod error;
mod file_id;
pub mod flush;
pub mod frame;
mod header;
pub mod info;
pub mod ioctl;
mod lease;
pub mod lock;
pub mod logoff;
pub mod negotiate;
mod oplock;
pub mod oplock_break;
mod output;
pub mod query_directory;
pub mod query_info;
pub mod read;
pub mod session_setup;
pub mod set_info;
pub mod spnego;
mod status;
mod time;
pub mod transform;
pub mod tree_connect;
pub mod tree_disconnect;
pub mod write;

pub use access::AccessMask;
pub use attributes::FileAttributes;
pub use channel::Channel;
pub use command::Command;
pub use empty::Empty;
pub use error::{ErrorResponse, Reply, has_own_body};
pub use file_id::FileId;
pub use header::{HEADER_LEN, Header, HeaderFlags, ProtocolId, Route, UNASKED};
pub use lease::{LeaseFlags, LeaseKey, LeaseState};
pub use negotiate::{Capabilities, Dialect, SecurityMode};
pub use oplock::OplockLevel;
pub use output::OutputBuffer;
pub use status::Status;
pub use time::FileTime;
