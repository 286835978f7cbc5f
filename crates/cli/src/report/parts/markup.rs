//! Reports whose parts are labelled with their kind: facts, sentences and tables, for renderers
//! with their own layout, such as an HTML page.
//!
//! Reports stay functions that return text ([`Page::marked`](super::page::Page::marked) requests
//! this form). A part is a line: a mark, its kind, and its values between further marks. Control
//! characters are removed from values, so that none of them can end its part. A line of a record's
//! text without a mark can at worst look like a part of the report itself: the content of parts is
//! always escaped.

use crate::sanitize::printable_line;

/// Start of a part.
const PART: char = '\u{1e}';
/// Separator of its values.
const NEXT: char = '\u{1f}';

/// Heading of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedColumn {
    /// Heading of this column.
    pub head: String,
    /// Heading shared with its neighbours; may be empty.
    pub group: String,
    /// Whether the column contains words.
    pub is_text: bool,
}

/// A part of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// A sentence, or a few.
    Prose(String),
    /// Names and their values.
    Facts(Vec<(String, String)>),
    /// A table.
    Table(MarkedTable),
    /// Lines whose blanks matter: output in an ancestor's format.
    Lines(Vec<String>),
}

/// Columns and rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedTable {
    /// Headings of the columns.
    pub columns: Vec<MarkedColumn>,
    /// Rows.
    pub rows: Vec<MarkedRow>,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkedRow {
    /// A cell for each column.
    Cells(Vec<String>),
    /// Remark on the row above.
    Note(String),
}

/// Marks a sentence.
pub fn prose(text: &str) -> String {
    part('P', [text])
}

/// Marks a name and its value.
pub fn fact(name: &str, value: &str) -> String {
    part('F', [name, value])
}

/// Marks the headings of a table.
pub fn head(columns: impl Iterator<Item = MarkedColumn>) -> String {
    let values = columns.flat_map(|column| {
        let sort = if column.is_text { "words" } else { "figures" };
        [sort.into(), column.group, column.head]
    });
    part('H', values)
}

/// Marks a row of the table above.
pub fn row(cells: &[String]) -> String {
    part('R', cells)
}

fn part<V: AsRef<str>>(what: char, values: impl IntoIterator<Item = V>) -> String {
    let mut line = format!("{PART}{what}");
    for value in values {
        line.push(NEXT);
        line.push_str(printable_line(value.as_ref()).trim());
    }
    line.push('\n');
    line
}

/// Parses the parts of a marked report.
pub fn blocks(report: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut is_new = true;
    for line in report.lines() {
        if line.trim().is_empty() {
            is_new = true;
            continue;
        }
        take(&mut blocks, line, is_new);
        is_new = false;
    }
    blocks
}

/// Adds a line to the block before it, or starts another.
fn take(blocks: &mut Vec<Block>, line: &str, is_new: bool) {
    let Some(part) = line.strip_prefix(PART) else {
        let line = crate::sanitize::printable(line.trim_end());
        match blocks.last_mut() {
            Some(Block::Lines(lines)) if !is_new => lines.push(line),
            _ => blocks.push(Block::Lines(vec![line])),
        }
        return;
    };
    let mut values = part.split(NEXT).map(printable_line);
    let what = values.next().unwrap_or_default();
    let values: Vec<String> = values.collect();
    match (what.as_str(), blocks.last_mut()) {
        ("H", _) => blocks.push(Block::Table(MarkedTable {
            columns: columns(&values),
            rows: vec![],
        })),
        ("R", Some(Block::Table(table))) => table.rows.push(MarkedRow::Cells(values)),
        ("F", before) => {
            let mut values = values.into_iter();
            let name = values.next().unwrap_or_default();
            let value = values.collect::<Vec<_>>().join(" ");
            match before {
                Some(Block::Table(table)) if name.is_empty() && !is_new => {
                    table.rows.push(MarkedRow::Note(value));
                }
                Some(Block::Facts(facts)) if !is_new => facts.push((name, value)),
                _ => blocks.push(Block::Facts(vec![(name, value)])),
            }
        }
        _ => blocks.push(Block::Prose(values.join(" "))),
    }
}

fn columns(values: &[String]) -> Vec<MarkedColumn> {
    let heads = values.chunks_exact(3);
    let column = |values: &[String]| MarkedColumn {
        head: values[2].clone(),
        group: values[1].clone(),
        is_text: values[0] == "words",
    };
    heads.map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::parts::page::Page;
    use crate::report::parts::table::{Column, Table};

    #[test]
    fn parts_come_back_as_what_they_were() {
        let page = Page::marked();
        let mut table = Table::new([
            Column::text("operation"),
            Column::figure("P50").below("usecs").gives_way(1),
        ]);
        table.row(["read", "12.0~"]);
        let text = format!(
            "a line  of an ancestor\n  another\n\n{}{}\n{}{}",
            page.facts([("target", "here".into()), ("seed", "7".into())]),
            page.prose("A sentence that is as long as it likes."),
            table.render(page),
            page.facts([("", "of read".into())])
        );
        let column = |head: &str, group: &str, is_text| MarkedColumn {
            head: head.into(),
            group: group.into(),
            is_text,
        };
        let expected = [
            Block::Lines(vec!["a line  of an ancestor".into(), "  another".into()]),
            Block::Facts(vec![
                ("target".into(), "here".into()),
                ("seed".into(), "7".into()),
            ]),
            Block::Prose("A sentence that is as long as it likes.".into()),
            Block::Table(MarkedTable {
                columns: vec![column("operation", "", true), column("P50", "usecs", false)],
                rows: vec![
                    MarkedRow::Cells(vec!["read".into(), "12.0~".into()]),
                    MarkedRow::Note("of read".into()),
                ],
            }),
        ];
        assert_eq!(blocks(&text), expected);
    }

    #[test]
    fn a_value_cannot_end_its_part() {
        let hostile = "a\n\u{1e}Hfigures\u{1f}b\u{0}";
        let blocks = blocks(&fact(hostile, hostile));
        let [Block::Facts(facts)] = blocks.as_slice() else {
            panic!("{blocks:?}");
        };
        assert!(facts[0].0.chars().all(|c| !c.is_control()));
        // A line of a record's text can at most look like a part.
        let forged = super::blocks("\u{1e}R\u{1f}1\n\u{1e}\n\u{1e}H\u{1f}x\n\u{1e}R\n");
        assert_eq!(forged.len(), 3);
    }
}
