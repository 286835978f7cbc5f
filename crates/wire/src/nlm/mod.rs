//! The Network Lock Manager, version 4 (RFC 1813, appendix II).
//!
//! The protocol itself is the X/Open one, which the RFC widens to 64-bit
//! offsets and the handles of NFSv3. Here are the procedures that answer at
//! once, one file each. The ones that answer by a call back (numbers 6 to 15)
//! and the shares of DOS (20 to 23) are not.

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
    /// `nlm4_res`: the answer to all procedures but NULL and TEST.
    #[derive(Copy)]
    pub struct StatusReply<'a> {
        /// That of the call.
        pub cookie: NetObject<'a>,
        /// What became of it.
        pub stat: Status,
    }
}
