//! NULL: do nothing (RFC 1813, section 3.3.0).

/// Void.
pub type Args = ();

/// Void; NULL has no status and cannot fail but as an RPC.
pub type Reply = ();
