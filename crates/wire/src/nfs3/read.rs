//! READ: read from a file (RFC 1813, section 3.3.6).

use super::{FileHandle, PostOpAttr, ReplyFail, Status};
use crate::xdr::{Encode, Writer, length};

message! {
    /// `READ3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// The file.
        pub file: FileHandle<'a>,
        /// Offset in the file.
        pub offset: u64,
        /// Requested number of bytes.
        pub count: u32,
    }
}

message! {
    /// `READ3resok`.
    #[derive(Copy)]
    pub struct ReplyOk<'a> {
        /// `file_attributes`, if the server gives them.
        pub file_attributes: PostOpAttr,
        /// Bytes read; equals the length of the data in a correct reply.
        pub count: u32,
        /// The read reached the end of the file.
        pub eof: bool,
        /// Data that were read.
        pub data: &'a [u8],
    }
}

/// `READ3res`.
pub type Reply<'a> = Result<ReplyOk<'a>, ReplyFail<PostOpAttr>>;

impl ReplyOk<'_> {
    /// Appends the reply up to its data: status, attributes, count, eof and the length of the data,
    /// which is `data_len` rather than that of `data`.
    ///
    /// For a server that sends the data without copying them. It then sends zeros up to the next
    /// multiple of four bytes.
    #[inline]
    pub fn encode_head(&self, data_len: usize, out: &mut Writer<'_>) {
        out.u32(Status::OK.0);
        self.file_attributes.encode(out);
        out.words([self.count, self.eof.into(), length(data_len)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn the_head_and_the_data_are_the_reply() {
        let ok = ReplyOk {
            file_attributes: None,
            count: 8,
            eof: true,
            data: b"contents",
        };
        let mut sent = Vec::new();
        ReplyOk { data: &[], ..ok }.encode_head(8, &mut Writer::new(&mut sent));
        sent.extend_from_slice(b"contents");
        assert_eq!(sent, Reply::Ok(ok).to_bytes());
    }
}
