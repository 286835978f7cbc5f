//! Load, errors and response times of every kind of operation over time, as columns for a chart.
//!
//! A long run is thinned: a point then covers several intervals with their highest value, for loads
//! also the lowest, so that every slow interval and every pause is visible at any zoom.

use super::values::{ShortNumber, SpanData, micros};
use crate::dbench::{self, DbenchFormat};
use crate::over_time::{
    is_rated, length_ns, middle, notes_on_phases, spans, steps, thinned_note, unsuccessful,
};
use crate::parts::kinds::measured;
use crate::parts::units::seconds;
use crate::quantity::duration_text;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::{IntervalKindRecord, IntervalRecord, Phase};
use filestone_measure::measure::verdict::percentile::is_rank_known;
use filestone_workload::operation::OpKind;
use filestone_workload::recording::{DistributionRecord, Ledger, Role};
use serde::Serialize;

/// Maximum number of points of a line. With 13 lines of every sort this is about 2 MB.
const POINTS_MAX: usize = 4_000;

/// Columns of the chart.
#[derive(Debug, Serialize)]
pub struct OverTimeData {
    /// Middles of the intervals, in seconds since the window opened.
    x: Vec<ShortNumber>,
    /// Ends of the axis.
    ends: [ShortNumber; 2],
    /// Length of an interval, as text.
    each: String,
    /// Number of intervals per point.
    group: usize,
    spans: Vec<SpanData>,
    /// Offered loads: start, end, operations per second.
    offered: Vec<[ShortNumber; 3]>,
    /// All operations together, then each kind.
    operations: Vec<SeriesData>,
}

#[derive(Debug, Serialize)]
struct SeriesData {
    name: String,
    succeeded: Rates,
    /// Operations per second that did not succeed; empty if there are none.
    errors: Vec<Option<ShortNumber>>,
    p50: Times,
    p99: Times,
    slowest: Times,
}

#[derive(Debug, Default, Serialize)]
struct Rates {
    high: Vec<Option<ShortNumber>>,
    /// Lowest values, only for a thinned run.
    low: Vec<Option<ShortNumber>>,
}

/// Times in microseconds.
#[derive(Debug, Default, Serialize)]
struct Times {
    values: Vec<Option<ShortNumber>>,
    /// Ranges of points, end excluded, with too few operations to estimate the quantile.
    unknown: Vec<[usize; 2]>,
}

/// An interval of one kind of operation, or of all.
#[derive(Debug, Clone, Default)]
struct Sample {
    /// Operations per second that succeeded, and that did not.
    rates: Option<[f64; 2]>,
    /// Number of timed operations.
    count: u64,
    /// p50 and p99 of the response time.
    percentiles: Option<[u64; 2]>,
    slowest: Option<u64>,
}

/// Returns the columns of a run; `None` if it has no interval.
pub fn data(record: &RunRecord, all_times: &[Option<DistributionRecord>]) -> Option<OverTimeData> {
    let intervals = &record.intervals;
    let last = intervals.iter().map(|interval| interval.end_ns).max()?;
    let group = group_of(intervals.len());
    let is_rated = |interval: &IntervalRecord| is_rated(record, interval);
    let all = intervals.iter().zip(all_times).map(|(interval, times)| {
        sample(
            interval,
            &interval.ledger,
            times.as_ref(),
            is_rated(interval),
        )
    });
    let all = series("all operations", &all.collect::<Vec<_>>(), group);
    let kinds = measured(record).map(|kind| {
        let samples = intervals.iter().map(|interval| {
            let row = row_of(interval, kind.operation);
            row.map_or_else(Sample::default, |row| {
                let times = Some(&row.response_time_ns).filter(|times| times.count > 0);
                sample(interval, &row.ledger, times, is_rated(interval))
            })
        });
        let name = name_of(record, kind.operation);
        series(name, &samples.collect::<Vec<_>>(), group)
    });
    let kinds: Vec<SeriesData> = kinds.collect();
    // A single kind is the same as all operations.
    let kinds = if kinds.len() > 1 { kinds } else { vec![] };
    let spans = spans(record);
    let first = spans.iter().map(|span| span.from).fold(0.0, f64::min);
    Some(OverTimeData {
        x: intervals.chunks(group).map(middle_of).collect(),
        ends: [
            ShortNumber(first),
            ShortNumber(seconds(last.max(record.window_ns)).max(1e-3)),
        ],
        each: duration_text(record.plan.interval_ns),
        group,
        spans: SpanData::of(&spans, 1.0),
        offered: steps(record)
            .into_iter()
            .take(POINTS_MAX)
            .map(|(from, to, load)| {
                [
                    ShortNumber(seconds(from)),
                    ShortNumber(seconds(to)),
                    ShortNumber(load),
                ]
            })
            .collect(),
        operations: std::iter::once(all).chain(kinds).collect(),
    })
}

/// Returns the notes below the chart.
pub fn notes(record: &RunRecord) -> Vec<String> {
    let each = duration_text(record.plan.interval_ns);
    let points = match group_of(record.intervals.len()) {
        1 => format!(
            "a point is an interval of {each}, at its middle; p50 and p99 have a ~ where too few \
             operations lie beyond"
        ),
        group => format!(
            "{}; zooming in shows no more than that, {} does; p50 and p99 have a ~ where too few \
             operations lie beyond",
            thinned_note(group, &each),
            crate::json::RECORD_FILE
        ),
    };
    [vec![points], notes_on_phases(record)].concat()
}

/// Returns the number of intervals per point.
pub fn group_of(intervals: usize) -> usize {
    intervals.div_ceil(POINTS_MAX).max(1)
}

fn name_of(record: &RunRecord, operation: OpKind) -> &'static str {
    let plan = record.plan.replay();
    plan.map_or(operation.name(), |plan| {
        dbench::spelling(DbenchFormat::Five, plan, operation)
    })
}

fn row_of(interval: &IntervalRecord, operation: OpKind) -> Option<&IntervalKindRecord> {
    let mut kinds = interval.kinds.iter();
    kinds.find(|kind| kind.role == Role::Measured && kind.operation == operation)
}

fn sample(
    interval: &IntervalRecord,
    ledger: &Ledger,
    times: Option<&DistributionRecord>,
    is_rated: bool,
) -> Sample {
    let length = seconds(length_ns(interval));
    let rates =
        is_rated.then(|| [ledger.ok, unsuccessful(ledger)].map(|count| count as f64 / length));
    // Only slow operations end in the drain, so it has no median.
    let whole = times.filter(|_| interval.phase == Phase::Measure);
    Sample {
        rates,
        count: times.map_or(0, |times| times.count),
        percentiles: whole.map(|times| [times.p50, times.p99]),
        slowest: times.map(|times| times.max),
    }
}

/// Returns the middle between the first interval of a group and the last.
fn middle_of(group: &[IntervalRecord]) -> ShortNumber {
    let ends = [group.first(), group.last()].map(|interval| interval.map_or(0.0, middle));
    ShortNumber((ends[0] + ends[1]) / 2.0)
}

fn series(name: &str, samples: &[Sample], group: usize) -> SeriesData {
    let groups = || samples.chunks(group);
    let rate = |place: usize, pick: fn(f64, f64) -> f64| {
        groups()
            .map(|group| {
                let rates = group.iter().filter_map(|sample| Some(sample.rates?[place]));
                rates.reduce(pick)
            })
            .collect::<Vec<Option<f64>>>()
    };
    let numbers = |rates: Vec<Option<f64>>| {
        rates
            .into_iter()
            .map(|rate| rate.map(ShortNumber))
            .collect()
    };
    let errors = rate(1, f64::max).into_iter();
    let errors: Vec<Option<f64>> = errors.map(|rate| rate.filter(|rate| *rate > 0.0)).collect();
    let has_errors = errors.iter().any(Option::is_some);
    SeriesData {
        name: name.into(),
        succeeded: Rates {
            high: numbers(rate(0, f64::max)),
            low: if group > 1 {
                numbers(rate(0, f64::min))
            } else {
                vec![]
            },
        },
        errors: if has_errors { numbers(errors) } else { vec![] },
        p50: times(groups(), 0.5, |sample| Some(sample.percentiles?[0])),
        p99: times(groups(), 0.99, |sample| Some(sample.percentiles?[1])),
        slowest: times(groups(), 0.0, |sample| sample.slowest),
    }
}

/// Returns the highest value of each group; the number of operations decides whether the quantile
/// is known. The maximum always is.
fn times<'samples>(
    groups: impl Iterator<Item = &'samples [Sample]>,
    quantile: f64,
    of: fn(&Sample) -> Option<u64>,
) -> Times {
    let mut times = Times::default();
    for (place, group) in groups.enumerate() {
        let values = group
            .iter()
            .filter_map(|sample| Some((of(sample)?, sample.count)));
        let highest = values.max_by_key(|(value, _)| *value);
        times.values.push(highest.map(|(value, _)| micros(value)));
        let is_unknown = |(_, count): (u64, u64)| quantile > 0.0 && !is_rank_known(count, quantile);
        if highest.is_some_and(is_unknown) {
            match times.unknown.last_mut() {
                Some(run) if run[1] == place => run[1] = place + 1,
                _ => times.unknown.push([place, place + 1]),
            }
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    fn at(rate: f64, p99: u64, count: u64) -> Sample {
        Sample {
            rates: Some([rate, 0.0]),
            count,
            percentiles: Some([p99 / 2, p99]),
            slowest: Some(2 * p99),
        }
    }

    #[test]
    fn a_thinned_line_keeps_its_extremes() {
        // A pause in the second of two groups of three: no operation ends, then all due ones do.
        let samples = [
            at(100.0, 10_000, 5000),
            at(110.0, 9_000, 5000),
            at(90.0, 11_000, 5000),
            at(100.0, 10_000, 5000),
            Sample {
                rates: Some([0.0, 0.0]),
                ..Sample::default()
            },
            at(200.0, 900_000, 100),
        ];
        let found = series("read", &samples, 3);
        let number = |value: f64| Some(ShortNumber(value));
        assert_eq!(found.succeeded.high, [number(110.0), number(200.0)]);
        assert_eq!(found.succeeded.low, [number(90.0), number(0.0)]);
        assert_eq!(found.p99.values, [number(11.0), number(900.0)]);
        assert_eq!(found.slowest.values, [number(22.0), number(1800.0)]);
        // 100 operations are too few for p99, 5,000 are not.
        assert_eq!(found.p99.unknown, [[1, 2]]);
        assert!(found.slowest.unknown.is_empty() && found.errors.is_empty());
    }

    #[test]
    fn an_interval_that_lasted_for_long_takes_no_other_away() {
        let mut record = fixtures::plain();
        let whole = |record: &RunRecord| {
            let times: Vec<_> = record.intervals.iter().map(|_| None).collect();
            let data = data(record, &times).expect("there are intervals");
            let rates = data.operations[0].succeeded.high.iter();
            rates.filter(|rate| rate.is_some()).count()
        };
        let all = whole(&record);
        assert_eq!(all, record.intervals.len());
        let last = record.intervals.last_mut().expect("one");
        last.end_ns += 3_000_000_000;
        record.window_ns += 3_000_000_000;
        assert_eq!(whole(&record), all);
    }

    #[test]
    fn where_nothing_ended_there_is_a_gap() {
        let samples = [at(1.0, 10, 1), Sample::default(), at(1.0, 10, 1)];
        let found = series("read", &samples, 1);
        assert_eq!(found.p50.values[1], None);
        assert_eq!(found.succeeded.high[1], None);
        assert_eq!(found.p50.unknown, [[0, 1], [2, 3]]);
    }

    #[test]
    fn an_hour_of_twelve_kinds_in_100_ms_is_less_than_four_megabytes() {
        let samples = (0..36_000_u64).map(|place| Sample {
            rates: Some([1234.5 + (place % 977) as f64 * 1.37, (place % 3) as f64]),
            count: 100 + place % 50,
            percentiles: Some([
                123_456 + place * 7919 % 999_983,
                1_234_567 + place * 104_729 % 9_999_991,
            ]),
            slowest: Some(12_345_678 + place * 15_485_863 % 99_999_989),
        });
        let samples: Vec<Sample> = samples.collect();
        let group = group_of(samples.len());
        assert_eq!(samples.chunks(group).count(), POINTS_MAX);
        let operations: Vec<SeriesData> =
            (0..13).map(|_| series("read", &samples, group)).collect();
        let text = serde_json::to_string(&operations).expect("JSON");
        assert!(text.len() < 4_000_000, "{} bytes", text.len());
    }
}
