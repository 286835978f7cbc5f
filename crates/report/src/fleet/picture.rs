//! Picture of the steps of a fleet's ramp: load and response times over the number of clients.

use crate::caption;
use crate::picture::{Axis, Form, Panel, Picture, PlotLine, PlotPoint, Style, Symbol};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::fleet_record::StepRecord;

/// Figure of a step; `None` if it has no value.
type Figure = fn(&StepRecord) -> Option<f64>;

/// Returns the picture; `None` if there are no two steps with different numbers of clients.
pub fn picture(record: &RunRecord) -> Option<Picture> {
    let steps = record.fleet.as_ref()?.steps.as_slice();
    let first = steps.first()?.clients;
    if steps.iter().all(|step| step.clients == first) {
        return None;
    }
    let load = line("operations/s", Style::First, steps, |step| {
        Some(step.achieved_load_ops_per_s)
    });
    let times = [
        line("p50", Style::First, steps, |step| {
            timed(step, step.response_time_ns.p50)
        }),
        line("p99", Style::Second, steps, |step| {
            timed(step, step.response_time_ns.p99)
        }),
        line("p99 of connecting", Style::Third, steps, |step| {
            Some(step.connect_time_p99_ns? as f64 / 1e9)
        }),
    ];
    let clients = || Axis::load("clients");
    let panels = vec![
        Panel::new(
            clients(),
            Axis::load("achieved load (operations/s)"),
            vec![load],
        ),
        Panel::new(
            clients(),
            Axis::time("response time"),
            times
                .into_iter()
                .filter(|line| !line.points.is_empty())
                .collect(),
        ),
    ];
    let has_errors = steps.iter().any(has_errors);
    let note = has_errors.then(|| "hollow: operations failed, or brought wrong data".into());
    Some(caption::picture(
        record,
        "Step by step",
        panels,
        note.into_iter().collect(),
    ))
}

fn line(name: &str, style: Style, steps: &[StepRecord], figure: Figure) -> PlotLine {
    let point = |step: &StepRecord| {
        let symbol = if has_errors(step) {
            Symbol::Hollow
        } else {
            Symbol::Full
        };
        Some(PlotPoint {
            symbol,
            ..PlotPoint::new(step.clients.into(), figure(step)?)
        })
    };
    let points = steps.iter().filter_map(point).collect();
    PlotLine::new(name, style, Form::Joined, points)
}

/// Returns seconds; `None` for a step without timed operations.
fn timed(step: &StepRecord, nanos: u64) -> Option<f64> {
    (step.response_time_ns.count > 0).then_some(nanos as f64 / 1e9)
}

fn has_errors(step: &StepRecord) -> bool {
    step.errors > 0 || step.checksum_errors > 0
}
