//! UNLOCK: remove a lock (RFC 1813, section 6.3.4).

use super::{LockRange, NetObject};

message! {
    /// `nlm4_unlockargs`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// Chosen by the caller and repeated in the reply.
        pub cookie: NetObject<'a>,
        /// `alock`: what is to be free; it may be part of what was locked.
        pub alock: LockRange<'a>,
    }
}
