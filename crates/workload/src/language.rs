//! Types of work for clients: operations on files that are identified by number, or lines of a load
//! file.
//!
//! The loop, the arrivals and the recording use only the kind of a work item; the workload that
//! issues it and the client that executes it have the same work type.

use crate::operation::{OpKind, Operation};

/// A type of work, which workloads and clients have in common.
pub trait WorkType: 'static {
    /// A work item, which may borrow from the workload that issues it.
    type WorkItem<'a>: WorkItem;
}

/// Common properties of all work items.
pub trait WorkItem {
    /// Returns the kind as which it is counted.
    fn kind(&self) -> OpKind;
}

/// Work type of probes and mixes: [`Operation`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operations {}

impl WorkType for Operations {
    type WorkItem<'a> = Operation;
}

impl WorkItem for Operation {
    #[inline]
    fn kind(&self) -> OpKind {
        Operation::kind(self)
    }
}
