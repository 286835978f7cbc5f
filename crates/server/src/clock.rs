//! Clock for file times and unique numbers of the server.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::tree::inode::UnixNanoseconds;

/// Returns the system time in nanoseconds since 1970.
#[inline]
pub fn now() -> UnixNanoseconds {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as UnixNanoseconds)
}
