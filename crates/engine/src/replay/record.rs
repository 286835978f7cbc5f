//! Parts of the record that only a replay has.

use super::clients::ClientEnd;
use filestone_measure::measure::Caveat;
use filestone_measure::measure::Mismatches;
use filestone_measure::measure::replay_record::{ReplayRecord, SkippedLinesRecord};
use filestone_measure::measure::run_record::RunRecord;
use filestone_protocol::workload::load_file::ClientCounters;
use filestone_workload::operation::OpKind;
use filestone_workload::time::nanos_of;

/// Adds the totals of the clients to the record.
pub fn complete(record: &mut RunRecord, threads: u32, ends: Vec<ClientEnd<ClientCounters>>) {
    let mut ends = ends;
    ends.sort_by_key(|end| end.account.record.client);
    let begun: u64 = ends.iter().map(|end| end.account.begun).sum();
    let scheduled = record.totals.ledger.scheduled;
    if begun != scheduled {
        record.caveats.push(Caveat::LedgerOutOfBalance {
            missing: begun as i64 - scheduled as i64,
            scheduled: begun,
        });
    }
    let moved = |wanted: &[OpKind]| {
        let kinds = record.totals.kinds.iter();
        let of_kind = kinds.filter(|kind| wanted.contains(&kind.operation));
        of_kind.map(|kind| kind.data_bytes).sum()
    };
    let mut of_replay = ReplayRecord {
        threads,
        bytes_written: moved(&[OpKind::WriteX, OpKind::Write, OpKind::OpenX]),
        bytes_read: moved(&[OpKind::ReadX, OpKind::Read]),
        ..ReplayRecord::default()
    };
    let mut mismatches = Mismatches::default();
    for end in ends {
        let mismatch_count = end.mismatches.count();
        mismatches.merge(end.mismatches);
        of_replay.passes += end.account.passes;
        for SkippedLinesRecord { operation, count } in &end.account.left_out {
            SkippedLinesRecord::add(&mut of_replay.skipped_operations, *operation, *count);
        }
        of_replay.jukebox_calls += end.busy_pauses.calls;
        of_replay.jukebox_pauses_ns += nanos_of(end.busy_pauses.pauses);
        let client = end.account.into_record(mismatch_count);
        of_replay.lines += client.lines;
        of_replay.clients.push(client);
    }
    of_replay
        .skipped_operations
        .sort_by_key(|kind| kind.operation.index());
    of_replay.mismatch_count = mismatches.count();
    of_replay.mismatches = mismatches.into_records();
    record.replay = Some(of_replay);
}
