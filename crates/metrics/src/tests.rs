//! Runs whose counts are known analytically, and their exposed metrics.

use super::*;
use filestone_measure::measure::IntervalAggregator;
use filestone_measure::measure::fleet_record::{ClientState, StateCount};
use filestone_plan::plan::{LocalTarget, ReplayPlan, TICK_NANOS, TargetPlan, WorkloadPlan};
use filestone_workload::failure::StatusSpace;
use filestone_workload::operation::{Completion, OpKind, Outcome, SlotId};
use filestone_workload::recording::{Role, Sample};
use filestone_workload::time::Timestamp;

const SECOND: u64 = 1_000_000_000;

fn plan() -> Plan {
    let target = TargetPlan::Local(LocalTarget { directory: None });
    let replay = ReplayPlan::new(vec![], vec![OpKind::Read, OpKind::Write]);
    Plan {
        duration_ns: Some(2 * SECOND),
        clients: 3,
        ..Plan::new("replay", target, WorkloadPlan::LoadFile(replay), 1)
    }
}

fn metrics() -> Metrics {
    Metrics::new(Tool::release("1.2.3"))
}

fn sample(kind: OpKind, due: u64, nanos: u64, outcome: Outcome) -> Sample {
    let at = Timestamp::from_nanos;
    Sample {
        kind,
        role: Role::Measured,
        due: at(due),
        ready: at(due + 10),
        completion: Completion {
            outcome,
            calls: 2,
            retransmissions: 1,
            bytes_sent: 100,
            bytes_received: 200,
            data_bytes: 50,
            ..Completion::success(SlotId { client: 0, slot: 0 }, at(due + 30), at(due + nanos))
        },
    }
}

/// Runs `plan` for two intervals of a second: 5 reads of 1 ms, a read that fails after 3 s, 2
/// writes of 2 ms, one of them without an end, and one skipped operation.
fn run(metrics: &Metrics, plan: &Plan) -> RunRecord {
    metrics.start(plan);
    let mut assembly = IntervalAggregator::new(plan);
    let window_end = Timestamp::from_nanos(2 * SECOND);
    let buffer = |number: u64| {
        let mut buffer = IntervalBuffer::new(&plan.kinds(), 10, TICK_NANOS);
        buffer.start = Timestamp::from_nanos(number * SECOND);
        buffer.end = Timestamp::from_nanos((number + 1) * SECOND);
        Box::new(buffer)
    };
    let mut first = buffer(0);
    first.schedule(OpKind::Read, Role::Measured, 6);
    first.record(
        &sample(OpKind::Read, 5, 1_000_000, Outcome::Ok),
        5,
        window_end,
    );
    first.skip(OpKind::Write, Role::Measured, 1);
    first.counts.cpu_nanos = 700;
    first.counts.spun_nanos = 200;
    let mut second = buffer(1);
    let stale = Outcome::Failed(StatusSpace::Nfs3.failure(70));
    second.record(&sample(OpKind::Read, 9, 3 * SECOND, stale), 1, window_end);
    second.schedule(OpKind::Write, Role::Measured, 2);
    second.record(
        &sample(OpKind::Write, SECOND, 2_000_000, Outcome::Ok),
        1,
        window_end,
    );
    second.leave_in_flight(OpKind::Write, Role::Measured);
    second.counts.late_replies = 4;
    for buffer in [first, second] {
        assert!(assembly.take(0, buffer).is_none());
    }
    assembly.finish(0);
    let mut record = RunRecord::new(plan.clone(), Tool::release("1.2.3"));
    while let Some((interval, mut buffer)) = assembly.complete() {
        metrics.count(&mut buffer);
        record.intervals.push(interval);
    }
    let (_, ticks, totals) = assembly.finalize(plan, window_end);
    (record.ticks, record.totals) = (ticks, totals);
    record.check().expect("a record in order");
    record
}

fn exposed(metrics: &Metrics) -> String {
    let exposition = metrics.snapshot().expose(Format::OpenMetrics);
    String::from_utf8(exposition.expect("a text").body).expect("UTF-8")
}

fn value(text: &str, series: &str) -> f64 {
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    let line = line.unwrap_or_else(|| panic!("no {series} in\n{text}"));
    line.parse().expect("a number")
}

#[test]
fn counters_are_what_the_record_says_before_the_run_is_over_and_after() {
    let (metrics, plan) = (metrics(), plan());
    let record = run(&metrics, &plan);
    let before = metrics.snapshot().sums;
    metrics.end(&record);
    let after = metrics.snapshot().sums;
    assert_eq!(before, after);
    assert_eq!(after.kinds.len(), record.totals.kinds.len());
    for kind in &record.totals.kinds {
        let sums = &after.kinds[&(kind.operation, kind.role)];
        assert_eq!(sums.ledger, kind.ledger);
        assert_eq!(sums.response_time.count(), kind.response_time_ns.count);
        assert_eq!(sums.response_time.sum_nanos(), kind.response_time_ns.sum);
        assert_eq!(sums.service_time.sum_nanos(), kind.service_time_ns.sum);
        assert_eq!(sums.counts.bytes_sent, kind.bytes_sent);
        let failed: u64 = sums.failures.values().sum();
        assert_eq!(failed, kind.ledger.failed);
        assert_eq!(sums.in_flight(), 0);
    }
}

#[test]
fn what_is_exposed_is_what_was_counted() {
    let (metrics, plan) = (metrics(), plan());
    let record = run(&metrics, &plan);
    metrics.end(&record);
    let text = exposed(&metrics);
    for (series, expected) in [
        (
            "operations_scheduled_total{operation=\"read\",role=\"measured\"}",
            6.0,
        ),
        (
            "operations_total{operation=\"read\",role=\"measured\",outcome=\"ok\"}",
            5.0,
        ),
        (
            "operations_total{operation=\"read\",role=\"measured\",outcome=\"failed\"}",
            1.0,
        ),
        (
            "operations_total{operation=\"write\",role=\"measured\",outcome=\"skipped\"}",
            1.0,
        ),
        (
            "operations_total{operation=\"write\",role=\"measured\",outcome=\"in_flight\"}",
            1.0,
        ),
        (
            "failures_total{operation=\"read\",role=\"measured\",failure=\"NFS3ERR_STALE (70)\"}",
            1.0,
        ),
        (
            "data_bytes_total{operation=\"read\",role=\"measured\"}",
            250.0,
        ),
        (
            "sent_bytes_total{operation=\"write\",role=\"measured\"}",
            100.0,
        ),
        (
            "response_time_seconds_count{operation=\"read\",role=\"measured\"}",
            5.0,
        ),
        (
            "response_time_seconds_sum{operation=\"read\",role=\"measured\"}",
            0.005,
        ),
        (
            "response_time_seconds_bucket{le=\"0.000917503\",operation=\"read\",role=\"measured\"}",
            0.0,
        ),
        (
            "response_time_seconds_bucket{le=\"0.001048575\",operation=\"read\",role=\"measured\"}",
            5.0,
        ),
        (
            "response_time_seconds_bucket{le=\"+Inf\",operation=\"read\",role=\"measured\"}",
            5.0,
        ),
        // 20 ns for each of the six successful operations.
        ("dispatch_delay_seconds_sum", 120e-9),
        ("slot_wait_seconds_count", 6.0),
        ("client_cpu_seconds_total", 700e-9),
        ("client_cpu_spun_seconds_total", 200e-9),
        ("late_replies_total", 4.0),
        ("runs_total{end=\"finished\"}", 1.0),
        ("run_phase{phase=\"finished\"}", 1.0),
        ("run_phase{phase=\"measure\"}", 0.0),
        ("clients", 3.0),
    ] {
        let found = value(&text, &format!("filestone_{series}"));
        assert!((found - expected).abs() < 1e-12, "{series}: {found}");
    }
    assert!(text.contains("filestone_build_info{version=\"1.2.3\",profile=\"release\"} 1\n"));
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn counters_of_several_runs_add_up_and_never_go_down() {
    let (metrics, plan) = (metrics(), plan());
    let mut scheduled = 0;
    for number in 1..=3 {
        let record = run(&metrics, &plan);
        metrics.connected(&ConnectionsRecord {
            made: 3,
            ..ConnectionsRecord::default()
        });
        metrics.end(&record);
        let sums = metrics.snapshot().sums;
        let now = sums.kinds[&(OpKind::Read, Role::Measured)].ledger.scheduled;
        assert_eq!(now, scheduled + 6);
        assert_eq!(sums.connections, 3 * number);
        scheduled = now;
    }
    // A run that fails half-way keeps its counts.
    run(&metrics, &plan);
    metrics.fail();
    let MetricsSnapshot { sums, standing } = metrics.snapshot();
    assert_eq!(sums.kinds[&(OpKind::Read, Role::Measured)].ledger.ok, 20);
    assert_eq!(
        (standing.ended["failed"], standing.ended["finished"]),
        (1, 3)
    );
}

#[test]
fn the_phase_and_the_load_are_those_of_the_moment() {
    let (metrics, plan) = (metrics(), plan());
    assert!(!exposed(&metrics).contains("offered_load"));
    metrics.start(&plan);
    metrics.set_phase(RunPhase::Measure);
    metrics.offer(1250.0);
    metrics.found(&Target {
        address: "10.0.0.5:2049".into(),
        export: "/a \"b\"\\c\nd".into(),
        ..Target::default()
    });
    let text = exposed(&metrics);
    assert_eq!(value(&text, "filestone_run_phase{phase=\"measure\"}"), 1.0);
    assert_eq!(
        value(&text, "filestone_offered_load_operations_per_second"),
        1250.0
    );
    let run = text
        .lines()
        .find(|line| line.starts_with("filestone_run_info{"));
    assert_eq!(
        run,
        Some(
            "filestone_run_info{command=\"replay\",layer=\"local\",loop=\"closed\",\
             target=\"10.0.0.5:2049\",export=\"/a \\\"b\\\"\\\\c\\nd\"} 1"
        )
    );
}

#[test]
fn a_fleet_has_all_states_of_each_group() {
    let metrics = metrics();
    metrics.start(&plan());
    let group = GroupRecord {
        states: vec![StateCount {
            state: ClientState::Running,
            clients: 7,
        }],
        ..GroupRecord::total(&[], None)
    };
    metrics.fleet(&[group]);
    let text = exposed(&metrics);
    let of = |state: &str| {
        value(
            &text,
            &format!("filestone_fleet_clients{{group=\"all\",state=\"{state}\"}}"),
        )
    };
    assert_eq!((of("running"), of("failed")), (7.0, 0.0));
}

#[test]
fn protocol_buffers_have_both_histograms() {
    use crate::data_model::MetricFamily;
    use prost::Message as _;

    let (metrics, plan) = (metrics(), plan());
    metrics.end(&run(&metrics, &plan));
    let exposition = metrics.snapshot().expose(Format::ProtocolBuffers);
    let body = exposition.expect("bytes").body;
    let (mut rest, mut families) = (body.as_slice(), Vec::new());
    while !rest.is_empty() {
        families.push(MetricFamily::decode_length_delimited(&mut rest).expect("a family"));
    }
    let family = families
        .iter()
        .find(|family| family.name == "filestone_response_time_seconds")
        .expect("response times");
    let reads = family.metric[0].histogram.as_ref().expect("a histogram");
    assert_eq!(reads.sample_count, 5);
    // Five values of 1 ms in bucket -159, with sixteen buckets per doubling.
    let spans: Vec<(i32, u32)> = reads
        .positive_span
        .iter()
        .map(|span| (span.offset, span.length))
        .collect();
    assert_eq!(spans, [(-159, 1)]);
    assert_eq!(reads.positive_delta, [5]);
    assert_eq!(reads.bucket.len(), crate::bounds::COUNT + 1);
}

#[test]
fn every_metric_has_its_unit_and_its_help() {
    let (metrics, plan) = (metrics(), plan());
    metrics.end(&run(&metrics, &plan));
    let text = exposed(&metrics);
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("# ")).collect();
    insta::assert_snapshot!(headings.join("\n"));
}

#[test]
fn intervals_of_several_hosts_are_counted_by_their_records() {
    let (plan, alone, job) = (plan(), metrics(), metrics());
    let record = run(&alone, &plan);
    job.start(&plan);
    record
        .intervals
        .iter()
        .for_each(|interval| job.count_record(interval));
    let (alone, told) = (alone.snapshot().sums, job.snapshot().sums);
    for (place, of_job) in &told.kinds {
        let kind = &alone.kinds[place];
        assert_eq!(of_job.ledger, kind.ledger, "{place:?}");
        assert_eq!(of_job.response_time, kind.response_time, "{place:?}");
        assert_eq!(of_job.service_time, kind.service_time, "{place:?}");
        assert_eq!(of_job.counts.data_bytes, kind.counts.data_bytes);
        assert_eq!(of_job.counts.calls, 0, "known at the end");
    }
    job.end(&record);
    let calls = |sums: &OperationTotals| {
        sums.kinds
            .values()
            .map(|kind| kind.counts.calls)
            .sum::<u64>()
    };
    assert_eq!(calls(&job.snapshot().sums), calls(&alone));
}
