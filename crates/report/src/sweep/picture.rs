//! Picture of a sweep: the figure and the achieved load over the values of a numeric parameter; a
//! row for each value of other parameters.

use super::columns::is_hardly_known;
use super::unit::DrawnUnit;
use super::{ACHIEVED, SweepReport, SweptLine, SweptPoint, doubts, everywhere, heading, knees};
use crate::caption;
use crate::picture::{
    Axis, AxisQuantity, Form, Panel, Picture, PlotLine, PlotMark, PlotPoint, Style, Symbol,
};
use filestone_measure::sweep::{SweepParameter, ValueKind};
use filestone_plan::gate::GateFigure;

/// Styles of lines in turn. With more lines, each has its own diagram.
const STYLES: [Style; 4] = [Style::First, Style::Second, Style::Third, Style::Fine];
/// Maximum number of diagrams below each other.
const PANELS_MAX: usize = 12;
/// Height of a diagram among many, and of a row of one whose points have names.
const SMALL: f64 = 220.0;
const ROW: f64 = 22.0;
const NANOS: f64 = 1e9;

/// Returns the picture.
pub fn picture(swept: &SweepReport) -> Picture {
    let mut notes = vec![];
    let panels = match numbers(swept) {
        Some(lines) => over_numbers(swept, &lines, &mut notes),
        None => vec![over_names(swept)],
    };
    let title = format!("{} over {}", swept.figure, names(swept));
    of_panels(swept, &title, panels, notes)
}

/// Creates a picture of these panels, with its circumstances.
pub(super) fn of_panels(
    swept: &SweepReport,
    title: &str,
    panels: Vec<Panel>,
    mut notes: Vec<String>,
) -> Picture {
    let drawn = || {
        panels
            .iter()
            .flat_map(|panel| &panel.lines)
            .flat_map(|line| &line.points)
    };
    if drawn().any(|point| point.interval.is_some()) {
        notes.push("lines with ends: 95 % intervals".into());
    }
    if drawn().any(|point| point.symbol == Symbol::Hollow) {
        notes.push("hollow: with an error or a caveat that not all have, or hardly known".into());
    }
    notes.extend(knees(swept));
    notes.extend(caveats(swept));
    Picture {
        title: title.into(),
        circumstances: vec![heading(swept), origin(swept)],
        panels,
        notes,
    }
}

fn names(swept: &SweepReport) -> String {
    let names = swept
        .parameters
        .iter()
        .map(|parameter| parameter.name.as_str());
    names.collect::<Vec<_>>().join(" and ")
}

pub(crate) fn origin(swept: &SweepReport) -> String {
    let first = swept.first.as_ref();
    first.map_or_else(String::new, |first| {
        caption::origin_of(&first.started_at, swept.seed, &first.version)
    })
}

pub(crate) fn caveats(swept: &SweepReport) -> Option<String> {
    let names = swept
        .points
        .iter()
        .flat_map(|point| point.tally.caveats.keys());
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| format!("caveats: {}", names.join(", ")))
}

/// Returns the lines of a sweep whose first parameter is a number.
fn numbers(swept: &SweepReport) -> Option<Vec<SweptLine<'_>>> {
    let first = swept.parameters.first()?;
    first.is_numeric().then(|| swept.lines())
}

/// Returns one diagram of all lines for the figure, and one for the achieved load; with many lines
/// one each.
fn over_numbers(
    swept: &SweepReport,
    lines: &[SweptLine<'_>],
    notes: &mut Vec<String>,
) -> Vec<Panel> {
    if lines.len() > STYLES.len() {
        let left_out = lines.len().saturating_sub(PANELS_MAX);
        if left_out > 0 {
            notes.push(format!("{left_out} further lines are not drawn"));
        }
        let each = lines.iter().take(PANELS_MAX);
        return each
            .map(|line| Panel {
                height: SMALL,
                ..panel(swept, std::slice::from_ref(line), swept.figure)
            })
            .collect();
    }
    let mut panels = vec![panel(swept, lines, swept.figure)];
    if swept.figure != ACHIEVED {
        panels.push(Panel {
            height: SMALL,
            marks: vec![],
            ..panel(swept, lines, ACHIEVED)
        });
    }
    panels
}

fn panel(swept: &SweepReport, lines: &[SweptLine<'_>], figure: GateFigure) -> Panel {
    let Some(parameter) = swept.parameters.first() else {
        return Panel::new(Axis::load(""), Axis::load(""), vec![]);
    };
    let everywhere = everywhere(swept);
    let drawn = lines.iter().zip(STYLES).map(|(line, style)| {
        let name = line.name().unwrap_or_else(|| figure.to_string());
        let points = line
            .points
            .iter()
            .map(|point| drawn(point, parameter, figure, &everywhere));
        let points = points.collect::<Option<Vec<_>>>();
        PlotLine::new(&name, style, Form::Joined, points.unwrap_or_default())
    });
    let mut panel = Panel::new(across(parameter), up(figure), drawn.collect());
    let knees = lines
        .iter()
        .filter_map(|line| Some((line.knee()?, line.name())));
    panel.marks = knees
        .map(|(knee, name)| PlotMark {
            x: place(knee.at, parameter),
            text: name.map_or_else(|| "knee".into(), |name| format!("knee, {name}")),
        })
        .collect();
    panel
}

/// Returns the drawn point; `None`, which is a gap, for a point without that figure.
pub(super) fn drawn(
    point: &SweptPoint,
    parameter: &SweepParameter,
    figure: GateFigure,
    everywhere: &[String],
) -> Option<PlotPoint> {
    let x = place(point.values.first()?.number?, parameter);
    let known = point.tally.value(&figure);
    let unit = DrawnUnit::of(&figure).on_axis();
    let y = known.map_or(f64::NAN, |known| known.value / unit);
    // An interval of many times the value would hide all others.
    let told = known.filter(|known| !is_hardly_known(known));
    let interval = told.and_then(|known| known.interval);
    let is_doubted = !doubts(point, everywhere).is_empty() || point.tally.errors > 0;
    let is_doubted = is_doubted || told.is_none();
    Some(PlotPoint {
        interval: interval.map(|(low, high)| (low / unit, high / unit)),
        symbol: if is_doubted {
            Symbol::Hollow
        } else {
            Symbol::Full
        },
        ..PlotPoint::new(x, y)
    })
}

/// Converts a value of the parameter to its axis.
fn place(number: f64, parameter: &SweepParameter) -> f64 {
    match parameter.kind {
        ValueKind::Time => number / NANOS,
        ValueKind::Bytes | ValueKind::Rate | ValueKind::Number | ValueKind::Word => number,
    }
}

fn across(parameter: &SweepParameter) -> Axis {
    let name = &parameter.name;
    let label = match parameter.kind {
        ValueKind::Bytes => format!("{name} (bytes)"),
        ValueKind::Rate => format!("{name} (per second)"),
        ValueKind::Time => return Axis::time(name),
        ValueKind::Number | ValueKind::Word => name.clone(),
    };
    let quantity = if parameter.is_logarithmic {
        AxisQuantity::Ratio
    } else {
        AxisQuantity::Load
    };
    Axis::new(quantity, &label)
}

fn up(figure: GateFigure) -> Axis {
    DrawnUnit::of(&figure).axis(&figure.to_string())
}

/// Returns a panel with a row for each point and a horizontal axis for the figure.
fn over_names(swept: &SweepReport) -> Panel {
    let unit = DrawnUnit::of(&swept.figure).on_axis();
    let rows = (0..).zip(&swept.points);
    let points = rows.filter_map(|(row, point): (u32, _)| {
        let known = point.tally.value(&swept.figure)?;
        let interval = known.interval.filter(|_| !is_hardly_known(&known));
        Some(PlotPoint {
            interval: interval.map(|(low, high)| (low / unit, high / unit)),
            ..PlotPoint::new(known.value / unit, f64::from(row) + 0.5)
        })
    });
    let name = swept.figure.to_string();
    let lines = vec![PlotLine::new(
        &name,
        Style::First,
        Form::Bars,
        points.collect(),
    )];
    let names = (0..swept.points.len()).map(|point| swept.name(point));
    Panel::of_rows(up(swept.figure), names.collect(), ROW, lines)
}
