//! READDIRPLUS: extended read from a directory (RFC 1813, section 3.3.17).

use alloc::vec::Vec;

use super::{FileHandle, PostOpAttr, PostOpHandle, ReplyFail, Verifier};

message! {
    /// `READDIRPLUS3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// The directory.
        pub dir: FileHandle<'a>,
        /// 0 to begin, or the cookie of the last entry seen.
        pub cookie: u64,
        /// Zeros to begin, or what came with that cookie.
        pub cookieverf: Verifier,
        /// Most bytes of names, file numbers and cookies.
        pub dircount: u32,
        /// Most bytes of `READDIRPLUS3resok`.
        pub maxcount: u32,
    }
}

message! {
    /// `entryplus3`.
    #[derive(Copy)]
    pub struct EntryPlus<'a> {
        /// The number of the file.
        pub fileid: u64,
        /// Its name.
        pub name: &'a [u8],
        /// Where to go on after it.
        pub cookie: u64,
        /// Its attributes, if the server gives them.
        pub name_attributes: PostOpAttr,
        /// Its handle, if the server gives it.
        pub name_handle: PostOpHandle<'a>,
    }
}

message! {
    /// `READDIRPLUS3resok`, with its `dirlistplus3`.
    pub struct ReplyOk<'a> {
        /// `dir_attributes`, if the server gives them.
        pub dir_attributes: PostOpAttr,
        /// To be sent back with the cookies.
        pub cookieverf: Verifier,
        /// Entries, in an order of the server.
        pub entries: Vec<EntryPlus<'a>>,
        /// Whether the directory ends here.
        pub eof: bool,
    }
}

/// `READDIRPLUS3res`.
pub type Reply<'a> = Result<ReplyOk<'a>, ReplyFail<PostOpAttr>>;
