//! NULL: do nothing (RFC 1813, section 3.3.0).

/// Void.
pub type Args = ();

/// Void; NULL has no status and can fail only at the RPC level.
pub type Reply = ();
