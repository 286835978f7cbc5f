//! The error type for gates: position, description and expected value.

use filestone_workload::text::printable;
use std::fmt;

/// Maximum number of characters of a gate in a message.
const SHOWN: usize = 100;

/// Help text for a gate with more than one condition.
pub(super) const SEVERAL: &str = "--fail-if can be given several times";

/// A part of a gate's text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextSpan {
    /// Start of the part.
    pub start: usize,
    /// End of the part, exclusive.
    pub end: usize,
}

impl TextSpan {
    /// Returns the span from the start of this one to the end of the other.
    pub(super) const fn to(self, other: Self) -> Self {
        Self {
            start: self.start,
            end: other.end,
        }
    }

    /// Returns the text in this span.
    pub(super) fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// Error returned when a text is not a gate, or when a gate does not apply to a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateError {
    /// The gate.
    pub text: String,
    /// The part that is wrong.
    pub place: TextSpan,
    /// Description of the error with the wrong value.
    pub message: String,
    /// The expected value, or an advice.
    pub help: Option<String>,
}

impl GateError {
    pub(super) fn at(text: &str, place: TextSpan, what: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            place,
            message: what.into(),
            help: None,
        }
    }

    /// Creates an error about a second comparison.
    pub(super) fn one_comparison(text: &str, place: TextSpan) -> Self {
        Self::at(text, place, "a gate has one comparison").with_help(SEVERAL)
    }

    /// Adds a help text.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Returns the column of the first wrong character, from 1.
    pub fn column(&self) -> usize {
        self.letters(self.place.start) + 1
    }

    /// Returns the gate, with a caret below every wrong character.
    pub fn picture(&self) -> String {
        let shown: String = self.text.chars().take(SHOWN).collect();
        let before = self.letters(self.place.start).min(SHOWN);
        let wrong = self.letters(self.place.end).min(SHOWN) - before;
        format!(
            "    {}\n    {}{}",
            printable(&shown),
            " ".repeat(before),
            "^".repeat(wrong.max(1))
        )
    }

    /// Returns the number of characters before this byte.
    fn letters(&self, byte: usize) -> usize {
        let letters = self.text.char_indices();
        letters.take_while(|(place, _)| *place < byte).count()
    }
}

impl fmt::Display for GateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column(), self.message)
    }
}

impl std::error::Error for GateError {}
