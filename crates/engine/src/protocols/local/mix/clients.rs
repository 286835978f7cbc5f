//! The clients of each mount: their common arithmetic, and what each shows to whoever corrects it.

use super::kernel::Kernel;
use crate::error::RunError;
use filestone_measure::measure::mix_record::CorrectionRecord;
use filestone_plan::mix::Counters;
use filestone_plan::mix::feedback::Group;
use filestone_workload::time::Timestamp;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The clients of one mount.
pub(super) struct ClientGroup {
    arithmetic: Mutex<Group>,
    /// The counters; `None` without feedback.
    pub kernel: Option<Kernel>,
    /// Those of all mounts, which nhfsstone's arithmetic looks at, and what they were at the start.
    pub all: Option<(Kernel, Counters)>,
    /// The counters when counting began.
    before: Mutex<Counters>,
    /// Why they could not be read any more.
    failure: Mutex<Option<String>>,
    /// Enough calls have been made.
    is_over: AtomicBool,
    corrections: Mutex<Vec<CorrectionRecord>>,
    /// When the next operation of each client of the run is due, in nanoseconds; of other groups'
    /// clients never.
    due: Box<[AtomicU64]>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing can panic while it is held.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ClientGroup {
    /// Some of `clients` clients.
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

    /// Ends its clients.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Whether its clients are to end.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Notes that its counters could not be read.
    pub fn fail(&self, why: String) {
        lock(&self.failure).get_or_insert(why);
    }

    /// Why they could not.
    pub fn failure(&self) -> Option<String> {
        lock(&self.failure).clone()
    }

    /// The arithmetic of the group, for a moment.
    pub fn arithmetic(&self) -> MutexGuard<'_, Group> {
        lock(&self.arithmetic)
    }

    /// The mean pause of a client between two operations, in nanoseconds.
    pub fn pause_ns(&self) -> f64 {
        self.arithmetic().pause_ns()
    }

    /// Counting begins anew: at the start, and when the window opens.
    pub fn restart(&self) -> Result<(), RunError> {
        *lock(&self.before) = self.read()?;
        self.arithmetic().restart();
        Ok(())
    }

    /// Calls on the wire since counting began; without feedback, none.
    pub fn seen(&self) -> Result<Counters, RunError> {
        let now = self.read()?;
        Ok(now.since(&lock(&self.before)))
    }

    fn read(&self) -> Result<Counters, RunError> {
        let counters = self.kernel.as_ref().map(Kernel::read).transpose()?;
        Ok(counters.unwrap_or_default())
    }

    /// The corrections made so far.
    pub fn corrections(&self) -> MutexGuard<'_, Vec<CorrectionRecord>> {
        lock(&self.corrections)
    }

    /// Shows when the next operation of a client is due.
    pub fn show_due(&self, client: u32, due: Timestamp) {
        if let Some(place) = self.due.get(client as usize) {
            place.store(due.nanos(), Ordering::Relaxed);
        }
    }

    /// Operations that are due, and wait because their client is not free.
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
