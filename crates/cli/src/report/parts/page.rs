//! Width of a report's page, and line breaking of prose.
//!
//! Reports stay functions of the record and a page. A page has 80 columns if the width of the
//! reader's page is unknown; data that does not fit is in the record and its other forms.
//!
//! A page can also be marked ([`super::marked`]): then each part of a report is labelled with its
//! kind, and another renderer lays it out.

use super::markup;
use crate::sanitize::printable;

/// Default width of a terminal.
const COLUMNS: usize = 80;
/// Minimum width; narrower pages would wrap nearly every line.
const COLUMNS_MIN: usize = 40;
/// Maximum width of prose; longer lines are hard to read on any page.
const PROSE_MAX: usize = 100;
/// Column where the value of a fact begins.
const FACT_INDENT: usize = 16;

/// Page that a report is printed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    columns: usize,
    is_marked: bool,
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

impl Default for Page {
    fn default() -> Self {
        Self::of(COLUMNS)
    }
}

impl Page {
    /// Creates a page with this number of columns, but at least the minimum.
    pub fn of(columns: usize) -> Self {
        Self {
            columns: columns.max(COLUMNS_MIN),
            is_marked: false,
        }
    }

    /// Creates a page of any width whose parts [`markup::blocks`] separates.
    pub const fn marked() -> Self {
        Self {
            columns: usize::MAX,
            is_marked: true,
        }
    }

    /// Whether parts are labelled with their kind.
    pub const fn is_marked(self) -> bool {
        self.is_marked
    }

    /// Removes control characters of foreign text from a report; on a marked page this happens part
    /// by part.
    pub fn printable(self, report: &str) -> String {
        if self.is_marked {
            report.into()
        } else {
            printable(report)
        }
    }

    /// Returns the maximum number of characters of a line.
    pub const fn columns(self) -> usize {
        self.columns
    }

    /// Wraps a sentence.
    pub fn prose(self, text: &str) -> String {
        if self.is_marked {
            return markup::prose(text);
        }
        wrapped(text, self.columns.min(PROSE_MAX), 0, 0)
    }

    /// Wraps sentences, each preceded by a blank line; empty if there are none.
    pub fn prose_of(self, texts: &[String]) -> String {
        let each = texts.iter().map(|text| format!("\n{}", self.prose(text)));
        each.collect()
    }

    /// Formats a line per fact: its name, then its value, whose further lines are indented below
    /// the first.
    pub fn facts<N: AsRef<str>>(self, facts: impl IntoIterator<Item = (N, String)>) -> String {
        self.facts_from(FACT_INDENT, facts)
    }

    /// Formats facts with values from column `indent` on.
    pub fn facts_from<N: AsRef<str>>(
        self,
        indent: usize,
        facts: impl IntoIterator<Item = (N, String)>,
    ) -> String {
        let width = self.columns.min(PROSE_MAX);
        let fact = |(name, value): (N, String)| {
            if self.is_marked {
                return markup::fact(name.as_ref(), &value);
            }
            let line = format!("{:<indent$}{value}", name.as_ref());
            let name = name.as_ref().chars().count().max(indent);
            wrapped(&line, width, name, indent)
        };
        facts.into_iter().map(fact).collect()
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
    fn prose_is_broken_between_words_and_facts_hang() {
        let sentence = "a sentence that is so long that it takes more than one line of the page";
        assert_eq!(
            Page::of(40).prose(sentence),
            "a sentence that is so long that it takes\nmore than one line of the page\n"
        );
        assert_eq!(
            Page::of(40).facts([("file set", sentence.into()), ("seed", "7".into())]),
            "file set        a sentence that is so\n                long that it takes more\n\
             \x20               than one line of the\n                page\nseed            7\n"
        );
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        let text = Page::of(40).prose("it was wrong in some of the cases: in 12 %, to be exact");
        assert_eq!(
            text,
            "it was wrong in some of the cases: in\n12 %, to be exact\n"
        );
    }

    #[test]
    fn a_word_that_is_longer_than_the_page_is_left_whole() {
        let path = "/".repeat(60);
        assert_eq!(Page::of(40).prose(&path), format!("{path}\n"));
        assert_eq!(Page::of(1), Page::of(40));
    }
}
