//! Hand-made records, so that times are constant: a plain run, one with errors and unmeasured
//! operations, an open loop that was interrupted, replays, and a mix.

mod fleet;
mod mix;
mod steered;

pub use fleet::{changed_fleet, fleet};
pub use mix::mix;
pub use steered::{curve, mix_through_mount, objective};

use filestone_control::job::{HostRun, merge_independent};
use filestone_measure::measure::figures::with_figures;
use filestone_measure::measure::replay_record::{
    ClientKindRecord, ClientRecord, MismatchRecord, ReplayRecord,
};
use filestone_measure::measure::run_record::{
    FailureCount, Host, IntervalKindRecord, IntervalRecord, KindRecord, Phase, RunOutcome,
    TickRecord, Tool, Totals, WorkerRecord,
};
use filestone_measure::measure::unexpected;
use filestone_measure::measure::{Caveat, RunRecord, Validity, run_record};
use filestone_plan::examples::{example_probe, example_server, example_trace};
use filestone_plan::plan::{
    ArrivalsPlan, LoadName, LocalTarget, Pacing, Plan, ReplayPlan, TICK_NANOS, TargetPlan,
    TcpTarget, WorkloadPlan,
};
use filestone_workload::load::{Generation, Mismatch};
use filestone_workload::operation::OpKind;
use filestone_workload::recording::{Distribution, DistributionRecord, Ledger, Role};
use std::sync::LazyLock;

/// Returns a record of each kind, except those of several layers.
pub fn all() -> Vec<RunRecord> {
    let runs = vec![plain(), with_errors(), interrupted()];
    let replays = vec![replayed(), replayed_with_mismatches()];
    [runs, replays, mixes(), vec![fleet(), job(3)]].concat()
}

/// Returns a record of each kind of mix.
pub fn mixes() -> Vec<RunRecord> {
    vec![mix(), mix_through_mount(), curve(), objective()]
}

const SECOND: u64 = 1_000_000_000;

/// Returns response times of one tick: `count` values that start at `base` and increase.
fn times(tick: u64, base: u64, count: u64) -> Vec<u64> {
    (0..count)
        .map(|index| base + 1000 * ((index * 7 + tick) % 50))
        .collect()
}

fn distribution(values: impl IntoIterator<Item = u64>) -> DistributionRecord {
    let mut distribution = Distribution::<u64>::new();
    values
        .into_iter()
        .for_each(|value| distribution.record(value));
    distribution.to_record()
}

/// Returns a ledger of successful operations.
fn all_ok(count: u64) -> Ledger {
    Ledger {
        scheduled: count,
        ok: count,
        ..Ledger::default()
    }
}

/// Sets the times of all operations to those of the kinds together.
fn merge_kinds(record: &mut RunRecord) {
    let merged = |times: fn(&KindRecord) -> &DistributionRecord| {
        let kinds: Vec<_> = record.totals.kinds.iter().map(times).collect();
        DistributionRecord::merged(&kinds).expect("our own histograms")
    };
    let response = merged(|kind| &kind.response_time_ns);
    let service = merged(|kind| &kind.service_time_ns);
    record.totals.response_time_ns = response;
    record.totals.service_time_ns = service;
}

fn plan(operation: OpKind) -> Plan {
    Plan {
        target: example_server("/export/files"),
        in_flight: 8,
        duration_ns: Some(2 * SECOND),
        ..example_probe(operation)
    }
}

/// Creates the interval of one second with the operations of its ticks; `of_all` is their times
/// divided by its argument.
fn interval(
    second: u64,
    count: u64,
    kinds: &[(OpKind, Role)],
    of_all: impl Fn(u64) -> DistributionRecord,
) -> IntervalRecord {
    let of_kind = |(operation, role): &(OpKind, Role)| IntervalKindRecord {
        operation: *operation,
        role: *role,
        ledger: all_ok(count),
        data_bytes: 0,
        response_time_ns: of_all(1),
        service_time_ns: of_all(2),
    };
    IntervalRecord {
        start_ns: second * SECOND,
        end_ns: (second + 1) * SECOND,
        phase: Phase::Measure,
        settings: None,
        ledger: all_ok(count),
        bytes_sent: count * 132,
        bytes_received: count * 4228,
        client_cpu_ns: 50_000_000,
        kinds: kinds.iter().map(of_kind).collect(),
    }
}

fn tick(index: u64, times: &[u64]) -> TickRecord {
    let count = times.len() as u64;
    TickRecord {
        start_ns: index * TICK_NANOS,
        len_ns: TICK_NANOS,
        ended: count,
        ok: None,
        untimed_as_expected: 0,
        response_time_sum_ns: times.iter().sum(),
        response_time_min_ns: times.iter().copied().min().unwrap_or(0),
        response_time_max_ns: times.iter().copied().max().unwrap_or(0),
        bytes_sent: count * 132,
        bytes_received: count * 4228,
    }
}

/// Creates the totals of `seconds` whole seconds with `count` operations together; `of_all` is
/// their times divided by its argument.
fn totals(
    plan: &Plan,
    seconds: u64,
    count: u64,
    of_all: impl Fn(u64) -> DistributionRecord,
) -> Totals {
    let of_kind = |(operation, role): (OpKind, Role)| KindRecord {
        operation,
        role,
        ledger: all_ok(count),
        response_time_ns: of_all(1),
        service_time_ns: of_all(2),
        failed_time_ns: DistributionRecord::default(),
        failed_service_sum_ns: 0,
        calls: count,
        retransmissions: 0,
        bytes_sent: count * 132,
        bytes_received: count * 4228,
        data_bytes: 0,
        failures: vec![],
    };
    let per_second = (count / seconds) as f64;
    Totals {
        ledger: all_ok(count),
        offered_load_ops_per_s: plan.arrivals.offered_load(),
        achieved_load_ops_per_s: per_second,
        response_time_ns: of_all(1),
        service_time_ns: of_all(2),
        slot_wait_ns: distribution((0..count).map(|_| 0)),
        dispatch_delay_ns: distribution((0..count).map(|index| index % 700)),
        kinds: plan.kinds().into_iter().map(of_kind).collect(),
        client_cpu_ns: seconds * 50_000_000,
        client_cpu_ns_per_op: 50_000_000.0 / per_second,
        workers: vec![WorkerRecord {
            worker: 0,
            clients: plan.clients,
            cpu_ns: seconds * 50_000_000,
            busy_poll_ns: 0,
            busy_percent: 5.0,
            run_delay_percent: 0.0,
        }],
        ..Totals::default()
    }
}

/// Creates a record of `seconds` whole seconds with `per_tick` operations in each tick.
fn record(plan: Plan, seconds: u64, per_tick: u64, base: u64) -> RunRecord {
    let kinds = plan.kinds();
    let ticks: Vec<Vec<u64>> = (0..seconds * 10)
        .map(|tick| times(tick, base, per_tick))
        .collect();
    let of_ticks = |ticks: &[Vec<u64>], scale: u64| {
        distribution(ticks.iter().flatten().map(|time| time / scale))
    };
    let intervals = (0..).zip(ticks.chunks(10)).map(|(second, ticks)| {
        interval(second, 10 * per_tick, &kinds, |scale| {
            of_ticks(ticks, scale)
        })
    });
    let count = seconds * 10 * per_tick;
    RunRecord {
        started_at: "2026-01-02T03:04:05Z".into(),
        host: Host {
            kernel: "Linux 6.12".into(),
            cpu: "a processor".into(),
            cpus: 2,
            clock_source: "tsc".into(),
            driver: "epoll".into(),
            ..Host::default()
        },
        target: run_record::Target {
            address: "10.0.0.5:2049".into(),
            export: "/export".into(),
            walked: "files".into(),
            object: "directory".into(),
            ..run_record::Target::default()
        },
        window_ns: seconds * SECOND,
        totals: totals(&plan, seconds, count, |scale| of_ticks(&ticks, scale)),
        intervals: intervals.collect(),
        ticks: (0..)
            .zip(&ticks)
            .map(|(index, times)| tick(index, times))
            .collect(),
        validity: Some(Validity::Counts),
        ..RunRecord::new(plan, Tool::release("0.1.0"))
    }
}

/// Removes the `count` shortest times from a distribution and returns them.
fn take_shortest(times: &mut DistributionRecord, count: u64) -> Vec<u64> {
    let histogram = times.decode().expect("our own histogram");
    let steps = histogram.iter_recorded();
    let steps: Vec<(u64, u64)> = steps
        .map(|step| (step.value_iterated_to(), step.count_at_value()))
        .collect();
    let values = steps.into_iter();
    let values = values.flat_map(|(value, times)| (0..times).map(move |_| value));
    let mut values: Vec<u64> = values.collect();
    let rest = values.split_off(count as usize);
    *times = distribution(rest);
    values
}

/// Turns the `count` fastest operations of a kind in an interval into failures, whose times are
/// then separate.
fn fail(record: &mut RunRecord, kind: usize, interval: usize, ends: impl Fn(&mut Ledger)) {
    let before = record.totals.ledger.ok;
    ends(&mut record.totals.ledger);
    let count = before - record.totals.ledger.ok;
    let totals = &mut record.totals;
    take_shortest(&mut totals.response_time_ns, count);
    take_shortest(&mut totals.service_time_ns, count);
    let row = &mut totals.kinds[kind];
    ends(&mut row.ledger);
    row.failed_time_ns = distribution(take_shortest(&mut row.response_time_ns, count));
    let service = take_shortest(&mut row.service_time_ns, count);
    row.failed_service_sum_ns = service.iter().sum();
    let period = &mut record.intervals[interval];
    ends(&mut period.ledger);
    let row = &mut period.kinds[kind];
    ends(&mut row.ledger);
    let taken = take_shortest(&mut row.response_time_ns, count);
    take_shortest(&mut row.service_time_ns, count);
    let tick = &mut record.ticks[interval * 10];
    tick.ok = Some(tick.ended - count);
    let sum = &mut tick.response_time_sum_ns;
    *sum = sum.saturating_sub(taken.iter().sum());
}

/// Sets the achieved load to the successful operations: no operation was in flight at either end of
/// the window.
fn achieve_what_succeeded(record: &mut RunRecord) {
    let seconds = record.window_ns as f64 / SECOND as f64;
    record.totals.achieved_load_ops_per_s = record.totals.ledger.ok as f64 / seconds;
}

/// READ without errors, two seconds.
pub fn plain() -> RunRecord {
    // Cached because its histograms take a while to fill, and most tests need it.
    static PLAIN: LazyLock<RunRecord> = LazyLock::new(|| {
        let mut record = record(plan(OpKind::Read), 2, 50, 100_000);
        record.plan.target = example_server("/export/file");
        record.totals.goodput_bytes_per_s = 500.0 * 4096.0;
        record.totals.kinds[0].data_bytes = 1000 * 4096;
        record
    });
    PLAIN.clone()
}

/// READ without errors, in enough intervals for confidence intervals of its figures.
pub fn in_stretches() -> RunRecord {
    static IN_STRETCHES: LazyLock<RunRecord> = LazyLock::new(stretches);
    IN_STRETCHES.clone()
}

fn stretches() -> RunRecord {
    let mut record = record(plan(OpKind::Read), 20, 50, 100_000);
    record.plan.duration_ns = Some(20 * SECOND);
    for (place, interval) in (0..).zip(&mut record.intervals) {
        // 480 to 520 operations; slower intervals have fewer.
        let slower = (place * 3) % 5;
        let count = 520 - 10 * slower;
        interval.ledger = all_ok(count);
        let kind = &mut interval.kinds[0];
        (kind.ledger, kind.data_bytes) = (all_ok(count), count * 4096);
        let times = distribution(times(place, 100_000 + 2000 * slower, count));
        (kind.response_time_ns, kind.service_time_ns) = (times.clone(), times);
    }
    let kinds = record.intervals.iter().map(|interval| &interval.kinds[0]);
    let times: Vec<_> = kinds.map(|kind| &kind.response_time_ns).collect();
    let times = DistributionRecord::merged(&times).expect("our own histograms");
    let kind = &mut record.totals.kinds[0];
    (kind.response_time_ns, kind.service_time_ns) = (times.clone(), times);
    kind.data_bytes = 10_000 * 4096;
    merge_kinds(&mut record);
    record.totals.goodput_bytes_per_s = 500.0 * 4096.0;
    with_figures(record)
}

/// [`in_stretches`] with rows of two intervals each.
#[cfg(test)]
pub fn in_rows_of_two() -> RunRecord {
    let mut record = in_stretches();
    record.plan.row_ns = Some(2 * SECOND);
    record
}

/// [`plain`] on this number of hosts, in equal parts.
pub fn job(hosts: u32) -> RunRecord {
    let run = |part: u32| {
        let mut record = plain();
        record.plan.duration_ns = Some(record.window_ns);
        record.plan.seed = part.into();
        record.started_at = format!("2026-01-02T03:04:05.{part:03}Z");
        HostRun::independent(format!("node{}", part + 1), part, record)
    };
    let runs: Vec<HostRun> = (0..hosts).map(run).collect();
    merge_independent(&runs).expect("one job")
}

/// CREATE with unmeasured REMOVE, and errors.
pub fn with_errors() -> RunRecord {
    let mut record = record(plan(OpKind::Create), 3, 20, 250_000);
    fail(&mut record, 0, 1, |ledger| {
        ledger.ok -= 9;
        ledger.failed += 6;
        ledger.timed_out += 1;
        ledger.disconnected += 2;
    });
    achieve_what_succeeded(&mut record);
    record.totals.kinds[0].failures = vec![
        FailureCount {
            failure: "NFS3ERR_NOSPC (28)".into(),
            count: 5,
        },
        FailureCount {
            failure: "NFS3ERR_STALE (70)".into(),
            count: 1,
        },
    ];
    let (count, completed) = unexpected::counts(&record);
    record.caveats = vec![Caveat::UnexpectedOutcomes {
        count,
        completed,
        outcomes: unexpected::outcomes(&record),
    }];
    record.validity = Some(Validity::WithCaveats);
    record
}

/// GETATTR, 400 operations per second offered, interrupted after two seconds.
pub fn interrupted() -> RunRecord {
    let mut plan = plan(OpKind::GetAttr);
    plan.arrivals = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 400.0,
    };
    plan.clients = 4;
    plan.in_flight = 1024;
    plan.probe_mut().expect("a probe").random = true;
    plan.duration_ns = Some(10 * SECOND);
    let mut record = record(plan, 2, 40, 80_000);
    record.end = RunOutcome::Interrupted;
    let skip = |ledger: &mut Ledger| {
        ledger.scheduled += 3;
        ledger.skipped += 3;
    };
    skip(&mut record.totals.ledger);
    skip(&mut record.totals.kinds[0].ledger);
    skip(&mut record.intervals[1].ledger);
    skip(&mut record.intervals[1].kinds[0].ledger);
    record.caveats = vec![
        Caveat::Interrupted {
            after_ns: 2 * SECOND,
        },
        Caveat::Skipped {
            count: 3,
            scheduled: 803,
        },
    ];
    record.validity = Some(Validity::WithCaveats);
    record
}

/// A replay of three kinds on `target`, whose service times start at `base`.
fn replay_on(target: TargetPlan, base: u64) -> RunRecord {
    let mut plan = plan(OpKind::Null);
    plan.command = "replay".into();
    plan.target = target;
    let office = LoadName {
        name: "office".into(),
        operations: 3000,
        generation: Generation::Cifs,
    };
    let kinds = vec![OpKind::Close, OpKind::ReadX, OpKind::QueryPathInformation];
    plan.workload = WorkloadPlan::LoadFile(ReplayPlan::new(vec![office], kinds));
    plan.clients = 2;
    plan.in_flight = 1;
    plan.warm_up_ns = SECOND;
    let mut record = record(plan, 2, 60, base);
    spread_over_kinds(&mut record);
    record.totals.goodput_bytes_per_s = 3_000_000.0;
    record.replay = Some(ReplayRecord {
        lines: 1800,
        passes: 2,
        threads: 2,
        bytes_written: 4_000_000,
        bytes_read: 2_000_000,
        jukebox_calls: 0,
        jukebox_pauses_ns: 0,
        mismatch_count: 0,
        mismatches: vec![],
        skipped_operations: vec![],
        clients: (0..2)
            .map(|client| ClientRecord {
                client,
                lines: 900,
                data_bytes: 4_500_000,
                data_bytes_in_window: 3_000_000,
                mismatch_count: 0,
                lost: None,
                kinds: vec![ClientKindRecord {
                    operation: OpKind::ReadX,
                    count: 200,
                    service_time_mean_ns: base as f64 / 2.0,
                    service_time_max_ns: base,
                }],
            })
            .collect(),
    });
    record
}

/// Splits the record of one kind evenly among three measured kinds.
fn spread_over_kinds(record: &mut RunRecord) {
    let third = |ledger: &mut Ledger| {
        ledger.scheduled /= 3;
        ledger.ok /= 3;
    };
    // The second kind takes twice as long, the third three times.
    let times = |row: &DistributionRecord, factor: u64| {
        distribution((0..row.count / 3).map(|index| factor * (row.min + 1000 * (index % 50))))
    };
    for (factor, kind) in (1..).zip(&mut record.totals.kinds) {
        third(&mut kind.ledger);
        kind.calls /= 3;
        kind.bytes_sent /= 3;
        kind.bytes_received /= 3;
        kind.response_time_ns = times(&kind.response_time_ns, factor);
        kind.service_time_ns = times(&kind.service_time_ns, factor);
    }
    merge_kinds(record);
    for interval in &mut record.intervals {
        for (factor, kind) in (1..).zip(&mut interval.kinds) {
            third(&mut kind.ledger);
            kind.response_time_ns = times(&kind.response_time_ns, factor);
            kind.service_time_ns = times(&kind.service_time_ns, factor);
        }
    }
}

fn local() -> TargetPlan {
    TargetPlan::Local(LocalTarget {
        directory: Some("/srv/test".into()),
    })
}

/// The load `office` in a directory, with two clients, without mismatches.
pub fn replayed() -> RunRecord {
    replay_on(local(), 20_000)
}

/// A time-stamped load file over NFS, with lag, mismatches and a lost client.
pub fn replayed_with_mismatches() -> RunRecord {
    let target = plan(OpKind::Null).target;
    let mut record = replay_on(target, 120_000);
    let replay = record.plan.replay_mut().expect("a replay");
    replay.pacing = Pacing::Stamps { speed: 2.0 };
    replay.loads.push(example_trace());
    record.totals.slot_wait_ns = distribution((0..1200).map(|index| 1_000_000 * (index % 7)));
    fail(&mut record, 1, 0, |ledger| {
        ledger.ok -= 12;
        ledger.failed += 12;
    });
    achieve_what_succeeded(&mut record);
    record.totals.kinds[1].failures = vec![FailureCount {
        failure: "moved another number of bytes".into(),
        count: 12,
    }];
    let replay = record.replay.as_mut().expect("a replay");
    replay.mismatch_count = 14;
    replay.mismatches = vec![MismatchRecord {
        operation: OpKind::ReadX,
        mismatch: Mismatch::WrongLength,
        expected: "4096 bytes".into(),
        got: "0 bytes".into(),
        count: 12,
        lines: vec![17, 88, 89],
    }];
    replay.clients[1].lost = Some("10.0.0.5:2049: the connection was closed".into());
    record
}

/// The same load file in a directory, over bare TCP and over NFS.
pub fn three_layers() -> Vec<RunRecord> {
    let peer = TargetPlan::Tcp(TcpTarget {
        host: Some("server".into()),
        port: None,
    });
    let mut records = vec![
        replay_on(local(), 20_000),
        replay_on(peer, 30_000),
        replay_on(plan(OpKind::Null).target, 140_000),
    ];
    for record in &mut records {
        record.caveats.clear();
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canned_records_hold_the_invariants_of_real_ones() {
        for record in [
            plain(),
            with_errors(),
            interrupted(),
            replayed(),
            replayed_with_mismatches(),
            mix(),
            mix_through_mount(),
            curve(),
            objective(),
        ] {
            assert_eq!(record.check(), Ok(()));
        }
    }
}
