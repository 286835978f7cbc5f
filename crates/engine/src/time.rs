//! Time source of a client: the run's clock, or a virtual one in tests.

use filestone_host::clock::Clock;
use filestone_host::processors;
use filestone_workload::time::Timestamp;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Longest single sleep, so that a stop of the run takes effect soon.
const NAP: Duration = Duration::from_millis(50);

/// Time source of a client.
pub trait Time {
    /// Returns the current time.
    fn now(&self) -> Timestamp;

    /// Waits until `until`, or until the run is stopped.
    fn wait(&self, until: Timestamp);

    /// Returns the CPU time of the calling thread, in nanoseconds.
    fn processor_nanos(&self) -> u64;
}

/// The run's clock.
#[derive(Debug, Clone)]
pub struct RealTime<'run> {
    /// Shared by all clients.
    pub clock: Clock,
    /// Set when the run must end early.
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

/// A clock that advances only by waiting and by simulated work.
#[cfg(test)]
#[derive(Debug, Clone, Default)]
pub struct VirtualTime(pub std::rc::Rc<std::cell::Cell<u64>>);

#[cfg(test)]
impl VirtualTime {
    /// Advances the time by `nanos` nanoseconds.
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
