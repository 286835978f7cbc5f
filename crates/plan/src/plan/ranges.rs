//! Values that are assigned to clients in turn, written as ranges.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Values that are assigned to clients in turn: client i has number i modulo their number. Written
/// as single values, ranges with a hyphen, or a list of these with commas.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String", bound = "T: RangeItem")]
#[schemars(with = "String")]
pub struct Ranges<T>(pub(super) Vec<RangeInclusive<T>>);

/// Type of values that can form ranges.
pub trait RangeItem: Copy + PartialOrd + fmt::Display + FromStr {
    /// Description of a valid text, for error messages.
    const EXPECTED: &str;

    /// Returns this value as a number.
    fn number(self) -> u128;

    /// Returns the value with this number, of the same kind as this one.
    fn like(self, number: u128) -> Self;

    /// Parses a range.
    fn range(text: &str) -> Option<RangeInclusive<Self>> {
        hyphenated(text)
    }
}

/// Parses a single value, or two with a hyphen.
pub fn hyphenated<T: RangeItem>(text: &str) -> Option<RangeInclusive<T>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = first.trim().parse().ok()?..=last.trim().parse().ok()?;
    (!range.is_empty()).then_some(range)
}

fn count<T: RangeItem>(range: &RangeInclusive<T>) -> u128 {
    (range.end().number() - range.start().number()).saturating_add(1)
}

impl<T: RangeItem> Ranges<T> {
    /// Whether there are no values, so that nothing is assigned to clients.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the ranges as they were written.
    pub fn iter(&self) -> impl Iterator<Item = &RangeInclusive<T>> {
        self.0.iter()
    }

    /// Returns all values in order.
    pub fn values(&self) -> impl Iterator<Item = T> + '_ {
        self.0.iter().flat_map(|range| {
            let first = *range.start();
            (first.number()..=range.end().number()).map(move |number| first.like(number))
        })
    }

    /// Returns the ranges of `values`, which are sorted; consecutive values form a range.
    pub fn of(values: impl IntoIterator<Item = T>) -> Self
    where
        T: Ord,
    {
        let mut values: Vec<T> = values.into_iter().collect();
        values.sort_unstable();
        values.dedup();
        let follows = |one: &T, next: &T| one.like(one.number() + 1) == *next;
        let runs = values.chunk_by(follows);
        Self(
            runs.filter_map(|run| Some(*run.first()?..=*run.last()?))
                .collect(),
        )
    }

    /// Returns the number of values.
    pub fn count(&self) -> u128 {
        self.0.iter().map(count).fold(0, u128::saturating_add)
    }

    /// Returns the value of client `client`.
    pub fn of_client(&self, client: u32) -> Option<T> {
        let mut place = u128::from(client).checked_rem(self.count())?;
        for range in &self.0 {
            if place < count(range) {
                let first = range.start();
                return Some(first.like(first.number() + place));
            }
            place -= count(range);
        }
        None
    }
}

impl<T> Default for Ranges<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: RangeItem> FromStr for Ranges<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let range = |text: &str| {
            T::range(text).ok_or_else(|| format!("{text:?}: expected {}", T::EXPECTED))
        };
        text.split(',')
            .map(range)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl<T: RangeItem> fmt::Display for Ranges<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, range) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{}", range.start())?;
            if range.start() != range.end() {
                write!(f, "-{}", range.end())?;
            }
        }
        Ok(())
    }
}

impl<T: RangeItem> TryFrom<String> for Ranges<T> {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl<T: RangeItem> From<Ranges<T>> for String {
    fn from(ranges: Ranges<T>) -> Self {
        ranges.to_string()
    }
}
