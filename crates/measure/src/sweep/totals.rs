//! Figures of whole runs, over the runs of a point: not figures of operations, but the CPU use of
//! the load generator, or counters of other hosts. To add one, add a line to [`TOTALS`].

use crate::comparison::ComparedRun;
use crate::comparison::repeats::ENOUGH_MIN;
use crate::cost::CostEstimate;
use crate::measure::cost_totals;
use filestone_plan::gate::RunTotal;
use filestone_workload::statistics::Estimate;
use filestone_workload::statistics::estimate::student_quantile;

/// Figures of points, if their runs have them.
pub const TOTALS: [RunTotal; 10] = [
    RunTotal::GeneratorBusy,
    RunTotal::WireBytes,
    RunTotal::WirePackets,
    RunTotal::ReplyPackets,
    RunTotal::ModelReplyPackets,
    RunTotal::WireRate,
    RunTotal::ServerCpu,
    RunTotal::ServerBusy,
    RunTotal::ServerSwitches,
    RunTotal::ServerInterrupts,
];

/// Returns the value of a figure in a run, if the run has one.
pub(super) fn in_run(total: RunTotal, run: &ComparedRun) -> Option<CostEstimate> {
    if total == RunTotal::GeneratorBusy {
        let workers = run.totals.workers.iter().map(|worker| worker.busy_percent);
        let busiest = workers.max_by(f64::total_cmp)?;
        return Some(CostEstimate {
            value: busiest / 100.0,
            half_width: 0.0,
        });
    }
    let achieved = run.totals.achieved_load_ops_per_s;
    cost_totals::of(run.cost.as_ref()?, achieved, total)
}

/// A figure of whole runs, over the runs of a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointTotal {
    /// The figure.
    pub total: RunTotal,
    /// Mean of the runs, not geometric, since it can be 0 or negative.
    pub value: f64,
    /// Ends of its 95 % interval: over several runs, or as estimated by a single run, if available.
    pub interval: Option<(f64, f64)>,
    /// Number of runs that have it.
    pub runs: usize,
}

impl PointTotal {
    /// Combines the values of these runs; `None` without any.
    pub(super) fn of(total: RunTotal, runs: &[CostEstimate]) -> Option<Self> {
        let over_runs = estimate(runs)?;
        let half_width = over_runs.half_width();
        let (value, count) = (over_runs.value, runs.len());
        // A single run without an error estimate has no interval.
        let is_known = count > 1 || half_width > 0.0;
        Some(Self {
            total,
            value,
            interval: is_known.then_some((value - half_width, value + half_width)),
            runs: count,
        })
    }

    /// Returns half of its interval.
    pub fn half_width(&self) -> Option<f64> {
        self.interval.map(|(_, high)| high - self.value)
    }

    /// Returns whether the interval is within ± this share of the value.
    pub(super) fn is_known_within(&self, share: f64) -> bool {
        let half_width = self.half_width().filter(|_| self.runs >= ENOUGH_MIN);
        half_width.is_some_and(|half_width| half_width <= share * self.value.abs())
    }

    /// Returns the expected number of runs until the interval is within `share`, at most `most`.
    pub(super) fn runs_until(&self, share: f64, most: u32) -> u32 {
        let count = self.runs as u32;
        let least = (ENOUGH_MIN as u32).max(count);
        let Some(half_width) = self.half_width().filter(|_| count > 1) else {
            return least.min(most);
        };
        let quantile = |runs: u32| student_quantile(0.975, f64::from(runs) - 1.0);
        let deviation = half_width / quantile(count) * f64::from(count).sqrt();
        let wanted = share * self.value.abs();
        let is_enough =
            |runs: &u32| quantile(*runs) * deviation / f64::from(*runs).sqrt() <= wanted;
        (least..most).find(is_enough).unwrap_or(most)
    }
}

/// Returns the mean of runs with its error; for one run its own estimate. `None` without runs.
pub(super) fn estimate(runs: &[CostEstimate]) -> Option<Estimate> {
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    let first = runs.first()?;
    let of_itself = Estimate {
        value: first.value,
        standard_error: first.half_width / student_quantile(0.975, f64::INFINITY),
        freedom: f64::INFINITY,
    };
    Some(Estimate::of_independent(&values).unwrap_or(of_itself))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(runs: &[(f64, f64)]) -> Option<PointTotal> {
        let runs = runs.iter().map(|(value, half_width)| CostEstimate {
            value: *value,
            half_width: *half_width,
        });
        PointTotal::of(TOTALS[0], &runs.collect::<Vec<_>>())
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
