//! Hosts of a job, each with its part of the load.

use crate::document::Document;
use crate::document::page::Fact;
use crate::document::table::{Column, Table};
use crate::parts::units::micros;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::job_record::{HostRecord, JobRecord};
use filestone_workload::text::thousands;

/// Returns the section; empty for a run on a single host.
pub fn section(record: &RunRecord) -> Document {
    let Some(job) = &record.job else {
        return Document::default();
    };
    Document::default()
        .titled("Each host's part", table(job))
        .facts(clocks(job))
}

fn table(job: &JobRecord) -> Table {
    let mut table = Table::new([
        Column::text("host"),
        Column::figure("clients").gives_way(3),
        Column::figure("operations").gives_way(4),
        Column::figure("ops/s"),
        Column::figure("mean").below("response, usecs"),
        Column::figure("p99").below("response, usecs"),
        Column::figure("max").below("response, usecs").gives_way(2),
        Column::figure("late p99").gives_way(1),
        Column::figure("busy %").gives_way(5),
    ]);
    job.hosts.iter().for_each(|host| table.row(row(host)));
    for lost in &job.lost {
        table.row([lost.name.clone(), "lost".into()]);
    }
    table
}

fn row(host: &HostRecord) -> Vec<String> {
    vec![
        host.name.clone(),
        thousands(u64::from(host.clients)),
        thousands(host.ledger.scheduled),
        thousands(host.achieved_load_ops_per_s.round() as u64),
        micros(host.response_time_mean_ns),
        micros(host.response_time_p99_ns as f64),
        micros(host.response_time_max_ns as f64),
        micros(host.dispatch_delay_p99_ns as f64),
        format!("{:.0}", host.busy_percent),
    ]
}

/// Formats the precision of the common start, if clocks were compared.
fn clocks(job: &JobRecord) -> Option<Fact> {
    let clocks: Vec<_> = job.hosts.iter().filter_map(|host| host.clock).collect();
    let uncertain = clocks
        .iter()
        .map(|clock| clock.start_uncertainty_ns())
        .max();
    let drift = clocks
        .iter()
        .map(|clock| clock.drift_ns.unsigned_abs())
        .max();
    let text = format!(
        "all began within {} usecs of the agreed moment; clocks drifted by {} usecs at most",
        micros(uncertain? as f64),
        micros(drift? as f64)
    );
    Some(("clocks", text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::page::PageWidth;
    use crate::fixtures;
    use filestone_control::job::{HostRun, merge_independent};

    #[test]
    fn each_host_has_a_row() {
        let run = |part: u32| {
            let mut record = fixtures::plain();
            record.started_at = format!("2026-11-24T16:05:00.{part:03}Z");
            record.plan.duration_ns = Some(record.window_ns);
            HostRun::independent(format!("node{part}"), part, record)
        };
        let merged = merge_independent(&[run(1), run(2)]).expect("a job");
        insta::assert_snapshot!(section(&merged).text(PageWidth::of(100)));
    }
}
