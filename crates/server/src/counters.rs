//! Counters of the server: calls by procedure, bytes, connections.
//!
//! Every thread counts separately; [`ServerCounters`] is the sum, computed on request.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use filestone_wire::nfs3::Procedure;
use filestone_wire::smb2::Command;

const PROCEDURES: usize = Procedure::ALL.len();
const COMMANDS: usize = Command::ALL.len();

/// Snapshot of the counters since the start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerCounters {
    nfs3: [u64; PROCEDURES],
    smb2: [u64; COMMANDS],
    /// Calls of MOUNT and of the port mapper.
    pub other_calls: u64,
    /// Calls that were answered with an RPC error, and records that were not calls.
    pub refused: u64,
    /// Connections accepted.
    pub connections: u64,
    /// Bytes received, by TCP and UDP, record marks included.
    pub bytes_received: u64,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Replies that were delayed by a fault or the queue.
    pub held: u64,
    /// Total lateness of the delayed replies, in nanoseconds.
    pub lateness_sum_ns: u64,
    /// Largest lateness of a delayed reply, in nanoseconds.
    pub lateness_max_ns: u64,
}

impl ServerCounters {
    /// Returns the calls of one NFSv3 procedure.
    pub fn calls(&self, procedure: Procedure) -> u64 {
        self.nfs3
            .get(procedure.number() as usize)
            .copied()
            .unwrap_or_default()
    }

    /// Returns every NFSv3 procedure's name in lower case, and its calls.
    pub fn by_name(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Procedure::ALL
            .iter()
            .map(|procedure| (procedure.name(), self.calls(*procedure)))
    }

    /// Returns the requests of one command of SMB2.
    pub fn requests(&self, command: Command) -> u64 {
        let count = self.smb2.get(usize::from(command.number()));
        count.copied().unwrap_or_default()
    }

    /// Returns every command of SMB2 by the standard's name, and its requests.
    pub fn by_command(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let commands = Command::ALL.iter();
        commands.map(|command| (command.name(), self.requests(*command)))
    }

    /// Returns the requests of all commands of SMB2.
    pub fn requests_total(&self) -> u64 {
        self.smb2.iter().sum()
    }

    /// Returns the calls of all NFSv3 procedures.
    pub fn calls_total(&self) -> u64 {
        self.nfs3.iter().sum()
    }
}

/// Counters of one thread. Only that thread writes them, so plain loads and stores suffice.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct ThreadCounters {
    nfs3: [AtomicU64; PROCEDURES],
    smb2: [AtomicU64; COMMANDS],
    other_calls: AtomicU64,
    refused: AtomicU64,
    connections: AtomicU64,
    bytes_received: AtomicU64,
    bytes_sent: AtomicU64,
    held: AtomicU64,
    lateness_sum_ns: AtomicU64,
    lateness_max_ns: AtomicU64,
}

#[inline]
fn add(counter: &AtomicU64, count: u64) {
    counter.store(counter.load(Ordering::Relaxed) + count, Ordering::Relaxed);
}

impl ThreadCounters {
    #[inline]
    pub fn count_call(&self, procedure: Procedure) {
        if let Some(counter) = self.nfs3.get(procedure.number() as usize) {
            add(counter, 1);
        }
    }

    #[inline]
    pub fn count_command(&self, command: Command) {
        if let Some(counter) = self.smb2.get(usize::from(command.number())) {
            add(counter, 1);
        }
    }

    pub fn count_other_call(&self) {
        add(&self.other_calls, 1);
    }

    pub fn count_refused(&self) {
        add(&self.refused, 1);
    }

    pub fn count_connection(&self) {
        add(&self.connections, 1);
    }

    #[inline]
    pub fn count_received(&self, bytes: usize) {
        add(&self.bytes_received, bytes as u64);
    }

    #[inline]
    pub fn count_sent(&self, bytes: usize) {
        add(&self.bytes_sent, bytes as u64);
    }

    /// Counts a delayed reply that was sent `lateness` after it was due.
    pub fn count_held(&self, lateness: Duration) {
        let nanos = lateness.as_nanos() as u64;
        add(&self.held, 1);
        add(&self.lateness_sum_ns, nanos);
        let max = self.lateness_max_ns.load(Ordering::Relaxed).max(nanos);
        self.lateness_max_ns.store(max, Ordering::Relaxed);
    }

    pub fn add_to(&self, sum: &mut ServerCounters) {
        for (total, counter) in sum.nfs3.iter_mut().zip(&self.nfs3) {
            *total += counter.load(Ordering::Relaxed);
        }
        for (total, counter) in sum.smb2.iter_mut().zip(&self.smb2) {
            *total += counter.load(Ordering::Relaxed);
        }
        sum.other_calls += self.other_calls.load(Ordering::Relaxed);
        sum.refused += self.refused.load(Ordering::Relaxed);
        sum.connections += self.connections.load(Ordering::Relaxed);
        sum.bytes_received += self.bytes_received.load(Ordering::Relaxed);
        sum.bytes_sent += self.bytes_sent.load(Ordering::Relaxed);
        sum.held += self.held.load(Ordering::Relaxed);
        sum.lateness_sum_ns += self.lateness_sum_ns.load(Ordering::Relaxed);
        let max = self.lateness_max_ns.load(Ordering::Relaxed);
        sum.lateness_max_ns = sum.lateness_max_ns.max(max);
    }
}
