//! CPU use of the load generators of a job.

use super::*;
use crate::measure::absence::AbsenceRecord;
use crate::measure::job_record::tests::host;
use crate::measure::verdict::caveats::tests::sound_mix;

/// A job of host `a` with 50 workers, which use 98 % of its two CPUs, and host `b` with one worker
/// that uses a tenth of one of 64 CPUs.
fn job() -> RunRecord {
    let mut record = sound_mix();
    let busy = [[3.92; 50].as_slice(), &[10.0]].concat();
    let workers = (0..).zip(busy).map(|(worker, busy_percent)| WorkerRecord {
        worker,
        clients: 1,
        cpu_ns: 0,
        busy_poll_ns: 0,
        busy_percent,
        run_delay_percent: 0.0,
    });
    record.totals.workers = workers.collect();
    record.plan.workers = 51;
    let hosts = [("a", 50, 2), ("b", 1, 64)].map(|(name, workers, cpus)| {
        let mut host = host(name, 1000.0);
        (host.workers, host.host.cpus) = (workers, cpus);
        host
    });
    record.job = Some(JobRecord {
        hosts: hosts.into(),
        lost: vec![],
    });
    record
}

fn hosts(record: &mut RunRecord) -> &mut [HostRecord] {
    &mut record.job.as_mut().expect("a job").hosts
}

fn percent(record: &RunRecord) -> f64 {
    let used = generator_use(record).expect("it has workers");
    used.percent.round()
}

#[test]
fn the_host_of_a_job_that_used_most_of_its_processors_decides() {
    let record = job();
    let used = generator_use(&record).expect("it has workers");
    assert_eq!(percent(&record), 98.0);
    assert_eq!((used.workers, used.processors), (50, Some(2.0)));
    assert!(shortfall::is_generator_behind(&record));
}

#[test]
fn a_host_of_a_job_has_the_processors_that_it_is_bound_to_and_its_quota() {
    let mut record = job();
    hosts(&mut record)[0].host.cpus = 7;
    assert_eq!(percent(&record), 28.0, "196 % of seven");
    hosts(&mut record)[0].bound_processors = 4;
    assert_eq!(percent(&record), 49.0);
    hosts(&mut record)[0].processors = Some(ProcessorsRecord {
        processors: 8,
        absence: Some(AbsenceRecord {
            quota: Some(2.0),
            ..AbsenceRecord::default()
        }),
        ..ProcessorsRecord::default()
    });
    assert_eq!(percent(&record), 98.0);
}

#[test]
fn of_a_job_whose_workers_are_not_told_apart_nothing_is_known_but_a_limit() {
    let mut record = job();
    hosts(&mut record)[1].workers = 2;
    assert_eq!(generator_use(&record), None);
    record.totals.workers[3].busy_percent = 97.0;
    assert_eq!(percent(&record), 97.0);
}
