//! Lines and words of a text, with their positions.

use super::error::MixError;

/// Maximum number of lines: nfsstat prints fifty, mountstats of a host with a thousand mounts has a
/// hundred thousand.
pub(super) const LINES_MAX: usize = 1_000_000;

/// Maximum number of characters of a word in a message.
const SHOWN: usize = 60;

/// A line without its terminator.
#[derive(Debug, Clone, Copy)]
pub(super) struct MixLine<'a> {
    /// Line number, from 1.
    pub(super) number: u32,
    pub(super) text: &'a str,
}

/// A word of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word<'a> {
    pub(super) line: u32,
    /// Column of the first byte, from 1.
    pub(super) column: u32,
    pub(super) text: &'a str,
}

/// Returns the lines of a text.
pub(super) fn lines(text: &str) -> Result<Vec<MixLine<'_>>, MixError> {
    let found: Vec<MixLine<'_>> = text
        .lines()
        .take(LINES_MAX + 1)
        .zip(1..)
        .map(|(text, number)| MixLine { number, text })
        .collect();
    if found.len() > LINES_MAX {
        let what = format!("more than {LINES_MAX} lines");
        let help = "a mix file is a few lines: the output of nfsstat, or `read 18`";
        return Err(MixError::at(LINES_MAX as u32, 1, what).help(help));
    }
    Ok(found)
}

impl<'a> MixLine<'a> {
    /// Returns the words between blanks.
    pub(super) fn words(self) -> impl Iterator<Item = Word<'a>> + Clone {
        let mut rest = self.text;
        let mut column = 1;
        std::iter::from_fn(move || {
            let trimmed = rest.trim_start();
            column += (rest.len() - trimmed.len()) as u32;
            let len = trimmed.find(char::is_whitespace).unwrap_or(trimmed.len());
            let (text, after) = trimmed.split_at(len);
            let word = Word {
                line: self.number,
                column,
                text,
            };
            rest = after;
            column += len as u32;
            (len > 0).then_some(word)
        })
    }

    /// Returns the first word, if there is one.
    pub(super) fn first_word(self) -> Option<Word<'a>> {
        self.words().next()
    }

    /// Creates an error about the whole line.
    pub(super) fn error(self, what: impl Into<String>) -> MixError {
        let column = self.first_word().map_or(1, |word| word.column);
        MixError::at(self.number, column, what)
    }

    /// Creates an error about the position after the last word.
    pub(super) fn error_at_end(self, what: impl Into<String>) -> MixError {
        let column = self.text.trim_end().len() as u32 + 1;
        MixError::at(self.number, column, what)
    }
}

impl Word<'_> {
    /// Creates an error about this word.
    pub(super) fn error(&self, what: impl Into<String>) -> MixError {
        MixError::at(self.line, self.column, what)
    }

    /// Parses the word as a count.
    pub(super) fn count(&self) -> Result<u64, MixError> {
        let is_number =
            !self.text.is_empty() && self.text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number {
            let what = format!("\"{}\" is not a count", self.shown());
            return Err(self.error(what).help("a count is decimal digits only"));
        }
        self.text.parse().map_err(|_| {
            let what = format!("the count {} does not fit into 64 bits", self.shown());
            self.error(what)
                .help(format!("the largest is {}", u64::MAX))
        })
    }

    /// Returns the word for messages: truncated and with escapes for unprintable characters.
    pub(super) fn shown(&self) -> String {
        let mut shown: String = self
            .text
            .chars()
            .take(SHOWN)
            .flat_map(char::escape_debug)
            .collect();
        if self.text.chars().nth(SHOWN).is_some() {
            shown.push('…');
        }
        shown
    }
}
