//! Checks of every run: whether the load was what was asked for, and by whose doing not.

mod shortfall;

pub(super) use shortfall::is_generator_behind;
pub use shortfall::of_warm_up;

use super::{Bound, Check, CheckSubject, InconclusiveReason, STANDARD_ERRORS, Verdict};
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

/// A worker busier than this was the limit, or near it.
pub const BUSY_PERCENT: f64 = 95.0;
/// Lateness of our own above this share of the response time is too much,
pub const DISPATCH_SHARE: f64 = 0.01;
/// and above this share, in percent, the times are those of the load generator: the run does not
/// count,
pub const LATE_PERCENT_MAX: f64 = 33.0;
/// unless it is no more than this: what a processor takes to wake up and to send one call.
const DISPATCH_FLOOR_NS: f64 = 5000.0;
/// The achieved load may be so far from the one that was due, in percent.
pub const ACHIEVED_OFF_PERCENT: f64 = 1.0;
/// Of a mix: what a run must reach to count at all. LADDIS and SFS had rules of the kind.
const ACHIEVED_OFF_PERCENT_OF_MIX: f64 = 2.0;

/// What of an open loop's load could be achieved, in operations per second: of random arrivals
/// for a time, chance decides how many are due. `None` for a closed loop.
///
/// Of a mix through a kernel mount it is what was offered, in calls per second: what is due is
/// corrected until that many are on the wire.
pub fn due_load_ops_per_s(record: &RunRecord) -> Option<f64> {
    if is_in_calls(record) {
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

/// What was achieved of [`due_load_ops_per_s`]: operations that ended well, or where calls are what
/// is offered those on the wire. Without counters they are those that were asked for.
pub fn achieved_load_ops_per_s(record: &RunRecord) -> f64 {
    let per_second = |count: u64| count as f64 * 1e9 / record.window_ns.max(1) as f64;
    let asked_calls = record.mix.as_ref().and_then(|mix| mix.asked_calls);
    match wire(record).map(|wire| wire.calls).or(asked_calls) {
        Some(calls) => per_second(calls),
        None => record.totals.achieved_load_ops_per_s,
    }
}

/// Whether the offered load is in calls, of which an operation can be several: through a kernel
/// mount.
fn is_in_calls(record: &RunRecord) -> bool {
    let mix = record.mix.as_ref();
    mix.is_some_and(|mix| mix.wire.is_some() || mix.asked_calls.is_some())
}

/// What was seen on the wire, of a mix through a kernel mount.
fn wire(record: &RunRecord) -> Option<&WireRecord> {
    record.mix.as_ref().and_then(|mix| mix.wire.as_ref())
}

/// Achieved load over due load. More is as wrong as less: then what was measured is not the load
/// that was offered, but the working off of what the warm-up had left over.
pub(super) fn achieved(record: &RunRecord) -> Option<Check> {
    let due_ops_per_s = due_load_ops_per_s(record).filter(|due| *due > 0.0)?;
    // What fails as expected was done as it was asked for.
    let expected = if is_in_calls(record) {
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
    // What a sound run carries over the ends of its window is not more than all.
    let is_of_ends = raw <= 100.0 || bound.holds(percent);
    if !is_in_calls(record) && percent > 100.0 && is_of_ends {
        percent = 100.0;
    }
    let chance = 100.0 * chance_of_load(record, due_ops_per_s, achieved_ops_per_s);
    let left_over = if is_in_calls(record) {
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

/// By how much the achieved load is too low because nothing was in flight when the window opened,
/// or because a count closes it with the last reply: for one response time of the window nothing
/// ends that would end in the middle of a run. 1 where a warm-up filled it.
///
/// The response time is that of the first interval: in an overload those that follow grow with the
/// backlog, and that is no start.
fn without_the_start(record: &RunRecord) -> f64 {
    let is_filled = record.plan.warm_up_ns > 0 && record.plan.count.is_none();
    if is_filled || is_in_calls(record) {
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

/// Half of the 95 % interval of achieved load over due load, as a share.
///
/// - How long n random arrivals take has the standard deviation 1/√n of itself.
/// - What came on the wire since the last two corrections has not been evened out.
/// - What is in flight at one end of the window is a Poisson count or near it, and independent of
///   what is at the other.
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
    let at_ends = if is_in_calls(record) {
        0.0
    } else {
        2.0 * in_flight.min(all)
    };
    STANDARD_ERRORS * (variance + at_ends).sqrt() / all
}

/// How late we were ourselves, in an open loop.
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

/// Half of the 95 % interval of the mean of independent values.
fn chance_of_mean(times: &DistributionRecord) -> f64 {
    let count = times.count.max(1) as f64;
    let variance = times.moment_sum(2) / count - times.mean.powi(2);
    STANDARD_ERRORS * (variance.max(0.0) / count).sqrt()
}

/// How much of the processor time that it might have had the load generator used; of a job that of the host
/// which used most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneratorUse {
    /// The busiest worker.
    pub worker: u32,
    /// How many workers there are; those that share the processors, if it is these that count.
    pub workers: u32,
    /// Its processor time in percent of the window; or that of all workers, in percent of the time of the
    /// processors that they may use, if that is more.
    pub percent: f64,
    /// How many processors these are, if it is.
    pub processors: Option<f64>,
}

/// The busiest worker has one processor at most, and all of them have no more than there are: many
/// workers on few processors are each little busy when none is left. `None` without workers.
///
/// The hosts of a job do not share processors: one that has none left is not helped by another. Where it is
/// not known whose its workers are, that says no more than the busiest of them, if that is the limit.
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

/// What these workers used of so many processors: of all workers, and of those that share the processors, there
/// are so many.
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
    // A last look at the clock may be a little later than the window's end.
    Some(GeneratorUse {
        worker: busiest.worker,
        workers: if is_shared { sharing } else { all },
        percent: of_all.max(busiest.busy_percent).min(100.0),
        processors: processors.filter(|_| is_shared),
    })
}

/// The processors that the workers of a host may use: as many as the process may run on, as they are bound to,
/// if they are, and as its quota gives it the time of.
fn processors_of(host: &Host, seen: Option<&ProcessorsRecord>, bound: u32) -> f64 {
    let allowed = seen.map_or(host.cpus, |seen| seen.processors);
    let processors = f64::from(match bound {
        0 => allowed,
        bound => allowed.min(bound),
    });
    let quota = seen.and_then(|seen| seen.absence.as_ref()?.quota);
    quota.map_or(processors, |quota| processors.min(quota))
}

/// The workers of each host, which are in the order of their hosts; `None` if there are more or fewer.
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

/// How much of the load generator was left. Of an open loop that says nothing unless load was lost.
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

/// Whether less was achieved than was due, and not because of errors.
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

/// Operations that ended otherwise than expected.
pub(super) fn unexpected(record: &RunRecord) -> Check {
    let (count, completed) = unexpected::counts(record);
    let percent = unexpected::percent(count, completed);
    let bound = Bound::at_most(unexpected::UNEXPECTED_PERCENT);
    let subject = CheckSubject::Unexpected { count, completed };
    Check::judged(subject, percent, bound, 0.0)
}

/// What was due and never sent. Nothing may be.
pub(super) fn skipped(ledger: &Ledger) -> Check {
    let subject = CheckSubject::Skipped {
        scheduled: ledger.scheduled,
    };
    let count = ledger.skipped as f64;
    Check::judged(subject, count, Bound::at_most(0.0), 0.0)
}

#[cfg(test)]
mod tests;
