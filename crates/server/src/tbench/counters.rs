//! Counters of the peer: connections, exchanges, bytes, and errors.

use std::sync::atomic::{AtomicU64, Ordering};

/// Snapshot of the counters since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TbenchCounters {
    /// Connections accepted.
    pub connections: u64,
    /// Connections closed at once because too many were open.
    pub turned_away: u64,
    /// Requests that were answered, including handshakes.
    pub exchanges: u64,
    /// Requests whose lengths exceed the limits; each ended its connection.
    pub refused: u64,
    /// Connections that ended in the middle of a request or a reply.
    pub broken: u64,
    /// Bytes received, headers included.
    pub bytes_received: u64,
    /// Bytes sent, headers included.
    pub bytes_sent: u64,
}

/// The counters, shared by all threads.
#[derive(Debug, Default)]
pub struct SharedTbenchCounters {
    connections: AtomicU64,
    turned_away: AtomicU64,
    exchanges: AtomicU64,
    refused: AtomicU64,
    broken: AtomicU64,
    bytes_received: AtomicU64,
    bytes_sent: AtomicU64,
}

/// Transfers of one connection since its last update of the [`SharedTbenchCounters`].
#[derive(Debug, Default)]
pub struct TransferDelta {
    pub exchanges: u64,
    pub bytes_received: u64,
    pub bytes_sent: u64,
}

fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

impl SharedTbenchCounters {
    pub fn count_connection(&self) {
        add(&self.connections, 1);
    }

    pub fn count_turned_away(&self) {
        add(&self.turned_away, 1);
    }

    pub fn count_refused(&self) {
        add(&self.refused, 1);
    }

    pub fn count_broken(&self) {
        add(&self.broken, 1);
    }

    /// Adds the transfers of a connection, and resets them.
    pub fn collect(&self, moved: &mut TransferDelta) {
        let moved = std::mem::take(moved);
        add(&self.exchanges, moved.exchanges);
        add(&self.bytes_received, moved.bytes_received);
        add(&self.bytes_sent, moved.bytes_sent);
    }

    pub fn counters(&self) -> TbenchCounters {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        TbenchCounters {
            connections: get(&self.connections),
            turned_away: get(&self.turned_away),
            exchanges: get(&self.exchanges),
            refused: get(&self.refused),
            broken: get(&self.broken),
            bytes_received: get(&self.bytes_received),
            bytes_sent: get(&self.bytes_sent),
        }
    }
}
