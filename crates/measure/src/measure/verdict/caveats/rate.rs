//! Finds clients that moved less than their rate, and the cause.

use crate::measure::caveat::Caveat;
use crate::measure::caveat::thresholds::RATE_OFF_PERCENT;
use crate::measure::fleet_record::{FleetRecord, GroupRecord};
use crate::measure::flow::{LINK_FULL_PERCENT, LinkUse};
use crate::measure::run_record::RunRecord;
use crate::measure::shortfall::Shortfall;
use crate::measure::verdict::load;
use filestone_plan::plan::Pacing;

/// A replay that misses a part of its rate is late by that part of the window at its end; this is
/// the minimum share of that delay for a caveat.
const LATE_SHARE: f64 = 0.5;

/// Returns the caveat about the group of a fleet with the lowest share of its rate, if that is too
/// low.
pub fn of_fleet(record: &RunRecord, fleet: &FleetRecord) -> Option<Caveat> {
    let kept = |group: &GroupRecord| group.counters.kept_percent();
    let groups = fleet.groups.iter();
    let rated = groups.filter_map(|group| Some((group, kept(group)?)));
    let (group, kept_percent) = rated.min_by(|one, other| one.1.total_cmp(&other.1))?;
    missed(
        record,
        format!("clients of group {}", group.name),
        kept_percent,
    )
}

/// Returns the caveat about a replay with a rate in bytes per second per client.
pub fn of_replay(record: &RunRecord) -> Option<Caveat> {
    let kept_percent = kept_by_replay(record)?;
    missed(record, "clients".into(), kept_percent)
}

/// Returns the achieved share of a replay's rate, in percent.
fn kept_by_replay(record: &RunRecord) -> Option<f64> {
    let Pacing::Rate { bytes_per_s } = record.plan.replay()?.pacing else {
        return None;
    };
    let replay = record.replay.as_ref()?;
    let seconds = record.window_ns.max(1) as f64 / 1e9;
    let moved = (replay.bytes_read + replay.bytes_written) as f64 / seconds;
    let asked = bytes_per_s * f64::from(record.plan.clients);
    let kept = moved / asked;
    // No rate applies to pauses of the workload and to clients that are done. A client that misses
    // its rate is late.
    let lag_ns = record.totals.slot_wait_ns.max as f64;
    let is_late = lag_ns >= LATE_SHARE * (1.0 - kept) * record.window_ns as f64;
    (asked > 0.0 && is_late).then_some(100.0 * kept)
}

fn missed(record: &RunRecord, who: String, kept_percent: f64) -> Option<Caveat> {
    (kept_percent < 100.0 - RATE_OFF_PERCENT).then(|| Caveat::RateMissed {
        who,
        kept_percent,
        service_time_mean_ns: record.totals.service_time_ns.mean,
        cause: cause(record, kept_percent),
    })
}

/// Returns the cause of a missed rate.
fn cause(record: &RunRecord, kept_percent: f64) -> Shortfall {
    let totals = &record.totals;
    let missing = 1.0 - kept_percent / 100.0;
    let of_clients = |nanos: u64| {
        let clients = f64::from(record.plan.clients.max(1));
        nanos as f64 / (clients * record.window_ns.max(1) as f64)
    };
    let failing = record.fleet.as_ref().map_or(0, |fleet| {
        let groups = fleet.groups.iter();
        groups.map(|group| group.counters.failing_ns).sum()
    });
    if of_clients(totals.disconnected_ns) > 0.5 * missing {
        Shortfall::Connection
    } else if of_clients(failing) > 0.5 * missing {
        Shortfall::Errors
    } else if load::is_generator_behind(record) {
        Shortfall::Generator
    } else if LinkUse::of(record).is_some_and(|used| used.percent() >= LINK_FULL_PERCENT) {
        Shortfall::Link
    } else {
        Shortfall::Slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::fleet_record::FleetCounters;
    use crate::measure::replay_record::ReplayRecord;
    use crate::measure::run_record::Tool;
    use filestone_plan::plan::{LocalTarget, Plan, ReplayPlan, TargetPlan, WorkloadPlan};
    use filestone_workload::recording::{Distribution, DistributionRecord};

    const SECOND: u64 = 1_000_000_000;

    fn times(nanos: u64) -> DistributionRecord {
        let mut times = Distribution::<u64>::new();
        (0..100).for_each(|_| times.record(nanos));
        times.to_record()
    }

    /// Two clients for 10 s, 33 ms for each transfer.
    fn run() -> RunRecord {
        let target = TargetPlan::Local(LocalTarget { directory: None });
        let pacing = Pacing::Rate { bytes_per_s: 1e6 };
        let workload = WorkloadPlan::LoadFile(ReplayPlan {
            pacing,
            ..ReplayPlan::new(vec![], vec![])
        });
        let plan = Plan {
            clients: 2,
            ..Plan::new("replay", target, workload, 1)
        };
        let mut record = RunRecord::new(plan, Tool::release("0"));
        record.window_ns = 10 * SECOND;
        record.totals.service_time_ns = times(33_000_000);
        record
    }

    fn group(scheduled_ns: u64, behind_ns: u64) -> GroupRecord {
        GroupRecord {
            name: "writers".into(),
            clients: 2,
            counters: FleetCounters {
                scheduled_ns,
                behind_ns,
                ..FleetCounters::default()
            },
            ..GroupRecord::default()
        }
    }

    fn fleet(groups: Vec<GroupRecord>) -> FleetRecord {
        FleetRecord {
            groups,
            ..FleetRecord::default()
        }
    }

    #[test]
    fn the_group_that_kept_the_least_of_its_rate_is_told_with_the_bottleneck() {
        let mut record = run();
        // 5 s of transfers in 10 s, and 400 ms of 20 s.
        let of = fleet(vec![group(5 * SECOND, 5 * SECOND), group(SECOND / 10, 0)]);
        let Some(caveat) = of_fleet(&record, &of) else {
            panic!("half of the rate");
        };
        let said = caveat.sentence().0;
        assert_eq!(
            said,
            "clients of group writers kept 50.0 % of the rate asked for: a client has one transfer under way \
             at a time, and the server took 33.0 ms for each on average"
        );
        record.totals.disconnected_ns = 8 * SECOND;
        let cause = |record: &RunRecord| match of_fleet(record, &of) {
            Some(Caveat::RateMissed { cause, .. }) => Some(cause),
            _ => None,
        };
        assert_eq!(cause(&record), Some(Shortfall::Connection));
        record.totals.disconnected_ns = 0;
        record.totals.response_time_ns = times(33_000_000);
        record.totals.dispatch_delay_ns = times(20_000_000);
        assert_eq!(cause(&record), Some(Shortfall::Generator));
    }

    #[test]
    fn a_rate_that_was_kept_and_clients_without_one_say_nothing() {
        let record = run();
        let of = |behind_ns| of_fleet(&record, &fleet(vec![group(10 * SECOND, behind_ns)]));
        assert_eq!(of(SECOND / 5), None, "98.04 %");
        assert!(of(SECOND / 4).is_some(), "97.6 %");
        assert_eq!(of_fleet(&record, &fleet(vec![group(0, 0)])), None);
    }

    #[test]
    fn a_replay_misses_its_rate_only_if_it_is_late() {
        let mut record = run();
        record.replay = Some(ReplayRecord {
            bytes_read: 400_000,
            ..ReplayRecord::default()
        });
        // 2 % of 20 MB were moved; pauses of the workload explain that, unless lines were late.
        assert_eq!(of_replay(&record), None);
        record.totals.slot_wait_ns = times(9 * SECOND);
        let Some(Caveat::RateMissed { kept_percent, .. }) = of_replay(&record) else {
            panic!("2 % of the rate");
        };
        assert!((kept_percent - 2.0).abs() < 1e-9, "{kept_percent}");
    }
}
