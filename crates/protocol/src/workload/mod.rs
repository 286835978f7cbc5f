//! Workloads: the sequence of a client's requests, without their timing.

pub mod file_table;
pub mod line_source;
pub mod load_file;
pub mod locks;
pub mod mix;
pub mod probe;
pub mod stream;

pub use file_table::{FileEntry, FileTable, ObjectKind};
pub use line_source::{ClientTotals, LineSource};
pub use load_file::LoadFile;
pub use locks::LockWorkload;
pub use mix::MixWorkload;
pub use probe::Probe;
pub use stream::Stream;

use crate::workload::stream::ControlEpoch;
use filestone_plan::file_set::ClientSet;
use filestone_plan::plan::{Plan, WorkloadPlan};
use filestone_workload::language::{Operations, WorkType};
use filestone_workload::operation::{Completion, OpKind, Operation};
use filestone_workload::recording::Sample;
use filestone_workload::time::Timestamp;
use std::sync::Arc;

/// READ, LOOKUP, MODIFY, EXTEND, DELETE and EXECUTE: every bit of RFC 1813, 3.3.4.
const ACCESS_ALL: u32 = 0x3f;

/// Generates the requests of a client.
///
/// A slot carries one operation at a time, so per-slot state of a workload (an existing name, a
/// position in a directory) is never used by two operations at once.
pub trait Workload<L: WorkType = Operations>: Send {
    /// Returns an uncounted operation that the slot must execute before its next measured one;
    /// `None` when it is ready. Called at the start with `None` and after every completion of the
    /// slot.
    fn prepare_slot(&mut self, _slot: u32, _after: Option<&Completion>) -> Option<L::WorkItem<'_>> {
        None
    }

    /// Returns whether [`Workload::prepare_slot`] ever returns an operation; called once.
    fn needs_preparation(&self) -> bool {
        false
    }

    /// Returns whether all operations are equal and need no preparation; called once.
    fn is_constant(&self) -> bool {
        false
    }

    /// Returns whether the workload itself determines when each operation is due and how many there
    /// are, so that the worker ignores the arrivals and the count of the plan; called once.
    fn has_own_schedule(&self) -> bool {
        false
    }

    /// Returns the next action of this free slot; `now` is when it became free, or the time given
    /// by [`Next::NotBefore`].
    fn next(&mut self, slot: u32, now: Timestamp) -> Next<L::WorkItem<'_>>;

    /// Returns whether [`Workload::ended`] must be called; called once.
    fn records_samples(&self) -> bool {
        false
    }

    /// Handles a completed operation of this client.
    fn ended(&mut self, _sample: &Sample) {}

    /// Counts, by kind, the operations that were due in the window up to `end` by the workload's
    /// own schedule and can no longer be started.
    fn skip_due(&mut self, _opened: Timestamp, _end: Timestamp, _count: &mut dyn FnMut(OpKind)) {}

    /// Handles the first connection of a client that was not connected when the run began;
    /// connecting took this number of nanoseconds.
    fn connected(&mut self, _nanos: u64) {}

    /// Handles the final loss of its connection: no further requests follow.
    fn mark_failed(&mut self) {}

    /// Returns the counter that grows when such clients receive control words while they run;
    /// called once.
    fn control_epoch(&self) -> Option<ControlEpoch> {
        None
    }

    /// Returns whether the client has received a control word that it has not applied, so that it
    /// must be polled before the time it waits for.
    fn is_called(&self) -> bool {
        false
    }

    /// Returns the kind of the next measured operation, which was due and can no longer be started;
    /// `None` for the kind that the run measures.
    fn skip(&mut self) -> Option<OpKind> {
        None
    }
}

/// Next action of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next<T> {
    /// A measured operation, due now or according to the arrivals of its client.
    Measured(T),
    /// A measured operation that was due at this time by the workload's own schedule.
    Due(Timestamp, T),
    /// An unmeasured operation, required by the next measured one.
    Unmeasured(T),
    /// An operation that is neither counted nor timed.
    Background(T),
    /// No operation before this time; then the workload is polled again.
    NotBefore(Timestamp),
    /// No further operations.
    Idle,
}

impl<T> Next<T> {
    /// Returns a measured operation; `None` ends the workload.
    #[inline]
    pub fn or_nothing(operation: Option<T>) -> Self {
        operation.map_or(Next::Idle, Next::Measured)
    }

    /// Returns the measured operation, if it has no schedule.
    pub fn measured(self) -> Option<T> {
        match self {
            Next::Measured(operation) => Some(operation),
            Next::Due(..)
            | Next::Unmeasured(_)
            | Next::Background(_)
            | Next::NotBefore(_)
            | Next::Idle => None,
        }
    }
}

impl<L: WorkType, W: Workload<L> + ?Sized> Workload<L> for Box<W> {
    fn prepare_slot(&mut self, slot: u32, after: Option<&Completion>) -> Option<L::WorkItem<'_>> {
        (**self).prepare_slot(slot, after)
    }

    fn needs_preparation(&self) -> bool {
        (**self).needs_preparation()
    }

    fn is_constant(&self) -> bool {
        (**self).is_constant()
    }

    fn has_own_schedule(&self) -> bool {
        (**self).has_own_schedule()
    }

    fn next(&mut self, slot: u32, now: Timestamp) -> Next<L::WorkItem<'_>> {
        (**self).next(slot, now)
    }

    fn records_samples(&self) -> bool {
        (**self).records_samples()
    }

    fn ended(&mut self, sample: &Sample) {
        (**self).ended(sample);
    }

    fn skip_due(&mut self, opened: Timestamp, end: Timestamp, count: &mut dyn FnMut(OpKind)) {
        (**self).skip_due(opened, end, count);
    }

    fn skip(&mut self) -> Option<OpKind> {
        (**self).skip()
    }

    fn control_epoch(&self) -> Option<ControlEpoch> {
        (**self).control_epoch()
    }

    fn is_called(&self) -> bool {
        (**self).is_called()
    }
}

/// Returns the workload of client `client` in a run of calls. `sets` are the clients' parts of a
/// mix's file set; a client without one issues no requests.
pub fn of_client(
    plan: &Plan,
    table: &Arc<FileTable>,
    sets: &[ClientSet],
    client: u32,
) -> Box<dyn Workload> {
    let (table, slots, seed) = (Arc::clone(table), plan.in_flight, plan.seed);
    let number = plan.number_of(client);
    match (&plan.workload, sets.get(client as usize)) {
        (WorkloadPlan::Probe(probe), _) if probe.operation == OpKind::Lock => Box::new(
            LockWorkload::new(table.own_file(client), probe.size_bytes, slots),
        ),
        (WorkloadPlan::Probe(probe), _) => {
            Box::new(Probe::new(probe, table, client, slots, seed).numbered(number, seed))
        }
        (WorkloadPlan::Mix(mix), Some(set)) => {
            let workload = MixWorkload::new(mix, table, set.clone(), number, slots, seed)
                .limited(mix, plan.operations_of_client_max());
            let whole = plan.whole();
            match whole.count {
                // Warm-up operations are not counted, and their number is unknown.
                Some(count) if plan.warm_up_ns == 0 => {
                    Box::new(workload.counted(mix, number, whole.clients, seed, count))
                }
                _ => Box::new(workload),
            }
        }
        (WorkloadPlan::Mix(_) | WorkloadPlan::LoadFile(_) | WorkloadPlan::Fleet(_), _) => {
            Box::new(Nothing)
        }
    }
}

/// A workload without requests.
struct Nothing;

impl Workload for Nothing {
    fn next(&mut self, _slot: u32, _now: Timestamp) -> Next<Operation> {
        Next::Idle
    }
}
