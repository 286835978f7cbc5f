//! ACCESS: check access permission (RFC 1813, section 3.3.4).

use super::{FileHandle, PostOpAttr, ReplyFail};

/// ACCESS3_READ: read file data or a directory.
pub const READ: u32 = 0x01;
/// ACCESS3_LOOKUP: look up a name in a directory.
pub const LOOKUP: u32 = 0x02;
/// ACCESS3_MODIFY: rewrite file data or change directory entries.
pub const MODIFY: u32 = 0x04;
/// ACCESS3_EXTEND: write new data or add directory entries.
pub const EXTEND: u32 = 0x08;
/// ACCESS3_DELETE: delete a directory entry.
pub const DELETE: u32 = 0x10;
/// ACCESS3_EXECUTE: execute a file.
pub const EXECUTE: u32 = 0x20;
/// All bits that the standard defines.
pub const ALL: u32 = 0x3f;

message! {
    /// `ACCESS3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// Object to check.
        pub object: FileHandle<'a>,
        /// The permissions to check.
        pub access: u32,
    }
}

message! {
    /// `ACCESS3resok`.
    #[derive(Copy)]
    pub struct ReplyOk {
        /// `obj_attributes`, if the server gives them.
        pub obj_attributes: PostOpAttr,
        /// The requested permissions that the caller has.
        pub access: u32,
    }
}

/// `ACCESS3res`.
pub type Reply = Result<ReplyOk, ReplyFail<PostOpAttr>>;
