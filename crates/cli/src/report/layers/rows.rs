//! The layers and the kinds of operation on them: columns and rows of the tables.

use crate::report::replay;
use filestone_model::measure::run_record::KindRecord;
use filestone_model::measure::{DistributionRecord, RunRecord};
use filestone_model::operation::OpKind;
use filestone_model::plan::ReplayPlan;

/// One column: a layer.
pub struct Layer<'record> {
    /// As its column is called.
    pub name: String,
    /// `local`, `tcp` or `nfs`.
    pub layer: &'record str,
    /// Its runs: one per round.
    pub runs: Vec<&'record RunRecord>,
}

/// One row: a kind of operation.
pub struct Row {
    /// Which.
    pub kind: OpKind,
    /// How many of them a pass has.
    pub per_pass: f64,
    /// Service times by column; `None` where there were none.
    pub times: Vec<Option<DistributionRecord>>,
}

/// Sums over the kinds that all layers came to.
pub struct Sums {
    /// Operations of a pass.
    pub per_pass: f64,
    /// Time of a pass by column, in nanoseconds.
    pub pass_ns: Vec<f64>,
}

impl Row {
    /// Mean service times by column, in nanoseconds.
    pub fn means(&self) -> Vec<Option<f64>> {
        let times = self.times.iter();
        times.map(|times| Some(times.as_ref()?.mean)).collect()
    }

    /// Whether all layers came to it.
    pub fn is_everywhere(&self) -> bool {
        self.times.iter().all(Option::is_some)
    }
}

/// The layers of these runs, in order; those on the same target are its rounds.
pub fn layers(records: &[RunRecord]) -> Vec<Layer<'_>> {
    let mut layers: Vec<Layer<'_>> = Vec::new();
    for record in records {
        let is_of = |layer: &&mut Layer<'_>| layer.runs[0].plan.target == record.plan.target;
        match layers.iter_mut().find(is_of) {
            Some(layer) => layer.runs.push(record),
            None => layers.push(Layer {
                name: String::new(),
                layer: record.plan.target.layer(),
                runs: vec![record],
            }),
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

/// The kinds of a pass.
pub fn rows(layers: &[Layer<'_>], plan: &ReplayPlan) -> Vec<Row> {
    let runs = layers.iter().flat_map(|layer| layer.runs.iter().copied());
    let Some(most) = runs.max_by_key(|run| run.totals.ledger.ended()) else {
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
        .map(|row| Row {
            kind: row.operation,
            per_pass: row.service_time_ns.count as f64 / ended * in_pass,
            times: layers
                .iter()
                .map(|layer| times(layer, row.operation, plan))
                .collect(),
        })
        .collect()
}

/// Service times of a kind on a layer, those of all rounds together.
fn times(layer: &Layer<'_>, kind: OpKind, plan: &ReplayPlan) -> Option<DistributionRecord> {
    let of_run = |run| {
        let mut kinds = replay::measured(run, plan).into_iter();
        kinds.find(|row: &&KindRecord| row.operation == kind)
    };
    let runs = layer.runs.iter().copied();
    let times: Vec<&DistributionRecord> = runs
        .filter_map(of_run)
        .map(|row| &row.service_time_ns)
        .collect();
    match times.as_slice() {
        [] => None,
        [times] => Some((*times).clone()),
        several => DistributionRecord::merged(several).ok(),
    }
}

/// Sums of the rows that all columns have.
pub fn sums(rows: &[Row], columns: usize) -> Sums {
    let mut sums = Sums {
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
