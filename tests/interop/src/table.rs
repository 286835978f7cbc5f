//! Tables of text.

/// Whether a cell contains a figure, a bar, or a dash for a missing value.
fn is_figure(cell: &str) -> bool {
    cell.starts_with(|c: char| c.is_ascii_digit() || "≥≤–+-".contains(c))
}

/// Width and alignment of a column.
struct Column {
    width: usize,
    is_of_figures: bool,
}

impl Column {
    fn of(head: &str, cells: &[&str]) -> Self {
        let lens = cells.iter().map(|cell| cell.chars().count());
        Self {
            width: lens.chain([head.chars().count()]).max().unwrap_or(0),
            is_of_figures: cells.iter().all(|cell| is_figure(cell)),
        }
    }

    fn pad(&self, cell: &str) -> String {
        let width = self.width;
        if self.is_of_figures {
            format!("{cell:>width$}")
        } else {
            format!("{cell:<width$}")
        }
    }

    /// Returns the cell of the delimiter row in Markdown.
    fn rule(&self) -> String {
        let end = if self.is_of_figures { ":" } else { "-" };
        format!("-{}{end}", "-".repeat(self.width))
    }
}

/// Lays out columns as wide as their longest cell: figures right-aligned, words left-aligned.
pub fn lay_out(head: &[&str], rows: &[Vec<String>], is_markdown: bool) -> String {
    let columns: Vec<Column> = head
        .iter()
        .enumerate()
        .map(|(index, head)| {
            let cells: Vec<&str> = rows
                .iter()
                .filter_map(|row| row.get(index))
                .map(String::as_str)
                .collect();
            Column::of(head, &cells)
        })
        .collect();
    let line = |cells: &[&str]| {
        let cells: Vec<String> = columns
            .iter()
            .zip(cells)
            .map(|(column, cell)| column.pad(cell))
            .collect();
        if is_markdown {
            format!("| {} |\n", cells.join(" | "))
        } else {
            format!("{}\n", cells.join("  ").trim_end())
        }
    };
    let mut text = line(head);
    if is_markdown {
        let rules: Vec<String> = columns.iter().map(Column::rule).collect();
        text += &format!("|{}|\n", rules.join("|"));
    }
    for row in rows {
        text += &line(&row.iter().map(String::as_str).collect::<Vec<_>>());
    }
    text
}

/// Formats a number as `1,234,567`.
pub fn thousands(number: f64) -> String {
    filestone_workload::text::thousands(number.max(0.0).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(thousands(1_234_567.0), "1,234,567");
        assert_eq!(thousands(999.4), "999");
    }

    #[test]
    fn columns_line_up() {
        let rows = vec![
            vec!["a".to_owned(), "10".to_owned()],
            vec!["bcd".to_owned(), "9".to_owned()],
        ];
        assert_eq!(
            lay_out(&["x", "y"], &rows, false),
            "x     y\na    10\nbcd   9\n"
        );
        assert_eq!(
            lay_out(&["x", "y"], &rows, true),
            "| x   |  y |\n|-----|---:|\n| a   | 10 |\n| bcd |  9 |\n"
        );
    }
}
