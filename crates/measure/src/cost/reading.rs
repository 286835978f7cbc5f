//! Values of counters at a moment.

use super::counter::CostCounter;
use crate::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Values of counters at a moment. Counters that a source does not have are absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CounterReading {
    /// Middle between request and reply of the reading, in nanoseconds since the measured window
    /// opened; negative before it.
    pub moment_ns: i64,
    /// Half the time that the reading took, in nanoseconds: the maximum error of the moment.
    pub uncertainty_ns: u64,
    /// Phase of the run: with load or without.
    pub phase: ReadingPhase,
    /// Number of operations that had ended in the measured window at this moment.
    #[serde(default)]
    pub completed: f64,
    /// Start of the counted host or process, in seconds since 1970 or in ticks since boot. A
    /// different start means that the counters restarted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<u64>,
    /// Number of CPUs that were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u32>,
    /// Values of the counters.
    pub counters: BTreeMap<CostCounter, u64>,
    /// Interrupts by line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LineCount>,
}

/// Interrupts of one line, of all CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineCount {
    /// Number or short name of the line, and the name of its device.
    pub line: String,
    /// Number of interrupts.
    pub count: u64,
}

/// Phase of the run at a reading. Rates are only computed within one phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadingPhase {
    /// Before the warm-up: no operation was due.
    #[default]
    Idle,
    /// In the measured window.
    Load,
}

impl CounterReading {
    /// Returns the value of a counter.
    pub fn count(&self, counter: CostCounter) -> Option<u64> {
        self.counters.get(&counter).copied()
    }

    /// Returns the interrupts of a line.
    pub fn line(&self, name: &str) -> Option<u64> {
        let mut lines = self.lines.iter();
        let found = lines.find(|line| line.line == name)?;
        Some(found.count)
    }
}
