//! Merging of intervals and ticks of several hosts into those of their job.

use super::encoded_interval::{EncodedInterval, EncodedKind};
use super::sum;
use filestone_measure::measure::run_record::{
    IntervalKindRecord, IntervalRecord, Phase, TickRecord,
};
use filestone_workload::recording::distribution::HistogramError;
use filestone_workload::recording::ledger::Ledger;
use filestone_workload::recording::{EncodedDistribution, RecordMerger};
use std::collections::BTreeMap;

/// Merges the same interval of several hosts into one. `None` for an empty list.
///
/// Intervals of hosts start at the same multiples of the interval length after their windows
/// opened.
fn merge_interval(
    merger: &mut RecordMerger,
    intervals: &[EncodedInterval],
) -> Result<Option<IntervalRecord>, HistogramError> {
    let Some(first) = intervals.first() else {
        return Ok(None);
    };
    let mut merged = IntervalRecord {
        kinds: Vec::with_capacity(first.kinds.len()),
        ledger: Ledger::default(),
        bytes_sent: 0,
        bytes_received: 0,
        client_cpu_ns: 0,
        ..first.whole.clone()
    };
    for EncodedInterval {
        whole: interval, ..
    } in intervals
    {
        merged.end_ns = merged.end_ns.max(interval.end_ns);
        merged.ledger.add(&interval.ledger);
        merged.bytes_sent = merged.bytes_sent.saturating_add(interval.bytes_sent);
        merged.bytes_received = merged
            .bytes_received
            .saturating_add(interval.bytes_received);
        merged.client_cpu_ns = merged.client_cpu_ns.saturating_add(interval.client_cpu_ns);
    }
    for kind in kinds_of(intervals) {
        let same = |row: &&EncodedKind| (row.operation, row.role) == (kind.operation, kind.role);
        let rows = intervals.iter().flat_map(|interval| &interval.kinds);
        let rows: Vec<&EncodedKind> = rows.filter(same).collect();
        merged.kinds.push(merge_kind(merger, kind, &rows)?);
    }
    Ok(Some(merged))
}

/// Returns the first row of each kind and role, in order of appearance.
fn kinds_of(intervals: &[EncodedInterval]) -> Vec<&EncodedKind> {
    let mut kinds: Vec<&EncodedKind> = Vec::new();
    for row in intervals.iter().flat_map(|interval| &interval.kinds) {
        let is_known =
            |known: &&EncodedKind| (known.operation, known.role) == (row.operation, row.role);
        if !kinds.iter().any(is_known) {
            kinds.push(row);
        }
    }
    kinds
}

fn merge_kind(
    merger: &mut RecordMerger,
    kind: &EncodedKind,
    rows: &[&EncodedKind],
) -> Result<IntervalKindRecord, HistogramError> {
    let mut ledger = Ledger::default();
    rows.iter().for_each(|row| ledger.add(&row.ledger));
    let mut times = |of: fn(&EncodedKind) -> &EncodedDistribution| {
        merger.merge_encoded(rows.iter().map(|row| of(row)))
    };
    Ok(IntervalKindRecord {
        operation: kind.operation,
        role: kind.role,
        ledger,
        data_bytes: sum(rows.iter().map(|row| row.data_bytes)),
        response_time_ns: times(|row| &row.response_time)?,
        service_time_ns: times(|row| &row.service_time)?,
    })
}

/// Sort key of an interval within its run: the drain is last.
fn place(interval: &IntervalRecord) -> (bool, u64) {
    (interval.phase == Phase::Drain, interval.start_ns)
}

/// Merges all intervals of several hosts by start time.
pub(super) fn merge_all(
    merger: &mut RecordMerger,
    hosts: &[&[IntervalRecord]],
) -> Result<Vec<IntervalRecord>, HistogramError> {
    let mut alike: BTreeMap<(bool, u64), Vec<&IntervalRecord>> = BTreeMap::new();
    for interval in hosts.iter().copied().flatten() {
        alike.entry(place(interval)).or_default().push(interval);
    }
    let mut merged = Vec::with_capacity(alike.len());
    for intervals in alike.values() {
        let encoded = intervals.iter().map(|interval| (*interval).try_into());
        let encoded = encoded.collect::<Result<Vec<_>, _>>()?;
        merged.extend(merge_interval(merger, &encoded)?);
    }
    Ok(merged)
}

/// Sums the ticks of several hosts.
pub(super) fn merge_ticks(hosts: &[&[TickRecord]]) -> Vec<TickRecord> {
    let mut merged: BTreeMap<u64, TickRecord> = BTreeMap::new();
    for tick in hosts.iter().copied().flatten() {
        match merged.get_mut(&tick.start_ns) {
            Some(sum) => add_tick(sum, tick),
            None => {
                merged.insert(tick.start_ns, *tick);
            }
        }
    }
    merged.into_values().collect()
}

fn add_tick(sum: &mut TickRecord, tick: &TickRecord) {
    let mut counts = sum.counts();
    counts.add(&tick.counts());
    *sum = TickRecord::new(sum.start_ns, sum.len_ns, &counts);
}

/// Merges intervals while a job runs: an interval is complete when each host has reported it or a
/// later one, or has finished.
#[derive(Debug)]
pub struct IntervalMerger {
    merger: RecordMerger,
    pending: BTreeMap<(bool, u64), Vec<EncodedInterval>>,
    /// Latest interval that each host has reported: `Nothing` before the first, `All` after the last.
    told: Vec<Told>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    UpTo((bool, u64)),
    All,
}

impl IntervalMerger {
    /// Creates a merger for this number of hosts.
    pub fn new(hosts: usize) -> Self {
        Self {
            merger: RecordMerger::new(),
            pending: BTreeMap::new(),
            told: vec![Told::Nothing; hosts],
        }
    }

    /// Adds an interval of a host.
    pub fn take(&mut self, host: usize, interval: EncodedInterval) {
        let key = place(&interval.whole);
        if let Some(told) = self.told.get_mut(host) {
            *told = Told::UpTo(key);
            self.pending.entry(key).or_default().push(interval);
        }
    }

    /// Marks a host as finished.
    pub fn finish(&mut self, host: usize) {
        if let Some(told) = self.told.get_mut(host) {
            *told = Told::All;
        }
    }

    /// Returns the next complete interval, if any.
    pub fn complete(&mut self) -> Result<Option<IntervalRecord>, HistogramError> {
        let Some(key) = self.pending.keys().next().copied() else {
            return Ok(None);
        };
        let is_told = |told: &Told| match told {
            Told::Nothing => false,
            Told::UpTo(last) => *last >= key,
            Told::All => true,
        };
        if !self.told.iter().all(is_told) {
            return Ok(None);
        }
        let intervals = self.pending.remove(&key).unwrap_or_default();
        merge_interval(&mut self.merger, &intervals)
    }
}
