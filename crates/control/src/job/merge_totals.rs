//! Merging of the totals of several hosts into those of their job.

use super::sum;
use filestone_measure::measure::losses::LossReasons;
use filestone_measure::measure::run_record::{
    FailureCount, KindRecord, RunRecord, Totals, WorkerRecord,
};
use filestone_workload::recording::distribution::HistogramError;
use filestone_workload::recording::ledger::Ledger;
use filestone_workload::recording::{DistributionRecord, RecordMerger};
use std::collections::BTreeMap;

/// Returns sums and merged distributions of these records, whose job's window is `window_ns` long,
/// without the offered load.
pub(super) fn merge_totals(
    merger: &mut RecordMerger,
    records: &[&RunRecord],
    window_ns: u64,
) -> Result<Totals, HistogramError> {
    let totals = || records.iter().map(|record| &record.totals);
    let mut times = |of: fn(&Totals) -> &DistributionRecord| merger.merge(totals().map(of));
    let mut merged = Totals {
        response_time_ns: times(|totals| &totals.response_time_ns)?,
        service_time_ns: times(|totals| &totals.service_time_ns)?,
        slot_wait_ns: times(|totals| &totals.slot_wait_ns)?,
        dispatch_delay_ns: times(|totals| &totals.dispatch_delay_ns)?,
        kinds: merge_kinds(merger, records)?,
        workers: workers(records),
        ..Totals::default()
    };
    for record in records {
        add_counts(&mut merged, record, window_ns);
    }
    let ended: u64 = merged.kinds.iter().map(|kind| kind.ledger.ended()).sum();
    merged.client_cpu_ns_per_op = merged.client_cpu_ns as f64 / ended.max(1) as f64;
    Ok(merged)
}

/// Adds counts, and rates per second of a window, which may differ in length.
fn add_counts(merged: &mut Totals, record: &RunRecord, window_ns: u64) {
    let totals = &record.totals;
    let part = record.window_ns as f64 / window_ns.max(1) as f64;
    merged.ledger.add(&totals.ledger);
    merged.achieved_load_ops_per_s += totals.achieved_load_ops_per_s * part;
    merged.goodput_bytes_per_s += totals.goodput_bytes_per_s * part;
    merged.in_flight_mean += totals.in_flight_mean * part;
    if let Some(held) = totals.held_mean {
        *merged.held_mean.get_or_insert(0.0) += held * part;
    }
    add(&mut merged.late_replies, totals.late_replies);
    add(&mut merged.oversized_listings, totals.oversized_listings);
    let excess = &mut merged.oversized_listing_bytes_max;
    *excess = (*excess).max(totals.oversized_listing_bytes_max);
    add(&mut merged.reconnections, totals.reconnections);
    add(&mut merged.disconnected_ns, totals.disconnected_ns);
    let mut losses = LossReasons::of(&merged.losses);
    losses.add(&LossReasons::of(&totals.losses));
    merged.losses = losses.into_records();
    add(&mut merged.lost_clients, totals.lost_clients);
    add(&mut merged.client_cpu_ns, totals.client_cpu_ns);
}

/// Adds to a count; counts of a foreign record may have any value.
fn add(count: &mut u64, more: u64) {
    *count = count.saturating_add(more);
}

/// Returns all threads of all hosts, renumbered.
fn workers(records: &[&RunRecord]) -> Vec<WorkerRecord> {
    let all = records.iter().flat_map(|record| &record.totals.workers);
    (0..)
        .zip(all)
        .map(|(worker, record)| WorkerRecord {
            worker,
            ..record.clone()
        })
        .collect()
}

fn merge_kinds(
    merger: &mut RecordMerger,
    records: &[&RunRecord],
) -> Result<Vec<KindRecord>, HistogramError> {
    let mut kinds: Vec<Vec<&KindRecord>> = Vec::new();
    for row in records.iter().flat_map(|record| &record.totals.kinds) {
        let mut known = kinds.iter_mut();
        let same = known.find(|rows| {
            let first = rows.first();
            first.is_some_and(|first| (first.operation, first.role) == (row.operation, row.role))
        });
        match same {
            Some(rows) => rows.push(row),
            None => kinds.push(vec![row]),
        }
    }
    kinds
        .iter()
        .filter_map(|rows| merge_kind(merger, rows).transpose())
        .collect()
}

fn merge_kind(
    merger: &mut RecordMerger,
    rows: &[&KindRecord],
) -> Result<Option<KindRecord>, HistogramError> {
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let mut ledger = Ledger::default();
    rows.iter().for_each(|row| ledger.add(&row.ledger));
    let sum = |count: fn(&KindRecord) -> u64| sum(rows.iter().map(|row| count(row)));
    let mut times =
        |of: fn(&KindRecord) -> &DistributionRecord| merger.merge(rows.iter().map(|row| of(row)));
    Ok(Some(KindRecord {
        operation: first.operation,
        role: first.role,
        ledger,
        response_time_ns: times(|row| &row.response_time_ns)?,
        service_time_ns: times(|row| &row.service_time_ns)?,
        failed_time_ns: times(|row| &row.failed_time_ns)?.or_default(),
        failed_service_sum_ns: sum(|row| row.failed_service_sum_ns),
        calls: sum(|row| row.calls),
        retransmissions: sum(|row| row.retransmissions),
        bytes_sent: sum(|row| row.bytes_sent),
        bytes_received: sum(|row| row.bytes_received),
        data_bytes: sum(|row| row.data_bytes),
        failures: failures(rows),
    }))
}

/// Returns the failures summed by name, the most frequent first.
fn failures(rows: &[&KindRecord]) -> Vec<FailureCount> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for failure in rows.iter().flat_map(|row| &row.failures) {
        let count = counts.entry(&failure.failure).or_default();
        *count = count.saturating_add(failure.count);
    }
    let named = counts.into_iter().map(|(failure, count)| FailureCount {
        failure: failure.into(),
        count,
    });
    let mut failures: Vec<FailureCount> = named.collect();
    failures.sort_by(|one, other| {
        let by_count = other.count.cmp(&one.count);
        by_count.then(one.failure.cmp(&other.failure))
    });
    failures
}
