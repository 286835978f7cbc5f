//! Picture as SVG 1.1: plain shapes and text, without scripts, style sheets or embedded fonts, on a
//! white background.

mod shapes;

use super::label_text::{SIZE, escaped, fitted, width, wrapped};
use super::layout::{
    MARGIN, Pixel, PlacedLabel, PlotFrame, WIDTH, rows_of_labels, without_overlaps,
};
use super::{Axis, AxisQuantity, Panel, Picture, Scale};
use core::fmt::Write;

const TITLE_SIZE: f64 = 18.0;
const SMALL: f64 = 12.0;
/// Distance between two lines of text.
const LEADING: f64 = 18.0;
/// Width for the labels of a y axis.
const NUMBERS: f64 = 72.0;
/// Maximum width for the names of a y axis.
const NAMES_MAX: f64 = 270.0;
const RIGHT: f64 = WIDTH - 24.0;
/// Maximum number of lines for the circumstances and for the notes.
const LINES_MAX: usize = 3;
/// Length of a line in the legend.
const SAMPLE: f64 = 30.0;
/// Colours of secondary text, and of the grid.
const QUIET: &str = "fill=\"#555\"";
const GRID: &str = "stroke=\"#ccc\"";
const FINE_GRID: &str = "stroke=\"#eee\"";

/// Renders the picture; a picture without data contains a note.
pub fn render(picture: &Picture) -> String {
    let mut sheet = Sheet::default();
    sheet.heading(picture);
    for panel in &picture.panels {
        sheet.panel(panel);
    }
    sheet.notes(&picture.notes);
    sheet.finished(picture)
}

/// Drawing in progress, from the top.
#[derive(Default)]
struct Sheet {
    svg: String,
    /// Baseline of the last text.
    y: f64,
}

impl Sheet {
    fn heading(&mut self, picture: &Picture) {
        self.y = 28.0;
        let room = RIGHT - MARGIN;
        let title = fitted(&picture.title, room, TITLE_SIZE);
        let look = format!("font-size=\"{TITLE_SIZE}\"");
        text(
            &mut self.svg,
            Pixel::at(MARGIN, self.y),
            "start",
            &look,
            &title,
        );
        self.y += 4.0;
        for line in &picture.circumstances {
            self.lines(line, QUIET, SIZE);
        }
    }

    fn notes(&mut self, notes: &[String]) {
        self.y += 4.0;
        let look = format!("{QUIET} font-size=\"{SMALL}\"");
        for note in notes {
            self.lines(note, &look, SMALL);
        }
    }

    fn lines(&mut self, words: &str, look: &str, size: f64) {
        for line in wrapped(words, RIGHT - MARGIN, size, LINES_MAX) {
            self.y += LEADING;
            text(
                &mut self.svg,
                Pixel::at(MARGIN, self.y),
                "start",
                look,
                &line,
            );
        }
    }

    fn finished(self, picture: &Picture) -> String {
        let height = (self.y + 16.0).ceil();
        let title = fitted(&picture.title, f64::INFINITY, SIZE);
        let description = fitted(&description(picture), f64::INFINITY, SIZE);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{WIDTH}\" \
             height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
             font-size=\"{SIZE}\">\n<title>{}</title>\n<desc>{}</desc>\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n{}</svg>\n",
            escaped(&title),
            escaped(&description),
            self.svg
        )
    }

    fn panel(&mut self, panel: &Panel) {
        self.y += 14.0;
        let Some((x, y)) = panel.scales() else {
            self.nothing(panel);
            return;
        };
        let left = MARGIN + room_on_the_left(&panel.y, &y);
        self.lines(&label_of(&panel.y, &y), "", SIZE);
        self.legend(panel, left);
        let labels = labels_of(panel, &x, left);
        let rows = labels.iter().map(|label| label.row + 1).max().unwrap_or(0);
        let top = self.y + 10.0 + LEADING * rows as f64;
        let frame = PlotFrame {
            left,
            right: RIGHT,
            top,
            bottom: top + panel.height,
            x,
            y,
        };
        self.spans(panel, &frame);
        self.grid(panel, &frame);
        self.marks(panel, &frame);
        self.labels(&labels, &frame);
        shapes::draw(&mut self.svg, panel, &frame);
        self.y = frame.bottom + 20.0;
        let label = label_of(&panel.x, &frame.x);
        if !label.is_empty() {
            self.y += 20.0;
            let middle = (frame.left + frame.right) / 2.0;
            text(
                &mut self.svg,
                Pixel::at(middle, self.y),
                "middle",
                "",
                &label,
            );
        }
    }

    fn nothing(&mut self, panel: &Panel) {
        self.lines(&panel.y.label, "", SIZE);
        self.y += 24.0;
        let words = "nothing was measured";
        text(&mut self.svg, Pixel::at(MARGIN, self.y), "start", "", words);
    }

    /// Draws the names of the lines, as many in a row as fit.
    fn legend(&mut self, panel: &Panel, left: f64) {
        let mut x = f64::INFINITY;
        for line in &panel.lines {
            let name = fitted(&line.name, RIGHT - left - SAMPLE, SIZE);
            let room = SAMPLE + 8.0 + width(&name, SIZE);
            if x + room > RIGHT {
                x = left;
                self.y += LEADING + 2.0;
            }
            shapes::sample(&mut self.svg, line, Pixel::at(x, self.y - 4.0), SAMPLE);
            let place = Pixel::at(x + SAMPLE + 6.0, self.y);
            text(&mut self.svg, place, "start", "", &name);
            x += room + 12.0;
        }
    }

    fn spans(&mut self, panel: &Panel, frame: &PlotFrame) {
        for span in panel.spans.iter().filter(|span| span.is_shaded) {
            let (from, to) = (frame.across(span.from), frame.across(span.to));
            let _ = writeln!(
                self.svg,
                "<rect x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"#f0f0f0\"/>",
                frame.top,
                (to - from).max(0.0),
                frame.height()
            );
        }
    }

    fn grid(&mut self, panel: &Panel, frame: &PlotFrame) {
        let ticks = frame.x.ticks();
        let numbers: Vec<(f64, f64, &str)> = ticks
            .iter()
            .filter_map(|tick| {
                let words = tick.text.as_deref()?;
                let at = frame.left + tick.place * frame.width();
                Some((at, width(words, SIZE), words))
            })
            .collect();
        for tick in &ticks {
            let at = frame.left + tick.place * frame.width();
            let look = grid_look(tick.text.is_some());
            self.upright(frame, at, look);
        }
        let sizes: Vec<(f64, f64)> = numbers.iter().map(|number| (number.0, number.1)).collect();
        for ((at, _, words), is_free) in numbers.iter().zip(without_overlaps(&sizes)) {
            if is_free {
                let half = width(words, SIZE) / 2.0;
                let place = Pixel::at(at.min(WIDTH - half), frame.bottom + 18.0);
                text(&mut self.svg, place, "middle", "", words);
            }
        }
        self.grid_up(panel, frame);
        let _ = writeln!(
            self.svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"none\" stroke=\"#333\"/>",
            frame.left,
            frame.top,
            frame.width(),
            frame.height()
        );
    }

    fn grid_up(&mut self, panel: &Panel, frame: &PlotFrame) {
        let end = frame.left - 8.0;
        for tick in frame.y.ticks() {
            let at = frame.bottom - tick.place * frame.height();
            let look = grid_look(tick.text.is_some());
            self.level(frame, at, look);
            if let Some(words) = &tick.text {
                text(&mut self.svg, Pixel::at(end, at + 4.0), "end", "", words);
            }
        }
        for (index, name) in panel.y.names.iter().enumerate() {
            let at = frame.up(index as f64 + 0.5);
            let name = fitted(name, NAMES_MAX - 8.0, SIZE);
            text(&mut self.svg, Pixel::at(end, at + 4.0), "end", "", &name);
            let edge = frame.up(index as f64 + 1.0);
            self.level(frame, edge, GRID);
        }
    }

    /// Draws a vertical line over the height of the diagram.
    fn upright(&mut self, frame: &PlotFrame, x: f64, look: &str) {
        let (from, to) = (Pixel::at(x, frame.top), Pixel::at(x, frame.bottom));
        stroke(&mut self.svg, from, to, look);
    }

    /// Draws a horizontal line over the width of the diagram.
    fn level(&mut self, frame: &PlotFrame, y: f64, look: &str) {
        let (from, to) = (Pixel::at(frame.left, y), Pixel::at(frame.right, y));
        stroke(&mut self.svg, from, to, look);
    }

    fn marks(&mut self, panel: &Panel, frame: &PlotFrame) {
        const LOOK: &str = "stroke=\"#555\" stroke-dasharray=\"2 4\"";
        for mark in &panel.marks {
            let at = frame.across(mark.x);
            self.upright(frame, at, LOOK);
        }
    }

    /// Draws labels above the diagram, where they hide no data.
    fn labels(&mut self, labels: &[PlacedLabel], frame: &PlotFrame) {
        for label in labels {
            let y = frame.top - 6.0 - LEADING * label.row as f64;
            text(
                &mut self.svg,
                Pixel::at(label.x, y),
                "middle",
                QUIET,
                &label.text,
            );
        }
    }
}

const fn grid_look(is_written: bool) -> &'static str {
    if is_written { GRID } else { FINE_GRID }
}

/// Returns an alternative text for readers who cannot see the picture: its subject, circumstances
/// and lines.
fn description(picture: &Picture) -> String {
    let mut parts = picture.circumstances.clone();
    for panel in &picture.panels {
        let names: Vec<&str> = panel.lines.iter().map(|line| line.name.as_str()).collect();
        parts.push(format!("{} of: {}", panel.y.label, names.join(", ")));
    }
    parts.join(". ")
}

fn label_of(axis: &Axis, scale: &Scale) -> String {
    // A percentile axis is visibly non-linear, as expected, so the text does not mention it.
    let is_told = scale.is_logarithmic() && axis.quantity != AxisQuantity::Percentile;
    let suffix = if is_told { ", logarithmic" } else { "" };
    format!("{}{suffix}", axis.label)
}

fn room_on_the_left(axis: &Axis, scale: &Scale) -> f64 {
    let numbers = scale.ticks().into_iter().filter_map(|tick| tick.text);
    let words = numbers.chain(axis.names.iter().cloned());
    let widths = words.map(|words| width(&words, SIZE) + 8.0);
    widths.fold(NUMBERS, f64::max).min(NAMES_MAX)
}

fn labels_of(panel: &Panel, x: &Scale, left: f64) -> Vec<PlacedLabel> {
    let at = |value: f64| left + x.place(value) * (RIGHT - left);
    let spans = panel.spans.iter().filter(|span| !span.text.is_empty());
    let spans = spans.map(|span| ((at(span.from) + at(span.to)) / 2.0, span.text.clone()));
    let marks = panel.marks.iter();
    let marks = marks.map(|mark| (at(mark.x), format!("{} {}", mark.text, x.text(mark.x))));
    rows_of_labels(spans.chain(marks).collect(), [left, RIGHT], SIZE)
}

fn text(svg: &mut String, at: Pixel, anchor: &str, look: &str, words: &str) {
    let Pixel { x, y } = at;
    // Writing to a String cannot fail.
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {look}>{}</text>",
        escaped(words)
    );
}

fn stroke(svg: &mut String, from: Pixel, to: Pixel, look: &str) {
    let _ = writeln!(
        svg,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {look}/>",
        from.x, from.y, to.x, to.y
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::mix::{curve, objective};

    #[test]
    fn a_curve_is_drawn_with_its_axes_its_marks_and_its_circumstances() {
        let record = fixtures::curve();
        let picture = curve::picture(&record, record.curve.as_ref().expect("a curve"));
        insta::assert_snapshot!(render(&picture));
    }

    #[test]
    fn a_search_is_drawn_with_its_bound() {
        let record = fixtures::objective();
        let found = record.objective.as_ref().expect("a search");
        let svg = render(&objective::picture(&record, found));
        assert_eq!(svg.matches("<polyline").count(), 1);
        // A circle per load, and one in the legend.
        assert_eq!(svg.matches("<circle").count(), found.steps.len() + 1);
        assert!(svg.contains("most likely"), "{svg}");
    }

    #[test]
    fn names_cannot_break_out_of_their_element() {
        let mut record = fixtures::curve();
        record.plan.mix_mut().expect("a mix").name = "</text><script>\u{1}".into();
        let picture = curve::picture(&record, record.curve.as_ref().expect("a curve"));
        let svg = render(&picture);
        assert!(!svg.contains("<script>"), "{svg}");
        assert!(svg.contains("&lt;script&gt; "), "{svg}");
    }

    #[test]
    fn nothing_to_draw_is_said() {
        let mut record = fixtures::curve();
        record.curve = Some(Default::default());
        let picture = curve::picture(&record, record.curve.as_ref().expect("a curve"));
        assert!(render(&picture).contains("nothing was measured"));
    }
}
