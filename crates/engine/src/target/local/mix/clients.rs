//! What clients and coordinator share: the clients of each mount, and a mailbox for each client.

use super::kernel::Kernel;
use crate::error::RunError;
use filestone_model::measure::Sample;
use filestone_model::measure::mix_record::CorrectionRecord;
use filestone_model::mix::Counters;
use filestone_model::mix::feedback::Group;
use filestone_model::time::Moment;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The clients of one mount.
pub(super) struct ClientGroup {
    arithmetic: Mutex<Group>,
    /// The counters; `None` without feedback.
    pub kernel: Option<Kernel>,
    /// Those of all mounts, which nhfsstone's arithmetic looks at, and what they were at the start.
    pub all: Option<(Kernel, Counters)>,
    /// Enough calls have been made.
    is_over: AtomicBool,
    corrections: Mutex<Vec<CorrectionRecord>>,
}

impl ClientGroup {
    pub fn new(arithmetic: Group, kernel: Option<Kernel>, all: Option<(Kernel, Counters)>) -> Self {
        Self {
            arithmetic: Mutex::new(arithmetic),
            kernel,
            all,
            is_over: AtomicBool::new(false),
            corrections: Mutex::default(),
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

    /// The arithmetic of the group, for a moment.
    pub fn arithmetic(&self) -> MutexGuard<'_, Group> {
        // Nothing can panic while it is held.
        self.arithmetic
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The mean pause of a client between two operations, in nanoseconds.
    pub fn pause_ns(&self) -> f64 {
        self.arithmetic().pause_ns()
    }

    /// Calls on the wire since the kernel began to count; without feedback, none.
    pub fn read(&self) -> Result<Counters, RunError> {
        let counters = self.kernel.as_ref().map(Kernel::read).transpose()?;
        Ok(counters.unwrap_or_default())
    }

    /// The corrections made so far.
    pub fn corrections(&self) -> MutexGuard<'_, Vec<CorrectionRecord>> {
        self.corrections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a client shows to the coordinator.
#[derive(Default)]
pub(super) struct MixMailbox {
    samples: Mutex<Vec<Sample>>,
    /// When its next operation is due, in nanoseconds.
    pub due: AtomicU64,
    /// When it carries out no more, in nanoseconds; 0 before.
    pub done_at: AtomicU64,
}

impl MixMailbox {
    /// Takes what ended before `until`, in the order in which it did.
    pub fn drain(&self, until: Moment, mut enter: impl FnMut(&Sample)) {
        let mut samples = self.samples();
        let count = samples.partition_point(|sample| sample.completion.done < until);
        for sample in samples.drain(..count) {
            enter(&sample);
        }
    }

    /// What waits to be taken.
    pub fn samples(&self) -> MutexGuard<'_, Vec<Sample>> {
        self.samples.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All clients, and which group each belongs to.
#[derive(Clone, Copy)]
pub(super) struct Clients<'run> {
    pub groups: &'run [ClientGroup],
    pub mailboxes: &'run [MixMailbox],
    pub group_of: &'run [usize],
}

impl<'run> Clients<'run> {
    /// The group of each client, in order.
    pub fn groups_of_clients(self) -> impl Iterator<Item = &'run ClientGroup> {
        self.group_of
            .iter()
            .filter_map(|group| self.groups.get(*group))
    }

    /// Ends all of them.
    pub fn end(self) {
        self.groups.iter().for_each(ClientGroup::end);
    }

    /// How long the next operations of a group's clients have been due, in nanoseconds.
    pub fn late_ns(self, group: usize, now: Moment) -> u64 {
        let mailboxes = self.mailboxes.iter().zip(self.group_of);
        let of_group = mailboxes.filter(|(_, of)| **of == group);
        let late = of_group.map(|(mailbox, _)| {
            let due = mailbox.due.load(Ordering::Relaxed);
            now.nanos().saturating_sub(due)
        });
        late.sum()
    }

    /// When the last client had ended; `None` while one goes on.
    pub fn done_at(self) -> Option<Moment> {
        let ends = self.mailboxes.iter().map(|mailbox| {
            let nanos = mailbox.done_at.load(Ordering::Acquire);
            (nanos > 0).then(|| Moment::from_nanos(nanos))
        });
        ends.collect::<Option<Vec<_>>>()?.into_iter().max()
    }
}
