//! Pauses before something is tried again: they grow up to a bound.

use filestone_workload::time::{Timestamp, nanos_of};
use std::time::Duration;

/// Pauses that double up to a bound.
#[derive(Debug, Clone, Copy)]
pub struct BackoffSchedule {
    first: Duration,
    max: Duration,
    /// Whether the first attempt comes without a pause.
    is_at_once: bool,
}

impl BackoffSchedule {
    /// After an answer that says to come again.
    pub const BUSY: Self = Self {
        first: Duration::from_millis(100),
        max: Duration::from_secs(1),
        is_at_once: false,
    };
    /// Before a lock is asked for again.
    pub const LOCK: Self = Self {
        first: Duration::from_millis(1),
        ..Self::BUSY
    };
    /// Before attempts to connect again.
    pub const RECONNECTION: Self = Self {
        first: Duration::from_millis(10),
        max: Duration::from_millis(500),
        is_at_once: true,
    };

    /// The pause before an attempt, counted from 0.
    pub fn before(&self, attempt: u32) -> Duration {
        match attempt.checked_sub(u32::from(self.is_at_once)) {
            None => Duration::ZERO,
            Some(doubled) => self.max.min(self.first * (1 << doubled.min(10))),
        }
    }
}

/// Pauses for a limited time.
#[derive(Debug, Clone, Copy)]
pub struct BackoffUntil {
    end: Timestamp,
    pauses: BackoffSchedule,
    attempt: u32,
}

impl BackoffUntil {
    /// These, from `now` on, for so long.
    pub fn new(pauses: BackoffSchedule, now: Timestamp, nanos: u64) -> Self {
        Self {
            end: now.after_nanos(nanos),
            pauses,
            attempt: 0,
        }
    }

    /// How long to wait before the next attempt; `None` if there is no time left for it.
    pub fn next_nanos(&mut self, now: Timestamp) -> Option<u64> {
        let pause = nanos_of(self.pauses.before(self.attempt));
        self.attempt = self.attempt.saturating_add(1);
        (now.after_nanos(pause) < self.end).then_some(pause)
    }
}
