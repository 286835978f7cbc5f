//! Finds caveats about the hosts of a job.

use crate::measure::HostDifference;
use crate::measure::caveat::Caveat;
use crate::measure::caveat::thresholds::SLOWER_TIMES;
use crate::measure::job_record::{HostRecord, JobRecord};
use crate::measure::run_record::RunRecord;
use filestone_workload::statistics::median;
use filestone_workload::text::seconds_of_rfc3339;

/// Share of the median of the others below which the achieved load of a host's clients counts as
/// less.
const LESS_SHARE: f64 = 0.95;
/// Ratio to the median of the others from which a host's dispatch delay counts as late,
const LATER_TIMES: f64 = 4.0;
/// if the difference also exceeds this, in nanoseconds.
const LATER_FLOOR_NS: f64 = 1e6;

/// Returns the caveats about the hosts of a job, and the hosts' caveats that the job's figures do
/// not show. `found` contains the caveats found in the job's figures.
pub fn find(record: &RunRecord, job: &JobRecord, found: &[Caveat]) -> Vec<Caveat> {
    let mut caveats: Vec<Caveat> = job
        .lost
        .iter()
        .map(|lost| Caveat::HostLost {
            host: lost.name.clone(),
            phase: lost.phase.clone(),
            reason: lost.reason.clone(),
        })
        .collect();
    let places = 0..job.hosts.len();
    caveats.extend(places.filter_map(|place| difference(&job.hosts, place)));
    caveats.extend(job.hosts.iter().filter_map(|host| doubts(host, found)));
    let apart_ns = apart_ns(&job.hosts);
    if apart_ns > record.plan.interval_ns {
        caveats.push(Caveat::StartSkew {
            start_skew_ns: apart_ns,
            interval_ns: record.plan.interval_ns,
        });
    }
    caveats
}

/// Returns how the host at `place` differs from the others, if it does; only the most important
/// difference.
fn difference(hosts: &[HostRecord], place: usize) -> Option<Caveat> {
    let host = hosts.get(place)?;
    let others: Vec<&HostRecord> = hosts
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != place)
        .map(|(_, host)| host)
        .collect();
    let compared = |difference, figure: fn(&HostRecord) -> f64, differs: fn(f64, f64) -> bool| {
        let (figure_of_host, median) = (figure(host), median(others.iter().map(|it| figure(it)))?);
        differs(figure_of_host, median).then(|| Caveat::HostDiffers {
            host: host.name.clone(),
            difference,
            figure: figure_of_host,
            median,
        })
    };
    let slower = compared(
        HostDifference::Slower,
        |host| host.response_time_mean_ns,
        |own, median| median > 0.0 && own > SLOWER_TIMES * median,
    );
    let later = || {
        compared(
            HostDifference::Later,
            |host| host.dispatch_delay_p99_ns as f64,
            |own, median| own > LATER_FLOOR_NS && own > LATER_TIMES * median,
        )
    };
    let less = || {
        compared(
            HostDifference::Less,
            |host| host.achieved_load_ops_per_s / f64::from(host.clients.max(1)),
            |own, median| own < LESS_SHARE * median,
        )
    };
    // In an open loop, the number of operations due on each host is random.
    let is_closed = host.offered_load_ops_per_s.is_none();
    let less = || is_closed.then(less).flatten();
    slower.or_else(later).or_else(less)
}

/// Returns a host's caveats, without those found in the job's figures.
fn doubts(host: &HostRecord, found: &[Caveat]) -> Option<Caveat> {
    let is_new = |caveat: &&Caveat| !found.iter().any(|known| known.id() == caveat.id());
    let own = host.caveats.iter().filter(is_new);
    let caveats: Vec<String> = own.map(|caveat| caveat.sentence().0).collect();
    (!caveats.is_empty()).then(|| Caveat::HostSuspect {
        host: host.name.clone(),
        caveats,
    })
}

/// Returns how far apart the hosts may have started, in nanoseconds: by their clocks if these were
/// compared, otherwise by the times of day in their records.
fn apart_ns(hosts: &[HostRecord]) -> u64 {
    let mut uncertain: Vec<u64> = hosts
        .iter()
        .filter_map(|host| Some(host.clock?.start_uncertainty_ns()))
        .collect();
    if uncertain.len() == hosts.len() {
        uncertain.sort_unstable();
        return uncertain.iter().rev().take(2).sum();
    }
    let starts = hosts
        .iter()
        .filter_map(|host| seconds_of_rfc3339(&host.started_at));
    let starts: Vec<f64> = starts.collect();
    let first = starts.iter().copied().fold(f64::INFINITY, f64::min);
    let last = starts.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    ((last - first).max(0.0) * 1e9) as u64
}
