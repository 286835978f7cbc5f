//! The clients of each mount: their shared call model, and the state used for corrections.

use super::kernel::Kernel;
use filestone_host::error::RunError;
use filestone_measure::measure::mix_record::CorrectionRecord;
use filestone_plan::mix::Counters;
use filestone_plan::mix::feedback::Group;
use filestone_workload::time::Timestamp;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Clients of one mount.
pub(super) struct ClientGroup {
    arithmetic: Mutex<Group>,
    /// Call counters of the mount; `None` without feedback.
    pub kernel: Option<Kernel>,
    /// Call counters of all mounts, for nhfsstone's arithmetic, and their values at the start.
    pub all: Option<(Kernel, Counters)>,
    /// Values of the counters when counting began.
    before: Mutex<Counters>,
    /// Error of reading the counters.
    failure: Mutex<Option<String>>,
    /// Set when enough calls have been made.
    is_over: AtomicBool,
    corrections: Mutex<Vec<CorrectionRecord>>,
    /// Time of each client's next operation, in nanoseconds; `u64::MAX` for clients of other
    /// groups.
    due: Box<[AtomicU64]>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The holder of the lock cannot panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ClientGroup {
    /// Creates a group for some of the run's `clients` clients.
    pub fn new(
        arithmetic: Group,
        kernel: Option<Kernel>,
        all: Option<(Kernel, Counters)>,
        clients: u32,
    ) -> Self {
        let never = |_| AtomicU64::new(u64::MAX);
        Self {
            arithmetic: Mutex::new(arithmetic),
            kernel,
            all,
            before: Mutex::default(),
            failure: Mutex::default(),
            is_over: AtomicBool::new(false),
            corrections: Mutex::default(),
            due: (0..clients).map(never).collect(),
        }
    }

    /// Ends the clients of the group.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Whether the clients must end.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Records that the counters could not be read.
    pub fn fail(&self, why: String) {
        lock(&self.failure).get_or_insert(why);
    }

    /// Returns the error of reading the counters.
    pub fn failure(&self) -> Option<String> {
        lock(&self.failure).clone()
    }

    /// Locks the call model of the group.
    pub fn arithmetic(&self) -> MutexGuard<'_, Group> {
        lock(&self.arithmetic)
    }

    /// Returns the mean pause of a client between two operations, in nanoseconds.
    pub fn pause_ns(&self) -> f64 {
        self.arithmetic().pause_ns()
    }

    /// Restarts counting, at the start and when the window opens.
    pub fn restart(&self) -> Result<(), RunError> {
        *lock(&self.before) = self.read()?;
        self.arithmetic().restart();
        Ok(())
    }

    /// Returns the calls on the wire since counting began; zeros without feedback.
    pub fn seen(&self) -> Result<Counters, RunError> {
        let now = self.read()?;
        Ok(now.since(&lock(&self.before)))
    }

    fn read(&self) -> Result<Counters, RunError> {
        let counters = self.kernel.as_ref().map(Kernel::read).transpose()?;
        Ok(counters.unwrap_or_default())
    }

    /// Locks the list of corrections.
    pub fn corrections(&self) -> MutexGuard<'_, Vec<CorrectionRecord>> {
        lock(&self.corrections)
    }

    /// Publishes the due time of a client's next operation.
    pub fn show_due(&self, client: u32, due: Timestamp) {
        if let Some(place) = self.due.get(client as usize) {
            place.store(due.nanos(), Ordering::Relaxed);
        }
    }

    /// Returns the estimated number of operations that are due but wait for their busy client.
    pub fn waiting(&self, now: Timestamp) -> f64 {
        let pause_ns = self.pause_ns();
        if pause_ns <= 0.0 {
            return 0.0;
        }
        let due = self.due.iter().map(|due| due.load(Ordering::Relaxed));
        let late_ns: u64 = due.map(|due| now.nanos().saturating_sub(due)).sum();
        late_ns as f64 / pause_ns
    }
}
