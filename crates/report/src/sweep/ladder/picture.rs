//! Picture of a ladder: a row for each rung with its response time, and below it the server's
//! processor time.

use super::{has, heading, rungs};
use crate::picture::{Axis, Form, Panel, Picture, PlotLine, PlotPoint, Style};
use crate::sweep::picture::{caveats, origin};
use crate::sweep::{MEAN, SweepReport, of_run};
use filestone_plan::gate::{GateFigure, RunTotal};

/// Height of a row.
const ROW: f64 = 22.0;
const NANOS: f64 = 1e9;

/// Title of the picture.
pub const TITLE: &str = "What operations take, one after the other";

/// Returns the picture.
pub fn picture(ladder: &SweepReport) -> Picture {
    let drawn = [
        (MEAN, "response time"),
        (
            of_run(RunTotal::ServerCpu),
            "server's processor time for each operation",
        ),
    ];
    let drawn = drawn.into_iter().filter(|(figure, _)| has(ladder, *figure));
    let panels: Vec<Panel> = drawn
        .map(|(figure, name)| panel(ladder, figure, name))
        .collect();
    let mut notes = vec!["lines with ends: 95 % intervals".to_owned()];
    notes.extend(caveats(ladder));
    Picture {
        title: TITLE.into(),
        circumstances: vec![heading(ladder), origin(ladder)],
        panels,
        notes,
    }
}

/// Returns a panel with a row for each rung, from the top.
fn panel(ladder: &SweepReport, figure: GateFigure, name: &str) -> Panel {
    let rows = (0..).zip(&ladder.points);
    let points = rows.filter_map(|(row, point): (u32, _)| {
        let known = point.tally.mean(figure)?;
        Some(PlotPoint {
            interval: known
                .interval
                .map(|(low, high)| (low / NANOS, high / NANOS)),
            ..PlotPoint::new(known.value / NANOS, f64::from(row) + 0.5)
        })
    });
    let lines = vec![PlotLine::new(
        name,
        Style::First,
        Form::Bars,
        points.collect(),
    )];
    let names = rungs(ladder).map(|rung| rung.name().to_owned());
    Panel::of_rows(Axis::time(name), names.collect(), ROW, lines)
}
