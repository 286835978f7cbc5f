//! LOCK: set a lock (RFC 1813, section 6.3.2).

use super::{LockRange, NetObject};

message! {
    /// `nlm4_lockargs`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// Chosen by the caller and repeated in the reply.
        pub cookie: NetObject<'a>,
        /// Waits for the lock if it conflicts.
        pub block: bool,
        /// Whether the lock is exclusive.
        pub exclusive: bool,
        /// `alock`: the range to lock.
        pub alock: LockRange<'a>,
        /// Whether the call reclaims a lock from before a restart of the server.
        pub reclaim: bool,
        /// NSM state number of the caller.
        pub state: i32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xdr::{Decode, Encode};

    #[test]
    fn the_lock_is_between_its_conditions() {
        let args = Args {
            cookie: NetObject(b"c"),
            block: false,
            exclusive: true,
            alock: LockRange {
                caller_name: NetObject(b"host"),
                fh: NetObject(b"fh"),
                owner: NetObject(b"own"),
                svid: -1,
                offset: 1 << 32,
                len: 2,
            },
            reclaim: false,
            state: 3,
        };
        #[rustfmt::skip]
        let expected = [
            0, 0, 0, 1, b'c', 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 1,
            0, 0, 0, 4, b'h', b'o', b's', b't',
            0, 0, 0, 2, b'f', b'h', 0, 0,
            0, 0, 0, 3, b'o', b'w', b'n', 0,
            0xff, 0xff, 0xff, 0xff,
            0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
            0, 0, 0, 0, 0, 0, 0, 3,
        ];
        assert_eq!(args.to_bytes(), expected);
        assert_eq!(Args::from_bytes(&expected), Ok(args));
    }
}
