//! What a client asks next, and nothing about when.

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
pub use locks::Locks;
pub use mix::MixWorkload;
pub use probe::Probe;
pub use stream::Stream;

use crate::workload::stream::ControlEpoch;
use filestone_measure::measure::Sample;
use filestone_plan::file_set::ClientSet;
use filestone_plan::plan::{Plan, WorkloadPlan};
use filestone_workload::language::{Operations, WorkType};
use filestone_workload::operation::{Completion, OpKind, Operation};
use filestone_workload::time::Timestamp;
use std::sync::Arc;

/// READ, LOOKUP, MODIFY, EXTEND, DELETE and EXECUTE: every bit of RFC 1813, 3.3.4.
const ACCESS_ALL: u32 = 0x3f;

/// Says what a client asks next.
///
/// A slot carries one operation at a time, so what a workload keeps per slot (a
/// name that exists, a place in a directory) is never used by two at once.
pub trait Workload<L: WorkType = Operations>: Send {
    /// What the slot must do, uncounted, before it can take its next measured
    /// operation; `None` when it is ready. Asked at the start with `None` and
    /// after every completion of the slot.
    fn prepare_slot(&mut self, _slot: u32, _after: Option<&Completion>) -> Option<L::WorkItem<'_>> {
        None
    }

    /// Whether [`Workload::prepare_slot`] ever has anything to do; asked once.
    fn needs_preparation(&self) -> bool {
        false
    }

    /// Whether every operation is the same as every other, and none needs
    /// restoring; asked once.
    fn is_constant(&self) -> bool {
        false
    }

    /// Whether it says by itself when each of its operations is due and when they are enough, so
    /// that neither the arrivals nor the count of the plan are for its worker to follow; asked once.
    fn has_own_schedule(&self) -> bool {
        false
    }

    /// What this slot, which is free, does next; `now` is when it came free, or when it was to
    /// be asked again.
    fn next(&mut self, slot: u32, now: Timestamp) -> Next<L::WorkItem<'_>>;

    /// Whether [`Workload::ended`] wants to hear anything; asked once.
    fn records_samples(&self) -> bool {
        false
    }

    /// An operation of this client has ended.
    fn ended(&mut self, _sample: &Sample) {}

    /// Counts, kind by kind, what came due in the window up to `end` by a schedule of its own, and
    /// can no longer be started.
    fn skip_due(&mut self, _opened: Timestamp, _end: Timestamp, _count: &mut dyn FnMut(OpKind)) {}

    /// Its connection, which was not there when the run began, has been made in so many nanoseconds.
    fn connected(&mut self, _nanos: u64) {}

    /// Its connection is given up: it is asked for nothing more.
    fn mark_failed(&mut self) {}

    /// What grows when clients like this are told something while they run; asked once.
    fn order_count(&self) -> Option<ControlEpoch> {
        None
    }

    /// Whether it was told something that it has not taken up, and is to be asked what is next though the
    /// moment that it waits for has not come.
    fn is_called(&self) -> bool {
        false
    }

    /// The kind of the next measured operation, which was due and can no longer be started;
    /// `None` for the kind that the run is about.
    fn skip(&mut self) -> Option<OpKind> {
        None
    }
}

/// What a slot does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next<T> {
    /// A measured operation, due now or when the arrivals of its client say.
    Measured(T),
    /// One that was due at this moment by a schedule of the workload's own.
    Due(Timestamp, T),
    /// An unmeasured operation, without which the next measured one could not be.
    Unmeasured(T),
    /// Something that is neither counted nor timed.
    Background(T),
    /// Nothing before this moment; then it is asked again.
    NotBefore(Timestamp),
    /// Nothing ever again.
    Idle,
}

impl<T> Next<T> {
    /// A measured operation; none is the end.
    #[inline]
    pub fn or_nothing(operation: Option<T>) -> Self {
        operation.map_or(Next::Idle, Next::Measured)
    }

    /// The measured operation, if it is one without a schedule.
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

    fn order_count(&self) -> Option<ControlEpoch> {
        (**self).order_count()
    }

    fn is_called(&self) -> bool {
        (**self).is_called()
    }
}

/// What client `client` of a run of calls asks. `sets` are the clients' parts of a mix's file
/// set; a client without one asks nothing.
pub fn of_client(
    plan: &Plan,
    table: &Arc<FileTable>,
    sets: &[ClientSet],
    client: u32,
) -> Box<dyn Workload> {
    let (table, slots, seed) = (Arc::clone(table), plan.in_flight, plan.seed);
    let number = plan.number_of(client);
    match (&plan.workload, sets.get(client as usize)) {
        (WorkloadPlan::Probe(probe), _) if probe.operation == OpKind::Lock => {
            Box::new(Locks::new(table.own_file(client), probe.size_bytes, slots))
        }
        (WorkloadPlan::Probe(probe), _) => {
            Box::new(Probe::new(probe, table, client, slots, seed).numbered(number, seed))
        }
        (WorkloadPlan::Mix(mix), Some(set)) => {
            let workload = MixWorkload::new(mix, table, set.clone(), number, slots, seed)
                .limited(mix, plan.operations_of_client_max());
            let whole = plan.whole();
            match whole.count {
                // Operations of a warm-up are not counted, and how many there will be is not known.
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

/// Asks nothing.
struct Nothing;

impl Workload for Nothing {
    fn next(&mut self, _slot: u32, _now: Timestamp) -> Next<Operation> {
        Next::Idle
    }
}
