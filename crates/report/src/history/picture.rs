//! Picture of a figure over runs, with its levels.

use super::{HistoryReport, heading};
use crate::picture::{
    Axis, AxisQuantity, Form, Panel, Picture, PlotLine, PlotMark, PlotPoint, Style, Symbol,
};

/// Returns the picture, in percent of the first level.
pub fn picture(told: &HistoryReport) -> Picture {
    let history = &told.history;
    let first = history.levels.first().map_or(1.0, |level| level.value);
    let percent = |value: f64| 100.0 * value / first;
    let points = (1..)
        .zip(&told.runs)
        .map(|(number, run): (u32, _)| PlotPoint {
            interval: run
                .half_width
                .map(|half| (percent(run.value - half), percent(run.value + half))),
            ..PlotPoint::new(number.into(), percent(run.value))
        });
    let levels = history.levels.iter().flat_map(|level| {
        // From the first run to the last of a level: positions are numbers of runs, from 1.
        let ends = [level.runs.start as f64 + 1.0, level.runs.end as f64];
        let point = |(place, x): (usize, f64)| PlotPoint {
            symbol: Symbol::None,
            is_after_gap: place == 0,
            ..PlotPoint::new(x, percent(level.value))
        };
        ends.into_iter().enumerate().map(point).collect::<Vec<_>>()
    });
    let lines = vec![
        PlotLine::new("runs", Style::First, Form::Scattered, points.collect()),
        PlotLine::new("level", Style::Second, Form::Joined, levels.collect()),
    ];
    let mut panel = Panel::new(
        Axis::load("run, oldest first"),
        Axis::new(
            AxisQuantity::Near,
            &format!("{} (percent of the first level)", history.figure),
        ),
        lines,
    );
    panel.marks = history
        .changes
        .iter()
        .map(|change| mark(change.at, change.is_worse))
        .collect();
    let times = told.runs.first().zip(told.runs.last());
    let times = times.map_or_else(String::new, |(first, last)| {
        format!("{} to {}", first.started_at, last.started_at)
    });
    Picture {
        title: format!("{} over time", history.figure),
        circumstances: vec![heading(told), times],
        panels: vec![panel],
        notes: vec!["bars: 95 % intervals of runs, where they know them".into()],
    }
}

fn mark(at: usize, is_worse: bool) -> PlotMark {
    let verdict = if is_worse { "worse" } else { "better" };
    PlotMark {
        x: at as f64 + 1.0,
        text: verdict.into(),
    }
}
