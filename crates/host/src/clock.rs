//! The run's clock: nanoseconds since an epoch that all workers share.
//!
//! `quanta` reads the processor's time-stamp counter where it is invariant (11 ns
//! instead of 35 ns a reading) and the monotonic clock elsewhere; it calibrates
//! the one against the other when the first clock is made.

use filestone_workload::time::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// A clock whose epoch is the start of the run. Copies share the epoch.
#[derive(Debug, Clone)]
pub struct Clock {
    source: quanta::Clock,
    epoch: u64,
}

impl Clock {
    /// Returns a clock whose epoch is now.
    pub fn start() -> Self {
        let source = quanta::Clock::new();
        let epoch = source.raw();
        Self { source, epoch }
    }

    /// Returns the current time.
    #[inline]
    pub fn now(&self) -> Timestamp {
        Timestamp::from_nanos(self.source.delta_as_nanos(self.epoch, self.source.raw()))
    }

    /// Whether the clock reads the processor's counter instead of asking the kernel.
    ///
    /// `quanta` does not report its source, but the raw readings show it: the kernel's clock counts
    /// nanoseconds since the host started, a counter has other values.
    pub fn reads_counter(&self) -> bool {
        let kernel = || {
            let now = clock_gettime(ClockId::Monotonic);
            now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
        };
        let before = kernel();
        let raw = self.source.raw();
        !(before..=kernel()).contains(&raw)
    }

    /// Returns the same clock with the current time as its epoch.
    pub fn restarted(&self) -> Self {
        Self {
            source: self.source.clone(),
            epoch: self.source.raw(),
        }
    }

    /// Measures the cost of one reading and the smallest step between two readings, in nanoseconds.
    ///
    /// Method of divan: measure the clock before measuring with it.
    pub fn measure(&self) -> ClockPrecision {
        const BATCHES: u32 = 20;
        // The cheapest batch counts: a batch in which the thread is interrupted says nothing about
        // the clock.
        let batches = (0..BATCHES).map(|_| self.measure_batch());
        batches.fold(
            ClockPrecision {
                read_ns: f64::MAX,
                step_ns: f64::MAX,
            },
            |best, batch| ClockPrecision {
                read_ns: best.read_ns.min(batch.read_ns),
                step_ns: best.step_ns.min(batch.step_ns),
            },
        )
    }

    fn measure_batch(&self) -> ClockPrecision {
        const READS: u32 = 500;
        let mut step = u64::MAX;
        let start = self.now();
        let mut last = start;
        for _ in 0..READS {
            let now = self.now();
            let difference = now.nanos_since(last);
            if difference > 0 {
                step = step.min(difference);
            }
            last = now;
        }
        ClockPrecision {
            read_ns: last.nanos_since(start) as f64 / f64::from(READS),
            step_ns: step as f64,
        }
    }
}

/// Cost and resolution of a clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockPrecision {
    /// Cost of one reading in nanoseconds.
    pub read_ns: f64,
    /// Smallest step between two readings in nanoseconds.
    pub step_ns: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_does_not_run_backwards() {
        let clock = Clock::start();
        let mut last = clock.now();
        for _ in 0..100_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
    }
}
