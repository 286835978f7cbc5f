//! Table of layers: the same load file on several layers, side by side, so that subtraction shows
//! which one costs the time.
//!
//! The figures are service times. Every layer is weighted with the same number of operations of
//! each kind, those of one pass, so that layers that progressed to different positions of the load
//! file are compared with the same mixture. The mixture is that of the record with the most
//! operations. A kind that a layer never reached, or completed without a call, is excluded from all
//! sums.
//!
//! Every difference has its 95 % interval (`differences`), and conclusions are drawn only from
//! significant differences.

mod comparison;
mod conclusion;
pub mod differences;
pub mod picture;
mod rows;

use self::comparison::LayerComparison;
use self::conclusion::sentence;
use self::differences::{DifferenceEstimate, MeanSeries};
use crate::document::Document;
use crate::document::table::{Column, Table};
use crate::parts::heading;
use crate::parts::units::micros;
use crate::replay::NO_CALL;
use crate::sanitize::printable;
use filestone_measure::measure::RunRecord;
use filestone_workload::text::thousands;

/// Returns the tables and the sentence; empty if the records are not replays of several layers.
pub fn report(records: &[RunRecord]) -> Document {
    let compared = LayerComparison::of(records).filter(|compared| compared.layers.len() > 1);
    let Some(compared) = compared else {
        return Document::default();
    };
    let places = compared.layers.iter().map(|layer| {
        let run = layer.runs[0];
        let place = run.plan.target.to_string();
        let mounts = run
            .target
            .mounts
            .iter()
            .map(|mount| printable(&mount.text()));
        let all: Vec<String> = [place].into_iter().chain(mounts).collect();
        (layer.name.as_str(), all.join(": "))
    });
    let loads = heading::loads_text(compared.plan);
    Document::default()
        .blank()
        .lines(format!("{loads} on each layer\n"))
        .facts(places)
        .tables([means(&compared), differences(&compared)])
        .prose([compared.batches.text()])
        .tables([percentiles(&compared)])
        .paragraphs(left_out(&compared))
        .paragraphs(conclusion(&compared))
}

/// Describes the kinds that are in no sum, with reasons.
fn left_out(compared: &LayerComparison<'_>) -> Option<String> {
    let of = |is_without_call: bool, what: &str| {
        let rows = compared.rows.iter();
        let rows =
            rows.filter(|row| !row.is_everywhere() && row.is_without_call == is_without_call);
        let names: Vec<&str> = rows.map(|row| compared.name_of(row)).collect();
        (!names.is_empty()).then(|| format!("{what}, so not in the sums: {}", names.join(", ")))
    };
    let said = [
        of(false, "not met on every layer"),
        of(true, "answered without a call on a layer"),
    ];
    let said: Vec<String> = said.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join("; "))
}

fn conclusion(compared: &LayerComparison<'_>) -> Option<String> {
    let sums = &compared.sums;
    let per_operation: Vec<(&str, f64)> = compared
        .layers
        .iter()
        .zip(&sums.pass_ns)
        .map(|(layer, nanos)| (&*layer.text, nanos / sums.per_pass / 1000.0))
        .collect();
    let series = compared.batches.of_all(&compared.rows);
    let chance = |weights: &[f64]| series.half_width(weights).map(|nanos| nanos / 1000.0);
    (sums.per_pass > 0.0).then(|| sentence(&per_operation, &chance))
}

fn means(compared: &LayerComparison<'_>) -> Table {
    let sums = &compared.sums;
    let mut columns = vec![
        Column::text("mean service time, usecs"),
        Column::figure("PER PASS").gives_way(2),
    ];
    let names = compared
        .layers
        .iter()
        .map(|layer| layer.name.to_uppercase());
    columns.extend(names.map(Column::figure));
    columns.push(Column::figure("SHARE").gives_way(1));
    let mut table = Table::new(columns);
    let last = sums.pass_ns.last().copied().unwrap_or(0.0);
    let mut add = |name: &str, per_pass: f64, means: Vec<Option<f64>>, share: Option<f64>| {
        let shown = means.iter().map(|mean| mean.map_or(NO_CALL.into(), micros));
        let share = share.map_or(String::new(), |share| format!("{share:.1} %"));
        let first = [name.to_string(), thousands(per_pass.round() as u64)];
        table.row(first.into_iter().chain(shown).chain([share]));
    };
    for row in &compared.rows {
        let means = row.means();
        let share = match means.last() {
            Some(Some(mean)) if row.is_everywhere() && last > 0.0 => {
                Some(100.0 * row.per_pass * mean / last)
            }
            _ => None,
        };
        add(compared.name_of(row), row.per_pass, means, share);
    }
    if sums.per_pass > 0.0 {
        let of_all = |scale: f64| {
            sums.pass_ns
                .iter()
                .map(|nanos| Some(nanos / scale))
                .collect()
        };
        add("all", sums.per_pass, of_all(sums.per_pass), Some(100.0));
        // Rows are in thousandths of their input: milliseconds here.
        add("one pass, msecs", sums.per_pass, of_all(1000.0), None);
    }
    table
}

/// Returns the difference of each layer to the one before it, with its interval.
fn differences(compared: &LayerComparison<'_>) -> Table {
    let (layers, batches) = (&compared.layers, &compared.batches);
    let mut columns = vec![Column::text("difference, usecs")];
    let pairs = layers.iter().zip(layers.iter().skip(1));
    columns.extend(pairs.map(|(before, layer)| {
        let (before, layer) = (before.name.to_uppercase(), layer.name.to_uppercase());
        Column::figure(format!("{layer} - {before}"))
    }));
    let mut table = Table::new(columns);
    let mut add = |name: &str, means: &[Option<f64>], series: &MeanSeries| {
        let steps = (1..means.len()).map(|place| match (means[place - 1], means[place]) {
            (Some(before), Some(mean)) => {
                let mut weights = vec![0.0; means.len()];
                (weights[place - 1], weights[place]) = (-1.0, 1.0);
                DifferenceEstimate {
                    value: (mean - before) / 1000.0,
                    half_width: series.half_width(&weights).map(|nanos| nanos / 1000.0),
                }
                .to_string()
            }
            _ => NO_CALL.into(),
        });
        table.row([name.to_string()].into_iter().chain(steps));
    };
    for row in &compared.rows {
        let series = batches.of_kind(row.kind);
        add(compared.name_of(row), &row.means(), &series);
    }
    let sums = &compared.sums;
    if sums.per_pass > 0.0 {
        let means = sums.pass_ns.iter().map(|nanos| Some(nanos / sums.per_pass));
        let means: Vec<_> = means.collect();
        add("all", &means, &batches.of_all(&compared.rows));
    }
    table
}

fn percentiles(compared: &LayerComparison<'_>) -> Table {
    let mut columns = vec![Column::text("usecs")];
    for layer in &compared.layers {
        let name = layer.name.to_uppercase();
        columns.push(Column::figure(format!("{name} P50")));
        columns.push(Column::figure("P99"));
    }
    let mut table = Table::new(columns);
    for row in &compared.rows {
        let name = compared.name_of(row).to_string();
        let times = row.times.iter().flat_map(|times| match times {
            Some(times) => [times.p50, times.p99].map(|nanos| micros(nanos as f64)),
            None => [NO_CALL, NO_CALL].map(String::from),
        });
        table.row([name].into_iter().chain(times));
    }
    table
}

#[cfg(test)]
mod tests;
