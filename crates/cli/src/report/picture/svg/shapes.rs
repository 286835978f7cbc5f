//! Lines, symbols, bars and intervals of a diagram.
//!
//! Colours are those of Okabe and Ito, which people tell apart whatever their colour vision;
//! dashes and symbols tell the lines apart on paper without colour.

use super::{SMALL, stroke, text};
use crate::report::picture::layout::Frame;
use crate::report::picture::lettering::width;
use crate::report::picture::{Form, Line, Panel, Point, Quantity, Scale, Style, Symbol};
use core::fmt::Write;

/// Half of the end of an interval's bar.
const CAP: f64 = 4.0;
/// What a row of bars leaves free between its names.
const BARS_SHARE: f64 = 0.8;
/// The way to a figure of too few samples.
const DOTS: &str = "1.5 4";

/// Colour, dashes, width and the symbol of a style.
struct Look {
    colour: &'static str,
    dash: &'static str,
    width: f64,
    symbol: Outline,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outline {
    None,
    Circle,
    Diamond,
    Square,
    Triangle,
    Cross,
}

const fn look(style: Style) -> Look {
    let (colour, dash, width, symbol) = match style {
        Style::First => ("#0072b2", "none", 2.2, Outline::Circle),
        Style::FirstAgain => ("#0072b2", "6 4", 1.8, Outline::Diamond),
        Style::Second => ("#d55e00", "12 3", 1.8, Outline::Square),
        Style::Third => ("#cc79a7", "4 3", 1.8, Outline::Triangle),
        Style::Wrong => ("#000000", "none", 1.2, Outline::Cross),
        Style::Bound => ("#009e73", "10 3 2 3", 2.0, Outline::None),
        Style::Fine => ("#56b4e9", "none", 1.0, Outline::None),
    };
    Look {
        colour,
        dash,
        width,
        symbol,
    }
}

/// The lines of a panel, the later ones in front, but what is only background behind.
pub fn draw(svg: &mut String, panel: &Panel, frame: &Frame, scales: (&Scale, &Scale)) {
    let is_behind = |line: &&Line| matches!(line.style, Style::Fine | Style::Bound);
    for line in panel.lines.iter().filter(is_behind) {
        way(svg, line, frame, scales);
    }
    for (index, line) in panel.lines.iter().enumerate() {
        if is_behind(&line) {
            continue;
        }
        match line.form {
            Form::Joined => way(svg, line, frame, scales),
            Form::Bars => bars(svg, panel, index, frame, scales),
            Form::Scattered => {}
        }
        intervals(svg, panel, line, frame, scales);
        symbols(svg, line, frame, scales);
    }
}

/// A line and its symbol, as in the legend.
pub fn sample(svg: &mut String, line: &Line, (x, y): (f64, f64), length: f64) {
    let look = look(line.style);
    if line.form == Form::Joined && look.symbol != Outline::Cross {
        stroke(svg, (x, y), (x + length, y), &stroke_look(&look, look.dash));
    }
    symbol(svg, &look, (x + length / 2.0, y), Symbol::Full);
}

fn stroke_look(look: &Look, dash: &str) -> String {
    format!(
        "stroke=\"{}\" stroke-width=\"{}\" stroke-dasharray=\"{dash}\"",
        look.colour, look.width
    )
}

/// The way from point to point: dotted where its samples are too few.
fn way(svg: &mut String, line: &Line, frame: &Frame, (x, y): (&Scale, &Scale)) {
    let look = look(line.style);
    let mut pieces: Vec<(bool, Vec<&Point>)> = Vec::new();
    let mut before: Option<&Point> = None;
    for point in &line.points {
        match (before, pieces.last_mut()) {
            (Some(_), Some((is_sparse, piece)))
                if !point.is_after_gap && *is_sparse == point.is_sparse =>
            {
                piece.push(point);
            }
            (Some(before), _) if !point.is_after_gap => {
                pieces.push((point.is_sparse, vec![before, point]));
            }
            _ => pieces.push((point.is_sparse, vec![point])),
        }
        before = Some(point);
    }
    for (is_sparse, piece) in pieces.iter().filter(|(_, piece)| piece.len() > 1) {
        let dash = if *is_sparse { DOTS } else { look.dash };
        let places = piece.iter().map(|point| {
            let (x, y) = (frame.across(x, point.x), frame.up(y, point.y));
            format!("{x:.1},{y:.1}")
        });
        let _ = writeln!(
            svg,
            "<polyline fill=\"none\" {} stroke-linejoin=\"round\" points=\"{}\"/>",
            stroke_look(&look, dash),
            places.collect::<Vec<_>>().join(" ")
        );
    }
}

/// The symbols that were asked for, and one of each point that would not be seen without.
fn symbols(svg: &mut String, line: &Line, frame: &Frame, (x, y): (&Scale, &Scale)) {
    let look = look(line.style);
    for (index, point) in line.points.iter().enumerate() {
        let next = line.points.get(index + 1);
        let is_alone =
            (index == 0 || point.is_after_gap) && next.is_none_or(|next| next.is_after_gap);
        let kind = match point.symbol {
            Symbol::None if is_alone => Symbol::Full,
            kind => kind,
        };
        let place = (frame.across(x, point.x), frame.up(y, point.y));
        symbol(svg, &look, place, kind);
    }
}

fn symbol(svg: &mut String, look: &Look, (x, y): (f64, f64), kind: Symbol) {
    let fill = match kind {
        Symbol::None => return,
        Symbol::Full => look.colour,
        Symbol::Hollow => "white",
    };
    let rest = format!(
        "fill=\"{fill}\" stroke=\"{}\" stroke-width=\"1.4\"",
        look.colour
    );
    let polygon = |corners: &[(f64, f64)]| {
        let corners = corners
            .iter()
            .map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy));
        let corners = corners.collect::<Vec<_>>().join(" ");
        format!("<polygon points=\"{corners}\" {rest}/>\n")
    };
    let shape = match look.symbol {
        Outline::None => return,
        Outline::Circle => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" {rest}/>\n"),
        Outline::Diamond => polygon(&[(0.0, -4.6), (4.6, 0.0), (0.0, 4.6), (-4.6, 0.0)]),
        Outline::Square => polygon(&[(-3.2, -3.2), (3.2, -3.2), (3.2, 3.2), (-3.2, 3.2)]),
        Outline::Triangle => polygon(&[(0.0, -4.2), (4.0, 3.2), (-4.0, 3.2)]),
        Outline::Cross => format!(
            "<path d=\"M{:.1},{:.1}l7,7m0,-7l-7,7\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"/>\n",
            x - 3.5,
            y - 3.5,
            look.colour
        ),
    };
    svg.push_str(&shape);
}

/// The intervals as bars with ends, along the axis that the figure is measured on.
fn intervals(
    svg: &mut String,
    panel: &Panel,
    line: &Line,
    frame: &Frame,
    (x, y): (&Scale, &Scale),
) {
    let look = stroke_look(&look(line.style), "none");
    for point in &line.points {
        let Some((low, high)) = point.interval else {
            continue;
        };
        let [bar, start, end] = match panel.y.quantity {
            Quantity::Name => {
                let up = frame.up(y, point.y);
                let (low, high) = (frame.across(x, low), frame.across(x, high));
                let across = |x: f64| ((x, up - CAP), (x, up + CAP));
                [((low, up), (high, up)), across(low), across(high)]
            }
            _ => {
                let at = frame.across(x, point.x);
                let (low, high) = (frame.up(y, low), frame.up(y, high));
                let up = |y: f64| ((at - CAP, y), (at + CAP, y));
                [((at, low), (at, high)), up(low), up(high)]
            }
        };
        for (from, to) in [bar, start, end] {
            stroke(svg, from, to, &look);
        }
    }
}

/// Bars of the names, those of all lines below each other, with their values.
fn bars(svg: &mut String, panel: &Panel, index: usize, frame: &Frame, (x, y): (&Scale, &Scale)) {
    let Some(line) = panel.lines.get(index) else {
        return;
    };
    let colour = look(line.style).colour;
    let row = (frame.bottom - frame.top) / panel.y.names.len().max(1) as f64;
    let height = (row * BARS_SHARE / panel.lines.len() as f64 - 2.0).max(2.0);
    for point in &line.points {
        let (at, middle) = (frame.across(x, point.x), frame.up(y, point.y));
        if !x.is_logarithmic() {
            let _ = writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\" \
                 fill=\"{colour}\" fill-opacity=\"0.35\" stroke=\"{colour}\"/>",
                frame.left,
                middle - height / 2.0,
                at - frame.left,
            );
        }
        value_beside(svg, point, (x, middle), frame);
    }
}

/// The figure in words, on the right of what is drawn of it, or on the left at the edge.
fn value_beside(svg: &mut String, point: &Point, (x, middle): (&Scale, f64), frame: &Frame) {
    let words = crate::quantity::time_text(point.x * 1e9);
    let end = point.interval.map_or(point.x, |interval| interval.1);
    let at = frame.across(x, end) + 8.0;
    let look = format!("font-size=\"{SMALL}\"");
    if at + width(&words, SMALL) < frame.right {
        text(svg, (at, middle + 4.0), "start", &look, &words);
    } else {
        let start = point.interval.map_or(point.x, |interval| interval.0);
        let at = frame.across(x, start) - 8.0;
        text(svg, (at, middle + 4.0), "end", &look, &words);
    }
}
