//! Tests of a fleet's counters after the last operations have begun.

use super::*;
use filestone_host::control::NoObserver;
use filestone_plan::plan::{
    Direction, GroupPlan, HealthPlan, LeftoverPolicy, LocalTarget, RatePlan, RateUnit, TargetPlan,
    ValueRange, WorkloadPlan,
};
use filestone_protocol::workload::{Next, Workload};
use filestone_workload::load::LoadWork;
use filestone_workload::operation::{Completion, SlotId};
use filestone_workload::recording::Role;
use filestone_workload::recording::sample::Sample;

const SECOND: u64 = 1_000_000_000;

/// Returns a plan of two clients with one write per second each, in a window of this length.
fn plan(duration_ns: Option<u64>) -> (Plan, FleetPlan) {
    let rate = RatePlan {
        unit: RateUnit::OperationsPerS,
        per_s: ValueRange::always(1.0),
    };
    let fleet = FleetPlan {
        name: "test".into(),
        groups: vec![GroupPlan {
            rate: Some(rate),
            ..GroupPlan::new("writers", 2, Direction::Write)
        }],
        more_targets: vec![],
        ramp: None,
        health: HealthPlan::default(),
        clients_per_thread: 1,
        left_over: LeftoverPolicy::default(),
        keep_files: false,
    };
    let directory = Some("/x".into());
    let target = TargetPlan::Local(LocalTarget { directory });
    let workload = WorkloadPlan::Fleet(Box::new(fleet.clone()));
    let plan = Plan {
        clients: 2,
        duration_ns,
        warm_up_ns: 0,
        ..Plan::new("fleet", target, workload, 7)
    };
    (plan, fleet)
}

/// Executes everything before the first write in no time.
fn begin_to_write(client: &mut Stream) {
    for _ in 0..10 {
        let Next::Unmeasured(LoadWork::Line(line)) = client.next(0, Timestamp::ZERO) else {
            return;
        };
        let kind = line.action.kind();
        client.ended(&Sample {
            kind,
            role: Role::Unmeasured,
            due: Timestamp::ZERO,
            ready: Timestamp::ZERO,
            completion: Completion::success(
                SlotId { client: 0, slot: 0 },
                Timestamp::ZERO,
                Timestamp::ZERO,
            ),
        });
    }
    panic!("it never writes");
}

/// Returns the share of their rates that clients kept, in percent, of a run of one second that
/// drains for ten more: as in the record, and as in a control reply.
fn kept_after_drain(duration_ns: Option<u64>, is_stopped: bool, halts: bool) -> [Option<f64>; 2] {
    let (plan, fleet) = plan(duration_ns);
    let fleet = Fleet::new(&plan, &fleet);
    (0..2).for_each(|number| begin_to_write(&mut fleet.client(number)));
    let end_run = AtomicBool::new(halts);
    let cancellations = Cancellations::default();
    let mut hook = fleet.hook(&Arc::default(), &cancellations);
    for (seconds, stage) in [(1, Stage::Running), (11, Stage::Running), (11, Stage::Done)] {
        let look = RunSnapshot {
            now: Timestamp::from_nanos(seconds * SECOND),
            stage,
            is_stopped,
            was_stopped: is_stopped,
            end_run: &end_run,
        };
        hook.poll(&look, &mut NoObserver);
    }
    let seen = lock(&fleet.seen);
    let last = seen.looks.back().expect("it was looked");
    let told = group_records(&fleet.shared, seen.moment(), seen.asked_until, None);
    [
        last.groups[0].kept_percent(),
        told[0].counters.kept_percent(),
    ]
}

#[test]
fn clients_fall_behind_by_nothing_while_a_run_drains() {
    // The second write of each is due at 1 s, when no more operations begin.
    let kept = [Some(100.0); 2];
    assert_eq!(kept_after_drain(Some(SECOND), false, false), kept);
    assert_eq!(kept_after_drain(None, true, false), kept);
    assert_eq!(kept_after_drain(None, false, true), kept);
    // One second of eleven.
    let behind = 100.0 / 11.0;
    for kept in kept_after_drain(None, false, false) {
        let kept = kept.expect("it has a rate");
        assert!((kept - behind).abs() < 0.01, "{kept}");
    }
}
