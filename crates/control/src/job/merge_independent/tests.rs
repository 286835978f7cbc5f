use super::*;
use filestone_measure::measure::run_record::{RunOutcome, TickRecord, Tool};
use filestone_plan::plan::TICK_NANOS;
use filestone_workload::recording::Distribution;

const SECOND: u64 = 1_000_000_000;

/// A probe of 10 s by a host, with these response times.
fn run(seed: u64, times_ns: &[u64]) -> RunRecord {
    let mut plan = filestone_plan::examples::example();
    (plan.seed, plan.clients, plan.duration_ns) = (seed, 2, Some(10 * SECOND));
    plan.arrivals = ArrivalsPlan::Poisson {
        offered_load_ops_per_s: 100.0,
    };
    let mut times = Distribution::<u64>::new();
    times_ns.iter().for_each(|time| times.record(*time));
    let mut record = RunRecord::new(plan, Tool::release("0.1.0"));
    record.started_at = "2026-11-24T16:05:00.000Z".into();
    let count = times_ns.len() as u64;
    let totals = &mut record.totals;
    (totals.ledger.scheduled, totals.ledger.ok) = (count, count);
    totals.achieved_load_ops_per_s = count as f64 / 10.0;
    totals.response_time_ns = times.to_record();
    totals.offered_load_ops_per_s = Some(100.0);
    record.ticks = vec![TickRecord {
        start_ns: 0,
        len_ns: TICK_NANOS,
        ended: count,
        ok: None,
        untimed_as_expected: 0,
        response_time_sum_ns: times_ns.iter().sum(),
        response_time_min_ns: times_ns.iter().copied().min().unwrap_or_default(),
        response_time_max_ns: times_ns.iter().copied().max().unwrap_or_default(),
        bytes_sent: 0,
        bytes_received: 0,
    }];
    record
}

fn merged(records: [RunRecord; 2]) -> Result<RunRecord, IncompatibleRuns> {
    let [first, second] = records;
    merge_independent(&[
        HostRun::independent("a", 0, first),
        HostRun::independent("b", 1, second),
    ])
}

fn refused(change: fn(&mut RunRecord)) -> String {
    let mut other = run(2, &[6]);
    change(&mut other);
    merged([run(1, &[5]), other])
        .expect_err("refused")
        .to_string()
}

#[test]
fn percentiles_are_those_of_all_samples_together() {
    // The 99th percentile of 1 … 1000 µs is 990, however the samples are split; the mean of the
    // hosts' percentiles would be 742.5.
    let micros =
        |range: std::ops::RangeInclusive<u64>| range.map(|it| it * 1000).collect::<Vec<_>>();
    let record = merged([run(1, &micros(1..=500)), run(2, &micros(501..=1000))]);
    let record = record.expect("one job");
    let times = &record.totals.response_time_ns;
    assert_eq!((times.count, times.min, times.max), (1000, 1000, 1_000_000));
    assert!(
        (times.p99 as f64 / 990_000.0 - 1.0).abs() < 1e-4,
        "{}",
        times.p99
    );
    assert!(
        (times.p50 as f64 / 500_000.0 - 1.0).abs() < 1e-4,
        "{}",
        times.p50
    );
    assert_eq!(record.totals.achieved_load_ops_per_s, 100.0);
    assert_eq!(record.totals.offered_load_ops_per_s, Some(200.0));
    assert_eq!((record.plan.clients, record.plan.part), (4, None));
    assert_eq!(record.ticks[0].response_time_max_ns, 1_000_000);
    assert_eq!(record.end, RunOutcome::Finished);
    let hosts = record.job.expect("a job").hosts;
    let of_hosts: Vec<_> = hosts
        .iter()
        .map(|host| (&*host.name, host.ledger.ok))
        .collect();
    assert_eq!(of_hosts, [("a", 500), ("b", 500)]);
}

#[test]
fn one_run_is_merged_with_no_copy_of_itself_whatever_its_arrivals() {
    for arrivals in [
        ArrivalsPlan::Closed,
        ArrivalsPlan::Constant {
            offered_load_ops_per_s: 100.0,
        },
        ArrivalsPlan::Poisson {
            offered_load_ops_per_s: 100.0,
        },
    ] {
        let mut one = run(1, &[5, 7]);
        one.plan.arrivals = arrivals;
        let error = merged([one.clone(), one.clone()]).expect_err("one run");
        assert_eq!(error.to_string(), "a and b are records of the same run");
        // Another host started at the same time, and its operations took other times.
        let mut other = run(2, &[5, 8]);
        other.plan.arrivals = arrivals;
        assert!(merged([one, other]).is_ok(), "{arrivals:?}");
    }
}

#[test]
fn records_that_do_not_belong_together_are_refused_with_the_reason() {
    assert_eq!(
        refused(|other| other.plan.in_flight = 8),
        "a and b did not ask the same: in_flight is 1 and 8"
    );
    assert_eq!(
        refused(|other| other.plan.duration_ns = Some(1)),
        "a and b did not ask the same: duration_ns is 10000000000 and 1"
    );
    assert_eq!(
        refused(|other| other.plan.seed = 1),
        "a and b have the same seed, so their operations were due at the same moments"
    );
    assert_eq!(
        refused(|other| other.started_at = "2026-11-24T16:06:15.000Z".into()),
        "b began 75.0 s from a, in windows of 10.0 s: these did not run at the same time"
    );
    assert_eq!(
        refused(|other| other.tool.version = "0.2.0".into()),
        "a was made by filestone 0.1.0 (release, method 3), b by filestone 0.2.0 (release, method 3)"
    );
    assert_eq!(
        refused(|other| other.plan = Plan {
            command: "replay".into(),
            ..filestone_plan::examples::example_replay()
        }),
        "b: records of replay are not merged, only those of probe and mix"
    );
    assert_eq!(
        refused(|other| other.plan.duration_ns = None),
        "b: a probe that ended by count (--count) and not by time (--duration) is not merged"
    );
    assert_eq!(
        refused(|other| {
            let directory = filestone_plan::plan::LocalTarget {
                directory: Some("/mnt".into()),
            };
            other.plan.target = filestone_plan::plan::TargetPlan::Local(directory);
        }),
        "b: a probe of a local directory, which is another one on each host, is not merged"
    );
    assert_eq!(
        refused(|other| other.totals.ledger.ok = 0),
        "b: the record contradicts itself: 1 of 1 operations are unaccounted for"
    );
    let alone = merge_independent(&[HostRun::independent("a", 0, run(1, &[5]))]);
    assert_eq!(
        alone.expect_err("one").to_string(),
        "one record is nothing to merge"
    );
}

#[test]
fn parts_of_one_job_are_merged_once_each() {
    let mut job = run(1, &[]).plan;
    job.clients = 4;
    let parts = crate::job::deal(&job, 2).expect("parts");
    let of = |part: usize, time_ns| {
        let mut record = run(1, &[time_ns]);
        record.plan = parts[part].clone();
        record
    };
    let whole = merged([of(0, 5), of(1, 6)]).expect("one job");
    assert_eq!((whole.plan.clients, whole.plan.arrivals), (4, job.arrivals));
    let twice = merged([of(1, 5), of(1, 6)]).expect_err("the same part");
    assert_eq!(twice.to_string(), "a and b are the same part of a job");
}

#[test]
fn records_of_somebody_with_the_largest_numbers_are_no_panic() {
    let largest = |seed| {
        let mut record = run(seed, &[seed]);
        (record.plan.clients, record.plan.workers) = (u32::MAX, u32::MAX);
        let totals = &mut record.totals;
        totals.late_replies = u64::MAX;
        totals.oversized_listings = u64::MAX;
        totals.reconnections = u64::MAX;
        totals.disconnected_ns = u64::MAX;
        totals.lost_clients = u64::MAX;
        totals.client_cpu_ns = u64::MAX;
        record.ticks[0].response_time_sum_ns = u64::MAX;
        record.ticks[0].bytes_sent = u64::MAX;
        record
    };
    let whole = merged([largest(1), largest(2)]).expect("one job");
    assert_eq!(whole.plan.clients, u32::MAX);
    assert_eq!(whole.totals.reconnections, u64::MAX);
}

#[test]
fn the_offered_load_after_the_loss_of_a_host_is_that_of_the_others() {
    let mut job = run(1, &[]).plan;
    job.clients = 4;
    job.arrivals = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 400.0,
    };
    let parts = crate::job::deal(&job, 4).expect("parts");
    // 293 of the 300 per second that three hosts offer, and of the 400 that four would offer.
    let runs = (0..3).map(|part| {
        let mut record = run(1, &[u64::from(part) + 5]);
        record.plan = parts[part as usize].clone();
        record.totals.offered_load_ops_per_s = record.plan.arrivals.offered_load();
        record.totals.achieved_load_ops_per_s = 293.0 / 3.0;
        HostRun::independent(format!("node{part}"), part, record)
    });
    let runs: Vec<HostRun> = runs.collect();
    let lost = filestone_measure::measure::job_record::LostHostRecord {
        name: "node3".into(),
        part: 3,
        phase: "measuring".into(),
        reason: "it was silent".into(),
        remains: None,
    };
    let offered = |lost| {
        let merged = merge(&job, &runs, lost).expect("one job");
        merged.totals.offered_load_ops_per_s.map(f64::round)
    };
    assert_eq!(offered(vec![lost]), Some(300.0));
    assert_eq!(offered(vec![]), Some(400.0));
}
