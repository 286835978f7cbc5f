//! Counters that one client of a load keeps itself.

use filestone_measure::measure::replay_record::{
    ClientKindRecord, ClientRecord, SkippedLinesRecord,
};
use filestone_workload::operation::{OpKind, Outcome};
use filestone_workload::recording::Sample;
use filestone_workload::time::Timestamp;

/// Counters that one client of a load keeps itself.
#[derive(Debug)]
pub struct ClientCounters {
    /// The record of the client. Its kinds are filled in at the end, its mismatches are counted
    /// elsewhere.
    pub record: ClientRecord,
    /// Iterations that it began.
    pub passes: u64,
    /// Operations that it began in the measured window, or that were due in it.
    pub begun: u64,
    /// Modifying lines that a read-only run skipped.
    pub left_out: Vec<SkippedLinesRecord>,
    pub(super) is_fresh: bool,
    kinds: Vec<KindTally>,
}

#[derive(Debug, Clone, Copy)]
struct KindTally {
    kind: OpKind,
    count: u64,
    sum: u64,
    max: u64,
}

impl ClientCounters {
    pub(super) fn new(client: u32) -> Self {
        Self {
            record: ClientRecord {
                client,
                ..ClientRecord::default()
            },
            passes: 1,
            begun: 0,
            left_out: Vec::new(),
            is_fresh: true,
            kinds: Vec::new(),
        }
    }

    /// Counts a completed line; `is_measured` states whether it was due in the window.
    #[inline]
    pub(super) fn add(&mut self, sample: &Sample, is_measured: bool) {
        let data_bytes = u64::from(sample.completion.data_bytes);
        let record = &mut self.record;
        record.lines += 1;
        record.data_bytes = record.data_bytes.saturating_add(data_bytes);
        let completion = &sample.completion;
        let is_timed = completion.outcome == Outcome::Ok && completion.sent != Timestamp::MAX;
        if !is_measured || !is_timed {
            return;
        }
        record.data_bytes_in_window = record.data_bytes_in_window.saturating_add(data_bytes);
        let nanos = sample.completion.done.nanos_since(sample.completion.sent);
        let tally = self.tally(sample.kind);
        tally.count += 1;
        tally.sum = tally.sum.saturating_add(nanos);
        tally.max = tally.max.max(nanos);
    }

    pub(super) fn leave_out(&mut self, kind: OpKind) {
        SkippedLinesRecord::add(&mut self.left_out, kind, 1);
    }

    /// Returns the tally of a kind. A load has at most a dozen kinds, and most lines are of two of
    /// them.
    #[inline]
    fn tally(&mut self, kind: OpKind) -> &mut KindTally {
        let place = self.kinds.iter().position(|tally| tally.kind == kind);
        let place = place.unwrap_or_else(|| {
            self.kinds.push(KindTally {
                kind,
                count: 0,
                sum: 0,
                max: 0,
            });
            self.kinds.len() - 1
        });
        &mut self.kinds[place]
    }

    /// Returns the record, with `mismatch_count` mismatches.
    pub fn into_record(self, mismatch_count: u64) -> ClientRecord {
        let mut kinds = self.kinds;
        kinds.sort_by_key(|tally| tally.kind.index());
        let kinds = kinds.iter().map(|tally| ClientKindRecord {
            operation: tally.kind,
            count: tally.count,
            service_time_mean_ns: tally.sum as f64 / tally.count as f64,
            service_time_max_ns: tally.max,
        });
        ClientRecord {
            mismatch_count,
            kinds: kinds.collect(),
            ..self.record
        }
    }
}
