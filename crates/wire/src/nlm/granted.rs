//! GRANTED: the server's call to a client whose waiting lock is granted (RFC 1813, section 6.3.5).

/// `nlm4_testargs`, as for TEST; `alock` is the granted lock.
pub use super::test::Args;
