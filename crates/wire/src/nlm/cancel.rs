//! CANCEL: give up waiting for a lock (RFC 1813, section 6.3.3).

use super::{LockRange, NetObject};

message! {
    /// `nlm4_cancargs`: as they were in the LOCK that waits.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// Chosen by the caller and repeated in the reply.
        pub cookie: NetObject<'a>,
        /// Whether it waits.
        pub block: bool,
        /// Whether nobody else may have a lock on any of it.
        pub exclusive: bool,
        /// `alock`: what was to be locked.
        pub alock: LockRange<'a>,
    }
}
