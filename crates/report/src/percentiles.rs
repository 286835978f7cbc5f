//! Picture of the response-time percentiles of a run, with an expanded tail.
//!
//! The x axis is 1/(1−p), logarithmic, as in HdrHistogram's plots: each further nine takes the same
//! width, and the line ends where the samples do.

use crate::caption;
use crate::parts::units::seconds;
use crate::picture::{
    Axis, AxisQuantity, Form, Panel, Picture, PlotLine, PlotPoint, Style, Symbol,
};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::verdict::percentile::{self, TimesOf};
use filestone_workload::figure::TimeKind;
use filestone_workload::recording::DistributionRecord;
use filestone_workload::text::thousands;

/// Number of points of a line per nine.
const POINTS_PER_NINE: u32 = 40;

/// Returns the picture; `None` for a run whose load was steered, because percentiles over several
/// loads do not describe any of them.
pub fn picture(record: &RunRecord) -> Option<Picture> {
    if record.plan.steering.is_some() {
        return None;
    }
    let totals = &record.totals;
    let count = totals.response_time_ns.count;
    let [response, service] = [TimeKind::Response, TimeKind::Service].map(|timed| {
        let of = TimesOf {
            totals,
            operation: None,
            timed,
        };
        of_run(of)
    });
    let lines = vec![
        line("response time (done − due)", Style::First, response),
        line("service time (done − sent)", Style::Second, service),
    ];
    let panel = panel(lines, "time");
    let operations = thousands(count);
    let notes = vec![
        format!(
            "dotted: not known, as ~ in tables; the lines end at the slowest of {operations} operations"
        ),
        "bars: the 95 % intervals that the record keeps".into(),
    ];
    let notes = if count > 0 { notes } else { vec![] };
    Some(caption::picture(
        record,
        "Response-time percentiles",
        vec![panel],
        notes,
    ))
}

/// Creates a diagram of percentiles; lines without points are left out.
pub fn panel(mut lines: Vec<PlotLine>, time: &str) -> Panel {
    lines.retain(|line| !line.points.is_empty());
    Panel::new(
        Axis::new(
            AxisQuantity::Percentile,
            "percentile: this share of the operations took no longer",
        ),
        Axis::time(time),
        lines,
    )
}

fn line(name: &str, style: Style, points: Vec<PlotPoint>) -> PlotLine {
    PlotLine::new(name, style, Form::Joined, points)
}

/// Returns the percentiles of the selected times of a run, with the intervals in its record.
fn of_run(of: TimesOf<'_>) -> Vec<PlotPoint> {
    let Some(times) = of.totals.times(of.operation, of.timed) else {
        return vec![];
    };
    let mut points = points_of(times, |quantile| of.is_known(quantile));
    for point in points.iter_mut().filter(|point| is_nine(point.x)) {
        let known = of
            .interval(quantile_of(point.x))
            .filter(|known| known.is_kept);
        let ends = known.and_then(|known| Some((known.low_ns / 1e9, known.high_ns? / 1e9)));
        point.interval = ends.filter(|_| point.x > 1.0);
    }
    points
}

/// Returns the percentiles of a distribution; empty if it is empty.
pub fn points(times: &DistributionRecord) -> Vec<PlotPoint> {
    points_of(times, |quantile| percentile::is_known(times, quantile))
}

/// Returns the percentiles of a distribution; `is_known` decides whether a percentile is known, and
/// its result for a named percentile applies up to the next.
fn points_of(times: &DistributionRecord, is_known: impl Fn(f64) -> bool) -> Vec<PlotPoint> {
    let ranks = Ranks::of(times);
    let places = if ranks.is_whole {
        places(times.count)
    } else {
        ranks
            .steps
            .iter()
            .map(|step| place_of(step.0, times.count))
            .collect()
    };
    let mut is_named_known = true;
    let points = places.into_iter().map(|place| {
        let mut point = point(&ranks, times, place);
        if is_nine(place) && place > 1.0 && ranks.is_whole {
            is_named_known = is_known(quantile_of(place));
            point.is_sparse = false;
        }
        point.is_sparse |= !is_named_known;
        point
    });
    points.collect()
}

fn quantile_of(place: f64) -> f64 {
    1.0 - 1.0 / place
}

/// Returns one percentile: p = 1 − 1/place.
fn point(ranks: &Ranks, times: &DistributionRecord, place: f64) -> PlotPoint {
    let count = times.count as f64;
    // Exact at count/place, unlike p × count.
    let beyond = (count / place + 1e-9).floor() as u64;
    let is_last = place >= count;
    let value = if is_last {
        times.max
    } else {
        ranks.value(times.count - beyond.min(times.count))
    };
    let mut point = PlotPoint::new(place, seconds(value));
    // The left end is dense even with few fast operations, because it is not the tail.
    let quantile = quantile_of(place).max(0.5);
    point.is_sparse = !percentile::is_rank_known(times.count, quantile);
    let is_named = is_last || is_nine(place);
    point.symbol = if is_named { Symbol::Full } else { Symbol::None };
    point
}

fn place_of(rank: u64, count: u64) -> f64 {
    match count.saturating_sub(rank) {
        0 => count as f64,
        beyond => count as f64 / beyond as f64,
    }
}

/// Whether a position is 50 %, 90 %, 99 %, …
fn is_nine(place: f64) -> bool {
    let nines = place.log10();
    place == 2.0 || (nines - nines.round()).abs() < 1e-12
}

/// Returns the positions of the drawn percentiles, up to the slowest operation.
fn places(count: u64) -> Vec<f64> {
    let last = count as f64;
    let steps = (last.max(1.0).log10() * f64::from(POINTS_PER_NINE)).ceil() as u32;
    let even = (0..steps).map(|step| match step % POINTS_PER_NINE {
        // Positions of nines are exact.
        0 => 10_f64.powi((step / POINTS_PER_NINE) as i32),
        _ => 10_f64.powf(f64::from(step) / f64::from(POINTS_PER_NINE)),
    });
    let mut places: Vec<f64> = even.chain([2.0, last]).collect();
    places.retain(|place| *place >= 1.0 && *place <= last);
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

/// Values by their rank.
struct Ranks {
    /// Number of values that do not exceed a value, and that value, in order.
    steps: Vec<(u64, u64)>,
    min: u64,
    max: u64,
    /// Whether these are all values, or only the percentiles of a record whose histogram cannot be
    /// decoded.
    is_whole: bool,
}

impl Ranks {
    fn of(times: &DistributionRecord) -> Self {
        let mut below = 0;
        let steps = times.decode().ok().map(|histogram| {
            let steps = histogram.iter_recorded().map(|step| {
                below += step.count_at_value();
                (below, step.value_iterated_to())
            });
            steps.collect::<Vec<_>>()
        });
        let is_whole = steps.is_some() || times.count == 0;
        Self {
            steps: steps.unwrap_or_else(|| Self::figures(times)),
            min: times.min,
            max: times.max,
            is_whole,
        }
    }

    /// Returns the named percentiles of a record, if there are enough samples.
    fn figures(times: &DistributionRecord) -> Vec<(u64, u64)> {
        let figures = [
            (2, times.p50),
            (10, times.p90),
            (20, times.p95),
            (100, times.p99),
            (1000, times.p99_9),
            (10_000, times.p99_99),
        ];
        let figures = figures
            .into_iter()
            .filter(|(place, _)| *place <= times.count);
        figures
            .map(|(place, value)| (times.count - times.count / place, value))
            .chain((times.count > 0).then_some((times.count, times.max)))
            .collect()
    }

    /// Returns the smallest value that at least `rank` values do not exceed.
    fn value(&self, rank: u64) -> u64 {
        let index = self.steps.partition_point(|step| step.0 < rank);
        let value = self.steps.get(index).map_or(self.max, |step| step.1);
        value.min(self.max).max(self.min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::picture::render;
    use filestone_workload::recording::Distribution;

    fn distribution(values: impl IntoIterator<Item = u64>) -> DistributionRecord {
        let mut distribution = Distribution::<u64>::new();
        values
            .into_iter()
            .for_each(|value| distribution.record(value));
        distribution.to_record()
    }

    fn at(points: &[PlotPoint], place: f64) -> PlotPoint {
        let found = points.iter().find(|point| point.x == place);
        *found.unwrap_or_else(|| panic!("nothing at {place}: {points:?}"))
    }

    #[test]
    fn percentiles_of_a_thousand_known_values_are_those_of_paper() {
        let times = distribution((1..=1000).map(|value| value * 1_000_000));
        let points = points(&times);
        for (place, millis) in [(1.0, 1.0), (2.0, 500.0), (10.0, 900.0), (100.0, 990.0)] {
            let point = at(&points, place);
            assert!((point.y * 1000.0 / millis - 1.0).abs() < 1e-3, "{point:?}");
        }
        // The last point is the exact maximum; one operation is too few for a percentile.
        let last = points.last().expect("points");
        assert_eq!((last.x, last.y, last.is_sparse), (1000.0, 1.0, true));
        // Known if 1000 (1 − p) ≥ (1.96/0.5)² p, so up to 1/(1 − p) = 1 + 1000/15.37 = 66.1.
        assert!(
            points
                .iter()
                .all(|point| (point.x > 66.1) == point.is_sparse)
        );
        assert!(points.is_sorted_by(|one, next| one.x < next.x && one.y <= next.y));
    }

    #[test]
    fn bars_and_dots_are_those_of_the_tables() {
        let mut record = fixtures::in_stretches();
        let of = |record: &RunRecord| of_run(TimesOf::all(&record.totals));
        let drawn = at(&of(&record), 100.0);
        let mut figures = record.totals.figures.iter();
        let kept = figures.find(|figure| figure.name == "response_time.p99");
        let kept = kept.expect("it is kept");
        assert_eq!(drawn.interval, Some((kept.low / 1e9, kept.high / 1e9)));
        assert!(!drawn.is_sparse);
        // Ranks alone have no bars.
        assert_eq!(at(&of(&record), 10.0).interval, None);
        let mut figures = record.totals.figures.iter_mut();
        let kept = figures.find(|figure| figure.name == "response_time.p99");
        let kept = kept.expect("it is kept");
        kept.high = 3.0 * kept.low;
        let points = of(&record);
        assert!(
            points
                .iter()
                .all(|point| point.is_sparse == (point.x >= 100.0))
        );
    }

    #[test]
    fn an_interval_of_the_record_decides_where_ranks_are_too_few() {
        let mut record = fixtures::in_stretches();
        let totals = &mut record.totals;
        totals.response_time_ns = distribution((1..=1000).map(|value| value * 1_000));
        let mut figures = totals.figures.iter_mut();
        let kept = figures.find(|figure| figure.name == "response_time.p99");
        let kept = kept.expect("it is kept");
        (kept.low, kept.high) = (900_000.0, 999_000.0);
        let of = TimesOf::all(&record.totals);
        assert!(of.is_known(0.99) && !percentile::is_rank_known(1000, 0.99));
        assert!(!at(&of_run(of), 100.0).is_sparse);
    }

    #[test]
    fn few_samples_and_none_are_drawn_as_what_they_are() {
        assert!(points(&distribution([])).is_empty());
        let one = points(&distribution([7_000]));
        assert_eq!(one.len(), 1);
        assert_eq!((one[0].x, one[0].y, one[0].is_sparse), (1.0, 7e-6, true));
        let few = points(&distribution([1_000, 2_000, 3_000]));
        assert!(
            few.iter()
                .all(|point| point.is_sparse && point.interval.is_none())
        );
        assert_eq!(few.last().map(|point| point.y), Some(3e-6));
    }

    #[test]
    fn a_record_without_its_histogram_has_the_percentiles_that_it_names() {
        let mut times = distribution((1..=1000).map(|value| value * 1_000_000));
        times.histogram = "?".into();
        let points = points(&times);
        let places: Vec<f64> = points.iter().map(|point| point.x).collect();
        assert_eq!(places, [2.0, 10.0, 20.0, 100.0, 1000.0, 1000.0]);
        assert!((points[1].y - 0.9).abs() < 1e-3);
    }

    #[test]
    fn a_plain_run() {
        let picture = picture(&fixtures::plain()).expect("its load was not steered");
        insta::assert_snapshot!(render(&picture));
    }

    #[test]
    fn percentiles_over_several_loads_are_not_drawn() {
        assert!(picture(&fixtures::curve()).is_none());
        assert!(picture(&fixtures::objective()).is_none());
    }
}
