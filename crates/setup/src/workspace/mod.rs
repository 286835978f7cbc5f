//! The directories that runs make for themselves on the target and remove at the end: `clients` of
//! a replay, and the file set of a mix.
//!
//! | module | contents |
//! |---|---|
//! | `marker` | the file that names a directory's owner, and the owner's state |
//! | `tree` | interface of a tree of files, on this host or on a server |
//! | `test_directory` | `clients`: claimed, released, removed |
//! | `scratch_directory` | the directory in which a probe changes objects |
//! | `set_directory` | the directory of a file set: claimed, taken over, released, removed |
//! | `set_removal` | removal of a file set's contents |
//! | `error` | errors |
//!
//! Design: docs/design/workspace.md.

mod error;
pub mod marker;
pub mod scratch_directory;
pub mod set_directory;
pub mod set_removal;
pub mod test_directory;
pub mod tree;

pub use error::{ClaimError, Purpose};
