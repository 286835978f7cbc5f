//! One client of a load over NFS, for an event loop: its future, and the session that carries
//! the calls.
//!
//! With a lock manager a client has two connections, of which each is a [`LoadClient`] to the
//! loop. Both have the same [`ClientTask`]; whichever is answered lets it go on, and says when
//! it is the other that has something to send. Without one the conversation is the client's own,
//! because each call would take a lock seven times.

use super::actor::{ActorOptions, actor};
use super::conversation::{ClientTask, READ_HEAD_MAX};
use super::locks::NLM;
use super::outgoing::CallEncoder;
use super::task_ref::TaskRef;
use crate::client::line_results::LineEnd;
use crate::client::nfs3::sequence::{ClientError, ClientErrorKind, NFS};
use crate::client::{Client, Output, ProtocolError};
use crate::session::rpc::{
    Credentials, JukeboxWaits, MARK_LEN, Program, Retransmission, RpcCall, RpcEvent, RpcOptions,
    RpcSession, RpcStreamError,
};
use filestone_measure::measure::Mismatches;
use filestone_plan::plan::TransportKind;
use filestone_wire::xdr::DecodeError;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::load::{Lines, LoadWork};
use filestone_workload::operation::SlotId;
use filestone_workload::time::Timestamp;
use std::sync::Arc;

/// The only slot.
const SLOT: u32 = 0;
/// The largest reply taken: a READ of a mebibyte, or a page of a directory.
const RECORD_MAX: usize = (1 << 20) + (64 << 10);
/// What is received at a time: the reply to a READ of 64 KiB, in memory that stays in the
/// processor's caches.
const RECEIVED_AT_A_TIME: usize = 72 << 10;
/// Record mark and RPC header of a reply, and how the results of a READ begin.
const HEAD_LEN: usize = MARK_LEN + 24 + READ_HEAD_MAX;
/// How much of what is no RPC an error shows.
const SHOWN: usize = 64;
/// A server of NFSv3 has nothing to call: no reply has a message type of 0.
const UNASKED_CALL: RpcStreamError = RpcStreamError::Reply(DecodeError::BadDiscriminant {
    field: "msg_type",
    value: 0,
});

/// What a client is made of.
#[derive(Debug, Clone)]
pub struct LoadClientOptions {
    /// What it does.
    pub actor: ActorOptions,
    /// Whose calls these are.
    pub credentials: Credentials,
    /// Stream or datagrams.
    pub transport: TransportKind,
    /// The run's table, in which file data lie: of most runs two periods of the pattern.
    pub pattern: Arc<[u8]>,
    /// Its calls are numbered from about here on.
    pub first_xid: u32,
}

/// One connection of a client of a load.
#[derive(Debug)]
pub struct LoadClient {
    session: RpcSession<()>,
    transport: TransportKind,
    /// What is called over it.
    program: Program,
    outgoing: CallEncoder,
    held: TaskRef,
    /// Whether the slot is in use.
    is_calling: bool,
    /// Whether what was submitted last took no call.
    ends_at_once: bool,
    /// When the conversation wants to go on by itself.
    alarm: Timestamp,
    /// The other connection of this client, if that has something to send, among those of the
    /// worker.
    other: Option<u32>,
    hands_over: bool,
}

impl LoadClient {
    /// A client that is not connected yet.
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

    /// Its connection to the lock manager, if it has one, which is number `own` among those of the
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

    /// Bytes that it takes besides itself, but for buffers and caches.
    pub fn shared_len(&self) -> usize {
        size_of::<ClientTask>() + self.held.seen(ClientTask::future_len)
    }

    /// How its last line ended.
    pub fn line_end(&self) -> Option<LineEnd> {
        self.held.seen(|conversation| conversation.books.line_end)
    }

    /// Why it cannot go on, if it cannot.
    pub fn take_lost(&mut self) -> Option<ClientError> {
        self.held.lend().lost.take()
    }

    /// Results other than its load expects, since this was asked last.
    pub fn take_mismatches(&mut self) -> Mismatches {
        std::mem::take(&mut self.held.lend().books.mismatches)
    }

    /// How long its server was not ready since this was asked last.
    pub fn take_busy_pauses(&mut self) -> JukeboxWaits {
        std::mem::take(&mut self.held.lend().busy_pauses)
    }

    /// Breaks off what it is doing: the run is to end, or the connection is given up.
    pub fn break_off(
        &mut self,
        why: ClientErrorKind,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) {
        let conversation = &mut *self.held.lend();
        self.session.cancel(SLOT);
        self.is_calling = false;
        self.alarm = Timestamp::MAX;
        conversation.cut(why, now, completed);
    }

    /// Takes notice of what the conversation wants next.
    fn settle(&mut self) {
        let conversation = &*self.held.lend();
        self.alarm = conversation.alarm();
        self.hands_over = conversation.wants_call_of_other(self.program);
    }

    /// Puts the call out that is wanted, if it is one over this connection.
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
                // As nearly all replies are, it was all that came.
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
                RpcEvent::Call(_) => return Err(UNASKED_CALL),
            }
        }
    }

    /// One datagram. What is no reply is dropped, as a stray datagram deserves.
    fn receive_datagram(&mut self, bytes: &[u8], now: Timestamp, completed: &mut CompletionBatch) {
        match self.session.take_datagram(bytes) {
            Ok(RpcEvent::Reply { exchange, results }) => {
                self.is_calling = false;
                self.held
                    .lend()
                    .answered(&exchange, results, now, completed);
            }
            Ok(RpcEvent::Head { .. } | RpcEvent::Data { .. } | RpcEvent::Late) => {}
            Ok(RpcEvent::Call(_)) | Err(_) => self.session.count_late(),
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
                ClientErrorKind::BadMessage(error.clone(), start),
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
            // What it waited for is a connection, or the answer.
            let why = if self.session.is_connected() {
                ClientErrorKind::TimedOut
            } else {
                ClientErrorKind::Disconnected
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

    /// What was sent goes out again, as it was.
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
            self.break_off(ClientErrorKind::Disconnected, now, completed);
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
