//! Descriptions of locks (RFC 1813, sections 6.1.1 to 6.1.4).

use crate::xdr::{Decode, DecodeError, Encode, Reader, Writer};

/// MAXNETOBJ_SZ and LM_MAXSTRLEN: largest length of an object or a name, in bytes.
pub const OBJECT_MAX: usize = 1024;

/// `netobj`: bytes that are opaque to the other side, at most [`OBJECT_MAX`]; or `caller_name`,
/// which has the same form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetObject<'a>(pub &'a [u8]);

impl Encode for NetObject<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        out.opaque(self.0);
    }
}

impl<'a> Decode<'a> for NetObject<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.opaque(OBJECT_MAX).map(Self)
    }
}

message! {
    /// `nlm4_lock`: a range of a file, and the owner of the lock.
    #[derive(Copy)]
    pub struct LockRange<'a> {
        /// Name of the calling host.
        pub caller_name: NetObject<'a>,
        /// NFS handle of the file.
        pub fh: NetObject<'a>,
        /// `oh`: the owner on that host.
        pub owner: NetObject<'a>,
        /// `svid`: the process on that host.
        pub svid: i32,
        /// `l_offset`: the first byte.
        pub offset: u64,
        /// `l_len`: length in bytes; 0 extends to the end of all files.
        pub len: u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_has_at_most_1024_bytes() {
        let expected = Err(DecodeError::TooLong {
            at: 0,
            len: 1025,
            limit: 1024,
        });
        assert_eq!(NetObject::from_bytes(&[0, 0, 4, 1]), expected);
    }
}
