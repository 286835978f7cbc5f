//! The measurement against answers that can be worked out on paper.
//!
//! The whole worker loop runs here, in virtual time: what these tests hold is
//! what every run reports.

use crate::support::{SECOND, plan, run, run_members, run_on, server};
use filestone_engine::backend::null::Null;
use filestone_engine::worker::WorkerClient;
use filestone_host::clock::Clock;
use filestone_measure::cost::{
    CostCounter, CostFigure, CounterReading, MeasuredAt, ReadingPhase, SourceRecord,
};
use filestone_measure::measure::run_record::{Phase, Tool};
use filestone_measure::measure::{RunRecord, costs};
use filestone_plan::file_set::ClientSet;
use filestone_plan::plan::{ArrivalsPlan, LevelsPlan};
use filestone_protocol::workload::{FileEntry, FileTable, ObjectKind, of_client};
use filestone_testing::Simulated;
use filestone_testing::queueing::{ServiceDistribution, SimulatedServer, Stall};
use filestone_workload::operation::OpKind;
use filestone_workload::time::Timestamp;
use std::sync::Arc;

fn millis(nanos: u64) -> String {
    format!("{:.1}", nanos as f64 / 1e6)
}

/// A server that answers in 100 µs, but does nothing from second 4 to second 5.
fn freezing() -> SimulatedServer {
    let mut server = server(ServiceDistribution::Fixed { ns: 100_000 }, None);
    server.stalls.push(Stall {
        start_ns: 4 * SECOND,
        lasts_ns: SECOND,
    });
    server
}

#[test]
fn an_open_loop_sees_the_thousand_operations_that_waited_for_a_frozen_server() {
    let open = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 1000.0,
    };
    let totals = run(&plan(open, 2000, 10), freezing()).totals;
    assert_eq!(totals.ledger.scheduled, 10_000);
    assert_eq!(totals.ledger.ok, 10_000);
    let response = &totals.response_time_ns;
    assert_eq!(millis(response.p50), "0.1");
    assert_eq!(millis(response.p90), "0.1");
    assert_eq!(millis(response.p95), "500.1");
    assert_eq!(millis(response.p99), "900.1");
    assert_eq!(response.max, 1_000_100_000);
    // Exactly the operations due in that second waited: 1.0, 0.999, … 0.001 s.
    let waited: u64 = (1..=1000).map(|ms| ms * 1_000_000).sum();
    assert_eq!(response.sum, 10_000 * 100_000 + waited);
}

#[test]
fn a_closed_loop_sees_one_slow_operation_in_ninety_thousand_and_one() {
    let totals = run(&plan(ArrivalsPlan::Closed, 1, 10), freezing()).totals;
    assert_eq!(totals.ledger.ok, 90_001);
    let response = &totals.response_time_ns;
    assert_eq!(millis(response.p99_9), "0.1");
    assert_eq!(millis(response.p99_99), "0.1");
    assert_eq!(response.max, 1_000_100_000);
    assert_eq!(response.sum, 90_000 * 100_000 + 1_000_100_000);
}

/// A server of one worker takes 1 ms for each call: 100 COMMITs a second, each with a WRITE before it,
/// use a fifth of it. WRITEs for all of a thousand slots at once would keep it for a second.
#[test]
fn prerequisites_of_an_open_loop_do_not_come_all_at_once() {
    let open = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 100.0,
    };
    let mut plan = plan(open, 1024, 1);
    let probe = plan.probe_mut().expect("a probe");
    (probe.operation, probe.file_size_bytes) = (OpKind::Commit, 1 << 20);
    let mut table = FileTable::default();
    let entry = |kind| FileEntry {
        len: 1 << 20,
        kind,
        has_pattern: true,
    };
    table.directory = Some(table.add(entry(ObjectKind::Directory)));
    let own = table.add(entry(ObjectKind::File));
    table.own_files = own.0..own.0 + 1;
    let table = Arc::new(table);
    let sets: Arc<[ClientSet]> = Arc::default();
    let members =
        WorkerClient::of_worker(&plan, 0, |client| of_client(&plan, &table, &sets, client));
    let server = server(ServiceDistribution::Fixed { ns: 1_000_000 }, Some(1));
    let totals = run_members(&plan, members, Simulated::new(server, 1)).totals;
    assert_eq!((totals.ledger.scheduled, totals.ledger.ok), (100, 100));
    // The first is due at 0 as the WRITEs of eight slots are, and, with no slot free, that of a ninth: its
    // COMMIT is the tenth call.
    assert_eq!(totals.response_time_ns.max, 10_000_000);
    assert!(totals.response_time_ns.p50 < 1_001_000);
    let writes = totals
        .kinds
        .iter()
        .find(|kind| kind.operation == OpKind::Write);
    let writes = writes.expect("a row").ledger.scheduled;
    // The second is due at 10 ms, when eight slots are free; it takes one, so that a tenth begins. Ten slots
    // are enough from then on. Each COMMIT has a WRITE before it, and each of the ten slots is ready for a
    // COMMIT at the end: 100 + 10. All at once it would be 100 + 1,024.
    assert_eq!(writes, 110);
}

#[test]
fn with_few_slots_the_open_loop_still_counts_from_the_due_moment() {
    // One slot: after the thaw the backlog drains at one per 100 µs while one
    // more comes due per millisecond. The last that waits is the first n with
    // 5.0001 s + n × 100 µs ≤ 4 s + n × 1 ms: n = 1112.
    let open = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 1000.0,
    };
    let totals = run(&plan(open, 1, 10), freezing()).totals;
    assert_eq!(totals.ledger.ok, 10_000);
    let waited: u64 = (0..)
        .map(|n: u64| (1_000_000_000u64 + n * 100_000).saturating_sub(n * 1_000_000))
        .take_while(|wait| *wait > 0)
        .sum();
    assert_eq!(totals.response_time_ns.sum, 10_000 * 100_000 + waited);
    // The first of them was in its slot when the server froze; all others
    // waited for the slot: the server's doing, not ours.
    assert_eq!(totals.slot_wait_ns.sum, waited - SECOND);
    assert_eq!(totals.dispatch_delay_ns.max, 0);
    assert_eq!(totals.service_time_ns.max, 1_000_100_000);
}

#[test]
fn three_ways_to_look_at_a_frozen_server() {
    let open = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 1000.0,
    };
    let mut table =
        String::from("loop             operations   p90    p95    p99  p99.9     max  (ms)\n");
    let mut row = |name: &str, record: &filestone_workload::recording::DistributionRecord| {
        table += &format!(
            "{name:<16} {:>10} {:>5} {:>6} {:>6} {:>6} {:>7}\n",
            record.count,
            millis(record.p90),
            millis(record.p95),
            millis(record.p99),
            millis(record.p99_9),
            millis(record.max)
        );
    };
    row(
        "open",
        &run(&plan(open, 2000, 10), freezing())
            .totals
            .response_time_ns,
    );
    row(
        "closed",
        &run(&plan(ArrivalsPlan::Closed, 1, 10), freezing())
            .totals
            .response_time_ns,
    );
    // A paced loop that skips missed ticks and counts from the send sees what an
    // open loop with one slot calls service time, once per tick that was not missed.
    row("paced, skipping", &paced_and_skipping());
    insta::assert_snapshot!(table);
}

/// The mistake of many load generators, for comparison: one operation per tick,
/// ticks that pass while one is outstanding are dropped, and time is counted
/// from the send.
fn paced_and_skipping() -> filestone_workload::recording::DistributionRecord {
    let mut times = filestone_workload::recording::Distribution::<u64>::new();
    let (tick, end) = (1_000_000u64, 10 * SECOND);
    let mut at = 0;
    while at < end {
        let frozen = (4 * SECOND..5 * SECOND).contains(&at);
        let done = if frozen { 5 * SECOND } else { at } + 100_000;
        times.record(done - at);
        at = done.div_ceil(tick) * tick;
    }
    times.to_record()
}

#[test]
fn one_server_with_exponential_times_behaves_as_m_m_1() {
    // Mean response time of M/M/1 is 1/(µ − λ); its distribution is exponential
    // with that mean (Kleinrock, Queueing Systems I, section 3.2). Over T service times the mean
    // is known to within √(2 (1 + ρ) / (ρ T)) / (1 − ρ) of itself: the tolerances are between four
    // and six times that.
    let mean_service = 100_000.0;
    for (utilisation, seconds, tolerance) in [(0.5, 400, 0.01), (0.8, 500, 0.02), (0.9, 600, 0.05)]
    {
        let poisson = ArrivalsPlan::Poisson {
            offered_load_ops_per_s: utilisation * 1e9 / mean_service,
        };
        let mut plan = plan(poisson, 4096, seconds);
        plan.interval_ns = 100 * SECOND;
        plan.warm_up_ns = SECOND;
        let totals = run(
            &plan,
            server(
                ServiceDistribution::Exponential {
                    mean_ns: mean_service,
                },
                Some(1),
            ),
        )
        .totals;
        let expected = mean_service / (1.0 - utilisation);
        let mean = totals.response_time_ns.mean;
        assert!(
            (mean / expected - 1.0).abs() < tolerance,
            "{utilisation}: {mean} instead of {expected}"
        );
        let p90 = totals.response_time_ns.p90 as f64;
        let expected = expected * 10f64.ln();
        assert!(
            (p90 / expected - 1.0).abs() < tolerance * 1.5,
            "{utilisation}: p90 {p90} instead of {expected}"
        );
    }
}

#[test]
fn littles_law_holds() {
    // In flight = achieved load × response time: 8 slots on a server that takes
    // 1 ms for any number at once achieve 8000 per second.
    let totals = run(
        &plan(ArrivalsPlan::Closed, 8, 10),
        server(ServiceDistribution::Fixed { ns: 1_000_000 }, None),
    )
    .totals;
    let in_flight = totals.achieved_load_ops_per_s * totals.response_time_ns.mean / 1e9;
    assert_eq!(totals.achieved_load_ops_per_s, 8000.0);
    assert_eq!(in_flight, 8.0);
}

#[test]
fn a_hard_ceiling_is_where_achieved_leaves_offered() {
    // One server, 100 µs: never more than 10,000 per second.
    let mut table = String::from("offered  achieved  p50 (ms)  p99 (ms)  skipped\n");
    for offered in [5000.0, 9000.0, 10_000.0, 11_000.0, 20_000.0] {
        let open = ArrivalsPlan::Constant {
            offered_load_ops_per_s: offered,
        };
        let totals = run(
            &plan(open, 100_000, 10),
            server(ServiceDistribution::Fixed { ns: 100_000 }, Some(1)),
        )
        .totals;
        table += &format!(
            "{offered:>7} {:>9.0} {:>9} {:>9} {:>8}\n",
            totals.achieved_load_ops_per_s,
            millis(totals.response_time_ns.p50),
            millis(totals.response_time_ns.p99),
            totals.ledger.skipped
        );
    }
    insta::assert_snapshot!(table);
}

#[test]
fn with_a_limit_of_slots_what_could_not_start_is_counted() {
    let open = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 20_000.0,
    };
    let totals = run(
        &plan(open, 4, 10),
        server(ServiceDistribution::Fixed { ns: 100_000 }, Some(1)),
    )
    .totals;
    assert_eq!(totals.ledger.scheduled, 200_000);
    // 10,000 a second are answered, the last of them at the very end; four are
    // in flight then and drain.
    assert_eq!(totals.ledger.ok, 100_004);
    assert_eq!(totals.ledger.skipped, 200_000 - totals.ledger.ok);
    assert_eq!(totals.achieved_load_ops_per_s, 10_000.0);
}

#[test]
fn a_warm_up_is_not_measured() {
    let mut plan = plan(ArrivalsPlan::Closed, 1, 2);
    plan.warm_up_ns = 4 * SECOND + SECOND / 2;
    // The freeze begins in the warm-up and ends in the window; the operation that
    // met it was due in the warm-up and is not counted.
    let totals = run(&plan, freezing()).totals;
    assert_eq!(totals.response_time_ns.max, 100_000);
    // From 5.0001 s to 6.5 s, one per 100 µs, the one at the very end included.
    assert_eq!(totals.ledger.ok, 15_000);
}

#[test]
fn a_count_ends_a_run_exactly() {
    let mut plan = plan(ArrivalsPlan::Closed, 4, 1);
    plan.duration_ns = None;
    plan.count = Some(1001);
    let run = run(
        &plan,
        server(ServiceDistribution::Fixed { ns: 1_000_000 }, None),
    );
    assert_eq!(run.totals.ledger.ok, 1001);
    assert_eq!(run.end.window_end, Timestamp::from_nanos(251_000_000));
}

#[test]
fn an_operation_belongs_to_the_window_in_which_it_was_due() {
    // 1000/s, each taking 1 ms, and a window from 1.0005 s: the operation due at 1.000 s ends in
    // it. The last one is due at 3.000 s and ends at 3.001 s: in the first window, just so, and
    // after the second. So 2001 end in one and 2000 in the other, but 2000 belong to either.
    let open = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 1000.0,
    };
    let mut plan = plan(open, 8, 0);
    plan.warm_up_ns = 1_000_500_000;
    for (window_ns, left_over) in [(2_000_500_000, 1), (2_000_400_000, 0)] {
        plan.duration_ns = Some(window_ns);
        let totals = run(
            &plan,
            server(ServiceDistribution::Fixed { ns: 1_000_000 }, None),
        )
        .totals;
        assert_eq!((totals.ledger.scheduled, totals.ledger.ok), (2000, 2000));
        assert_eq!(totals.left_over(window_ns), left_over);
        let ended = totals.achieved_load_ops_per_s * window_ns as f64 / 1e9;
        assert_eq!(ended.round() as i64, 2000 + left_over);
    }
    // Without a warm-up nothing is in flight when the window opens, but one is when it closes.
    plan.warm_up_ns = 0;
    plan.duration_ns = Some(2_000_500_000);
    let totals = run(
        &plan,
        server(ServiceDistribution::Fixed { ns: 1_000_000 }, None),
    )
    .totals;
    assert_eq!(totals.ledger.ok, 2001);
    assert_eq!(totals.left_over(2_000_500_000), -1);
}

#[test]
fn the_end_of_the_window_ends_an_interval() {
    // Every 0.3 s one operation, of 0.25 s: the one that is due at 2.4 s ends at 2.65 s, after
    // a window of 2.5 s, and is no part of its last half second.
    let open = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 1.0 / 0.3,
    };
    let mut plan = plan(open, 8, 0);
    plan.duration_ns = Some(2_500_000_000);
    let run = run(
        &plan,
        server(ServiceDistribution::Fixed { ns: 250_000_000 }, None),
    );
    let rows: Vec<_> = run
        .intervals
        .iter()
        .map(|row| (row.start_ns / 1_000_000, row.phase, row.ledger.ok))
        .collect();
    let expected = [
        (0, Phase::Measure, 3),
        (1000, Phase::Measure, 3),
        (2000, Phase::Measure, 2),
        (2500, Phase::Drain, 1),
    ];
    assert_eq!(rows, expected);
    let ends: Vec<_> = run.intervals.iter().map(|row| row.end_ns).collect();
    assert_eq!(ends[..3], [SECOND, 2 * SECOND, 2_500_000_000]);
    let ticks: u64 = run.ticks.iter().map(|tick| tick.ended).sum();
    assert_eq!(ticks, 9);
}

#[test]
fn intervals_and_ticks_add_up_to_the_totals() {
    let run = run(&plan(ArrivalsPlan::Closed, 1, 10), freezing());
    assert_eq!(run.intervals.len(), 11);
    let by_interval: u64 = run
        .intervals
        .iter()
        .map(|interval| interval.ledger.ok)
        .sum();
    let by_tick: u64 = run.ticks.iter().map(|tick| tick.ended).sum();
    assert_eq!((by_interval, by_tick), (90_001, 90_001));
    assert_eq!(run.intervals[3].ledger.ok, 10_000);
    assert_eq!(run.ticks[42].ended, 0);
}

#[test]
fn the_null_backend_shows_the_tools_own_ceiling() {
    let mut plan = plan(ArrivalsPlan::Closed, 32, 1);
    plan.duration_ns = None;
    plan.count = Some(200_000);
    let run = run_on(&plan, Null::new(Clock::start(), 32));
    assert_eq!(run.totals.ledger.ok, 200_000);
    assert_eq!(run.totals.service_time_ns.max, 0);
}

#[test]
fn what_was_in_flight_when_the_window_opened_is_achieved_in_it() {
    // 8 slots on a server that takes 600 ms: after a warm-up of 1 s the window
    // of 2 s sees ends at 1.2, 1.8, 2.4 and 3.0 s, and the first were due in the
    // warm-up.
    let mut plan = plan(ArrivalsPlan::Closed, 8, 2);
    plan.warm_up_ns = SECOND;
    let totals = run(
        &plan,
        server(ServiceDistribution::Fixed { ns: 600_000_000 }, None),
    )
    .totals;
    assert_eq!(totals.achieved_load_ops_per_s, 8.0 * 4.0 / 2.0);
}

/// Every cycle of 1.6 s has twice 200 ms of none, 1,000, 2,000 and 3,000 operations per second, so five of
/// them (after one of warm-up) have 2,400 in each. A server's host spends 15 µs on each, and what else it
/// does grows from nothing to 300 ms in a second: that is no operation's doing, and no load's.
#[test]
fn loads_in_turn_tell_what_an_operation_costs_beside_what_grows_meanwhile() {
    let levels = LevelsPlan {
        highest_load_ops_per_s: 3000.0,
        levels: 3,
        level_ns: 200_000_000,
    };
    let mut plan = plan(ArrivalsPlan::Levels(levels), 1, 8);
    plan.warm_up_ns = levels.cycle_ns();
    let run = run(
        &plan,
        server(ServiceDistribution::Fixed { ns: 100_000 }, None),
    );
    let record = RunRecord {
        ticks: run.ticks,
        totals: run.totals,
        ..RunRecord::new(plan, Tool::release("0"))
    };
    assert_eq!(record.totals.ledger.scheduled, 5 * 2400);
    assert_eq!(record.totals.ledger.ok, 5 * 2400);
    assert_eq!(record.totals.offered_load_ops_per_s, Some(1500.0));
    // Each finds an idle server.
    assert_eq!(record.totals.response_time_ns.max, 100_000);

    let reading = |place: u64| {
        let moment_ns = place * levels.level_ns;
        let before = record.ticks.iter().filter(|tick| tick.start_ns < moment_ns);
        let completed: u64 = before.map(|tick| tick.ended).sum();
        let seconds = moment_ns as f64 / 1e9;
        let growing_ns = 300e6 / 8.0 * seconds * seconds / 2.0;
        CounterReading {
            moment_ns: moment_ns as i64,
            phase: ReadingPhase::Load,
            counters: [(CostCounter::CpuBusy, growing_ns as u64 + 15_000 * completed)].into(),
            ..CounterReading::default()
        }
    };
    let source = SourceRecord {
        name: "host".into(),
        measured_at: MeasuredAt::Server,
        readings: (0..=40).map(reading).collect(),
        failed: 0,
        first_failure: None,
    };
    let cost = costs::finish(&record, vec![source], None);
    let known = cost
        .server_cpu()
        .and_then(CostFigure::known)
        .expect("it is read");
    // But for nanoseconds that a counter does not count.
    assert!((known.value - 15_000.0).abs() < 0.01, "{known:?}");
    assert!(known.half_width < 0.01, "{known:?}");
}
