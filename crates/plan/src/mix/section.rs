//! What one table of counts says, before it becomes a mix or counters.

use super::error::MixError;
use super::line::Word;
use super::name::{NameMapping, Version, meaning};
use std::borrow::Cow;

/// Who counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Server,
    Client,
    /// The text does not say.
    Unknown,
}

impl Side {
    /// How titles call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Side::Server => "Server",
            Side::Client => "Client",
            Side::Unknown => "Host",
        }
    }
}

/// Counts of one side and one version.
#[derive(Debug)]
pub(super) struct Section<'a> {
    pub(super) side: Side,
    pub(super) version: Version,
    /// Its heading, as notes show it.
    pub(super) title: String,
    /// Where it begins.
    pub(super) line: u32,
    pub(super) entries: Vec<Entry<'a>>,
}

/// One name and its count.
#[derive(Debug, Clone)]
pub(super) struct Entry<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) count: u64,
    /// How long such calls took together, where that is counted.
    pub(super) millis: Option<u64>,
    /// Where the count stands.
    pub(super) line: u32,
    pub(super) column: u32,
}

impl<'a> Entry<'a> {
    /// The count that is the word.
    pub(super) fn new(name: impl Into<Cow<'a, str>>, count: &Word<'_>) -> Result<Self, MixError> {
        Ok(Entry {
            name: name.into(),
            count: count.count()?,
            millis: None,
            line: count.line,
            column: count.column,
        })
    }
}

impl Section<'_> {
    /// What an entry of this section means.
    pub(super) fn meaning(&self, entry: &Entry<'_>) -> NameMapping {
        meaning(self.version, &entry.name)
    }

    /// Calls in all. The operations of COMPOUNDs are no calls where the COMPOUNDs are counted.
    pub(super) fn calls(&self) -> u128 {
        let is_compound = |entry: &&Entry<'_>| self.meaning(entry) == NameMapping::Compound;
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
