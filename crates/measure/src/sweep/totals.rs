//! Figures of whole runs, over the runs of a point.

use crate::figure::{AveragedFigure, FigureSample};
use filestone_plan::gate::{GateFigure, RunTotal};
use filestone_workload::statistics::Estimate;
use filestone_workload::statistics::estimate::student_quantile;

/// Returns a figure over the runs of a point; `None` without any.
pub(super) fn over_runs(total: RunTotal, runs: &[FigureSample]) -> Option<AveragedFigure> {
    let mean = estimate(runs)?;
    let half_width = mean.half_width();
    // A single run without an error estimate has no interval.
    let is_known = runs.len() > 1 || half_width > 0.0;
    let half_width = is_known.then_some(half_width);
    let name = GateFigure::OfRun(total);
    Some(AveragedFigure::around(
        name,
        mean.value,
        half_width,
        runs.len(),
    ))
}

/// Returns the mean of runs with its error; for one run its own estimate. `None` without runs.
pub(super) fn estimate(runs: &[FigureSample]) -> Option<Estimate> {
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    let first = runs.first()?;
    let of_itself = Estimate {
        value: first.value,
        standard_error: first.half_width.unwrap_or(0.0) / student_quantile(0.975, f64::INFINITY),
        freedom: f64::INFINITY,
    };
    Some(Estimate::of_independent(&values).unwrap_or(of_itself))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::TOTALS;

    fn of(runs: &[(f64, f64)]) -> Option<AveragedFigure> {
        let runs = runs.iter().map(|(value, half_width)| FigureSample {
            value: *value,
            half_width: Some(*half_width),
        });
        over_runs(TOTALS[0], &runs.collect::<Vec<_>>())
    }

    #[test]
    fn several_runs_have_their_mean_and_one_has_what_it_knows() {
        assert_eq!(of(&[]), None);
        let one = of(&[(0.5, 0.1)]).expect("one");
        let (low, high) = one.interval.expect("it knows itself");
        assert!((one.value, one.runs) == (0.5, 1), "{one:?}");
        assert!(
            (low - 0.4).abs() < 1e-6 && (high - 0.6).abs() < 1e-6,
            "{one:?}"
        );
        assert_eq!(of(&[(0.5, 0.0)]).expect("one").interval, None);
        // Of −1 and 1 the mean is 0, its error 1, and t of one degree 12.706.
        let two = of(&[(-1.0, 0.1), (1.0, 0.0)]).expect("two");
        let (low, high) = two.interval.expect("of two");
        assert!(
            two.value == 0.0 && (high - 12.706).abs() < 1e-3 && low == -high,
            "{two:?}"
        );
    }

    #[test]
    fn runs_are_enough_when_their_mean_is_known_within_a_share() {
        // Mean 100, deviation √10: with five runs ± 2.776445·√2 = 3.93; with 12 ± 2.200985·√(10/12) = 2.01,
        // and with 13 ± 2.178813·√(10/13) = 1.91.
        let five = of(&[96.0, 98.0, 100.0, 102.0, 104.0].map(|value| (value, 0.0))).expect("five");
        assert!(
            five.is_known_within(0.04) && !five.is_known_within(0.039),
            "{five:?}"
        );
        assert_eq!(five.runs_until(0.02, 50), 13);
        assert_eq!(five.runs_until(0.02, 9), 9);
        let one = of(&[(100.0, 0.1)]).expect("one");
        assert!(!one.is_known_within(0.5));
        assert_eq!(one.runs_until(0.02, 50), 5);
    }

    #[test]
    fn columns_are_those_that_gates_know() {
        for total in TOTALS {
            assert!(total.is_cost() || total == RunTotal::GeneratorBusy);
        }
        assert!(!TOTALS.contains(&RunTotal::Caveats));
    }
}
