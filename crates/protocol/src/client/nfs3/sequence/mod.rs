//! Sequential calls without I/O: a future issues calls, and a driver exchanges them.
//!
//! ```text
//!   future ──arguments──▶ [CallSlot] ──call──▶ driver ──▶ server
//!     ▲                     │                │
//!     └──────results────────┘◀───results─────┘
//! ```
//!
//! A future calls a procedure of its [`NfsCallHandle`], which encodes the call at once, and is pending
//! until a driver has delivered the reply. The driver polls the future, makes the requested
//! exchange with its own method of waiting for servers, and polls again. No waker is used: the
//! driver knows the future of each reply.
//!
//! | file | content |
//! |---|---|
//! | `link` | exchange between the two (`client::call_slot`), for RPC |
//! | `procedures` | NFSv3 as functions: arguments in, the results that a client needs out |
//! | `listing` | directories, page by page |
//! | `removal` | removal of trees |

pub mod link;
mod listing;
mod procedures;
mod removal;

pub use crate::client::call_slot::{ActionError, Results, WaitReason};
pub use filestone_workload::output::DataRange;
pub use link::{
    NfsCall, NfsCallFuture, NfsCallHandle, NfsCallSlot, NfsClientError, NfsClientErrorKind,
    NfsReplyError, Rpc,
};
pub use listing::ObjectWithAttributes;
pub use procedures::{
    ListingCursor, NFS, ReadResult, WriteResult, called, named, permissions, times_of_server,
};

use crate::client::call_slot::ActionResult;
use filestone_wire::nfs3::{self, Fattr3, Handle};
use filestone_workload::failure::StatusSpace;
use filestone_workload::load::ActionStatus;

impl ActionError {
    /// Returns whether the server answered with this status.
    pub fn is(&self, status: nfs3::Status) -> bool {
        matches!(self, ActionError::Status(answered) if *answered == answer(status))
    }
}

impl From<nfs3::Status> for ActionError {
    fn from(status: nfs3::Status) -> Self {
        ActionError::Status(answer(status))
    }
}

/// Returns the status of a procedure that failed.
pub const fn answer(status: nfs3::Status) -> ActionStatus {
    ActionStatus::Failed(StatusSpace::Nfs3.status(status.0))
}

/// Result of one step of a client.
pub type NfsActionResult<T> = ActionResult<T>;

/// An object, and its attributes if the server returned them.
#[derive(Debug, Clone, Copy)]
pub struct Object {
    /// The file handle.
    pub handle: Handle,
    /// The attributes in the LOOKUP reply.
    pub attributes: Option<Fattr3>,
}
