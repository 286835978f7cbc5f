//! Picture of a ladder: a row for each rung with its response time, and below it the server's
//! processor time.

use super::{Ladder, heading};
use crate::report::caption;
use crate::report::picture::{Axis, Form, Line, Panel, Picture, Point, Quantity, Style};
use filestone_measure::ladder::LadderFigure;

/// Height of a row.
const ROW: f64 = 22.0;
const NANOS: f64 = 1e9;

/// Returns the picture.
pub fn picture(ladder: &Ladder) -> Picture {
    let drawn = [
        (LadderFigure::Response, "response time"),
        (
            LadderFigure::ServerCpu,
            "server's processor time for each operation",
        ),
    ];
    let drawn = drawn.into_iter().filter(|(figure, _)| ladder.has(*figure));
    let panels: Vec<Panel> = drawn
        .map(|(figure, name)| panel(ladder, figure, name))
        .collect();
    let caveats = ladder
        .swept
        .points
        .iter()
        .flat_map(|point| point.tally.caveats.keys());
    let mut caveats: Vec<&str> = caveats.map(String::as_str).collect();
    caveats.sort_unstable();
    caveats.dedup();
    let mut notes = vec!["lines with ends: 95 % intervals".to_owned()];
    if !caveats.is_empty() {
        notes.push(format!("caveats: {}", caveats.join(", ")));
    }
    let first = ladder.swept.first.as_ref();
    let origin = first.map_or_else(String::new, |first| {
        caption::origin_of(&first.started_at, ladder.swept.seed, &first.version)
    });
    Picture {
        title: "What operations take, one after the other".into(),
        circumstances: vec![heading(ladder), origin],
        panels,
        notes,
    }
}

/// Returns a panel with a row for each rung, from the top.
fn panel(ladder: &Ladder, figure: LadderFigure, name: &str) -> Panel {
    let rows = (0..).zip(&ladder.tallies);
    let points = rows.filter_map(|(row, tally): (u32, _)| {
        let known = tally.value(figure)?;
        let interval = known.interval();
        Some(Point {
            interval: interval.map(|(low, high)| (low / NANOS, high / NANOS)),
            ..Point::new(known.value / NANOS, f64::from(row) + 0.5)
        })
    });
    let lines = vec![Line::new(name, Style::First, Form::Bars, points.collect())];
    let names: Vec<String> = ladder.rungs().map(|rung| rung.name().to_owned()).collect();
    let height = names.len() as f64 * ROW;
    let down = Axis {
        names,
        ..Axis::new(Quantity::Name, "")
    };
    Panel {
        height,
        ..Panel::new(Axis::time(name), down, lines)
    }
}
