//! WRITE: write to a file (RFC 1813, section 3.3.7).

use super::{FileHandle, ReplyFail, Verifier, WccData};
use crate::xdr::{Decode, DecodeError, Encode, Reader, Writer, length};

/// `stable_how`: data that must be on stable storage when the reply is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum StableHow {
    /// UNSTABLE: no data until a COMMIT.
    Unstable = 0,
    /// DATA_SYNC: the data, and the metadata needed to find them.
    DataSync = 1,
    /// FILE_SYNC: the data and all attributes.
    FileSync = 2,
}

impl StableHow {
    /// The standard's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unstable => "UNSTABLE",
            Self::DataSync => "DATA_SYNC",
            Self::FileSync => "FILE_SYNC",
        }
    }
}

impl Encode for StableHow {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        out.u32(*self as u32);
    }
}

impl<'a> Decode<'a> for StableHow {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        match reader.u32()? {
            0 => Ok(Self::Unstable),
            1 => Ok(Self::DataSync),
            2 => Ok(Self::FileSync),
            value => Err(DecodeError::BadDiscriminant {
                field: "stable_how",
                value,
            }),
        }
    }
}

message! {
    /// `WRITE3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// The file.
        pub file: FileHandle<'a>,
        /// Offset in the file.
        pub offset: u64,
        /// Bytes to write; equals the length of the data in a correct call.
        pub count: u32,
        /// Required stability at the time of the reply.
        pub stable: StableHow,
        /// Data to write.
        pub data: &'a [u8],
    }
}

impl Args<'_> {
    /// Appends the arguments up to their data, whose length is `data_len` rather than that of
    /// `data`.
    ///
    /// For a client that sends the data without copying them. It then sends zeros up to the next
    /// multiple of four bytes.
    #[inline]
    pub fn encode_head(&self, data_len: usize, out: &mut Writer<'_>) {
        self.file.encode(out);
        out.u64(self.offset);
        out.words([self.count, self.stable as u32, length(data_len)]);
    }
}

message! {
    /// `WRITE3resok`.
    #[derive(Copy)]
    pub struct ReplyOk {
        /// `file_wcc`, with the attributes that the server returns.
        pub file_wcc: WccData,
        /// Number of bytes written, possibly fewer than were sent.
        pub count: u32,
        /// Stability of the data; at least the requested one.
        pub committed: StableHow,
        /// `writeverf3`: a changed value means that unstable data may be lost.
        pub verf: Verifier,
    }
}

/// `WRITE3res`.
pub type Reply = Result<ReplyOk, ReplyFail<WccData>>;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn the_head_and_the_data_are_the_arguments() {
        let file = FileHandle::new(b"handle").unwrap();
        let stable = StableHow::FileSync;
        let args = Args {
            file,
            offset: 1 << 40,
            count: 8,
            stable,
            data: b"contents",
        };
        let mut sent = Vec::new();
        Args { data: &[], ..args }.encode_head(8, &mut Writer::new(&mut sent));
        sent.extend_from_slice(b"contents");
        assert_eq!(sent, args.to_bytes());
    }
}
