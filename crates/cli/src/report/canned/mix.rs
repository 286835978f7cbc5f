//! A mix: nhfsstone's own at 2,000 operations per second for two seconds, on the wire.

use super::{SECOND, all_ok, distribution, merge_kinds, plan, record};
use filestone_model::measure::mix_record::{FileSetRecord, MixOperationRecord, ThirdRecord};
use filestone_model::measure::{DistributionRecord, MixRecord, Role, RunRecord};
use filestone_model::operation::{OpKind, Stability};
use filestone_model::plan::{
    Access, ArrivalsPlan, FileSetPlan, FileSizes, LeftoverPolicy, LocalMix, MixCount, MixPlan,
    Popularity, WorkloadPlan,
};

/// What was asked for, in percent, and how often it was done in each of two seconds: 2000 of
/// all kinds. GETATTR had 10 more, LOOKUP 10 fewer than their shares.
const ASKED_AND_DONE: &[(OpKind, u64, u64)] = &[
    (OpKind::GetAttr, 13, 262),
    (OpKind::SetAttr, 1, 20),
    (OpKind::Lookup, 34, 678),
    (OpKind::ReadLink, 8, 160),
    (OpKind::Read, 22, 440),
    (OpKind::Write, 15, 300),
    (OpKind::Create, 2, 40),
    (OpKind::Remove, 1, 20),
    (OpKind::ReadDir, 3, 60),
    (OpKind::FsStat, 1, 20),
];
const OFFERED: f64 = 2000.0;
const SECONDS: u64 = 2;

fn mix_plan() -> MixPlan {
    MixPlan {
        calls: None,
        name: "nhfsstone".into(),
        counts: ASKED_AND_DONE
            .iter()
            .map(|&(operation, count, _)| MixCount { operation, count })
            .collect(),
        left_out: vec![],
        more_targets: vec![],
        file_set: FileSetPlan {
            name: "filestone-mix".into(),
            files_per_client: 40,
            sizes: FileSizes::Nhfsstone,
            symbolic_links_per_client: 1,
            spare_names_per_client: 20,
            working_set_bytes: None,
            popularity: Popularity::Uniform,
        },
        transfer_bytes: 8192,
        access: Access::Whole,
        stability: Stability::FileSync,
        listing_bytes: 8192,
        remove_set: false,
        left_over: LeftoverPolicy::Refuse,
        local: LocalMix::default(),
    }
}

/// Response times of `count` calls of the kind at `place`: 200 µs for the first, 50 µs more for
/// each kind after it, and up to 49 µs more than that.
fn times(place: u64, count: u64) -> DistributionRecord {
    let base = 200_000 + 50_000 * place;
    distribution((0..count).map(|index| base + 1000 * (index % 50)))
}

fn service_times(place: u64, count: u64) -> DistributionRecord {
    let base = 190_000 + 50_000 * place;
    distribution((0..count).map(|index| base + 1000 * (index % 50)))
}

/// The default mix of nhfsstone, seven clients, Poisson arrivals, as it should be.
pub fn mix() -> RunRecord {
    let mut plan = plan(OpKind::Null);
    plan.face = "mix".into();
    plan.workload = WorkloadPlan::Mix(Box::new(mix_plan()));
    plan.arrivals = ArrivalsPlan::Poisson {
        offered_load_ops_per_s: OFFERED,
    };
    plan.clients = 7;
    plan.in_flight = 1024;
    if let Some(target) = plan.target.nfs3_mut() {
        target.path = "/export".into();
    }
    let mut record = record(plan, SECONDS, 200, 200_000);
    spread(&mut record);
    record.mix = Some(mix_record(&record));
    record
}

/// Gives every kind of the mix what it did, and the kinds that only keep the set in its
/// proportions nothing.
fn spread(record: &mut RunRecord) {
    let done = |operation: OpKind, role: Role| {
        let mut rows = (0..).zip(ASKED_AND_DONE);
        rows.find(|(_, row)| (row.0, Role::Measured) == (operation, role))
            .map_or((0, 0), |(place, row)| (place, row.2))
    };
    for kind in &mut record.totals.kinds {
        let (place, per_second) = done(kind.operation, kind.role);
        let count = SECONDS * per_second;
        kind.ledger = all_ok(count);
        kind.calls = count;
        (kind.bytes_sent, kind.bytes_received) = (132 * count, 4228 * count);
        kind.response_time_ns = times(place, count);
        kind.service_time_ns = service_times(place, count);
    }
    for interval in &mut record.intervals {
        for kind in &mut interval.kinds {
            let (place, count) = done(kind.operation, kind.role);
            kind.ledger = all_ok(count);
            kind.response_time_ns = times(place, count);
            kind.service_time_ns = service_times(place, count);
        }
    }
    merge_kinds(record);
    record.totals.in_flight_mean = in_flight(record);
}

/// By Little's law: achieved load times the mean time in flight.
fn in_flight(record: &RunRecord) -> f64 {
    OFFERED * record.totals.service_time_ns.mean / SECOND as f64
}

fn mix_record(record: &RunRecord) -> MixRecord {
    let all: u64 = ASKED_AND_DONE.iter().map(|row| row.2).sum();
    let operations: Vec<MixOperationRecord> = ASKED_AND_DONE
        .iter()
        .map(|&(operation, want, per_second)| MixOperationRecord {
            operation,
            want_percent: want as f64,
            got_percent: 100.0 * per_second as f64 / all as f64,
            count: SECONDS * per_second,
        })
        .collect();
    let off = operations
        .iter()
        .map(|row| row.got_percent - row.want_percent);
    let third = |ended| ThirdRecord {
        ended,
        response_time_mean_ns: record.totals.response_time_ns.mean,
        standard_error_ns: 1500.0,
        batches: 7,
    };
    MixRecord {
        file_set: FileSetRecord {
            paths: vec!["/export/filestone-mix".into()],
            files: 280,
            bytes: 5_537_792,
            working_files: 280,
            working_bytes: 5_537_792,
            other_objects: 189,
            found: 0,
            made: 469,
            prepared_ns: 41_000_000,
            removed: false,
        },
        off_by_percent: off.map(f64::abs).sum(),
        operations,
        in_flight_mean: in_flight(record),
        in_flight_by_littles_law: in_flight(record),
        thirds: [1333, 1333, 1334].map(third).to_vec(),
        asked_calls: None,
        wire: None,
    }
}
