//! Heat map of response times over time: the number of operations for each bucket of time and each
//! bucket of the logarithmic axis of response times.

use super::values::ShortNumber;
use crate::parts::units::seconds;
use filestone_measure::measure::RunRecord;
use filestone_workload::recording::DistributionRecord;
use serde::Serialize;

/// Maximum number of time buckets.
const COLUMNS_MAX: usize = 400;
/// Approximate number of response-time buckets, and the maximum per decade.
const ROWS: f64 = 64.0;
const ROWS_PER_DECADE_MAX: f64 = 40.0;
/// A time that is shorter than any exchange, so that 0 has a logarithm.
const NANOS_MIN: u64 = 1;

/// Counts of operations.
#[derive(Debug, Serialize)]
pub struct HeatMapData {
    /// Starts of the time buckets and the end of the last, in seconds.
    x: Vec<ShortNumber>,
    /// Starts of the response-time buckets and the end of the last, in microseconds.
    y: Vec<ShortNumber>,
    /// For each time bucket the first non-empty row, and the counts from there on.
    columns: Vec<Vec<u64>>,
    /// Number of intervals per time bucket.
    group: usize,
}

/// Axis of response times in equal ratios.
#[derive(Debug, Clone, Copy)]
struct Rows {
    low: f64,
    per_decade: f64,
    count: usize,
}

impl Rows {
    fn of(min: u64, max: u64) -> Self {
        let low = min.max(NANOS_MIN) as f64;
        let decades = (max.max(min).max(NANOS_MIN) as f64 / low).log10().max(0.1);
        let per_decade = (ROWS / decades).min(ROWS_PER_DECADE_MAX);
        Self {
            low,
            per_decade,
            count: (decades * per_decade).floor() as usize + 1,
        }
    }

    fn place(self, nanos: u64) -> usize {
        let decades = (nanos.max(NANOS_MIN) as f64 / self.low).log10();
        // Exact if a value is the end of a row.
        let place = (decades * self.per_decade + 1e-9).floor().max(0.0);
        (place as usize).min(self.count - 1)
    }

    fn edges(self) -> Vec<ShortNumber> {
        let edge = |place: usize| self.low * 10_f64.powf(place as f64 / self.per_decade);
        (0..=self.count)
            .map(|place| ShortNumber(edge(place) / 1e3))
            .collect()
    }
}

/// Returns the counts of all measured operations; `None` if none was timed, or no histogram can be
/// decoded.
pub fn data(record: &RunRecord, times: &[Option<DistributionRecord>]) -> Option<HeatMapData> {
    let timed = || times.iter().flatten().filter(|times| times.count > 0);
    let min = timed().map(|times| times.min).min()?;
    let max = timed().map(|times| times.max).max()?;
    let rows = Rows::of(min, max);
    let group = times.len().div_ceil(COLUMNS_MAX).max(1);
    let columns: Vec<Vec<u64>> = times
        .chunks(group)
        .map(|group| column(group, rows))
        .collect();
    if columns.iter().all(Vec::is_empty) {
        return None;
    }
    let starts = record.intervals.iter().step_by(group);
    let starts = starts.map(|interval| interval.start_ns);
    let end = record.intervals.last().map(|interval| interval.end_ns);
    Some(HeatMapData {
        x: starts
            .chain(end)
            .map(|nanos| ShortNumber(seconds(nanos)))
            .collect(),
        y: rows.edges(),
        columns,
        group,
    })
}

/// Returns the first row with operations, then the counts up to the last such row; empty if there
/// are none.
fn column(group: &[Option<DistributionRecord>], rows: Rows) -> Vec<u64> {
    let mut counts = vec![0_u64; rows.count];
    for times in group.iter().flatten() {
        let Ok(histogram) = times.decode() else {
            continue;
        };
        for step in histogram.iter_recorded() {
            let value = step
                .value_iterated_to()
                .clamp(times.min, times.max.max(times.min));
            let count = &mut counts[rows.place(value)];
            *count = count.saturating_add(step.count_at_value());
        }
    }
    let first = counts.iter().position(|count| *count > 0);
    let last = counts.iter().rposition(|count| *count > 0);
    match first.zip(last) {
        Some((first, last)) => std::iter::once(first as u64)
            .chain(counts[first..=last].iter().copied())
            .collect(),
        None => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_workload::recording::Distribution;

    fn times(values: &[u64]) -> Option<DistributionRecord> {
        let mut distribution = Distribution::<u64>::new();
        values.iter().for_each(|value| distribution.record(*value));
        Some(distribution.to_record())
    }

    #[test]
    fn operations_are_counted_in_rows_of_equal_ratio() {
        // 1 µs to 1 s are six decades; each has 64/6 rows.
        let rows = Rows::of(1_000, 1_000_000_000);
        assert_eq!((rows.count, rows.place(1_000)), (65, 0));
        assert_eq!(rows.place(1_000_000_000), 64);
        assert_eq!(rows.place(1_000_000), 32);
        let column = column(&[times(&[1_000, 1_000, 1_000_000_000])], rows);
        assert_eq!((column[0], column[1], column.last()), (0, 2, Some(&1)));
        assert_eq!(column.len(), 66);
    }

    #[test]
    fn a_stretch_in_which_nothing_ended_is_empty() {
        let rows = Rows::of(5, 5);
        assert!(column(&[None, None], rows).is_empty());
        assert_eq!(column(&[times(&[5])], rows), [0, 1]);
        assert_eq!(Rows::of(0, 0).place(0), 0);
    }
}
