//! Counting and timing of operations during a run: sample, ledger, histogram and interval.

pub mod buckets;
pub mod distribution;
pub mod interval;
pub mod ledger;
pub mod quantile_interval;
pub mod recorder;
pub mod sample;

pub use distribution::{
    Distribution, DistributionRecord, EncodedDistribution, RecordMerger, SignificantDigits,
};
pub use interval::{IntervalBuffer, TickCounts};
pub use ledger::Ledger;
pub use quantile_interval::QuantileInterval;
pub use recorder::Recorder;
pub use sample::{Role, Sample};

/// Length of a tick: nct's sample, the finest row of a record.
pub const TICK_NANOS: u64 = 100_000_000;
