//! The Network Lock Manager, version 4 (RFC 1813, appendix II).
//!
//! The protocol is that of X/Open, which the RFC extends to 64-bit offsets and the handles of
//! NFSv3. The procedures with immediate replies are here, one file each; those that reply by a
//! callback (numbers 6 to 15) and the DOS shares (20 to 23) are not.

pub mod cancel;
pub mod granted;
pub mod lock;
mod object;
mod procedure;
mod status;
pub mod test;
pub mod unlock;

pub use object::{LockRange, NetObject, OBJECT_MAX};
pub use procedure::Procedure;
pub use status::Status;

/// NLM_PROG.
pub const PROGRAM: u32 = 100_021;
/// NLM_VERS4, section 6.1.
pub const VERSION: u32 = 4;

message! {
    /// `nlm4_res`: the reply to all procedures except NULL and TEST.
    #[derive(Copy)]
    pub struct StatusReply<'a> {
        /// Cookie of the call.
        pub cookie: NetObject<'a>,
        /// Result of the call.
        pub stat: Status,
    }
}
