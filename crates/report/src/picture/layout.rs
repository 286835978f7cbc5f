//! Layout of a picture: the frame of a diagram, and labels without overlaps.

use super::label_text::width;
use super::{PlotPoint, Scale};

/// Width of every picture, in pixels, chosen so that its text has the size of a page's text.
pub const WIDTH: f64 = 800.0;
/// Space to the left of the first letter and to the right of the last.
pub const MARGIN: f64 = 12.0;
/// Space between two labels of one row.
const GAP: f64 = 10.0;
/// Maximum number of rows for labels of marks; further ones overlap in the last.
const ROWS_MAX: usize = 4;

/// A position in a picture, in pixels from its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pixel {
    /// Distance to the right.
    pub x: f64,
    /// Distance down.
    pub y: f64,
}

impl Pixel {
    /// Returns the position with these coordinates.
    pub const fn at(x: f64, y: f64) -> Self {
        Self { x, y }
    }
}

/// A diagram on the page, with the scales of its axes.
#[derive(Debug, Clone, PartialEq)]
pub struct PlotFrame {
    /// Left edge.
    pub left: f64,
    /// Right edge.
    pub right: f64,
    /// Upper edge.
    pub top: f64,
    /// Lower edge.
    pub bottom: f64,
    /// Horizontal scale.
    pub x: Scale,
    /// Vertical scale.
    pub y: Scale,
}

impl PlotFrame {
    /// Returns the horizontal position of a value.
    pub fn across(&self, value: f64) -> f64 {
        self.left + self.x.place(value) * self.width()
    }

    /// Returns the vertical position of a value.
    pub fn up(&self, value: f64) -> f64 {
        self.bottom - self.y.place(value) * self.height()
    }

    /// Returns the position of a point.
    pub fn pixel(&self, point: &PlotPoint) -> Pixel {
        Pixel::at(self.across(point.x), self.up(point.y))
    }

    /// Returns the distance from the left edge to the right one.
    pub const fn width(&self) -> f64 {
        self.right - self.left
    }

    /// Returns the distance from the upper edge to the lower one.
    pub const fn height(&self) -> f64 {
        self.bottom - self.top
    }
}

/// A label with its position: its middle, and its row from the bottom.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedLabel {
    /// Middle of the text.
    pub x: f64,
    /// Row; 0 is next to the diagram.
    pub row: usize,
    /// The text.
    pub text: String,
}

/// Places each text as near to its x as the edges allow, in the lowest row where it does not
/// overlap another.
pub fn rows_of_labels(labels: Vec<(f64, String)>, edges: [f64; 2], size: f64) -> Vec<PlacedLabel> {
    let [left, right] = edges;
    let mut rows: Vec<Vec<(f64, f64)>> = vec![vec![]; ROWS_MAX];
    let mut placed = Vec::new();
    for (x, text) in labels {
        let half = width(&text, size) / 2.0;
        let x = x.min(right - half).max(left + half);
        let (from, to) = (x - half - GAP / 2.0, x + half + GAP / 2.0);
        let is_free = |row: &Vec<(f64, f64)>| row.iter().all(|(a, b)| to <= *a || from >= *b);
        let row = rows.iter().position(is_free).unwrap_or(ROWS_MAX - 1);
        if let Some(taken) = rows.get_mut(row) {
            taken.push((from, to));
        }
        placed.push(PlacedLabel { x, row, text });
    }
    placed
}

/// Returns which labels of an axis can be drawn, from positions and widths in pixels: each that
/// does not overlap an earlier one.
pub fn without_overlaps(numbers: &[(f64, f64)]) -> Vec<bool> {
    let mut end = f64::NEG_INFINITY;
    let numbers = numbers.iter().map(|(middle, width)| {
        let is_free = middle - width / 2.0 >= end;
        if is_free {
            end = middle + width / 2.0 + GAP / 2.0;
        }
        is_free
    });
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::AxisQuantity;

    #[test]
    fn a_value_is_where_paper_says() {
        let frame = |x: Scale| PlotFrame {
            left: 100.0,
            right: 700.0,
            top: 50.0,
            bottom: 450.0,
            y: x,
            x,
        };
        let load = Scale::of(AxisQuantity::Load, [1000.0].into_iter()).expect("a load");
        assert_eq!(frame(load).across(250.0), 250.0);
        assert_eq!(frame(load).up(250.0), 350.0);
        // 1 % and 0.1 % of the operations are at two and three of the four decades from the left.
        let tail = Scale::of(AxisQuantity::Percentile, [1e4].into_iter()).expect("a tail");
        let tail = frame(tail);
        let places = [1.0, 100.0, 1000.0, 1e4].map(|value| tail.across(value));
        for (place, expected) in places.iter().zip([100.0, 400.0, 550.0, 700.0]) {
            assert!((place - expected).abs() < 1e-9, "{place} for {expected}");
        }
    }

    #[test]
    fn labels_that_would_touch_are_one_above_the_other() {
        let label = |x: f64| (x, "a label".to_string());
        let placed = rows_of_labels(
            vec![label(300.0), label(310.0), label(500.0), label(799.0)],
            [0.0, 800.0],
            13.0,
        );
        let rows: Vec<usize> = placed.iter().map(|label| label.row).collect();
        assert_eq!(rows, [0, 1, 0, 0]);
        assert!(placed[3].x < 799.0 && placed[3].x > 700.0);
    }

    #[test]
    fn a_number_gives_way_to_the_one_before_it() {
        let numbers = [(0.0, 20.0), (15.0, 20.0), (40.0, 20.0)];
        assert_eq!(without_overlaps(&numbers), [true, false, true]);
    }
}
