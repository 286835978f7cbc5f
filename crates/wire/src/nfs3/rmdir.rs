//! RMDIR: remove a directory (RFC 1813, section 3.3.13).

/// `RMDIR3args` and `RMDIR3res`, which are those of REMOVE.
pub use super::remove::{Args, Reply};
