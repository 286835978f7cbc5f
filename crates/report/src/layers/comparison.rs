//! Comparison of the runs of a load file on several layers, by kind of operation.

use super::differences::Batches;
use super::rows::{Layer, Row, Sums, layers, rows, sums};
use crate::dbench::{self, Form};
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::ReplayPlan;

/// Several replays of the same load files.
pub struct Comparison<'record> {
    /// Plan of the replay.
    pub plan: &'record ReplayPlan,
    /// Columns.
    pub layers: Vec<Layer<'record>>,
    /// Rows.
    pub rows: Vec<Row>,
    /// Sums of the rows.
    pub sums: Sums,
    /// Runs in batches, for the intervals of their means.
    pub batches: Batches<'record>,
}

impl<'record> Comparison<'record> {
    /// Creates the comparison of these records; `None` if they are not several replays.
    pub fn of(records: &'record [RunRecord]) -> Option<Self> {
        let plans = records.iter().filter_map(|record| record.plan.replay());
        let is_comparison = records.len() > 1 && plans.clone().count() == records.len();
        let plan = plans.clone().next().filter(|_| is_comparison)?;
        let layers = layers(records);
        let rows = rows(&layers, plan);
        let runs: Vec<&[&RunRecord]> = layers.iter().map(|layer| &layer.runs[..]).collect();
        Some(Self {
            plan,
            sums: sums(&rows, layers.len()),
            batches: Batches::of(&runs),
            layers,
            rows,
        })
    }

    /// Returns the name of a row.
    pub fn name_of(&self, row: &Row) -> &'static str {
        dbench::spelling(Form::Five, self.plan, row.kind)
    }
}
