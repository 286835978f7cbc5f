//! What counters said at a moment.

use super::counter::Counter;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What counters said at a moment. Those that a source does not have are not there.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CounterReading {
    /// The middle between when it was asked for and when it had come, in nanoseconds since the
    /// measured window opened; before it, less than 0.
    pub moment_ns: i64,
    /// Half the time that it took: how far off the moment can be.
    pub uncertainty_ns: u64,
    /// Whether there was load then.
    pub phase: ReadingPhase,
    /// Operations that had ended in the measured window by then.
    #[serde(default)]
    pub completed: f64,
    /// When what counts was started, in seconds since 1970 or in ticks since the host was: another
    /// start has begun to count anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<u64>,
    /// Processors that counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u32>,
    /// What the counters said.
    pub counters: BTreeMap<Counter, u64>,
    /// Interrupts by line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LineCount>,
}

/// Interrupts of one line, of all processors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LineCount {
    /// Its number or short name, and what its device calls itself.
    pub line: String,
    /// How many there were.
    pub count: u64,
}

/// In which part of a run a reading was made. From one part to another there is no rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ReadingPhase {
    /// Before the warm-up: no operation was due.
    #[default]
    Idle,
    /// In the measured window.
    Load,
}

impl CounterReading {
    /// What a counter said.
    pub fn count(&self, counter: Counter) -> Option<u64> {
        self.counters.get(&counter).copied()
    }

    /// Interrupts of a line.
    pub fn line(&self, name: &str) -> Option<u64> {
        let mut lines = self.lines.iter();
        let found = lines.find(|line| line.line == name)?;
        Some(found.count)
    }
}
