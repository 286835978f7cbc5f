//! Picture in plain characters for the terminal, detailed enough to see where a curve bends.

use crate::document::page::{PageWidth, wrapped};
use crate::picture::{AxisQuantity, Panel, Picture, PlotLine, Scale, Style};

/// Columns of the diagram itself.
const WIDTH: usize = 64;
/// Rows of the diagram.
const HEIGHT: usize = 14;
/// Column where the diagram begins.
const INDENT: usize = 12;
/// Minimum number of points; fewer add nothing to the table.
const POINTS_MIN: usize = 3;

/// Renders the first diagram of the picture; empty if it would not help, or if it has rows with names, as the table
/// above it.
pub fn render(picture: &Picture, page: PageWidth) -> String {
    let Some(panel) = picture.panels.first() else {
        return String::new();
    };
    let enough = panel
        .lines
        .iter()
        .any(|line| line.points.len() >= POINTS_MIN);
    let has_names = panel.y.quantity == AxisQuantity::Name;
    let Some((x, y)) = panel.scales().filter(|_| enough && !has_names) else {
        return String::new();
    };
    let mut grid = [[' '; WIDTH]; HEIGHT];
    for mark in &panel.marks {
        let column = nearest(x.place(mark.x), WIDTH);
        for row in &mut grid {
            set(row, column, '.');
        }
    }
    // The first line is in front.
    for line in panel.lines.iter().rev() {
        draw(&mut grid, line, &x, &y);
    }
    assemble(panel, &grid, &x, &y, page)
}

const fn symbol(style: Style) -> char {
    match style {
        Style::First => 'o',
        Style::FirstAgain => 'x',
        Style::Second | Style::Third => '+',
        Style::Wrong => '!',
        Style::Fine => '.',
        Style::Bound => '-',
    }
}

/// Draws a bound over the full width, other lines where they have points.
fn draw(grid: &mut [[char; WIDTH]; HEIGHT], line: &PlotLine, x: &Scale, y: &Scale) {
    let columns: Vec<(usize, f64)> = match (line.style, line.points.as_slice()) {
        (Style::Bound, [first, .., last]) => {
            let columns = nearest(x.place(first.x), WIDTH)..=nearest(x.place(last.x), WIDTH);
            columns.map(|column| (column, first.y)).collect()
        }
        (_, points) => points
            .iter()
            .map(|point| (nearest(x.place(point.x), WIDTH), point.y))
            .collect(),
    };
    for (column, time) in columns {
        let row = HEIGHT - 1 - nearest(y.place(time), HEIGHT);
        if let Some(row) = grid.get_mut(row) {
            set(row, column, symbol(line.style));
        }
    }
}

fn nearest(place: f64, cells: usize) -> usize {
    // A position is between 0 and 1.
    ((place * (cells - 1) as f64).round() as usize).min(cells - 1)
}

fn set(row: &mut [char; WIDTH], column: usize, symbol: char) {
    if let Some(cell) = row.get_mut(column) {
        *cell = symbol;
    }
}

fn assemble(
    panel: &Panel,
    grid: &[[char; WIDTH]; HEIGHT],
    x: &Scale,
    y: &Scale,
    page: PageWidth,
) -> String {
    let mut labels = vec![String::new(); HEIGHT];
    for tick in y.ticks() {
        let row = HEIGHT - 1 - nearest(tick.place, HEIGHT);
        if let (Some(label), Some(words)) = (labels.get_mut(row), tick.text) {
            *label = words;
        }
    }
    let mut text = format!("\n{} (", panel.y.label);
    let names: Vec<String> = panel
        .lines
        .iter()
        .map(|line| format!("{} {}", symbol(line.style), line.name))
        .collect();
    text.push_str(&format!("{})\n", names.join(", ")));
    for (label, row) in labels.iter().zip(grid) {
        let edge = if label.is_empty() { '|' } else { '+' };
        let row: String = row.iter().collect();
        text.push_str(&format!("{label:>10} {edge}{}\n", row.trim_end()));
    }
    text.push_str(&format!("{:>11}+{}\n", "", "-".repeat(WIDTH)));
    text.push_str(&numbers(x));
    let marks: Vec<String> = panel
        .marks
        .iter()
        .map(|mark| format!("{} {}", mark.text, x.text(mark.x)))
        .collect();
    let marks = match marks.as_slice() {
        [] => String::new(),
        marks => format!("; . {}", marks.join(", ")),
    };
    let below = format!("{:>INDENT$}{}{marks}", "", panel.x.label);
    text.push_str(&wrapped(&below, page.columns(), INDENT, INDENT));
    text
}

/// Formats the labels below the diagram, each centred at its position, unless they would overlap.
fn numbers(x: &Scale) -> String {
    let mut line = String::new();
    for tick in x.ticks() {
        let Some(words) = tick.text else { continue };
        let middle = INDENT + nearest(tick.place, WIDTH);
        let start = middle.saturating_sub(words.len() / 2);
        if start > line.len() || line.is_empty() {
            line = format!("{line:<start$}{words}");
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::mix::objective;

    #[test]
    fn a_search_is_sketched_with_its_bound() {
        let record = fixtures::objective();
        let found = record.objective.as_ref().expect("a search");
        insta::assert_snapshot!(render(
            &objective::picture(&record, found),
            PageWidth::default()
        ));
    }

    #[test]
    fn two_points_are_left_to_the_table() {
        let record = fixtures::objective();
        let found = record.objective.as_ref().expect("a search");
        let mut picture = objective::picture(&record, found);
        picture.panels[0]
            .lines
            .iter_mut()
            .for_each(|line| line.points.truncate(2));
        assert_eq!(render(&picture, PageWidth::default()), "");
    }
}
