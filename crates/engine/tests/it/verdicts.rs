//! Whether runs count, of runs whose answers are known on paper: the whole worker loop in virtual
//! time, judged as every run is.

use crate::support::hooked::{Hooked, changing, unseen};
use crate::support::{Run, SECOND, plan, run, run_on, server};
use filestone_measure::measure::Caveat;
use filestone_measure::measure::Shortfall;
use filestone_measure::measure::run_record::Tool;
use filestone_measure::measure::verdict::caveats::find;
use filestone_measure::measure::verdict::{CheckSubject, Verdict, checks};
use filestone_measure::measure::{RunRecord, Validity, run_record, validity};
use filestone_plan::plan::{ArrivalsPlan, Plan};
use filestone_testing::Simulated;
use filestone_testing::queueing::{ServiceDistribution, SimulatedServer, Stall};
use filestone_workload::failure::{ProtocolStatus, StatusSpace};
use filestone_workload::operation::{Completion, Outcome};
use filestone_workload::time::Timestamp;

/// The record of a run against a server on another host.
fn record(plan: Plan, server: SimulatedServer) -> RunRecord {
    let run = run(&plan, server);
    record_of(plan, run)
}

fn record_of(plan: Plan, run: Run) -> RunRecord {
    // Nobody's processor was used in virtual time.
    let worker = run_record::WorkerRecord {
        worker: 0,
        clients: plan.clients,
        cpu_ns: 0,
        busy_poll_ns: 0,
        busy_percent: 0.0,
        run_delay_percent: 0.0,
    };
    let mut totals = run.totals;
    totals.workers = vec![worker];
    RunRecord {
        window_ns: plan.duration_ns.unwrap_or(10 * SECOND),
        totals,
        intervals: run.intervals,
        ticks: run.ticks,
        ..RunRecord::new(plan, Tool::release("0"))
    }
}

const fn poisson(offered_load_ops_per_s: f64) -> ArrivalsPlan {
    ArrivalsPlan::Poisson {
        offered_load_ops_per_s,
    }
}

const fn constant(offered_load_ops_per_s: f64) -> ArrivalsPlan {
    ArrivalsPlan::Constant {
        offered_load_ops_per_s,
    }
}

#[test]
fn a_healthy_run_has_no_caveat_and_no_failed_check() {
    // Half a millisecond in the mean, as a server on another host takes.
    let half = || {
        server(
            ServiceDistribution::Exponential { mean_ns: 500_000.0 },
            None,
        )
    };
    let mut warmed = plan(poisson(1000.0), 1024, 10);
    warmed.warm_up_ns = SECOND;
    for plan in [
        plan(ArrivalsPlan::Closed, 4, 10),
        plan(constant(1000.0), 1024, 10),
        plan(poisson(1000.0), 1024, 10),
        warmed,
    ] {
        let arrivals = plan.arrivals;
        let record = record(plan, half());
        assert_eq!(find(&record), [], "{arrivals:?}");
        let checks = checks(&record);
        let all_hold = checks.iter().all(|check| check.verdict == Verdict::Passes);
        assert!(all_hold, "{arrivals:?}: {checks:?}");
    }
}

#[test]
fn what_is_offered_twice_of_what_can_be_is_named() {
    const MS: u64 = 1_000_000;
    // Half of what ends in the window was due in the warm-up, and had slots, too.
    let below = |slots, server| {
        let mut plan = plan(constant(2000.0), slots, 2);
        plan.warm_up_ns = 2 * SECOND;
        let caveats = find(&record(plan, server));
        caveats.iter().find_map(|caveat| match caveat {
            Caveat::AchievedBelowOffered {
                achieved_load_ops_per_s,
                cause,
                ..
            } => Some((achieved_load_ops_per_s.round(), *cause)),
            _ => None,
        })
    };
    // One operation at a time, of a millisecond each: 1,000 of 2,000 per second. With slots for all
    // that wait for it, it is the server;
    let slow = || server(ServiceDistribution::Fixed { ns: MS }, Some(1));
    assert_eq!(
        below(100_000, slow()),
        Some((1000.0, Some(Shortfall::Server)))
    );
    // with fewer, the run does not tell whether it would have answered more of more in flight,
    assert_eq!(below(64, slow()), Some((1000.0, Some(Shortfall::Slots))));
    // as one does that takes 2 ms, however many there are: two slots are 1,000 per second.
    let wide = server(ServiceDistribution::Fixed { ns: 2 * MS }, None);
    assert_eq!(below(2, wide), Some((1000.0, Some(Shortfall::Slots))));
}

#[test]
fn what_ends_after_a_window_without_a_warm_up_is_no_shortfall() {
    // 950 of 1,000 end in the second in which they are due, since each takes 50 ms.
    for arrivals in [constant(1000.0), poisson(1000.0)] {
        let plan = plan(arrivals, 1024, 1);
        let record = record(
            plan,
            server(ServiceDistribution::Fixed { ns: 50_000_000 }, None),
        );
        let below = |caveat: &Caveat| matches!(caveat, Caveat::AchievedBelowOffered { .. });
        let caveats = find(&record);
        assert!(!caveats.iter().any(below), "{arrivals:?}: {caveats:?}");
    }
    // A twentieth more than the server can do is found without a warm-up, too.
    let plan = plan(constant(1050.0), 2000, 10);
    let record = record(
        plan,
        server(ServiceDistribution::Fixed { ns: 1_000_000 }, Some(1)),
    );
    let below = |caveat: &Caveat| matches!(caveat, Caveat::AchievedBelowOffered { .. });
    assert!(find(&record).iter().any(below), "{:?}", checks(&record));
}

#[test]
fn what_a_warm_up_left_over_is_named() {
    // It does nothing for the second of the warm-up, and then all that was due in it at once.
    let mut frozen = server(ServiceDistribution::Fixed { ns: 100_000 }, None);
    frozen.stalls.push(Stall {
        start_ns: 0,
        lasts_ns: SECOND,
    });
    let mut plan = plan(constant(1000.0), 2000, 10);
    plan.warm_up_ns = SECOND;
    let record = record(plan, frozen);
    let caveats = find(&record);
    let left_over = caveats.iter().find_map(|caveat| match caveat {
        Caveat::AchievedAboveOffered {
            warm_up_backlog: left_over,
            ..
        } => Some(*left_over),
        _ => None,
    });
    // 1,000 of the warm-up; the last of the window may end after it.
    assert!(
        left_over.is_some_and(|count| (998..=1000).contains(&count)),
        "{left_over:?}"
    );
}

#[test]
fn a_run_of_a_hundred_operations_does_not_tell_a_load() {
    let mut plan = plan(poisson(1000.0), 1024, 10);
    (plan.duration_ns, plan.count) = (None, Some(100));
    let mut record = record(
        plan,
        server(ServiceDistribution::Fixed { ns: 500_000 }, None),
    );
    // So long did a hundred random arrivals take: a tenth more than on average.
    record.window_ns = 110_000_000;
    record.totals.achieved_load_ops_per_s = 100.0 / 0.11;
    let checks = checks(&record);
    let achieved = checks
        .iter()
        .find(|check| matches!(check.subject, CheckSubject::Achieved { .. }));
    // 91 ± 20 %.
    let achieved = achieved.expect("an open loop");
    assert!(
        matches!(achieved.verdict, Verdict::Inconclusive(_)),
        "{achieved:?}"
    );
    assert_eq!(
        (achieved.figure.round(), achieved.chance.round()),
        (91.0, 20.0)
    );
}

const STALE: ProtocolStatus = StatusSpace::Nfs3.status(70);

/// A run against a server whose answers are changed so.
fn changed(plan: Plan, server: SimulatedServer, change: impl FnMut(&mut Completion)) -> RunRecord {
    let backend = Hooked(Simulated::new(server, 1), unseen, changing(change));
    let run = run_on(&plan, backend);
    let mut record = record_of(plan, run);
    record.caveats = find(&record);
    record
}

/// 1,000 operations a second for 10 s at a server that answers in 100 µs, but does nothing from second
/// 4 to second 5. What it answers in the end of that second, the 1,000 operations due in it, is
/// changed.
fn frozen(plan: Plan, mut change: impl FnMut(&mut Completion)) -> RunRecord {
    let mut server = server(ServiceDistribution::Fixed { ns: 100_000 }, None);
    server.stalls.push(Stall {
        start_ns: 4 * SECOND,
        lasts_ns: SECOND,
    });
    changed(plan, server, move |completion| {
        if (4 * SECOND..5 * SECOND).contains(&completion.sent.nanos()) {
            change(completion);
        }
    })
}

#[test]
fn percentiles_and_achieved_load_are_those_of_successes_and_failures_have_their_own_times() {
    let plan = plan(constant(1000.0), 2000, 10);
    let record = frozen(plan, |completion| {
        completion.outcome = Outcome::Failed(StatusSpace::Nfs3.failure(70));
    });
    assert_eq!(record.check(), Ok(()));
    let totals = &record.totals;
    assert_eq!((totals.ledger.ok, totals.ledger.failed), (9000, 1000));
    // The 9,000 that were answered well took 100 µs each.
    let times = &totals.response_time_ns;
    assert_eq!((times.count, times.sum), (9000, 9000 * 100_000));
    assert_eq!(
        (times.p50, times.p99_99, times.max),
        (100_000, 100_000, 100_000)
    );
    assert_eq!(totals.service_time_ns.sum, times.sum);
    assert!((totals.achieved_load_ops_per_s - 900.0).abs() < 1e-9);
    // The others waited for 1.0, 0.999, … 0.001 s, and then took as long.
    let failed = &totals.kinds[0].failed_time_ns;
    let waited: u64 = (1..=1000).map(|ms| ms * 1_000_000).sum();
    assert_eq!((failed.count, failed.sum), (1000, 1000 * 100_000 + waited));
    assert_eq!((failed.min, failed.max), (1_100_000, 1_000_100_000));
    assert_eq!(totals.kinds[0].failed_service_sum_ns, failed.sum);
    // 1,000 of 10,000 are 10 %.
    assert_eq!(validity::of(&record), Validity::DoesNotCount);
    let reasons = validity::reasons(&record).join("; ");
    let expected = "10.0 % of the operations ended otherwise than expected, mostly NFS3ERR_STALE (70) \
                    of null";
    assert_eq!(reasons, expected);
}

#[test]
fn a_run_in_which_four_fifths_fail_does_not_count() {
    let mut number = 0;
    let server = server(ServiceDistribution::Fixed { ns: 100_000 }, None);
    let plan = plan(ArrivalsPlan::Closed, 1, 1);
    let record = changed(plan, server, |completion| {
        // 79 of 100.
        if number % 100 < 79 {
            completion.outcome = Outcome::Failed(STALE.into());
        }
        number += 1;
    });
    assert_eq!(record.check(), Ok(()));
    let ledger = &record.totals.ledger;
    // 10,001 in 1 s, the last of which begins at its end.
    assert_eq!((ledger.failed, ledger.ok), (7901, 2100));
    assert_eq!(record.totals.response_time_ns.count, 2100);
    assert!((record.totals.achieved_load_ops_per_s - 2100.0).abs() < 1e-9);
    assert_eq!(validity::of(&record), Validity::DoesNotCount);
    let reasons = validity::reasons(&record);
    assert!(
        reasons[0].starts_with("79.0 % of the operations"),
        "{reasons:?}"
    );
}

#[test]
fn failures_that_the_plan_expects_keep_no_run_from_counting() {
    let mut plan = plan(constant(1000.0), 2000, 10);
    plan.expect = vec!["NFS3ERR_STALE".parse().expect("a status")];
    let record = frozen(plan, |completion| {
        completion.outcome = Outcome::Failed(STALE.into());
    });
    let ledger = &record.totals.ledger;
    assert_eq!((ledger.failed, ledger.expected), (1000, 1000));
    assert_eq!(record.totals.errors(), 0);
    assert_eq!(validity::reasons(&record), Vec::<String>::new());
}

#[test]
fn what_was_not_sent_has_no_sample() {
    let plan = plan(constant(1000.0), 2000, 10);
    // A client that lost its connection before it could send, and one that knew the answer.
    for (outcome, ended) in [(Outcome::Disconnected, 9000), (Outcome::Ok, 10_000)] {
        let record = frozen(plan.clone(), |completion| {
            (completion.outcome, completion.sent) = (outcome, Timestamp::MAX);
        });
        assert_eq!(record.check(), Ok(()));
        let totals = &record.totals;
        assert_eq!(totals.ledger.ended(), ended);
        assert_eq!(totals.ledger.skipped, 10_000 - ended);
        assert_eq!(totals.ledger.unsent, ended - 9000);
        for times in [&totals.response_time_ns, &totals.service_time_ns] {
            assert_eq!(
                (times.count, times.min, times.max),
                (9000, 100_000, 100_000)
            );
        }
        assert!(totals.kinds[0].failed_time_ns.is_empty());
    }
}
