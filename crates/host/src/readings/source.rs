//! Sources of readings.

use super::ReadingError;
use filestone_measure::cost::CounterReading;

/// A source of readings.
pub trait Source: Send {
    /// Returns the name of the source in the record.
    fn name(&self) -> String;

    /// Reads the counters now; the caller records the time.
    fn read(&mut self) -> Result<CounterReading, ReadingError>;
}
