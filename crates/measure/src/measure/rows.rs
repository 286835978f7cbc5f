//! Intervals joined to rows for display.
//!
//! A short run has intervals of less than a second, so that there are enough batches to estimate
//! the accuracy of its figures. Tables and plots over time keep rows of a second.

use crate::measure::run_record::{IntervalKindRecord, IntervalRecord, RunRecord};
use filestone_workload::recording::distribution::{DistributionRecord, HistogramError};
use std::borrow::Cow;

/// Returns the record with rows instead of its intervals; unchanged if the intervals are the rows,
/// or if a histogram cannot be read.
pub fn in_rows(record: &RunRecord) -> Cow<'_, RunRecord> {
    let plan = &record.plan;
    let Some(row_ns) = plan.row_ns.filter(|row_ns| *row_ns > plan.interval_ns) else {
        return Cow::Borrowed(record);
    };
    let is_one = |one: &IntervalRecord, next: &IntervalRecord| {
        one.phase == next.phase && one.start_ns / row_ns == next.start_ns / row_ns
    };
    let rows = record.intervals.chunk_by(is_one).map(joined);
    let Ok(intervals) = rows.collect::<Result<Vec<_>, _>>() else {
        return Cow::Borrowed(record);
    };
    let mut plan = plan.clone();
    plan.interval_ns = row_ns;
    Cow::Owned(RunRecord {
        plan,
        intervals,
        ..record.clone()
    })
}

/// Joins consecutive intervals.
fn joined(intervals: &[IntervalRecord]) -> Result<IntervalRecord, HistogramError> {
    let [first, more @ ..] = intervals else {
        unreachable!("a chunk has a first interval");
    };
    let mut row = first.clone();
    for interval in more {
        row.end_ns = interval.end_ns;
        row.ledger.add(&interval.ledger);
        row.bytes_sent += interval.bytes_sent;
        row.bytes_received += interval.bytes_received;
        row.client_cpu_ns += interval.client_cpu_ns;
        row.settings = match (row.settings, interval.settings) {
            (Some(one), Some(next)) => Some(one.and(next)),
            (one, next) => one.or(next),
        };
    }
    for kind in &mut row.kinds {
        let of_kind = |interval: &IntervalRecord| {
            let mut kinds = interval.kinds.iter();
            let is_same = |other: &&IntervalKindRecord| {
                (other.operation, other.role) == (kind.operation, kind.role)
            };
            kinds.find(is_same).cloned()
        };
        let others: Vec<IntervalKindRecord> = more.iter().filter_map(of_kind).collect();
        add(kind, &others)?;
    }
    Ok(row)
}

fn add(kind: &mut IntervalKindRecord, others: &[IntervalKindRecord]) -> Result<(), HistogramError> {
    let all = |times: fn(&IntervalKindRecord) -> &DistributionRecord| {
        let all = std::iter::once(times(kind)).chain(others.iter().map(times));
        DistributionRecord::merged(&all.collect::<Vec<_>>())
    };
    let response_time_ns = all(|kind| &kind.response_time_ns)?;
    let service_time_ns = all(|kind| &kind.service_time_ns)?;
    for other in others {
        kind.ledger.add(&other.ledger);
        kind.data_bytes += other.data_bytes;
    }
    kind.response_time_ns = response_time_ns;
    kind.service_time_ns = service_time_ns;
    Ok(())
}
