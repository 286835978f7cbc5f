//! The layers table: the same load on several layers, side by side, so that the
//! guilty one is found by subtraction.
//!
//! All figures are service times. Every layer is weighed with the same number of
//! operations of each kind, those of one pass, so that a layer that came further
//! into the load in its time is not compared with another mixture. The mixture is
//! that of the record with the most operations. A kind that a layer never came to
//! is kept out of the sums of all.
//!
//! Every difference has its 95 % interval (`differences`), and conclusions are drawn only from
//! what chance cannot explain.

pub mod differences;
pub mod picture;

use self::differences::{Batches, Estimate, Series};
use crate::quantity::grouped;
use crate::report::dbench::{self, Form};
use crate::report::parts::heading;
use crate::report::parts::page::Page;
use crate::report::parts::table::{Column, Table};
use crate::report::parts::units::micros;
use crate::report::replay;
use filestone_model::measure::run_record::KindRecord;
use filestone_model::measure::{DistributionRecord, RunRecord};
use filestone_model::operation::OpKind;
use filestone_model::plan::ReplayPlan;

/// One column: a layer.
struct Layer<'record> {
    name: String,
    /// `local`, `tcp` or `nfs`.
    layer: &'record str,
    /// Its runs: one per round.
    runs: Vec<&'record RunRecord>,
}

/// One row: a kind of operation.
struct Row {
    kind: OpKind,
    /// How many of them a pass has.
    per_pass: f64,
    /// Service times by column; `None` where there were none.
    times: Vec<Option<DistributionRecord>>,
}

/// Sums over the kinds that all layers came to.
struct Sums {
    per_pass: f64,
    /// Time of a pass by column, in nanoseconds.
    pass_ns: Vec<f64>,
}

/// The tables and the sentence; nothing if these are not replays of several layers.
pub fn render(records: &[RunRecord], page: Page) -> String {
    let Some(plan) = plan_of_all(records) else {
        return String::new();
    };
    let layers = layers(records);
    if layers.len() < 2 {
        return String::new();
    }
    let rows = rows(&layers, plan);
    let sums = sums(&rows, layers.len());
    let batches = batches(&layers);
    let mut text = format!("\n{} on each layer\n", heading::loads_text(plan));
    let places = layers.iter().map(|layer| {
        let place = layer.runs[0].plan.target.to_string();
        (layer.name.as_str(), place)
    });
    text.push_str(&page.facts(places));
    text.push_str(&means(&layers, &rows, &sums, plan, page));
    text.push_str(&differences(&layers, (&rows, &sums), &batches, plan, page));
    text.push_str(&percentiles(&layers, &rows, plan, page));
    let left_out: Vec<&str> = rows
        .iter()
        .filter(|row| row.times.iter().any(Option::is_none))
        .map(|row| dbench::spelling(Form::Five, plan, row.kind))
        .collect();
    if !left_out.is_empty() {
        let left_out = left_out.join(", ");
        let what = format!("not met on every layer, so not in the sums: {left_out}");
        text.push_str(&format!("\n{}", page.prose(&what)));
    }
    if sums.per_pass > 0.0 {
        let per_operation: Vec<(&str, f64)> = layers
            .iter()
            .zip(&sums.pass_ns)
            .map(|(layer, nanos)| (layer.layer, nanos / sums.per_pass / 1000.0))
            .collect();
        let series = batches.of_all(&rows);
        let chance = |weights: &[f64]| series.half_width(weights).map(|nanos| nanos / 1000.0);
        let sentence = sentence(&per_operation, &chance);
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

/// The layers of these runs, in order; those on the same target are its rounds.
fn layers(records: &[RunRecord]) -> Vec<Layer<'_>> {
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

/// The runs in batches, for the intervals of their means.
fn batches<'record>(layers: &[Layer<'record>]) -> Batches<'record> {
    let runs: Vec<&[&RunRecord]> = layers.iter().map(|layer| &layer.runs[..]).collect();
    Batches::of(&runs)
}

fn rows(layers: &[Layer<'_>], plan: &ReplayPlan) -> Vec<Row> {
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

fn sums(rows: &[Row], columns: usize) -> Sums {
    let mut sums = Sums {
        per_pass: 0.0,
        pass_ns: vec![0.0; columns],
    };
    for row in rows
        .iter()
        .filter(|row| row.times.iter().all(Option::is_some))
    {
        sums.per_pass += row.per_pass;
        for (sum, times) in sums.pass_ns.iter_mut().zip(row.times.iter().flatten()) {
            *sum += row.per_pass * times.mean;
        }
    }
    sums
}

fn means(layers: &[Layer<'_>], rows: &[Row], sums: &Sums, plan: &ReplayPlan, page: Page) -> String {
    let mut columns = vec![
        Column::text("mean service time, usecs"),
        Column::figure("PER PASS").gives_way(2),
    ];
    let names = layers.iter().map(|layer| layer.name.to_uppercase());
    columns.extend(names.map(Column::figure));
    columns.push(Column::figure("SHARE").gives_way(1));
    let mut table = Table::new(columns);
    let last = sums.pass_ns.last().copied().unwrap_or(0.0);
    let mut add = |name: &str, per_pass: f64, means: Vec<Option<f64>>, share: Option<f64>| {
        let shown = means.iter().map(|mean| mean.map_or("-".into(), micros));
        let share = share.map_or(String::new(), |share| format!("{share:.1} %"));
        let first = [name.to_string(), grouped(per_pass.round() as u64)];
        table.row(first.into_iter().chain(shown).chain([share]));
    };
    for row in rows {
        let means: Vec<Option<f64>> = row
            .times
            .iter()
            .map(|times| times.as_ref().map(|times| times.mean))
            .collect();
        let share = match means.last() {
            Some(Some(mean)) if means.iter().all(Option::is_some) && last > 0.0 => {
                Some(100.0 * row.per_pass * mean / last)
            }
            _ => None,
        };
        let name = dbench::spelling(Form::Five, plan, row.kind);
        add(name, row.per_pass, means, share);
    }
    if sums.per_pass > 0.0 {
        let of_all = |scale: f64| {
            sums.pass_ns
                .iter()
                .map(|nanos| Some(nanos / scale))
                .collect()
        };
        add("all", sums.per_pass, of_all(sums.per_pass), Some(100.0));
        // Rows are in thousandths of what is given to them: milliseconds here.
        add("one pass, msecs", sums.per_pass, of_all(1000.0), None);
    }
    format!("\n{}", table.render(page))
}

/// What each layer adds to the one before it, and what chance can explain of that.
fn differences(
    layers: &[Layer<'_>],
    (rows, sums): (&[Row], &Sums),
    batches: &Batches<'_>,
    plan: &ReplayPlan,
    page: Page,
) -> String {
    let mut columns = vec![Column::text("difference, usecs")];
    let pairs = layers.iter().zip(layers.iter().skip(1));
    columns.extend(pairs.map(|(before, layer)| {
        let (before, layer) = (before.name.to_uppercase(), layer.name.to_uppercase());
        Column::figure(format!("{layer} - {before}"))
    }));
    let mut table = Table::new(columns);
    let mut add = |name: &str, means: &[Option<f64>], series: &Series| {
        let steps = (1..means.len()).map(|place| match (means[place - 1], means[place]) {
            (Some(before), Some(mean)) => {
                let mut weights = vec![0.0; means.len()];
                (weights[place - 1], weights[place]) = (-1.0, 1.0);
                Estimate {
                    value: (mean - before) / 1000.0,
                    half_width: series.half_width(&weights).map(|nanos| nanos / 1000.0),
                }
                .to_string()
            }
            _ => "-".into(),
        });
        table.row([name.to_string()].into_iter().chain(steps));
    };
    for row in rows {
        let means = row
            .times
            .iter()
            .map(|times| times.as_ref().map(|times| times.mean));
        let name = dbench::spelling(Form::Five, plan, row.kind);
        add(name, &means.collect::<Vec<_>>(), &batches.of_kind(row.kind));
    }
    if sums.per_pass > 0.0 {
        let means = sums.pass_ns.iter().map(|nanos| Some(nanos / sums.per_pass));
        add("all", &means.collect::<Vec<_>>(), &batches.of_all(rows));
    }
    format!("\n{}{}", table.render(page), page.prose(&batches.text()))
}

fn percentiles(layers: &[Layer<'_>], rows: &[Row], plan: &ReplayPlan, page: Page) -> String {
    let mut columns = vec![Column::text("usecs")];
    for layer in layers {
        let name = layer.name.to_uppercase();
        columns.push(Column::figure(format!("{name} P50")));
        columns.push(Column::figure("P99"));
    }
    let mut table = Table::new(columns);
    for row in rows {
        let name = dbench::spelling(Form::Five, plan, row.kind).to_string();
        let times = row.times.iter().flat_map(|times| match times {
            Some(times) => [times.p50, times.p99].map(|nanos| micros(nanos as f64)),
            None => ["-".into(), "-".into()],
        });
        table.row([name].into_iter().chain(times));
    }
    format!("\n{}", table.render(page))
}

/// Half of the 95 % interval of a weighted sum of the layers' times; `None` if it is not known.
type Chance<'a> = &'a dyn Fn(&[f64]) -> Option<f64>;

/// Where the time goes, as far as subtraction can tell: layers and microseconds per
/// operation, in the order of the runs.
fn sentence(layers: &[(&str, f64)], chance: Chance<'_>) -> String {
    let place = |wanted: &str| layers.iter().position(|(layer, _)| *layer == wanted);
    let (local, tcp, nfs) = (place("local"), place("tcp"), place("nfs"));
    let work = |place| ("the work of the local file system", place);
    let exchange = |place| ("one exchange over bare TCP", place);
    match (local, tcp, nfs) {
        (Some(local), Some(tcp), Some(nfs)) => split(
            layers,
            (
                nfs,
                &[work(local), exchange(tcp)],
                "the server and NFS itself",
            ),
            chance,
        ),
        (Some(local), None, Some(nfs)) => {
            let rest = "the network, the server and NFS itself";
            split(layers, (nfs, &[work(local)], rest), chance)
        }
        (None, Some(tcp), Some(nfs)) => {
            let rest = "the server, its file system and NFS itself";
            split(layers, (nfs, &[exchange(tcp)], rest), chance)
        }
        (Some(local), Some(tcp), None) => format!(
            "an operation takes {local:.1} usecs on the local file system, and one exchange of \
             its size {tcp:.1} over bare TCP; what a file server adds to both, a run with nfs: \
             would show",
            local = layers[local].1,
            tcp = layers[tcp].1,
        ),
        _ => side_by_side(layers, chance),
    }
}

/// What is left of the whole when the parts that were measured by themselves are taken away:
/// whole and parts as places among the layers.
fn split(
    layers: &[(&str, f64)],
    (whole, parts, remainder): (usize, &[(&str, usize)], &str),
    chance: Chance<'_>,
) -> String {
    let mut weights = vec![0.0; layers.len()];
    weights[whole] = 1.0;
    parts.iter().for_each(|(_, place)| weights[*place] = -1.0);
    let sum = |weights: &[f64]| -> f64 {
        let terms = layers.iter().zip(weights);
        terms.map(|((_, time), weight)| time * weight).sum()
    };
    let (whole, rest) = (
        layers[whole].1,
        Estimate::new(sum(&weights), chance(&weights)),
    );
    let timed: Vec<(&str, f64)> = parts
        .iter()
        .map(|(name, place)| (*name, layers[*place].1))
        .collect();
    let listed: Vec<String> = timed
        .iter()
        .map(|(name, time)| format!("{time:.1} are {name}"))
        .collect();
    let listed = listed.join(", ");
    if rest.value < 0.0 {
        let names: Vec<String> = timed
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
    if rest.may_be_chance() {
        return format!(
            "of {whole:.1} usecs per operation over NFS, {listed}; what remains for {remainder}, \
             {rest}, {}",
            rest.doubt()
        );
    }
    let remains = format!(
        "of {whole:.1} usecs per operation over NFS, {listed}, and {:.1} remain for {remainder}",
        rest.value
    );
    // Which is the largest part by more than chance: what each has beyond the remainder, or the
    // remainder beyond it, as sums of layers.
    let mut all: Vec<(&str, f64, Vec<f64>)> = vec![(remainder, rest.value, weights)];
    all.extend(parts.iter().map(|(name, place)| {
        let mut weights = vec![0.0; layers.len()];
        weights[*place] = 1.0;
        (*name, layers[*place].1, weights)
    }));
    all.sort_by(|one, other| other.1.total_cmp(&one.1));
    let [(largest, time, of_largest), (_, _, of_next), ..] = all.as_slice() else {
        return remains;
    };
    let lead = beyond(of_largest, of_next);
    if Estimate::new(sum(&lead), chance(&lead)).may_be_chance() {
        return format!("{remains}; which part is the largest, these runs cannot tell");
    }
    let share = 100.0 * time / whole.max(f64::MIN_POSITIVE);
    format!("{remains}; the largest part, {share:.0} %, is {largest}")
}

/// One sum of layers less another.
fn beyond(one: &[f64], other: &[f64]) -> Vec<f64> {
    let pairs = one.iter().zip(other);
    pairs.map(|(one, other)| one - other).collect()
}

/// The same layer at several places, numbered as in the table.
fn side_by_side(layers: &[(&str, f64)], chance: Chance<'_>) -> String {
    let Some(((layer, first), others)) = layers.split_first() else {
        return String::new();
    };
    let mut text = format!("an operation takes {first:.1} usecs on {layer} 1");
    for (number, (layer, time)) in (2..).zip(others) {
        let mut weights = vec![0.0; layers.len()];
        (weights[0], weights[number - 1]) = (-1.0, 1.0);
        let difference = Estimate::new(time - first, chance(&weights));
        let said = if difference.may_be_chance() {
            format!("{difference}, which {}", difference.doubt())
        } else if difference.value < 0.0 {
            format!("{:.1} less", -difference.value)
        } else {
            format!("{:.1} more", difference.value)
        };
        text.push_str(&format!(", {time:.1} on {layer} {number} ({said})"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::canned;

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
        let row = |kind, per_pass, times: [Option<&DistributionRecord>; 2]| Row {
            kind,
            per_pass,
            times: times.map(Option::<&_>::cloned).to_vec(),
        };
        let rows = [
            row(OpKind::ReadX, 75.0, [Some(&fast), Some(&slow)]),
            row(OpKind::Close, 25.0, [Some(&slow), Some(&far)]),
            row(OpKind::Flush, 7.0, [Some(&slow), None]),
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
            text.push_str(&format!(
                "{layers:?}\n{}\n\n",
                sentence(&layers, &|_| Some(0.0))
            ));
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_sentence_draws_nothing_from_what_chance_can_explain() {
        // 10 ± 2 local, 14 ± 2 tcp, independent: differences of three are ± 3.5, of two ± 2.8.
        let chance = |weights: &[f64]| {
            let squares = weights.iter().map(|weight| 4.0 * weight * weight);
            Some(squares.sum::<f64>().sqrt())
        };
        let mut text = String::new();
        for layers in [
            vec![("local", 10.0), ("tcp", 14.0), ("nfs", 26.0)],
            vec![("local", 10.0), ("tcp", 14.0), ("nfs", 40.0)],
            vec![("local", 10.0), ("tcp", 14.0), ("nfs", 61.0)],
            vec![("nfs", 20.0), ("nfs", 22.0), ("nfs", 80.0)],
        ] {
            text.push_str(&format!("{layers:?}\n{}\n\n", sentence(&layers, &chance)));
        }
        insta::assert_snapshot!(text);
        let said = sentence(&[("tcp", 10.0), ("nfs", 90.0)], &|_| None);
        assert!(said.contains("too few batches leave open"), "{said}");
    }

    #[test]
    fn runs_of_one_target_are_rounds_of_one_layer() {
        let once = canned::three_layers();
        let records = [once.clone(), once.clone(), once].concat();
        let text = render(&records, Page::default());
        assert!(text.contains("of 3 rounds in turn"), "{text}");
        assert!(!text.contains("LOCAL 1"), "{text}");
        // The same three times over: nothing is left to chance.
        assert!(text.contains("+10.00 ±0.00"), "{text}");
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
