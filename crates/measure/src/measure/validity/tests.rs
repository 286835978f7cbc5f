//! For each rule, a record that breaks it and one that is just within its limit.

use super::*;
use crate::cost::{CallsRecord, CostEstimate, MeasuredAt, SourceRecord, WireCostRecord};
use crate::measure::absence::AbsenceRecord;
use crate::measure::caveat::RULES;
use crate::measure::curve_record::{
    CurvePointRecord, CurveRecord, ObjectiveRecord, PeakLimit, SearchStopReason,
};
use crate::measure::fleet_record::{FleetCounters, FleetRecord, GroupRecord, SettingsGeneration};
use crate::measure::job_record::tests::host;
use crate::measure::job_record::{HostRecord, JobRecord, LostHostRecord};
use crate::measure::mix_figures::tests::{tick, times, totals};
use crate::measure::mix_record::{WireLimitRecord, WireRecord};
use crate::measure::processors::ProcessorsRecord;
use crate::measure::replay_record::{ClientRecord, ReplayRecord};
use crate::measure::run_record::{
    FailureCount, IntervalRecord, Phase, SessionIdentity, SessionRecord, TickRecord, Totals,
    WorkerRecord,
};
use crate::measure::verdict::caveats::find;
use crate::measure::verdict::caveats::tests::run_of_30_s;
use filestone_plan::plan::{ArrivalsPlan, ProbePlan, SmbTarget, TargetPlan, WorkloadPlan};
use filestone_workload::failure::ReplyFault;
use filestone_workload::operation::OpKind;
use filestone_workload::recording::distribution::DistributionRecord;
use filestone_workload::recording::ledger::Ledger;

type Change = fn(&mut RunRecord);

/// A rule with changes that break and keep it.
struct Case {
    id: &'static str,
    broken: Change,
    kept: Change,
}

const fn case(id: &'static str, broken: Change, kept: Change) -> Case {
    Case { id, broken, kept }
}

/// Returns a record of 30,000 operations of 2 ms in 30 s: one is at the server at any moment.
fn sound() -> RunRecord {
    run_of_30_s(totals(8_700, 21_000, 300, 0), vec![])
}

/// Returns the valid record with these totals and the figures that follow from them.
fn with(totals: Totals) -> RunRecord {
    run_of_30_s(totals, vec![])
}

fn changed(change: Change) -> RunRecord {
    let mut record = sound();
    change(&mut record);
    let stated = std::mem::take(&mut record.caveats);
    record.caveats = find(&record);
    record.caveats.extend(stated);
    if let Some(curve) = &record.curve {
        record.caveats.extend(curve.doubts());
    }
    let search = record.objective.as_ref();
    let doubt = search.and_then(ObjectiveRecord::doubt);
    record.caveats.extend(doubt);
    record
}

/// Makes `count` operations fail.
fn fail(record: &mut RunRecord, count: u64) {
    for ledger in [
        &mut record.totals.ledger,
        &mut record.totals.kinds[0].ledger,
    ] {
        (ledger.ok, ledger.failed) = (ledger.ok - count, count);
    }
}

/// Completes only `count` operations in the window, with 8 in flight.
fn answered(record: &mut RunRecord, count: u64) {
    record.plan.arrivals = ArrivalsPlan::Closed;
    (record.plan.clients, record.plan.in_flight) = (1, 8);
    record.totals.offered_load_ops_per_s = None;
    record.totals.achieved_load_ops_per_s = count as f64 / 30.0;
}

fn busy(record: &mut RunRecord, busy_percent: f64) {
    record.plan.arrivals = ArrivalsPlan::Closed;
    record.totals.offered_load_ops_per_s = None;
    record.totals.workers = vec![WorkerRecord {
        worker: 0,
        clients: 1,
        cpu_ns: 0,
        busy_poll_ns: 0,
        busy_percent,
        run_delay_percent: 0.0,
    }];
}

/// Sets the numbers of changes of a fleet before the end of the first and the second interval.
fn generations(record: &mut RunRecord, of: [u32; 2]) {
    record.fleet = Some(FleetRecord::default());
    record.intervals = (0..)
        .zip(of)
        .map(|(number, generation)| IntervalRecord {
            start_ns: number,
            end_ns: number + 1,
            phase: Phase::Measure,
            settings: Some(SettingsGeneration::new(generation, generation)),
            ledger: Ledger::default(),
            bytes_sent: 0,
            bytes_received: 0,
            client_cpu_ns: 0,
            kinds: vec![],
        })
        .collect();
}

fn waited(record: &mut RunRecord, by_all: f64, by_others: f64) {
    record.processors = Some(ProcessorsRecord {
        processors: 2,
        own_percent: 100.0,
        others_percent: Some(50.0),
        threads: 3,
        run_delay_percent: by_all,
        longest_thread: 1,
        longest_run_delay_percent: by_all,
        longest_run_delay_by_others_percent: by_others,
        absence: None,
    });
}

/// Throttles the threads by a quota for that share of the window.
fn throttled(record: &mut RunRecord, throttled_percent: f64) {
    record.processors = Some(ProcessorsRecord {
        absence: Some(AbsenceRecord {
            throttled_percent,
            ..AbsenceRecord::default()
        }),
        ..ProcessorsRecord::default()
    });
}

/// Sets the end of an interval planned to last a second.
fn lasted(record: &mut RunRecord, end_ns: u64) {
    record.plan.interval_ns = 1_000_000_000;
    record.intervals = vec![IntervalRecord {
        start_ns: 0,
        end_ns,
        phase: Phase::Measure,
        settings: None,
        ledger: Ledger::default(),
        bytes_sent: 0,
        bytes_received: 0,
        client_cpu_ns: 0,
        kinds: vec![],
    }];
}

/// Makes all operations fail for `ticks` ticks in the middle of the run.
fn paused(record: &mut RunRecord, ticks: u64) {
    let tick_of = |place| TickRecord {
        ok: (100..100 + ticks).contains(&place).then_some(0),
        ..tick(place, 100, 2_000_000)
    };
    *record = run_of_30_s(
        totals(8_700, 21_000, 300, 0),
        (0..300).map(tick_of).collect(),
    );
}

/// Adds clients of a fleet that started transfers of 10 s by their rate and are behind by
/// `behind_ns`.
fn behind(record: &mut RunRecord, behind_ns: u64) {
    let counters = FleetCounters {
        scheduled_ns: 10_000_000_000,
        behind_ns,
        ..FleetCounters::default()
    };
    let group = GroupRecord {
        counters,
        ..GroupRecord::default()
    };
    record.fleet = Some(FleetRecord {
        groups: vec![group],
        ..FleetRecord::default()
    });
}

/// Sets the total bytes of 10,000 READs of 1 KiB.
fn read_bytes(record: &mut RunRecord, bytes: u64) {
    reads_of(record, 1024);
    let kind = &mut record.totals.kinds[0];
    (kind.operation, kind.data_bytes) = (OpKind::Read, bytes);
    kind.ledger = Ledger {
        scheduled: 10_000,
        ok: 10_000,
        ..Ledger::default()
    };
}

fn reads_of(record: &mut RunRecord, size_bytes: u32) {
    record.mix = None;
    record.target.read_max_bytes = 65_536;
    record.plan.workload = WorkloadPlan::Probe(ProbePlan {
        size_bytes,
        ..ProbePlan::new(OpKind::Read)
    });
}

/// Sets the response time of the last third of the run; that of the others is 1 ms.
fn drifted(record: &mut RunRecord, last_ns: u64) {
    let response = |place| if place < 200 { 1_000_000 } else { last_ns };
    let ticks = (0..300).map(|place| tick(place, 100, response(place)));
    *record = run_of_30_s(totals(8_700, 21_000, 300, 0), ticks.collect());
}

/// Sets the difference between the counted bytes and those of the model.
fn wire(record: &mut RunRecord, difference_percent: f64) {
    let counted = CostEstimate {
        value: 1000.0,
        half_width: 0.0,
    };
    let cost = record.cost.get_or_insert_default();
    cost.wire = Some(WireCostRecord {
        interface: "eth0".into(),
        mtu_bytes: 1500,
        message_bytes_per_operation: 900.0,
        model_packets_per_operation: 2.0,
        model_bytes_per_operation: 1000.0,
        bytes_per_operation: Some(counted),
        difference_percent: Some(difference_percent),
        ..WireCostRecord::default()
    });
}

/// Sets the bytes per second through the interface before the run; during the run there are
/// 100,000.
fn idle(record: &mut RunRecord, bytes_per_s: f64) {
    let cost = record.cost.get_or_insert_default();
    cost.wire = Some(WireCostRecord {
        interface: "eth0".into(),
        idle_bytes_per_s: Some(bytes_per_s),
        load_bytes_per_s: Some(100_000.0),
        ..WireCostRecord::default()
    });
}

/// Sets the calls counted by the server's kernel, with 100,000 made; 50 more or fewer are chance.
fn calls(record: &mut RunRecord, counted: u64) {
    let cost = record.cost.get_or_insert_default();
    cost.calls = Some(CallsRecord {
        counted,
        made: 100_000.0,
        uncertainty: 50.0,
    });
}

/// Adds a source with `failed` failed readings.
fn readings(record: &mut RunRecord, failed: u64) {
    let cost = record.cost.get_or_insert_default();
    cost.sources = vec![SourceRecord {
        name: "/proc".into(),
        measured_at: MeasuredAt::Server,
        readings: vec![],
        failed,
        first_failure: None,
    }];
}

fn replay(record: &mut RunRecord) -> &mut ReplayRecord {
    record.mix = None;
    record.replay.get_or_insert_default()
}

fn lost_client(record: &mut RunRecord, lost: Option<String>) {
    let client = ClientRecord {
        lost,
        ..ClientRecord::default()
    };
    replay(record).clients = vec![client];
}

fn limited(record: &mut RunRecord, limits: Vec<WireLimitRecord>) {
    let mix = record.mix.as_mut().expect("a mix");
    mix.wire = Some(WireRecord {
        limits,
        ..WireRecord::default()
    });
}

fn point(record: &mut RunRecord) -> &mut CurvePointRecord {
    let mean = |mean| DistributionRecord {
        mean,
        ..DistributionRecord::default()
    };
    let good = CurvePointRecord {
        response_time_ns: mean(100.0),
        service_time_ns: mean(95.0),
        is_steady: true,
        kept_up: true,
        ..CurvePointRecord::default()
    };
    let curve = record.curve.get_or_insert_default();
    curve.points.push(good);
    curve.points.last_mut().expect("it is there")
}

/// Returns a search without result, whose longest measurement has this length; the relaxation time
/// of its queue is a second.
fn searched(longest_stretch_ns: u64) -> ObjectiveRecord {
    ObjectiveRecord {
        objective: "p99<10ms".parse().expect("an objective"),
        load_ops_per_s: None,
        lower_ops_per_s: None,
        upper_ops_per_s: None,
        highest_passed_ops_per_s: None,
        lowest_failed_ops_per_s: None,
        relaxation_time_ns: 1e9,
        longest_stretch_ns,
        end: SearchStopReason::TimedOut,
        steps: Vec::new(),
    }
}

fn peak(record: &mut RunRecord, peak_end: PeakLimit) {
    record.curve = Some(CurveRecord {
        peak_end,
        ..CurveRecord::default()
    });
}

fn forge(record: &mut RunRecord, fault: ReplyFault) {
    let failure = fault.to_string();
    record.totals.kinds[0].failures = vec![FailureCount { failure, count: 1 }];
}

fn nothing(_: &mut RunRecord) {}

/// Sets a share, for the user alice, whose clients get this account.
fn session_of(record: &mut RunRecord, account: SessionIdentity) {
    let mut target = SmbTarget::new("fs", "bench");
    target.user = Some("alice".into());
    record.plan.target = TargetPlan::Smb(target);
    record.target.session = Some(SessionRecord {
        dialect: "3.1.1".into(),
        signing: None,
        encryption: None,
        account,
        channels: 1,
        interfaces: Vec::new(),
        durable: None,
    });
}

#[rustfmt::skip]
/// Sets a job of three hosts with these mean response times.
fn job(record: &mut RunRecord, means: [f64; 3]) -> &mut JobRecord {
    let hosts = (0..).zip(means).map(|(part, response_time_mean_ns)| HostRecord {
        part,
        host: record.host.clone(),
        window_ns: record.window_ns,
        ..host(&format!("node{part}"), response_time_mean_ns)
    });
    let hosts = hosts.collect();
    record.job.insert(JobRecord {
        hosts,
        lost: vec![],
    })
}

fn lost_host() -> LostHostRecord {
    LostHostRecord {
        name: "node3".into(),
        part: 3,
        phase: "measuring".into(),
        reason: "it has not been heard of for 10 s".into(),
        remains: None,
    }
}

/// Sets a job whose last host started at that moment, the others at 16:05:00; an interval is a
/// second.
fn began(record: &mut RunRecord, started_at: &str) {
    record.plan.interval_ns = 1_000_000_000;
    job(record, [1e6; 3]).hosts[2].started_at = started_at.into();
}

const CASES: &[Case] = &[
    case(
        "ledger-out-of-balance",
        |record| record.totals.ledger.ok -= 1,
        nothing,
    ),
    case(
        "target-lost",
        |record| {
            record.end = RunOutcome::TargetLost {
                message: "gone".into(),
            }
        },
        nothing,
    ),
    case(
        "mix-invalid",
        |record| *record = with(totals(8_700 + 1800, 21_000 - 1800, 300, 0)),
        |record| *record = with(totals(8_700 + 1490, 21_000 - 1490, 300, 0)),
    ),
    case(
        "littles-law",
        |record| {
            let mut totals = totals(8_700, 21_000, 300, 0);
            totals.in_flight_mean = 1.06;
            *record = with(totals)
        },
        |record| {
            let mut totals = totals(8_700, 21_000, 300, 0);
            totals.in_flight_mean = 1.04;
            *record = with(totals)
        },
    ),
    case(
        "generator-was-the-limit",
        |record| busy(record, 95.1),
        |record| busy(record, 95.0),
    ),
    case(
        "long-interval",
        |record| lasted(record, 2_000_000_001),
        |record| lasted(record, 2_000_000_000),
    ),
    case(
        "did-not-run",
        |record| throttled(record, 1.0),
        |record| throttled(record, 0.9),
    ),
    case(
        "nothing-completed",
        |record| paused(record, 3),
        |record| paused(record, 2),
    ),
    case(
        "cpu-run-delay",
        |record| waited(record, 5.0, 5.0),
        |record| waited(record, 5.0, 4.9),
    ),
    case(
        "cpu-run-delay-self",
        |record| waited(record, 5.0, 1.0),
        |record| waited(record, 4.9, 1.0),
    ),
    case(
        "dispatch-delay",
        |record| record.totals.dispatch_delay_ns = times(30_000, 21_000),
        |record| record.totals.dispatch_delay_ns = times(30_000, 19_000),
    ),
    case(
        "achieved-below-offered",
        |record| record.totals.achieved_load_ops_per_s = 970.0,
        |record| record.totals.achieved_load_ops_per_s = 985.0,
    ),
    case(
        "rate-missed",
        |record| behind(record, 210_000_000),
        |record| behind(record, 200_000_000),
    ),
    case(
        "achieved-above-offered",
        |record| record.totals.achieved_load_ops_per_s = 1030.0,
        |record| record.totals.achieved_load_ops_per_s = 1015.0,
    ),
    case(
        "skipped",
        |record| record.totals.ledger.skipped = 1,
        nothing,
    ),
    case(
        "unexpected-outcomes",
        // Of 30,000.
        |record| fail(record, 301),
        |record| fail(record, 300),
    ),
    case(
        "forged",
        |record| forge(record, ReplyFault::Forged),
        |record| forge(record, ReplyFault::WrongData),
    ),
    case(
        "clients-lost",
        |record| lost_client(record, Some("gone".into())),
        |record| lost_client(record, None),
    ),
    case(
        "connections-lost",
        |record| record.totals.lost_clients = 1,
        nothing,
    ),
    case(
        "settings-changed",
        |record| generations(record, [0, 1]),
        |record| generations(record, [1, 1]),
    ),
    case(
        "not-the-user",
        |record| session_of(record, SessionIdentity::Guest),
        |record| session_of(record, SessionIdentity::User),
    ),
    case(
        "reconnected",
        |record| record.totals.reconnections = 1,
        nothing,
    ),
    case(
        "retransmissions",
        |record| record.totals.kinds[0].retransmissions = 1,
        nothing,
    ),
    case(
        "late-replies",
        |record| record.totals.late_replies = 1,
        nothing,
    ),
    case(
        "long-listings",
        |record| record.totals.oversized_listings = 1,
        nothing,
    ),
    case(
        "interface-not-quiet",
        |record| idle(record, 1001.0),
        |record| idle(record, 999.0),
    ),
    case(
        "server-calls-differ",
        |record| calls(record, 100_151),
        |record| calls(record, 100_149),
    ),
    case(
        "wire-differs",
        |record| wire(record, 1.01),
        |record| wire(record, 0.99),
    ),
    case(
        "readings-failed",
        |record| readings(record, 1),
        |record| readings(record, 0),
    ),
    case(
        "jukebox",
        |record| replay(record).jukebox_calls = 1,
        |record| replay(record).jukebox_calls = 0,
    ),
    case(
        "transfer-beyond-server",
        |record| reads_of(record, 65_537),
        |record| reads_of(record, 65_536),
    ),
    case(
        "short-reads",
        // 128 and 100 of 10,000 KiB requested in 10,000 READs are missing.
        |record| read_bytes(record, 10_000 * 1024 - 128 * 1024),
        |record| read_bytes(record, 10_000 * 1024 - 100 * 1024),
    ),
    case(
        "mix-off",
        |record| *record = with(totals(8_700, 21_007, 293, 0)),
        |record| *record = with(totals(8_700, 21_005, 295, 0)),
    ),
    case(
        "not-caused",
        |record| {
            limited(
                record,
                vec![WireLimitRecord {
                    operation: OpKind::Read,
                    wanted_per_s: 2.0,
                    at_most_per_s: 1.0,
                }],
            )
        },
        |record| limited(record, vec![]),
    ),
    case(
        "not-seen-on-the-wire",
        |record| {
            record.caveats.push(Caveat::NotSeenOnTheWire {
                directory: "/x".into(),
            })
        },
        nothing,
    ),
    case(
        "nothing-checked",
        |record| record.caveats.push(Caveat::NothingChecked),
        nothing,
    ),
    case(
        "unmeasured-load",
        |record| *record = with(totals(8_700, 21_000, 300, 620)),
        |record| *record = with(totals(8_700, 21_000, 300, 600)),
    ),
    case(
        "drift",
        |record| drifted(record, 1_110_000),
        |record| drifted(record, 1_090_000),
    ),
    case(
        "too-few-samples",
        |record| *record = with(totals(290, 700, 10, 0)),
        |record| *record = with(totals(2_900, 7_000, 100, 0)),
    ),
    case(
        "peak-of-generator",
        |record| peak(record, PeakLimit::Generator),
        |record| peak(record, PeakLimit::Server),
    ),
    case(
        "peak-unfinished",
        |record| peak(record, PeakLimit::NotReached),
        |record| peak(record, PeakLimit::Fixed),
    ),
    case(
        "points-not-steady",
        |record| point(record).is_steady = false,
        |record| point(record).is_steady = true,
    ),
    case(
        "points-below-offered",
        |record| point(record).kept_up = false,
        |record| point(record).kept_up = true,
    ),
    case(
        "points-waited",
        |record| point(record).service_time_ns.mean = 94.0,
        |record| point(record).service_time_ns.mean = 95.0,
    ),
    case(
        "points-too-short",
        |record| {
            let point = point(record);
            (point.relaxation_time_ns, point.end_ns) = (1e9, 29_000_000_000);
        },
        |record| {
            let point = point(record);
            (point.relaxation_time_ns, point.end_ns) = (1e9, 30_000_000_000);
        },
    ),
    case(
        "stretches-too-short",
        |record| record.objective = Some(searched(9_000_000_000)),
        |record| record.objective = Some(searched(10_000_000_000)),
    ),
    case(
        "window-too-short",
        |record| answered(record, 7),
        |record| answered(record, 8),
    ),
    case(
        "short-run",
        |record| record.window_ns = 999_999_999,
        |record| record.window_ns = 1_000_000_000,
    ),
    case(
        "host-lost",
        |record| job(record, [1e6; 3]).lost.push(lost_host()),
        |record| _ = job(record, [1e6; 3]),
    ),
    case(
        "host-differs",
        |record| _ = job(record, [1e6, 1e6, 1.51e6]),
        |record| _ = job(record, [1e6, 1e6, 1.49e6]),
    ),
    case(
        "host-suspect",
        |record| {
            job(record, [1e6; 3]).hosts[1]
                .caveats
                .push(Caveat::LateReplies { count: 1 })
        },
        |record| _ = job(record, [1e6; 3]),
    ),
    case(
        "start-skew",
        |record| began(record, "2026-11-24T16:05:01.001Z"),
        |record| began(record, "2026-11-24T16:05:01.000Z"),
    ),
    case(
        "interrupted",
        |record| record.end = RunOutcome::Interrupted,
        nothing,
    ),
    case(
        "debug-build",
        |record| record.tool.profile = "debug".into(),
        nothing,
    ),
    case(
        "slow-clock",
        |record| record.host.clock_read_ns = 50.1,
        |record| record.host.clock_read_ns = 50.0,
    ),
    case("loopback", |record| record.target.local = true, nothing),
    case(
        "may-share-host",
        |record| record.target.namespace_link = Some("veth0".into()),
        |record| {
            record.target.namespace_link = Some("veth0".into());
            record.target.local = true;
        },
    ),
    case(
        "leftover",
        |record| {
            record.caveats.push(Caveat::Leftover {
                path: "/x".into(),
                reason: "y".into(),
            })
        },
        nothing,
    ),
    case(
        "file-set-still-claimed",
        |record| {
            record.caveats.push(Caveat::FileSetStillClaimed {
                path: "/x".into(),
                reason: "y".into(),
            })
        },
        nothing,
    ),
];

#[test]
fn a_sound_record_counts() {
    let record = changed(nothing);
    assert_eq!(record.caveats, []);
    assert_eq!(of(&record), Validity::Counts);
}

#[test]
fn every_rule_has_a_record_that_breaks_it_and_one_that_keeps_it() {
    let named: Vec<&str> = CASES.iter().map(|case| case.id).collect();
    let mut ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
    let rules = ids.len();
    ids.retain(|id| !named.contains(id));
    assert_eq!(ids, Vec::<&str>::new(), "without a case");
    assert_eq!(named.len(), rules, "a case of no rule, or two of one");
    for case in CASES {
        let has = |record: &RunRecord| record.caveats.iter().any(|caveat| caveat.id() == case.id);
        let (broken, kept) = (changed(case.broken), changed(case.kept));
        assert!(has(&broken), "{} is broken: {:?}", case.id, broken.caveats);
        assert!(!has(&kept), "{} is kept: {:?}", case.id, kept.caveats);
        let rule = RULES.iter().find(|rule| rule.id == case.id);
        assert!(
            rule.is_some_and(|rule| of(&broken) >= rule.leaves),
            "{}",
            case.id
        );
    }
}

#[test]
fn a_rule_has_the_name_that_records_give_its_caveat() {
    for case in CASES {
        for caveat in changed(case.broken).caveats {
            let value = serde_json::to_value(&caveat).expect("an object");
            let name = value.get("caveat").and_then(|name| name.as_str());
            assert_eq!(name, Some(caveat.id()));
        }
    }
}

#[test]
fn a_run_in_which_nothing_succeeded_does_not_count() {
    let mut record = sound();
    let ledger = &mut record.totals.ledger;
    (ledger.failed, ledger.ok) = (ledger.ok, 0);
    assert_eq!(of(&record), Validity::DoesNotCount);
    record.end = RunOutcome::Interrupted;
    assert_eq!(
        of(&record),
        Validity::Counts,
        "it was ended before anything could"
    );
}

#[test]
fn a_run_counts_up_to_the_bound_of_a_rule_that_has_one() {
    let late = |mean_ns: f64| {
        let mut record = sound();
        record.caveats = vec![Caveat::DispatchDelay {
            mean_ns,
            response_time_mean_ns: 1000.0,
        }];
        (of(&record), reasons(&record))
    };
    assert_eq!(late(250.0), (Validity::WithCaveats, vec![]));
    let why = "dispatch delay is 35 % of the response time".to_string();
    assert_eq!(late(350.0), (Validity::DoesNotCount, vec![why]));
}

#[test]
fn verdicts_of_older_records_are_read() {
    for (old, now) in [
        ("valid", Validity::Counts),
        ("with-caveats", Validity::WithCaveats),
        ("invalid", Validity::DoesNotCount),
    ] {
        assert_eq!(
            serde_json::from_value::<Validity>(old.into()).ok(),
            Some(now)
        );
        let name = serde_json::to_value(now).ok();
        assert_eq!(name, Some(now.name().into()));
    }
}
