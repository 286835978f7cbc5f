//! Picture of the hosts of a job: a row for each host, the largest outliers first.

use super::caption;
use super::picture::{Axis, Form, Panel, Picture, PlotLine, PlotPoint, Style};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::job_record::{HostRecord, JobRecord};
use filestone_workload::statistics::median;

/// Maximum number of drawn hosts, the largest outliers.
const HOSTS_MAX: usize = 40;
/// Height of a row, and minimum height of a diagram.
const ROW: f64 = 16.0;
const HEIGHT_MIN: f64 = 48.0;
const NANOS: f64 = 1e9;

/// A figure of a host.
type Figure = fn(&HostRecord) -> f64;

/// Figures by whose deviation hosts are sorted. The load per client is compared, because hosts may
/// have different numbers of clients.
const COMPARED: [Figure; 3] = [
    |host| host.achieved_load_ops_per_s / f64::from(host.clients.max(1)),
    |host| host.response_time_p50_ns as f64,
    |host| host.response_time_p99_ns as f64,
];

/// Returns the picture; `None` if the run was not measured by several hosts.
pub fn picture(record: &RunRecord) -> Option<Picture> {
    let job = record.job.as_ref()?;
    if job.hosts.len() < 2 {
        return None;
    }
    let hosts = sorted(job);
    let drawn = hosts.get(..HOSTS_MAX).unwrap_or(&hosts);
    let panels = [
        (
            Axis::load("achieved load (operations/s)"),
            vec![dots("achieved", Style::First, drawn, |host| {
                host.achieved_load_ops_per_s
            })],
        ),
        (
            Axis::time("response time"),
            vec![
                dots("p50", Style::First, drawn, |host| {
                    host.response_time_p50_ns as f64 / NANOS
                }),
                dots("p99", Style::Second, drawn, |host| {
                    host.response_time_p99_ns as f64 / NANOS
                }),
            ],
        ),
        (
            Axis::time("dispatch delay"),
            vec![dots("late p99", Style::Third, drawn, |host| {
                host.dispatch_delay_p99_ns as f64 / NANOS
            })],
        ),
        (
            Axis::load("busiest thread (percent of the window)"),
            vec![dots("busy", Style::First, drawn, |host| host.busy_percent)],
        ),
    ];
    let panels = panels.into_iter();
    let panels = panels.map(|(across, lines)| panel(across, lines, drawn));
    Some(caption::picture(
        record,
        "Each host's part",
        panels.collect(),
        notes(job, hosts.len().saturating_sub(drawn.len())),
    ))
}

/// Returns the hosts, sorted by the largest distance from the median in one of the compared
/// figures.
fn sorted(job: &JobRecord) -> Vec<&HostRecord> {
    let medians = COMPARED.map(|figure| median(job.hosts.iter().map(figure)).unwrap_or_default());
    let deviation = |host: &HostRecord| {
        let ratios = COMPARED.iter().zip(medians);
        let ratios = ratios.map(|(figure, median)| (figure(host) / median).ln().abs());
        // A host without operations has the largest possible distance from the others.
        ratios.fold(0.0, |most: f64, ratio| {
            most.max(if ratio.is_nan() { 0.0 } else { ratio })
        })
    };
    let mut hosts: Vec<&HostRecord> = job.hosts.iter().collect();
    hosts.sort_by(|one, other| {
        let by_deviation = deviation(other).total_cmp(&deviation(one));
        by_deviation.then(one.part.cmp(&other.part))
    });
    hosts
}

/// Draws a symbol in the row of each host.
fn dots(name: &str, style: Style, hosts: &[&HostRecord], figure: Figure) -> PlotLine {
    let rows = (0..).zip(hosts);
    let points =
        rows.map(|(row, host): (u32, _)| PlotPoint::new(figure(host), f64::from(row) + 0.5));
    PlotLine::new(name, style, Form::Scattered, points.collect())
}

fn panel(across: Axis, lines: Vec<PlotLine>, hosts: &[&HostRecord]) -> Panel {
    let names = hosts.iter().map(|host| host.name.clone());
    let mut panel = Panel::of_rows(across, names.collect(), ROW, lines);
    panel.height = panel.height.max(HEIGHT_MIN);
    panel
}

fn notes(job: &JobRecord, left_out: usize) -> Vec<String> {
    let mut notes = vec![
        "those hosts first that lie furthest from the median in what each client achieved, p50 or p99"
            .to_owned(),
    ];
    if left_out > 0 {
        notes.push(format!(
            "{left_out} further hosts lie closer to it and are not drawn"
        ));
    }
    let lost: Vec<&str> = job.lost.iter().map(|lost| lost.name.as_str()).collect();
    if !lost.is_empty() {
        notes.push(format!("lost: {}", lost.join(", ")));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::picture::render;
    use filestone_measure::measure::job_record::LostHostRecord;

    /// Creates a plain run of several hosts; the third is slower and the fourth completed no
    /// operation.
    fn job(count: u32) -> RunRecord {
        let mut record = fixtures::job(count);
        let job = record.job.as_mut().expect("a job");
        job.hosts[2].response_time_p99_ns *= 8;
        (
            job.hosts[3].achieved_load_ops_per_s,
            job.hosts[3].busy_percent,
        ) = (0.0, 0.0);
        record
    }

    fn names(picture: &Picture) -> &[String] {
        &picture.panels[0].y.names
    }

    #[test]
    fn those_that_differ_most_come_first() {
        let picture = picture(&job(6)).expect("a job");
        assert_eq!(
            names(&picture),
            ["node4", "node3", "node1", "node2", "node5", "node6"]
        );
        insta::assert_snapshot!(render(&picture));
    }

    #[test]
    fn of_many_hosts_the_others_are_counted() {
        let mut record = job(100);
        let job = record.job.as_mut().expect("a job");
        job.lost.push(LostHostRecord {
            name: "node101".into(),
            part: 100,
            phase: "measuring".into(),
            reason: "it has not been heard of for 10 s".into(),
            remains: None,
        });
        let picture = picture(&record).expect("a job");
        assert_eq!(names(&picture).len(), HOSTS_MAX);
        let told = picture.notes.join("\n");
        assert!(told.contains("60 further hosts"), "{told}");
        assert!(told.contains("lost: node101"), "{told}");
    }

    #[test]
    fn a_run_of_one_host_has_none() {
        assert!(picture(&fixtures::plain()).is_none());
    }
}
