//! What is wrong with a gate: where in it, what, what was expected.

use filestone_workload::text::printable;
use std::fmt;

/// Letters of a gate that are shown.
const SHOWN: usize = 100;

/// What to do with more than a gate holds.
pub(super) const SEVERAL: &str = "--fail-if can be given several times";

/// A part of a gate's text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextSpan {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

impl TextSpan {
    /// From the beginning of this one to the end of the other.
    pub(super) const fn to(self, other: Self) -> Self {
        Self {
            start: self.start,
            end: other.end,
        }
    }

    /// What stands there.
    pub(super) fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// Why a text is no gate, or none of this plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateError {
    /// The gate.
    pub text: String,
    /// Which part of it is wrong.
    pub place: TextSpan,
    /// What is wrong, with which value.
    pub message: String,
    /// What was expected, or what to do.
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

    /// There is more than one comparison.
    pub(super) fn one_comparison(text: &str, place: TextSpan) -> Self {
        Self::at(text, place, "a gate has one comparison").with_help(SEVERAL)
    }

    /// The same, with what was expected.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// First letter of what is wrong, from 1.
    pub fn column(&self) -> usize {
        self.letters(self.place.start) + 1
    }

    /// The gate, and below it a caret under every letter that is wrong.
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

    /// Letters before this byte.
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
