//! ONC RPC over one connection, without I/O: any program, stream or datagrams (RFC 5531).
//!
//! Each slot carries one call. The low bits of the xid are the slot's index, the bits above it the
//! slot's generation. A reply thus finds its call by array index; a late or repeated reply has a
//! stale generation and is counted, never mistaken for another call's reply.
//!
//! ```text
//!   begin ─▶ (owner encodes the call) ─▶ enqueued ─▶ (owner sends) ─▶ transmitted
//!     │                                                                   │
//!     │ no connection        connected ◀─ take_back ◀─ (loss) ◀───────────┤
//!     └──────────▶ waiting ─────▲                                         ▼
//!                                      RpcEvent::Reply ◀─ next or take_datagram
//! ```
//!
//! The session does not store encoded calls: if a call must be sent again, the session names the
//! call and its original xid, and the owner encodes it again. Over TCP a call is sent once per
//! connection; over UDP it is retransmitted with exponential backoff while no reply comes, as RFC
//! 1813 section 4.8 expects.

mod calls;
mod credentials;
mod message;
mod program;
#[cfg(test)]
mod tests;
mod traffic;

pub use calls::{RpcCall, RpcExchange};
pub use credentials::{Credentials, groups};
pub use program::{Program, RpcProcedure};
pub use traffic::{JukeboxWaits, Traffic};

use calls::OutstandingCalls;
use filestone_plan::plan::TransportKind;
use filestone_wire::record::{Assembler, RecordError, RecordMark};
use filestone_wire::rpc::ReplyBody;
use filestone_wire::xdr::DecodeError;
use filestone_workload::time::Timestamp;
use message::{PLAIN_HEADER_LEN, plain_results};

/// Bytes of a record mark.
pub const MARK_LEN: usize = 4;
/// The received data is not valid ONC RPC. The stream cannot be resynchronized.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RpcStreamError {
    /// The record marking is invalid.
    #[error("sent what is no record of ONC RPC: {0}")]
    Record(#[from] RecordError),
    /// A record is not an RPC reply.
    #[error("sent a record that is no RPC reply: {0}")]
    Reply(DecodeError),
}

/// Retransmission timeouts of calls over datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retransmission {
    /// The first pause; each further one is twice as long.
    pub first_nanos: u64,
    /// The longest pause.
    pub max_nanos: u64,
}

impl Retransmission {
    /// The Linux client's default for UDP (`timeo=11`, nfs(5)).
    pub const LINUX: Self = Self {
        first_nanos: 1_100_000_000,
        max_nanos: 30_000_000_000,
    };
}

/// Options of a session.
#[derive(Debug, Clone, Copy)]
pub struct RpcOptions {
    /// Stream or datagrams.
    pub transport: TransportKind,
    /// Maximum number of calls in flight, at least one.
    pub slots: u32,
    /// Approximate first xid; different for each connection.
    pub first_xid: u32,
    /// Time limit for a reply, in nanoseconds.
    pub timeout_nanos: u64,
    /// Retransmission timeouts for datagrams.
    pub retransmission: Retransmission,
    /// Maximum length of an accepted reply, in bytes.
    pub record_max: usize,
    /// Minimum length of a reply whose data need not be collected: its head is offered as
    /// [`RpcEvent::Head`]. `None`: never.
    pub streamed_min: Option<usize>,
    /// Bytes of a record, mark included, that [`RpcEvent::Head`] needs.
    pub head_len: usize,
}

/// Event produced by received data.
#[derive(Debug, PartialEq, Eq)]
pub enum RpcEvent<'a, T> {
    /// The reply to a call, whose slot is free again.
    Reply {
        /// The call.
        exchange: RpcExchange<T>,
        /// The undecoded results, or the reply body if the server did not execute the call.
        results: Result<&'a [u8], ReplyBody>,
    },
    /// The start of a long reply that has not been received completely. Nothing of it has been
    /// consumed yet: the owner calls [`RpcSession::stream`] or [`RpcSession::collect`].
    Head {
        /// The call.
        call: RpcCall<T>,
        /// The results received until now.
        results: &'a [u8],
        /// Length of all results in bytes.
        results_len: usize,
    },
    /// Data of a streamed reply.
    Data {
        /// The next part of the data.
        data: &'a [u8],
        /// Set if this part is the last.
        end: Option<StreamEnd<T>>,
    },
    /// A reply whose call was already answered or aborted, or never made; counted.
    Late,
}

/// End of a streamed reply: all data were received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamEnd<T> {
    /// The call; `None` if it was aborted while its data arrived.
    pub exchange: Option<RpcExchange<T>>,
}

/// A reply whose data are being received.
#[derive(Debug, Clone, Copy)]
struct Streaming {
    xid: u32,
    remaining: usize,
    bytes_received: usize,
}

/// Calls of one connection. `T` is the owner's data for the call in a slot; it should be small
/// because every reply touches it.
#[derive(Debug)]
pub struct RpcSession<T> {
    calls: OutstandingCalls<T>,
    assembler: Assembler,
    streaming: Option<Streaming>,
    /// Whether the record that begins here is collected completely.
    collects: bool,
    record_max: usize,
    streamed_min: usize,
    head_len: usize,
}

impl<T: Copy> RpcSession<T> {
    /// Creates a session that is not connected yet; `tag` is the tag of unused slots.
    pub fn new(options: &RpcOptions, tag: T) -> Self {
        Self {
            calls: OutstandingCalls::new(options, tag),
            assembler: Assembler::new(options.record_max),
            streaming: None,
            collects: false,
            record_max: options.record_max,
            streamed_min: options.streamed_min.unwrap_or(usize::MAX),
            head_len: options.head_len,
        }
    }

    /// Starts a call in a free slot. Returns its xid if the call can be sent now; otherwise the
    /// call waits for [`RpcSession::connected`].
    #[inline]
    pub fn start(&mut self, slot: u32, tag: T) -> Option<u32> {
        self.calls.start(slot, tag)
    }

    /// Queues the call in this slot, of `bytes` bytes, for sending.
    #[inline]
    pub fn enqueued(&mut self, slot: u32, bytes: u32) {
        self.calls.enqueued(slot, bytes);
    }

    /// Does the work of [`RpcSession::start`] for a slot whose call repeats its last one and goes
    /// out at once: [`RpcSession::enqueued_again`] follows for all such slots.
    #[inline]
    pub fn restart(&mut self, slot: u32) -> Option<u32> {
        self.calls.restart(slot)
    }

    /// Queues the calls in these slots for sending.
    #[inline]
    pub fn enqueued_again(&mut self, slots: &[u32]) {
        self.calls.queued.extend_from_slice(slots);
    }

    /// Marks all queued calls as handed to the operating system at `now`.
    #[inline]
    pub fn transmitted(&mut self, now: Timestamp) {
        self.calls.transmitted(now);
    }

    /// Takes the next message, or part of one, off a stream; `None` once the input is used up.
    #[inline(always)]
    pub fn next<'s, 'i: 's>(
        &'s mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<RpcEvent<'s, T>>, RpcStreamError> {
        if self.streaming.is_some() {
            return Ok(self.next_data(input));
        }
        if self.assembler.is_at_boundary() {
            if let Some(record) = self.whole_record(input) {
                return self.calls.take(record, record.len() + MARK_LEN).map(Some);
            }
            if let Some(head) = self.head(input) {
                return Ok(Some(head));
            }
        }
        self.next_collected(input)
    }

    /// Takes the next reply off a stream if it is complete in `input`, successful, and no call of
    /// the session needed recovery. [`RpcSession::next`] accepts every message, these included; but
    /// its case distinction and result cost as many instructions again as a short reply (60 of 170
    /// for NULL, 128 at a time), so high-rate callers try this function first.
    #[inline(always)]
    pub fn next_plain<'i>(&mut self, input: &mut &'i [u8]) -> Option<(RpcExchange<T>, &'i [u8])> {
        if self.streaming.is_some() || self.calls.has_recoveries || !self.assembler.is_at_boundary()
        {
            return None;
        }
        let mut after = *input;
        let record = self.whole_record(&mut after)?;
        let (xid, results) = plain_results(record)?;
        let exchange = self.calls.end_plain(xid, record.len() + MARK_LEN)?;
        *input = after;
        Some((exchange, results))
    }

    /// Takes one datagram.
    pub fn take_datagram<'a>(
        &mut self,
        datagram: &'a [u8],
    ) -> Result<RpcEvent<'a, T>, RpcStreamError> {
        self.calls.take(datagram, datagram.len())
    }

    /// Collects a record that arrives in pieces and returns it from the assembler.
    #[inline]
    fn next_collected<'s, 'i: 's>(
        &'s mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<RpcEvent<'s, T>>, RpcStreamError> {
        let Some(record) = self.assembler.next(input)? else {
            return Ok(None);
        };
        self.collects = false;
        self.calls.take(record, record.len() + MARK_LEN).map(Some)
    }

    /// Takes a record off the front of `input` if it is complete and in one fragment, as nearly all
    /// are.
    #[inline]
    fn whole_record<'i>(&self, input: &mut &'i [u8]) -> Option<&'i [u8]> {
        let (mark, rest) = input.split_first_chunk::<MARK_LEN>()?;
        let mark = RecordMark::from_bytes(*mark);
        let len = mark.len as usize;
        if !mark.last || len > self.record_max {
            return None;
        }
        let (record, rest) = rest.split_at_checked(len)?;
        *input = rest;
        Some(record)
    }

    /// Returns the head of a long reply at the front of `input`, if it has the usual header and its
    /// call is outstanding.
    #[inline]
    fn head<'i>(&self, input: &&'i [u8]) -> Option<RpcEvent<'i, T>> {
        if self.collects || input.len() < self.head_len {
            return None;
        }
        let (mark, record) = input.split_first_chunk::<MARK_LEN>()?;
        let mark = RecordMark::from_bytes(*mark);
        let len = mark.len as usize;
        if !mark.last || !(self.streamed_min..=self.record_max).contains(&len) {
            return None;
        }
        let (xid, results) = plain_results(record)?;
        Some(RpcEvent::Head {
            call: self.calls.under_way(xid)?,
            results,
            results_len: len.checked_sub(PLAIN_HEADER_LEN)?,
        })
    }

    /// After [`RpcEvent::Head`]: consumes it and `head_len` bytes of the results. The rest arrives
    /// as [`RpcEvent::Data`] or is skipped.
    pub fn stream(&mut self, head_len: usize, input: &mut &[u8]) {
        let Some((mark, record)) = input.split_first_chunk::<MARK_LEN>() else {
            return;
        };
        let len = RecordMark::from_bytes(*mark).len as usize;
        let taken = PLAIN_HEADER_LEN + head_len;
        let (Some((xid, _)), Some(data)) = (plain_results(record), record.get(taken..)) else {
            return;
        };
        self.calls.replies += 1;
        self.streaming = Some(Streaming {
            xid,
            remaining: len.saturating_sub(taken),
            bytes_received: len + MARK_LEN,
        });
        *input = data;
    }

    /// After [`RpcEvent::Head`]: requests the complete reply.
    pub fn collect(&mut self) {
        self.collects = true;
    }

    /// Returns the outstanding bytes of the reply being streamed.
    #[inline]
    pub fn streamed_len(&self) -> usize {
        self.streaming.map_or(0, |streaming| streaming.remaining)
    }

    fn next_data<'i>(&mut self, input: &mut &'i [u8]) -> Option<RpcEvent<'i, T>> {
        if input.is_empty() {
            return None;
        }
        let (data, rest) = input.split_at(self.streamed_len().min(input.len()));
        *input = rest;
        let end = self.passed_over(data.len());
        Some(RpcEvent::Data { data, end })
    }

    /// Records that the owner consumed `len` bytes of a streamed reply's data.
    pub fn passed_over(&mut self, len: usize) -> Option<StreamEnd<T>> {
        let streaming = self.streaming.as_mut()?;
        streaming.remaining = streaming.remaining.saturating_sub(len);
        if streaming.remaining > 0 {
            return None;
        }
        let ended = self.streaming.take()?;
        // The call may have been aborted before, and its slot may hold another call.
        let exchange = self.calls.end(ended.xid, ended.bytes_received);
        self.calls.late_replies += u64::from(exchange.is_none());
        Some(StreamEnd { exchange })
    }

    /// Returns whether the next byte is the first of a record.
    #[inline]
    pub fn is_at_boundary(&self) -> bool {
        self.assembler.is_at_boundary()
    }

    /// Aborts calls that waited too long and retransmits datagrams: `resend` encodes the call and
    /// returns its length.
    pub fn handle_timeout(
        &mut self,
        now: Timestamp,
        give_up: impl FnMut(RpcExchange<T>),
        resend: impl FnMut(RpcCall<T>) -> u32,
    ) {
        self.calls.handle_timeout(now, give_up, resend);
    }

    /// Returns the time of the next call of [`RpcSession::handle_timeout`].
    pub fn poll_timeout(&self) -> Timestamp {
        self.calls.next_deadline
    }

    /// Handles a new connection: sends the calls that waited for it. `send` encodes a call and
    /// returns its length.
    pub fn connected(&mut self, now: Timestamp, send: impl FnMut(RpcCall<T>) -> u32) {
        self.assembler = Assembler::new(self.record_max);
        self.streaming = None;
        self.collects = false;
        self.calls.connected(now, send);
    }

    /// Handles the loss of the connection: aborts the calls sent over it.
    pub fn disconnected(&mut self, give_up: impl FnMut(RpcExchange<T>)) {
        self.streaming = None;
        self.calls.disconnected(give_up);
    }

    /// Handles the loss of the connection: calls sent over it wait for the next one and are sent
    /// again unchanged, xid included. A server with a duplicate request cache does not execute them
    /// twice.
    pub fn take_back(&mut self) {
        self.streaming = None;
        self.calls.take_back();
    }

    /// Aborts the calls that were never sent.
    pub fn abort(&mut self, give_up: impl FnMut(RpcExchange<T>)) {
        self.calls.abort(give_up);
    }

    /// Aborts the call in a slot.
    pub fn cancel(&mut self, slot: u32) {
        self.calls.cancel(slot);
    }

    /// Returns whether any call since the start needed recovery: it waited for a connection, or was
    /// sent again.
    #[inline]
    pub fn has_recoveries(&self) -> bool {
        self.calls.has_recoveries
    }

    /// Returns whether the connection is up.
    pub fn is_connected(&self) -> bool {
        self.calls.is_connected
    }

    /// Returns the number of calls sent and unanswered.
    pub fn in_flight(&self) -> u32 {
        self.calls.in_flight
    }

    /// Returns the number of replies received.
    pub fn replies(&self) -> u64 {
        self.calls.replies
    }

    /// Returns the number of replies whose call was already answered or aborted, or never made.
    pub fn late_replies(&self) -> u64 {
        self.calls.late_replies
    }

    /// Counts received data as a late reply although it does not decode as a reply.
    pub fn count_late(&mut self) {
        self.calls.late_replies += 1;
    }
}
