//! Three records made by hand, so that no time varies: a plain run, one with
//! errors and companions, and an open loop that was interrupted.

use filestone_model::measure::run_record::{
    FORMAT, FailureCount, Host, IntervalKindRecord, IntervalRecord, KindRecord, METHOD, Phase,
    RunEnd, TickRecord, Tool, Totals, WorkerRecord,
};
use filestone_model::measure::{
    Caveat, Distribution, DistributionRecord, Ledger, RunRecord, run_record,
};
use filestone_model::operation::{OpKind, Stability};
use filestone_model::plan::{
    ArrivalsPlan, NfsTarget, Plan, ProbePlan, TICK_NANOS, TargetPlan, TransportKind, WorkloadPlan,
};

const SECOND: u64 = 1_000_000_000;

/// Response times of one tick: `count` values that begin at `base` and rise.
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

fn plan(operation: OpKind) -> Plan {
    Plan {
        face: "probe".into(),
        target: TargetPlan::Nfs3(NfsTarget {
            host: Some("server".into()),
            port: Some(2049),
            mount_port: None,
            path: "/export/files".into(),
            transport: TransportKind::Tcp,
            reserved_port: false,
            uid: 1000,
            gid: 1000,
        }),
        workload: WorkloadPlan::Probe(ProbePlan {
            operation,
            size_bytes: 4096,
            random: false,
            verify: false,
            stability: Stability::Unstable,
            file_size_bytes: 64 << 20,
            files_max: 10_000,
        }),
        arrivals: ArrivalsPlan::Closed,
        clients: 1,
        in_flight: 8,
        workers: 1,
        warm_up_ns: 0,
        duration_ns: Some(2 * SECOND),
        count: None,
        timeout_ns: 60 * SECOND,
        reconnect_ns: 10 * SECOND,
        interval_ns: SECOND,
        seed: 1,
        busy_poll: false,
        pin: vec![],
    }
}

/// Builds a record of `seconds` whole seconds with `per_tick` operations in each tick.
fn record(plan: Plan, seconds: u64, per_tick: u64, base: u64) -> RunRecord {
    let kinds = plan.kinds();
    let ended = seconds * 10 * per_tick;
    let tick_times: Vec<Vec<u64>> = (0..seconds * 10)
        .map(|tick| times(tick, base, per_tick))
        .collect();
    let ledger = |count: u64| Ledger {
        scheduled: count,
        ok: count,
        ..Ledger::default()
    };
    let of_interval = |second: u64, scale: u64| {
        let ticks = &tick_times[second as usize * 10..(second as usize + 1) * 10];
        distribution(ticks.iter().flatten().map(|time| time / scale))
    };
    let all = |scale: u64| distribution(tick_times.iter().flatten().map(|time| time / scale));
    let intervals = (0..seconds)
        .map(|second| IntervalRecord {
            start_ns: second * SECOND,
            end_ns: (second + 1) * SECOND,
            phase: Phase::Measure,
            ledger: ledger(10 * per_tick),
            bytes_sent: 10 * per_tick * 132,
            bytes_received: 10 * per_tick * 4228,
            client_cpu_ns: 50_000_000,
            kinds: kinds
                .iter()
                .map(|(operation, role)| IntervalKindRecord {
                    operation: *operation,
                    role: *role,
                    ledger: ledger(10 * per_tick),
                    response_time_ns: of_interval(second, 1),
                    service_time_ns: of_interval(second, 2),
                })
                .collect(),
        })
        .collect();
    let ticks = (0..)
        .zip(&tick_times)
        .map(|(index, times): (u64, _)| TickRecord {
            start_ns: index * TICK_NANOS,
            len_ns: TICK_NANOS,
            ended: per_tick,
            response_time_sum_ns: times.iter().sum(),
            response_time_min_ns: times.iter().copied().min().unwrap_or(0),
            response_time_max_ns: times.iter().copied().max().unwrap_or(0),
            bytes_sent: per_tick * 132,
            bytes_received: per_tick * 4228,
        })
        .collect();
    let totals = Totals {
        ledger: ledger(ended),
        offered_load_ops_per_s: plan.arrivals.offered_load(),
        achieved_load_ops_per_s: (10 * per_tick) as f64,
        response_time_ns: all(1),
        service_time_ns: all(2),
        slot_wait_ns: distribution((0..ended).map(|_| 0)),
        dispatch_delay_ns: distribution((0..ended).map(|index| index % 700)),
        kinds: kinds
            .iter()
            .map(|(operation, role)| KindRecord {
                operation: *operation,
                role: *role,
                ledger: ledger(ended),
                response_time_ns: all(1),
                service_time_ns: all(2),
                calls: ended,
                retransmissions: 0,
                bytes_sent: ended * 132,
                bytes_received: ended * 4228,
                data_bytes: 0,
                failures: vec![],
            })
            .collect(),
        client_cpu_ns: seconds * 50_000_000,
        client_cpu_ns_per_op: 50_000_000.0 / (10 * per_tick) as f64,
        workers: vec![WorkerRecord {
            worker: 0,
            clients: plan.clients,
            cpu_ns: seconds * 50_000_000,
            busy_percent: 5.0,
            waited_percent: 0.0,
        }],
        ..Totals::default()
    };
    RunRecord {
        format: FORMAT,
        method: METHOD,
        tool: Tool {
            name: "filestone".into(),
            version: "0.1.0".into(),
            profile: "release".into(),
        },
        started_at: "2026-01-02T03:04:05Z".into(),
        plan,
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
        headroom: None,
        end: RunEnd::Finished,
        window_ns: seconds * SECOND,
        replay: None,
        totals,
        intervals,
        ticks,
        caveats: vec![],
    }
}

/// READ, all well, two seconds.
pub fn plain() -> RunRecord {
    let mut record = record(plan(OpKind::Read), 2, 50, 100_000);
    record.plan.target.nfs3_mut().expect("an NFS target").path = "/export/file".into();
    record.totals.goodput_bytes_per_s = 500.0 * 4096.0;
    record.totals.kinds[0].data_bytes = 1000 * 4096;
    record
}

/// CREATE with REMOVE as its companion, and errors.
pub fn with_errors() -> RunRecord {
    let mut record = record(plan(OpKind::Create), 3, 20, 250_000);
    let change = |ledger: &mut Ledger| {
        ledger.ok -= 9;
        ledger.failed += 6;
        ledger.timed_out += 1;
        ledger.disconnected += 2;
    };
    change(&mut record.totals.ledger);
    change(&mut record.totals.kinds[0].ledger);
    change(&mut record.intervals[1].ledger);
    change(&mut record.intervals[1].kinds[0].ledger);
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
    record.caveats = vec![Caveat::Unsuccessful {
        count: 9,
        ended: 600,
        most_frequent: "NFS3ERR_NOSPC (28)".into(),
    }];
    record
}

/// GETATTR, 400 operations per second offered, stopped after two seconds.
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
    record.end = RunEnd::Interrupted;
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
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canned_records_hold_the_invariants_of_real_ones() {
        for record in [plain(), with_errors(), interrupted()] {
            assert_eq!(record.check(), Ok(()));
        }
    }
}
