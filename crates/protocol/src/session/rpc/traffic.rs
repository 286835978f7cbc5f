//! What a connection exchanged, and how long its server was not ready.

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
    /// One exchange more.
    #[inline]
    pub fn add<T>(&mut self, exchange: &RpcExchange<T>) {
        let calls = exchange.retransmissions.saturating_add(1);
        self.calls = self.calls.saturating_add(calls);
        self.bytes_sent = self.bytes_sent.saturating_add(exchange.bytes_sent);
        self.bytes_received = self.bytes_received.saturating_add(exchange.bytes_received);
    }
}

/// How long a server was waited for that was not ready and said so. The time is in the response
/// times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JukeboxWaits {
    /// Calls made again.
    pub calls: u64,
    /// Pauses before them.
    pub pauses: Duration,
}

impl JukeboxWaits {
    /// One pause before a call is made again.
    pub fn note(&mut self, pause: Duration) {
        self.calls += 1;
        self.pauses += pause;
    }
}
