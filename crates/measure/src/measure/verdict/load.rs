//! Checks of every run: whether the load was as requested, and the cause if not.

mod shortfall;

pub(super) use shortfall::is_generator_behind;
pub use shortfall::of_warm_up;

use super::{Bound, Check, CheckSubject, InconclusiveReason, STANDARD_ERRORS, Verdict};
use crate::measure::caveat::thresholds::{
    ACHIEVED_OFF_PERCENT, BUSY_PERCENT, DISPATCH_SHARE, UNEXPECTED_PERCENT,
};
use crate::measure::generator_record::Host;
use crate::measure::job_record::{HostRecord, JobRecord};
use crate::measure::mix_record::WireRecord;
use crate::measure::processors::ProcessorsRecord;
use crate::measure::run_record::{IntervalRecord, Phase, RunOutcome, RunRecord, WorkerRecord};
use crate::measure::shortfall::Shortfall;
use crate::measure::unexpected;
use filestone_plan::mix::feedback::CORRECTION_NS;
use filestone_plan::plan::ArrivalsPlan;
use filestone_workload::recording::distribution::DistributionRecord;
use filestone_workload::recording::ledger::Ledger;
use std::collections::BTreeSet;

/// Dispatch delay in nanoseconds that is never too large: the time of a CPU to wake up and to send a
/// call.
const DISPATCH_FLOOR_NS: f64 = 5000.0;
/// Maximum difference for a mix, a condition of validity. LADDIS and SFS had similar rules.
const ACHIEVED_OFF_PERCENT_OF_MIX: f64 = 2.0;

/// Returns the load of an open loop that could be achieved, in operations per second; with random
/// arrivals for a fixed time, the number of due operations is random. `None` for a closed loop.
///
/// For a mix through a kernel mount, the load is the offered one in calls per second: filestone
/// corrects the due load until that many calls are on the network.
pub fn due_load_ops_per_s(record: &RunRecord) -> Option<f64> {
    if record.is_in_calls() {
        return record.totals.offered_load_ops_per_s;
    }
    match record.plan.arrivals {
        ArrivalsPlan::Poisson { .. } if record.plan.count.is_none() => {
            let scheduled = record.totals.ledger.scheduled as f64;
            Some(scheduled * 1e9 / record.window_ns.max(1) as f64)
        }
        _ => record.totals.offered_load_ops_per_s,
    }
}

/// Returns the achieved part of [`due_load_ops_per_s`]: successful operations, or calls on the
/// network if the offered load is in calls. Without counters, requested calls are used.
pub fn achieved_load_ops_per_s(record: &RunRecord) -> f64 {
    let per_second = |count: u64| count as f64 * 1e9 / record.window_ns.max(1) as f64;
    let asked_calls = record.mix.as_ref().and_then(|mix| mix.asked_calls);
    match wire(record).map(|wire| wire.calls).or(asked_calls) {
        Some(calls) => per_second(calls),
        None => record.totals.achieved_load_ops_per_s,
    }
}

/// Returns the calls on the network, of a mix through a kernel mount.
fn wire(record: &RunRecord) -> Option<&WireRecord> {
    record.mix.as_ref().and_then(|mix| mix.wire.as_ref())
}

/// Checks the achieved against the due load. A higher load fails as well as a lower one: the run
/// then measured the backlog of the warm-up and not the offered load.
pub(super) fn achieved(record: &RunRecord) -> Option<Check> {
    let due_ops_per_s = due_load_ops_per_s(record).filter(|due| *due > 0.0)?;
    // An operation that fails as expected counts as achieved.
    let expected = if record.is_in_calls() {
        0
    } else {
        record.totals.ledger.expected
    };
    let expected_per_s = expected as f64 * 1e9 / record.window_ns.max(1) as f64;
    let achieved_ops_per_s = achieved_load_ops_per_s(record) + expected_per_s;
    let off = match record.plan.mix() {
        None => ACHIEVED_OFF_PERCENT,
        Some(_) => ACHIEVED_OFF_PERCENT_OF_MIX,
    };
    let bound = Bound::around(100.0, off);
    let raw = 100.0 * achieved_ops_per_s / due_ops_per_s;
    let mut percent = raw * without_the_start(record);
    // Operations that cross the ends of the window of a valid run do not make its load exceed
    // 100 %.
    let is_of_ends = raw <= 100.0 || bound.holds(percent);
    if !record.is_in_calls() && percent > 100.0 && is_of_ends {
        percent = 100.0;
    }
    let chance = 100.0 * chance_of_load(record, due_ops_per_s, achieved_ops_per_s);
    let left_over = if record.is_in_calls() {
        0
    } else {
        record.totals.left_over(record.window_ns)
    };
    let subject = |shortfall| CheckSubject::Achieved {
        due_ops_per_s,
        achieved_ops_per_s,
        left_over,
        shortfall,
    };
    let mut check = Check::judged(subject(None), percent, bound, chance);
    if check.fails() && percent < 100.0 {
        let least = 1.0 - off / 100.0;
        check.subject = subject(Some(shortfall::of(record, due_ops_per_s, least)));
    }
    let is_finished = record.end == RunOutcome::Finished;
    Some(check.unless((!is_finished).then_some(InconclusiveReason::EndedEarly)))
}

/// Returns the factor, at least 1, that corrects the achieved load, which is too low because
/// nothing was in flight when the window opened, or because a fixed count closes it with the last
/// reply: for one response time of the window, no operations end that would end in the middle of a
/// run. 1 if a warm-up filled the window.
///
/// The response time is that of the first interval: in an overload the following ones grow with the
/// backlog and do not describe the start.
fn without_the_start(record: &RunRecord) -> f64 {
    let is_filled = record.plan.warm_up_ns > 0 && record.plan.count.is_none();
    if is_filled || record.is_in_calls() {
        return 1.0;
    }
    let of_interval = |interval: &IntervalRecord| {
        let times = interval.response_time();
        times
            .filter(|times| times.count > 0)
            .map(|times| times.mean)
    };
    let measured = record.intervals.iter();
    let first = measured
        .filter(|interval| interval.phase == Phase::Measure)
        .find_map(of_interval);
    let start = first.unwrap_or(record.totals.response_time_ns.mean);
    let window = record.window_ns.max(1) as f64;
    window / (window - start.clamp(0.0, 0.5 * window))
}

/// Returns half of the 95 % interval of achieved load over due load, as a share.
///
/// - The time of n random arrivals has a relative standard deviation of 1/√n.
/// - Calls on the network since the last two corrections have not been compensated.
/// - The number in flight at one end of the window is approximately a Poisson count, independent of
///   that at the other end.
fn chance_of_load(record: &RunRecord, due_ops_per_s: f64, achieved_ops_per_s: f64) -> f64 {
    let seconds = record.window_ns.max(1) as f64 / 1e9;
    let due = record
        .plan
        .count
        .map_or(due_ops_per_s * seconds, |count| count as f64);
    let all = due.max(1.0);
    let variance = match (wire(record), record.plan.arrivals, record.plan.count) {
        (Some(_), ..) => 2.0 * due_ops_per_s * CORRECTION_NS as f64 / 1e9,
        (None, ArrivalsPlan::Poisson { .. }, Some(_)) => all,
        _ => 0.0,
    };
    let in_flight = achieved_ops_per_s * record.totals.response_time_ns.mean / 1e9;
    let at_ends = if record.is_in_calls() {
        0.0
    } else {
        2.0 * in_flight.min(all)
    };
    STANDARD_ERRORS * (variance + at_ends).sqrt() / all
}

/// Checks the delay of the load generator, in an open loop.
pub(super) fn dispatch(record: &RunRecord) -> Option<Check> {
    let totals = &record.totals;
    let (late, response) = (&totals.dispatch_delay_ns, &totals.response_time_ns);
    let is_open = totals.offered_load_ops_per_s.is_some();
    if !is_open || late.count == 0 || response.mean <= 0.0 {
        return None;
    }
    let subject = CheckSubject::DispatchDelay {
        p99_ns: late.p99,
        response_time_mean_ns: response.mean,
    };
    let bound = Bound::at_most((DISPATCH_SHARE * response.mean).max(DISPATCH_FLOOR_NS));
    Some(Check::judged(
        subject,
        late.mean,
        bound,
        chance_of_mean(late),
    ))
}

/// Returns half of the 95 % interval of the mean of independent values.
fn chance_of_mean(times: &DistributionRecord) -> f64 {
    let count = times.count.max(1) as f64;
    let variance = times.moment_sum(2) / count - times.mean.powi(2);
    STANDARD_ERRORS * (variance.max(0.0) / count).sqrt()
}

/// CPU use of the load generator relative to its available CPU time; in a job, that of the host
/// with the highest use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneratorUse {
    /// Number of the busiest worker.
    pub worker: u32,
    /// Number of workers, or of workers that share the CPUs, if `percent` is that of all of these.
    pub workers: u32,
    /// CPU time of the busiest worker in percent of the window; or that of all workers in percent
    /// of the time of their available CPUs, if that is higher.
    pub percent: f64,
    /// Number of these CPUs, if `percent` is that of all workers.
    pub processors: Option<f64>,
}

/// Returns the CPU use. The busiest worker has at most one CPU, and all workers have at most the
/// available ones: many workers on few CPUs each show low use when no CPU time is left. `None`
/// without workers.
///
/// The hosts of a job do not share CPUs: a host without CPU time left is not helped by another.
/// Without an assignment of workers to hosts, only the busiest of them is used, if it is the
/// bottleneck.
pub fn generator_use(record: &RunRecord) -> Option<GeneratorUse> {
    let (workers, all) = (&record.totals.workers, record.plan.workers);
    let Some(job) = &record.job else {
        let bound: BTreeSet<u32> = record.plan.pin.iter().copied().collect();
        let bound = bound.len() as u32;
        let processors = processors_of(&record.host, record.processors.as_ref(), bound);
        return use_of(workers, [all, all], processors);
    };
    let Some(hosts) = workers_of_hosts(job, workers) else {
        return use_of(workers, [all, all], 0.0).filter(|used| used.percent > BUSY_PERCENT);
    };
    let used = hosts.into_iter().filter_map(|(host, own)| {
        let bound = host.bound_processors;
        let processors = processors_of(&host.host, host.processors.as_ref(), bound);
        use_of(own, [all, host.workers], processors)
    });
    used.max_by(|one, other| one.percent.total_cmp(&other.percent))
}

/// Returns the CPU use of these workers with `processors` CPUs. `of` contains the numbers of all
/// workers, and of those that share the CPUs.
fn use_of(workers: &[WorkerRecord], of: [u32; 2], processors: f64) -> Option<GeneratorUse> {
    let busy = |worker: &&WorkerRecord| worker.busy_percent;
    let busiest = workers
        .iter()
        .max_by(|one, other| busy(one).total_cmp(&busy(other)))?;
    let sum: f64 = workers.iter().map(|worker| worker.busy_percent).sum();
    let processors = Some(processors).filter(|processors| *processors > 0.0);
    let of_all = processors.map_or(0.0, |processors| sum / processors);
    let is_shared = of_all > busiest.busy_percent;
    let [all, sharing] = of;
    // The last clock reading may be slightly after the end of the window.
    Some(GeneratorUse {
        worker: busiest.worker,
        workers: if is_shared { sharing } else { all },
        percent: of_all.max(busiest.busy_percent).min(100.0),
        processors: processors.filter(|_| is_shared),
    })
}

/// Returns the number of CPUs available to the workers of a host: limited by the CPU affinity of
/// the process, by `--pin` and by the quota.
fn processors_of(host: &Host, seen: Option<&ProcessorsRecord>, bound: u32) -> f64 {
    let allowed = seen.map_or(host.cpus, |seen| seen.processors);
    let processors = f64::from(match bound {
        0 => allowed,
        bound => allowed.min(bound),
    });
    let quota = seen.and_then(|seen| seen.absence.as_ref()?.quota);
    quota.map_or(processors, |quota| processors.min(quota))
}

/// Returns the workers of each host, which are in the order of the hosts; `None` if the numbers do
/// not match.
fn workers_of_hosts<'record>(
    job: &'record JobRecord,
    workers: &'record [WorkerRecord],
) -> Option<Vec<(&'record HostRecord, &'record [WorkerRecord])>> {
    let (mut hosts, mut rest) = (Vec::new(), workers);
    for host in &job.hosts {
        let (own, others) = rest.split_at_checked(host.workers as usize)?;
        hosts.push((host, own));
        rest = others;
    }
    rest.is_empty().then_some(hosts)
}

/// Checks the CPU time left to the load generator. In an open loop the check is only conclusive if
/// load was lost.
pub(super) fn headroom(record: &RunRecord, achieved: Option<&Check>) -> Option<Check> {
    let used = generator_use(record)?;
    let subject = CheckSubject::Headroom {
        worker: used.worker,
        workers: used.workers,
        processors: used.processors,
    };
    let check = Check::judged(subject, used.percent, Bound::at_most(BUSY_PERCENT), 0.0);
    let is_open = due_load_ops_per_s(record).is_some();
    Some(match check.verdict {
        Verdict::Fails if is_open && !achieved.is_some_and(was_lost) => {
            check.unless(Some(InconclusiveReason::NothingLost))
        }
        _ => check,
    })
}

/// Returns whether the achieved load is below the due load for another reason than errors.
fn was_lost(achieved: &Check) -> bool {
    matches!(
        achieved.subject,
        CheckSubject::Achieved {
            shortfall: Some(
                Shortfall::Generator | Shortfall::Slots | Shortfall::Server | Shortfall::Connection
            ),
            ..
        }
    )
}

/// Checks the share of operations with an unexpected outcome.
pub(super) fn unexpected(record: &RunRecord) -> Check {
    let (count, completed) = unexpected::counts(record);
    let percent = unexpected::percent(count, completed);
    let bound = Bound::at_most(UNEXPECTED_PERCENT);
    let subject = CheckSubject::Unexpected { count, completed };
    Check::judged(subject, percent, bound, 0.0)
}

/// Checks that no operation was due and never sent.
pub(super) fn skipped(ledger: &Ledger) -> Check {
    let subject = CheckSubject::Skipped {
        scheduled: ledger.scheduled,
    };
    let count = ledger.skipped as f64;
    Check::judged(subject, count, Bound::at_most(0.0), 0.0)
}

#[cfg(test)]
mod tests;
