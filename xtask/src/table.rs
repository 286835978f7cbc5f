//! Tables of text.

/// Columns as wide as their longest cell; the first to the left, the rest to the right.
pub fn lay_out(head: &[&str], rows: &[Vec<String>], is_markdown: bool) -> String {
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let all = || std::iter::once(&head).chain(rows);
    let widths: Vec<usize> = (0..head.len())
        .map(|column| {
            all()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(index, (cell, width))| {
                let width = *width;
                if index == 0 {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            })
            .collect();
        if is_markdown {
            format!("| {} |\n", cells.join(" | "))
        } else {
            format!("{}\n", cells.join("  ").trim_end())
        }
    };
    let mut text = line(&head);
    if is_markdown {
        let rules: Vec<String> = widths
            .iter()
            .enumerate()
            .map(|(index, width)| {
                let end = if index == 0 { "-" } else { ":" };
                format!("-{}{end}", "-".repeat(*width))
            })
            .collect();
        text += &format!("|{}|\n", rules.join("|"));
    }
    rows.iter().for_each(|row| text += &line(row));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

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
