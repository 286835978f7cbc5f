//! The time that a client lives in: the run's clock, or a virtual one in tests.

use crate::clock::Clock;
use crate::processors;
use filestone_workload::time::Timestamp;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Longest sleep at a time, so that somebody who stops the run need not wait.
const NAP: Duration = Duration::from_millis(50);

/// Where a client's moments come from, and how it waits for one.
pub trait Time {
    /// The present moment.
    fn now(&self) -> Timestamp;

    /// Waits until `until`, or until somebody stops the run.
    fn wait(&self, until: Timestamp);

    /// Processor time that the calling thread has used, in nanoseconds.
    fn processor_nanos(&self) -> u64;
}

/// The run's clock.
#[derive(Debug, Clone)]
pub struct RealTime<'run> {
    /// Shared by all clients.
    pub clock: Clock,
    /// Says that the run is to end early.
    pub stop: &'run AtomicBool,
}

impl Time for RealTime<'_> {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn wait(&self, until: Timestamp) {
        while !self.stop.load(Ordering::Relaxed) {
            let left = until.nanos_since(self.clock.now());
            if left == 0 {
                return;
            }
            std::thread::sleep(Duration::from_nanos(left).min(NAP));
        }
    }

    fn processor_nanos(&self) -> u64 {
        processors::thread_nanos()
    }
}

/// A clock that moves when it is waited for, or when work takes time.
#[cfg(test)]
#[derive(Debug, Clone, Default)]
pub struct VirtualTime(pub std::rc::Rc<std::cell::Cell<u64>>);

#[cfg(test)]
impl VirtualTime {
    /// Lets so many nanoseconds pass.
    pub fn pass(&self, nanos: u64) {
        self.0.set(self.0.get() + nanos);
    }
}

#[cfg(test)]
impl Time for VirtualTime {
    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(self.0.get())
    }

    fn wait(&self, until: Timestamp) {
        self.0.set(self.0.get().max(until.nanos()));
    }

    fn processor_nanos(&self) -> u64 {
        0
    }
}
