//! Finds caveats about parts of a run without progress: intervals that ended late, a load generator
//! that did not run, and a server that completed nothing.

use crate::measure::caveat::Caveat;
use crate::measure::caveat::thresholds::{EMPTY_TICKS, INTERVAL_TIMES};
use crate::measure::run_record::{IntervalRecord, Phase, RunRecord, TickRecord};
use filestone_plan::plan::TICK_NANOS;

/// Minimum number of successes that the rest of the run lets expect in a part without any,
const EXPECTED_MIN: f64 = 20.0;
/// and minimum length of that part, in median service times.
const MEDIANS: u64 = 10;

/// Returns the caveat about intervals that lasted much longer than planned: a worker did not run
/// while the window was open.
pub fn long_interval(record: &RunRecord) -> Option<Caveat> {
    let planned_ns = record.plan.interval_ns.max(TICK_NANOS);
    let long = || {
        let intervals = record.intervals.iter();
        intervals.filter(move |interval| is_long(interval, planned_ns))
    };
    let longest = long().max_by_key(|interval| length_ns(interval))?;
    Some(Caveat::LongInterval {
        from_ns: longest.start_ns,
        length_ns: length_ns(longest),
        planned_ns,
        count: long().count() as u64,
    })
}

fn is_long(interval: &IntervalRecord, planned_ns: u64) -> bool {
    let most = planned_ns.saturating_mul(INTERVAL_TIMES);
    interval.phase == Phase::Measure && length_ns(interval) > most
}

const fn length_ns(interval: &IntervalRecord) -> u64 {
    interval.end_ns.saturating_sub(interval.start_ns)
}

/// Returns the caveat if the load generator could not run for a part of the window. Nothing is
/// returned if a long interval shows it already.
pub fn did_not_run(record: &RunRecord) -> Option<Caveat> {
    let absence = record.processors.as_ref()?.absence.as_ref()?;
    let (cause, percent) = absence.cause(record.window_ns)?;
    let throttling = absence.throttling.unwrap_or_default();
    Some(Caveat::DidNotRun {
        cause,
        percent,
        from_ns: absence.gaps.longest_from_ns,
        length_ns: absence.gaps.longest_ns,
        throttled_periods: throttling.throttled,
        periods: throttling.periods,
    })
}

/// Consecutive ticks without an operation that ended as expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Stretch {
    from: u64,
    ticks: u64,
    /// Number of operations that ended in these ticks, with an unexpected outcome.
    failed: u64,
    /// Maximum response time in the tick that follows.
    response_time_max_ns: u64,
}

impl Stretch {
    const fn nanos(self) -> u64 {
        self.ticks * TICK_NANOS
    }
}

/// Returns the caveat about the longest part of the window without an operation that ended as
/// expected although some were in flight or failed. Parts without due operations do not count, nor
/// do operations that are too rare or too long for a conclusion.
pub fn nothing_completed(record: &RunRecord) -> Option<Caveat> {
    let stretches = stretches(record);
    let is_told = |stretch: &&Stretch| is_telling(record, stretch);
    let telling: Vec<&Stretch> = stretches.iter().filter(is_told).collect();
    let longest = telling.iter().max_by_key(|stretch| stretch.ticks)?;
    let from_ns = longest.from * TICK_NANOS;
    Some(Caveat::NothingCompleted {
        from_ns,
        to_ns: (from_ns + longest.nanos()).min(record.window_ns),
        failed: longest.failed,
        stretches: telling.len() as u64,
        total_ns: telling.iter().map(|stretch| stretch.nanos()).sum(),
    })
}

fn is_telling(record: &RunRecord, stretch: &Stretch) -> bool {
    let nanos = stretch.nanos();
    if overlaps_long_interval(record, stretch) {
        return false;
    }
    let totals = &record.totals;
    let was_under_way = {
        let rounded = nanos.saturating_sub(2 * TICK_NANOS);
        let unended =
            totals.ledger.timed_out + totals.ledger.disconnected + totals.ledger.in_flight;
        let is_at_end = stretch.from * TICK_NANOS + nanos >= record.window_ns;
        stretch.failed > 0
            || stretch.response_time_max_ns >= rounded
            || is_at_end && (unended > 0 || totals.response_time_ns.max >= rounded)
    };
    let rest_ns = record.window_ns.saturating_sub(nanos);
    let ok: u64 = record.ticks.iter().map(TickRecord::as_expected).sum();
    let expected = ok as f64 * nanos as f64 / rest_ns.max(TICK_NANOS) as f64;
    let is_expected = ok == 0 || expected >= EXPECTED_MIN;
    let is_long = nanos >= MEDIANS.saturating_mul(totals.service_time_ns.p50);
    was_under_way && is_expected && is_long
}

/// Operations that ended late in an interval that was too long are counted in its last tick, so the
/// position of its empty ticks is unknown.
fn overlaps_long_interval(record: &RunRecord, stretch: &Stretch) -> bool {
    let planned_ns = record.plan.interval_ns.max(TICK_NANOS);
    let (from, to) = (
        stretch.from * TICK_NANOS,
        stretch.from * TICK_NANOS + stretch.nanos(),
    );
    let mut intervals = record.intervals.iter();
    intervals.any(|interval| {
        is_long(interval, planned_ns) && interval.start_ns < to && from < interval.end_ns
    })
}

/// Returns all parts of the window that are long enough; none for a record without ticks.
fn stretches(record: &RunRecord) -> Vec<Stretch> {
    let whole = record.window_ns / TICK_NANOS;
    let mut stretches = Vec::new();
    let mut open = Stretch::default();
    let mut next = 0;
    for tick in &record.ticks {
        let place = tick.start_ns / TICK_NANOS;
        if place >= whole {
            break;
        }
        // A tick without a row in the record had no operations.
        open.ticks += place.saturating_sub(next);
        next = place + 1;
        if tick.as_expected() == 0 {
            open.ticks += 1;
            open.failed += tick.ended;
            continue;
        }
        open.response_time_max_ns = tick.response_time_max_ns;
        stretches.push(open);
        open = Stretch {
            from: next,
            ..Stretch::default()
        };
    }
    if !record.ticks.is_empty() {
        open.ticks += whole.saturating_sub(next);
        stretches.push(open);
    }
    stretches.retain(|stretch| stretch.ticks >= EMPTY_TICKS);
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::absence::{AbsenceCause, AbsenceRecord, WakeUpGaps};
    use crate::measure::mix_figures::tests::tick;
    use crate::measure::processors::ProcessorsRecord;
    use crate::measure::run_record::{RunOutcome, Tool};
    use filestone_plan::plan::{LocalTarget, Plan, ReplayPlan, TargetPlan, WorkloadPlan};
    use filestone_workload::recording::{Distribution, Ledger};

    const SECOND: u64 = 1_000_000_000;
    const MS: u64 = 1_000_000;

    /// Returns a closed loop of 4 s with 1,000 operations of `nanos` per tick, except from tick 12
    /// to tick 32, followed by a tick with one operation that took `spanning`.
    fn stalled(nanos: u64, spanning: u64, failed: u64) -> RunRecord {
        let target = TargetPlan::Local(LocalTarget { directory: None });
        let workload = WorkloadPlan::LoadFile(ReplayPlan::new(vec![], vec![]));
        let plan = Plan::new("probe", target, workload, 1);
        let mut record = RunRecord::new(plan, Tool::release("0"));
        record.end = RunOutcome::Finished;
        record.window_ns = 4 * SECOND;
        record.ticks = (0..40)
            .map(|place| match place {
                12..32 => TickRecord {
                    ok: Some(0),
                    ..tick(place, failed, nanos)
                },
                32 => TickRecord {
                    response_time_max_ns: spanning,
                    ..tick(place, 1000, nanos)
                },
                _ => tick(place, 1000, nanos),
            })
            .collect();
        let mut times = Distribution::<u64>::new();
        (0..1000).for_each(|_| times.record(nanos));
        record.totals.service_time_ns = times.to_record();
        record.totals.response_time_ns = times.to_record();
        record
    }

    #[test]
    fn a_closed_loop_in_which_nothing_completed_for_half_of_the_time_says_when() {
        let found = nothing_completed(&stalled(20_000, 2 * SECOND, 0));
        let expected = Caveat::NothingCompleted {
            from_ns: 1200 * MS,
            to_ns: 3200 * MS,
            failed: 0,
            stretches: 1,
            total_ns: 2 * SECOND,
        };
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn a_stretch_of_failures_alone_counts_as_one_in_which_nothing_completed() {
        let found = nothing_completed(&stalled(20_000, 20_000, 500));
        assert!(
            matches!(found, Some(Caveat::NothingCompleted { failed: 10_000, from_ns, .. }) if from_ns == 1200 * MS),
            "{found:?}"
        );
    }

    #[test]
    fn operations_that_fail_as_expected_or_are_not_sent_are_completed() {
        // Writes to a full share, which all fail as expected.
        let mut record = stalled(20_000, 20_000, 0);
        for tick in &mut record.ticks {
            (tick.ended, tick.ok, tick.untimed_as_expected) = (1000, Some(0), 1000);
        }
        (
            record.totals.response_time_ns,
            record.totals.service_time_ns,
        ) = Default::default();
        assert_eq!(nothing_completed(&record), None);
        // From tick 12 to tick 32 they fail otherwise.
        for tick in &mut record.ticks[12..32] {
            tick.untimed_as_expected = 0;
        }
        let found = nothing_completed(&record);
        assert!(
            matches!(found, Some(Caveat::NothingCompleted { failed: 20_000, from_ns, .. }) if from_ns == 1200 * MS),
            "{found:?}"
        );
    }

    #[test]
    fn a_pause_in_which_nothing_was_due_is_none() {
        // No operation spans it.
        assert_eq!(nothing_completed(&stalled(20_000, 20_000, 0)), None);
    }

    #[test]
    fn operations_that_take_long_or_are_rare_have_pauses_by_nature() {
        // 300 ms each: operations that end together leave empty ticks between.
        assert_eq!(nothing_completed(&stalled(300 * MS, 2 * SECOND, 0)), None);
        let mut rare = stalled(20_000, 2 * SECOND, 0);
        for tick in &mut rare.ticks {
            tick.ok = tick
                .ok
                .or((tick.start_ns % SECOND == 0).then_some(1))
                .or(Some(0));
        }
        assert_eq!(nothing_completed(&rare), None);
    }

    #[test]
    fn a_stretch_up_to_the_end_is_told_if_something_was_under_way() {
        let mut record = stalled(20_000, 20_000, 0);
        record.ticks.truncate(12);
        assert_eq!(nothing_completed(&record), None);
        record.totals.ledger = Ledger {
            in_flight: 8,
            ..Ledger::default()
        };
        let found = nothing_completed(&record);
        assert!(
            matches!(found, Some(Caveat::NothingCompleted { to_ns, .. }) if to_ns == 4 * SECOND),
            "{found:?}"
        );
    }

    #[test]
    fn healthy_ticks_and_records_without_ticks_have_none() {
        let mut record = stalled(20_000, 20_000, 0);
        record.ticks = (0..40).map(|place| tick(place, 1000, 20_000)).collect();
        assert_eq!(nothing_completed(&record), None);
        record.ticks.clear();
        assert_eq!(nothing_completed(&record), None);
    }

    fn interval(start_ns: u64, end_ns: u64) -> IntervalRecord {
        IntervalRecord {
            start_ns,
            end_ns,
            phase: Phase::Measure,
            settings: None,
            ledger: Ledger::default(),
            bytes_sent: 0,
            bytes_received: 0,
            client_cpu_ns: 0,
            kinds: vec![],
        }
    }

    #[test]
    fn an_interval_of_more_than_twice_its_length_is_told_with_its_place() {
        let mut record = stalled(20_000, 2 * SECOND, 0);
        record.plan.interval_ns = SECOND;
        record.intervals = vec![interval(0, SECOND), interval(SECOND, 3 * SECOND)];
        assert_eq!(long_interval(&record), None, "twice");
        record.intervals[1].end_ns = 4 * SECOND;
        let expected = Caveat::LongInterval {
            from_ns: SECOND,
            length_ns: 3 * SECOND,
            planned_ns: SECOND,
            count: 1,
        };
        assert_eq!(long_interval(&record), Some(expected));
        // The position of its empty ticks is unknown.
        assert_eq!(nothing_completed(&record), None);
        record.intervals[1].phase = Phase::Drain;
        assert_eq!(long_interval(&record), None);
    }

    #[test]
    fn a_load_generator_that_was_stopped_says_for_how_long() {
        let mut record = stalled(20_000, 20_000, 0);
        let gaps = WakeUpGaps {
            count: 1,
            total_ns: SECOND,
            longest_from_ns: SECOND,
            longest_ns: SECOND,
        };
        let mut absence = AbsenceRecord::default();
        let mut found = |absence: AbsenceRecord| {
            record.processors = Some(ProcessorsRecord {
                absence: Some(absence),
                ..ProcessorsRecord::default()
            });
            did_not_run(&record)
        };
        assert_eq!(found(absence), None);
        absence.gaps = gaps;
        let expected = Caveat::DidNotRun {
            cause: AbsenceCause::Stopped,
            percent: 25.0,
            from_ns: SECOND,
            length_ns: SECOND,
            throttled_periods: 0,
            periods: 0,
        };
        assert_eq!(found(absence), Some(expected));
    }
}
