//! READLINK: read from a symbolic link (RFC 1813, section 3.3.5).

use super::{FileHandle, PostOpAttr, Status};

message! {
    /// `READLINK3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// The symbolic link.
        pub symlink: FileHandle<'a>,
    }
}

message! {
    /// `READLINK3resok`.
    #[derive(Copy)]
    pub struct ReplyOk<'a> {
        /// `symlink_attributes`, if the server gives them.
        pub symlink_attributes: PostOpAttr,
        /// `nfspath3`: what the link holds.
        pub data: &'a [u8],
    }
}

message! {
    /// The failing arms of `READLINK3res`.
    #[derive(Copy)]
    pub struct ReplyFail {
        /// Why.
        pub status: Status,
        /// `symlink_attributes`, if the server gives them.
        pub symlink_attributes: PostOpAttr,
    }
}

/// `READLINK3res`.
pub type Reply<'a> = Result<ReplyOk<'a>, ReplyFail>;
