//! GRANTED: the server's call to a client whose wait is over (RFC 1813,
//! section 6.3.5).

use super::{LockRange, NetObject, StatusReply};

message! {
    /// `nlm4_testargs`, as for TEST.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// Chosen by the caller and repeated in the reply.
        pub cookie: NetObject<'a>,
        /// Whether nobody else may have a lock on any of it.
        pub exclusive: bool,
        /// `alock`: what is locked now.
        pub alock: LockRange<'a>,
    }
}

/// `nlm4_res`.
pub type Reply<'a> = StatusReply<'a>;
