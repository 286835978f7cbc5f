//! What clients of one sort can be asked: operations on files that are known by number, or
//! lines of a load file.
//!
//! The loop, the arrivals and the recording know of a piece of work only its kind; whoever hands
//! it out and whoever carries it out agree on the rest by having the same language.

use crate::operation::{OpKind, Operation};

/// A language that workloads and clients have in common.
pub trait WorkType: 'static {
    /// One piece of work, which may borrow from the workload that hands it out.
    type WorkItem<'a>: WorkItem;
}

/// What is known of any piece of work.
pub trait WorkItem {
    /// As what it is counted.
    fn kind(&self) -> OpKind;
}

/// [`Operation`]s: what probes and mixes ask.
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
