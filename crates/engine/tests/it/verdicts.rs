//! Whether runs count, of runs whose answers are known on paper: the whole worker loop in virtual
//! time, judged as every run is.

use crate::support::{SECOND, plan, run, server};
use filestone_model::measure::Caveat;
use filestone_model::measure::Shortfall;
use filestone_model::measure::run_record::Tool;
use filestone_model::measure::verdict::caveats::find;
use filestone_model::measure::verdict::{Subject, Verdict, checks};
use filestone_model::measure::{RunRecord, run_record};
use filestone_model::plan::{ArrivalsPlan, Plan};
use filestone_model::queueing::{Service, SimulatedServer, Stall};

/// The record of a run against a server on another host.
fn record(plan: Plan, server: SimulatedServer) -> RunRecord {
    let run = run(&plan, server);
    // Nobody's processor was used in virtual time.
    let worker = run_record::WorkerRecord {
        worker: 0,
        clients: plan.clients,
        cpu_ns: 0,
        spun_ns: 0,
        busy_percent: 0.0,
        waited_percent: 0.0,
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
    let half = || server(Service::Exponential { mean_ns: 500_000.0 }, None);
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
        let all_hold = checks.iter().all(|check| check.verdict == Verdict::Holds);
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
    let slow = || server(Service::Fixed { ns: MS }, Some(1));
    assert_eq!(
        below(100_000, slow()),
        Some((1000.0, Some(Shortfall::Server)))
    );
    // with fewer, the run does not tell whether it would have answered more of more in flight,
    assert_eq!(below(64, slow()), Some((1000.0, Some(Shortfall::Slots))));
    // as one does that takes 2 ms, however many there are: two slots are 1,000 per second.
    let wide = server(Service::Fixed { ns: 2 * MS }, None);
    assert_eq!(below(2, wide), Some((1000.0, Some(Shortfall::Slots))));
}

#[test]
fn what_ends_after_a_window_without_a_warm_up_is_no_shortfall() {
    // 950 of 1,000 end in the second in which they are due, since each takes 50 ms.
    for arrivals in [constant(1000.0), poisson(1000.0)] {
        let plan = plan(arrivals, 1024, 1);
        let record = record(plan, server(Service::Fixed { ns: 50_000_000 }, None));
        let below = |caveat: &Caveat| matches!(caveat, Caveat::AchievedBelowOffered { .. });
        let caveats = find(&record);
        assert!(!caveats.iter().any(below), "{arrivals:?}: {caveats:?}");
    }
    // A twentieth more than the server can do is found without a warm-up, too.
    let plan = plan(constant(1050.0), 2000, 10);
    let record = record(plan, server(Service::Fixed { ns: 1_000_000 }, Some(1)));
    let below = |caveat: &Caveat| matches!(caveat, Caveat::AchievedBelowOffered { .. });
    assert!(find(&record).iter().any(below), "{:?}", checks(&record));
}

#[test]
fn what_a_warm_up_left_over_is_named() {
    // It does nothing for the second of the warm-up, and then all that was due in it at once.
    let mut frozen = server(Service::Fixed { ns: 100_000 }, None);
    frozen.stalls.push(Stall {
        start_ns: 0,
        lasts_ns: SECOND,
    });
    let mut plan = plan(constant(1000.0), 2000, 10);
    plan.warm_up_ns = SECOND;
    let record = record(plan, frozen);
    let caveats = find(&record);
    let left_over = caveats.iter().find_map(|caveat| match caveat {
        Caveat::AchievedAboveOffered { left_over, .. } => Some(*left_over),
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
    let mut record = record(plan, server(Service::Fixed { ns: 500_000 }, None));
    // So long did a hundred random arrivals take: a tenth more than on average.
    record.window_ns = 110_000_000;
    record.totals.achieved_load_ops_per_s = 100.0 / 0.11;
    let checks = checks(&record);
    let achieved = checks
        .iter()
        .find(|check| matches!(check.subject, Subject::Achieved { .. }));
    // 91 ± 20 %.
    let achieved = achieved.expect("an open loop");
    assert!(
        matches!(achieved.verdict, Verdict::CannotTell(_)),
        "{achieved:?}"
    );
    assert_eq!(
        (achieved.figure.round(), achieved.chance.round()),
        (91.0, 20.0)
    );
}
