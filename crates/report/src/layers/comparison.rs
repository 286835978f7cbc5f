//! Comparison of the runs of a load file on several layers, by kind of operation.

use super::differences::RunBatches;
use super::rows::{LayerColumn, LayerSums, OperationRow, layers, rows, sums};
use crate::dbench::{self, DbenchFormat};
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::ReplayPlan;

/// Several replays of the same load files.
pub struct LayerComparison<'record> {
    /// Plan of the replay.
    pub plan: &'record ReplayPlan,
    /// Columns.
    pub layers: Vec<LayerColumn<'record>>,
    /// Rows.
    pub rows: Vec<OperationRow>,
    /// Sums of the rows.
    pub sums: LayerSums,
    /// Runs in batches, for the intervals of their means.
    pub batches: RunBatches<'record>,
}

impl<'record> LayerComparison<'record> {
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
            batches: RunBatches::of(&runs),
            layers,
            rows,
        })
    }

    /// Returns the name of a row.
    pub fn name_of(&self, row: &OperationRow) -> &'static str {
        dbench::spelling(DbenchFormat::Five, self.plan, row.kind)
    }
}
