//! The failing arms of replies.

use super::Status;
use crate::xdr::{Decode, DecodeError, Encode, Reader, Writer};

/// Failure of a reply, which the standard defines for each procedure: the status, and the
/// attributes of the procedure's `resfail`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyFail<A> {
    /// Status of the failure.
    pub status: Status,
    /// `post_op_attr` or `wcc_data`, with the attributes that the server returns.
    pub attributes: A,
}

/// A failure without attributes.
impl<A: Default> From<Status> for ReplyFail<A> {
    fn from(status: Status) -> Self {
        let attributes = A::default();
        Self { status, attributes }
    }
}

impl<A: Encode> Encode for ReplyFail<A> {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        self.status.encode(out);
        self.attributes.encode(out);
    }
}

impl<'a, A: Decode<'a>> Decode<'a> for ReplyFail<A> {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            status: Status::decode(reader)?,
            attributes: A::decode(reader)?,
        })
    }
}
