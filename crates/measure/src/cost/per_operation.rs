//! Cost per operation, as the advance of a counter.
//!
//! Between two consecutive readings the counter has a rate, and operations complete at a rate. The
//! slope of the line through these points is the cost of an operation. The intercept is the host's
//! base rate, which is not charged to operations. Points are weighted by their length, since the
//! variance of random counts is proportional to it.

use super::advance::{CounterError, between};
use super::reading::CounterReading;
use filestone_workload::statistics::regression::{
    FitError, FittedLine, FittedPoint, TimedPoint, fit, fit_groups,
};
use std::collections::BTreeMap;

const NANOS: f64 = 1e9;

/// Reason why a cost is unavailable.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum CostUnavailable {
    /// A reading has no usable advance.
    #[error(transparent)]
    Advance(#[from] CounterError),
    /// The readings do not determine a line.
    #[error(transparent)]
    Line(#[from] FitError),
    /// The cost is negative, which is impossible: something else ran on the host while there was no
    /// load.
    #[error(
        "the readings give {value:.2} ± {half_width:.2} for an operation, which is less than 0"
    )]
    Negative {
        /// Slope.
        value: f64,
        /// Half of its 95 % interval.
        half_width: f64,
    },
}

/// Returns the line, unless the whole interval of its slope is below 0.
fn possible(line: FittedLine) -> Result<FittedLine, CostUnavailable> {
    let (value, half_width) = (line.slope.value, line.slope.half_width());
    if value + half_width < 0.0 {
        return Err(CostUnavailable::Negative { value, half_width });
    }
    Ok(line)
}

/// Returns the cost of operations from these readings: slope per operation, intercept per second.
/// For `slack` see [`between`].
///
/// `cycle_ns` is the time for one cycle, if several loads were offered in turn. Each cycle then has
/// its own intercept, which may change linearly within the cycle, so that drift, such as other work
/// on the host, does not affect the slope.
pub fn of_readings(
    readings: &[CounterReading],
    of: impl Fn(&CounterReading) -> Option<u64>,
    slack: u64,
    cycle_ns: Option<u64>,
) -> Result<FittedLine, CostUnavailable> {
    let points = points(readings, of, slack)?;
    let Some(cycle_ns) = cycle_ns.filter(|cycle| *cycle > 0) else {
        let points: Vec<FittedPoint> = points.iter().map(|timed| timed.point).collect();
        return possible(fit(&points)?);
    };
    // Readings before the window opened belong to no cycle and form one group.
    let mut groups: BTreeMap<Option<u64>, Vec<TimedPoint>> = BTreeMap::new();
    for timed in points {
        let cycle = (timed.time >= 0.0).then(|| (timed.time * NANOS) as u64 / cycle_ns);
        groups.entry(cycle).or_default().push(timed);
    }
    let groups: Vec<Vec<TimedPoint>> = groups.into_values().collect();
    possible(fit_groups(&groups)?)
}

/// Returns a point for each pair of consecutive readings in one part of a run: rates per second,
/// and the middle between the two readings in seconds since the window opened.
fn points(
    readings: &[CounterReading],
    of: impl Fn(&CounterReading) -> Option<u64>,
    slack: u64,
) -> Result<Vec<TimedPoint>, CounterError> {
    let pairs = readings.iter().zip(readings.iter().skip(1));
    let apart = pairs.filter(|(before, after)| {
        after.phase == before.phase && after.moment_ns > before.moment_ns
    });
    apart
        .map(|(before, after)| {
            let apart_ns = after.moment_ns.abs_diff(before.moment_ns);
            let seconds = apart_ns as f64 / NANOS;
            let middle_ns = before.moment_ns.saturating_add_unsigned(apart_ns / 2);
            let point = FittedPoint {
                x: (after.completed - before.completed) / seconds,
                y: between(before, after, &of, slack)? as f64 / seconds,
                weight: seconds,
            };
            Ok(TimedPoint {
                time: middle_ns as f64 / NANOS,
                point,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::{CostCounter, ReadingPhase};

    /// Returns a reading at a second, with the numbers of completed operations and of counted
    /// events.
    fn reading(second: i64, completed: f64, count: u64) -> CounterReading {
        let phase = if second < 0 {
            ReadingPhase::Idle
        } else {
            ReadingPhase::Load
        };
        CounterReading {
            moment_ns: second * 1_000_000_000,
            phase,
            completed,
            counters: [(CostCounter::ContextSwitches, count)].into(),
            ..CounterReading::default()
        }
    }

    fn switches(reading: &CounterReading) -> Option<u64> {
        reading.count(CostCounter::ContextSwitches)
    }

    /// A base rate of 100 switches per second, and two per operation: two seconds idle, a warm-up
    /// without readings, one second with 1,000 operations and two seconds with 500 each.
    #[test]
    fn what_is_there_anyway_costs_no_operation_anything() {
        let readings = [
            reading(-5, 0.0, 0),
            reading(-3, 0.0, 200),
            reading(0, 0.0, 777_777),
            reading(1, 1000.0, 779_877),
            reading(3, 2000.0, 782_077),
        ];
        let line = of_readings(&readings, switches, 0, None).unwrap();
        assert!((line.slope.value - 2.0).abs() < 1e-9, "{line:?}");
        assert!((line.intercept.value - 100.0).abs() < 1e-6, "{line:?}");
        assert!(line.slope.half_width() < 1e-6, "{line:?}");
    }

    /// Each operation adds two. The base rate grows by 100 every second, and is 5,000 higher in the
    /// second cycle, whose loads are higher. One line through all points charges a part of that to
    /// the operations.
    #[test]
    fn what_drifts_costs_no_operation_anything() {
        let loads = [0, 500, 1000, 1000, 500, 0, 500, 1500, 1000, 1000, 1500, 500];
        let mut readings = vec![reading(0, 0.0, 0)];
        for (second, operations) in (1_u64..).zip(loads) {
            let last = readings.last().unwrap();
            let completed = last.completed + operations as f64;
            let anyway = 100 * second + if second > 6 { 5000 } else { 0 };
            let count = switches(last).unwrap() + anyway + 2 * operations;
            readings.push(reading(second as i64, completed, count));
        }
        let line = of_readings(&readings, switches, 0, Some(6_000_000_000)).unwrap();
        assert!((line.slope.value - 2.0).abs() < 1e-9, "{line:?}");
        // 350 in the middle of the first cycle, and 950 and 5,000 in that of the second.
        assert!((line.intercept.value - 3150.0).abs() < 1e-6, "{line:?}");
        assert!(line.slope.half_width() < 1e-6, "{line:?}");
        let one = of_readings(&readings, switches, 0, None).unwrap();
        assert!(one.slope.value > 2.5, "{one:?}");
    }

    #[test]
    fn what_the_readings_do_not_tell_is_no_figure() {
        let two = [reading(0, 0.0, 0), reading(1, 1.0, 1)];
        let few = CostUnavailable::Line(FitError::FewPoints { count: 1 });
        assert_eq!(of_readings(&two, switches, 0, None), Err(few));
        let back = [reading(0, 0.0, 9), reading(1, 1.0, 1)];
        let back = of_readings(&back, switches, 0, None).unwrap_err();
        assert_eq!(back.to_string(), "it went from 9 back to 1");
        // Two readings at one moment give no point.
        let same = [reading(0, 0.0, 0), reading(0, 0.0, 0)];
        assert_eq!(points(&same, switches, 0), Ok(vec![]));
    }

    #[test]
    fn no_operation_costs_less_than_nothing() {
        // 1,000 switches per second without load, and 10 per second under load.
        let counts = [(-3, 0.0, 0), (-2, 0.0, 1000), (-1, 0.0, 2000)];
        let under_load = [(1, 0.0, 5000), (2, 100.0, 5010), (3, 200.0, 5020)];
        let readings: Vec<CounterReading> = counts
            .into_iter()
            .chain(under_load)
            .map(|(second, completed, count)| reading(second, completed, count))
            .collect();
        let found = of_readings(&readings, switches, 0, None);
        let error = found.map(|line| line.slope.value).expect_err("less than 0");
        let said = error.to_string();
        assert!(said.starts_with("the readings give -9.90 ± "), "{said}");
        assert!(said.ends_with("which is less than 0"), "{said}");
    }
}
