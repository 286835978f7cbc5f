//! Jobs of several hosts: partitioning, and merging of the results.
//!
//! A host is to a job what a worker is to a run: it has some of the clients, its random streams
//! follow the clients' numbers, and its histograms are merged bucket by bucket, so that no value is
//! an average of percentiles.

mod encoded_interval;
mod merge;
mod merge_independent;
mod merge_intervals;
mod merge_totals;
mod partition;

pub use encoded_interval::{EncodedInterval, EncodedKind};
pub use merge::{HostRun, MergeError, decide, evaluate, merge};
pub use merge_independent::{IncompatibleRuns, merge_independent};
pub use merge_intervals::IntervalMerger;
pub use partition::{PartitionError, deal, dealt_set, on_each_of};

/// Returns the sum of counts; counts of a foreign record may have any value.
fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}
