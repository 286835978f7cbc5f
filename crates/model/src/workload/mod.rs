//! What a client asks next, and nothing about when.

pub mod file_table;
pub mod mix;
pub mod probe;

pub use file_table::{FileEntry, FileTable, ObjectKind};
pub use mix::MixWorkload;
pub use probe::Probe;

use crate::file_set::ClientSet;
use crate::operation::{Completion, OpKind, Operation};
use crate::plan::{Plan, WorkloadPlan};
use std::sync::Arc;

/// Says what a client asks next.
///
/// A slot carries one operation at a time, so what a workload keeps per slot (a
/// name that exists, a place in a directory) is never used by two at once.
pub trait Workload: Send {
    /// What the slot must do, uncounted, before it can take its next measured
    /// operation; `None` when it is ready. Asked at the start with `None` and
    /// after every completion of the slot.
    fn restore(&mut self, slot: u32, after: Option<&Completion>) -> Option<Operation>;

    /// Whether [`Workload::restore`] ever has anything to do; asked once.
    fn restores(&self) -> bool {
        true
    }

    /// Whether every operation is the same as every other, and none needs
    /// restoring; asked once.
    fn is_constant(&self) -> bool {
        false
    }

    /// The next measured operation of this slot; `None` ends the client.
    fn next(&mut self, slot: u32) -> Option<Operation>;

    /// The kind of the next measured operation, which was due and can no longer be started;
    /// `None` for the kind that the run is about.
    fn skip(&mut self) -> Option<OpKind> {
        None
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
    match (&plan.workload, sets.get(client as usize)) {
        (WorkloadPlan::Probe(probe), _) => Box::new(Probe::new(probe, table, client, slots, seed)),
        (WorkloadPlan::Mix(mix), Some(set)) => {
            let workload = MixWorkload::new(mix, table, set.clone(), client, slots, seed);
            match plan.count {
                // Operations of a warm-up are not counted, and how many there will be is not known.
                Some(count) if plan.warm_up_ns == 0 => {
                    Box::new(workload.counted(mix, client, plan.clients, seed, count))
                }
                _ => Box::new(workload),
            }
        }
        (WorkloadPlan::Mix(_) | WorkloadPlan::LoadFile(_), _) => Box::new(Nothing),
    }
}

/// Asks nothing.
struct Nothing;

impl Workload for Nothing {
    fn restore(&mut self, _slot: u32, _after: Option<&Completion>) -> Option<Operation> {
        None
    }

    fn next(&mut self, _slot: u32) -> Option<Operation> {
        None
    }
}
