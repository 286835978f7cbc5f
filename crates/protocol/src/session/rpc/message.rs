//! Classification of a complete message: the reply to a call, or an error.

use super::calls::OutstandingCalls;
use super::{RpcEvent, RpcStreamError};
use filestone_wire::rpc::{AcceptStatus, ReplyBody, ReplyHeader};
use filestone_wire::xdr::{Decode, Reader};

/// Bytes after the xid in the header of a successful reply without verifier: REPLY, MSG_ACCEPTED,
/// AUTH_NONE, no body, SUCCESS (RFC 5531, section 9).
const PLAIN_REPLY: [u8; 20] = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// Length of the xid and the bytes of `PLAIN_REPLY`.
pub const PLAIN_HEADER_LEN: usize = 24;

/// Returns the xid and results of a reply with the usual header.
#[inline]
pub fn plain_results(record: &[u8]) -> Option<(u32, &[u8])> {
    let (xid, rest) = record.split_first_chunk::<4>()?;
    let (header, results) = rest.split_first_chunk::<20>()?;
    (*header == PLAIN_REPLY).then_some((u32::from_be_bytes(*xid), results))
}

impl<T: Copy> OutstandingCalls<T> {
    /// Takes a message that took `received` bytes.
    #[inline(always)]
    pub fn take<'a>(
        &mut self,
        message: &'a [u8],
        received: usize,
    ) -> Result<RpcEvent<'a, T>, RpcStreamError> {
        match plain_results(message) {
            Some((xid, results)) => Ok(self.answered(xid, Ok(results), received)),
            None => self.take_unusual(message, received),
        }
    }

    #[cold]
    fn take_unusual<'a>(
        &mut self,
        message: &'a [u8],
        received: usize,
    ) -> Result<RpcEvent<'a, T>, RpcStreamError> {
        // A call from the server is an error, too: filestone serves no program.
        let mut reader = Reader::new(message);
        let header = ReplyHeader::decode(&mut reader).map_err(RpcStreamError::Reply)?;
        let results = match header.body {
            ReplyBody::Accepted(AcceptStatus::Success) => Ok(reader.rest()),
            refused => Err(refused),
        };
        Ok(self.answered(header.xid, results, received))
    }
}
