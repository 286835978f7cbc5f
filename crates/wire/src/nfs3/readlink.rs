//! READLINK: read from a symbolic link (RFC 1813, section 3.3.5).

use super::{FileHandle, PostOpAttr, ReplyFail};

/// `READLINK3args`: the symbolic link.
pub type Args<'a> = FileHandle<'a>;

message! {
    /// `READLINK3resok`.
    #[derive(Copy)]
    pub struct ReplyOk<'a> {
        /// `symlink_attributes`, if the server returns them.
        pub symlink_attributes: PostOpAttr,
        /// `nfspath3`: target of the link.
        pub data: &'a [u8],
    }
}

/// `READLINK3res`.
pub type Reply<'a> = Result<ReplyOk<'a>, ReplyFail<PostOpAttr>>;
