//! Syntax of the values of an option.

use crate::JsonSchema;
use filestone_workload::quantity;
use serde::{Deserialize, Serialize};

/// Syntax of the values of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ValueKind {
    /// Bytes: `4K` are 4096.
    Bytes,
    /// Times: `5ms`.
    Time,
    /// Operations per second: `10k` are 10,000.
    Rate,
    /// Plain numbers.
    Number,
    /// Names from a fixed set.
    Word,
}

impl ValueKind {
    /// Parses a number; `None` if the text is not of this kind.
    pub fn number(self, text: &str) -> Option<f64> {
        match self {
            Self::Bytes => quantity::bytes(text).ok().map(|bytes| bytes as f64),
            Self::Time => quantity::duration(text).ok().map(|nanos| nanos as f64),
            Self::Rate => quantity::per_second(text),
            Self::Number => text.parse().ok().filter(|number: &f64| number.is_finite()),
            Self::Word => None,
        }
    }

    /// Formats a number in the syntax of options of this kind.
    pub(super) fn text(self, number: f64) -> String {
        match self {
            Self::Time => format!("{number:.0}ns"),
            Self::Bytes => format!("{number:.0}"),
            Self::Rate | Self::Number | Self::Word => decimals(number),
        }
    }

    /// Returns whether values of this kind are integers.
    pub(super) const fn is_whole(self) -> bool {
        matches!(self, Self::Bytes | Self::Time)
    }
}

/// Formats a number with at most three decimals.
fn decimals(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}
