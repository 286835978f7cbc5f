//! Renders the Markdown of docs/ as text of a given width: paragraphs are wrapped, tables aligned,
//! links reduced to their text. Headings and `**words**` are bold; the console removes that if
//! colours are disabled.
//!
//! Only the syntax of these pages is supported: headings, paragraphs, lists, tables, blocks of
//! code.

use anstyle::Style;
use filestone_report::document::page::wrapped;
use std::iter::Peekable;
use std::str::Lines;

const BOLD: Style = Style::new().bold();
/// Maximum width of prose, however wide the terminal is.
const PROSE_MAX: usize = 100;
/// Minimum width for wrapping a table column.
const COLUMN_MIN: usize = 8;
/// Maximum width of a column because of a long word; a longer word extends into the next column.
const COLUMN_LEAST_MAX: usize = 40;
/// Blanks between the columns of a table.
const GAP: usize = 2;

/// A heading of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// Level; 1 for the title.
    pub level: usize,
    /// Name in links.
    pub slug: String,
    /// Line number, from 0.
    pub line: usize,
}

/// Returns the headings of a page.
pub fn headings(markdown: &str) -> Vec<Heading> {
    let mut is_fenced = false;
    let mut found = Vec::new();
    for (line, text) in markdown.lines().enumerate() {
        is_fenced ^= is_fence(text);
        if let (Some((level, text)), false) = (heading(text), is_fenced) {
            let slug = slug(text);
            found.push(Heading { level, slug, line });
        }
    }
    found
}

/// Returns the name of a heading in links: letters, digits, `-` and `_`; `-` for a blank, and none
/// before the first letter, as options begin with.
pub fn slug(text: &str) -> String {
    let text = text.trim_start_matches(['`', '-']);
    let letters = text.chars().flat_map(char::to_lowercase);
    let letters = letters.map(|letter| if letter == ' ' { '-' } else { letter });
    letters
        .filter(|letter| letter.is_alphanumeric() || "-_".contains(*letter))
        .collect()
}

fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

/// Returns the level and the text of a heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let text = text.strip_prefix(' ')?;
    (level > 0).then_some((level, text))
}

/// Returns the width of the mark of a list item.
fn item(line: &str) -> Option<usize> {
    let text = line.trim_start();
    let number = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_number = number.len() < text.len() && number.starts_with(". ");
    let mark = match text {
        _ if is_number => text.len() - number.len() + 2,
        _ if text.starts_with("- ") => 2,
        _ => return None,
    };
    let indent = line.len() - text.len();
    (indent < 4).then_some(indent + mark)
}

/// Renders the page as text.
pub fn rendered(markdown: &str, columns: usize) -> String {
    let mut text = String::new();
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        if is_fence(line) {
            let code = lines.by_ref().take_while(|line| !is_fence(line));
            code.for_each(|line| text.push_str(&format!("    {line}\n")));
        } else if line.starts_with("    ") || line.is_empty() {
            text.push_str(&format!("{line}\n"));
        } else if let Some((level, heading)) = heading(line) {
            text.push_str(&title(level, heading));
        } else if line.starts_with('|') {
            let mut rows = vec![line];
            while let Some(row) = lines.next_if(|next| next.starts_with('|')) {
                rows.push(row);
            }
            text.push_str(&table(&rows, columns));
        } else {
            let indent = item(line).unwrap_or(0);
            let whole = joined(line, &mut lines);
            let prose = wrapped(&inline(&whole), columns.min(PROSE_MAX), indent, indent);
            text.push_str(&emboldened(&prose));
        }
    }
    text
}

/// Joins a line with its continuation, up to a blank line or another block.
fn joined(first: &str, lines: &mut Peekable<Lines<'_>>) -> String {
    let mut whole = first.to_string();
    let goes_on = |next: &&str| {
        let is_other = next.is_empty() || is_fence(next) || next.starts_with('|');
        !is_other && heading(next).is_none() && item(next).is_none()
    };
    while let Some(next) = lines.next_if(goes_on) {
        whole.push(' ');
        whole.push_str(next.trim());
    }
    whole
}

/// Formats a heading, underlined by its level for text without colours.
fn title(level: usize, text: &str) -> String {
    let text = inline(text);
    let line = match level {
        1 => "=",
        2 => "-",
        _ => return format!("{BOLD}{text}{BOLD:#}\n"),
    };
    let line = line.repeat(text.chars().count());
    format!("{BOLD}{text}\n{line}{BOLD:#}\n")
}

/// Splits a text into the parts outside and inside of `code`, in turn.
fn parts(text: &str) -> impl Iterator<Item = (bool, &str)> {
    let parts = text.split('`').enumerate();
    parts.map(|(place, part)| (place % 2 == 1, part))
}

/// Replaces links and pictures by their texts.
fn inline(text: &str) -> String {
    // A link may contain code: its end is searched in the whole text.
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '[']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let code = from[1..].find('`').filter(|_| from.starts_with('`'));
        rest = if let Some(end) = code {
            out.push_str(&from[..end + 2]);
            &from[end + 2..]
        } else if let Some((shown, after)) = link(from) {
            if out.ends_with('!') {
                out.pop();
                out.push_str(&format!("(picture: {shown})"));
            } else {
                out.push_str(&inline(shown));
            }
            after
        } else {
            out.push_str(&from[..1]);
            &from[1..]
        };
    }
    out + rest
}

/// Returns the text of the link that a text begins with, and the rest.
fn link(text: &str) -> Option<(&str, &str)> {
    let (shown, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (_, after) = rest.split_once(')')?;
    let is_nested = shown.split('`').step_by(2).any(|part| part.contains(']'));
    (!is_nested).then_some((shown, after))
}

/// Converts `**words**` to bold, unless they are in `code`.
fn emboldened(text: &str) -> String {
    let mut is_bold = false;
    let mut shown = Vec::new();
    for (is_code, part) in parts(text) {
        let mut pieces = part.split("**");
        let mut piece = pieces.next().unwrap_or_default().to_string();
        for next in pieces {
            if is_code {
                piece.push_str("**");
            } else {
                is_bold = !is_bold;
                let mark = if is_bold {
                    format!("{BOLD}")
                } else {
                    format!("{BOLD:#}")
                };
                piece.push_str(&mark);
            }
            piece.push_str(next);
        }
        shown.push(piece);
    }
    shown.join("`")
}

/// Returns the cells of a row of a table.
fn cells(row: &str) -> Vec<String> {
    const BAR: &str = "\u{1}";
    let row = row.replace("\\|", BAR);
    let row = row.trim().trim_start_matches('|').trim_end_matches('|');
    let cell = |cell: &str| {
        let cell = inline(&cell.replace(BAR, "|"));
        let plain: Vec<String> = parts(cell.trim())
            .map(|(is_code, part)| {
                if is_code {
                    part.into()
                } else {
                    part.replace("**", "")
                }
            })
            .collect();
        plain.join("`")
    };
    row.split('|').map(cell).collect()
}

/// Formats a table with aligned columns; cells are wrapped if it is too wide.
fn table(rows: &[&str], columns: usize) -> String {
    let is_line = |row: &&&str| row.chars().all(|letter| "|-: ".contains(letter));
    let rows: Vec<Vec<String>> = rows
        .iter()
        .filter(|row| !is_line(row))
        .map(|row| cells(row))
        .collect();
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let room = columns.saturating_sub(GAP * count.saturating_sub(1));
    let widths = widths(&rows, count, room);
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let wrapped: Vec<Vec<String>> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| {
                wrapped(cell, *width, 0, 0)
                    .lines()
                    .map(String::from)
                    .collect()
            })
            .collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            let cells = wrapped.iter().zip(&widths).map(|(cell, width)| {
                let cell = cell.get(line).map_or("", String::as_str);
                format!("{cell:<width$}")
            });
            let cells: Vec<String> = cells.collect();
            text.push_str(cells.join(&" ".repeat(GAP)).trim_end());
            text.push('\n');
        }
        if number == 0 {
            let lines: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            text.push_str(&format!("{}\n", lines.join(&" ".repeat(GAP))));
        }
    }
    text
}

/// Returns widths of columns: the widest ones are reduced until all fit, but no word is broken.
fn widths(rows: &[Vec<String>], count: usize, room: usize) -> Vec<usize> {
    let longest = |column: usize, words: bool| {
        let cells = rows.iter().filter_map(move |row| row.get(column));
        let length = |text: &str| text.chars().count();
        let lengths = cells.map(|cell| {
            if words {
                cell.split_whitespace().map(length).max().unwrap_or(0)
            } else {
                length(cell)
            }
        });
        lengths.max().unwrap_or(0)
    };
    let wanted: Vec<(usize, usize)> = (0..count)
        .map(|column| {
            (
                longest(column, true).clamp(COLUMN_MIN, COLUMN_LEAST_MAX),
                longest(column, false),
            )
        })
        .collect();
    let within = |limit: usize| -> Vec<usize> {
        let width = wanted
            .iter()
            .map(|(least, most)| (*most).min(limit.max(*least)));
        width.collect()
    };
    let limits = (COLUMN_MIN..=room).rev();
    let fitting = limits
        .map(within)
        .find(|widths| widths.iter().sum::<usize>() <= room);
    fitting.unwrap_or_else(|| within(COLUMN_MIN))
}
