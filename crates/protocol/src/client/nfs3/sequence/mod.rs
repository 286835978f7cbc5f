//! Calls one after the other, without I/O: what asks is a future, what exchanges is a driver.
//!
//! ```text
//!   future ──arguments──▶ [CallSlot] ──call──▶ driver ──▶ server
//!     ▲                     │                │
//!     └──────results────────┘◀───results─────┘
//! ```
//!
//! A future calls a procedure of its [`CallHandle`], which encodes the call at once, and is pending
//! until a driver has answered. The driver polls it, makes the exchange that is wanted then, in
//! whatever way it waits for servers, and polls again. No waker is used: the driver knows whose
//! reply it has.
//!
//! | file | what is in it |
//! |---|---|
//! | `link` | what is between the two (`client::call_slot`), for RPC |
//! | `procedures` | NFSv3 as functions: arguments in, what a client needs of the results out |
//! | `listing` | directories, page by page |
//! | `removal` | trees taken away |

pub mod link;
mod listing;
mod procedures;
mod removal;

pub use crate::client::call_slot::{ActionError, Results, WaitReason};
pub use filestone_workload::output::DataRange;
pub use link::{
    Call, CallFuture, CallHandle, CallSlot, ClientError, ClientErrorKind, ReplyError, Rpc,
};
pub use listing::ObjectWithAttributes;
pub use procedures::{
    ListingCursor, NFS, ReadResult, WriteResult, called, named, permissions, times_of_server,
};

use crate::client::call_slot::ActionResult;
use filestone_wire::nfs3::{self, Fattr3, Handle};
use filestone_workload::failure::StatusSpace;
use filestone_workload::load::Status;

impl ActionError {
    /// Whether the server answered with this status.
    pub fn is(&self, status: nfs3::Status) -> bool {
        matches!(self, ActionError::Status(answered) if *answered == answer(status))
    }
}

impl From<nfs3::Status> for ActionError {
    fn from(status: nfs3::Status) -> Self {
        ActionError::Status(answer(status))
    }
}

/// The answer of a procedure that did not do what it was to do.
pub const fn answer(status: nfs3::Status) -> Status {
    Status::Failed(StatusSpace::Nfs3.status(status.0))
}

/// What comes of a step.
pub type NfsResult<T> = ActionResult<T>;

/// An object, and its attributes if the server gave them.
#[derive(Debug, Clone, Copy)]
pub struct Object {
    /// Its handle.
    pub handle: Handle,
    /// As LOOKUP gave them.
    pub attributes: Option<Fattr3>,
}
