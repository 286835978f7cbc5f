//! What a connection exchanged, and what it did more than once.

use super::RpcExchange;
use std::time::Duration;

/// Exchanges and bytes, record marks included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Calls sent.
    pub calls: u32,
    /// Bytes of them.
    pub bytes_sent: u32,
    /// Bytes of the replies.
    pub bytes_received: u32,
}

impl Traffic {
    /// Both together.
    #[inline]
    pub fn and(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            bytes_sent: self.bytes_sent.saturating_add(other.bytes_sent),
            bytes_received: self.bytes_received.saturating_add(other.bytes_received),
        }
    }

    /// One exchange more.
    #[inline]
    pub fn add<T>(&mut self, exchange: &RpcExchange<T>) {
        *self = self.and(Self {
            calls: exchange.retransmissions.saturating_add(1),
            bytes_sent: exchange.bytes_sent,
            bytes_received: exchange.bytes_received,
        });
    }
}

/// What was done more than once because of the server, and how long that took. The time is
/// in the response times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Repeats {
    /// Calls sent again after the loss of a connection.
    pub retransmissions: u32,
    /// Connections made again.
    pub reconnections: u64,
    /// How long there was none.
    pub unusable: Duration,
    /// Calls made again because the server was not ready and said so.
    pub busy_calls: u64,
    /// Pauses before them.
    pub busy_pauses: Duration,
}

impl Repeats {
    /// One connection made again.
    pub fn note_reconnection(&mut self, unusable: Duration) {
        self.reconnections += 1;
        self.unusable += unusable;
    }

    /// One pause before a call is made again.
    pub fn note_busy(&mut self, pause: Duration) {
        self.busy_calls += 1;
        self.busy_pauses += pause;
    }

    /// Both together.
    #[inline]
    pub fn and(self, other: Self) -> Self {
        Self {
            retransmissions: self.retransmissions.saturating_add(other.retransmissions),
            reconnections: self.reconnections + other.reconnections,
            unusable: self.unusable + other.unusable,
            busy_calls: self.busy_calls + other.busy_calls,
            busy_pauses: self.busy_pauses + other.busy_pauses,
        }
    }
}
