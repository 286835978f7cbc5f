//! A place that readings come from.

use super::ReadingError;
use filestone_measure::cost::CounterReading;

/// A place that readings come from.
pub trait Source: Send {
    /// What the record calls it.
    fn name(&self) -> String;

    /// What it says now; when it was asked does not matter here.
    fn read(&mut self) -> Result<CounterReading, ReadingError>;
}
