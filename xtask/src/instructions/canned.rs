//! A server of canned bytes: each call is answered at once with the same reply, its transaction
//! id apart. No socket, no clock, so that every run executes the same instructions.

use filestone_engine::backend::{Backend, BackendError};
use filestone_model::client::{Client, Nfs3Client, Output};
use filestone_model::completions::Completions;
use filestone_model::language::Operations;
use filestone_model::operation::{Operation, Ticket};
use filestone_model::time::Moment;

/// From sending calls to their replies.
const ROUND_TRIP_NANOS: u64 = 10_000;
/// Where the transaction id is, after the record mark.
const XID: std::ops::Range<usize> = 4..8;

/// One connection to it.
pub struct Canned {
    client: Nfs3Client,
    out: Output,
    now: Moment,
    /// A whole reply, or all of it that the client does not discard.
    reply: Vec<u8>,
    /// Replies to all calls that were sent together.
    replies: Vec<u8>,
}

impl Canned {
    /// Connects the client.
    pub fn new(mut client: Nfs3Client, reply: Vec<u8>) -> Self {
        let mut out = Output::default();
        client.connected(Moment::ZERO, &mut out);
        Self {
            client,
            out,
            now: Moment::ZERO,
            reply,
            replies: Vec::new(),
        }
    }

    /// Answers all that was sent.
    fn answer(&mut self) {
        self.replies.clear();
        let mut calls = self.out.bytes.as_slice();
        while let Some((mark, _)) = calls.split_first_chunk::<4>() {
            // The uppermost bit says that this is the last fragment.
            let len = u32::from_be_bytes(*mark) as usize & 0x7fff_ffff;
            let (call, rest) = calls.split_at(4 + len);
            let start = self.replies.len();
            self.replies.extend_from_slice(&self.reply);
            self.replies[start..][XID].copy_from_slice(&call[XID]);
            calls = rest;
        }
        self.out.clear();
    }
}

impl Backend for Canned {
    type Language = Operations;

    fn now(&mut self) -> Moment {
        self.now
    }

    fn recent(&self) -> Moment {
        self.now
    }

    fn submit(&mut self, ticket: Ticket, operation: Operation, _now: Moment) {
        self.client.submit(ticket, operation, &mut self.out);
    }

    fn repeat(&mut self, _client: u32, slots: &[u32]) {
        self.client.repeat(slots, &mut self.out);
    }

    fn wait(&mut self, until: Moment, completed: &mut Completions) -> Result<(), BackendError> {
        if self.out.is_empty() {
            self.now = self.now.max(until);
            return Ok(());
        }
        self.client.transmitted(self.now);
        self.now = self.now.after_nanos(ROUND_TRIP_NANOS);
        self.answer();
        let mut rest = self.replies.as_slice();
        while !rest.is_empty() {
            let len = self.client.receive_len(rest.len());
            let (input, after) = rest.split_at(len);
            let heard = self.client.handle_input(input, self.now, completed);
            heard.expect("the reply is right");
            let discarded = self.client.discardable();
            self.client.handle_discarded(discarded, self.now, completed);
            rest = after;
        }
        Ok(())
    }
}
