//! Intervals of the difference of two layers: from interleaved rounds of the layers, or else from
//! the intervals of each run.
//!
//! Rounds are better: slow drift of the machine, such as warming up, affects both layers of a round
//! and cancels in the difference; and a run as a whole can be an outlier, which its own intervals
//! do not show. Intervals cost nothing and are always available.

use super::rows::OperationRow;
use crate::parts::kinds::measured;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::Phase;
use filestone_workload::operation::OpKind;
use filestone_workload::recording::sample::Role;
use filestone_workload::statistics::series::half_width;
use std::fmt;

/// Minimum number of rounds; fewer are less precise than the intervals of the runs.
const ROUNDS_MIN: usize = 3;

/// Batches of the runs whose means are compared: the runs themselves, or their intervals.
pub struct RunBatches<'record> {
    /// Runs of each layer.
    layers: Vec<Vec<&'record RunRecord>>,
    /// Whether the layers' runs with the same number ran in one round.
    are_rounds: bool,
}

/// Means of one quantity, in nanoseconds, by layer and batch.
#[derive(Debug)]
pub struct MeanSeries {
    means: Vec<Vec<f64>>,
    /// Whether batches with the same number were measured in the same round.
    is_paired: bool,
}

/// A difference, in microseconds.
#[derive(Debug, Clone, Copy)]
pub struct DifferenceEstimate {
    /// The difference.
    pub value: f64,
    /// Half-width of its 95 % interval; `None` if unknown.
    pub half_width: Option<f64>,
}

impl<'record> RunBatches<'record> {
    /// Creates the batches of the runs of each layer.
    pub fn of(layers: &[&[&'record RunRecord]]) -> Self {
        let count = layers.first().map_or(0, |runs| runs.len());
        let are_rounds = count >= ROUNDS_MIN && layers.iter().all(|runs| runs.len() == count);
        Self {
            layers: layers.iter().map(|runs| runs.to_vec()).collect(),
            are_rounds,
        }
    }

    /// Describes the source of the intervals, for readers of the table.
    pub fn text(&self) -> String {
        let of = if self.are_rounds {
            let rounds = self.layers.first().map_or(0, Vec::len);
            format!("of {rounds} rounds in turn")
        } else {
            "of each run's own intervals: a drift from one run to the next is not in them (name \
             the layers three times in turn for that)"
                .into()
        };
        format!(
            "\u{b1}: 95 % interval, {of}; ~: chance can explain the difference; ?: too few batches \
             to know, run longer"
        )
    }

    /// Returns the mean service time of a kind, batch by batch.
    pub fn of_kind(&self, kind: OpKind) -> MeanSeries {
        self.series(|batch| {
            batch
                .iter()
                .find(|(of, _)| *of == kind)
                .map(|(_, mean)| *mean)
        })
    }

    /// Returns the mean service time of an operation of a pass, over the kinds that all layers
    /// measured. A kind that is missing in a batch has the mean of the whole run there.
    pub(super) fn of_all(&self, rows: &[OperationRow]) -> MeanSeries {
        let common = || rows.iter().filter(|row| row.is_everywhere());
        let per_pass: f64 = common().map(|row| row.per_pass).sum();
        let of_layer = |(layer, runs): (usize, &Vec<&RunRecord>)| {
            let batches = self.batches(runs).into_iter();
            let means = batches.map(|batch| {
                let terms = common().map(|row| {
                    let here = batch.iter().find(|(of, _)| *of == row.kind);
                    let whole = row.times[layer].as_ref().map_or(0.0, |times| times.mean);
                    row.per_pass * here.map_or(whole, |(_, mean)| *mean)
                });
                terms.sum::<f64>() / per_pass.max(f64::MIN_POSITIVE)
            });
            means.collect()
        };
        MeanSeries {
            means: self.layers.iter().enumerate().map(of_layer).collect(),
            is_paired: self.are_rounds,
        }
    }

    /// Applies `mean` to the batches of each layer; a round is dropped if one layer lacks the
    /// value.
    fn series(&self, mean: impl Fn(&[(OpKind, f64)]) -> Option<f64>) -> MeanSeries {
        let of_layer = |runs: &Vec<&RunRecord>| {
            let batches = self.batches(runs);
            batches.iter().map(|batch| mean(batch)).collect()
        };
        let found: Vec<Vec<Option<f64>>> = self.layers.iter().map(of_layer).collect();
        let is_paired = self.are_rounds;
        let is_whole = |place: usize| !is_paired || found.iter().all(|of| of[place].is_some());
        let kept = |of: &Vec<Option<f64>>| {
            let places = of.iter().enumerate();
            let kept = places.filter(|(place, _)| is_whole(*place));
            kept.filter_map(|(_, mean)| *mean).collect()
        };
        MeanSeries {
            means: found.iter().map(kept).collect(),
            is_paired,
        }
    }

    /// Returns kinds and their mean service times in each non-empty batch of a layer.
    fn batches(&self, runs: &[&RunRecord]) -> Vec<Vec<(OpKind, f64)>> {
        let runs = runs.iter();
        if self.are_rounds {
            runs.map(|run| of_run(run)).collect()
        } else {
            runs.flat_map(|run| of_intervals(run)).collect()
        }
    }
}

fn of_run(run: &RunRecord) -> Vec<(OpKind, f64)> {
    measured(run)
        .filter(|kind| kind.service_time_ns.count > 0)
        .map(|kind| (kind.operation, kind.service_time_ns.mean))
        .collect()
}

fn of_intervals(run: &RunRecord) -> Vec<Vec<(OpKind, f64)>> {
    let intervals = run.intervals.iter();
    let in_window = intervals.filter(|interval| interval.phase == Phase::Measure);
    in_window
        .map(|interval| {
            let kinds = interval.kinds.iter();
            kinds
                .filter(|kind| kind.role == Role::Measured && kind.service_time_ns.count > 0)
                .map(|kind| (kind.operation, kind.service_time_ns.mean))
                .collect::<Vec<_>>()
        })
        .filter(|batch| !batch.is_empty())
        .collect()
}

impl MeanSeries {
    /// Returns half the 95 % interval of the weighted sum of all layers' means; `None` if there are
    /// too few batches.
    pub fn half_width(&self, weights: &[f64]) -> Option<f64> {
        let weighted = self.means.iter().zip(weights);
        let mut weighted = weighted.filter(|(_, weight)| **weight != 0.0);
        if self.is_paired {
            let rounds = self.means.iter().map(Vec::len).min()?;
            let sums: Vec<f64> = (0..rounds)
                .map(|round| {
                    let terms = weighted.clone();
                    terms.map(|(means, weight)| means[round] * weight).sum()
                })
                .collect();
            return half_width(&sums);
        }
        // Consecutive runs are independent: their variances add.
        let squares = weighted.try_fold(0.0, |sum, (means, weight)| {
            Some(sum + (half_width(means)? * weight).powi(2))
        });
        squares.map(f64::sqrt)
    }
}

impl DifferenceEstimate {
    /// Creates an estimate.
    pub const fn new(value: f64, half_width: Option<f64>) -> Self {
        Self { value, half_width }
    }

    /// Returns the reason why the difference is inconclusive.
    pub const fn doubt(&self) -> &'static str {
        match self.half_width {
            Some(_) => "chance can explain",
            None => "too few batches leave open",
        }
    }

    /// Whether zero is in the interval, or the interval is unknown.
    pub fn may_be_chance(&self) -> bool {
        self.half_width
            .is_none_or(|half| self.value.abs() <= half && half > 0.0)
    }
}

/// Formats with two digits of the interval, and the value to the same precision: `+5.30 ±0.43`, `~
/// +0.4 ±1.2`.
impl fmt::Display for DifferenceEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(half) = self.half_width else {
            return write!(f, "? {:+.1}", self.value);
        };
        let mark = if self.may_be_chance() { "~ " } else { "" };
        let digits = match half {
            _ if half >= 10.0 => 0,
            _ if half >= 1.0 => 1,
            _ => 2,
        };
        write!(f, "{mark}{:+.digits$} \u{b1}{half:.digits$}", self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(means: [&[f64]; 2], is_paired: bool) -> MeanSeries {
        MeanSeries {
            means: means.map(<[f64]>::to_vec).to_vec(),
            is_paired,
        }
    }

    const DIFFERENCE: [f64; 2] = [-1.0, 1.0];

    #[test]
    fn variances_of_runs_after_each_other_add() {
        // For five each, mean 3 and variance 10/4: 1.963 (series), and \u{221a}2 times that.
        let values = [1.0, 5.0, 2.0, 4.0, 3.0];
        let of = series([&values, &values], false);
        let half = of.half_width(&DIFFERENCE).expect("five batches");
        assert!((half - 1.963 * 2f64.sqrt()).abs() < 0.002, "{half}");
        // For one layer alone, the interval is its own.
        let alone = of.half_width(&[1.0, 0.0]).expect("five batches");
        assert!((alone - 1.963).abs() < 0.001, "{alone}");
    }

    #[test]
    fn a_drift_that_both_layers_have_is_in_no_difference() {
        // Both become slower by ten a round; the second is slower by 1, 5, 2, 4, 3.
        let (first, second) = (
            [10.0, 20.0, 30.0, 40.0, 50.0],
            [11.0, 25.0, 32.0, 44.0, 53.0],
        );
        let in_turn = series([&first, &second], true).half_width(&DIFFERENCE);
        let half = in_turn.expect("five rounds");
        assert!((half - 1.963).abs() < 0.001, "{half}");
        let apart = series([&first, &second], false).half_width(&DIFFERENCE);
        assert!(apart.is_some_and(|apart| apart > 10.0 * half), "{apart:?}");
    }

    #[test]
    fn one_batch_tells_nothing_of_chance() {
        let of = series([&[1.0], &[2.0, 3.0]], false);
        assert_eq!(of.half_width(&DIFFERENCE), None);
        assert!(DifferenceEstimate::new(5.0, None).may_be_chance());
    }

    #[test]
    fn a_difference_has_the_digits_that_its_interval_supports() {
        for (value, half, text) in [
            (5.304, Some(0.43), "+5.30 \u{b1}0.43"),
            (-14.63, Some(2.08), "-14.6 \u{b1}2.1"),
            (123.4, Some(31.0), "+123 \u{b1}31"),
            (0.42, Some(1.2), "~ +0.4 \u{b1}1.2"),
            (-66.0, Some(80.0), "~ -66 \u{b1}80"),
            (7.0, None, "? +7.0"),
        ] {
            assert_eq!(DifferenceEstimate::new(value, half).to_string(), text);
        }
    }
}
