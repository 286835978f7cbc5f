//! The directories that runs make for themselves on the target, and leave as they found it:
//! `clients` of a replay, and the file set of a mix.
//!
//! | module | what is there |
//! |---|---|
//! | `marker` | the file that names a directory's owner, and whether that still runs |
//! | `tree` | what is needed of a tree of files, on this host or on a server |
//! | `test_directory` | `clients`: claimed, given up, removed |
//! | `scratch_directory` | what a probe changes things in |
//! | `set_directory` | the directory of a file set, likewise, and taken over from another run |
//! | `set_removal` | what is in a file set, removed |
//! | `error` | why not |
//!
//! Why it is so: docs/design/workspace.md.

pub(crate) mod error;
pub(crate) mod marker;
pub(crate) mod scratch_directory;
pub(crate) mod set_directory;
pub(crate) mod set_removal;
pub(crate) mod test_directory;
pub(crate) mod tree;

pub use error::{ClaimError, Purpose};
pub use marker::{Owner, ProcessIdentity};
pub use test_directory::OnExisting;
