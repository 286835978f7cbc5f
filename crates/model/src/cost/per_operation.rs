//! What each operation adds to a counter.
//!
//! From each reading to the next the counter had a rate, and operations were completed at a rate. The
//! line through these points has the cost of an operation as its slope; what the host does anyway is
//! its intercept and costs no operation anything. Points count as their length, since what is counted
//! by chance has a variance in proportion to it.

use super::advance::{NoAdvance, between};
use super::reading::CounterReading;
use crate::statistics::regression::{FittedLine, FittedPoint, NoLine, fit};

/// Why there is no figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoCost {
    /// The readings do not tell.
    #[error(transparent)]
    Advance(#[from] NoAdvance),
    /// They tell too little.
    #[error(transparent)]
    Line(#[from] NoLine),
}

/// What operations cost by these readings: slope for each operation, intercept per second. For
/// `slack` see [`between`].
pub fn of_readings(
    readings: &[CounterReading],
    of: impl Fn(&CounterReading) -> Option<u64>,
    slack: u64,
) -> Result<FittedLine, NoCost> {
    Ok(fit(&points(readings, of, slack)?)?)
}

/// A point for each pair of readings one after the other in one part of a run, rates in seconds.
/// Those of several runs may be put together.
pub fn points(
    readings: &[CounterReading],
    of: impl Fn(&CounterReading) -> Option<u64>,
    slack: u64,
) -> Result<Vec<FittedPoint>, NoAdvance> {
    let pairs = readings.iter().zip(readings.iter().skip(1));
    let apart = pairs.filter(|(before, after)| {
        after.phase == before.phase && after.moment_ns > before.moment_ns
    });
    apart
        .map(|(before, after)| {
            let seconds = after.moment_ns.abs_diff(before.moment_ns) as f64 / 1e9;
            Ok(FittedPoint {
                x: (after.completed - before.completed) / seconds,
                y: between(before, after, &of, slack)? as f64 / seconds,
                weight: seconds,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::{Counter, ReadingPhase};

    /// A reading at a second, when so many operations were completed and so much was counted.
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
            counters: [(Counter::ContextSwitches, count)].into(),
            ..CounterReading::default()
        }
    }

    fn switches(reading: &CounterReading) -> Option<u64> {
        reading.count(Counter::ContextSwitches)
    }

    /// 100 switches a second are there anyway, and each operation adds two: two seconds of idling, a
    /// warm-up of which nothing is known, a second of 1,000 operations and two of 500 each.
    #[test]
    fn what_is_there_anyway_costs_no_operation_anything() {
        let readings = [
            reading(-5, 0.0, 0),
            reading(-3, 0.0, 200),
            reading(0, 0.0, 777_777),
            reading(1, 1000.0, 779_877),
            reading(3, 2000.0, 782_077),
        ];
        let line = of_readings(&readings, switches, 0).unwrap();
        assert!((line.slope.value - 2.0).abs() < 1e-9, "{line:?}");
        assert!((line.intercept.value - 100.0).abs() < 1e-6, "{line:?}");
        assert!(line.slope.half_width() < 1e-6, "{line:?}");
    }

    #[test]
    fn what_the_readings_do_not_tell_is_no_figure() {
        let two = [reading(0, 0.0, 0), reading(1, 1.0, 1)];
        let few = NoCost::Line(NoLine::FewPoints { count: 1 });
        assert_eq!(of_readings(&two, switches, 0), Err(few));
        let back = [reading(0, 0.0, 9), reading(1, 1.0, 1)];
        let back = of_readings(&back, switches, 0).unwrap_err();
        assert_eq!(back.to_string(), "it went from 9 back to 1");
        // Two readings of one moment are no point.
        let same = [reading(0, 0.0, 0), reading(0, 0.0, 0)];
        assert_eq!(points(&same, switches, 0), Ok(vec![]));
    }
}
