//! GETATTR: get file attributes (RFC 1813, section 3.3.1).

use super::{Fattr3, FileHandle, Status};

message! {
    /// `GETATTR3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// The object whose attributes are wanted.
        pub object: FileHandle<'a>,
    }
}

message! {
    /// `GETATTR3resok`.
    #[derive(Copy)]
    pub struct ReplyOk {
        /// `obj_attributes`.
        pub obj_attributes: Fattr3,
    }
}

message! {
    /// The failing arm of `GETATTR3res`.
    #[derive(Copy)]
    pub struct ReplyFail {
        /// Why.
        pub status: Status,
    }
}

/// `GETATTR3res`.
pub type Reply = Result<ReplyOk, ReplyFail>;
