//! LOOKUP: look up a file name (RFC 1813, section 3.3.3).

use super::{DirOpArgs, FileHandle, PostOpAttr, Status};

message! {
    /// `LOOKUP3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// The directory, and the name to find in it.
        pub what: DirOpArgs<'a>,
    }
}

message! {
    /// `LOOKUP3resok`.
    #[derive(Copy)]
    pub struct ReplyOk<'a> {
        /// What has that name.
        pub object: FileHandle<'a>,
        /// `obj_attributes`, if the server gives them.
        pub obj_attributes: PostOpAttr,
        /// `dir_attributes`, if the server gives them.
        pub dir_attributes: PostOpAttr,
    }
}

message! {
    /// The failing arms of `LOOKUP3res`.
    #[derive(Copy)]
    pub struct ReplyFail {
        /// Why.
        pub status: Status,
        /// `dir_attributes`, if the server gives them.
        pub dir_attributes: PostOpAttr,
    }
}

/// `LOOKUP3res`.
pub type Reply<'a> = Result<ReplyOk<'a>, ReplyFail>;
