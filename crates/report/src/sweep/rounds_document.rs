//! Common parts of the documents of sweeps and ladders: the order of runs in rounds, and counts
//! over the runs of a point.

use super::{SweepReport, SweptPoint};
use crate::JsonSchema;
use crate::repeats::RepeatsEnd;
use filestone_measure::comparison::repeats::RepeatPlan;
use filestone_workload::statistics::CONFIDENCE;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Order, number and end of runs in rounds.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RoundsDocument {
    /// Seed of the order; run k of each point uses this seed plus k − 1.
    pub seed: u64,
    /// Maximum number of runs of each point.
    pub runs_max: u32,
    /// Requested relative precision of the figure.
    pub until: Option<f64>,
    /// Pause between two runs, in nanoseconds.
    pub pause_ns: u64,
    /// Reason why no more runs were made; null while more are planned.
    pub end: Option<RepeatsEnd>,
    /// Point of each run, in the order of time, counted from 1.
    pub order: Vec<usize>,
    /// Confidence level of the intervals, as a probability.
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
    /// Returns the requested number of runs.
    pub fn wanted(&self) -> RepeatPlan {
        RepeatPlan {
            most: self.runs_max,
            until: self.until,
            pause_ns: self.pause_ns,
        }
    }

    /// Returns the point of each run, counted from 0.
    pub fn places(&self) -> Vec<usize> {
        let order = self.order.iter();
        order.map(|point| point.saturating_sub(1)).collect()
    }
}

/// Counts over the runs of a point.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PointCounts {
    /// Number of complete runs.
    pub runs: usize,
    /// Operations that were sent and did not succeed, in all runs together.
    pub errors: u64,
    /// Calls that were retransmitted.
    pub retransmissions: u64,
    /// Replies that arrived too late or twice.
    pub late_replies: u64,
    /// Caveats, with the number of runs that have each.
    pub caveats: BTreeMap<String, u32>,
    /// Reason why the point cannot be measured, if there is one.
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
    /// Columns of a row; the last is 1 for a point that cannot be measured.
    pub const COLUMNS: [&str; 5] = [
        "runs",
        "errors",
        "retransmissions",
        "late_replies",
        "failed",
    ];

    /// Returns the cells of these columns.
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
