//! FSSTAT: get dynamic file system information (RFC 1813, section 3.3.18).

use super::{FileHandle, PostOpAttr, ReplyFail};

/// `FSSTAT3args`: the root of the file system, or any object in it.
pub type Args<'a> = FileHandle<'a>;

message! {
    /// `FSSTAT3resok`.
    #[derive(Copy)]
    pub struct ReplyOk {
        /// `obj_attributes`, if the server gives them.
        pub obj_attributes: PostOpAttr,
        /// Total size, in bytes.
        pub tbytes: u64,
        /// Free space, in bytes.
        pub fbytes: u64,
        /// Free space available to the caller, in bytes.
        pub abytes: u64,
        /// Total number of file slots.
        pub tfiles: u64,
        /// Number of free file slots.
        pub ffiles: u64,
        /// Number of free file slots available to the caller.
        pub afiles: u64,
        /// Seconds during which no change is expected.
        pub invarsec: u32,
    }
}

/// `FSSTAT3res`.
pub type Reply = Result<ReplyOk, ReplyFail<PostOpAttr>>;
