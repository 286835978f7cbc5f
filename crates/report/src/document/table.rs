//! Tables that fit the width of the page: if columns are too wide, the least important ones are
//! dropped, and a last column of words is wrapped.
//!
//! Table libraries (comfy-table, tabled) squeeze or wrap every cell instead, which makes figures
//! unreadable.

use crate::document::page::{PageWidth, wrapped};
use crate::document::{FACT_INDENT, fact};

/// Default number of blanks between two columns.
const GAP: usize = 2;
/// Minimum width for wrapping words at the end of a row.
const WORDS_MIN: usize = 16;

/// A column of a table.
#[derive(Debug, Clone)]
pub struct Column {
    /// Heading of this column.
    pub head: String,
    /// Heading shared with its neighbours; may be empty.
    pub group: &'static str,
    /// Whether the column contains words.
    pub is_text: bool,
    width_min: usize,
    /// Rank in the order of dropped columns: 1 before 2; `None` if the column is never dropped.
    gives_way: Option<u8>,
}

impl Column {
    /// Creates a left-aligned column of words, which is wrapped if it is the last one.
    pub fn text(head: impl Into<String>) -> Self {
        Self {
            head: head.into(),
            group: "",
            is_text: true,
            width_min: 0,
            gives_way: None,
        }
    }

    /// Creates a right-aligned column of figures.
    pub fn figure(head: impl Into<String>) -> Self {
        Self {
            is_text: false,
            ..Self::text(head)
        }
    }

    /// Drops the column if there is too little room: those of order 1 first, then those of 2.
    pub fn gives_way(mut self, order: u8) -> Self {
        self.gives_way = Some(order);
        self
    }

    /// Sets a minimum width, so that rows which are printed one by one are aligned.
    pub fn at_least(mut self, width: usize) -> Self {
        self.width_min = width;
        self
    }

    /// Puts the column, with its neighbours of the same group, below a common heading.
    pub fn below(mut self, group: &'static str) -> Self {
        self.group = group;
        self
    }
}

/// A row of a table.
#[derive(Debug, Clone)]
pub enum Row {
    /// A cell for each column; cells missing at its end are blank.
    Cells(Vec<String>),
    /// Remark on the row above.
    Note(String),
}

/// Columns and rows.
#[derive(Debug, Clone)]
pub struct Table {
    /// Headings of the columns.
    pub columns: Vec<Column>,
    /// Rows.
    pub rows: Vec<Row>,
    gap: usize,
}

impl Table {
    /// Creates a table without rows.
    pub fn new(columns: impl Into<Vec<Column>>) -> Self {
        Self {
            columns: columns.into(),
            rows: vec![],
            gap: GAP,
        }
    }

    /// Sets the number of blanks between two columns.
    pub fn gap(mut self, gap: usize) -> Self {
        self.gap = gap;
        self
    }

    /// Adds a row, with a cell for each column; cells missing at its end are blank.
    pub fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let cells = cells.into_iter().map(Into::into);
        self.rows.push(Row::Cells(cells.collect()));
    }

    /// Returns the table; `None` if it has no rows.
    pub fn if_any(self) -> Option<Self> {
        (!self.rows.is_empty()).then_some(self)
    }

    /// Adds a remark on the row above.
    pub fn note(&mut self, note: String) {
        self.rows.push(Row::Note(note));
    }

    /// Renders the head and all rows, as wide as the cells need.
    pub fn render(&self, page: PageWidth) -> String {
        let layout = self.layout(page);
        let rows = self.rows.iter().map(|row| match row {
            Row::Cells(cells) => layout.row(cells),
            Row::Note(note) => fact("", note, FACT_INDENT, page),
        });
        layout.head() + &rows.collect::<String>()
    }

    /// Returns the largest width of the cells of a column.
    fn widest(&self, index: usize, width: impl Fn(&str) -> usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| match row {
            Row::Cells(cells) => cells.get(index),
            Row::Note(_) => None,
        });
        cells.map(|cell| width(cell)).max().unwrap_or(0)
    }

    /// Selects the columns that fit the page. Without rows, the layout is for rows that are printed
    /// one by one.
    pub fn layout(&self, page: PageWidth) -> TableLayout {
        let columns = self.columns.iter().enumerate();
        let mut kept: Vec<Kept> = columns
            .map(|(index, column)| Kept {
                index,
                width: self
                    .widest(index, count)
                    .max(count(&column.head))
                    .max(column.width_min),
                word: self.widest(index, |cell| {
                    cell.split_whitespace().map(count).max().unwrap_or(0)
                }),
                column: column.clone(),
            })
            .collect();
        let columns = page.columns();
        loop {
            let mut layout = TableLayout {
                kept: kept.clone(),
                gap: self.gap,
                columns,
            };
            layout.make_room_for_groups();
            let orders = kept.iter().filter_map(|kept| kept.column.gives_way);
            let Some(first) = orders.min() else {
                return layout;
            };
            if layout.width_min() <= columns {
                return layout;
            }
            // Among columns of the same order, the rightmost is dropped first.
            let is_first = |kept: &Kept| kept.column.gives_way == Some(first);
            if let Some(place) = kept.iter().rposition(is_first) {
                kept.remove(place);
            }
        }
    }
}

#[derive(Debug, Clone)]
struct Kept {
    index: usize,
    width: usize,
    /// Width of the longest word, which cannot be wrapped.
    word: usize,
    column: Column,
}

/// Columns of a table that fit the page.
#[derive(Debug)]
pub struct TableLayout {
    kept: Vec<Kept>,
    gap: usize,
    columns: usize,
}

impl TableLayout {
    /// Returns the line of headings, preceded by that of the groups if there are any.
    pub fn head(&self) -> String {
        let heads = self.kept.iter().map(|kept| kept.column.head.clone());
        self.groups() + &self.line(heads.collect())
    }

    /// Formats a row, given a cell for each column of the table.
    pub fn row<C: AsRef<str>>(&self, cells: &[C]) -> String {
        let cell = |kept: &Kept| cells.get(kept.index).map_or("", AsRef::as_ref).to_string();
        self.line(self.kept.iter().map(cell).collect())
    }

    fn line(&self, cells: Vec<String>) -> String {
        let mut line = String::new();
        let mut last = 0;
        for (place, (kept, cell)) in self.kept.iter().zip(cells).enumerate() {
            if place > 0 {
                line.push_str(&" ".repeat(self.gap));
            }
            last = count(&line);
            let width = kept.width;
            line.push_str(&if kept.column.is_text {
                format!("{cell:<width$}")
            } else {
                format!("{cell:>width$}")
            });
        }
        let is_words = self.kept.last().is_some_and(|kept| kept.column.is_text);
        let line = line.trim_end();
        if is_words && count(line) > self.columns {
            wrapped(line, self.columns, last, last)
        } else {
            format!("{line}\n")
        }
    }

    /// Returns headings centred above their columns; empty if there are none.
    fn groups(&self) -> String {
        let mut line = String::new();
        for columns in self.kept.chunk_by(is_same_group) {
            let (width, gap) = (span(columns, self.gap), self.gap);
            let group = columns.first().map_or("", |kept| kept.column.group);
            line.push_str(&format!("{group:^width$}{:gap$}", ""));
        }
        match line.trim_end() {
            "" => String::new(),
            line => format!("{line}\n"),
        }
    }

    /// Returns the minimum number of characters of a line: words at its end can be wrapped.
    fn width_min(&self) -> usize {
        let spare = match self.kept.last() {
            Some(last) if last.column.is_text => {
                last.width.saturating_sub(last.word.max(WORDS_MIN))
            }
            _ => 0,
        };
        span(&self.kept, self.gap) - spare
    }

    /// Widens the first column of a group whose heading is wider than its columns.
    fn make_room_for_groups(&mut self) {
        for columns in self.kept.chunk_by_mut(is_same_group) {
            let width = span(columns, self.gap);
            if let Some(first) = columns.first_mut() {
                first.width += count(first.column.group).saturating_sub(width);
            }
        }
    }
}

fn is_same_group(one: &Kept, other: &Kept) -> bool {
    one.column.group == other.column.group
}

fn count(text: &str) -> usize {
    text.chars().count()
}

fn span(columns: &[Kept], gap: usize) -> usize {
    let widths = columns.iter().map(|kept| kept.width);
    widths.sum::<usize>() + gap * columns.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new([
            Column::text("operation").at_least(14),
            Column::figure("COUNT").gives_way(1),
            Column::figure("P50").below("response time (usecs)"),
            Column::figure("P99")
                .below("response time (usecs)")
                .gives_way(2),
            Column::text("MARKS"),
        ]);
        table.row([
            "read",
            "12",
            "1.5",
            "99999.9",
            "knee, peak, did not keep up",
        ]);
        table.row(["lookup", "1,234,567", "0.9", "3.0"]);
        table
    }

    #[test]
    fn columns_that_matter_least_give_way_and_words_wrap() {
        let text = [80, 60, 40]
            .map(|columns| table().render(PageWidth::of(columns)))
            .join("\n");
        insta::assert_snapshot!(text, @"
                                   response time (usecs)
        operation           COUNT           P50      P99  MARKS
        read                   12           1.5  99999.9  knee, peak, did not keep up
        lookup          1,234,567           0.9      3.0

                        response time (usecs)
        operation                P50      P99  MARKS
        read                     1.5  99999.9  knee, peak, did not
                                               keep up
        lookup                   0.9      3.0

                        response time (usecs)
        operation                         P50  MARKS
        read                              1.5  knee,
                                               peak,
                                               did
                                               not
                                               keep
                                               up
        lookup                            0.9
        ");
    }

    #[test]
    fn rows_that_come_one_by_one_stand_below_each_other() {
        let layout = Table::new([
            Column::figure("N").at_least(6),
            Column::figure("TIME").at_least(8),
        ])
        .layout(PageWidth::default());
        assert_eq!(layout.head(), "     N      TIME\n");
        assert_eq!(layout.row(&["1", "2.0"]), "     1       2.0\n");
    }
}
