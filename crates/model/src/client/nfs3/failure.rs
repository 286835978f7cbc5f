//! Names of failures, as RFC 1813 and RFC 5531 spell them, with their numbers.

use crate::operation::{Failure, ReplyFault};
use filestone_wire::nfs3::Status;
use filestone_wire::rpc::AuthStatus;

/// The name of a failure, such as `NFS3ERR_STALE (70)`.
pub fn name(failure: Failure) -> String {
    match failure {
        Failure::Status(status) => Status(status).to_string(),
        Failure::Rejected(status) => format!("{} ({status})", accept_status(status)),
        Failure::Denied(RPC_MISMATCH) => "RPC_MISMATCH (0)".into(),
        Failure::Denied(status) => AuthStatus(status).to_string(),
        Failure::BadReply(fault) => match fault {
            ReplyFault::Undecodable => "reply that cannot be decoded".into(),
            ReplyFault::TooMuchData => "reply with more data than asked for".into(),
            ReplyFault::WrongData => "reply with wrong data".into(),
            ReplyFault::Inconsistent => "reply that contradicts its call".into(),
            ReplyFault::Short => "short transfer: less data than asked for".into(),
        },
        Failure::Unexpected(mismatch) => mismatch.name().into(),
    }
}

/// How [`Failure::Denied`] says RPC_MISMATCH: auth_stat 0 is AUTH_OK and never denies.
pub const RPC_MISMATCH: u32 = 0;

/// accept_stat, RFC 5531 section 9.
const fn accept_status(status: u32) -> &'static str {
    match status {
        1 => "PROG_UNAVAIL",
        2 => "PROG_MISMATCH",
        3 => "PROC_UNAVAIL",
        4 => "GARBAGE_ARGS",
        _ => "SYSTEM_ERR",
    }
}
