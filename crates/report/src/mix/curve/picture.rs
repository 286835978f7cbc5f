//! Picture of a curve.

use super::of_leg;
use crate::caption;
use crate::picture::{Axis, Form, Panel, Picture, PlotLine, PlotMark, PlotPoint, Style, Symbol};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::curve_record::{CurvePointRecord, CurveRecord, SweepDirection};

/// Returns the picture of the curve: mean and p99 upwards, the mean downwards, knee and peak.
pub fn picture(record: &RunRecord, curve: &CurveRecord) -> Picture {
    let (up, down) = (SweepDirection::Up, SweepDirection::Down);
    let mut lines = vec![
        line("mean, upwards", Style::First, curve, up, mean_point),
        line(
            "mean, downwards",
            Style::FirstAgain,
            curve,
            down,
            mean_point,
        ),
        line("p99, upwards", Style::Second, curve, up, p99_point),
    ];
    lines.retain(|line| !line.points.is_empty());
    let points = || lines.iter().flat_map(|line| &line.points);
    let mut notes = Vec::new();
    if points().any(|point| point.interval.is_some()) {
        notes.push("bars: 95 % confidence intervals of the mean, from batch means".into());
    }
    if points().any(|point| point.symbol == Symbol::Hollow) {
        notes.push("hollow: the response time was not steady before the point was measured".into());
    }
    let mut panel = Panel::new(
        Axis::load("achieved load (operations/s)"),
        Axis::time("response time"),
        lines,
    );
    let peak = Some(curve.peak_ops_per_s).filter(|peak| *peak > 0.0);
    let knee = curve.knee.as_ref().map(|knee| knee.load_ops_per_s);
    panel.marks = PlotMark::known([(knee, "knee"), (peak, "peak")]);
    caption::picture(record, "Load-response curve", vec![panel], notes)
}

/// Returns the line of a figure of the points of a leg.
fn line(
    name: &str,
    style: Style,
    curve: &CurveRecord,
    leg: SweepDirection,
    figure: fn(&CurvePointRecord) -> PlotPoint,
) -> PlotLine {
    let timed = of_leg(curve, leg).filter(|point| point.response_time_ns.count > 0);
    let points = timed.map(|point| PlotPoint {
        symbol: if point.is_steady {
            Symbol::Full
        } else {
            Symbol::Hollow
        },
        ..figure(point)
    });
    PlotLine::new(name, style, Form::Joined, points.collect())
}

fn mean_point(point: &CurvePointRecord) -> PlotPoint {
    let mean = point.response_time_ns.mean;
    let half_width = point.response_time_mean_half_width_ns;
    let interval = half_width.map(|half| ((mean - half).max(0.0) / 1e9, (mean + half) / 1e9));
    PlotPoint {
        interval,
        ..PlotPoint::new(point.achieved_load_ops_per_s, mean / 1e9)
    }
}

fn p99_point(point: &CurvePointRecord) -> PlotPoint {
    let p99 = point.response_time_ns.p99 as f64;
    PlotPoint::new(point.achieved_load_ops_per_s, p99 / 1e9)
}
