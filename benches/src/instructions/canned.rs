//! A server with canned replies: each call immediately gets the same reply, with its own ID. It has
//! no socket and no clock, so that every run executes the same instructions.

use filestone_engine::backend::{Backend, BackendError, WaitLimit};
use filestone_protocol::client::{Client, Output};
use filestone_workload::completions::CompletionBatch;
use filestone_workload::language::Operations;
use filestone_workload::operation::{Operation, SlotId};
use filestone_workload::time::Timestamp;
use std::ops::Range;

/// Time from sending calls to their replies, in nanoseconds.
const ROUND_TRIP_NANOS: u64 = 10_000;

/// A reply, and the byte ranges that differ from call to call.
pub struct Reply {
    /// The whole reply, or all bytes that the client does not discard.
    pub bytes: Vec<u8>,
    /// Ranges that are copied from the same offsets of the call.
    pub taken_over: &'static [Range<usize>],
}

/// A connection to the server.
pub struct ReplayServer<C> {
    client: C,
    out: Output,
    now: Timestamp,
    reply: Reply,
    /// Replies to all calls that were sent together, with spare capacity: they are long, and
    /// copying them must not be counted.
    replies: Vec<u8>,
}

impl<C: Client<Language = Operations>> ReplayServer<C> {
    /// Connects the client.
    pub fn new(mut client: C, reply: Reply) -> Self {
        let mut out = Output::default();
        client.connected(Timestamp::ZERO, &mut out);
        Self {
            client,
            out,
            now: Timestamp::ZERO,
            reply,
            replies: Vec::new(),
        }
    }

    /// Replies to all calls that were sent. Returns the number of bytes.
    fn answer(&mut self) -> usize {
        let len = self.reply.bytes.len();
        let mut calls = self.out.bytes.as_slice();
        let mut end = 0;
        while let Some((mark, _)) = calls.split_first_chunk::<4>() {
            // The top bit of a record mark flags the last fragment.
            let call_len = u32::from_be_bytes(*mark) as usize & 0x7fff_ffff;
            let (call, rest) = calls.split_at(4 + call_len);
            if self.replies.len() < end + len {
                self.replies.extend_from_slice(&self.reply.bytes);
            }
            let reply = &mut self.replies[end..end + len];
            for range in self.reply.taken_over {
                reply[range.clone()].copy_from_slice(&call[range.clone()]);
            }
            end += len;
            calls = rest;
        }
        self.out.clear();
        end
    }
}

impl<C: Client<Language = Operations>> Backend for ReplayServer<C> {
    type Language = Operations;

    fn now(&mut self) -> Timestamp {
        self.now
    }

    fn recent(&self) -> Timestamp {
        self.now
    }

    fn submit(&mut self, ticket: SlotId, operation: Operation, now: Timestamp) {
        self.client.submit(ticket, operation, &mut self.out);
        let mut ended = CompletionBatch::default();
        self.client.end_at_once(now, &mut ended);
        assert!(ended.is_empty(), "every operation is a call");
    }

    fn repeat(&mut self, _client: u32, slots: &[u32]) {
        self.client.repeat(slots, &mut self.out);
    }

    fn wait(
        &mut self,
        until: WaitLimit,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError> {
        let until = until.first();
        if self.out.is_empty() {
            self.now = self.now.max(until);
            return Ok(());
        }
        self.client.transmitted(self.now);
        self.now = self.now.after_nanos(ROUND_TRIP_NANOS);
        let end = self.answer();
        let mut rest = &self.replies[..end];
        while !rest.is_empty() {
            let len = self.client.receive_len(rest.len());
            let (input, after) = rest.split_at(len);
            let heard = self.client.handle_input(input, self.now, completed);
            heard.expect("the reply is right");
            let discarded = self.client.discardable();
            self.client.handle_discarded(discarded, self.now, completed);
            rest = after;
        }
        // Calls that waited for the server.
        self.client.answer(&mut self.out);
        Ok(())
    }
}
