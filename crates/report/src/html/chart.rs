//! Pictures as data: columns of numbers, as short as their precision allows, which the page's
//! script draws. Times are in microseconds, which makes them short.

use super::values::{ShortNumber, SpanData};
use crate::error::ReportError;
use crate::html::heat_map::HeatMapData;
use crate::html::over_time::OverTimeData;
use crate::picture::{
    Axis, AxisQuantity, Form, Panel, Picture, PlotLine, PlotPoint, Style, Symbol, legible,
};
use serde::Serialize;

/// Factor from seconds to microseconds.
const MICROS: f64 = 1e6;

/// A chart of the page.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ChartData {
    /// A picture.
    Picture(PictureData),
    /// Load and response times over time, by operation.
    OverTime(OverTimeData),
    /// Counts of operations by response time, over time.
    HeatMap(HeatMapData),
}

/// Returns the charts as JSON for an element of a page, whatever text they contain: the JSON has no
/// `<`, and none of the characters that end a line of a script.
pub fn as_data(charts: &[ChartData]) -> Result<String, ReportError> {
    let text = serde_json::to_string(charts).map_err(|error| {
        ReportError::Internal(format!("the data of the page cannot be made: {error}"))
    })?;
    Ok(text
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029"))
}

/// A picture.
#[derive(Debug, Serialize)]
pub struct PictureData {
    panels: Vec<PanelData>,
}

#[derive(Debug, Serialize)]
struct PanelData {
    x: AxisData,
    y: AxisData,
    height: ShortNumber,
    lines: Vec<LineData>,
    marks: Vec<MarkData>,
    spans: Vec<SpanData>,
}

#[derive(Debug, Serialize)]
struct AxisData {
    label: String,
    quantity: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
    log: bool,
    ends: [ShortNumber; 2],
}

#[derive(Debug, Serialize)]
struct LineData {
    name: String,
    style: &'static str,
    form: &'static str,
    x: Vec<ShortNumber>,
    y: Vec<ShortNumber>,
    /// Ends of intervals; `None` for a point without one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    low: Vec<Option<ShortNumber>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    high: Vec<Option<ShortNumber>>,
    /// Indices of points with a symbol, a hollow one, a dotted segment, or a gap before them.
    symbol: Vec<usize>,
    hollow: Vec<usize>,
    sparse: Vec<usize>,
    gap: Vec<usize>,
}

#[derive(Debug, Serialize)]
struct MarkData {
    x: ShortNumber,
    text: String,
}

impl PictureData {
    /// Converts a picture; a panel without data is left out.
    pub fn of(picture: &Picture) -> Self {
        Self {
            panels: picture.panels.iter().filter_map(panel).collect(),
        }
    }
}

fn panel(panel: &Panel) -> Option<PanelData> {
    let (x, y) = panel.scales()?;
    let unit = unit(panel.x.quantity);
    Some(PanelData {
        x: axis(&panel.x, x.is_logarithmic(), x.ends()),
        y: axis(&panel.y, y.is_logarithmic(), y.ends()),
        height: ShortNumber(panel.height),
        lines: panel.lines.iter().map(|one| line(one, panel)).collect(),
        marks: panel
            .marks
            .iter()
            .map(|mark| MarkData {
                x: ShortNumber(mark.x * unit),
                text: legible(&mark.text),
            })
            .collect(),
        spans: SpanData::of(&panel.spans, unit),
    })
}

/// Returns the factor for values of an axis.
const fn unit(quantity: AxisQuantity) -> f64 {
    match quantity {
        AxisQuantity::Time => MICROS,
        _ => 1.0,
    }
}

fn axis(axis: &Axis, log: bool, ends: [f64; 2]) -> AxisData {
    let quantity = match axis.quantity {
        AxisQuantity::Load => "load",
        AxisQuantity::Time => "time",
        AxisQuantity::Elapsed => "elapsed",
        AxisQuantity::Percentile => "percentile",
        AxisQuantity::Ratio => "ratio",
        AxisQuantity::Near => "near",
        AxisQuantity::Name => "name",
    };
    AxisData {
        label: legible(&axis.label),
        quantity,
        names: axis.names.iter().map(|name| legible(name)).collect(),
        log,
        ends: ends.map(|end| ShortNumber(end * unit(axis.quantity))),
    }
}

fn line(line: &PlotLine, panel: &Panel) -> LineData {
    let (across, up) = (unit(panel.x.quantity), unit(panel.y.quantity));
    // The intervals of bars are along the same axis as the bars.
    let along = if panel.y.quantity == AxisQuantity::Name {
        across
    } else {
        up
    };
    let column = |value: fn(&PlotPoint) -> f64, unit: f64| {
        let points = line.points.iter();
        points
            .map(|point| ShortNumber(value(point) * unit))
            .collect()
    };
    let places = |is: fn(&PlotPoint) -> bool| {
        let points = line.points.iter().enumerate();
        let found = points.filter(|(_, point)| is(point));
        found.map(|(place, _)| place).collect()
    };
    let has_interval = line.points.iter().any(|point| point.interval.is_some());
    let ends = |end: fn(&PlotPoint) -> Option<f64>| {
        let points = line.points.iter().filter(|_| has_interval);
        points
            .map(|point| Some(ShortNumber(end(point)? * along)))
            .collect()
    };
    LineData {
        name: legible(&line.name),
        style: style(line.style),
        form: match line.form {
            Form::Joined => "joined",
            Form::Scattered => "scattered",
            Form::Bars => "bars",
        },
        x: column(|point| point.x, across),
        y: column(|point| point.y, up),
        low: ends(|point| Some(point.interval?.0)),
        high: ends(|point| Some(point.interval?.1)),
        symbol: places(|point| point.symbol != Symbol::None),
        hollow: places(|point| point.symbol == Symbol::Hollow),
        sparse: places(|point| point.is_sparse),
        gap: places(|point| point.is_after_gap),
    }
}

const fn style(style: Style) -> &'static str {
    match style {
        Style::First => "first",
        Style::FirstAgain => "first-again",
        Style::Second => "second",
        Style::Third => "third",
        Style::Wrong => "wrong",
        Style::Bound => "bound",
        Style::Fine => "fine",
    }
}
