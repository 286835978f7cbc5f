//! The verdict on a record, as it keeps it.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the numbers of a record count, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Validity {
    /// No rule is broken.
    #[serde(alias = "valid")]
    Counts,
    /// They are what was asked for, with reasons to doubt them.
    WithCaveats,
    /// They are not what was asked for, or contradict each other.
    #[serde(alias = "invalid")]
    DoesNotCount,
}

impl Validity {
    /// Its name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counts => "counts",
            Self::WithCaveats => "with-caveats",
            Self::DoesNotCount => "does-not-count",
        }
    }
}
