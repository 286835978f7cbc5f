//! MKDIR: create a directory (RFC 1813, section 3.3.9).

/// `MKDIR3res`, which is that of CREATE.
pub use super::create::{Reply, ReplyOk};

use super::{DirOpArgs, Sattr3};

message! {
    /// `MKDIR3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// `where`: the directory, and the name of the new one in it.
        pub where_: DirOpArgs<'a>,
        /// Attributes of the directory.
        pub attributes: Sattr3,
    }
}
