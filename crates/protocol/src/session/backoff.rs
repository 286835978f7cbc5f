//! Backoff: pauses before retries, growing up to a maximum.

use filestone_workload::time::{Timestamp, nanos_of};
use std::time::Duration;

/// Pauses that double up to a maximum.
#[derive(Debug, Clone, Copy)]
pub struct BackoffSchedule {
    first: Duration,
    max: Duration,
    /// Whether the first attempt has no pause before it.
    is_at_once: bool,
}

impl BackoffSchedule {
    /// Retry after a reply that says the server is not ready.
    pub const BUSY: Self = Self {
        first: Duration::from_millis(100),
        max: Duration::from_secs(1),
        is_at_once: false,
    };
    /// Retry of a lock request that was refused.
    pub const LOCK: Self = Self {
        first: Duration::from_millis(1),
        ..Self::BUSY
    };
    /// Attempts to reconnect.
    pub const RECONNECTION: Self = Self {
        first: Duration::from_millis(10),
        max: Duration::from_millis(500),
        is_at_once: true,
    };

    /// Returns the pause before an attempt; attempts count from 0.
    pub fn before(&self, attempt: u32) -> Duration {
        match attempt.checked_sub(u32::from(self.is_at_once)) {
            None => Duration::ZERO,
            Some(doubled) => self.max.min(self.first * (1 << doubled.min(10))),
        }
    }
}

/// Backoff for a limited time.
#[derive(Debug, Clone, Copy)]
pub struct BackoffUntil {
    end: Timestamp,
    pauses: BackoffSchedule,
    attempt: u32,
}

impl BackoffUntil {
    /// Starts `pauses` at `now`; they end `nanos` later.
    pub fn new(pauses: BackoffSchedule, now: Timestamp, nanos: u64) -> Self {
        Self {
            end: now.after_nanos(nanos),
            pauses,
            attempt: 0,
        }
    }

    /// Returns the wait before the next attempt in nanoseconds; `None` if it would end after the
    /// time limit.
    pub fn next_nanos(&mut self, now: Timestamp) -> Option<u64> {
        let pause = nanos_of(self.pauses.before(self.attempt));
        self.attempt = self.attempt.saturating_add(1);
        (now.after_nanos(pause) < self.end).then_some(pause)
    }
}
