//! A picture as SVG 1.1: plain shapes and text, no script, no style sheet, no font of its own.

use super::{Line, Picture, Scale, Style};
use core::fmt::Write;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 560.0;
/// Where the diagram is in the picture.
const LEFT: f64 = 90.0;
const RIGHT: f64 = 870.0;
const TOP: f64 = 80.0;
const BOTTOM: f64 = 490.0;
/// Text of a mark that is farther right than this stands on its left.
const MARK_TURNS: f64 = 0.85;

/// The picture; one that says so if there is nothing to draw.
pub fn render(picture: &Picture) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>{0}</title>\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n",
        escaped(&picture.title)
    );
    text(
        &mut svg,
        (LEFT, 28.0),
        "start",
        "font-size=\"18\"",
        &picture.title,
    );
    text(
        &mut svg,
        (LEFT, 48.0),
        "start",
        "fill=\"#555\"",
        &picture.subtitle,
    );
    match picture.scales() {
        Some((x, y)) => {
            grid(&mut svg, picture, &x, &y);
            marks(&mut svg, picture, &x);
            for (index, one) in picture.lines.iter().enumerate().rev() {
                line(&mut svg, one, &x, &y);
                legend(&mut svg, one, index);
            }
        }
        None => text(
            &mut svg,
            (LEFT, TOP + 40.0),
            "start",
            "",
            "nothing was measured",
        ),
    }
    svg.push_str("</svg>\n");
    svg
}

fn across(place: f64) -> f64 {
    LEFT + place * (RIGHT - LEFT)
}

fn up(place: f64) -> f64 {
    BOTTOM - place * (BOTTOM - TOP)
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // XML 1.0 has no way to write these.
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, more: &str, words: &str) {
    // A String takes everything that is written into it.
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {more}>{}</text>",
        escaped(words)
    );
}

fn stroke(svg: &mut String, from: (f64, f64), to: (f64, f64), more: &str) {
    let _ = writeln!(
        svg,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {more}/>",
        from.0, from.1, to.0, to.1
    );
}

fn grid(svg: &mut String, picture: &Picture, x: &Scale, y: &Scale) {
    const STRONG: &str = "stroke=\"#ccc\"";
    const WEAK: &str = "stroke=\"#eee\"";
    for tick in x.ticks() {
        let at = across(tick.place);
        stroke(svg, (at, TOP), (at, BOTTOM), WEAK);
        if let Some(words) = &tick.text {
            text(svg, (at, BOTTOM + 20.0), "middle", "", words);
        }
    }
    for tick in y.ticks() {
        let at = up(tick.place);
        let weight = if tick.text.is_some() { STRONG } else { WEAK };
        stroke(svg, (LEFT, at), (RIGHT, at), weight);
        if let Some(words) = &tick.text {
            text(svg, (LEFT - 8.0, at + 4.0), "end", "", words);
        }
    }
    let _ = writeln!(
        svg,
        "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#333\"/>",
        RIGHT - LEFT,
        BOTTOM - TOP
    );
    let middle = (LEFT + RIGHT) / 2.0;
    text(svg, (middle, BOTTOM + 45.0), "middle", "", &picture.x.label);
    let scale = if y.is_logarithmic() {
        ", logarithmic"
    } else {
        ""
    };
    let label = format!("{}{scale}", picture.y.label);
    // Above its axis, where it can be read without turning one's head.
    text(svg, (12.0, TOP - 12.0), "start", "", &label);
}

fn marks(svg: &mut String, picture: &Picture, x: &Scale) {
    for (index, mark) in picture.marks.iter().enumerate() {
        let place = x.place(mark.x);
        let at = across(place);
        stroke(
            svg,
            (at, TOP),
            (at, BOTTOM),
            "stroke=\"#777\" stroke-dasharray=\"2 4\"",
        );
        let words = format!("{} {}", mark.text, x.text(mark.x));
        let (anchor, shift) = if place > MARK_TURNS {
            ("end", -6.0)
        } else {
            ("start", 6.0)
        };
        // One below the other, so that neighbours can be read.
        let height = BOTTOM - 10.0 - 16.0 * (index % 4) as f64;
        text(svg, (at + shift, height), anchor, "fill=\"#555\"", &words);
    }
}

/// Colours that are told apart without colour vision, too (Okabe and Ito), and a dash.
const fn look(style: Style) -> (&'static str, &'static str) {
    match style {
        Style::First => ("#0072b2", "none"),
        Style::FirstAgain => ("#0072b2", "6 4"),
        Style::Second => ("#d55e00", "none"),
        Style::Bound => ("#009e73", "10 3 2 3"),
    }
}

fn line(svg: &mut String, line: &Line, x: &Scale, y: &Scale) {
    let (colour, dash) = look(line.style);
    let points: Vec<(f64, f64)> = line
        .points
        .iter()
        .map(|point| (across(x.place(point.0)), up(y.place(point.1))))
        .collect();
    let path: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    let _ = writeln!(
        svg,
        "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\" \
         points=\"{}\"/>",
        path.join(" ")
    );
    let fill = match line.style {
        Style::First | Style::Second => colour,
        Style::FirstAgain => "white",
        Style::Bound => return,
    };
    for (x, y) in points {
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{fill}\" stroke=\"{colour}\"/>"
        );
    }
}

fn legend(svg: &mut String, line: &Line, index: usize) {
    let (colour, dash) = look(line.style);
    let x = LEFT + 12.0;
    let y = TOP + 18.0 + 18.0 * index as f64;
    let more = format!("stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\"");
    stroke(svg, (x, y - 4.0), (x + 30.0, y - 4.0), &more);
    text(svg, (x + 38.0, y), "start", "", &line.name);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{canned, curve, objective};

    #[test]
    fn a_curve_is_drawn_with_its_axes_its_marks_and_its_circumstances() {
        let record = canned::curve();
        let picture = curve::picture(&record, record.curve.as_ref().expect("a curve"));
        insta::assert_snapshot!(render(&picture));
    }

    #[test]
    fn a_search_is_drawn_with_its_bound() {
        let record = canned::objective();
        let found = record.objective.as_ref().expect("a search");
        let svg = render(&objective::picture(&record, found));
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(svg.contains("most likely"), "{svg}");
    }

    #[test]
    fn names_cannot_break_out_of_their_element() {
        let mut record = canned::curve();
        record.plan.mix_mut().expect("a mix").name = "</text><script>\u{1}".into();
        let picture = curve::picture(&record, record.curve.as_ref().expect("a curve"));
        let svg = render(&picture);
        assert!(!svg.contains("<script>"), "{svg}");
        assert!(svg.contains("&lt;script&gt; "), "{svg}");
    }

    #[test]
    fn nothing_to_draw_is_said() {
        let mut record = canned::curve();
        record.curve = Some(Default::default());
        let picture = curve::picture(&record, record.curve.as_ref().expect("a curve"));
        assert!(render(&picture).contains("nothing was measured"));
    }
}
