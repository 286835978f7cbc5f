//! MKDIR: create a directory (RFC 1813, section 3.3.9).

use super::{DirOpArgs, PostOpAttr, PostOpHandle, Sattr3, Status, WccData};

message! {
    /// `MKDIR3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// `where`: the directory, and the name of the new one in it.
        pub where_: DirOpArgs<'a>,
        /// Its attributes.
        pub attributes: Sattr3,
    }
}

message! {
    /// `MKDIR3resok`.
    #[derive(Copy)]
    pub struct ReplyOk<'a> {
        /// The new object, if the server gives it.
        pub obj: PostOpHandle<'a>,
        /// `obj_attributes`, if the server gives them.
        pub obj_attributes: PostOpAttr,
        /// `dir_wcc`, as far as the server gives it.
        pub dir_wcc: WccData,
    }
}

message! {
    /// The failing arms of `MKDIR3res`.
    #[derive(Copy)]
    pub struct ReplyFail {
        /// Why.
        pub status: Status,
        /// `dir_wcc`, as far as the server gives it.
        pub dir_wcc: WccData,
    }
}

/// `MKDIR3res`.
pub type Reply<'a> = Result<ReplyOk<'a>, ReplyFail>;
