//! READDIRPLUS: extended read from a directory (RFC 1813, section 3.3.17).

use alloc::vec::Vec;

use super::{FileHandle, PostOpAttr, PostOpHandle, ReplyFail, Verifier};

message! {
    /// `READDIRPLUS3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// The directory.
        pub dir: FileHandle<'a>,
        /// 0 at the start, or the cookie of the last entry received.
        pub cookie: u64,
        /// Zeros at the start, or the verifier received with that cookie.
        pub cookieverf: Verifier,
        /// Largest size of names, file numbers and cookies, in bytes.
        pub dircount: u32,
        /// Largest size of `READDIRPLUS3resok`, in bytes.
        pub maxcount: u32,
    }
}

message! {
    /// `entryplus3`.
    #[derive(Copy)]
    pub struct EntryPlus<'a> {
        /// File number.
        pub fileid: u64,
        /// Name of the entry.
        pub name: &'a [u8],
        /// Cookie for continuing after the entry.
        pub cookie: u64,
        /// Attributes of the entry, if the server returns them.
        pub name_attributes: PostOpAttr,
        /// Handle of the entry, if the server returns it.
        pub name_handle: PostOpHandle<'a>,
    }
}

message! {
    /// `READDIRPLUS3resok`, with its `dirlistplus3`.
    pub struct ReplyOk<'a> {
        /// `dir_attributes`, if the server gives them.
        pub dir_attributes: PostOpAttr,
        /// Verifier that the client sends with the cookies.
        pub cookieverf: Verifier,
        /// Entries, in the server's order.
        pub entries: Vec<EntryPlus<'a>>,
        /// End of the directory.
        pub eof: bool,
    }
}

/// `READDIRPLUS3res`.
pub type Reply<'a> = Result<ReplyOk<'a>, ReplyFail<PostOpAttr>>;
