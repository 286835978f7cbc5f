//! ONC RPC over one connection, without I/O: any program, stream or datagrams (RFC 5531).
//!
//! Each slot carries one call. The xid holds the slot's index in its low bits and the
//! slot's generation above it, so a reply finds its call by array index, and a late or
//! repeated reply has a stale generation: it is counted, never mistaken for another's.
//!
//! ```text
//!   begin ─▶ (owner encodes the call) ─▶ enqueued ─▶ (owner sends) ─▶ transmitted
//!     │                                                                   │
//!     │ no connection        connected ◀─ take_back ◀─ (loss) ◀───────────┤
//!     └──────────▶ waiting ─────▲                                         ▼
//!                                      RpcEvent::Reply ◀─ next or take_datagram
//! ```
//!
//! The session holds no calls: whoever owns it encodes a call again when it is to be sent
//! again. It says which, with the xid of the first time. Over TCP a call is sent once for
//! each connection; over UDP it is sent again when no reply comes, with exponential
//! back-off, as RFC 1813 section 4.8 expects.

mod calls;
mod credentials;
mod message;
mod program;
mod record_buffer;
#[cfg(test)]
mod tests;
mod traffic;

pub use calls::{RpcCall, RpcExchange};
pub use credentials::{Credentials, groups};
pub use program::{Program, RpcProcedure};
pub use record_buffer::RecordBuffer;
pub use traffic::{JukeboxWaits, Traffic};

use calls::Calls;
use filestone_plan::plan::TransportKind;
use filestone_wire::record::{Assembler, RecordError, RecordMark};
use filestone_wire::rpc::ReplyBody;
use filestone_wire::xdr::DecodeError;
use filestone_workload::time::Timestamp;
use message::{PLAIN_HEADER_LEN, plain_results};

/// Bytes of a record mark.
pub const MARK_LEN: usize = 4;
/// What came in is not ONC RPC. The stream cannot be taken up again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RpcStreamError {
    /// The record marking is broken.
    #[error("sent what is no record of ONC RPC: {0}")]
    Record(#[from] RecordError),
    /// A record is not an RPC reply.
    #[error("sent a record that is no RPC reply: {0}")]
    Reply(DecodeError),
}

/// When a call over datagrams is sent again.
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

/// What a session is made of.
#[derive(Debug, Clone, Copy)]
pub struct RpcOptions {
    /// Stream or datagrams.
    pub transport: TransportKind,
    /// Calls in flight at most, at least one.
    pub slots: u32,
    /// Calls are numbered from about here on: another number for each connection.
    pub first_xid: u32,
    /// How long a call may stay unanswered.
    pub timeout_nanos: u64,
    /// When a datagram is sent again.
    pub retransmission: Retransmission,
    /// The largest reply taken.
    pub record_max: usize,
    /// The data of a reply at least this long need not be collected: its head is offered
    /// as [`RpcEvent::Head`]. `None`: never.
    pub streamed_min: Option<usize>,
    /// How much of a record, mark included, [`RpcEvent::Head`] needs.
    pub head_len: usize,
}

/// What came in.
#[derive(Debug, PartialEq, Eq)]
pub enum RpcEvent<'a, T> {
    /// The reply to a call, whose slot is free again.
    Reply {
        /// The call.
        exchange: RpcExchange<T>,
        /// What it was answered, undecoded, or that it was not executed.
        results: Result<&'a [u8], ReplyBody>,
    },
    /// The start of a long reply that is not here whole. Nothing of it has been taken yet:
    /// the owner says [`RpcSession::stream`] or [`RpcSession::collect`].
    Head {
        /// The call.
        call: RpcCall<T>,
        /// What is here of the results.
        results: &'a [u8],
        /// Bytes of all results.
        results_len: usize,
    },
    /// Data of a reply that is streamed.
    Data {
        /// The next of them.
        data: &'a [u8],
        /// Set once these were the last.
        end: Option<StreamEnd<T>>,
    },
    /// A reply whose call was already answered or given up, or never made. It is counted.
    Late,
    /// A call from the server, undecoded. It is counted.
    Call(&'a [u8]),
}

/// A streamed reply is here whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamEnd<T> {
    /// Its call; `None` if that was given up meanwhile.
    pub exchange: Option<RpcExchange<T>>,
}

/// A reply whose data are coming in.
#[derive(Debug, Clone, Copy)]
struct Streaming {
    xid: u32,
    remaining: usize,
    bytes_received: usize,
}

/// One connection's calls. `T` is what the owner keeps of a call in its slot: little,
/// because every reply touches it.
#[derive(Debug)]
pub struct RpcSession<T> {
    calls: Calls<T>,
    assembler: Assembler,
    streaming: Option<Streaming>,
    /// Whether the record that begins here is to be collected whole.
    collects: bool,
    record_max: usize,
    streamed_min: usize,
    head_len: usize,
}

impl<T: Copy> RpcSession<T> {
    /// A session that is not connected yet; `tag` is that of slots that are not in use.
    pub fn new(options: &RpcOptions, tag: T) -> Self {
        Self {
            calls: Calls::new(options, tag),
            assembler: Assembler::new(options.record_max),
            streaming: None,
            collects: false,
            record_max: options.record_max,
            streamed_min: options.streamed_min.unwrap_or(usize::MAX),
            head_len: options.head_len,
        }
    }

    /// Takes a free slot for another call: its xid, if the call can be sent now. Else it
    /// waits for [`RpcSession::connected`].
    #[inline]
    pub fn start(&mut self, slot: u32, tag: T) -> Option<u32> {
        self.calls.start(slot, tag)
    }

    /// The call in this slot, of so many bytes, waits to be sent.
    #[inline]
    pub fn enqueued(&mut self, slot: u32, bytes: u32) {
        self.calls.enqueued(slot, bytes);
    }

    /// [`RpcSession::start`] for a slot whose call is to be the same as its last one and goes
    /// out at once: [`RpcSession::enqueued_again`] follows for all such slots.
    #[inline]
    pub fn restart(&mut self, slot: u32) -> Option<u32> {
        self.calls.restart(slot)
    }

    /// The calls in these slots wait to be sent.
    #[inline]
    pub fn enqueued_again(&mut self, slots: &[u32]) {
        self.calls.queued.extend_from_slice(slots);
    }

    /// What waited to be sent has been handed to the operating system.
    #[inline]
    pub fn transmitted(&mut self, now: Timestamp) {
        self.calls.transmitted(now);
    }

    /// Takes the next message, or part of one, off a stream; `None` once the input is
    /// used up.
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

    /// Takes the next reply off a stream if it lies there whole, succeeded, and nothing is
    /// unusual about its call. [`RpcSession::next`] takes anything, this too; but to tell what
    /// came apart, and to hand it over, costs as many instructions again as a short reply
    /// (60 of 170 for NULL, 128 at a time), so whoever counts them asks here first.
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

    /// One datagram.
    pub fn take_datagram<'a>(
        &mut self,
        datagram: &'a [u8],
    ) -> Result<RpcEvent<'a, T>, RpcStreamError> {
        self.calls.take(datagram, datagram.len())
    }

    /// One record off a stream, without its mark.
    pub fn take_record<'a>(&mut self, record: &'a [u8]) -> Result<RpcEvent<'a, T>, RpcStreamError> {
        self.calls.take(record, record.len() + MARK_LEN)
    }

    /// What arrives in pieces: it is handed out from the assembler.
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

    /// Takes a record off the front of `input` if it lies there whole and in one
    /// fragment, as nearly all do.
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

    /// The head of a long reply at the front of `input`, with the usual header, to a call
    /// that is under way.
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

    /// After [`RpcEvent::Head`]: takes it and `head_len` bytes of the results; the others come
    /// as [`RpcEvent::Data`] or are passed over.
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

    /// After [`RpcEvent::Head`]: the reply comes whole.
    pub fn collect(&mut self) {
        self.collects = true;
    }

    /// Bytes still to come of a reply that is streamed.
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

    /// `len` bytes of the data of a streamed reply have been dealt with.
    pub fn passed_over(&mut self, len: usize) -> Option<StreamEnd<T>> {
        let streaming = self.streaming.as_mut()?;
        streaming.remaining = streaming.remaining.saturating_sub(len);
        if streaming.remaining > 0 {
            return None;
        }
        let ended = self.streaming.take()?;
        // The call may have been given up meanwhile, and its slot may have gone on to
        // another.
        let exchange = self.calls.end(ended.xid, ended.bytes_received);
        self.calls.late_replies += u64::from(exchange.is_none());
        Some(StreamEnd { exchange })
    }

    /// Whether the next byte is the first of a record.
    #[inline]
    pub fn is_at_boundary(&self) -> bool {
        self.assembler.is_at_boundary()
    }

    /// Gives up what has waited too long, and sends datagrams again: `resend` puts the
    /// call out and says how long it is.
    pub fn handle_timeout(
        &mut self,
        now: Timestamp,
        give_up: impl FnMut(RpcExchange<T>),
        resend: impl FnMut(RpcCall<T>) -> u32,
    ) {
        self.calls.handle_timeout(now, give_up, resend);
    }

    /// When [`RpcSession::handle_timeout`] should be called next.
    pub fn poll_timeout(&self) -> Timestamp {
        self.calls.next_deadline
    }

    /// The connection is up: calls that waited for it go out. `send` puts a call out and
    /// says how long it is.
    pub fn connected(&mut self, now: Timestamp, send: impl FnMut(RpcCall<T>) -> u32) {
        self.assembler = Assembler::new(self.record_max);
        self.streaming = None;
        self.collects = false;
        self.calls.connected(now, send);
    }

    /// The connection was lost, and what was sent is lost with it.
    pub fn disconnected(&mut self, give_up: impl FnMut(RpcExchange<T>)) {
        self.streaming = None;
        self.calls.disconnected(give_up);
    }

    /// The connection was lost: what was sent waits for the next one, to go out again as
    /// it was, xid and all. A server that remembers what it answered does not do it twice.
    pub fn take_back(&mut self) {
        self.streaming = None;
        self.calls.take_back();
    }

    /// Gives up what was never sent.
    pub fn abort(&mut self, give_up: impl FnMut(RpcExchange<T>)) {
        self.calls.abort(give_up);
    }

    /// Gives up the call in a slot.
    pub fn cancel(&mut self, slot: u32) {
        self.calls.cancel(slot);
    }

    /// Whether anything that happened to a call since the start is out of the ordinary:
    /// it waited for a connection, or was sent again.
    #[inline]
    pub fn has_recoveries(&self) -> bool {
        self.calls.has_recoveries
    }

    /// Whether its connection is up.
    pub fn is_connected(&self) -> bool {
        self.calls.is_connected
    }

    /// Calls sent and unanswered.
    pub fn in_flight(&self) -> u32 {
        self.calls.in_flight
    }

    /// Replies received.
    pub fn replies(&self) -> u64 {
        self.calls.replies
    }

    /// Replies whose call was already answered or given up, or never made.
    pub fn late_replies(&self) -> u64 {
        self.calls.late_replies
    }

    /// One more such reply: what came in is not even that.
    pub fn count_late(&mut self) {
        self.calls.late_replies += 1;
    }

    /// Calls received from the server.
    pub fn calls_received(&self) -> u64 {
        self.calls.calls_received
    }
}
