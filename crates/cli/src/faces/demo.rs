//! `filestone demo`: a ladder of operations against the built-in server, and
//! what each step adds to the one before.

use crate::console::{self, Reader};
use crate::error::Error;
use crate::live::Live;
use crate::options::{DemoOptions, RunFormat};
use crate::planning::{Surroundings, built_in_path};
use crate::quantity::{bytes_text, grouped};
use crate::render::json;
use crate::verdict::succeeded_in_nothing;
use crate::{Exit, built_in, interruption};
use filestone_model::measure::RunRecord;
use filestone_model::operation::{OpKind, Stability};
use filestone_model::plan::{
    ArrivalsPlan, NfsTarget, Plan, ProbePlan, TargetPlan, TransportKind, WorkloadPlan,
};
use std::sync::atomic::Ordering;

/// One rung of the ladder.
struct Step {
    operation: OpKind,
    size_bytes: u32,
    about: &'static str,
}

const fn step(operation: OpKind, size_bytes: u32, about: &'static str) -> Step {
    Step {
        operation,
        size_bytes,
        about,
    }
}

const LADDER: [Step; 9] = [
    step(OpKind::Null, 4096, "an empty question and answer"),
    step(OpKind::GetAttr, 4096, "a file's attributes"),
    step(OpKind::Lookup, 4096, "a name to a file"),
    step(OpKind::Access, 4096, "may I?"),
    step(OpKind::Read, 4096, "a small piece of a file"),
    step(OpKind::Read, 131_072, "a large piece"),
    step(OpKind::Write, 4096, "the other way"),
    step(OpKind::Create, 4096, "a new file"),
    step(OpKind::Remove, 4096, "and away with it"),
];

const NEXT: &str = "
One call was in flight at a time, so operations/s is 1 second divided by the mean response time;
but each CREATE is followed by a REMOVE that is not counted, and each REMOVE by a CREATE.
\"added\" is the median response time less that of the step before. Client and server shared this
machine: these are the costs of the tool and the network stack, the floor under every real server.

Next, your own server:
  filestone probe getattr nfs://SERVER/EXPORT             one call at a time
  filestone probe read SERVER:/EXPORT/FILE -j 16 -m 1     16 in flight, a row per second
  filestone probe getattr SERVER:/EXPORT --offered 5k     a load that does not wait for the server
  filestone probe --help
";

/// Climbs the ladder.
pub fn run(options: &DemoOptions) -> Result<Exit, Error> {
    let stop = interruption::stop_flag()?;
    let here = Surroundings::here();
    let server = built_in::start_for_measurement(here.processors)?;
    let mut records: Vec<RunRecord> = Vec::new();
    let is_text = options.format == RunFormat::Text;
    if is_text {
        console::result(&format!(
            "Measuring filestone's own server in memory, {} operations, about {} s.\n\n{}",
            LADDER.len(),
            options
                .duration
                .saturating_mul(LADDER.len() as u64)
                .div_ceil(1_000_000_000)
                + 1,
            header()
        ))?;
    }
    for step in &LADDER {
        let plan = plan(step, options.duration, &here);
        let mut live = Live::with_bar(&stop, &plan);
        let record = filestone_engine::run::run(&plan, Some(server.address()), &stop, &mut live);
        live.finish();
        let record = record?;
        if is_text {
            let shown = console::result(&row(step, &record, records.last()))?;
            if shown == Reader::Gone {
                return Ok(Exit::Done);
            }
        }
        records.push(record);
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    conclude(&records, is_text)
}

fn conclude(records: &[RunRecord], is_text: bool) -> Result<Exit, Error> {
    let is_whole = records.len() == LADDER.len();
    if !is_text {
        console::result(&json::document(&records)?)?;
    } else if is_whole {
        console::result(NEXT)?;
    }
    if records
        .iter()
        .any(|record| record.totals.ledger.missing() != 0)
    {
        return Err(Error::internal("operations are unaccounted for"));
    }
    if is_text && records.iter().any(|record| record.tool.profile == "debug") {
        console::caveat(&filestone_model::measure::Caveat::DebugBuild);
    }
    Ok(if records.iter().any(succeeded_in_nothing) {
        Exit::NothingSucceeded
    } else if is_whole {
        Exit::Done
    } else {
        Exit::Interrupted
    })
}

fn plan(step: &Step, duration: u64, here: &Surroundings) -> Plan {
    Plan {
        face: "demo".into(),
        target: TargetPlan::Nfs3(NfsTarget {
            host: None,
            port: None,
            mount_port: None,
            path: built_in_path(step.operation).into(),
            transport: TransportKind::Tcp,
            reserved_port: false,
            uid: here.uid,
            gid: here.gid,
        }),
        workload: WorkloadPlan::Probe(ProbePlan {
            operation: step.operation,
            size_bytes: step.size_bytes,
            random: false,
            stability: Stability::Unstable,
            file_size_bytes: 1 << 20,
            files_max: 1000,
        }),
        arrivals: ArrivalsPlan::Closed,
        clients: 1,
        in_flight: 1,
        workers: 1,
        // Caches and branch predictors of both sides get a moment.
        warm_up_ns: duration / 10,
        duration_ns: Some(duration),
        count: None,
        timeout_ns: 10_000_000_000,
        reconnect_ns: 1_000_000_000,
        interval_ns: 1_000_000_000,
        seed: here.seed,
        busy_poll: false,
        pin: vec![],
        read_data: None,
        steering: None,
    }
    .with_read_data(None)
}

fn header() -> String {
    format!(
        "{:<14}{:>14}{:>10}{:>10}{:>10}\n{:<14}{:>14}{:>10}{:>10}{:>10}\n",
        "", "operations/s", "p50", "p99", "added", "", "", "usecs", "usecs", "usecs"
    )
}

fn row(step: &Step, record: &RunRecord, before: Option<&RunRecord>) -> String {
    let name = match step.operation {
        OpKind::Read | OpKind::Write => {
            format!(
                "{} {}",
                step.operation.name().to_uppercase(),
                bytes_text(step.size_bytes.into())
            )
        }
        _ => step.operation.name().to_uppercase(),
    };
    let times = &record.totals.response_time_ns;
    let micros = |nanos: u64| nanos as f64 / 1000.0;
    let added = before.map_or(String::new(), |before| {
        let difference = micros(times.p50) - micros(before.totals.response_time_ns.p50);
        format!("{difference:+.1}")
    });
    let failed = record.totals.ledger.scheduled - record.totals.ledger.ok;
    let errors = if failed == 0 {
        String::new()
    } else {
        format!(" ({} did not succeed)", grouped(failed))
    };
    format!(
        "{name:<14}{:>14}{:>10.1}{:>10.1}{added:>10}  {}{errors}\n",
        grouped(record.totals.achieved_load_ops_per_s.round() as u64),
        micros(times.p50),
        micros(times.p99),
        step.about,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::canned;

    #[test]
    fn a_row_shows_what_the_step_added() {
        let (one, other) = (canned::plain(), canned::with_errors());
        let text = header() + &row(&LADDER[4], &one, None) + &row(&LADDER[7], &other, Some(&one));
        insta::assert_snapshot!(text);
    }
}
