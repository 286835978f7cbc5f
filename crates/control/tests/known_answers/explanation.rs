//! Runs whose limit is known: made by hand with figures that can be worked out on paper, or in
//! virtual time against a queue.

use filestone_control::load_control::curve::CurveSteering;
use filestone_control::load_control::{IntervalResult, LoadController, NextLoad};
use filestone_measure::explanation::*;
use filestone_measure::measure::absence::{AbsenceRecord, Throttling};
use filestone_measure::measure::connections_record::ConnectionsRecord;
use filestone_measure::measure::curve_record::{
    CurvePointRecord, CurveRecord, ObjectiveRecord, PeakLimit, SearchStepRecord, SearchStopReason,
    SweepDirection,
};
use filestone_measure::measure::processors::ProcessorsRecord;
use filestone_measure::measure::replay_record::{ClientRecord, ReplayRecord};
use filestone_measure::measure::run_record::{
    FailureCount, Host, KindRecord, RunOutcome, RunRecord, Tool, Totals, WorkerRecord,
};
use filestone_measure::measure::verdict::caveats;
use filestone_plan::plan::{
    ArrivalsPlan, CurvePlan, Figure, LocalTarget, NfsTarget, Objective, ObjectivePlan, Pacing,
    Plan, ProbePlan, ReplayPlan, SteeringPlan, TargetPlan, WorkloadPlan,
};
use filestone_testing::queueing::{ServiceDistribution, SimulatedRun, SimulatedServer};
use filestone_workload::operation::OpKind;
use filestone_workload::recording::sample::Role;
use filestone_workload::recording::{Distribution, DistributionRecord, Ledger};

const SECOND: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

fn times(count: u64, nanos: u64) -> DistributionRecord {
    let mut times = Distribution::<u64>::new();
    (0..count).for_each(|_| times.record(nanos));
    times.to_record()
}

fn all_ok(count: u64) -> Ledger {
    Ledger {
        scheduled: count,
        ok: count,
        ..Ledger::default()
    }
}

fn kind(ledger: Ledger, service: DistributionRecord) -> KindRecord {
    KindRecord {
        operation: OpKind::GetAttr,
        role: Role::Measured,
        ledger,
        response_time_ns: service.clone(),
        calls: service.count,
        service_time_ns: service,
        failed_time_ns: DistributionRecord::default(),
        failed_service_sum_ns: 0,
        retransmissions: 0,
        bytes_sent: 0,
        bytes_received: 0,
        data_bytes: 0,
        failures: vec![],
    }
}

fn probe(in_flight: u32) -> Plan {
    let target = TargetPlan::Nfs3(NfsTarget {
        host: Some("server".into()),
        ..NfsTarget::built_in("/export")
    });
    let workload = WorkloadPlan::Probe(ProbePlan {
        file_size_bytes: 1 << 20,
        ..ProbePlan::new(OpKind::GetAttr)
    });
    Plan {
        in_flight,
        duration_ns: Some(10 * SECOND),
        ..Plan::new("probe", target, workload, 1)
    }
}

/// Ten seconds of `count` operations that took `service` each, a healthy load generator, and a
/// server on another host.
fn ten_seconds(plan: Plan, service: &DistributionRecord) -> RunRecord {
    let count = service.count;
    let ledger = all_ok(count);
    let totals = Totals {
        ledger,
        offered_load_ops_per_s: plan.arrivals.offered_load(),
        achieved_load_ops_per_s: count as f64 / 10.0,
        response_time_ns: service.clone(),
        service_time_ns: service.clone(),
        slot_wait_ns: times(count, 0),
        dispatch_delay_ns: times(count, 0),
        kinds: vec![kind(ledger, service.clone())],
        workers: vec![WorkerRecord {
            worker: 0,
            clients: plan.clients,
            cpu_ns: 4 * SECOND,
            busy_poll_ns: 0,
            busy_percent: 40.0,
            run_delay_percent: 1.0,
        }],
        ..Totals::default()
    };
    RunRecord {
        host: Host {
            cpus: 4,
            ..Host::default()
        },
        window_ns: 10 * SECOND,
        totals,
        ..RunRecord::new(plan, Tool::release("0"))
    }
}

/// Eight in flight of a closed loop, 1 ms each: 8,000/s by Little's law.
fn eight_in_flight() -> RunRecord {
    ten_seconds(probe(8), &times(80_000, MS))
}

fn one_at_a_time() -> RunRecord {
    ten_seconds(probe(1), &times(10_000, MS))
}

fn busy_generator() -> RunRecord {
    let mut record = eight_in_flight();
    record.totals.workers[0].busy_percent = 98.0;
    record
}

/// 8,000/s of 14,375 bytes are 920 Mbit/s.
fn full_link() -> RunRecord {
    let mut record = eight_in_flight();
    record.target.link_mbit_per_s = Some(1000);
    record.totals.kinds[0].bytes_received = 80_000 * 14_375;
    record.totals.kinds[0].bytes_sent = 80_000 * 120;
    record
}

fn far_away() -> RunRecord {
    let mut record = one_at_a_time();
    record.connections = Some(ConnectionsRecord {
        made: 1,
        connect_time_p50_ns: 900_000,
        ..ConnectionsRecord::default()
    });
    record
}

fn lossy() -> RunRecord {
    let mut record = eight_in_flight();
    record.totals.kinds[0].retransmissions = 1600;
    record
}

/// 20 of 100 fail.
fn with_errors() -> RunRecord {
    let mut record = eight_in_flight();
    let ledger = Ledger {
        scheduled: 80_000,
        ok: 64_000,
        failed: 16_000,
        ..Ledger::default()
    };
    record.totals.ledger = ledger;
    record.totals.achieved_load_ops_per_s = 6400.0;
    record.totals.kinds[0].ledger = ledger;
    record.totals.kinds[0].failures = vec![FailureCount {
        failure: "NFS3ERR_IO (5)".into(),
        count: 16_000,
    }];
    record
}

/// 40 time-outs of 1 s are half of the 80 s that 8 slots have in 10 s.
fn with_time_outs() -> RunRecord {
    let mut record = ten_seconds(probe(8), &times(40_000, MS));
    record.plan.timeout_ns = SECOND;
    record.totals.ledger.timed_out = 40;
    record.totals.ledger.scheduled += 40;
    record
}

fn slowed_by_others() -> RunRecord {
    let mut record = eight_in_flight();
    record.processors = Some(ProcessorsRecord {
        processors: 4,
        own_percent: 60.0,
        others_percent: Some(300.0),
        threads: 1,
        run_delay_percent: 30.0,
        longest_thread: 0,
        longest_run_delay_percent: 30.0,
        longest_run_delay_by_others_percent: 28.0,
        absence: None,
    });
    record
}

/// A quota of a tenth of a processor, of which all was used: it stood still for most of the time.
fn throttled() -> RunRecord {
    let mut record = eight_in_flight();
    record.totals.workers[0].busy_percent = 9.6;
    record.processors = Some(ProcessorsRecord {
        processors: 4,
        own_percent: 10.0,
        others_percent: Some(0.0),
        threads: 1,
        run_delay_percent: 85.0,
        longest_thread: 0,
        longest_run_delay_percent: 85.0,
        longest_run_delay_by_others_percent: 85.0,
        absence: Some(AbsenceRecord {
            quota: Some(0.1),
            throttling: Some(Throttling {
                periods: 100,
                throttled: 99,
                throttled_ns: 8_500_000_000,
            }),
            throttled_percent: 85.0,
            ..AbsenceRecord::default()
        }),
    });
    record
}

/// 50 workers that share two processors: each is little busy, and none is left.
fn many_workers() -> RunRecord {
    let mut record = eight_in_flight();
    record.host.cpus = 2;
    record.plan.workers = 50;
    let worker = record.totals.workers[0].clone();
    let worker_of = |number| WorkerRecord {
        worker: number,
        busy_percent: 3.92,
        ..worker.clone()
    };
    record.totals.workers = (0..50).map(worker_of).collect();
    record
}

#[test]
fn how_busy_many_workers_are_is_told_against_the_processors_that_they_share() {
    let mut record = many_workers();
    assert_eq!(busy_percent(&record).round(), 98.0);
    assert_eq!(GeneratorPart::of(&record), GeneratorPart::Limit);
    // 106 % of a processor, of two.
    for worker in &mut record.totals.workers {
        worker.busy_percent = 2.12;
    }
    assert_eq!(busy_percent(&record).round(), 53.0);
    assert_eq!(GeneratorPart::of(&record), GeneratorPart::NotLimit);
    // They are bound to one of them.
    record.plan.pin = vec![1, 1];
    assert_eq!(GeneratorPart::of(&record), GeneratorPart::Limit);
    // One worker of many has no more than one processor.
    record.plan.pin.clear();
    record.totals.workers[7].busy_percent = 97.0;
    assert_eq!(busy_percent(&record).round(), 100.0);
    record.host.cpus = 64;
    assert_eq!(busy_percent(&record), 97.0);
}

#[test]
fn a_quota_is_not_blamed_on_other_programs() {
    let record = throttled();
    assert_eq!(GeneratorPart::of(&record), GeneratorPart::Limit);
    let found = caveats::find(&record);
    let has = |id: &str| found.iter().any(|caveat| caveat.id() == id);
    assert!(has("did-not-run") && !has("cpu-run-delay"), "{found:?}");
    let told = explain(&record);
    assert!(told.limits[0].suggestion.contains("cpu.max"), "{told:?}");
}

/// Four clients on two processors, in a directory.
fn full_processors() -> RunRecord {
    let mut record = replay(Pacing::Closed, 4);
    record.plan.target = TargetPlan::Local(LocalTarget {
        directory: Some("/mnt".into()),
    });
    record.processors = Some(ProcessorsRecord {
        processors: 2,
        own_percent: 197.0,
        others_percent: Some(2.0),
        threads: 4,
        run_delay_percent: 50.0,
        longest_thread: 0,
        longest_run_delay_percent: 50.0,
        longest_run_delay_by_others_percent: 1.0,
        absence: None,
    });
    record
}

/// Clients of a replay that each had an operation under way all the time.
fn replay(pacing: Pacing, clients: u32) -> RunRecord {
    let mut plan = probe(1);
    plan.clients = clients;
    plan.workload = WorkloadPlan::LoadFile(ReplayPlan {
        pacing,
        ..ReplayPlan::new(vec![], vec![OpKind::GetAttr])
    });
    let mut record = ten_seconds(plan, &times(10_000 * u64::from(clients), MS));
    let each = ClientRecord::default();
    record.replay = Some(ReplayRecord {
        lines: 10_000 * u64::from(clients),
        clients: vec![each; clients as usize],
        ..ReplayRecord::default()
    });
    record
}

/// 2 clients × 1 MB/s × 10 s.
fn at_its_rate() -> RunRecord {
    let mut record = replay(Pacing::Rate { bytes_per_s: 1e6 }, 2);
    let replay = record.replay.as_mut().expect("a replay");
    (replay.bytes_read, replay.bytes_written) = (15_000_000, 4_900_000);
    record
}

fn by_its_stamps() -> RunRecord {
    let mut record = replay(Pacing::Stamps { speed: 1.0 }, 2);
    record.totals.slot_wait_ns = times(20_000, 40 * MS);
    record
}

/// A load that stays as it is, in virtual time.
struct Steady {
    load: f64,
    seconds: u64,
    ledger: Ledger,
    service: Vec<DistributionRecord>,
    response: Vec<DistributionRecord>,
}

impl LoadController for Steady {
    fn first(&mut self) -> f64 {
        self.load
    }

    fn next(&mut self, observed: &IntervalResult<'_>) -> NextLoad {
        let kind = &observed.interval.kinds[0];
        self.ledger.add(&observed.interval.ledger);
        self.service.push(kind.service_time_ns.clone());
        self.response.push(kind.response_time_ns.clone());
        if observed.interval.end_ns >= self.seconds * SECOND {
            NextLoad::Finish
        } else {
            NextLoad::Hold
        }
    }

    fn progress(&self) -> String {
        String::new()
    }
}

/// An open loop with random arrivals against a server with `slots` in virtual time, for ten seconds.
fn offered(load: f64, server: SimulatedServer, slots: u32) -> RunRecord {
    let mut steady = Steady {
        load,
        seconds: 10,
        ledger: Ledger::default(),
        service: vec![],
        response: vec![],
    };
    let run = SimulatedRun {
        slots: slots as usize,
        ..SimulatedRun::new(server, 7)
    };
    let end = run.steer(&mut steady);
    let merged = |times: &[DistributionRecord]| {
        let times: Vec<&DistributionRecord> = times.iter().collect();
        DistributionRecord::merged(&times).expect("our own histograms")
    };
    let plan = Plan {
        arrivals: ArrivalsPlan::Poisson {
            offered_load_ops_per_s: load,
        },
        ..probe(slots)
    };
    let mut record = ten_seconds(plan, &merged(&steady.service));
    record.totals.response_time_ns = merged(&steady.response);
    record.totals.slot_wait_ns = times(10, 0);
    record.totals.ledger = end.ledger;
    record.totals.kinds[0].ledger = end.ledger;
    record
}

fn one_server(mean_ns: u64) -> SimulatedServer {
    let mean_ns = mean_ns as f64;
    SimulatedServer::new(1, ServiceDistribution::Exponential { mean_ns })
}

/// M/M/1 with 200/s of 1,000/s: 0.25 are in flight on average.
fn kept_up() -> RunRecord {
    offered(200.0, one_server(MS), 1024)
}

/// 1,500/s to a server that does 1,000/s, of which 20 may be in flight.
fn overload_of_slots() -> RunRecord {
    let mut record = offered(1500.0, one_server(MS), 20);
    record.totals.slot_wait_ns = times(10, 1500 * MS);
    record.totals.ledger.skipped = 5000;
    record.totals.ledger.scheduled += 5000;
    record
}

/// 1,200/s to a server that does 1,000/s, with slots for all that wait there.
fn overload_of_server() -> RunRecord {
    let mut record = offered(1200.0, one_server(MS), 100_000);
    // Half a second each, so that those at the ends of the window do not decide.
    record.window_ns = 10 * SECOND;
    let service = times(10_000, 400 * MS);
    record.totals.kinds[0].service_time_ns = service.clone();
    record.totals.service_time_ns = service;
    record
}

fn late_generator() -> RunRecord {
    let mut record = kept_up();
    let count = record.totals.response_time_ns.count;
    record.totals.dispatch_delay_ns = times(count, 300_000);
    record
}

/// Half of each round passes before the next operation is sent.
fn slow_between() -> RunRecord {
    ten_seconds(probe(8), &times(40_000, MS))
}

fn with_mismatches() -> RunRecord {
    let mut record = replay(Pacing::Closed, 2);
    let replay = record.replay.as_mut().expect("a replay");
    replay.mismatch_count = 900;
    record
}

fn with_lost_clients() -> RunRecord {
    let mut record = replay(Pacing::Closed, 4);
    let replay = record.replay.as_mut().expect("a replay");
    replay.clients[3].lost = Some("it was refused".into());
    record
}

fn put_off() -> RunRecord {
    let mut record = replay(Pacing::Closed, 2);
    let replay = record.replay.as_mut().expect("a replay");
    (replay.jukebox_calls, replay.jukebox_pauses_ns) = (12, 3 * SECOND);
    record
}

fn cut_off() -> RunRecord {
    let mut record = eight_in_flight();
    (record.totals.reconnections, record.totals.disconnected_ns) = (3, 2 * SECOND);
    record
}

fn target_lost() -> RunRecord {
    let mut record = eight_in_flight();
    record.end = RunOutcome::TargetLost {
        message: "connection refused".into(),
    };
    record
}

fn steered(steering: SteeringPlan) -> RunRecord {
    let mut record = ten_seconds(probe(1024), &times(1000, MS));
    record.plan.steering = Some(steering);
    record
}

/// The curve of M/M/1 with 1,000/s, in virtual time.
fn curve_of_a_queue() -> RunRecord {
    let plan = CurvePlan {
        points: 5,
        peak_ops_per_s: None,
        point_ns: 20 * SECOND,
        warm_up_max_ns: 30 * SECOND,
        down: false,
    };
    let run = SimulatedRun {
        slots: 100_000,
        limit_ns: 4000 * SECOND,
        ..SimulatedRun::new(one_server(MS), 1)
    };
    let mut steering = CurveSteering::new(&plan, None);
    run.steer(&mut steering);
    let mut record = steered(SteeringPlan::Curve(plan));
    record.curve = Some(steering.into_record());
    record
}

/// Points of M/M/1 with 1,000/s as the formula has them: 1/(1000 − load).
fn curve_by_formula(loads: &[f64], peak_end: PeakLimit) -> RunRecord {
    let point = |load: &f64| CurvePointRecord {
        leg: SweepDirection::Up,
        offered_load_ops_per_s: *load,
        achieved_load_ops_per_s: *load,
        response_time_ns: times(1000, (1e9 / (1000.0 - load)) as u64),
        response_time_mean_half_width_ns: Some(20_000.0),
        is_steady: true,
        kept_up: true,
        ..CurvePointRecord::default()
    };
    let plan = CurvePlan {
        points: loads.len() as u32,
        peak_ops_per_s: None,
        point_ns: SECOND,
        warm_up_max_ns: SECOND,
        down: false,
    };
    let mut record = steered(SteeringPlan::Curve(plan));
    record.curve = Some(CurveRecord {
        points: loads.iter().map(point).collect(),
        peak_ops_per_s: loads.last().copied().unwrap_or(0.0),
        peak_end,
        ..CurveRecord::default()
    });
    record
}

fn search(end: SearchStopReason, achieved: f64) -> RunRecord {
    let objective = Objective {
        figure: Figure::Quantile { quantile: 0.99 },
        below_ns: 2 * MS,
    };
    let mut record = steered(SteeringPlan::Objective(ObjectivePlan {
        objective,
        precision: 0.02,
        search_max_ns: 60 * SECOND,
    }));
    record.objective = Some(ObjectiveRecord {
        objective,
        load_ops_per_s: Some(8000.0),
        lower_ops_per_s: Some(7900.0),
        upper_ops_per_s: Some(8100.0),
        highest_passed_ops_per_s: Some(7900.0),
        lowest_failed_ops_per_s: Some(8600.0),
        relaxation_time_ns: 0.0,
        longest_stretch_ns: 0,
        end,
        steps: vec![SearchStepRecord {
            offered_load_ops_per_s: 8600.0,
            achieved_load_ops_per_s: achieved,
            ended: 86_000,
            figure_ns: 3 * MS,
            above: 2000,
            start_ns: 0,
            end_ns: 10 * SECOND,
        }],
    });
    record
}

/// 991 of 1,000 that came due ended, in which chance has a part.
fn hardly_short() -> RunRecord {
    let plan = Plan {
        arrivals: ArrivalsPlan::Constant {
            offered_load_ops_per_s: 100.0,
        },
        ..probe(1024)
    };
    let mut record = ten_seconds(plan, &times(991, 300 * MS));
    record.totals.ledger.scheduled = 1000;
    record.totals.ledger.in_flight = 9;
    record
}

/// 50 of 1,000 that came due failed: without them the load would have been achieved.
fn short_of_errors() -> RunRecord {
    let plan = Plan {
        arrivals: ArrivalsPlan::Constant {
            offered_load_ops_per_s: 100.0,
        },
        ..probe(1024)
    };
    let mut record = ten_seconds(plan, &times(1000, MS));
    record.totals.ledger = Ledger {
        scheduled: 1000,
        ok: 950,
        failed: 50,
        ..Ledger::default()
    };
    record.totals.kinds[0].ledger = record.totals.ledger;
    record.totals.kinds[0].failures = vec![FailureCount {
        failure: "NFS3ERR_IO (5)".into(),
        count: 50,
    }];
    record.totals.achieved_load_ops_per_s = 95.0;
    record
}

/// Clients of a replay that were waiting for answers for half of the time.
fn with_pauses() -> RunRecord {
    let mut record = replay(Pacing::Closed, 2);
    record.totals.kinds[0] = kind(all_ok(10_000), times(10_000, MS));
    record
}

fn half_a_second() -> RunRecord {
    let mut record = eight_in_flight();
    record.window_ns = SECOND / 2;
    record
}

fn a_handful() -> RunRecord {
    ten_seconds(probe(1), &times(20, MS))
}

fn long_operations() -> RunRecord {
    ten_seconds(probe(8), &times(80, SECOND))
}

/// What each run is limited by, and what it is said to be.
fn fixtures() -> Vec<(RunRecord, Vec<&'static str>)> {
    let curve = |loads: &[f64], end| curve_by_formula(loads, end);
    let flat = [100.0, 200.0, 300.0];
    let bent = [100.0, 500.0, 900.0];
    vec![
        // Each limit once.
        (busy_generator(), vec!["generator"]),
        (throttled(), vec!["did-not-run"]),
        (many_workers(), vec!["generator"]),
        (eight_in_flight(), vec!["slots"]),
        (one_at_a_time(), vec!["slots"]),
        (full_link(), vec!["link"]),
        (overload_of_server(), vec!["server-queue"]),
        (overload_of_slots(), vec!["slots"]),
        (curve_of_a_queue(), vec!["peak-of-server"]),
        (kept_up(), vec!["offered-load"]),
        (at_its_rate(), vec!["rate"]),
        (by_its_stamps(), vec!["time-stamps"]),
        (full_processors(), vec!["processors"]),
        (slow_between(), vec!["turnaround"]),
        (with_time_outs(), vec!["time-outs"]),
        (replay(Pacing::Closed, 3), vec!["slots"]),
        (short_of_errors(), vec!["errors"]),
        (
            curve(&flat, PeakLimit::Generator),
            vec!["peak-of-generator"],
        ),
        (curve(&flat, PeakLimit::Fixed), vec!["loads-given"]),
        (curve(&bent, PeakLimit::Fixed), vec!["bend"]),
        (search(SearchStopReason::Precise, 8595.0), vec!["objective"]),
        (search(SearchStopReason::Precise, 8100.0), vec!["objective"]),
        (
            search(SearchStopReason::AlwaysMet, 8600.0),
            vec!["objective"],
        ),
        // Two at a time.
        (with_errors(), vec!["errors", "slots"]),
        (slowed_by_others(), vec!["other-programs", "slots"]),
        (far_away(), vec!["round-trip", "slots"]),
        (lossy(), vec!["retransmissions", "slots"]),
        (late_generator(), vec!["offered-load", "generator-late"]),
        (with_mismatches(), vec!["mismatches", "slots"]),
        (with_lost_clients(), vec!["lost-clients", "slots"]),
        (put_off(), vec!["jukebox", "slots"]),
        (cut_off(), vec!["connections", "slots"]),
        (target_lost(), vec!["target-lost", "slots"]),
        (
            curve(&bent, PeakLimit::Generator),
            vec!["peak-of-generator", "bend"],
        ),
        // None, and too short.
        (hardly_short(), vec![]),
        (with_pauses(), vec![]),
        (curve(&flat, PeakLimit::NotReached), vec![]),
        (half_a_second(), vec![]),
        (a_handful(), vec![]),
        (long_operations(), vec![]),
    ]
}

#[test]
fn each_run_is_limited_by_what_it_was_made_with() {
    let mut told = String::new();
    for (record, expected) in fixtures() {
        let explanation = explain(&record);
        let ids = explanation.limits.iter().map(|limit| limit.id.as_str());
        assert_eq!(ids.collect::<Vec<_>>(), expected, "{explanation:#?}");
        for limit in &explanation.limits {
            let Limit {
                id,
                sentence,
                suggestion,
                ..
            } = limit;
            told.push_str(&format!("{id}: {sentence}\n    help: {suggestion}\n"));
        }
        if let Some(missing) = explanation.missing {
            told.push_str(&format!("{:?}: {missing}\n", explanation.outcome));
        }
        told.push('\n');
    }
    insta::assert_snapshot!(told);
}

#[test]
fn every_rule_has_a_run_that_it_holds_of() {
    let fixtures = fixtures();
    let is_told = |id: &str| fixtures.iter().any(|(_, ids)| ids.contains(&id));
    let untold = LIMIT_RULES.iter().filter(|rule| !is_told(rule.id));
    assert_eq!(untold.map(|rule| rule.id).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn a_rule_gives_way_only_to_rules_before_it() {
    for (place, rule) in LIMIT_RULES.iter().enumerate() {
        let before = |id: &&str| LIMIT_RULES[..place].iter().any(|rule| rule.id == *id);
        assert!(rule.unless.iter().all(before), "{}", rule.id);
    }
}

#[test]
fn nothing_is_said_of_a_run_too_short() {
    for record in [half_a_second(), a_handful(), long_operations()] {
        let explanation = explain(&record);
        assert_eq!(explanation.outcome, ExplanationOutcome::TooShort);
        assert!(explanation.limits.is_empty(), "{explanation:?}");
    }
}

#[test]
fn a_threshold_is_where_a_limit_begins() {
    let busy = |percent| {
        let mut record = eight_in_flight();
        record.totals.workers[0].busy_percent = percent;
        explain(&record).limits[0].id.clone()
    };
    assert_eq!(
        (busy(94.9), busy(95.1)),
        ("slots".into(), "generator".into())
    );
    // 7.2 of 8 are 90 %.
    let taken = |count| {
        explain(&ten_seconds(probe(8), &times(count, MS))).limits[0]
            .id
            .clone()
    };
    assert_eq!(
        (taken(72_001), taken(71_999)),
        ("slots".into(), "turnaround".into())
    );
    let errors = |failed| {
        let mut record = with_errors();
        let ledger = &mut record.totals.kinds[0].ledger;
        (ledger.ok, ledger.failed) = (80_000 - failed, failed);
        explain(&record).limits[0].id.clone()
    };
    assert_eq!(
        (errors(7_990), errors(8_000)),
        ("slots".into(), "errors".into())
    );
}
