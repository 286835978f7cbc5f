//! Layers and kinds of operation: columns and rows of the tables.

use crate::parts::kinds::measured;
use crate::replay;
use filestone_measure::measure::run_record::KindRecord;
use filestone_measure::measure::{MountRecord, RunRecord};
use filestone_plan::plan::ReplayPlan;
use filestone_workload::operation::OpKind;
use filestone_workload::recording::DistributionRecord;

/// A column: a layer.
pub struct LayerColumn<'record> {
    /// Heading of the column.
    pub name: String,
    /// `local`, `tcp` or `nfs`; `mount` for a directory on a server that the kernel has mounted.
    pub layer: &'record str,
    /// Name in sentences.
    pub text: String,
    /// Runs of the layer, one per round.
    pub runs: Vec<&'record RunRecord>,
}

/// A row: a kind of operation.
pub struct OperationRow {
    /// Kind of operation.
    pub kind: OpKind,
    /// Number of operations of this kind per pass.
    pub per_pass: f64,
    /// Service times by column; `None` if there were none, or if the operation sent no call.
    pub times: Vec<Option<DistributionRecord>>,
    /// Whether it sent no call on one of the layers.
    pub is_without_call: bool,
}

/// Sums over the kinds that all layers measured.
pub struct LayerSums {
    /// Operations per pass.
    pub per_pass: f64,
    /// Time per pass by column, in nanoseconds.
    pub pass_ns: Vec<f64>,
}

impl OperationRow {
    /// Returns the mean service times by column, in nanoseconds.
    pub fn means(&self) -> Vec<Option<f64>> {
        let times = self.times.iter();
        times.map(|times| Some(times.as_ref()?.mean)).collect()
    }

    /// Whether all layers have times of the kind.
    pub fn is_everywhere(&self) -> bool {
        self.times.iter().all(Option::is_some)
    }
}

/// Returns the layers of these runs, in order; runs on the same target are rounds of one layer.
pub fn layers(records: &[RunRecord]) -> Vec<LayerColumn<'_>> {
    let mut layers: Vec<LayerColumn<'_>> = Vec::new();
    for record in records {
        let is_of = |layer: &&mut LayerColumn<'_>| layer.runs[0].plan.target == record.plan.target;
        match layers.iter_mut().find(is_of) {
            Some(layer) => layer.runs.push(record),
            None => layers.push(layer_of(record)),
        }
    }
    let kinds: Vec<&str> = layers.iter().map(|layer| layer.layer).collect();
    for (index, layer) in layers.iter_mut().enumerate() {
        let alike = |of: &[&str]| of.iter().filter(|other| **other == layer.layer).count();
        layer.name = match alike(&kinds) {
            1 => layer.layer.into(),
            _ => format!("{} {}", layer.layer, alike(&kinds[..=index])),
        };
    }
    layers
}

fn layer_of(record: &RunRecord) -> LayerColumn<'_> {
    let client = record
        .target
        .mounts
        .first()
        .and_then(MountRecord::kernel_client);
    let layer = match client {
        Some(_) => "mount",
        None => record.plan.target.layer(),
    };
    let said = match layer {
        "local" | "tcp" => layer.into(),
        _ => layer.to_uppercase(),
    };
    LayerColumn {
        name: String::new(),
        layer,
        text: client.unwrap_or(said),
        runs: vec![record],
    }
}

/// Returns the kinds of a pass.
pub fn rows(layers: &[LayerColumn<'_>], plan: &ReplayPlan) -> Vec<OperationRow> {
    let Some(most) = runs_of(layers).max_by_key(|run| run.totals.ledger.ended()) else {
        return vec![];
    };
    let in_pass = plan
        .loads
        .iter()
        .map(|load| load.operations as f64)
        .sum::<f64>()
        / plan.loads.len().max(1) as f64;
    let ended = most.totals.ledger.ended().max(1) as f64;
    replay::measured(most, plan)
        .into_iter()
        .map(|row| OperationRow {
            kind: row.operation,
            per_pass: row.service_time_ns.count as f64 / ended * in_pass,
            times: layers
                .iter()
                .map(|layer| times(layer, row.operation, plan))
                .collect(),
            is_without_call: runs_of(layers).any(|run| sends_nothing(run, row.operation)),
        })
        .collect()
}

fn runs_of<'layers>(
    layers: &'layers [LayerColumn<'_>],
) -> impl Iterator<Item = &'layers RunRecord> {
    layers.iter().flat_map(|layer| layer.runs.iter().copied())
}

/// Whether a run completed all operations of a kind without a call.
fn sends_nothing(run: &RunRecord, kind: OpKind) -> bool {
    let mut kinds = measured(run).filter(|row| row.operation == kind);
    kinds.any(|row| run.is_without_call(row))
}

/// Returns the row of a kind in a run, unless all its operations were completed without a call.
fn row_of<'run>(run: &'run RunRecord, kind: OpKind, plan: &ReplayPlan) -> Option<&'run KindRecord> {
    let mut kinds = replay::measured(run, plan).into_iter();
    let row = kinds.find(|row| row.operation == kind)?;
    (!run.is_without_call(row)).then_some(row)
}

/// Returns the service times of a kind on a layer, all rounds together.
fn times(layer: &LayerColumn<'_>, kind: OpKind, plan: &ReplayPlan) -> Option<DistributionRecord> {
    let runs = layer.runs.iter();
    let times: Vec<&DistributionRecord> = runs
        .filter_map(|run| row_of(run, kind, plan))
        .map(|row| &row.service_time_ns)
        .collect();
    match times.as_slice() {
        [] => None,
        [times] => Some((*times).clone()),
        several => DistributionRecord::merged(several).ok(),
    }
}

/// Returns sums of the rows that all columns have.
pub fn sums(rows: &[OperationRow], columns: usize) -> LayerSums {
    let mut sums = LayerSums {
        per_pass: 0.0,
        pass_ns: vec![0.0; columns],
    };
    for row in rows.iter().filter(|row| row.is_everywhere()) {
        sums.per_pass += row.per_pass;
        for (sum, times) in sums.pass_ns.iter_mut().zip(row.times.iter().flatten()) {
            *sum += row.per_pass * times.mean;
        }
    }
    sums
}
