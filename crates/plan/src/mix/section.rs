//! A table of counts, before it is converted to a mix or to counters.

use super::error::MixError;
use super::line::Word;
use super::name::{NameMapping, Version, meaning};
use std::borrow::Cow;

/// The side that counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CountingSide {
    Server,
    Client,
    /// The text does not contain the side.
    Unknown,
}

impl CountingSide {
    /// Returns the name in titles.
    pub(super) fn name(self) -> &'static str {
        match self {
            CountingSide::Server => "Server",
            CountingSide::Client => "Client",
            CountingSide::Unknown => "Host",
        }
    }
}

/// Counts of one side and one version.
#[derive(Debug)]
pub(super) struct Section<'a> {
    pub(super) side: CountingSide,
    pub(super) version: Version,
    /// Heading of the table, for notes.
    pub(super) title: String,
    /// Number of the first line.
    pub(super) line: u32,
    pub(super) entries: Vec<MixEntry<'a>>,
}

/// A name and its count.
#[derive(Debug, Clone)]
pub(super) struct MixEntry<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) count: u64,
    /// Total time of these calls in milliseconds, if the source counts it.
    pub(super) millis: Option<u64>,
    /// Position of the count.
    pub(super) line: u32,
    pub(super) column: u32,
}

impl<'a> MixEntry<'a> {
    /// Creates an entry with a word as count.
    pub(super) fn new(name: impl Into<Cow<'a, str>>, count: &Word<'_>) -> Result<Self, MixError> {
        Ok(MixEntry {
            name: name.into(),
            count: count.count()?,
            millis: None,
            line: count.line,
            column: count.column,
        })
    }
}

impl Section<'_> {
    /// Returns the meaning of an entry of this section.
    pub(super) fn meaning(&self, entry: &MixEntry<'_>) -> NameMapping {
        meaning(self.version, &entry.name)
    }

    /// Returns the total number of calls. The operations of COMPOUNDs do not count as calls if the
    /// COMPOUNDs themselves are counted.
    pub(super) fn calls(&self) -> u128 {
        let is_compound = |entry: &&MixEntry<'_>| self.meaning(entry) == NameMapping::Compound;
        let compounds: u128 = self
            .entries
            .iter()
            .filter(is_compound)
            .map(|entry| u128::from(entry.count))
            .sum();
        if compounds > 0 {
            return compounds;
        }
        let counts = self.entries.iter().map(|entry| u128::from(entry.count));
        counts.sum()
    }
}
