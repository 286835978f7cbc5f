//! Result of a run with load control: the load–response curve, or the highest load that meets an
//! objective.

use crate::JsonSchema;
use filestone_plan::plan::Objective;
use filestone_workload::recording::distribution::DistributionRecord;
use filestone_workload::recording::ledger::Ledger;
use serde::{Deserialize, Serialize};

/// A load–response curve.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CurveRecord {
    /// Load points in the order of measurement.
    pub points: Vec<CurvePointRecord>,
    /// Highest achieved load of the points where the server kept up.
    pub peak_ops_per_s: f64,
    /// Limit of the highest load point.
    #[serde(default)]
    pub peak_end: PeakLimit,
    /// Method that found the peak.
    pub peak_method: String,
    /// Area under the upward curve and the line from the origin to it, over the peak, as SPEC
    /// reported it from SPECsfs97 to SPECsfs2008.
    pub overall_response_time_ns: Option<f64>,
    /// Knee of the curve; absent if it is within the confidence intervals of its neighbours.
    pub knee: Option<KneeRecord>,
    /// Loads between which the knee is, if it cannot be located more exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee_between_ops_per_s: Option<[f64; 2]>,
    /// Difference between the downward and the upward curve.
    pub hysteresis: Option<HysteresisRecord>,
}

/// Limit of the highest load point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PeakLimit {
    /// The load was set by the user.
    #[default]
    #[serde(rename = "given")]
    Fixed,
    /// The server does not keep up with more.
    Server,
    /// The load generator cannot offer more.
    Generator,
    /// The search for the peak was interrupted.
    #[serde(rename = "unfinished")]
    NotReached,
}

/// Direction of the visits of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SweepDirection {
    /// Search for the peak: not part of the curve.
    Search,
    /// Upwards.
    #[default]
    Up,
    /// Downwards.
    Down,
}

/// A load point.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CurvePointRecord {
    /// Part of the curve that the point belongs to.
    pub leg: SweepDirection,
    /// Offered load.
    pub offered_load_ops_per_s: f64,
    /// Achieved load.
    pub achieved_load_ops_per_s: f64,
    /// Outcomes of the operations due at this point, after the warm-up.
    pub ledger: Ledger,
    /// Response time (due → done).
    pub response_time_ns: DistributionRecord,
    /// Service time (sent → done).
    pub service_time_ns: DistributionRecord,
    /// Half of the 95 % confidence interval of the mean response time, from batch means.
    pub response_time_mean_half_width_ns: Option<f64>,
    /// Relaxation time of the queue, estimated from the time that operations waited in it
    /// (`statistics::relaxation_time_ns`); 0 without waiting, and in older records.
    #[serde(default)]
    pub relaxation_time_ns: f64,
    /// Mean number of operations in flight, by Little's law.
    pub in_flight_mean: f64,
    /// Start of the measured part, in nanoseconds since the window opened.
    pub start_ns: u64,
    /// End of the measured part, in nanoseconds since the window opened.
    pub end_ns: u64,
    /// Length of its warm-up in nanoseconds.
    pub warm_up_ns: u64,
    /// Whether the steadiness test ended the warm-up; otherwise it ended by its time limit.
    pub is_steady: bool,
    /// Whether the achieved load was at least 98 % of the offered load.
    pub kept_up: bool,
}

/// Knee of a curve, and the method that found it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct KneeRecord {
    /// Load at the knee.
    pub load_ops_per_s: f64,
    /// Mean response time at the knee.
    pub response_time_mean_ns: f64,
    /// Method, with its source.
    pub method: String,
}

/// Comparison of the upward and the downward curve.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct HysteresisRecord {
    /// Area between the two curves over the area under the upward one, in percent; negative if the
    /// downward curve is faster.
    pub area_percent: f64,
    /// Offered load of the point with the most significant difference.
    pub largest_at_ops_per_s: f64,
    /// Mean response time at `largest_at_ops_per_s` on the upward curve.
    pub up_mean_ns: f64,
    /// Mean response time at `largest_at_ops_per_s` on the downward curve.
    pub down_mean_ns: f64,
    /// Whether the difference at `largest_at_ops_per_s` is larger than chance explains, at 95 %.
    pub is_significant: bool,
}

/// Highest load that meets an objective.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectiveRecord {
    /// Objective of the search.
    pub objective: Objective,
    /// Most likely highest load.
    pub load_ops_per_s: Option<f64>,
    /// Lower end of its 95 % confidence interval.
    pub lower_ops_per_s: Option<f64>,
    /// Upper end of its 95 % confidence interval.
    pub upper_ops_per_s: Option<f64>,
    /// Highest load that was observed to meet the objective before the interval was narrowed: a
    /// verdict from few operations, without a confidence level.
    #[serde(default)]
    #[serde(alias = "held_ops_per_s")]
    pub highest_passed_ops_per_s: Option<f64>,
    /// Lowest load that was observed not to meet the objective, equally without a confidence level.
    #[serde(default)]
    #[serde(alias = "broken_ops_per_s")]
    pub lowest_failed_ops_per_s: Option<f64>,
    /// Relaxation time of the queue near the result (`statistics::relaxation_time_ns`); 0 without
    /// waiting, and in older records.
    #[serde(default)]
    pub relaxation_time_ns: f64,
    /// Longest continuous measurement of a load near the result, in nanoseconds; 0 in older
    /// records.
    #[serde(default)]
    pub longest_stretch_ns: u64,
    /// Reason why the search ended.
    pub end: SearchStopReason,
    /// Loads that were tried, in chronological order.
    #[serde(alias = "tried")]
    pub steps: Vec<SearchStepRecord>,
}

/// Reason why the search for a load ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SearchStopReason {
    /// The interval has the requested width.
    Precise,
    /// The time limit was reached.
    #[serde(rename = "time-over")]
    TimedOut,
    /// The objective is not met even at the lowest load tried.
    #[serde(rename = "never-holds")]
    NeverMet,
    /// The objective is met at the highest load that the load generator can offer.
    #[serde(rename = "always-holds")]
    AlwaysMet,
    /// The user stopped the run.
    Interrupted,
}

impl SearchStopReason {
    /// Returns whether the result is the intersection of a line fitted to the measurements with the
    /// objective.
    pub const fn is_of_line(self) -> bool {
        matches!(self, Self::Precise | Self::TimedOut | Self::Interrupted)
    }
}

/// A load that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SearchStepRecord {
    /// Offered load.
    pub offered_load_ops_per_s: f64,
    /// Achieved load.
    pub achieved_load_ops_per_s: f64,
    /// Operations measured.
    pub ended: u64,
    /// Figure of the objective at this load, in nanoseconds.
    pub figure_ns: u64,
    /// Number of measured operations that took longer than the limit of the objective.
    pub above: u64,
    /// Start of the measurement, in nanoseconds since the window opened.
    pub start_ns: u64,
    /// End of the measurement, in nanoseconds since the window opened.
    pub end_ns: u64,
}
