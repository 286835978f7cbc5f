//! Replies that are delayed until they are due.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
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

#[derive(Debug)]
struct Held {
    due: Duration,
    /// Order of replies that are due at the same time.
    sequence: u64,
    destination: Destination,
    reply: Box<ReplySink>,
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Held {}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.due, self.sequence).cmp(&(other.due, other.sequence))
    }
}

/// The replies, earliest first.
#[derive(Debug, Default)]
pub struct DelayQueue {
    heap: BinaryHeap<Reverse<Held>>,
    sequence: u64,
}

impl DelayQueue {
    pub fn hold(&mut self, due: Duration, destination: Destination, reply: Box<ReplySink>) {
        self.sequence += 1;
        self.heap.push(Reverse(Held {
            due,
            sequence: self.sequence,
            destination,
            reply,
        }));
    }

    /// Returns when the next reply is due.
    pub fn next_due(&self) -> Option<Duration> {
        self.heap.peek().map(|Reverse(held)| held.due)
    }

    /// Removes and returns the next reply that is due at `now`.
    pub fn take_due(&mut self, now: Duration) -> Option<DueReply> {
        if self.next_due()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse(held)| DueReply {
            due: held.due,
            destination: held.destination,
            reply: held.reply,
        })
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
