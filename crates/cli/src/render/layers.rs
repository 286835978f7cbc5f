//! The layers table: the same load on several layers, side by side, so that the
//! guilty one is found by subtraction.
//!
//! All figures are service times. Every layer is weighed with the same number of
//! operations of each kind, those of one pass, so that a layer that came further
//! into the load in its time is not compared with another mixture. The mixture is
//! that of the record with the most operations. A kind that a layer never came to
//! is kept out of the sums of all.

pub mod picture;

use super::dbench::{self, Form};
use super::page::Page;
use super::{micros, replay, text};
use crate::carry_out::layer_name;
use crate::quantity::grouped;
use filestone_model::measure::run_record::KindRecord;
use filestone_model::measure::{DistributionRecord, RunRecord};
use filestone_model::operation::OpKind;
use filestone_model::plan::ReplayPlan;

/// One column: a layer.
struct Column<'record> {
    name: String,
    /// `local`, `tcp` or `nfs`.
    layer: &'static str,
    record: &'record RunRecord,
}

/// One row: a kind of operation.
struct Row<'record> {
    kind: OpKind,
    /// How many of them a pass has.
    per_pass: f64,
    /// Service times by column; `None` where there were none.
    times: Vec<Option<&'record DistributionRecord>>,
}

/// Sums over the kinds that all layers came to.
struct Sums {
    per_pass: f64,
    /// Time of a pass by column, in nanoseconds.
    pass_ns: Vec<f64>,
}

/// The tables and the sentence; nothing if these are not several replays.
pub fn render(records: &[RunRecord], page: Page) -> String {
    let Some(plan) = plan_of_all(records) else {
        return String::new();
    };
    let columns = columns(records);
    let rows = rows(&columns, plan);
    let sums = sums(&rows, columns.len());
    let mut text = format!("\n{} on each layer\n", replay::loads_text(plan));
    for column in &columns {
        let place = text::place_of(&column.record.plan.target);
        text.push_str(&format!("{:<16}{place}\n", column.name));
    }
    text.push_str(&means(&columns, &rows, &sums, plan));
    text.push_str(&percentiles(&columns, &rows, plan));
    let left_out: Vec<&str> = rows
        .iter()
        .filter(|row| row.times.iter().any(Option::is_none))
        .map(|row| dbench::spelling(Form::Five, plan, row.kind))
        .collect();
    if !left_out.is_empty() {
        text.push_str(&format!(
            "\nnot met on every layer, so not in the sums: {}\n",
            left_out.join(", ")
        ));
    }
    if sums.per_pass > 0.0 {
        let per_operation: Vec<(&str, f64)> = columns
            .iter()
            .zip(&sums.pass_ns)
            .map(|(column, nanos)| (column.layer, nanos / sums.per_pass / 1000.0))
            .collect();
        let sentence = sentence(&per_operation);
        text.push_str(&format!("\n{}", page.prose(&sentence)));
    }
    text
}

/// What was replayed; `None` if these are not several replays.
fn plan_of_all(records: &[RunRecord]) -> Option<&ReplayPlan> {
    let plans = records.iter().filter_map(|record| record.plan.replay());
    let is_comparison = records.len() > 1 && plans.clone().count() == records.len();
    plans.clone().next().filter(|_| is_comparison)
}

fn columns(records: &[RunRecord]) -> Vec<Column<'_>> {
    let layers = || records.iter().map(|record| layer_name(&record.plan.target));
    records
        .iter()
        .enumerate()
        .map(|(index, record)| {
            let layer = layer_name(&record.plan.target);
            let of_layer = layers().filter(|other| *other == layer).count();
            let number = layers()
                .take(index + 1)
                .filter(|other| *other == layer)
                .count();
            let name = match of_layer {
                1 => layer.into(),
                _ => format!("{layer} {number}"),
            };
            Column {
                name,
                layer,
                record,
            }
        })
        .collect()
}

fn rows<'record>(columns: &[Column<'record>], plan: &ReplayPlan) -> Vec<Row<'record>> {
    let most = columns
        .iter()
        .map(|column| column.record)
        .max_by_key(|record| record.totals.ledger.ended());
    let Some(most) = most else {
        return vec![];
    };
    let in_pass = plan
        .loads
        .iter()
        .map(|load| load.operations as f64)
        .sum::<f64>()
        / plan.loads.len().max(1) as f64;
    let ended = most.totals.ledger.ended().max(1) as f64;
    let find = |record: &'record RunRecord, kind| {
        let mut kinds = replay::measured(record, plan).into_iter();
        kinds.find(|row: &&KindRecord| row.operation == kind)
    };
    replay::measured(most, plan)
        .into_iter()
        .map(|row| Row {
            kind: row.operation,
            per_pass: row.service_time_ns.count as f64 / ended * in_pass,
            times: columns
                .iter()
                .map(|column| find(column.record, row.operation))
                .map(|row| row.map(|row| &row.service_time_ns))
                .collect(),
        })
        .collect()
}

fn sums(rows: &[Row<'_>], columns: usize) -> Sums {
    let mut sums = Sums {
        per_pass: 0.0,
        pass_ns: vec![0.0; columns],
    };
    for row in rows {
        let Some(times) = row.times.iter().copied().collect::<Option<Vec<_>>>() else {
            continue;
        };
        sums.per_pass += row.per_pass;
        for (sum, times) in sums.pass_ns.iter_mut().zip(times) {
            *sum += row.per_pass * times.mean;
        }
    }
    sums
}

fn means(columns: &[Column<'_>], rows: &[Row<'_>], sums: &Sums, plan: &ReplayPlan) -> String {
    let mut text = format!("\n{:<24}{:>12}", "mean service time, usecs", "PER PASS");
    for (index, column) in columns.iter().enumerate() {
        text.push_str(&format!("{:>12}", column.name.to_uppercase()));
        if index > 0 {
            text.push_str(&format!("{:>12}", "DIFFERENCE"));
        }
    }
    text.push_str(&format!("{:>10}\n", "SHARE"));
    let last = sums.pass_ns.last().copied().unwrap_or(0.0);
    for row in rows {
        let means: Vec<Option<f64>> = row
            .times
            .iter()
            .map(|times| times.map(|times| times.mean))
            .collect();
        let share = match means.last() {
            Some(Some(mean)) if means.iter().all(Option::is_some) && last > 0.0 => {
                Some(100.0 * row.per_pass * mean / last)
            }
            _ => None,
        };
        let name = dbench::spelling(Form::Five, plan, row.kind);
        text.push_str(&mean_row(name, row.per_pass, &means, share));
    }
    if sums.per_pass > 0.0 {
        let of_all = |scale: f64| -> Vec<Option<f64>> {
            sums.pass_ns
                .iter()
                .map(|nanos| Some(nanos / scale))
                .collect()
        };
        let all = mean_row("all", sums.per_pass, &of_all(sums.per_pass), Some(100.0));
        text.push_str(&all);
        // Rows are in thousandths of what is given to them: milliseconds here.
        text.push_str(&mean_row(
            "one pass, msecs",
            sums.per_pass,
            &of_all(1000.0),
            None,
        ));
    }
    text
}

/// One row of means in nanoseconds, shown in microseconds, with the difference of
/// each to the one before.
fn mean_row(name: &str, per_pass: f64, means: &[Option<f64>], share: Option<f64>) -> String {
    let mut text = format!("{name:<24}{:>12}", grouped(per_pass.round() as u64));
    let mut before = None;
    for (index, mean) in means.iter().enumerate() {
        let shown = mean.map_or("-".into(), micros);
        text.push_str(&format!("{shown:>12}"));
        if index > 0 {
            let difference = match (before, *mean) {
                (Some(before), Some(mean)) => format!("{:+.1}", (mean - before) / 1000.0),
                _ => "-".into(),
            };
            text.push_str(&format!("{difference:>12}"));
        }
        before = *mean;
    }
    let share = share.map_or(String::new(), |share| format!("{share:.1} %"));
    format!("{}\n", format!("{text}{share:>10}").trim_end())
}

fn percentiles(columns: &[Column<'_>], rows: &[Row<'_>], plan: &ReplayPlan) -> String {
    let mut text = format!("\n{:<24}", "usecs");
    for column in columns {
        let name = column.name.to_uppercase();
        text.push_str(&format!("{:>12}{:>12}", format!("{name} P50"), "P99"));
    }
    text.push('\n');
    for row in rows {
        let name = dbench::spelling(Form::Five, plan, row.kind);
        text.push_str(&format!("{name:<24}"));
        for times in &row.times {
            let shown = times.map_or(["-".into(), "-".into()], |times| {
                [times.p50, times.p99].map(|nanos| micros(nanos as f64))
            });
            text.push_str(&format!("{:>12}{:>12}", shown[0], shown[1]));
        }
        text.push('\n');
    }
    text
}

/// Where the time goes, as far as subtraction can tell: layers and microseconds per
/// operation, in the order of the runs.
fn sentence(layers: &[(&str, f64)]) -> String {
    let of = |wanted: &str| {
        let mut found = layers.iter().filter(|(layer, _)| *layer == wanted);
        found.next().map(|(_, time)| *time)
    };
    match (of("local"), of("tcp"), of("nfs")) {
        (Some(local), Some(tcp), Some(nfs)) => split(
            nfs,
            &[
                ("the work of the local file system", local),
                ("one exchange over bare TCP", tcp),
            ],
            "the server and NFS itself",
        ),
        (Some(local), None, Some(nfs)) => split(
            nfs,
            &[("the work of the local file system", local)],
            "the network, the server and NFS itself",
        ),
        (None, Some(tcp), Some(nfs)) => split(
            nfs,
            &[("one exchange over bare TCP", tcp)],
            "the server, its file system and NFS itself",
        ),
        (Some(local), Some(tcp), None) => format!(
            "an operation takes {local:.1} usecs on the local file system, and one exchange of \
             its size {tcp:.1} over bare TCP; what a file server adds to both, a run with nfs: \
             would show"
        ),
        _ => side_by_side(layers),
    }
}

/// What is left of the whole when the parts that were measured by themselves are
/// taken away.
fn split(whole: f64, parts: &[(&str, f64)], remainder: &str) -> String {
    let measured: f64 = parts.iter().map(|(_, time)| time).sum();
    let rest = whole - measured;
    let listed: Vec<String> = parts
        .iter()
        .map(|(name, time)| format!("{time:.1} are {name}"))
        .collect();
    let listed = listed.join(", ");
    if rest < 0.0 {
        let names: Vec<String> = parts
            .iter()
            .map(|(name, time)| format!("{name} ({time:.1})"))
            .collect();
        let together = if parts.len() > 1 { " together" } else { "" };
        return format!(
            "an operation takes {whole:.1} usecs over NFS, less than {}{together}: how much of \
             it is {remainder}, these runs cannot tell",
            names.join(" and ")
        );
    }
    let (largest, time) = parts
        .iter()
        .copied()
        .chain([(remainder, rest)])
        .max_by(|one, other| one.1.total_cmp(&other.1))
        .unwrap_or((remainder, rest));
    let share = 100.0 * time / whole.max(f64::MIN_POSITIVE);
    format!(
        "of {whole:.1} usecs per operation over NFS, {listed}, and {rest:.1} remain for \
         {remainder}; the largest part, {share:.0} %, is {largest}"
    )
}

/// The same layer at several places, numbered as in the table.
fn side_by_side(layers: &[(&str, f64)]) -> String {
    let Some(((layer, first), others)) = layers.split_first() else {
        return String::new();
    };
    let mut text = format!("an operation takes {first:.1} usecs on {layer} 1");
    for (number, (layer, time)) in (2..).zip(others) {
        let difference = time - first;
        let word = if difference < 0.0 { "less" } else { "more" };
        text.push_str(&format!(
            ", {time:.1} on {layer} {number} ({:.1} {word})",
            difference.abs()
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::canned;

    #[test]
    fn three_layers_side_by_side() {
        insta::assert_snapshot!(render(&canned::three_layers(), Page::default()));
    }

    #[test]
    fn a_kind_that_one_layer_never_met_is_in_no_sum() {
        let mut records = canned::three_layers();
        records[2].totals.kinds.remove(0);
        insta::assert_snapshot!(render(&records, Page::default()));
    }

    #[test]
    fn a_pass_is_the_sum_of_its_operations_at_their_means() {
        // 100 operations a pass: 75 of one kind, 25 of another, on paper.
        let times = |mean| DistributionRecord {
            count: 1,
            mean,
            ..DistributionRecord::default()
        };
        let (fast, slow, far) = (times(10_000.0), times(50_000.0), times(90_000.0));
        let rows = [
            Row {
                kind: OpKind::ReadX,
                per_pass: 75.0,
                times: vec![Some(&fast), Some(&slow)],
            },
            Row {
                kind: OpKind::Close,
                per_pass: 25.0,
                times: vec![Some(&slow), Some(&far)],
            },
            Row {
                kind: OpKind::Flush,
                per_pass: 7.0,
                times: vec![Some(&slow), None],
            },
        ];
        let sums = sums(&rows, 2);
        assert_eq!(sums.per_pass, 100.0);
        assert_eq!(sums.pass_ns, [2_000_000.0, 6_000_000.0]);
    }

    #[test]
    fn the_sentence_says_only_what_subtraction_supports() {
        let mut text = String::new();
        for layers in [
            vec![("local", 9.0), ("tcp", 14.0), ("nfs", 61.0)],
            vec![("local", 50.0), ("tcp", 14.0), ("nfs", 65.0)],
            vec![("local", 50.0), ("tcp", 14.0), ("nfs", 61.0)],
            vec![("local", 9.0), ("nfs", 61.0)],
            vec![("nfs", 61.0), ("local", 99.0)],
            vec![("tcp", 14.0), ("nfs", 61.0)],
            vec![("local", 9.0), ("tcp", 14.0)],
            vec![("nfs", 61.0), ("nfs", 40.0), ("nfs", 80.0)],
        ] {
            text.push_str(&format!("{layers:?}\n{}\n\n", sentence(&layers)));
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn one_record_or_a_probe_has_no_layers() {
        assert_eq!(render(&[canned::replayed()], Page::default()), "");
        assert_eq!(
            render(&[canned::plain(), canned::plain()], Page::default()),
            ""
        );
    }
}
