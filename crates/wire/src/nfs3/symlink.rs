//! SYMLINK: create a symbolic link (RFC 1813, section 3.3.10).

/// `SYMLINK3res`, which is that of CREATE.
pub use super::create::{Reply, ReplyOk};

use super::{DirOpArgs, Sattr3};

message! {
    /// `SYMLINK3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// `where`: the directory, and the name of the new link in it.
        pub where_: DirOpArgs<'a>,
        /// The new link.
        pub symlink: SymlinkData<'a>,
    }
}

message! {
    /// `symlinkdata3`.
    #[derive(Copy)]
    pub struct SymlinkData<'a> {
        /// Attributes of the link.
        pub symlink_attributes: Sattr3,
        /// `nfspath3`: target of the link.
        pub symlink_data: &'a [u8],
    }
}
