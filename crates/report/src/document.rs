//! Report as values: sentences, facts, tables and pictures, in order.
//!
//! Reports return a document and know neither the width of a page nor markup. [`Document::text`] lays it out for a page
//! of any width, `html::blocks` as HTML.

pub mod ascii_plot;
pub mod page;
pub mod table;

use self::page::{PageWidth, wrapped};
use self::table::Table;
use super::picture::Picture;
use crate::sanitize::printable;

/// Column of a text page where the value of a fact begins.
pub const FACT_INDENT: usize = 16;

/// A report, or a section of one.
#[derive(Debug, Default)]
pub struct Document {
    blocks: Vec<Block>,
}

/// A part of a document.
#[derive(Debug, Clone)]
pub enum Block {
    /// A blank line, which also separates two lists of facts.
    Blank,
    /// A sentence, or a few.
    Prose(String),
    /// Names and their values.
    Facts {
        /// Column of a text page where the values begin.
        indent: usize,
        /// Each name with its value.
        facts: Vec<(String, String)>,
    },
    /// A table.
    Table(Table),
    /// Meaning of a mark, for a page where one of the last tables contains the mark.
    Legend {
        /// Number of the last tables that are searched.
        tables: usize,
        /// The mark.
        mark: &'static str,
        /// Meaning of the mark.
        meaning: &'static str,
    },
    /// Lines whose blanks matter: output in an ancestor's format.
    Lines(String),
    /// Lines that are broken between words.
    Wrapped {
        /// Number of blanks before the further lines.
        indent: usize,
        /// The lines.
        lines: Vec<String>,
    },
    /// Parts of a sentence, which is broken only between two parts.
    Parts(Vec<String>),
    /// A picture.
    Picture(Picture),
}

impl Document {
    /// Joins sections with blank lines; empty ones are left out.
    pub fn joined(sections: impl IntoIterator<Item = Self>) -> Self {
        let sections = sections.into_iter();
        let sections = sections.filter(|section| !section.blocks.is_empty());
        let joined = sections.reduce(|joined, section| joined.blank().with(section));
        joined.unwrap_or_default()
    }

    /// Adds a block.
    pub fn push(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    /// Adds the blocks of a section.
    pub fn with(mut self, section: Self) -> Self {
        self.blocks.extend(section.blocks);
        self
    }

    /// Adds a blank line.
    pub fn blank(self) -> Self {
        self.push(Block::Blank)
    }

    /// Adds sentences, each on a separate line.
    pub fn prose<T: Into<String>>(self, texts: impl IntoIterator<Item = T>) -> Self {
        let texts = texts.into_iter();
        texts.fold(self, |document, text| {
            document.push(Block::Prose(text.into()))
        })
    }

    /// Adds sentences, each after a blank line.
    pub fn paragraphs(self, texts: impl IntoIterator<Item = String>) -> Self {
        let texts = texts.into_iter();
        texts.fold(self, |document, text| document.blank().prose([text]))
    }

    /// Adds lines in an ancestor's format, or a title.
    pub fn lines(self, lines: impl Into<String>) -> Self {
        self.push(Block::Lines(lines.into()))
    }

    /// Adds facts to those directly before them.
    pub fn facts<N: Into<String>>(mut self, facts: impl IntoIterator<Item = (N, String)>) -> Self {
        let facts = facts.into_iter().map(|(name, value)| (name.into(), value));
        let facts: Vec<_> = facts.collect();
        match self.blocks.last_mut() {
            _ if facts.is_empty() => self,
            Some(Block::Facts { facts: before, .. }) => {
                before.extend(facts);
                self
            }
            _ => self.push(Block::Facts {
                indent: FACT_INDENT,
                facts,
            }),
        }
    }

    /// Adds a table.
    pub fn table(self, table: Table) -> Self {
        self.push(Block::Table(table))
    }

    /// Adds a table below a title, after a blank line.
    pub fn titled(self, title: &str, table: Table) -> Self {
        self.blank().lines(format!("{title}\n")).table(table)
    }

    /// Adds tables, each after a blank line.
    pub fn tables(self, tables: impl IntoIterator<Item = Table>) -> Self {
        let tables = tables.into_iter();
        tables.fold(self, |document, table| document.blank().table(table))
    }

    /// Returns the picture, if there is one.
    pub fn picture(&self) -> Option<&Picture> {
        self.blocks.iter().find_map(|block| match block {
            Block::Picture(picture) => Some(picture),
            _ => None,
        })
    }

    /// Returns the blocks that a page shows: a legend only if one of its tables contains the mark
    /// there, and each legend once.
    pub fn blocks(&self, page: PageWidth) -> impl Iterator<Item = &Block> {
        let mut tables = vec![];
        let mut shown = vec![];
        self.blocks.iter().filter(move |block| match block {
            Block::Table(table) => {
                tables.push(table);
                true
            }
            Block::Legend {
                tables: count,
                mark,
                meaning,
            } => {
                let mut last = tables.iter().rev().take(*count);
                let is_needed =
                    !shown.contains(meaning) && last.any(|table| table.render(page).contains(mark));
                shown.extend(is_needed.then_some(*meaning));
                is_needed
            }
            _ => true,
        })
    }

    /// Renders text, without control characters.
    pub fn text(&self, page: PageWidth) -> String {
        let blocks = self.blocks(page).map(|block| block.text(page));
        printable(&blocks.collect::<String>())
    }
}

impl Block {
    /// Renders text for people.
    pub fn text(&self, page: PageWidth) -> String {
        match self {
            Self::Blank => "\n".into(),
            Self::Prose(text) => wrapped(text, page.prose_columns(), 0, 0),
            Self::Legend { meaning, .. } => wrapped(meaning, page.prose_columns(), 0, 0),
            Self::Facts { indent, facts } => {
                let facts = facts.iter();
                let lines = facts.map(|(name, value)| fact(name, value, *indent, page));
                lines.collect()
            }
            Self::Table(table) => table.render(page),
            Self::Lines(lines) => lines.clone(),
            Self::Wrapped { indent, lines } => {
                let blanks = |line: &str| line.len() - line.trim_start().len();
                let lines = lines.iter();
                let lines = lines.map(|line| wrapped(line, page.columns(), blanks(line), *indent));
                lines.collect()
            }
            Self::Parts(parts) => joined(parts, page),
            Self::Picture(picture) => ascii_plot::render(picture, page),
        }
    }
}

/// Formats a name, then the value, whose further lines are indented below the first.
pub fn fact(name: &str, value: &str, indent: usize, page: PageWidth) -> String {
    let line = format!("{name:<indent$}{value}");
    let name = name.chars().count().max(indent);
    wrapped(&line, page.prose_columns(), name, indent)
}

fn joined(parts: &[String], page: PageWidth) -> String {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        let width = |line: &String| line.chars().count() + part.chars().count() + ", ,".len();
        match lines
            .last_mut()
            .filter(|line| width(line) <= page.columns())
        {
            Some(line) => line.push_str(&format!(", {part}")),
            None => lines.push(part.clone()),
        }
    }
    format!("{}\n", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::table::Column;

    #[test]
    fn prose_is_broken_between_words_and_facts_hang() {
        let sentence = "a sentence that is so long that it takes more than one line of the page";
        let document = Document::default()
            .prose([sentence])
            .facts([("file set", sentence.into()), ("seed", "7".into())]);
        assert_eq!(
            document.text(PageWidth::of(40)),
            "a sentence that is so long that it takes\nmore than one line of the page\n\
             file set        a sentence that is so\n                long that it takes more\n\
             \x20               than one line of the\n                page\nseed            7\n"
        );
    }

    #[test]
    fn a_legend_is_shown_with_the_mark_that_it_explains() {
        let of = |first: &str| {
            let mut table = Table::new([Column::text("first"), Column::text("last").gives_way(1)]);
            table.row([first, &format!("{}~", "x".repeat(60))]);
            Document::default().table(table).push(Block::Legend {
                tables: 1,
                mark: "~",
                meaning: "~ not known",
            })
        };
        let twice = of("a").with(of("b")).text(PageWidth::of(100));
        assert_eq!(twice.matches("~ not known").count(), 1, "{twice}");
        for (first, columns, is_shown) in [("a", 100, true), ("a", 40, false), ("a~", 40, true)] {
            let text = of(first).text(PageWidth::of(columns));
            assert_eq!(text.ends_with("~ not known\n"), is_shown, "{text}");
        }
    }
}
