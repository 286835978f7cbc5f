//! A client of a load over NFS, for an event loop: its future, and the session of its calls.
//!
//! With a lock manager a client has two connections, and each is a [`LoadClient`] for the loop.
//! Both share one [`ClientTask`]; a reply on either resumes it, and the connection reports when the
//! other one has data to send. Without a lock manager the client owns its task, because a shared
//! one would need a lock seven times per call.

use super::actor::{ActorOptions, actor};
use super::conversation::{ClientTask, READ_HEAD_MAX};
use super::locks::NLM;
use super::outgoing::CallEncoder;
use super::task_ref::TaskRef;
use crate::client::line_results::LineEnd;
use crate::client::nfs3::sequence::{NFS, NfsClientError, NfsClientErrorKind};
use crate::client::{Client, Output, ProtocolError};
use crate::session::rpc::{
    Credentials, JukeboxWaits, MARK_LEN, Program, Retransmission, RpcCall, RpcEvent, RpcOptions,
    RpcSession, RpcStreamError,
};
use filestone_measure::measure::Mismatches;
use filestone_plan::plan::TransportKind;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::load::{Lines, LoadWork};
use filestone_workload::operation::SlotId;
use filestone_workload::time::Timestamp;
use std::sync::Arc;

/// The only slot.
const SLOT: u32 = 0;
/// Maximum length of an accepted reply: a READ of 1 MiB, or a directory page.
const RECORD_MAX: usize = (1 << 20) + (64 << 10);
/// Bytes received at a time: the reply to a READ of 64 KiB, in memory that stays in the processor's
/// caches.
const RECEIVED_AT_A_TIME: usize = 72 << 10;
/// Length of the record mark and RPC header of a reply, and of the READ results before the data.
const HEAD_LEN: usize = MARK_LEN + 24 + READ_HEAD_MAX;
/// Bytes of an invalid RPC message shown in errors.
const SHOWN: usize = 64;

/// Options of a client.
#[derive(Debug, Clone)]
pub struct LoadClientOptions {
    /// Options of its future.
    pub actor: ActorOptions,
    /// Credentials of its calls.
    pub credentials: Credentials,
    /// Stream or datagrams.
    pub transport: TransportKind,
    /// The run's table with the file data; in most runs two periods of the pattern.
    pub pattern: Arc<[u8]>,
    /// Approximate first xid.
    pub first_xid: u32,
}

/// A connection of a client of a load.
#[derive(Debug)]
pub struct LoadClient {
    session: RpcSession<()>,
    transport: TransportKind,
    /// The RPC program called over it.
    program: Program,
    outgoing: CallEncoder,
    held: TaskRef,
    /// Whether the slot is in use.
    is_calling: bool,
    /// Whether the last submitted work needed no call.
    ends_at_once: bool,
    /// Time when the task must be resumed by a timer.
    alarm: Timestamp,
    /// Index of this client's other connection in the worker, if it has data to send.
    other: Option<u32>,
    hands_over: bool,
}

impl LoadClient {
    /// Creates a client that is not connected yet.
    pub fn new(options: &LoadClientOptions) -> Self {
        let actor = actor(&options.actor);
        let pattern = Arc::clone(&options.pattern);
        let conversation = ClientTask::new(actor, pattern, options.actor.timeout_nanos);
        let held = if options.actor.has_lock_manager {
            TaskRef::shared(conversation)
        } else {
            TaskRef::alone(conversation)
        };
        Self::end(options, NFS, held)
    }

    /// Creates the client's connection to the lock manager, if it has one: number `own` in the
    /// worker, while this one is number `other`.
    pub fn lock_manager(
        &mut self,
        options: &LoadClientOptions,
        other: u32,
        own: u32,
    ) -> Option<Self> {
        let mut locks = Self::end(options, NLM, self.held.of_other()?);
        self.other = Some(own);
        locks.other = Some(other);
        Some(locks)
    }

    fn end(options: &LoadClientOptions, program: Program, held: TaskRef) -> Self {
        let transport = options.transport;
        let session = RpcOptions {
            transport,
            slots: 1,
            first_xid: options.first_xid,
            timeout_nanos: options.actor.timeout_nanos,
            retransmission: Retransmission::LINUX,
            record_max: RECORD_MAX,
            streamed_min: Some(HEAD_LEN),
            head_len: HEAD_LEN,
        };
        Self {
            session: RpcSession::new(&session, ()),
            transport,
            program,
            outgoing: CallEncoder::new(program, &options.credentials, transport),
            held,
            is_calling: false,
            ends_at_once: false,
            alarm: Timestamp::MAX,
            other: None,
            hands_over: false,
        }
    }

    /// Returns the bytes of shared state outside this object, buffers and caches excluded.
    pub fn shared_len(&self) -> usize {
        size_of::<ClientTask>() + self.held.seen(ClientTask::future_len)
    }

    /// Returns the result of its last line.
    pub fn line_end(&self) -> Option<LineEnd> {
        self.held.seen(|conversation| conversation.books.line_end)
    }

    /// Returns the reason why it cannot continue, if it cannot.
    pub fn take_lost(&mut self) -> Option<NfsClientError> {
        self.held.lend().lost.take()
    }

    /// Returns the mismatches with the load since the last call.
    pub fn take_mismatches(&mut self) -> Mismatches {
        std::mem::take(&mut self.held.lend().books.mismatches)
    }

    /// Returns the waits for a server that was not ready, since the last call.
    pub fn take_busy_pauses(&mut self) -> JukeboxWaits {
        std::mem::take(&mut self.held.lend().busy_pauses)
    }

    /// Aborts the current line: the run ends, or the connection is lost for good.
    pub fn break_off(
        &mut self,
        why: NfsClientErrorKind,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) {
        let conversation = &mut *self.held.lend();
        self.session.cancel(SLOT);
        self.is_calling = false;
        self.alarm = Timestamp::MAX;
        conversation.cut(why, now, completed);
    }

    /// Updates the timer and the other connection's state after the task was resumed.
    fn settle(&mut self) {
        let conversation = &*self.held.lend();
        self.alarm = conversation.alarm();
        self.hands_over = conversation.wants_call_of_other(self.program);
    }

    /// Sends the pending call, if it belongs to this connection.
    fn put_out(&mut self, out: &mut Output) -> bool {
        let conversation = &mut *self.held.lend();
        if !conversation.take_wanted(self.program) {
            return false;
        }
        if self.is_calling {
            self.session.cancel(SLOT);
        }
        self.is_calling = true;
        let Some(xid) = self.session.start(SLOT, ()) else {
            return false;
        };
        let len = conversation.put(&self.outgoing, xid, out);
        self.session.enqueued(SLOT, len);
        true
    }

    fn receive_stream(
        &mut self,
        bytes: &[u8],
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> Result<(), RpcStreamError> {
        let conversation = &mut *self.held.lend();
        let mut input = bytes;
        loop {
            if let Some((exchange, results)) = self.session.next_plain(&mut input) {
                self.is_calling = false;
                conversation.answered(&exchange, Ok(results), now, completed);
                // In nearly all cases the reply was the whole input.
                if input.is_empty() {
                    return Ok(());
                }
                continue;
            }
            let Some(event) = self.session.next(&mut input)? else {
                return Ok(());
            };
            match event {
                RpcEvent::Reply { exchange, results } => {
                    self.is_calling = false;
                    conversation.answered(&exchange, results, now, completed);
                }
                RpcEvent::Head {
                    results,
                    results_len,
                    ..
                } => match conversation.begin_data(results, results_len) {
                    Some(head_len) => self.session.stream(head_len, &mut input),
                    None => self.session.collect(),
                },
                RpcEvent::Late => {}
                RpcEvent::Data { data, end: None } => conversation.see(data),
                RpcEvent::Data {
                    data,
                    end: Some(end),
                } => {
                    conversation.see(data);
                    if let Some(exchange) = end.exchange {
                        self.is_calling = false;
                        conversation.end_data(&exchange, now, completed);
                    }
                }
            }
        }
    }

    /// Handles one datagram. A datagram that is not a reply is dropped as stray.
    fn receive_datagram(&mut self, bytes: &[u8], now: Timestamp, completed: &mut CompletionBatch) {
        match self.session.take_datagram(bytes) {
            Ok(RpcEvent::Reply { exchange, results }) => {
                self.is_calling = false;
                self.held
                    .lend()
                    .answered(&exchange, results, now, completed);
            }
            Ok(RpcEvent::Head { .. } | RpcEvent::Data { .. } | RpcEvent::Late) => {}
            Err(_) => self.session.count_late(),
        }
    }
}

impl Client for LoadClient {
    type Language = Lines;

    #[inline]
    fn submit(&mut self, ticket: SlotId, work: LoadWork<'_>, out: &mut Output) {
        let is_calling = self.held.lend().start(ticket, &work);
        self.ends_at_once = !is_calling;
        if is_calling {
            self.put_out(out);
            self.settle();
        }
    }

    #[inline]
    fn end_at_once(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        if std::mem::take(&mut self.ends_at_once) {
            self.held.lend().end_at_once(now, completed);
        }
    }

    #[inline]
    fn transmitted(&mut self, now: Timestamp) {
        self.session.transmitted(now);
        if self.is_calling {
            self.held.lend().transmitted(now);
        }
    }

    fn handle_input(
        &mut self,
        bytes: &[u8],
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> Result<(), ProtocolError> {
        let received = match self.transport {
            TransportKind::Tcp => self.receive_stream(bytes, now, completed),
            TransportKind::Udp => {
                self.receive_datagram(bytes, now, completed);
                Ok(())
            }
        };
        if let Err(error) = received {
            let start = bytes.get(..SHOWN).unwrap_or(bytes).to_vec();
            self.break_off(
                NfsClientErrorKind::BadMessage(error.clone(), start),
                now,
                completed,
            );
            return Err(error.into());
        }
        self.settle();
        Ok(())
    }

    #[inline]
    fn answer(&mut self, out: &mut Output) -> bool {
        self.put_out(out)
    }

    fn hands_over(&mut self) -> Option<u32> {
        if !std::mem::take(&mut self.hands_over) {
            return None;
        }
        self.other
    }

    fn receive_len(&self, room: usize) -> usize {
        room.min(RECEIVED_AT_A_TIME)
    }

    fn handle_timeout(
        &mut self,
        now: Timestamp,
        out: &mut Output,
        completed: &mut CompletionBatch,
    ) {
        let mut is_over = false;
        {
            let conversation = &mut *self.held.lend();
            let resend = |call: RpcCall<()>| {
                conversation.note_retransmission();
                conversation.put(&self.outgoing, call.xid, out)
            };
            self.session.handle_timeout(now, |_| is_over = true, resend);
            if now >= self.alarm {
                conversation.rested(now, completed);
            }
        }
        if is_over {
            // The line waited for a connection, or for the reply.
            let why = if self.session.is_connected() {
                NfsClientErrorKind::TimedOut
            } else {
                NfsClientErrorKind::Disconnected
            };
            self.break_off(why, now, completed);
        }
        self.put_out(out);
        self.settle();
    }

    fn poll_timeout(&self) -> Timestamp {
        self.session.poll_timeout().min(self.alarm)
    }

    fn connected(&mut self, now: Timestamp, out: &mut Output) {
        {
            let conversation = &mut *self.held.lend();
            self.session.connected(now, |call| {
                conversation.note_usable(now);
                conversation.put(&self.outgoing, call.xid, out)
            });
        }
        self.put_out(out);
    }

    /// Calls that were sent go out again unchanged.
    fn disconnected(&mut self, _: Timestamp, _: &mut CompletionBatch) {
        if self.program == NFS {
            self.held.lend().drop_partial_reply();
        }
        self.session.take_back();
    }

    fn abort(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        let conversation = &mut *self.held.lend();
        if self.program == NFS && conversation.skip(now, completed) {
            self.session.cancel(SLOT);
            self.is_calling = false;
        }
    }

    fn mark_failed(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        if self.program == NFS || self.is_calling {
            self.break_off(NfsClientErrorKind::Disconnected, now, completed);
        }
    }

    fn in_flight(&self) -> u32 {
        self.session.in_flight()
    }

    fn replies(&self) -> u64 {
        self.session.replies()
    }

    fn late_replies(&self) -> u64 {
        self.session.late_replies()
    }
}
