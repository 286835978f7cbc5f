//! FSSTAT: get dynamic file system information (RFC 1813, section 3.3.18).

use super::{FileHandle, PostOpAttr, ReplyFail};

message! {
    /// `FSSTAT3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// The root of the file system, or any object in it.
        pub fsroot: FileHandle<'a>,
    }
}

message! {
    /// `FSSTAT3resok`.
    #[derive(Copy)]
    pub struct ReplyOk {
        /// `obj_attributes`, if the server gives them.
        pub obj_attributes: PostOpAttr,
        /// Bytes in all.
        pub tbytes: u64,
        /// Bytes free.
        pub fbytes: u64,
        /// Bytes free to the caller.
        pub abytes: u64,
        /// File slots in all.
        pub tfiles: u64,
        /// File slots free.
        pub ffiles: u64,
        /// File slots free to the caller.
        pub afiles: u64,
        /// Seconds during which no change is expected.
        pub invarsec: u32,
    }
}

/// `FSSTAT3res`.
pub type Reply = Result<ReplyOk, ReplyFail<PostOpAttr>>;
