//! Reasons for lost connections.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Maximum number of different reasons; some of them contain text from a server.
const REASONS_MAX: usize = 16;
/// Entry that counts further reasons.
const OTHER: &str = "other reasons";

/// Connections that were lost for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LossRecord {
    /// Side that closed the connections, and reason.
    pub reason: String,
    /// Number of connections.
    pub count: u64,
}

/// Counts of reasons.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LossReasons(BTreeMap<String, u64>);

impl LossReasons {
    /// Adds `count` connections lost for a reason.
    pub fn note(&mut self, reason: String, count: u64) {
        let is_kept = self.0.len() < REASONS_MAX || self.0.contains_key(&reason);
        let reason = if is_kept { reason } else { OTHER.into() };
        let counted = self.0.entry(reason).or_default();
        *counted = counted.saturating_add(count);
    }

    /// Creates the counts from a record.
    pub fn of(records: &[LossRecord]) -> Self {
        let mut reasons = Self::default();
        for record in records {
            reasons.note(record.reason.clone(), record.count);
        }
        reasons
    }

    /// Adds the counts of another.
    pub fn add(&mut self, others: &Self) {
        for (reason, count) in &others.0 {
            self.note(reason.clone(), *count);
        }
    }

    /// Converts the counts for a record.
    pub fn into_records(self) -> Vec<LossRecord> {
        let all = self.0.into_iter();
        let mut records: Vec<LossRecord> = all
            .map(|(reason, count)| LossRecord { reason, count })
            .collect();
        records.sort_by_key(|record| Reverse(record.count));
        records
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_and_bounded() {
        let mut reasons = LossReasons::default();
        for number in 0..100 {
            reasons.note(format!("reason {number}"), 1);
        }
        reasons.note("reason 3".into(), 200);
        let records = reasons.into_records();
        assert_eq!(records.len(), REASONS_MAX + 1);
        let first = LossRecord {
            reason: "reason 3".into(),
            count: 201,
        };
        assert_eq!(records[0], first);
        assert_eq!((&*records[1].reason, records[1].count), (OTHER, 84));
        let sum: u64 = records.iter().map(|record| record.count).sum();
        assert_eq!(sum, 300);
    }
}
