//! Where things are in a picture: the frame of a diagram, and labels that keep out of each
//! other's way.

use super::label_text::width;
use super::{Point, Scale};

/// Width of every picture, in pixels: at this one its text is as large as that of a page.
pub const WIDTH: f64 = 800.0;
/// Room on the left of the first letter and on the right of the last.
pub const MARGIN: f64 = 12.0;
/// Room between two labels of one row.
const GAP: f64 = 10.0;
/// Labels of marks are in this many rows at most; further ones overlap in the last.
const ROWS_MAX: usize = 4;

/// A place in a picture, in pixels from its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pixel {
    /// To the right.
    pub x: f64,
    /// Down.
    pub y: f64,
}

impl Pixel {
    /// The place with these coordinates.
    pub const fn at(x: f64, y: f64) -> Self {
        Self { x, y }
    }
}

/// A diagram on the page, with the scales of its axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Of its left edge.
    pub left: f64,
    /// Of its right edge.
    pub right: f64,
    /// Of its upper edge.
    pub top: f64,
    /// Of its lower edge.
    pub bottom: f64,
    /// From left to right.
    pub x: Scale,
    /// From bottom to top.
    pub y: Scale,
}

impl Frame {
    /// Where a value is from left to right.
    pub fn across(&self, value: f64) -> f64 {
        self.left + self.x.place(value) * self.width()
    }

    /// Where a value is from bottom to top.
    pub fn up(&self, value: f64) -> f64 {
        self.bottom - self.y.place(value) * self.height()
    }

    /// Where a point is.
    pub fn pixel(&self, point: &Point) -> Pixel {
        Pixel::at(self.across(point.x), self.up(point.y))
    }

    /// From its left edge to its right one.
    pub const fn width(&self) -> f64 {
        self.right - self.left
    }

    /// From its upper edge to its lower one.
    pub const fn height(&self) -> f64 {
        self.bottom - self.top
    }
}

/// A label that has its place: its middle, and its row from the bottom.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// The middle of the text.
    pub x: f64,
    /// 0 is next to the diagram.
    pub row: usize,
    /// The text.
    pub text: String,
}

/// Gives each text a place as near to its x as the edges allow, in the lowest row where it
/// touches no other.
pub fn rows_of_labels(labels: Vec<(f64, String)>, edges: [f64; 2], size: f64) -> Vec<Placed> {
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
        placed.push(Placed { x, row, text });
    }
    placed
}

/// Which numbers of an axis can be written, from places and widths in pixels: each that
/// touches none before it.
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
    use crate::report::picture::Quantity;

    #[test]
    fn a_value_is_where_paper_says() {
        let frame = |x: Scale| Frame {
            left: 100.0,
            right: 700.0,
            top: 50.0,
            bottom: 450.0,
            y: x,
            x,
        };
        let load = Scale::of(Quantity::Load, [1000.0].into_iter()).expect("a load");
        assert_eq!(frame(load).across(250.0), 250.0);
        assert_eq!(frame(load).up(250.0), 350.0);
        // 1 % and 0.1 % of the operations are two and three decades from the left of four.
        let tail = Scale::of(Quantity::Percentile, [1e4].into_iter()).expect("a tail");
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
