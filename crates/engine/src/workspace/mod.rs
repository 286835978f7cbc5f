//! The directories that runs make for themselves on the target, and leave as they found it.
//!
//! | module | what is there |
//! |---|---|
//! | `marker` | the file that names a directory's owner, and whether that still runs |

pub(crate) mod marker;

pub use marker::Owner;
