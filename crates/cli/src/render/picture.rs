//! Pictures of a response time over a load, as SVG 1.1 that any browser opens.
//!
//! What is drawn is a [`Picture`]; the terminal's sketch is made of the same. Values are
//! in operations per second and in seconds.

mod scale;
mod svg;

pub use scale::Scale;
pub use svg::render;

/// A diagram.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// Under which circumstances.
    pub subtitle: String,
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// What is drawn, the first in front.
    pub lines: Vec<Line>,
    /// Places on the x axis.
    pub marks: Vec<Mark>,
}

/// One axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// What it measures, with its unit unless that is in each of its numbers.
    pub label: String,
    /// What its numbers are.
    pub quantity: Quantity,
}

/// What an axis measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Operations per second, from 0.
    Load,
    /// Seconds; logarithmic when the smallest and the largest lie far apart.
    Time,
}

impl Axis {
    /// Operations per second.
    pub fn load(label: &str) -> Self {
        Self {
            label: label.into(),
            quantity: Quantity::Load,
        }
    }

    /// Seconds.
    pub fn time(label: &str) -> Self {
        Self {
            label: label.into(),
            quantity: Quantity::Time,
        }
    }
}

/// One line, with a symbol at each point.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What it is.
    pub name: String,
    /// How it looks.
    pub style: Style,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

impl Line {
    /// A line through the points that can be drawn.
    pub fn new(name: &str, style: Style, mut points: Vec<(f64, f64)>) -> Self {
        points.retain(|(x, y)| x.is_finite() && y.is_finite() && *x >= 0.0 && *y >= 0.0);
        Self {
            name: name.into(),
            style,
            points,
        }
    }
}

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// What the picture is about.
    First,
    /// The same another time.
    FirstAgain,
    /// Something beside it.
    Second,
    /// What must not be crossed.
    Bound,
}

/// A place on the x axis with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Where.
    pub x: f64,
    /// Its name.
    pub text: String,
}

impl Picture {
    /// The scales of both axes; `None` if there is nothing to draw.
    pub fn scales(&self) -> Option<(Scale, Scale)> {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let marks = self.marks.iter().map(|mark| mark.x);
        let x = Scale::of(self.x.quantity, points().map(|point| point.0).chain(marks))?;
        let y = Scale::of(self.y.quantity, points().map(|point| point.1))?;
        Some((x, y))
    }
}
