//! GRANTED: the server's call to a client whose wait is over (RFC 1813,
//! section 6.3.5).

/// `nlm4_testargs`, as for TEST; `alock` is what is locked now.
pub use super::test::Args;
