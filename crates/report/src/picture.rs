//! Pictures as SVG 1.1 that any browser opens: one or several diagrams, one below the other.
//!
//! A [`Picture`] describes the content; the terminal sketch is made from the same [`Picture`].
//! Loads are in operations per second, times in seconds, percentiles as 1/(1−p).

mod label_text;
mod layout;
mod scale;
mod svg;

pub use label_text::legible;
#[cfg(test)]
pub use label_text::width;
pub use scale::Scale;
pub use svg::render;

/// Largest value that can be drawn; no load, time or count comes near it.
const DRAWABLE_MAX: f64 = 1e15;
/// An interval whose lower end is below this share of its value does not extend the axis.
const INTERVAL_LOW_SHARE: f64 = 0.5;

/// Diagrams below each other, with the title, circumstances and notes needed to quote them.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Title of the picture.
    pub title: String,
    /// Target, load, date and version, one line each.
    pub circumstances: Vec<String>,
    /// Diagrams, from the top.
    pub panels: Vec<Panel>,
    /// Notes on how to read the diagrams and on data that was left out.
    pub notes: Vec<String>,
}

/// A diagram.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Height of the diagram, in pixels.
    pub height: f64,
    /// Lines, in the order of the legend.
    pub lines: Vec<PlotLine>,
    /// Named positions on the x axis.
    pub marks: Vec<PlotMark>,
    /// Named ranges of the x axis.
    pub spans: Vec<Span>,
    /// Values that the x axis includes, whether or not data is drawn there.
    pub reach: Vec<f64>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// Measured quantity, with its unit unless each number contains it.
    pub label: String,
    /// Kind of quantity, which decides the scale and the format of numbers.
    pub quantity: AxisQuantity,
    /// Names for [`AxisQuantity::Name`], from the top.
    pub names: Vec<String>,
}

/// Kind of quantity on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisQuantity {
    /// Operations per second, with an axis that starts at 0.
    Load,
    /// Seconds; logarithmic when the smallest and the largest value are far apart.
    Time,
    /// Seconds since the measured window opened; earlier times are negative.
    Elapsed,
    /// 1/(1−p), logarithmic, so that each nine takes the same width.
    Percentile,
    /// Numbers whose ratios matter, on a logarithmic axis.
    Ratio,
    /// Values whose differences matter, on an axis that need not start at 0.
    Near,
    /// Named categories, each one unit wide.
    Name,
}

impl Axis {
    /// Creates an axis without names.
    pub fn new(quantity: AxisQuantity, label: &str) -> Self {
        Self {
            label: label.into(),
            quantity,
            names: vec![],
        }
    }

    /// Creates an axis of operations per second.
    pub fn load(label: &str) -> Self {
        Self::new(AxisQuantity::Load, label)
    }

    /// Creates an axis of seconds.
    pub fn time(label: &str) -> Self {
        Self::new(AxisQuantity::Time, label)
    }
}

/// A line, or a row of bars.
#[derive(Debug, Clone, PartialEq)]
pub struct PlotLine {
    /// Name in the legend.
    pub name: String,
    /// Colour, dashes and symbol.
    pub style: Style,
    /// Connection between the points.
    pub form: Form,
    /// Points, from left to right.
    pub points: Vec<PlotPoint>,
}

/// Connection that is drawn between the symbols of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A straight segment from point to point.
    Joined,
    /// Symbols only.
    Scattered,
    /// A bar from the y axis to each point; on a logarithmic axis no bar, since its length would
    /// have no meaning there.
    Bars,
}

/// A point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlotPoint {
    /// Horizontal value.
    pub x: f64,
    /// Vertical value.
    pub y: f64,
    /// Interval of the measured figure, if known.
    pub interval: Option<(f64, f64)>,
    /// Symbol of the point.
    pub symbol: Symbol,
    /// Whether the segment to this point is dotted because it has too few samples.
    pub is_sparse: bool,
    /// Whether the segment from the previous point is left out.
    pub is_after_gap: bool,
}

/// Symbol drawn at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symbol {
    /// No symbol, only the line.
    None,
    /// The symbol of the line.
    Full,
    /// The outline only, for a figure that fails its requirement.
    Hollow,
}

impl PlotPoint {
    /// Creates a point with the symbol of its line.
    pub const fn new(x: f64, y: f64) -> Self {
        Self {
            x,
            y,
            interval: None,
            symbol: Symbol::Full,
            is_sparse: false,
            is_after_gap: false,
        }
    }

    fn is_drawable(&self) -> bool {
        let is_number = |value: f64| value.is_finite() && (0.0..DRAWABLE_MAX).contains(&value);
        is_number(self.x) && is_number(self.y)
    }

    /// Returns the ends of the interval, clipped if they would extend an axis too far; without an
    /// interval `value` twice.
    fn extent(&self, value: f64) -> [f64; 2] {
        match self.interval {
            Some((low, high)) if high < DRAWABLE_MAX => {
                [low.max(value * INTERVAL_LOW_SHARE).min(value), high]
            }
            _ => [value, value],
        }
    }
}

impl PlotLine {
    /// Creates a line through the points that can be drawn, interrupted at those that cannot.
    pub fn new(name: &str, style: Style, form: Form, points: Vec<PlotPoint>) -> Self {
        let mut kept: Vec<PlotPoint> = Vec::with_capacity(points.len());
        let mut is_gap = false;
        for mut point in points {
            if point.is_drawable() {
                point.is_after_gap |= is_gap;
                point.interval = point.interval.filter(|(low, high)| low <= high);
                kept.push(point);
            }
            is_gap = !point.is_drawable();
        }
        Self {
            name: name.into(),
            style,
            form,
            points: kept,
        }
    }

    /// Creates a joined line with a symbol at each point.
    pub fn joined(name: &str, style: Style, points: Vec<(f64, f64)>) -> Self {
        let points = points
            .into_iter()
            .map(|(x, y)| PlotPoint::new(x, y))
            .collect();
        Self::new(name, style, Form::Joined, points)
    }
}

/// Style of a line: each style differs from the others in colour, dashes and symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Main line of the picture.
    First,
    /// The main line, measured a second time.
    FirstAgain,
    /// First line of context.
    Second,
    /// Second line of context.
    Third,
    /// Errors and failures.
    Wrong,
    /// Bound or requested value.
    Bound,
    /// The main line in finer detail, drawn behind it.
    Fine,
}

/// A named position on the x axis.
#[derive(Debug, Clone, PartialEq)]
pub struct PlotMark {
    /// Position on the x axis.
    pub x: f64,
    /// Name; the value is written behind it.
    pub text: String,
}

impl PlotMark {
    /// Returns marks for the positions that are known.
    pub fn known<const PLACES: usize>(places: [(Option<f64>, &str); PLACES]) -> Vec<Self> {
        let known = places.into_iter().filter_map(|(x, text)| Some((x?, text)));
        let mark = |(x, text): (f64, &str)| Self {
            x,
            text: text.into(),
        };
        known.map(mark).collect()
    }
}

/// A range of the x axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// Start of the range.
    pub from: f64,
    /// End of the range.
    pub to: f64,
    /// Name; may be empty.
    pub text: String,
    /// Whether the range is shaded because it was not measured.
    pub is_shaded: bool,
}

impl Picture {
    /// Returns the scales of the first diagram, or `None` if there is nothing to draw.
    pub fn scales(&self) -> Option<(Scale, Scale)> {
        self.panels.first().and_then(Panel::scales)
    }
}

impl Panel {
    /// Creates a diagram of the usual height without marks.
    pub fn new(x: Axis, y: Axis, lines: Vec<PlotLine>) -> Self {
        Self {
            x,
            y,
            height: 380.0,
            lines,
            marks: vec![],
            spans: vec![],
            reach: vec![],
        }
    }

    /// Creates a diagram of rows with these names, each of this height, from the top.
    pub fn of_rows(x: Axis, names: Vec<String>, height: f64, lines: Vec<PlotLine>) -> Self {
        let height = names.len() as f64 * height;
        let y = Axis {
            names,
            ..Axis::new(AxisQuantity::Name, "")
        };
        Self {
            height,
            ..Self::new(x, y, lines)
        }
    }

    /// Returns the scales of both axes, or `None` if there is nothing to draw.
    pub fn scales(&self) -> Option<(Scale, Scale)> {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        points().next()?;
        let is_named = self.y.quantity == AxisQuantity::Name;
        let marks = self.marks.iter().map(|mark| mark.x);
        let spans = self.spans.iter().flat_map(|span| [span.from, span.to]);
        let reach = spans.chain(self.reach.iter().copied());
        let across = points().flat_map(|point| {
            if is_named {
                point.extent(point.x)
            } else {
                [point.x, point.x]
            }
        });
        let x = Scale::of(self.x.quantity, across.chain(marks).chain(reach))?;
        if is_named {
            let count = self.y.names.len();
            return Some((
                x,
                Scale::of(AxisQuantity::Name, std::iter::once(count as f64))?,
            ));
        }
        let y = Scale::of(
            self.y.quantity,
            points().flat_map(|point| point.extent(point.y)),
        )?;
        Some((x, y))
    }
}
