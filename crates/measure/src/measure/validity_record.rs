//! Validity of a run, as stored in a record.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// Validity of the figures of a record, from best to worst.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Validity {
    /// Valid: no rule is broken.
    #[serde(alias = "valid")]
    Counts,
    /// Valid with caveats: the requested measurement, with reasons to doubt its figures.
    WithCaveats,
    /// Invalid: not the requested measurement, or contradictory figures.
    #[serde(alias = "invalid")]
    DoesNotCount,
}

impl Validity {
    /// Returns the name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counts => "counts",
            Self::WithCaveats => "with-caveats",
            Self::DoesNotCount => "does-not-count",
        }
    }
}
