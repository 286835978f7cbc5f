//! How the values of an option are written.

use filestone_workload::quantity;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the values of an option are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
    /// Names of which there are so many and no more.
    Word,
}

impl ValueKind {
    /// The number that a text is; `None` if it is none of this kind.
    pub fn number(self, text: &str) -> Option<f64> {
        match self {
            Self::Bytes => quantity::bytes(text).ok().map(|bytes| bytes as f64),
            Self::Time => quantity::duration(text).ok().map(|nanos| nanos as f64),
            Self::Rate => quantity::per_second(text),
            Self::Number => text.parse().ok().filter(|number: &f64| number.is_finite()),
            Self::Word => None,
        }
    }

    /// A number as options of this kind read it.
    pub(super) fn text(self, number: f64) -> String {
        match self {
            Self::Time => format!("{number:.0}ns"),
            Self::Bytes => format!("{number:.0}"),
            Self::Rate | Self::Number | Self::Word => decimals(number),
        }
    }

    /// Whether there is nothing between two neighbours of this kind.
    pub(super) const fn is_whole(self) -> bool {
        matches!(self, Self::Bytes | Self::Time)
    }
}

/// A number with three decimals at most.
fn decimals(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}
