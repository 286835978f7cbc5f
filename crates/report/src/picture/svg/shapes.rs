//! Lines, symbols, bars and intervals of a diagram.
//!
//! Colours are those of Okabe and Ito, which readers with any colour vision can distinguish; dashes
//! and symbols distinguish the lines on paper without colour.

use super::{SMALL, stroke, text};
use crate::picture::label_text::width;
use crate::picture::layout::{Pixel, PlotFrame};
use crate::picture::{AxisQuantity, Form, Panel, PlotLine, PlotPoint, Style, Symbol};
use core::fmt::Write;
use filestone_workload::text::time_text;

/// Half the length of the cap of an interval's bar.
const CAP: f64 = 4.0;
/// Share of the height of a name that its bars use.
const BARS_SHARE: f64 = 0.8;
/// Dash pattern of the segment to a figure with too few samples.
const DOTS: &str = "1.5 4";

/// Colour, dashes, width and symbol of a style.
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

/// Draws the lines of a panel, later ones in front, background lines behind.
pub fn draw(svg: &mut String, panel: &Panel, frame: &PlotFrame) {
    let is_behind = |line: &&PlotLine| matches!(line.style, Style::Fine | Style::Bound);
    for line in panel.lines.iter().filter(is_behind) {
        way(svg, line, frame);
    }
    for (index, line) in panel.lines.iter().enumerate() {
        if is_behind(&line) {
            continue;
        }
        match line.form {
            Form::Joined => way(svg, line, frame),
            Form::Bars => bars(svg, panel, index, frame),
            Form::Scattered => {}
        }
        intervals(svg, panel, line, frame);
        symbols(svg, line, frame);
    }
}

/// Draws a line and its symbol, as in the legend.
pub fn sample(svg: &mut String, line: &PlotLine, from: Pixel, length: f64) {
    let look = look(line.style);
    if line.form == Form::Joined && look.symbol != Outline::Cross {
        let to = Pixel::at(from.x + length, from.y);
        stroke(svg, from, to, &stroke_look(&look, look.dash));
    }
    let middle = Pixel::at(from.x + length / 2.0, from.y);
    symbol(svg, &look, middle, Symbol::Full);
}

fn stroke_look(look: &Look, dash: &str) -> String {
    format!(
        "stroke=\"{}\" stroke-width=\"{}\" stroke-dasharray=\"{dash}\"",
        look.colour, look.width
    )
}

/// Draws the segments from point to point: dotted if there are too few samples.
fn way(svg: &mut String, line: &PlotLine, frame: &PlotFrame) {
    let look = look(line.style);
    let mut pieces: Vec<(bool, Vec<&PlotPoint>)> = Vec::new();
    let mut before: Option<&PlotPoint> = None;
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
            let Pixel { x, y } = frame.pixel(point);
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

/// Draws the requested symbols, and one for each point that would not be visible otherwise.
fn symbols(svg: &mut String, line: &PlotLine, frame: &PlotFrame) {
    let look = look(line.style);
    for (index, point) in line.points.iter().enumerate() {
        let next = line.points.get(index + 1);
        let is_alone =
            (index == 0 || point.is_after_gap) && next.is_none_or(|next| next.is_after_gap);
        let kind = match point.symbol {
            Symbol::None if is_alone => Symbol::Full,
            kind => kind,
        };
        symbol(svg, &look, frame.pixel(point), kind);
    }
}

fn symbol(svg: &mut String, look: &Look, at: Pixel, kind: Symbol) {
    let Pixel { x, y } = at;
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

/// Draws the intervals as bars with caps, along the axis of the figure.
fn intervals(svg: &mut String, panel: &Panel, line: &PlotLine, frame: &PlotFrame) {
    let look = stroke_look(&look(line.style), "none");
    for point in &line.points {
        let Some((low, high)) = point.interval else {
            continue;
        };
        let Pixel { x, y } = frame.pixel(point);
        let upright = |x: f64, from: f64, to: f64| [Pixel::at(x, from), Pixel::at(x, to)];
        let level = |y: f64, from: f64, to: f64| [Pixel::at(from, y), Pixel::at(to, y)];
        let strokes = if panel.y.quantity == AxisQuantity::Name {
            let (low, high) = (frame.across(low), frame.across(high));
            let end = |x: f64| upright(x, y - CAP, y + CAP);
            [level(y, low, high), end(low), end(high)]
        } else {
            let (low, high) = (frame.up(low), frame.up(high));
            let end = |y: f64| level(y, x - CAP, x + CAP);
            [upright(x, low, high), end(low), end(high)]
        };
        for [from, to] in strokes {
            stroke(svg, from, to, &look);
        }
    }
}

/// Draws the bars of the names, those of all lines below each other, with their values.
fn bars(svg: &mut String, panel: &Panel, index: usize, frame: &PlotFrame) {
    let Some(line) = panel.lines.get(index) else {
        return;
    };
    let colour = look(line.style).colour;
    let row = frame.height() / panel.y.names.len().max(1) as f64;
    let height = (row * BARS_SHARE / panel.lines.len() as f64 - 2.0).max(2.0);
    for point in &line.points {
        let at = frame.pixel(point);
        if !frame.x.is_logarithmic() {
            let _ = writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\" \
                 fill=\"{colour}\" fill-opacity=\"0.35\" stroke=\"{colour}\"/>",
                frame.left,
                at.y - height / 2.0,
                at.x - frame.left,
            );
        }
        value_beside(svg, point, frame);
    }
}

/// Draws the figure as text, on the right of its symbol, or on the left near the edge.
fn value_beside(svg: &mut String, point: &PlotPoint, frame: &PlotFrame) {
    let words = time_text(point.x * 1e9);
    let end = point.interval.map_or(point.x, |interval| interval.1);
    let look = format!("font-size=\"{SMALL}\"");
    let y = frame.up(point.y) + 4.0;
    let on_the_right = frame.across(end) + 8.0;
    if on_the_right + width(&words, SMALL) < frame.right {
        text(svg, Pixel::at(on_the_right, y), "start", &look, &words);
    } else {
        let start = point.interval.map_or(point.x, |interval| interval.0);
        let at = Pixel::at(frame.across(start) - 8.0, y);
        text(svg, at, "end", &look, &words);
    }
}
