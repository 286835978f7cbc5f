//! `filestone demo`: a ladder of operations against the built-in server, with the time that each
//! step adds to the one before.

use crate::console;
use crate::error::Error;
use crate::execution::interruption;
use crate::execution::live::Live;
use crate::options::DemoOptions;
use crate::options::run_report::RunFormat;
use crate::planning::{Environment, built_in_path};
use crate::{ExitStatus, built_in, protocols};
use filestone_control::load_control::RemainingTime;
use filestone_engine::Job;
use filestone_host::control::{Observer, RunContext};
use filestone_measure::measure::verdict::caveats::waited_for_processor;
use filestone_measure::measure::{Caveat, ProcessorsRecord, RunRecord, validity};
use filestone_plan::plan::{Plan, ProbePlan, WorkloadPlan};
use filestone_report::document::table::{Column, Table};
use filestone_report::json;
use filestone_report::layers::differences::DifferenceEstimate;
use filestone_report::parts::units::micros;
use filestone_workload::operation::OpKind;
use filestone_workload::recording::DistributionRecord;
use filestone_workload::statistics::series::half_width;
use filestone_workload::text::{bytes_text, thousands};
use std::sync::atomic::Ordering;

/// A rung of the ladder.
struct Step {
    operation: OpKind,
    size_bytes: u32,
    about: &'static str,
    /// Whether the operation uses the SMB share, the other protocol of the server.
    is_on_share: bool,
}

const fn step(operation: OpKind, size_bytes: u32, about: &'static str) -> Step {
    Step {
        operation,
        size_bytes,
        about,
        is_on_share: false,
    }
}

/// Creates a rung on the share.
const fn on_share(operation: OpKind, size_bytes: u32, about: &'static str) -> Step {
    Step {
        is_on_share: true,
        ..step(operation, size_bytes, about)
    }
}

const LADDER: [Step; 14] = [
    step(OpKind::Null, 4096, "empty call"),
    step(OpKind::GetAttr, 4096, "file attributes"),
    step(OpKind::Lookup, 4096, "resolve a name"),
    step(OpKind::Access, 4096, "check rights"),
    step(OpKind::Read, 4096, "small read"),
    step(OpKind::Read, 131_072, "large read"),
    step(OpKind::Write, 4096, "small write"),
    step(OpKind::Create, 4096, "create a file"),
    step(OpKind::Remove, 4096, "remove a file"),
    on_share(OpKind::Null, 4096, "empty call"),
    on_share(OpKind::GetAttr, 4096, "file attributes"),
    on_share(OpKind::Read, 4096, "small read"),
    on_share(OpKind::Read, 131_072, "large read"),
    on_share(OpKind::Write, 4096, "small write"),
];

/// Number of measurements of each step.
const ROUNDS: u64 = 5;

const NEXT: &str = "
One call was in flight at a time, so operations/s is 1 second divided by the
mean response time; but each CREATE is followed by a REMOVE that is not counted,
and each REMOVE by a CREATE. \"added\" is the median response time less that of
the step before, on average over rounds in which the steps took turns, with its
95 % interval; ~ marks what chance can explain. Client and server took turns on
one processor: these are the costs of the tool and the network stack, the floor
under every real server.

Next, your own server:
  filestone probe getattr nfs://SERVER/EXPORT           one call at a time
  filestone probe read SERVER:/EXPORT/FILE -j 16 -m 1   16 in flight, with rows
  filestone probe getattr SERVER:/EXPORT --offered 5k   5,000 due each second
  filestone probe --help
";

/// Measures the ladder.
pub fn run(options: &DemoOptions) -> Result<ExitStatus, Error> {
    let stop = interruption::stop_flag()?;
    let here = Environment::here();
    let processor = own_processor();
    let server = built_in::start_on(processor)?;
    let mut records: Vec<RunRecord> = Vec::new();
    let is_text = options.format == RunFormat::Text;
    if is_text {
        console::result(&format!(
            "Measuring filestone's own server in memory, {} operations, about {} s.\n\n",
            LADDER.len(),
            options
                .duration
                .saturating_mul(LADDER.len() as u64)
                .div_ceil(1_000_000_000)
                + 1,
        ))?;
    }
    // Every step has its part in every round, so that a drift in the speed of the machine affects
    // all of them.
    let duration = (options.duration / ROUNDS).max(1);
    let mut live = Live::of_calibration(&stop);
    for (number, step) in (0..ROUNDS).flat_map(|_| &LADDER).enumerate() {
        let left = (LADDER.len() * ROUNDS as usize - number) as u64 * duration;
        let round = 1 + number / LADDER.len();
        let doing = format!("round {round} of {ROUNDS}, {}", name_of(step));
        live.steering(&doing, Some(RemainingTime::About(left)));
        let plan = plan(step, duration, processor, &here);
        let job = Job {
            built_in: built_in::at(&server),
            ..Job::new(&plan)
        };
        let context = &mut RunContext::new(&stop, &mut live);
        let record = filestone_engine::run(&job, protocols::known(), context);
        records.push(record.inspect_err(|_| live.finish())?);
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    live.finish();
    finish(&records, is_text)
}

fn finish(records: &[RunRecord], is_text: bool) -> Result<ExitStatus, Error> {
    let is_whole = records.len() == LADDER.len() * ROUNDS as usize;
    if !is_text {
        console::result(&json::document(&records)?)?;
    } else {
        console::result(&table(records).render(console::page()))?;
        if is_whole {
            console::result(NEXT)?;
        }
    }
    if records
        .iter()
        .any(|record| record.totals.ledger.missing() != 0)
    {
        return Err(Error::internal("operations are unaccounted for"));
    }
    if is_text {
        starved(records).iter().for_each(console::caveat);
        if records.iter().any(|record| record.tool.profile == "debug") {
            console::caveat(&Caveat::DebugBuild);
        }
    }
    Ok(if (0..LADDER.len()).any(|step| is_lost(records, step)) {
        ExitStatus::DoesNotCount
    } else if is_whole {
        ExitStatus::Done
    } else {
        ExitStatus::Interrupted
    })
}

/// Whether most runs of a step do not count: the median of its rounds, which is shown, then belongs
/// to such a run.
fn is_lost(records: &[RunRecord], step: usize) -> bool {
    let rounds = records.iter().skip(step).step_by(LADDER.len());
    let lost = rounds.clone().filter(|record| !validity::counts(record));
    2 * lost.count() > rounds.count()
}

/// Returns a caveat if other programs used too much processor time: on average over all runs, which
/// are too short to be judged one by one.
fn starved(records: &[RunRecord]) -> Option<Caveat> {
    let all: Vec<&ProcessorsRecord> = records
        .iter()
        .filter_map(|r| r.processors.as_ref())
        .collect();
    let sum: f64 = all
        .iter()
        .map(|found| found.longest_run_delay_by_others_percent)
        .sum();
    waited_for_processor(&ProcessorsRecord {
        longest_run_delay_by_others_percent: sum / all.len().max(1) as f64,
        ..(*all.first()?).clone()
    })
}

/// Returns the processor that client and server share. Left to the scheduler, they are on one
/// processor in some runs and on two in others, where each call wakes the other one up: on a
/// virtual machine of two processors GETATTR takes 5 us or 80 us, and no step can be compared with
/// the next.
fn own_processor() -> u32 {
    rustix::thread::sched_getcpu() as u32
}

fn plan(step: &Step, duration: u64, processor: u32, here: &Environment) -> Plan {
    let path = built_in_path(step.operation);
    let target = if step.is_on_share {
        built_in::on_share(path)
    } else {
        built_in::target(path, here.uid, here.gid)
    };
    let workload = WorkloadPlan::Probe(ProbePlan {
        size_bytes: step.size_bytes,
        file_size_bytes: 1 << 20,
        files_max: 1000,
        ..ProbePlan::new(step.operation)
    });
    Plan {
        // Caches and branch predictors of both sides get a moment.
        warm_up_ns: duration / 10,
        duration_ns: Some(duration),
        timeout_ns: 10_000_000_000,
        reconnect_ns: 1_000_000_000,
        pin: vec![processor],
        ..Plan::new("demo", target, workload, here.seed)
    }
    .with_read_data(None)
}

fn name_of(step: &Step) -> String {
    let name = match step.operation {
        OpKind::Null if step.is_on_share => "ECHO".into(),
        operation => operation.name().to_uppercase(),
    };
    let protocol = if step.is_on_share { "SMB " } else { "" };
    match step.operation {
        OpKind::Read | OpKind::Write => {
            format!("{protocol}{name} {}", bytes_text(step.size_bytes.into()))
        }
        _ => format!("{protocol}{name}"),
    }
}

/// Returns a table with a row per step, from records in the order of the runs.
fn table(records: &[RunRecord]) -> Table {
    let mut table = Table::new([
        Column::text(""),
        Column::figure("operations/s"),
        Column::figure("p50 usecs"),
        Column::figure("p99"),
        Column::figure("added"),
        Column::text("").gives_way(1),
    ]);
    let of_step = |place: usize| -> Vec<&RunRecord> {
        records.iter().skip(place).step_by(LADDER.len()).collect()
    };
    for (place, step) in LADDER.iter().enumerate() {
        let rounds = of_step(place);
        // The first step of a protocol is not compared with the last of another.
        let before = place.checked_sub(1);
        let is_alike = |before: &usize| LADDER[*before].is_on_share == step.is_on_share;
        let before = before.filter(is_alike).map(of_step);
        table.row(row(step, &rounds, before.as_deref()));
    }
    table
}

/// Returns the cells of a step; blank if it was not reached.
fn row(step: &Step, rounds: &[&RunRecord], before: Option<&[&RunRecord]>) -> Vec<String> {
    let times: Vec<_> = rounds
        .iter()
        .map(|run| &run.totals.response_time_ns)
        .collect();
    let Some(times) = DistributionRecord::merged(&times)
        .ok()
        .filter(|times| times.count > 0)
    else {
        return vec![name_of(step)];
    };
    let loads = rounds.iter().map(|run| run.totals.achieved_load_ops_per_s);
    let load = loads.sum::<f64>() / rounds.len().max(1) as f64;
    let ledgers = rounds.iter().map(|run| &run.totals.ledger);
    let failed: u64 = ledgers.map(|ledger| ledger.scheduled - ledger.ok).sum();
    let errors = match failed {
        0 => String::new(),
        _ => format!(" ({} did not succeed)", thousands(failed)),
    };
    vec![
        name_of(step),
        thousands(load.round() as u64),
        micros(times.p50 as f64),
        micros(times.p99 as f64),
        before.map_or(String::new(), |before| added(before, rounds).to_string()),
        format!("{}{errors}", step.about),
    ]
}

/// Returns the difference of a step's median to that of the one before it, in microseconds: the
/// mean of the differences by round, because the interval applies to it.
fn added(before: &[&RunRecord], rounds: &[&RunRecord]) -> DifferenceEstimate {
    let median = |run: &RunRecord| run.totals.response_time_ns.p50 as f64 / 1000.0;
    let pairs = before.iter().zip(rounds);
    let differences: Vec<f64> = pairs
        .map(|(one, other)| median(other) - median(one))
        .collect();
    let mean = differences.iter().sum::<f64>() / differences.len().max(1) as f64;
    DifferenceEstimate::new(mean, half_width(&differences))
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_report::document::page::PageWidth;

    #[test]
    fn what_comes_next_keeps_to_80_columns() {
        assert!(NEXT.lines().all(|line| line.chars().count() <= 80));
    }

    use filestone_report::fixtures;

    /// Five rounds of all steps, each round slower than the one before; the second step takes 1, 5,
    /// 2, 4 and 3 us longer than the first, the others as long as the second.
    fn rounds() -> Vec<RunRecord> {
        let by_round = [1, 5, 2, 4, 3].into_iter().zip(1..);
        let medians = by_round.flat_map(|(more, round)| {
            let places = 0..LADDER.len() as u64;
            places.map(move |place| 1000 * (10 * round + if place > 0 { more } else { 0 }))
        });
        let run = |p50| {
            let mut record = fixtures::plain();
            record.totals.response_time_ns.p50 = p50;
            record
        };
        medians.map(run).collect()
    }

    #[test]
    fn what_a_step_adds_is_measured_round_by_round() {
        let records = rounds();
        let of_step = |place| {
            records
                .iter()
                .skip(place)
                .step_by(LADDER.len())
                .collect::<Vec<_>>()
        };
        // Mean 3, t(4) = 2.776: 2.776 x sqrt(2.5 / 5) = 1.963, though all drift by 40 us.
        let found = added(&of_step(0), &of_step(1));
        assert_eq!(found.to_string(), "+3.0 \u{b1}2.0");
        // No difference in any round.
        assert_eq!(added(&of_step(1), &of_step(2)).value, 0.0);
    }

    #[test]
    fn the_table_shows_what_each_step_added() {
        insta::assert_snapshot!(table(&rounds()).render(PageWidth::default()));
    }

    #[test]
    fn a_demonstration_that_was_cut_short_shows_the_steps_it_came_to() {
        let shown = table(&rounds()[..2]).render(PageWidth::default());
        assert!(
            shown.lines().any(|line| line.trim_end() == "REMOVE"),
            "{shown}"
        );
    }
}
