//! Picture of the layers: a bar per layer and kind of operation.

use super::comparison::LayerComparison;
use super::differences::MeanSeries;
use super::rows::{LayerColumn, OperationRow};
use crate::caption;
use crate::dbench::{self, DbenchFormat as Spelling};
use crate::parts::heading;
use crate::percentiles;
use crate::picture::{Axis, Form, Panel, Picture, PlotLine, PlotPoint, Style};
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::ReplayPlan;
use filestone_workload::recording::DistributionRecord;

/// Maximum number of kinds that are drawn: those with the most time per pass.
const KINDS_MAX: usize = 16;
/// Height of a bar, and the distance between the bars of two kinds.
const BAR: f64 = 15.0;
const BETWEEN: f64 = 8.0;
/// Share of a kind's row that its bars use.
const BARS_SHARE: f64 = 0.8;
/// Styles of the layers in turn; there are three kinds of layer.
const STYLES: [Style; 3] = [Style::First, Style::Second, Style::Third];

/// Returns the picture; `None` if the records are not several replays.
pub fn picture(records: &[RunRecord]) -> Option<Picture> {
    let LayerComparison {
        plan,
        layers,
        mut rows,
        sums,
        batches,
    } = LayerComparison::of(records)?;
    // Kinds with the most time per pass over the last layer come first.
    rows.sort_by(|one, other| time_of(other).total_cmp(&time_of(one)));
    let series_of_all = batches.of_all(&rows);
    let left_out = rows.len().saturating_sub(KINDS_MAX);
    rows.truncate(KINDS_MAX);
    let mut names: Vec<String> = rows
        .iter()
        .map(|row| dbench::spelling(Spelling::Five, plan, row.kind).to_string())
        .collect();
    let kinds = rows.iter().map(|row| batches.of_kind(row.kind));
    let mut series: Vec<MeanSeries> = kinds.collect();
    let has_sum = sums.per_pass > 0.0;
    if has_sum {
        names.insert(0, "all operations".into());
        series.insert(0, series_of_all);
    }
    let lines = (0..).zip(&layers).map(|(index, layer): (usize, _)| {
        let mut means: Vec<Option<f64>> = rows
            .iter()
            .map(|row| Some(row.times.get(index)?.as_ref()?.mean))
            .collect();
        if has_sum {
            let sum = sums.pass_ns.get(index);
            means.insert(0, sum.map(|sum| sum / sums.per_pass));
        }
        bars(layer, index, layers.len(), &means, &series)
    });
    let panel = Panel::of_rows(
        Axis::time("mean service time of an operation"),
        names,
        BAR * layers.len() as f64 + BETWEEN,
        lines.collect(),
    );
    Some(captioned(records, plan, panel, left_out))
}

/// Returns the service times of a layer, without kinds whose operations were completed without a
/// call.
fn times_of_calls<'all>(
    compared: &'all LayerComparison<'_>,
    layer: &'all LayerColumn<'_>,
    place: usize,
) -> Vec<&'all DistributionRecord> {
    let rows = compared.rows.iter();
    if compared.rows.iter().any(|row| row.is_without_call) {
        let calls = rows.filter(|row| !row.is_without_call);
        return calls
            .filter_map(|row| row.times.get(place)?.as_ref())
            .collect();
    }
    layer
        .runs
        .iter()
        .map(|run| &run.totals.service_time_ns)
        .collect()
}

/// Returns the percentiles of the service times of all operations, a line per layer; `None` if the
/// records are not several replays, or a histogram cannot be decoded.
pub fn percentiles(records: &[RunRecord]) -> Option<Picture> {
    let compared = LayerComparison::of(records)?;
    let lines = compared.layers.iter().zip(STYLES.iter().cycle());
    let lines = lines.enumerate().map(|(place, (layer, style))| {
        let times = times_of_calls(&compared, layer, place);
        let times = DistributionRecord::merged(&times).ok()?;
        let points = percentiles::points(&times);
        Some(PlotLine::new(&layer.name, *style, Form::Joined, points))
    });
    let panel = percentiles::panel(lines.collect::<Option<_>>()?, "service time (done − sent)");
    let loads = heading::loads_text(compared.plan);
    Some(Picture {
        title: format!("Percentiles of the service times of {loads} by layer"),
        circumstances: vec![],
        panels: vec![panel],
        notes: vec![
            "of all operations as they came, so of as many of each kind as a layer got to; dotted: \
             too few operations lie beyond"
                .into(),
        ],
    })
}

/// Returns the time per pass of a kind, on the last layer that has the kind.
fn time_of(row: &OperationRow) -> f64 {
    let last = row.times.iter().rev().flatten().next();
    row.per_pass * last.map_or(0.0, |times| times.mean)
}

/// Returns the bars of one layer, at position `index` among those of `count`.
fn bars(
    layer: &LayerColumn<'_>,
    index: usize,
    count: usize,
    means: &[Option<f64>],
    series: &[MeanSeries],
) -> PlotLine {
    let mut own = vec![0.0; count];
    own[index] = 1.0;
    let within = 0.5 + BARS_SHARE * ((index as f64 + 0.5) / count as f64 - 0.5);
    let rows = (0..).zip(means.iter().zip(series));
    let points = rows.filter_map(|(row, (mean, series)): (u32, _)| {
        let mean = (*mean)?;
        let half = series.half_width(&own);
        let interval = half.map(|half| ((mean - half).max(0.0) / 1e9, (mean + half) / 1e9));
        Some(PlotPoint {
            interval,
            ..PlotPoint::new(mean / 1e9, f64::from(row) + within)
        })
    });
    let place = layer.runs[0].plan.target.to_string();
    let style = STYLES[index % STYLES.len()];
    PlotLine::new(
        &format!("{}: {place}", layer.name),
        style,
        Form::Bars,
        points.collect(),
    )
}

fn captioned(records: &[RunRecord], plan: &ReplayPlan, panel: Panel, left_out: usize) -> Picture {
    let all: Vec<&RunRecord> = records.iter().collect();
    let mut notes = Vec::new();
    if panel.scales().is_some_and(|(x, _)| x.is_logarithmic()) {
        notes.push(
            "symbols, not bars: on a logarithmic axis the length of a bar says nothing".into(),
        );
    }
    let mut points = panel.lines.iter().flat_map(|line| &line.points);
    if points.any(|point| point.interval.is_some()) {
        notes.push("lines with ends: 95 % confidence intervals of the means".into());
    }
    notes.push(
        "weighed with the operations of one pass on every layer, by the time that the last layer \
         spends on them"
            .into(),
    );
    if left_out > 0 {
        notes.push(format!(
            "{left_out} further kinds of operation take less time and are not drawn"
        ));
    }
    notes.extend(caption::caveat_names(&all));
    Picture {
        title: format!("Service times of {} by layer", heading::loads_text(plan)),
        circumstances: records
            .first()
            .map(|record| vec![heading::clients_and_time(record), caption::origin(record)])
            .unwrap_or_default(),
        panels: vec![panel],
        notes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::picture::render;

    #[test]
    fn three_layers_are_three_bars_of_each_kind() {
        let picture = picture(&fixtures::three_layers()).expect("replays");
        let panel = &picture.panels[0];
        assert_eq!(panel.y.names.len(), 4);
        assert!(panel.lines.iter().all(|line| line.points.len() == 4));
        insta::assert_snapshot!(render(&picture));
    }

    #[test]
    fn a_layer_that_never_met_a_kind_has_no_bar_of_it() {
        let mut records = fixtures::three_layers();
        records[0].totals.kinds.remove(0);
        let picture = picture(&records).expect("replays");
        let lines = &picture.panels[0].lines;
        assert_eq!(lines[0].points.len() + 1, lines[2].points.len());
    }

    #[test]
    fn one_record_or_a_probe_has_no_layers() {
        assert!(picture(&[fixtures::replayed()]).is_none());
        assert!(picture(&[fixtures::plain(), fixtures::plain()]).is_none());
    }
}
