//! Traffic of a connection, and time spent waiting for a server that was not ready.

use super::RpcExchange;
use std::time::Duration;

/// Exchanges and bytes, record marks included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Calls sent.
    pub calls: u32,
    /// Bytes sent.
    pub bytes_sent: u32,
    /// Bytes of the replies.
    pub bytes_received: u32,
}

impl Traffic {
    /// Adds one exchange.
    #[inline]
    pub fn add<T>(&mut self, exchange: &RpcExchange<T>) {
        let calls = exchange.retransmissions.saturating_add(1);
        self.calls = self.calls.saturating_add(calls);
        self.bytes_sent = self.bytes_sent.saturating_add(exchange.bytes_sent);
        self.bytes_received = self.bytes_received.saturating_add(exchange.bytes_received);
    }
}

/// Waits for a server that reported it was not ready. The response times include these waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JukeboxWaits {
    /// Number of retried calls.
    pub calls: u64,
    /// Total pause before the retries.
    pub pauses: Duration,
}

impl JukeboxWaits {
    /// Adds one pause before a retry.
    pub fn note(&mut self, pause: Duration) {
        self.calls += 1;
        self.pauses += pause;
    }
}
