//! What the documents of sweeps and of ladders have in common: how runs were made in rounds, and what is
//! counted over those of a point.

use super::{SweepReport, SweptPoint};
use crate::report::repeats::RepeatsEnd;
use filestone_measure::comparison::repeats::RepeatPlan;
use filestone_workload::statistics::CONFIDENCE;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How runs were made in rounds.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RoundsDocument {
    /// What the order comes from; run k of each point has this seed and k − 1.
    pub seed: u64,
    /// Most runs of each point.
    pub runs_max: u32,
    /// The share that the figure was to be known within.
    pub until: Option<f64>,
    /// Between two runs, in nanoseconds.
    pub pause_ns: u64,
    /// Why there were no more runs; null while there are more to come.
    pub end: Option<RepeatsEnd>,
    /// Of which point each run was, in the order of time, counted from 1.
    pub order: Vec<usize>,
    /// With which probability intervals hold what they are about.
    pub confidence: f64,
}

impl From<&SweepReport> for RoundsDocument {
    fn from(swept: &SweepReport) -> Self {
        Self {
            seed: swept.seed,
            runs_max: swept.wanted.most,
            until: swept.wanted.until,
            pause_ns: swept.wanted.pause_ns,
            end: swept.end,
            order: swept.order.iter().map(|point| point + 1).collect(),
            confidence: CONFIDENCE,
        }
    }
}

impl RoundsDocument {
    /// How many runs were wanted.
    pub fn wanted(&self) -> RepeatPlan {
        RepeatPlan {
            most: self.runs_max,
            until: self.until,
            pause_ns: self.pause_ns,
        }
    }

    /// Of which point each run was, counted from 0.
    pub fn places(&self) -> Vec<usize> {
        let order = self.order.iter();
        order.map(|point| point.saturating_sub(1)).collect()
    }
}

/// What is counted over the runs of a point.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PointCounts {
    /// Whole runs.
    pub runs: usize,
    /// Operations that were sent and did not end well, of all runs together.
    pub errors: u64,
    /// Calls that were sent again.
    pub retransmissions: u64,
    /// Replies that came too late or twice.
    pub late_replies: u64,
    /// Reasons to doubt them, with the number of runs that have each.
    pub caveats: BTreeMap<String, u32>,
    /// Why it cannot be measured, if it cannot.
    pub failed: Option<String>,
}

impl From<&SweptPoint> for PointCounts {
    fn from(point: &SweptPoint) -> Self {
        let tally = &point.tally;
        Self {
            runs: tally.runs(),
            errors: tally.errors,
            retransmissions: tally.retransmissions,
            late_replies: tally.late_replies,
            caveats: tally.caveats.clone(),
            failed: point.failed.clone(),
        }
    }
}

impl PointCounts {
    /// The columns of a row; the last is 1 of a point that cannot be measured.
    pub const COLUMNS: [&str; 5] = [
        "runs",
        "errors",
        "retransmissions",
        "late_replies",
        "failed",
    ];

    /// What stands in them.
    pub fn cells(&self) -> [String; 5] {
        let counts = [
            self.runs as u64,
            self.errors,
            self.retransmissions,
            self.late_replies,
            u64::from(self.failed.is_some()),
        ];
        counts.map(|count| count.to_string())
    }
}
