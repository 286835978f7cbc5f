//! Merging of the records of several hosts into the record of their job.

use super::merge_intervals::{merge_all, merge_ticks};
use super::merge_totals::merge_totals;
use filestone_measure::measure::figures::{BatchMeans, with_headline};
use filestone_measure::measure::job_record::{
    HostClockRecord, HostRecord, JobRecord, LostHostRecord,
};
use filestone_measure::measure::mix_figures::figures;
use filestone_measure::measure::mix_record::FileSetRecord;
use filestone_measure::measure::run_record::{
    Headroom, InvariantViolation, RunOutcome, RunRecord, Target, Totals,
};
use filestone_measure::measure::verdict::caveats;
use filestone_measure::measure::{ConnectionsRecord, ProcessorsRecord, gates, validity};
use filestone_plan::plan::Plan;
use filestone_workload::recording::RecordMerger;
use filestone_workload::recording::distribution::HistogramError;
use std::collections::BTreeSet;

/// Measurements of one host of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct HostRun {
    /// Name of the host.
    pub name: String,
    /// Index of its part, from 0.
    pub part: u32,
    /// Record of its part.
    pub record: RunRecord,
    /// Clock offset of the host, if the hosts compared clocks.
    pub clock: Option<HostClockRecord>,
}

impl HostRun {
    /// Creates the run of a host without clock comparison.
    pub fn independent(name: impl Into<String>, part: u32, record: RunRecord) -> Self {
        Self {
            name: name.into(),
            part,
            record,
            clock: None,
        }
    }
}

/// Error when records cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// There are no records.
    #[error("there are no records to merge")]
    Nothing,
    /// A histogram cannot be decoded.
    #[error("{host}: {source}")]
    Histogram {
        /// Host of the record.
        host: String,
        /// Cause.
        source: HistogramError,
    },
    /// A record violates an invariant.
    #[error("{host}: the record contradicts itself: {source}")]
    Contradiction {
        /// Host of the record.
        host: String,
        /// The violated invariant.
        source: InvariantViolation,
    },
    /// Some of the histograms cannot be merged with the others.
    #[error(transparent)]
    Steps(#[from] HistogramError),
}

/// Returns the record of `job`, given the hosts that ran parts and the lost ones, without the
/// values that [`evaluate`] derives.
///
/// Distributions are merged bucket by bucket: percentiles are those of all samples together.
pub fn merge(
    job: &Plan,
    runs: &[HostRun],
    lost: Vec<LostHostRecord>,
) -> Result<RunRecord, MergeError> {
    let first = runs.first().ok_or(MergeError::Nothing)?;
    check(runs)?;
    let records: Vec<&RunRecord> = runs.iter().map(|run| &run.record).collect();
    let merger = &mut RecordMerger::new();
    let window_ns = records.iter().map(|record| record.window_ns).max();
    let window_ns = window_ns.unwrap_or_default();
    let intervals: Vec<&[_]> = records.iter().map(|record| &*record.intervals).collect();
    let ticks: Vec<&[_]> = records.iter().map(|record| &*record.ticks).collect();
    let started_at = records.iter().map(|record| &*record.started_at).min();
    let mut merged = RunRecord {
        started_at: started_at.unwrap_or_default().into(),
        window_ns,
        host: first.record.host.clone(),
        target: target(&records),
        headroom: headroom(&records),
        processors: processors(&records),
        connections: connections(&records),
        end: end(&records),
        totals: Totals {
            offered_load_ops_per_s: offered(job, &records, &lost),
            ..merge_totals(merger, &records, window_ns)?
        },
        intervals: merge_all(merger, &intervals)?,
        ticks: merge_ticks(&ticks),
        job: Some(JobRecord {
            hosts: runs.iter().map(|run| host(run, runs)).collect(),
            lost,
        }),
        ..RunRecord::new(job.clone(), first.record.tool.clone())
    };
    let workers = records.iter().map(|record| record.plan.workers);
    merged.plan.workers = workers.fold(0, u32::saturating_add);
    if let Some(set) = file_set(&records) {
        let of_mix = figures(job, &merged.totals, &merged.ticks, window_ns, set);
        merged.mix = Some(of_mix);
    }
    Ok(merged)
}

/// Returns the load that these hosts offered together: the job's whole load only if no host was
/// lost.
///
/// A run with a load controller has no single offered load.
fn offered(job: &Plan, records: &[&RunRecord], lost: &[LostHostRecord]) -> Option<f64> {
    if job.steering.is_some() {
        return None;
    }
    if lost.is_empty() {
        return job.arrivals.offered_load();
    }
    let loads = records
        .iter()
        .map(|record| record.totals.offered_load_ops_per_s);
    loads.sum()
}

/// Derives values from a record's numbers: confidence intervals of its figures, caveats, validity,
/// gates. Caveats that the record already has, such as those of a load controller, are kept.
pub fn evaluate(record: &mut RunRecord) {
    record.totals = with_headline(&BatchMeans::of(record));
    let own = std::mem::take(&mut record.caveats);
    record.caveats = caveats::find(record);
    record.caveats.extend(own);
    decide(record);
}

/// Derives validity and gates from a record's caveats; called again after caveats were added.
pub fn decide(record: &mut RunRecord) {
    record.validity = Some(validity::of(record));
    record.gates = gates::evaluate(record);
}

fn check(runs: &[HostRun]) -> Result<(), MergeError> {
    for run in runs {
        run.record
            .check()
            .map_err(|source| MergeError::Contradiction {
                host: run.name.clone(),
                source,
            })?;
    }
    Ok(())
}

/// Returns the target of the first record, with the network links of all hosts.
fn target(records: &[&RunRecord]) -> Target {
    let first = records.first().map(|record| record.target.clone());
    let links = records.iter().map(|record| record.target.link_mbit_per_s);
    Target {
        link_mbit_per_s: links.sum(),
        local: records.iter().any(|record| record.target.local),
        ..first.unwrap_or_default()
    }
}

/// Returns the summed headroom of all hosts, with the worst lateness of any host.
fn headroom(records: &[&RunRecord]) -> Option<Headroom> {
    let all = records.iter().map(|record| record.headroom.clone());
    let all: Option<Vec<Headroom>> = all.collect();
    all?.into_iter().reduce(|sum, one| Headroom {
        engine_ops_per_s: sum.engine_ops_per_s + one.engine_ops_per_s,
        raw_ops_per_s: sum.raw_ops_per_s + one.raw_ops_per_s,
        engine_cpu_ns_per_op: sum.engine_cpu_ns_per_op.max(one.engine_cpu_ns_per_op),
        raw_cpu_ns_per_op: sum.raw_cpu_ns_per_op.max(one.raw_cpu_ns_per_op),
        timer_lateness_p50_ns: sum.timer_lateness_p50_ns.max(one.timer_lateness_p50_ns),
        timer_lateness_p99_ns: sum.timer_lateness_p99_ns.max(one.timer_lateness_p99_ns),
        ..sum
    })
}

/// Returns the CPU record of the host whose threads waited longest.
fn processors(records: &[&RunRecord]) -> Option<ProcessorsRecord> {
    let all = records
        .iter()
        .filter_map(|record| record.processors.clone());
    all.max_by(|one, other| {
        let of = |record: &ProcessorsRecord| record.longest_run_delay_by_others_percent;
        of(one).total_cmp(&of(other))
    })
}

/// Returns sums over the hosts, and the longest of their times.
fn connections(records: &[&RunRecord]) -> Option<ConnectionsRecord> {
    let all = records
        .iter()
        .filter_map(|record| record.connections.clone());
    all.reduce(|sum, one| ConnectionsRecord {
        made: sum.made + one.made,
        took_ns: sum.took_ns.max(one.took_ns),
        connect_time_p50_ns: sum.connect_time_p50_ns.max(one.connect_time_p50_ns),
        connect_time_p99_ns: sum.connect_time_p99_ns.max(one.connect_time_p99_ns),
        connect_time_max_ns: sum.connect_time_max_ns.max(one.connect_time_max_ns),
        refused_attempts: sum.refused_attempts + one.refused_attempts,
        memory: None,
    })
}

/// Returns the worst outcome of the hosts.
fn end(records: &[&RunRecord]) -> RunOutcome {
    let ends = || records.iter().map(|record| &record.end);
    let lost = ends().find(|end| matches!(end, RunOutcome::TargetLost { .. }));
    let interrupted = || ends().find(|end| matches!(end, RunOutcome::Interrupted));
    let worst = lost.or_else(interrupted);
    worst.cloned().unwrap_or(RunOutcome::Finished)
}

/// Returns the file sets of all hosts together.
fn file_set(records: &[&RunRecord]) -> Option<FileSetRecord> {
    let sets = records.iter().filter_map(|record| record.mix.as_ref());
    let sets = sets.map(|mix| mix.file_set.clone());
    sets.reduce(|mut sum, one| {
        sum.paths.extend(one.paths);
        FileSetRecord {
            files: sum.files + one.files,
            bytes: sum.bytes + one.bytes,
            working_files: sum.working_files + one.working_files,
            working_bytes: sum.working_bytes + one.working_bytes,
            other_objects: sum.other_objects + one.other_objects,
            found: sum.found + one.found,
            made: sum.made + one.made,
            prepared_ns: sum.prepared_ns.max(one.prepared_ns),
            removed: sum.removed && one.removed,
            paths: sum.paths,
        }
    })
}

/// Returns the entry of one host in the record of the job.
fn host(run: &HostRun, all: &[HostRun]) -> HostRecord {
    let record = &run.record;
    let totals = &record.totals;
    let times = &totals.response_time_ns;
    let is_alone = all.iter().filter(|other| other.name == run.name).count() == 1;
    let name = if is_alone {
        run.name.clone()
    } else {
        format!("{}, part {}", run.name, run.part.saturating_add(1))
    };
    let busy = totals.workers.iter().map(|worker| worker.busy_percent);
    let bound: BTreeSet<u32> = record.plan.pin.iter().copied().collect();
    HostRecord {
        name,
        part: run.part,
        host: record.host.clone(),
        started_at: record.started_at.clone(),
        window_ns: record.window_ns,
        end: record.end.clone(),
        clients: record.plan.clients,
        workers: record.plan.workers,
        bound_processors: bound.len() as u32,
        ledger: totals.ledger,
        offered_load_ops_per_s: totals.offered_load_ops_per_s,
        achieved_load_ops_per_s: totals.achieved_load_ops_per_s,
        goodput_bytes_per_s: totals.goodput_bytes_per_s,
        response_time_mean_ns: times.mean,
        response_time_p50_ns: times.p50,
        response_time_p99_ns: times.p99,
        response_time_max_ns: times.max,
        dispatch_delay_p99_ns: totals.dispatch_delay_ns.p99,
        busy_percent: busy.fold(0.0, f64::max),
        headroom: record.headroom.clone(),
        processors: record.processors.clone(),
        clock: run.clock,
        caveats: record.caveats.clone(),
    }
}
