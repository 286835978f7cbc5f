//! Output of a history for programs: JSON with a schema, and a row per run.

use super::{HistoryReport, heading};
use crate::JsonSchema;
use filestone_workload::statistics::CONFIDENCE;
use filestone_workload::statistics::change_points::FALSE_ALARMS;
use serde::Serialize;

/// Format version of [`HistoryDocument`]; increased when the shape changes.
const FORMAT: u32 = 1;

/// Output of `filestone history --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HistoryDocument {
    /// Format version of this document.
    pub format: u32,
    /// Newest level compared with the one before it, in words.
    pub summary: String,
    /// Whether the newest level is worse.
    pub is_worse: bool,
    /// Name of the figure.
    pub figure: String,
    /// Unit of the figure.
    pub unit: &'static str,
    /// Probability that a change is reported for a series without any.
    pub false_alarms: f64,
    /// Confidence level of the intervals, as a probability.
    pub confidence: f64,
    /// Runs in the order of time.
    pub runs: Vec<HistoryRun>,
    /// Levels: the runs between two changes.
    pub levels: Vec<HistoryLevel>,
    /// Changes between levels.
    pub changes: Vec<HistoryChange>,
    /// Notes on runs that were left out, and on changes of the host.
    pub notes: Vec<String>,
}

/// A run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HistoryRun {
    /// Start of its window in RFC 3339 format, UTC.
    pub started_at: String,
    /// Name of its directory or file.
    pub label: String,
    /// The version of filestone that made it.
    pub version: String,
    /// Value of the figure.
    pub value: f64,
    /// Half-width of its 95 % interval, if the run has one.
    pub half_width: Option<f64>,
}

/// Runs between two changes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HistoryLevel {
    /// First run of the level, counted from 0.
    pub from: usize,
    /// Number of runs.
    pub runs: usize,
    /// Geometric mean of the figure.
    pub value: f64,
}

/// A change.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HistoryChange {
    /// First run after the change, counted from 0.
    pub at: usize,
    /// Start time of that run.
    pub started_at: String,
    /// Earliest run that may be the first after the change, with probability `confidence`.
    pub earliest: usize,
    /// Start time of that run.
    pub earliest_started_at: String,
    /// Latest run that may be the first after the change.
    pub latest: usize,
    /// Start time of that run.
    pub latest_started_at: String,
    /// Relative increase of the figure at the change.
    pub share: f64,
    /// Lower end of the interval of the increase.
    pub share_low: f64,
    /// Upper end of the interval of the increase.
    pub share_high: f64,
    /// Probability of a change of this size by chance.
    pub p_value: f64,
    /// Whether the change is a regression.
    pub is_worse: bool,
}

/// Returns the document.
pub fn of(told: &HistoryReport) -> HistoryDocument {
    let history = &told.history;
    HistoryDocument {
        format: FORMAT,
        summary: heading(told),
        is_worse: history.is_worse(),
        figure: history.figure.to_string(),
        unit: history.figure.quantity.unit().name(),
        false_alarms: FALSE_ALARMS,
        confidence: CONFIDENCE,
        runs: told.runs.clone(),
        levels: levels(told),
        changes: changes(told),
        notes: told.notes.clone(),
    }
}

fn levels(told: &HistoryReport) -> Vec<HistoryLevel> {
    let levels = told.history.levels.iter().map(|level| HistoryLevel {
        from: level.runs.start,
        runs: level.runs.len(),
        value: level.value,
    });
    levels.collect()
}

fn changes(told: &HistoryReport) -> Vec<HistoryChange> {
    let changes = told.history.changes.iter().map(|change| HistoryChange {
        at: change.at,
        started_at: told.runs[change.at].started_at.clone(),
        earliest: change.earliest,
        earliest_started_at: told.runs[change.earliest].started_at.clone(),
        latest: change.latest,
        latest_started_at: told.runs[change.latest].started_at.clone(),
        share: change.change.share,
        share_low: change.change.low,
        share_high: change.change.high,
        p_value: change.p_value,
        is_worse: change.is_worse,
    });
    changes.collect()
}

/// Formats a row per run.
pub fn csv(told: &HistoryReport) -> String {
    let mut text = String::from(
        "started_at,run,version,value,half_width,unit,level,change,change_earliest,change_latest\n",
    );
    let unit = told.history.figure.quantity.unit().name();
    let started = |at: usize| quoted(&told.runs[at].started_at);
    for (place, run) in told.runs.iter().enumerate() {
        let mut levels = told.history.levels.iter();
        let level = levels.find(|level| level.runs.contains(&place));
        let mut changes = told.history.changes.iter();
        let change = changes.find(|change| change.at == place);
        text.push_str(&format!(
            "{},{},{},{},{},{unit},{},{},{},{}\n",
            quoted(&run.started_at),
            quoted(&run.label),
            quoted(&run.version),
            run.value,
            run.half_width
                .map_or_else(String::new, |half| half.to_string()),
            level.map_or_else(String::new, |level| level.value.to_string()),
            change.map_or_else(String::new, |change| change.change.share.to_string()),
            change.map_or_else(String::new, |change| started(change.earliest)),
            change.map_or_else(String::new, |change| started(change.latest)),
        ));
    }
    text
}

/// Formats a name as a CSV field, quoted if necessary (RFC 4180).
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.into()
    }
}
