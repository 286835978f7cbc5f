//! What a steered run found: the load–response curve, or the highest load that keeps an
//! objective.

use filestone_plan::plan::Objective;
use filestone_workload::recording::distribution::DistributionRecord;
use filestone_workload::recording::ledger::Ledger;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A load–response curve.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CurveRecord {
    /// Load points in the order in which they were visited.
    pub points: Vec<CurvePointRecord>,
    /// The highest achieved load of a point that kept up.
    pub peak_ops_per_s: f64,
    /// What decided on the highest load point.
    #[serde(default)]
    pub peak_end: PeakLimit,
    /// How the peak was found.
    pub peak_method: String,
    /// Area under the upward curve and the line from the origin to it, over the peak: as SPEC
    /// reported it with SPECsfs97 to SPECsfs2008.
    pub overall_response_time_ns: Option<f64>,
    /// After which load the curve leaves its line; none where its neighbours' intervals swallow it.
    pub knee: Option<KneeRecord>,
    /// Loads between which the knee is, where that is all that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee_between_ops_per_s: Option<[f64; 2]>,
    /// How far down and up differ.
    pub hysteresis: Option<HysteresisRecord>,
}

/// What decided on the highest load point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PeakLimit {
    /// It was given.
    #[default]
    #[serde(rename = "given")]
    Fixed,
    /// The server does not keep up with more.
    Server,
    /// The load generator cannot offer more.
    Generator,
    /// The search for it was broken off.
    #[serde(rename = "unfinished")]
    NotReached,
}

/// Which way the points are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SweepDirection {
    /// Looking for the peak: no part of the curve.
    Search,
    /// Upwards.
    #[default]
    Up,
    /// Downwards.
    Down,
}

/// One load point.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CurvePointRecord {
    /// Its part of the curve.
    pub leg: SweepDirection,
    /// Offered load.
    pub offered_load_ops_per_s: f64,
    /// Achieved load.
    pub achieved_load_ops_per_s: f64,
    /// Where the operations due at this point went, after the warm-up.
    pub ledger: Ledger,
    /// due → done.
    pub response_time_ns: DistributionRecord,
    /// sent → done.
    pub service_time_ns: DistributionRecord,
    /// Half of the 95 % confidence interval of the mean response time, from batch means.
    pub response_time_mean_half_width_ns: Option<f64>,
    /// How long the queue takes to forget how it began, estimated from the time that operations waited in it
    /// (`statistics::relaxation_time_ns`); 0 where they did not wait, and in older records.
    #[serde(default)]
    pub relaxation_time_ns: f64,
    /// Operations in flight on average, by Little's law.
    pub in_flight_mean: f64,
    /// When its measured part began, in nanoseconds since the window opened.
    pub start_ns: u64,
    /// When it ended, likewise.
    pub end_ns: u64,
    /// How long its warm-up took.
    pub warm_up_ns: u64,
    /// Whether the test ended the warm-up; if not, time did.
    pub is_steady: bool,
    /// Whether the achieved load was at least 98 % of the offered.
    pub kept_up: bool,
}

/// The knee of a curve, and how it was found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct KneeRecord {
    /// At which load.
    pub load_ops_per_s: f64,
    /// The mean response time there.
    pub response_time_mean_ns: f64,
    /// The method, with its source.
    pub method: String,
}

/// The two ways along a curve side by side.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HysteresisRecord {
    /// Area between the two ways over the area under the upward one, in percent; negative where
    /// the way down is faster.
    pub area_percent: f64,
    /// The point where they differ most, measured against chance: its offered load.
    pub largest_at_ops_per_s: f64,
    /// Mean response time there on the way up.
    pub up_mean_ns: f64,
    /// And on the way down.
    pub down_mean_ns: f64,
    /// Whether the difference there is larger than chance explains, at 95 %.
    pub is_significant: bool,
}

/// The highest load that keeps an objective.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ObjectiveRecord {
    /// What had to hold.
    pub objective: Objective,
    /// The most likely highest load.
    pub load_ops_per_s: Option<f64>,
    /// It is in this interval with 95 % confidence.
    pub lower_ops_per_s: Option<f64>,
    /// The other end of the interval.
    pub upper_ops_per_s: Option<f64>,
    /// The highest load at which it was seen to hold, before the interval was narrowed: a
    /// verdict on few operations, without a confidence to state.
    #[serde(default)]
    pub held_ops_per_s: Option<f64>,
    /// The lowest at which it was seen not to, likewise.
    #[serde(default)]
    pub broken_ops_per_s: Option<f64>,
    /// How long the queue near the answer takes to forget how it began
    /// (`statistics::relaxation_time_ns`); 0 where nothing waited, and in older records.
    #[serde(default)]
    pub relaxation_time_ns: f64,
    /// How long a load near the answer was measured at a stretch at most; 0 in older records.
    #[serde(default)]
    pub longest_stretch_ns: u64,
    /// Why the search ended.
    pub end: SearchStopReason,
    /// The loads that were tried, in order.
    pub tried: Vec<SearchStepRecord>,
}

/// Why the search for a load ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SearchStopReason {
    /// The interval is as narrow as was asked.
    Precise,
    /// Time was over.
    #[serde(rename = "time-over")]
    TimedOut,
    /// The objective does not even hold at the lowest load tried.
    #[serde(rename = "never-holds")]
    NeverMet,
    /// It holds at the highest load that the load generator can offer.
    #[serde(rename = "always-holds")]
    AlwaysMet,
    /// Somebody stopped the run.
    Interrupted,
}

impl SearchStopReason {
    /// Whether the answer is where a line through what was measured meets the objective.
    pub const fn is_of_line(self) -> bool {
        matches!(self, Self::Precise | Self::TimedOut | Self::Interrupted)
    }
}

/// One load that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SearchStepRecord {
    /// Offered load.
    pub offered_load_ops_per_s: f64,
    /// Achieved load.
    pub achieved_load_ops_per_s: f64,
    /// Operations measured.
    pub ended: u64,
    /// The figure of the objective there.
    pub figure_ns: u64,
    /// Of these, how many took longer than the bound.
    pub above: u64,
    /// When it began to be measured, in nanoseconds since the window opened.
    pub start_ns: u64,
    /// When it ended, likewise.
    pub end_ns: u64,
}
