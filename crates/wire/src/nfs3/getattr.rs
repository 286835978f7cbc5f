//! GETATTR: get file attributes (RFC 1813, section 3.3.1).

use super::{Fattr3, FileHandle, ReplyFail};

message! {
    /// `GETATTR3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// Object whose attributes are requested.
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

/// `GETATTR3res`.
pub type Reply = Result<ReplyOk, ReplyFail<()>>;
