//! Replies that are delayed until they are due.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use crate::reply::ReplySink;

/// Destination of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// To the connection with this token.
    Connection(u64),
    /// To this address, by the worker's datagram socket with that index.
    Datagram(usize, SocketAddr),
}

/// A reply that is due.
#[derive(Debug)]
pub struct DueReply {
    pub due: Duration,
    pub destination: Destination,
    pub reply: Box<ReplySink>,
}

/// The replies, earliest first.
#[derive(Debug, Default)]
pub struct DelayQueue {
    /// By due time, and by sequence number if that is equal.
    replies: BTreeMap<(Duration, u64), DueReply>,
    sequence: u64,
}

impl DelayQueue {
    pub fn hold(&mut self, due: Duration, destination: Destination, reply: Box<ReplySink>) {
        self.sequence += 1;
        let held = DueReply {
            due,
            destination,
            reply,
        };
        self.replies.insert((due, self.sequence), held);
    }

    /// Returns when the next reply is due.
    pub fn next_due(&self) -> Option<Duration> {
        self.replies.first_key_value().map(|((due, _), _)| *due)
    }

    /// Removes and returns the next reply that is due at `now`.
    pub fn take_due(&mut self, now: Duration) -> Option<DueReply> {
        let first = self.replies.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_leave_in_the_order_they_are_due() {
        let mut held = DelayQueue::default();
        for (token, ms) in [(1, 30), (2, 10), (3, 20), (4, 10)] {
            held.hold(
                Duration::from_millis(ms),
                Destination::Connection(token),
                Box::default(),
            );
        }
        let mut at = |ms| {
            let released = held.take_due(Duration::from_millis(ms));
            released.map(|released| released.destination)
        };
        assert_eq!(at(9), None);
        let order: Vec<_> = std::iter::from_fn(|| at(25)).collect();
        assert_eq!(order, [2, 4, 3].map(Destination::Connection));
        assert_eq!(at(30), Some(Destination::Connection(1)));
    }
}
