//! A history for programs: JSON with a schema, and a row per run.

use super::{HistoryReport, heading};
use filestone_workload::statistics::CONFIDENCE;
use filestone_workload::statistics::change_points::FALSE_ALARMS;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// The shape of [`HistoryDocument`]; it rises when that changes.
const FORMAT: u32 = 1;

/// What `filestone history --as json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HistoryDocument {
    /// The shape of this document.
    pub format: u32,
    /// The newest level against the one before it, in words.
    pub summary: String,
    /// Whether it is worse.
    pub is_worse: bool,
    /// The figure's name.
    pub figure: String,
    /// What it is counted in.
    pub unit: &'static str,
    /// How often a series without any change is said to have one.
    pub false_alarms: f64,
    /// With which probability intervals hold the true value.
    pub confidence: f64,
    /// In the order of time.
    pub runs: Vec<HistoryRun>,
    /// Runs between two changes.
    pub levels: Vec<HistoryLevel>,
    /// Where they change.
    pub changes: Vec<HistoryChange>,
    /// Runs that were left out, and where the host changed.
    pub notes: Vec<String>,
}

/// A run.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HistoryRun {
    /// When its window began, RFC 3339, UTC.
    pub started_at: String,
    /// What its directory is called, or its file.
    pub label: String,
    /// The version of filestone that made it.
    pub version: String,
    /// The figure.
    pub value: f64,
    /// Half of its 95 % interval, if the run knows it.
    pub half_width: Option<f64>,
}

/// Runs between two changes.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HistoryLevel {
    /// The first of them, from 0.
    pub from: usize,
    /// How many they are.
    pub runs: usize,
    /// Geometric mean of the figure.
    pub value: f64,
}

/// A change.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HistoryChange {
    /// The first run after it, from 0.
    pub at: usize,
    /// When that began.
    pub started_at: String,
    /// The earliest run that may be the first one after it, with `confidence`.
    pub earliest: usize,
    /// When that began.
    pub earliest_started_at: String,
    /// The latest one.
    pub latest: usize,
    /// When that began.
    pub latest_started_at: String,
    /// By which share the figure is larger from then on.
    pub share: f64,
    /// The lower end of the interval of that.
    pub share_low: f64,
    /// Its upper end.
    pub share_high: f64,
    /// How probable so large a change is by chance.
    pub p_value: f64,
    /// Whether it is one for the worse.
    pub is_worse: bool,
}

/// The document.
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
        runs: runs(told),
        levels: levels(told),
        changes: changes(told),
        notes: told.notes.clone(),
    }
}

fn runs(told: &HistoryReport) -> Vec<HistoryRun> {
    let runs = told.runs.iter().map(|run| HistoryRun {
        started_at: run.started_at.clone(),
        label: run.label.clone(),
        version: run.version.clone(),
        value: run.value,
        half_width: run.half_width,
    });
    runs.collect()
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
        share: change.share,
        share_low: change.low,
        share_high: change.high,
        p_value: change.p_value,
        is_worse: change.is_worse,
    });
    changes.collect()
}

/// A row per run.
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
            change.map_or_else(String::new, |change| change.share.to_string()),
            change.map_or_else(String::new, |change| started(change.earliest)),
            change.map_or_else(String::new, |change| started(change.latest)),
        ));
    }
    text
}

/// A name as a field: quoted where it would not be one otherwise (RFC 4180).
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.into()
    }
}
