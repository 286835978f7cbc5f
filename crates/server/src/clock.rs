//! The clock that file times and the server's own numbers come from.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::tree::inode::Timestamp;

/// Nanoseconds since 1970, of the system's clock.
#[inline]
pub fn now() -> Timestamp {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as Timestamp)
}
