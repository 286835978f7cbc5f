//! READDIR: read from a directory (RFC 1813, section 3.3.16).

use alloc::vec::Vec;

use super::{FileHandle, PostOpAttr, ReplyFail, Verifier};

message! {
    /// `READDIR3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// The directory.
        pub dir: FileHandle<'a>,
        /// 0 at the start, or the cookie of the last entry received.
        pub cookie: u64,
        /// Zeros at the start, or the verifier received with that cookie.
        pub cookieverf: Verifier,
        /// Largest size of `READDIR3resok`, in bytes.
        pub count: u32,
    }
}

message! {
    /// `entry3`.
    #[derive(Copy)]
    pub struct Entry<'a> {
        /// File number.
        pub fileid: u64,
        /// Name of the entry.
        pub name: &'a [u8],
        /// Cookie for continuing after the entry.
        pub cookie: u64,
    }
}

message! {
    /// `READDIR3resok`, with its `dirlist3`.
    pub struct ReplyOk<'a> {
        /// `dir_attributes`, if the server gives them.
        pub dir_attributes: PostOpAttr,
        /// Verifier that the client sends with the cookies.
        pub cookieverf: Verifier,
        /// Entries, in the server's order.
        pub entries: Vec<Entry<'a>>,
        /// End of the directory.
        pub eof: bool,
    }
}

/// `READDIR3res`.
pub type Reply<'a> = Result<ReplyOk<'a>, ReplyFail<PostOpAttr>>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xdr::{Decode, Encode};
    use alloc::vec;

    #[test]
    fn entries_are_a_list_and_eof_comes_after_it() {
        let reply = Reply::Ok(ReplyOk {
            dir_attributes: None,
            cookieverf: [1; 8],
            entries: vec![Entry {
                fileid: 2,
                name: b"..",
                cookie: 3,
            }],
            eof: true,
        });
        #[rustfmt::skip]
        let expected = [
            0, 0, 0, 0,                // NFS3_OK
            0, 0, 0, 0,                // dir_attributes: FALSE
            1, 1, 1, 1, 1, 1, 1, 1,    // cookieverf
            0, 0, 0, 1,                // an entry follows
            0, 0, 0, 0, 0, 0, 0, 2,    // fileid
            0, 0, 0, 2, b'.', b'.', 0, 0,
            0, 0, 0, 0, 0, 0, 0, 3,    // cookie
            0, 0, 0, 0,                // no entry follows
            0, 0, 0, 1,                // eof: TRUE
        ];
        assert_eq!(reply.to_bytes(), expected);
        assert_eq!(Reply::from_bytes(&expected), Ok(reply));
    }
}
