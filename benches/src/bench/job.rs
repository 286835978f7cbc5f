//! Cost of coordinating a job of many hosts: CPU time of rank 0's thread while ranks report their
//! intervals, and at the end when they hand over their records.
//!
//! The ranks are threads of this process that repeatedly report the measurements of one run of a
//! mix; rank 0 generates no load. The time of the MPI library is not included.

use super::TestBed;
use super::limits::Limit;
use anyhow::{Context as _, Result, anyhow, ensure};
use filestone_cluster::{Cluster, InProcess, JobOptions, RankFailure, Runner, connect, serve};
use filestone_host::control::{Observer, RunContext};
use filestone_interop::times;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::{IntervalRecord, Phase};
use filestone_setup::workspace::marker::ProcessIdentity;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Version that all ranks report.
const VERSION: &str = "bench";
/// Reporting time of the ranks.
const TELLING: Duration = Duration::from_secs(20);
/// Largest permitted CPU use of rank 0, in percent of one processor.
const BAR_PERCENT: f64 = 1.0;
/// Offered load of one host, in operations per second.
const OFFERED: &str = "10000";

/// Number of ranks, interval length in milliseconds, and whether a bar applies.
const JOBS: [(u32, u64, bool); 6] = [
    (2, 1000, true),
    (16, 1000, true),
    (64, 1000, true),
    (2, 100, false),
    (16, 100, false),
    (64, 100, false),
];

/// Measures jobs with increasing numbers of ranks.
pub fn limits(bed: &TestBed) -> Result<Vec<Limit>> {
    let records = [record(bed, "1s")?, record(bed, "100ms")?];
    let mut limits = Vec::new();
    let [long, _] = &records;
    let at_rest = coordinate(2, long.clone(), false)?;
    limits.push(limit(
        "job of 2 ranks that tell nothing: rank 0",
        &at_rest,
        true,
    ));
    for (ranks, interval_ms, has_bar) in JOBS {
        let of_length = |record: &&RunRecord| record.plan.interval_ns == interval_ms * 1_000_000;
        let record = records.iter().find(of_length);
        let record = record.context("no record has such intervals")?;
        let cost = coordinate(ranks, record.clone(), true)?;
        let name = format!("job of {ranks} ranks, intervals of {interval_ms} ms: rank 0");
        limits.push(limit(&name, &cost, has_bar));
    }
    Ok(limits)
}

fn limit(name: &str, cost: &Cost, has_bar: bool) -> Limit {
    let percent = cost.percent();
    Limit {
        name: name.into(),
        figure: format!(
            "{percent:.2} % of a processor; {:.0} ms at the end",
            cost.end.as_secs_f64() * 1e3
        ),
        bar: if has_bar {
            format!("≤ {BAR_PERCENT} %")
        } else {
            "–".into()
        },
        is_met: !has_bar || percent <= BAR_PERCENT,
    }
}

/// Runs nhfsstone's mix on one host with intervals of this length.
fn record(bed: &TestBed, interval: &str) -> Result<RunRecord> {
    let server = bed.serve(&["--threads", "1"])?;
    let (target, port) = (
        format!("nfs://127.0.0.1:{}/export", server.port),
        server.port.to_string(),
    );
    let mut command = std::process::Command::new(&bed.filestone);
    command
        .args(["mix", &target, "--mount-port", &port])
        .args(["--mix", "nhfsstone", "--files", "8", "--remove-file-set"])
        .args(["--offered", OFFERED, "--clients", "64", "--workers", "1"])
        .args(["--duration", "10s", "--report-interval", interval])
        .args(["--no-calibrate", "--format", "json"]);
    let output = bed.run(&mut command, Duration::from_secs(60))?;
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).with_context(|| format!("filestone said: {said}"))
}

/// CPU time of rank 0's thread.
#[derive(Debug, Clone, Copy)]
struct Cost {
    /// CPU time from the first interval that all ranks had reported to the last.
    telling: Duration,
    /// Wall-clock time of that period.
    window: Duration,
    /// CPU time from the last interval to the record of the job.
    end: Duration,
}

impl Cost {
    fn percent(&self) -> f64 {
        100.0 * self.telling.as_secs_f64() / self.window.as_secs_f64()
    }
}

/// Measures the cost of coordinating `ranks` ranks that all report the measurements in `record`.
/// With `tells_kinds` they report the counts per kind of operation, otherwise only the passing of
/// time.
fn coordinate(ranks: u32, record: RunRecord, tells_kinds: bool) -> Result<Cost> {
    let mut plan = record.plan.clone();
    plan.clients = ranks;
    let mut ends = connect(&vec![0; ranks as usize + 1]).into_iter();
    let (first, _) = ends.next().context("no first rank")?;
    let runner: Arc<dyn Runner> = Arc::new(Telling {
        record,
        tells_kinds,
    });
    let others: Vec<_> = ends
        .map(|(end, _)| {
            std::thread::spawn({
                let runner = Arc::clone(&runner);
                move || follow(end, &runner)
            })
        })
        .collect();
    let options = JobOptions {
        coordinator_only: true,
        ..JobOptions::new(VERSION)
    };
    // The name distinguishes the thread from the ranks in a profiler.
    let coordinating = std::thread::Builder::new().name("rank-0".into());
    let coordinating = coordinating.spawn(move || {
        let mut cluster = Cluster::new(Box::new(first), runner, options);
        let mut spent = Spent(None);
        let made = cluster.run(&plan, false, &AtomicBool::new(false), &mut spent);
        let end = times::of_thread();
        cluster.leave();
        (made.map(|_| ()), spent, end)
    })?;
    let (made, spent, end) = coordinating
        .join()
        .map_err(|_| anyhow!("rank 0 panicked"))?;
    for other in others {
        other.join().map_err(|_| anyhow!("a rank panicked"))?;
    }
    made?;
    let Spent(Some([(began, spent_first), (ended, spent_last)])) = spent else {
        return Err(anyhow!("no interval was told"));
    };
    let window = ended.duration_since(began);
    ensure!(
        window > TELLING / 2,
        "intervals were told within {window:?} only"
    );
    Ok(Cost {
        telling: spent_last.saturating_sub(spent_first),
        window,
        end: end.saturating_sub(spent_last),
    })
}

fn follow(mut end: InProcess, runner: &Arc<dyn Runner>) {
    // Rank 0 reports the error.
    let _ = serve(&mut end, VERSION, runner, &AtomicBool::new(false));
}

/// A runner that measures nothing and repeatedly reports the intervals of a record at their pace.
struct Telling {
    record: RunRecord,
    tells_kinds: bool,
}

impl Runner for Telling {
    fn run(
        &self,
        plan: &filestone_plan::plan::Plan,
        _: bool,
        context: &mut RunContext<'_>,
    ) -> Result<RunRecord, RankFailure> {
        let record = &self.record;
        let measured = record.intervals.iter();
        let measured = measured.filter(|interval| interval.phase == Phase::Measure);
        let mut measured: Vec<IntervalRecord> = measured.cloned().collect();
        if !self.tells_kinds {
            measured
                .iter_mut()
                .for_each(|interval| interval.kinds.clear());
        }
        let interval = Duration::from_nanos(plan.interval_ns);
        let count = TELLING.as_nanos() / interval.as_nanos().max(1);
        // Ranks start at different intervals, so that they report different values at the same
        // time.
        let part = plan.part.map_or(0, |part| part.index as usize);
        if let Some(controller) = &mut context.controller {
            controller.start(context.stop);
            let begun = Instant::now();
            let told = measured.iter().cycle().skip(part).take(count as usize);
            for (number, told) in (0_u32..).zip(told) {
                let (start, end) = (interval * number, interval * (number + 1));
                std::thread::sleep((begun + end).saturating_duration_since(Instant::now()));
                let told = IntervalRecord {
                    start_ns: start.as_nanos() as u64,
                    end_ns: end.as_nanos() as u64,
                    ..told.clone()
                };
                controller.interval(&told, 0.0, true);
            }
        }
        Ok(record.clone())
    }

    fn reclaim(
        &self,
        _: &filestone_plan::plan::Plan,
        _: &ProcessIdentity,
        _: Duration,
        _: &mut RunContext<'_>,
    ) -> Result<(), RankFailure> {
        // There is nothing to clean up.
        Ok(())
    }
}

/// CPU time of this thread at the first and at the last reported interval, with the time of each.
struct Spent(Option<[(Instant, Duration); 2]>);

impl Observer for Spent {
    fn interval(&mut self, _: &IntervalRecord) {
        let now = (Instant::now(), times::of_thread());
        let first = self.0.map_or(now, |[first, _]| first);
        self.0 = Some([first, now]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_that_of_the_time_in_which_intervals_were_told() {
        let cost = Cost {
            telling: Duration::from_millis(50),
            window: Duration::from_secs(10),
            end: Duration::from_secs(1),
        };
        assert!((cost.percent() - 0.5).abs() < 1e-9);
        assert!(limit("", &cost, true).is_met);
        let dear = Cost {
            telling: Duration::from_millis(101),
            ..cost
        };
        assert!(!limit("", &dear, true).is_met && limit("", &dear, false).is_met);
    }
}
