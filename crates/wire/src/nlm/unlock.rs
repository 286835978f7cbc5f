//! UNLOCK: remove a lock (RFC 1813, section 6.3.4).

use super::{LockRange, NetObject};

message! {
    /// `nlm4_unlockargs`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// Chosen by the caller and repeated in the reply.
        pub cookie: NetObject<'a>,
        /// `alock`: the range to unlock; it may be part of a locked range.
        pub alock: LockRange<'a>,
    }
}
