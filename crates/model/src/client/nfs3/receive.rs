//! From received bytes to replies, and from a reply to the call it answers.

use super::replies::{self, Checked};
use super::{Nfs3Client, Reading, Streaming, failure};
use crate::client::ProtocolError;
use crate::completions::Completions;
use crate::operation::{Answer, Failure, Operation, Outcome, ReplyFault};
use crate::time::Moment;
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{AcceptStatus, RejectStatus, ReplyBody, ReplyHeader};
use filestone_wire::xdr::{Decode, Reader};

/// The largest reply taken: the largest READ that we ask for and room for its
/// head, or a listing page.
pub const RECORD_MAX: usize = (4 << 20) + 4096;
/// What is received at a time where file data are delivered: little enough to stay in
/// the processor's first cache until it is looked at, and enough to make the system
/// call a small part of what its copying costs.
pub const DATA_AT_A_TIME: usize = 32 << 10;
/// Record mark, RPC header, status, attributes, count, eof and length of a READ
/// reply: 4 + 24 + 4 + 4 + 84 + 12.
pub const READ_HEAD_LEN: usize = 132;
/// What follows the xid in the header of an accepted call without verifier:
/// REPLY, MSG_ACCEPTED, AUTH_NONE, no body, SUCCESS (RFC 5531, section 9).
const PLAIN_REPLY: [u8; 20] = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// xid and what follows it.
const PLAIN_HEADER_LEN: usize = 24;

impl Nfs3Client {
    /// Any part of a TCP stream.
    pub(super) fn receive_stream(
        &mut self,
        bytes: &[u8],
        now: Moment,
        completed: &mut Completions,
    ) -> Result<(), ProtocolError> {
        let mut input = bytes;
        loop {
            if let Some(streaming) = &self.streaming {
                let (data, rest) = input.split_at(streaming.remaining.min(input.len()));
                self.take_data(data, now, completed);
                input = rest;
            }
            if self.assembler.is_at_boundary() {
                if let Some(record) = whole_record(&mut input) {
                    self.receive_reply(record, record.len() + 4, now, completed)?;
                    continue;
                }
                if self.begin_streaming(&mut input) {
                    continue;
                }
            }
            // The assembler lends the record from itself, and a reply needs the
            // whole client: it is put back as soon as the record is dealt with.
            let mut assembler = std::mem::replace(
                &mut self.assembler,
                filestone_wire::record::Assembler::new(0),
            );
            let result = match assembler.next(&mut input) {
                Ok(Some(record)) => self
                    .receive_reply(record, record.len() + 4, now, completed)
                    .map(|()| true),
                Ok(None) => Ok(false),
                Err(error) => Err(error.into()),
            };
            self.assembler = assembler;
            if !result? {
                return Ok(());
            }
        }
    }

    /// One datagram. What is no reply is dropped, as a stray datagram deserves.
    pub(super) fn receive_datagram(
        &mut self,
        bytes: &[u8],
        now: Moment,
        completed: &mut Completions,
    ) -> Result<(), ProtocolError> {
        if self
            .receive_reply(bytes, bytes.len(), now, completed)
            .is_err()
        {
            self.late_replies += 1;
        }
        Ok(())
    }

    /// One whole reply.
    #[inline(always)]
    fn receive_reply(
        &mut self,
        record: &[u8],
        received: usize,
        now: Moment,
        completed: &mut Completions,
    ) -> Result<(), ProtocolError> {
        let (xid, results) = match plain_results(record) {
            Some(found) => found,
            None => match unusual_results(record)? {
                (xid, Ok(results)) => (xid, results),
                (xid, Err(failure)) => {
                    self.end(xid, Err(failure), received, now, completed);
                    return Ok(());
                }
            },
        };
        self.end(xid, Ok(results), received, now, completed);
        Ok(())
    }

    /// Ends the call with this xid, or counts a reply to nobody.
    #[inline(always)]
    fn end(
        &mut self,
        xid: u32,
        results: Result<&[u8], Failure>,
        received: usize,
        now: Moment,
        completed: &mut Completions,
    ) {
        self.replies += 1;
        let Some(index) = self.slot_of(xid) else {
            self.late_replies += 1;
            return;
        };
        let bytes_received = received.min(u32::MAX as usize) as u32;
        let checked = match results {
            Ok(results)
                if replies::is_plain_success(self.slots[index].kind, results)
                    && self.complete_alike(index, bytes_received, now, completed) =>
            {
                return;
            }
            Ok(results) => {
                let table = &self.shared.table;
                let verify = match &mut self.reading {
                    Reading::Verify(verify) => Some(&mut **verify),
                    Reading::Nothing | Reading::Discard | Reading::Deliver => None,
                };
                replies::check(&self.operations[index], results, table, verify)
            }
            Err(failure) => Checked {
                outcome: Outcome::Failed(failure),
                answer: Answer::Plain,
                data_bytes: 0,
            },
        };
        self.complete(index, checked, bytes_received, now, completed);
    }

    /// If `input` starts with the head of a READ reply that is not here whole, checks
    /// the head and takes it, so that the data need not be collected.
    fn begin_streaming(&mut self, input: &mut &[u8]) -> bool {
        if self.streaming.is_some() || input.len() < READ_HEAD_LEN {
            return false;
        }
        let Some((mark, record)) = input.split_first_chunk::<4>() else {
            return false;
        };
        let mark = RecordMark::from_bytes(*mark);
        let len = mark.len as usize;
        if !mark.last || !(self.streamed_min..=RECORD_MAX).contains(&len) {
            return false;
        }
        let Some((xid, results)) = plain_results(record) else {
            return false;
        };
        let Some(index) = self.slot_of(xid) else {
            return false;
        };
        let Operation::Read {
            file,
            offset,
            len: asked,
        } = self.operations[index]
        else {
            return false;
        };
        let asked = (file, offset, asked);
        let table = &self.shared.table;
        let head = replies::check_read_head(results, len - PLAIN_HEADER_LEN, asked, table);
        let Some((checked, head_len)) = head else {
            return false;
        };
        if let Reading::Verify(verify) = &mut self.reading {
            if !checked.data_bytes.is_multiple_of(4) {
                // What fills the last word is no data, and zeros (RFC 4506, section 4.10).
                return false;
            }
            verify.begin(file, offset);
        }
        let Some(data) = results.get(head_len..) else {
            return false;
        };
        self.replies += 1;
        self.streaming = Some(Streaming {
            xid,
            remaining: len - PLAIN_HEADER_LEN - head_len,
            checked,
            bytes_received: mark.len.saturating_add(4),
        });
        *input = data;
        true
    }

    /// The next of the data that are coming in.
    fn take_data(&mut self, data: &[u8], now: Moment, completed: &mut Completions) {
        if let Reading::Verify(verify) = &mut self.reading {
            verify.look_at(data);
        }
        self.pass_over(data.len(), now, completed);
    }

    /// `len` bytes of a reply's data have been dealt with.
    pub(super) fn pass_over(&mut self, len: usize, now: Moment, completed: &mut Completions) {
        let Some(streaming) = &mut self.streaming else {
            return;
        };
        streaming.remaining = streaming.remaining.saturating_sub(len);
        if streaming.remaining == 0 {
            let Streaming {
                xid,
                mut checked,
                bytes_received,
                ..
            } = *streaming;
            self.streaming = None;
            if let Reading::Verify(verify) = &mut self.reading
                && !verify.end()
            {
                checked = Self::bad_reply(ReplyFault::WrongData);
            }
            // The call may have been given up meanwhile, and its slot may have
            // gone on to another.
            match self.slot_of(xid) {
                Some(slot) => self.complete(slot, checked, bytes_received, now, completed),
                None => self.late_replies += 1,
            }
        }
    }
}

/// Takes a record off the front of `input` if it lies there whole and in one
/// fragment, as nearly all do.
#[inline]
fn whole_record<'i>(input: &mut &'i [u8]) -> Option<&'i [u8]> {
    let (mark, rest) = input.split_first_chunk::<4>()?;
    let mark = RecordMark::from_bytes(*mark);
    let len = mark.len as usize;
    if !mark.last || len > RECORD_MAX {
        return None;
    }
    let (record, rest) = rest.split_at_checked(len)?;
    *input = rest;
    Some(record)
}

/// xid and results of a reply with the usual header.
#[inline]
fn plain_results(record: &[u8]) -> Option<(u32, &[u8])> {
    let (xid, rest) = record.split_first_chunk::<4>()?;
    let (header, results) = rest.split_first_chunk::<20>()?;
    (*header == PLAIN_REPLY).then_some((u32::from_be_bytes(*xid), results))
}

/// xid and results, or failure, of any other reply.
#[cold]
fn unusual_results(record: &[u8]) -> Result<(u32, Result<&[u8], Failure>), ProtocolError> {
    let mut reader = Reader::new(record);
    let header = ReplyHeader::decode(&mut reader).map_err(ProtocolError::Reply)?;
    let failure = match header.body {
        ReplyBody::Accepted(AcceptStatus::Success) => return Ok((header.xid, Ok(reader.rest()))),
        ReplyBody::Accepted(AcceptStatus::ProgUnavail) => Failure::Rejected(1),
        ReplyBody::Accepted(AcceptStatus::ProgMismatch { .. }) => Failure::Rejected(2),
        ReplyBody::Accepted(AcceptStatus::ProcUnavail) => Failure::Rejected(3),
        ReplyBody::Accepted(AcceptStatus::GarbageArgs) => Failure::Rejected(4),
        ReplyBody::Accepted(AcceptStatus::SystemErr) => Failure::Rejected(5),
        ReplyBody::Denied(RejectStatus::RpcMismatch { .. }) => {
            Failure::Denied(failure::RPC_MISMATCH)
        }
        ReplyBody::Denied(RejectStatus::AuthError(status)) => Failure::Denied(status.0),
    };
    Ok((header.xid, Err(failure)))
}

/// What a reply that cannot be decoded is counted as.
pub(super) fn undecodable() -> Checked {
    Nfs3Client::bad_reply(ReplyFault::Undecodable)
}
