//! Report of a load-response curve: points, picture and derived figures.
//!
//! The report replaces `nhfsrun`, `nhfsnums` and `nhfsgraph` of nhfsstone.

mod picture;
mod values;

pub use picture::picture;
pub use values::csv;

use super::{asked, errors};
use crate::document::page::Fact;
use crate::document::table::{Column, Table};
use crate::document::{Block, Document};
use crate::parts::units::{load, micros};
use crate::parts::{heading, ledger, percentile};
use crate::quantity::{load_text, plain, time_within};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::curve_record::{
    CurvePointRecord, CurveRecord, HysteresisRecord, SweepDirection,
};
use filestone_measure::measure::knee::upward_curve;
use filestone_measure::measure::overall_response_time::{mean_over_loads, overall_response_time};
use filestone_measure::measure::verdict::STANDARD_ERRORS;

/// Returns the report.
pub fn report(record: &RunRecord, curve: &CurveRecord) -> Document {
    heading::heading(record)
        .with(percentile::with_legend([table(curve)]))
        .push(Block::Picture(picture(record, curve)))
        .blank()
        .facts(facts(record, curve))
        .with(errors::section(record))
        .with(ledger::ledger(&record.totals.ledger))
}

/// Returns a table with a row per load point, in the order of visits.
fn table(curve: &CurveRecord) -> Table {
    let mut table = Table::new([
        Column::text("leg"),
        Column::figure("OFFERED/S").gives_way(4),
        Column::figure("DONE/S"),
        Column::figure("MEAN usecs"),
        Column::figure("± 95 %"),
        Column::figure("P50").gives_way(5),
        Column::figure("P90").gives_way(1),
        Column::figure("P99"),
        Column::figure("IN FLIGHT").gives_way(3),
        Column::figure("WARM-UP s").gives_way(2),
        Column::text("MARKS"),
    ]);
    for point in &curve.points {
        let times = &point.response_time_ns;
        let timed = |nanos: f64| match times.count {
            0 => "-".into(),
            _ => micros(nanos),
        };
        let half_width = point.response_time_mean_half_width_ns;
        let quantile = |quantile, nanos| match times.count {
            0 => percentile::beside("-"),
            _ => percentile::cell(times, quantile, nanos),
        };
        table.row([
            leg_name(point.leg).into(),
            load(point.offered_load_ops_per_s),
            load(point.achieved_load_ops_per_s),
            timed(times.mean),
            half_width.map_or("-".into(), timed),
            quantile(0.5, times.p50),
            quantile(0.9, times.p90),
            quantile(0.99, times.p99),
            format!("{:.2}", point.in_flight_mean),
            format!("{:.1}", point.warm_up_ns as f64 / 1e9),
            marks(curve, point).join(", "),
        ]);
    }
    table
}

/// Returns the name of a leg of the curve.
pub const fn leg_name(leg: SweepDirection) -> &'static str {
    match leg {
        SweepDirection::Search => "search",
        SweepDirection::Up => "up",
        SweepDirection::Down => "down",
    }
}

/// Returns the remarks on a point.
fn marks(curve: &CurveRecord, point: &CurvePointRecord) -> Vec<&'static str> {
    let mut marks = Vec::new();
    if !point.kept_up {
        marks.push("did not keep up");
    }
    // The search has no warm-up that could end well, and its points are not part of the curve.
    if point.leg == SweepDirection::Search {
        return marks;
    }
    if point.kept_up && point.achieved_load_ops_per_s >= curve.peak_ops_per_s {
        marks.insert(0, "peak");
    }
    if point.leg == SweepDirection::Up && is_knee(curve, point) {
        marks.insert(0, "knee");
    }
    if !point.is_steady {
        marks.push("not steady");
    }
    if point.ledger.unsuccessful() > 0 {
        marks.push("errors");
    }
    marks
}

/// Whether the knee is nearer to this point than to any other of the upward leg.
fn is_knee(curve: &CurveRecord, point: &CurvePointRecord) -> bool {
    let Some(knee) = &curve.knee else {
        return false;
    };
    let distance =
        |point: &CurvePointRecord| (point.achieved_load_ops_per_s - knee.load_ops_per_s).abs();
    let own = distance(point);
    upward(curve).all(|other| distance(other) >= own)
}

fn upward(curve: &CurveRecord) -> impl Iterator<Item = &CurvePointRecord> {
    of_leg(curve, SweepDirection::Up)
}

fn of_leg(curve: &CurveRecord, leg: SweepDirection) -> impl Iterator<Item = &CurvePointRecord> {
    curve.points.iter().filter(move |point| point.leg == leg)
}

/// Returns the results of the curve.
fn facts(record: &RunRecord, curve: &CurveRecord) -> Vec<Fact> {
    let peak = if curve.peak_ops_per_s > 0.0 {
        let peak = load_text(curve.peak_ops_per_s, chance_of_peak(curve));
        format!("{peak} operations/s")
    } else {
        // No point kept up, or the search did not reach one.
        "not known".into()
    };
    let mut facts = vec![("peak", format!("{peak}: {}", curve.peak_method))];
    facts.extend(overall(curve));
    facts.push(("knee", knee_text(curve)));
    if let Some(hysteresis) = &curve.hysteresis {
        facts.push(("hysteresis", hysteresis_text(curve, hysteresis)));
    }
    if let (Some(plan), Some(mix)) = (record.plan.mix(), &record.mix) {
        facts.extend(asked::facts(record, plan, &mix.file_set));
    }
    facts
}

/// Returns the uncertainty of the highest achieved load: two standard deviations of its count.
fn chance_of_peak(curve: &CurveRecord) -> f64 {
    let at_peak = |point: &&CurvePointRecord| {
        point.kept_up && point.achieved_load_ops_per_s >= curve.peak_ops_per_s
    };
    let on_curve = upward(curve).chain(of_leg(curve, SweepDirection::Down));
    on_curve
        .filter(at_peak)
        .map(chance_of_load)
        .fold(0.0, f64::max)
}

/// Returns half the 95 % interval of a point's load, a Poisson count over its time.
fn chance_of_load(point: &CurvePointRecord) -> f64 {
    let seconds = point.end_ns.saturating_sub(point.start_ns) as f64 / 1e9;
    if seconds > 0.0 {
        STANDARD_ERRORS * (point.achieved_load_ops_per_s / seconds).sqrt()
    } else {
        0.0
    }
}

/// Formats the knee, whose uncertainty is half the distance to the neighbouring points.
fn knee_text(curve: &CurveRecord) -> String {
    if let Some([from, to]) = curve.knee_between_ops_per_s {
        let [from, to] = [from, to].map(|load| load_text(load, 0.005 * to));
        return format!(
            "cannot be told: at loads from {from} to {to} operations/s load over mean response time \
             is the same within the 95 % intervals; longer points (--point-duration) tell them apart"
        );
    }
    let Some(knee) = &curve.knee else {
        return "none: load over mean response time is still greatest at the last point, or the points are too few".into();
    };
    let mut loads: Vec<f64> = upward(curve)
        .map(|point| point.achieved_load_ops_per_s)
        .collect();
    loads.sort_by(f64::total_cmp);
    let place = loads.partition_point(|load| *load < knee.load_ops_per_s);
    let around = place
        .checked_sub(1)
        .and_then(|below| loads.get(below))
        .zip(loads.get(place));
    let half_step = around.map_or(0.0, |(below, above)| (above - below) / 2.0);
    let nearest = upward(curve).min_by(|one, other| {
        let distance =
            |point: &CurvePointRecord| (point.achieved_load_ops_per_s - knee.load_ops_per_s).abs();
        distance(one).total_cmp(&distance(other))
    });
    let half_width = nearest.and_then(|point| point.response_time_mean_half_width_ns);
    format!(
        "{} operations/s at a mean of {}: {}",
        load_text(knee.load_ops_per_s, half_step),
        time_within(knee.response_time_mean_ns, half_width.unwrap_or(0.0)),
        knee.method
    )
}

/// Returns the curve as one number, by both of SPEC's rules: file servers were compared by the
/// older one; the newer one is within the measured values. Computed from the points, so that a
/// record of the first method, whose figure matched neither, is shown correctly.
fn overall(curve: &CurveRecord) -> Option<Fact> {
    let half_width = chance_of_overall(curve);
    let curve = upward_curve(&curve.points);
    let overall = overall_response_time(&curve)?;
    let mean = mean_over_loads(&curve).map_or_else(String::new, |mean| {
        format!(
            "; {} on average over the loads measured",
            time_within(mean, half_width)
        )
    });
    let overall = time_within(overall, half_width);
    Some((
        "overall",
        format!("{overall} by SPECsfs's rule, area from the origin over the peak{mean}"),
    ))
}

/// Returns half the 95 % interval of the area under the curve over the peak: points are measured
/// independently, and each is weighted with half the distance to its neighbours.
fn chance_of_overall(curve: &CurveRecord) -> f64 {
    let mut points: Vec<(f64, f64)> = upward(curve)
        .filter(|point| point.kept_up)
        .map(|point| {
            let half_width = point.response_time_mean_half_width_ns.unwrap_or(0.0);
            (point.achieved_load_ops_per_s, half_width)
        })
        .collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let squares = points
        .iter()
        .enumerate()
        .map(|(place, (load, half_width))| {
            let at =
                |place: Option<usize>| place.and_then(|place| points.get(place)).map(|at| at.0);
            let below = at(place.checked_sub(1)).unwrap_or(0.0);
            let above = at(Some(place + 1)).unwrap_or(*load);
            ((above - below) / 2.0 * half_width).powi(2)
        });
    let all = squares.sum::<f64>().sqrt();
    points.last().map_or(0.0, |last| all / last.0.max(1.0))
}

/// Describes the difference between the two legs of the curve in one sentence.
fn hysteresis_text(curve: &CurveRecord, hysteresis: &HysteresisRecord) -> String {
    let half_width = |leg| {
        let mut at = of_leg(curve, leg);
        let at = at.find(|point| point.offered_load_ops_per_s == hysteresis.largest_at_ops_per_s);
        at.and_then(|point| point.response_time_mean_half_width_ns)
            .unwrap_or(0.0)
    };
    let chance = if hysteresis.is_significant {
        "more than chance explains"
    } else {
        "no more than chance explains"
    };
    let direction = if hysteresis.area_percent < 0.0 {
        "faster"
    } else {
        "slower"
    };
    format!(
        "downwards {} % {direction} by area; at {} operations/s the mean was {} up and {} down, {chance} at 95 %",
        plain(
            hysteresis.area_percent.abs(),
            usize::from(hysteresis.area_percent.abs() < 9.5)
        ),
        load(hysteresis.largest_at_ops_per_s),
        time_within(hysteresis.up_mean_ns, half_width(SweepDirection::Up)),
        time_within(hysteresis.down_mean_ns, half_width(SweepDirection::Down)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::page::{Detail, PageWidth};
    use crate::fixtures;
    use crate::mix;

    #[test]
    fn a_curve_up_and_down() {
        let report = mix::report(&fixtures::curve(), Detail::Whole);
        insta::assert_snapshot!(report.text(PageWidth::default()));
    }

    #[test]
    fn every_row_of_the_values_has_as_many_columns_as_the_header() {
        let record = fixtures::curve();
        let text = csv(record.curve.as_ref().expect("a curve"));
        let counts: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_curve_without_a_point_is_no_panic() {
        let mut record = fixtures::curve();
        record.curve = Some(CurveRecord::default());
        let text = mix::report(&record, Detail::Whole).text(PageWidth::default());
        assert!(text.contains("knee            none"));
    }
}
