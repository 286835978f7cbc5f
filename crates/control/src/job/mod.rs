//! A job of several hosts: how it is dealt to them, and what their runs come to together.
//!
//! A host is to a job what a worker is to a run: its clients are some of all, its random streams
//! follow the clients' numbers, and what it measured is merged step by step of the same
//! histograms, so that nothing is an average of percentiles.

mod encoded_interval;
mod merge;
mod merge_independent;
mod merge_intervals;
mod merge_totals;
mod partition;

pub use encoded_interval::{EncodedInterval, EncodedKind};
pub use merge::{HostRun, MergeError, decide, evaluate, merge};
pub use merge_independent::{IncompatibleRuns, merge_by_hand};
pub use merge_intervals::IntervalMerger;
pub use partition::{PartitionError, deal, dealt_set, on_each_of};

/// The sum of counts, each of which may be any number in somebody's record.
fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}
