//! Pictures as SVG 1.1 that any browser opens: one or several diagrams below each other.
//!
//! What is drawn is a [`Picture`]; the terminal's sketch is made of the same. Loads are in
//! operations per second, times in seconds, percentiles as 1/(1−p).

mod label_text;
mod layout;
mod scale;
mod svg;

pub use label_text::legible;
#[cfg(test)]
pub use label_text::width;
pub use scale::Scale;
pub use svg::render;

/// Values beyond this cannot be drawn: no load, time or count comes near it.
const DRAWABLE_MAX: f64 = 1e15;
/// An interval that reaches below this share of its value does not stretch the axis.
const INTERVAL_LOW_SHARE: f64 = 0.5;

/// Diagrams below each other, with what makes them quotable.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// Target, load, date and version, a line each.
    pub circumstances: Vec<String>,
    /// The diagrams.
    pub panels: Vec<Panel>,
    /// How to read what is not obvious, and what was left out.
    pub notes: Vec<String>,
}

/// One diagram.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// How high the diagram is, in pixels.
    pub height: f64,
    /// What is drawn, in the order of the legend.
    pub lines: Vec<Line>,
    /// Places on the x axis.
    pub marks: Vec<Mark>,
    /// Parts of the x axis.
    pub spans: Vec<Span>,
    /// Values that the x axis reaches, whatever is drawn.
    pub reach: Vec<f64>,
}

/// One axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// What it measures, with its unit unless that is in each of its numbers.
    pub label: String,
    /// What its numbers are.
    pub quantity: Quantity,
    /// Of [`Quantity::Name`]: the names, from the top.
    pub names: Vec<String>,
}

/// What an axis measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Operations per second, from 0.
    Load,
    /// Seconds; logarithmic when the smallest and the largest lie far apart.
    Time,
    /// Seconds since the measured window opened; what lies before it is negative.
    Elapsed,
    /// 1/(1−p), logarithmic, so that each nine takes the same room.
    Percentile,
    /// Numbers whose ratios matter, so that the axis is logarithmic.
    Ratio,
    /// Values whose differences matter, so that the axis does not begin at 0.
    Near,
    /// Things with names: from one whole number to the next is the room of one of them.
    Name,
}

impl Axis {
    /// An axis whose numbers need no names.
    pub fn new(quantity: Quantity, label: &str) -> Self {
        Self {
            label: label.into(),
            quantity,
            names: vec![],
        }
    }

    /// Operations per second.
    pub fn load(label: &str) -> Self {
        Self::new(Quantity::Load, label)
    }

    /// Seconds.
    pub fn time(label: &str) -> Self {
        Self::new(Quantity::Time, label)
    }
}

/// One line, or one row of bars.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What it is.
    pub name: String,
    /// How it looks.
    pub style: Style,
    /// What is between its points.
    pub form: Form,
    /// Its points.
    pub points: Vec<Point>,
}

/// What is drawn of a line beside its symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The way from point to point.
    Joined,
    /// Nothing.
    Scattered,
    /// A bar from the y axis to each point; on a logarithmic axis nothing, since the length
    /// of a bar would mean nothing there.
    Bars,
}

/// One point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Across.
    pub x: f64,
    /// Up.
    pub y: f64,
    /// The interval in which the measured figure is, if it is known.
    pub interval: Option<(f64, f64)>,
    /// Its symbol.
    pub symbol: Symbol,
    /// Whether the way to it is dotted: too few samples.
    pub is_sparse: bool,
    /// Whether there is no way to it from the point before.
    pub is_after_gap: bool,
}

/// How a point is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symbol {
    /// Only the line.
    None,
    /// The symbol of its line.
    Full,
    /// Only the outline: a figure that is not what it should be.
    Hollow,
}

impl Point {
    /// A point with the symbol of its line.
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

    /// The ends of its interval, cut where they would stretch an axis, else `value` itself.
    fn extent(&self, value: f64) -> [f64; 2] {
        match self.interval {
            Some((low, high)) if high < DRAWABLE_MAX => {
                [low.max(value * INTERVAL_LOW_SHARE).min(value), high]
            }
            _ => [value, value],
        }
    }
}

impl Line {
    /// A line through the points that can be drawn, interrupted by those that cannot.
    pub fn new(name: &str, style: Style, form: Form, points: Vec<Point>) -> Self {
        let mut kept: Vec<Point> = Vec::with_capacity(points.len());
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

    /// A joined line with a symbol at each point.
    pub fn joined(name: &str, style: Style, points: Vec<(f64, f64)>) -> Self {
        let points = points.into_iter().map(|(x, y)| Point::new(x, y)).collect();
        Self::new(name, style, Form::Joined, points)
    }
}

/// How a line looks: each differs from the others in colour, in dashes and in its symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// What the picture is about.
    First,
    /// The same another time.
    FirstAgain,
    /// Something beside it.
    Second,
    /// Something else beside it.
    Third,
    /// What went wrong.
    Wrong,
    /// What must not be crossed, or what was asked for.
    Bound,
    /// The first in finer detail, behind it.
    Fine,
}

/// A place on the x axis with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Where.
    pub x: f64,
    /// Its name; its value is written behind it.
    pub text: String,
}

impl Mark {
    /// Marks of the places that are known.
    pub fn known<const PLACES: usize>(places: [(Option<f64>, &str); PLACES]) -> Vec<Self> {
        let known = places.into_iter().filter_map(|(x, text)| Some((x?, text)));
        let mark = |(x, text): (f64, &str)| Self {
            x,
            text: text.into(),
        };
        known.map(mark).collect()
    }
}

/// A part of the x axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Its name; may be empty.
    pub text: String,
    /// Whether it is no part of what was measured.
    pub is_shaded: bool,
}

impl Picture {
    /// The scales of the first diagram; `None` if there is nothing to draw.
    pub fn scales(&self) -> Option<(Scale, Scale)> {
        self.panels.first().and_then(Panel::scales)
    }
}

impl Panel {
    /// A diagram of usual height without marks.
    pub fn new(x: Axis, y: Axis, lines: Vec<Line>) -> Self {
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

    /// The scales of both axes; `None` if there is nothing to draw.
    pub fn scales(&self) -> Option<(Scale, Scale)> {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        points().next()?;
        let is_named = self.y.quantity == Quantity::Name;
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
            return Some((x, Scale::of(Quantity::Name, std::iter::once(count as f64))?));
        }
        let y = Scale::of(
            self.y.quantity,
            points().flat_map(|point| point.extent(point.y)),
        )?;
        Some((x, y))
    }
}
