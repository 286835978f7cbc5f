//! Width of a report's page, and line breaking.
//!
//! A page has 80 columns if the width of the reader's page is unknown; data that does not fit is in the record and its
//! other forms.

/// Default width of a terminal.
const COLUMNS: usize = 80;
/// Minimum width; narrower pages would wrap nearly every line.
const COLUMNS_MIN: usize = 40;
/// Maximum width of prose; longer lines are hard to read on any page.
const PROSE_MAX: usize = 100;

/// Width of the page that a report is printed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageWidth {
    columns: usize,
}

/// Name and value of a line of a report.
pub type Fact = (&'static str, String);

/// Level of detail of a replay or a mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The throughput and the errors: the rest is in the table of layers.
    Brief,
    /// Every table.
    Whole,
    /// Every table and more: for a replay those of every client, for a mix nhfsstone's, for a probe
    /// nct's.
    Clients,
}

impl Default for PageWidth {
    fn default() -> Self {
        Self::of(COLUMNS)
    }
}

impl PageWidth {
    /// Page of a renderer that has room for everything.
    pub const UNLIMITED: Self = Self {
        columns: usize::MAX,
    };

    /// Creates a page with this number of columns, but at least the minimum.
    pub fn of(columns: usize) -> Self {
        Self {
            columns: columns.max(COLUMNS_MIN),
        }
    }

    /// Returns the maximum number of characters of a line.
    pub const fn columns(self) -> usize {
        self.columns
    }

    /// Returns the maximum number of characters of a line of prose.
    pub fn prose_columns(self) -> usize {
        self.columns.min(PROSE_MAX)
    }
}

/// Wraps `text` into lines of at most `width` characters, except for longer words; no line is
/// broken within the first `keep` characters, and all but the first begin with `indent` blanks.
pub fn wrapped(text: &str, width: usize, keep: usize, indent: usize) -> String {
    let mut lines = String::new();
    let mut line: String = text.chars().take(keep).collect();
    let mut is_empty = true;
    for word in words(&text[line.len()..]) {
        let blank = usize::from(!is_empty);
        if !is_empty && line.chars().count() + blank + word.chars().count() > width {
            lines.push_str(&format!("{line}\n"));
            line = " ".repeat(indent);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(&word);
        is_empty = false;
    }
    lines.push_str(&format!("{}\n", line.trim_end()));
    lines
}

/// Splits text into words; a number and its unit are one word.
fn words(text: &str) -> Vec<String> {
    const UNITS: [&str; 10] = [
        "%", "s", "ms", "µs", "ns", "bytes", "KiB", "MiB", "GiB", "TiB",
    ];
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let unit = word.trim_end_matches([',', ';', ':', '.', ')']);
        match words.last_mut() {
            Some(number)
                if UNITS.contains(&unit) && number.ends_with(|c: char| c.is_ascii_digit()) =>
            {
                number.push_str(&format!(" {word}"));
            }
            _ => words.push(word.into()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stays_with_its_unit() {
        let text = wrapped(
            "it was wrong in some of the cases: in 12 %, to be exact",
            40,
            0,
            0,
        );
        assert_eq!(
            text,
            "it was wrong in some of the cases: in\n12 %, to be exact\n"
        );
    }

    #[test]
    fn a_word_that_is_longer_than_the_page_is_left_whole() {
        let path = "/".repeat(60);
        assert_eq!(wrapped(&path, 40, 0, 0), format!("{path}\n"));
        assert_eq!(PageWidth::of(1), PageWidth::of(40));
    }
}
