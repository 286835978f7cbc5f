//! ONC RPC version 2: the headers of calls and replies (RFC 5531, section 9).
//!
//! A header is decoded from the front of a [`Reader`](crate::xdr::Reader); the procedure's
//! arguments or results follow in the same reader. Record marks are in [`record`](crate::record).

mod auth;
mod call;
mod reply;

pub use auth::{
    AUTH_BODY_MAX, AUTH_NONE, AUTH_SYS, AuthSys, Credential, GIDS_MAX, Gids, MACHINE_NAME_MAX,
    OpaqueAuth, flavor_name,
};
pub use call::CallHeader;
pub use reply::{AcceptStatus, AuthStatus, RejectStatus, ReplyBody, ReplyHeader};

/// Version of the RPC protocol; there is no other.
pub const RPC_VERSION: u32 = 2;

/// `msg_type` of a call.
const CALL: u32 = 0;
/// `msg_type` of a reply.
const REPLY: u32 = 1;
