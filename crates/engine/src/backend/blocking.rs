//! Clients whose work blocks their thread: system calls on local files, and the exchanges of
//! tbench, which are performed as tbench does.
//!
//! Submitted work is executed immediately; so there is no delay between the call and its end, and
//! the work of a workload need not be stored.

use crate::backend::{Backend, BackendError, WaitLimit};
use crate::time::Time;
use filestone_host::processors;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::language::WorkType;
use filestone_workload::operation::{Completion, Outcome, ReplyInfo, SlotId};
use filestone_workload::time::Timestamp;
use std::io;

/// A client that blocks.
pub trait BlockingClient {
    /// Operations of the client.
    type Language: WorkType;

    /// Executes a piece of work.
    fn execute(
        &mut self,
        work: <Self::Language as WorkType>::WorkItem<'_>,
    ) -> Result<WorkResult, Unended>;
}

/// Error of a piece of work that will not complete.
#[derive(Debug)]
pub enum Unended {
    /// The work was aborted because the run must end.
    BrokenOff,
    /// This host has run out of a resource: results from here on say nothing about the server.
    Exhausted(io::Error),
}

/// Result of a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkResult {
    /// The outcome.
    pub outcome: Outcome,
    /// Whether a server or the kernel received a request; work refused before that has no time.
    pub is_sent: bool,
    /// Exchanges with a server; system calls are not counted.
    pub calls: u32,
    /// Number of these exchanges that were repeated.
    pub retransmissions: u32,
    /// Bytes sent to a server, framing included.
    pub bytes_sent: u32,
    /// Bytes received from a server, framing included.
    pub bytes_received: u32,
    /// Bytes of file data transferred.
    pub data_bytes: u64,
}

impl WorkResult {
    /// Returns the result of work without exchange and data.
    pub const fn of(outcome: Outcome) -> Self {
        Self {
            outcome,
            is_sent: true,
            calls: 0,
            retransmissions: 0,
            bytes_sent: 0,
            bytes_received: 0,
            data_bytes: 0,
        }
    }
}

/// The clients of one thread, which take turns.
pub struct Blocking<C, T> {
    clients: Vec<C>,
    time: T,
    ended: CompletionBatch,
    recent: Timestamp,
    exhausted: Option<io::Error>,
}

impl<C: BlockingClient, T: Time> Blocking<C, T> {
    /// Returns a backend of these clients, in the order of tickets.
    pub fn new(clients: Vec<C>, time: T) -> Self {
        Self {
            ended: CompletionBatch::with_capacity(clients.len()),
            clients,
            time,
            recent: Timestamp::ZERO,
            exhausted: None,
        }
    }

    /// Starts the run with `time` as its clock.
    pub fn start(&mut self, time: T) {
        self.time = time;
    }

    /// Returns the clients, after the run.
    pub fn into_clients(self) -> Vec<C> {
        self.clients
    }

    /// Returns the clients.
    pub fn clients(&self) -> &[C] {
        &self.clients
    }
}

impl<C: BlockingClient, T: Time> Backend for Blocking<C, T> {
    type Language = C::Language;

    fn now(&mut self) -> Timestamp {
        self.recent = self.time.now();
        self.recent
    }

    fn recent(&self) -> Timestamp {
        self.recent
    }

    #[inline]
    fn submit(
        &mut self,
        ticket: SlotId,
        work: <C::Language as WorkType>::WorkItem<'_>,
        now: Timestamp,
    ) {
        let Some(client) = self.clients.get_mut(ticket.client as usize) else {
            return;
        };
        let sent = self.time.now().max(now);
        let carried_out = client.execute(work);
        let done = self.time.now().max(sent);
        self.recent = done;
        let carried_out = match carried_out {
            Ok(carried_out) => carried_out,
            Err(Unended::BrokenOff) => return,
            Err(Unended::Exhausted(error)) => {
                self.exhausted = Some(error);
                return;
            }
        };
        self.ended.push(Completion {
            ticket,
            outcome: carried_out.outcome,
            answer: ReplyInfo::Plain,
            usable: Timestamp::ZERO,
            sent: if carried_out.is_sent {
                sent
            } else {
                Timestamp::MAX
            },
            done,
            calls: carried_out.calls,
            retransmissions: carried_out.retransmissions,
            bytes_sent: carried_out.bytes_sent,
            bytes_received: carried_out.bytes_received,
            data_bytes: u32::try_from(carried_out.data_bytes).unwrap_or(u32::MAX),
        });
    }

    fn wait(
        &mut self,
        until: WaitLimit,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError> {
        if let Some(source) = self.exhausted.take() {
            return Err(BackendError::System {
                what: "carry out an operation",
                source,
            });
        }
        let until = until.first();
        if self.ended.is_empty() {
            self.time.wait(until);
            self.recent = self.time.now();
        } else {
            std::mem::swap(&mut self.ended, completed);
        }
        Ok(())
    }

    fn processor_nanos(&self) -> u64 {
        self.time.processor_nanos()
    }

    fn waited_nanos(&self) -> u64 {
        processors::waited_nanos()
    }
}
