//! CANCEL: ends waiting for a lock (RFC 1813, section 6.3.3).

use super::{LockRange, NetObject};

message! {
    /// `nlm4_cancargs`: the arguments of the waiting LOCK call.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// Chosen by the caller and repeated in the reply.
        pub cookie: NetObject<'a>,
        /// `block` of the LOCK call.
        pub block: bool,
        /// Whether the lock is exclusive.
        pub exclusive: bool,
        /// `alock`: the range of the LOCK call.
        pub alock: LockRange<'a>,
    }
}
