//! Service of one connection: receive, answer complete records, send.

use std::io;

use super::connection::{Connection, ParsedRecord, ReceiveResult};
use super::held::Destination;
use super::{Fate, ServerWorker};
use crate::framing::MARK_LEN;
use crate::reply::ReplySink;
use crate::responder::CallOutcome;

/// Size of pending replies, in bytes, at which they are sent even if more calls are waiting.
const SEND_AT: usize = 1 << 20;
/// Size of unsent output, in bytes, above which a connection is not served.
const OUTPUT_MAX: usize = 4 << 20;
/// Number of receives from one connection before the others are served.
const ROUNDS: usize = 8;
/// Number of buffers kept for reuse, and their largest size.
const SPARES: usize = 16;
const SPARE_MAX: usize = 2 << 20;

/// Reason why answering stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// No complete record is left; the next one needs this number of bytes.
    NeedsMore(usize),
    /// The socket takes no more replies.
    OutputFull,
    /// The connection must be closed.
    Broken,
}

impl ServerWorker {
    /// Serves one connection: first the stored input, then new data of the socket.
    pub(super) fn drive(
        &mut self,
        token: u64,
        connection: &mut Connection,
        until_end: bool,
    ) -> Fate {
        let mut sink = self.take_sink(connection);
        let fate = self.drive_rounds(token, connection, &mut sink, until_end);
        self.put_sink(connection, sink);
        fate
    }

    fn drive_rounds(
        &mut self,
        token: u64,
        connection: &mut Connection,
        sink: &mut ReplySink,
        until_end: bool,
    ) -> Fate {
        for _ in 0..ROUNDS {
            if self.send(connection, sink).is_err() {
                return Fate::Close;
            }
            if sink.len() > OUTPUT_MAX {
                // Continues when the socket reports space again.
                return Fate::Keep;
            }
            if connection.is_ending || !connection.is_readable {
                let is_done = connection.is_ending && sink.is_empty();
                return if is_done { Fate::Close } else { Fate::Keep };
            }
            match self.receive_and_answer(token, connection, sink, until_end) {
                Ok(Fate::Keep) => {}
                Ok(Fate::Close) => {
                    // Replies to calls before the error in the stream are still sent.
                    let _ = self.send(connection, sink);
                    return Fate::Close;
                }
                Err(_) => return Fate::Close,
            }
        }
        if self.send(connection, sink).is_err() {
            return Fate::Close;
        }
        self.again.push_back(token);
        Fate::Keep
    }

    /// Receives once from the socket, or processes input that had to wait.
    fn receive_and_answer(
        &mut self,
        token: u64,
        connection: &mut Connection,
        sink: &mut ReplySink,
        until_end: bool,
    ) -> io::Result<Fate> {
        if connection.is_stalled() {
            return Ok(self.answer_input(token, connection, sink));
        }
        let mut buffer = std::mem::take(&mut self.receive);
        let result = self.receive_into(token, connection, sink, until_end, &mut buffer);
        self.receive = buffer;
        result
    }

    fn receive_into(
        &mut self,
        token: u64,
        connection: &mut Connection,
        sink: &mut ReplySink,
        until_end: bool,
        buffer: &mut [u8],
    ) -> io::Result<Fate> {
        let came = if connection.skip > 0 {
            connection.receive_nothing(buffer)?
        } else if connection.input.is_empty() {
            connection.receive(buffer)?
        } else {
            connection.receive_more()?
        };
        let ReceiveResult::Bytes { count, is_all } = came else {
            connection.is_readable = false;
            connection.is_ending |= came == ReceiveResult::End;
            return Ok(Fate::Keep);
        };
        if is_all && !until_end {
            connection.is_readable = false;
        }
        self.responder.note_arrival();
        self.responder.tally.count_received(count);
        connection.count_received(count);
        if connection.skip > 0 {
            return Ok(Fate::Keep);
        }
        if !connection.input.is_empty() {
            return Ok(self.answer_input(token, connection, sink));
        }
        let bytes = buffer.get(..count).unwrap_or_default();
        if connection.is_echo {
            sink.extend(bytes);
            return Ok(Fate::Keep);
        }
        let (used, stop) = self.answer_records(token, connection, bytes, sink);
        let rest = bytes.get(used..).unwrap_or_default();
        if !rest.is_empty() {
            connection.input = self.spare_inputs.pop().unwrap_or_default();
            connection.input.extend_from_slice(rest);
        }
        Ok(self.finalize(connection, stop))
    }

    /// Answers the complete records in the connection's stored input.
    fn answer_input(
        &mut self,
        token: u64,
        connection: &mut Connection,
        sink: &mut ReplySink,
    ) -> Fate {
        let mut input = std::mem::take(&mut connection.input);
        let (used, stop) = if connection.is_cut {
            connection.is_cut = false;
            let call = input.get(MARK_LEN..).unwrap_or_default();
            let stop = self.answer_one(token, connection, call, sink);
            (input.len(), stop.unwrap_or(Stop::NeedsMore(0)))
        } else {
            self.answer_records(token, connection, &input, sink)
        };
        if used >= input.len() {
            self.keep_spare(input);
        } else {
            input.drain(..used);
            connection.input = input;
        }
        self.finalize(connection, stop)
    }

    /// Schedules another check of incomplete records, unless one is already scheduled.
    fn defer_records(&mut self) {
        if self.look_again.is_none() {
            self.look_again = Some(self.responder.since_start() + self.patience);
        }
    }

    /// Closes connections whose record makes no progress.
    pub(super) fn close_stuck(&mut self) {
        let now = self.responder.since_start();
        if self.look_again.is_none_or(|when| when > now) {
            return;
        }
        self.look_again = None;
        for index in 0..self.slots.len() {
            let Some(connection) = self.slots.get_mut(index).and_then(Option::as_mut) else {
                continue;
            };
            if connection.is_stuck() {
                let token = u64::from(connection.serial) << 32 | index as u64;
                self.responder.tally.count_refused();
                self.with_connection(token, |_, _| Fate::Close);
            } else if connection.is_partial() {
                self.defer_records();
            }
        }
    }

    fn keep_spare(&mut self, mut input: Vec<u8>) {
        if self.spare_inputs.len() < SPARES && input.capacity() <= SPARE_MAX {
            input.clear();
            self.spare_inputs.push(input);
        }
    }

    /// Handles the reason why answering stopped.
    fn finalize(&mut self, connection: &mut Connection, stop: Stop) -> Fate {
        match stop {
            Stop::NeedsMore(needed) => {
                connection.needed = needed;
                self.cut_discarded_data(connection);
                if connection.is_partial() {
                    self.defer_records();
                }
                Fate::Keep
            }
            Stop::OutputFull => {
                connection.needed = 0;
                connection.is_readable = true;
                Fate::Keep
            }
            Stop::Broken => {
                self.responder.tally.count_refused();
                Fate::Close
            }
        }
    }

    /// Keeps only the header of an incoming WRITE whose data are discarded, and skips the rest.
    fn cut_discarded_data(&self, connection: &mut Connection) {
        if connection.smb.is_some() {
            return;
        }
        let mark = MARK_LEN;
        let is_whole_record = connection
            .input
            .first()
            .is_some_and(|byte| byte & 0x80 != 0);
        let Some(call) = connection.input.get(mark..) else {
            return;
        };
        if !is_whole_record || connection.has_fragments() {
            return;
        }
        if let Some(head) = self.responder.service().sufficient_len(call) {
            connection.skip = connection.needed.saturating_sub(connection.input.len());
            connection.is_cut = connection.skip > 0;
            if connection.is_cut {
                connection.input.truncate(mark + head);
            }
        }
    }

    /// Answers the complete records at the front of `bytes`; returns the number of bytes consumed.
    fn answer_records(
        &mut self,
        token: u64,
        connection: &mut Connection,
        bytes: &[u8],
        sink: &mut ReplySink,
    ) -> (usize, Stop) {
        let mut position = 0;
        loop {
            let rest = bytes.get(position..).unwrap_or_default();
            let (used, stop) = match connection.next_piece(rest) {
                ParsedRecord::Record { call, used } => {
                    (used, self.answer_one(token, connection, call, sink))
                }
                ParsedRecord::Collected { call, used } => {
                    (used, self.answer_one(token, connection, &call, sink))
                }
                ParsedRecord::PutAside { used } => (used, None),
                ParsedRecord::Partial { needed } => return (position, Stop::NeedsMore(needed)),
                ParsedRecord::Broken => return (position, Stop::Broken),
            };
            position += used;
            if let Some(stop) = stop {
                return (position, stop);
            }
        }
    }

    #[inline]
    fn answer_one(
        &mut self,
        token: u64,
        connection: &mut Connection,
        call: &[u8],
        sink: &mut ReplySink,
    ) -> Option<Stop> {
        let outcome = match &mut connection.smb {
            None => self.responder.respond(call, &connection.ends, sink),
            Some(smb) => {
                let outcome = self.responder.respond_to_frame(call, smb, sink);
                self.after_frame(token, smb, sink);
                outcome
            }
        };
        match outcome {
            CallOutcome::Answered => {}
            CallOutcome::Later(due, reply) => {
                self.held.hold(due, Destination::Connection(token), reply);
            }
            CallOutcome::Disconnect => return Some(Stop::Broken),
        }
        if sink.len() < SEND_AT {
            return None;
        }
        if self.send(connection, sink).is_err() {
            return Some(Stop::Broken);
        }
        (sink.len() > OUTPUT_MAX).then_some(Stop::OutputFull)
    }

    #[inline]
    pub(super) fn send(&self, connection: &Connection, sink: &mut ReplySink) -> io::Result<()> {
        let sent = connection.send(sink)?;
        self.responder.tally.count_sent(sent);
        Ok(())
    }

    pub(super) fn take_sink(&mut self, connection: &mut Connection) -> Box<ReplySink> {
        connection
            .output
            .take()
            .or_else(|| self.spare_sinks.pop())
            .unwrap_or_default()
    }

    pub(super) fn put_sink(&mut self, connection: &mut Connection, sink: Box<ReplySink>) {
        if !sink.is_empty() {
            connection.output = Some(sink);
        } else if self.spare_sinks.len() < SPARES && sink.capacity() <= SPARE_MAX {
            self.spare_sinks.push(sink);
        }
    }
}
