//! Accuracy of a figure, estimated from the run that measured it.
//!
//! The batches are the record's intervals of full length in the measured window. Means and rates
//! use batch means ([`series`]), percentiles the method of Woodruff ([`quantile_interval`]).

use crate::measure::run_record::{
    IntervalKindRecord, IntervalRecord, KindRecord, Phase, RunRecord, Totals,
};
use filestone_plan::plan::TICK_NANOS;
use filestone_workload::figure::{Quantity, RunFigure, Statistic, TimeKind};
use filestone_workload::operation::OpKind;
use filestone_workload::recording::distribution::DistributionRecord;
use filestone_workload::recording::quantile_interval;
use filestone_workload::recording::sample::Role;
use filestone_workload::statistics::estimate::student_quantile;
use filestone_workload::statistics::series::{self, BatchSum};
use filestone_workload::statistics::{CONFIDENCE, Estimate};
use std::fmt;

/// Minimum number of batches for an interval; with fewer, correlation between them could not be
/// detected.
pub const STRETCHES_MIN: usize = 10;

const BATCH_MEANS: &str = "batch-means";
const WOODRUFF: &str = "woodruff";

/// Accuracy of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FigureEstimate {
    /// The figure with its standard error; that of a percentile is chosen so that the interval of
    /// its logarithm is as wide as the percentile's interval.
    pub estimate: Estimate,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// Number of batches.
    pub stretches: usize,
    /// Method of the interval.
    pub method: &'static str,
}

/// Reason why a figure has no interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalUnavailable {
    /// Several loads were offered.
    Steered,
    /// There were no such operations.
    NoOperations,
    /// The run was too short, or its intervals too long.
    FewStretches {
        /// Number of batches.
        stretches: usize,
    },
    /// No event was observed, so that the batches give no bound of their number.
    NoSamples,
    /// The interval of a percentile exceeds the slowest operation, so that only a lower end is
    /// known.
    TooFewAbove {
        /// Lower end of the interval.
        low: u64,
    },
    /// The distribution beyond the maximum is unknown from one run.
    Extreme,
    /// The record's intervals lack the required figures.
    NotRecorded,
}

impl fmt::Display for IntervalUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FewStretches { stretches } => {
                return write!(
                    f,
                    "the measured window has {stretches} whole intervals, and {STRETCHES_MIN} are \
                     needed"
                );
            }
            Self::Steered => "several loads were offered",
            Self::NoOperations => "no operation ended",
            Self::NoSamples => "it did not occur",
            Self::TooFewAbove { .. } => "too few operations exceed it",
            Self::Extreme => "it is an extreme value",
            Self::NotRecorded => "the record lacks the intervals for it",
        })
    }
}

impl FigureEstimate {
    /// Returns the larger of the distances from the figure to the ends of the interval.
    pub fn half_width(&self) -> f64 {
        let value = self.estimate.value;
        (self.high - value).max(value - self.low)
    }
}

/// A run divided into batches, for batch-means intervals.
#[derive(Debug)]
pub struct BatchMeans<'record> {
    totals: &'record Totals,
    window_ns: u64,
    is_steered: bool,
    parts: Vec<&'record IntervalRecord>,
}

impl<'record> BatchMeans<'record> {
    /// Creates the batches of a record.
    pub fn of(record: &'record RunRecord) -> Self {
        let parts = &record.intervals;
        let stretches = Self::of_parts(&record.totals, parts, record.plan.interval_ns);
        Self {
            is_steered: record.plan.steering.is_some(),
            ..stretches.in_window(record.window_ns)
        }
    }

    /// Returns the batches with a window of this length.
    pub const fn in_window(mut self, window_ns: u64) -> Self {
        self.window_ns = window_ns;
        self
    }

    /// Creates the batches from intervals of this length, with a window that ends with the last of
    /// them.
    pub fn of_parts(
        totals: &'record Totals,
        intervals: &'record [IntervalRecord],
        interval_ns: u64,
    ) -> Self {
        let is_whole = |interval: &&IntervalRecord| {
            let length = interval.end_ns.saturating_sub(interval.start_ns);
            interval.phase == Phase::Measure && length >= interval_ns.max(TICK_NANOS)
        };
        let in_window = intervals.iter();
        let in_window = in_window.filter(|interval| interval.phase == Phase::Measure);
        Self {
            totals,
            window_ns: in_window.map(|interval| interval.end_ns).max().unwrap_or(0),
            is_steered: false,
            parts: intervals.iter().filter(is_whole).collect(),
        }
    }

    /// Returns the totals of the run.
    pub const fn totals(&self) -> &'record Totals {
        self.totals
    }

    /// Returns the value of the figure; `None` if there were no such operations.
    pub fn value(&self, figure: &RunFigure) -> Option<f64> {
        let kind = match figure.operation {
            None => None,
            Some(operation) => Some(self.kind(operation)?),
        };
        let ledger = kind.map_or(&self.totals.ledger, |kind| &kind.ledger);
        let per_second = |count: u64| count as f64 * 1e9 / self.window_ns.max(1) as f64;
        let totals = self.totals;
        match figure.quantity {
            _ if ledger.ended() == 0 => None,
            Quantity::Achieved => {
                let of_kind = kind.map(|kind| per_second(kind.ledger.ok));
                Some(of_kind.unwrap_or(totals.achieved_load_ops_per_s))
            }
            Quantity::Goodput => {
                let of_kind = kind.map(|kind| per_second(kind.data_bytes));
                Some(of_kind.unwrap_or(totals.goodput_bytes_per_s)).filter(|rate| *rate > 0.0)
            }
            Quantity::Errors => {
                let errors = kind.map(|kind| kind.ledger.unexpected());
                Some(errors.unwrap_or_else(|| totals.errors()) as f64)
            }
            Quantity::CpuPerOperation => {
                (totals.client_cpu_ns > 0 && kind.is_none()).then_some(totals.client_cpu_ns_per_op)
            }
            Quantity::Time(timed, statistic) => {
                let times = self.totals.times(figure.operation, timed)?;
                (times.count > 0).then(|| time(times, statistic))
            }
        }
    }

    /// Returns the accuracy of the figure, or why it is unknown.
    pub fn accuracy(&self, figure: &RunFigure) -> Result<FigureEstimate, IntervalUnavailable> {
        if self.is_steered {
            return Err(IntervalUnavailable::Steered);
        }
        let value = self
            .value(figure)
            .ok_or(IntervalUnavailable::NoOperations)?;
        if let Quantity::Time(_, Statistic::Max) = figure.quantity {
            return Err(IntervalUnavailable::Extreme);
        }
        if self.parts.len() < STRETCHES_MIN {
            return Err(IntervalUnavailable::FewStretches {
                stretches: self.parts.len(),
            });
        }
        match figure.quantity {
            Quantity::Achieved => self.rate(figure, value, |kind| kind.ledger.ok),
            Quantity::Goodput => self.rate(figure, value, |kind| kind.data_bytes),
            Quantity::Errors => self.count(figure, value),
            Quantity::CpuPerOperation => {
                let part = |part: &&IntervalRecord| BatchSum {
                    sum: part.client_cpu_ns as f64,
                    count: part
                        .kinds
                        .iter()
                        .map(|kind| kind.ledger.ended())
                        .sum::<u64>() as f64,
                };
                ratio(value, self.parts.iter().map(part))
            }
            Quantity::Time(timed, statistic) => match statistic.quantile() {
                Some(quantile) => self.percentile(figure.operation, timed, quantile),
                None => {
                    let part = |part: &&IntervalRecord| {
                        let times = kinds_of(part, figure.operation).map(|kind| of(kind, timed));
                        times.fold(BatchSum::default(), |sums, times| BatchSum {
                            sum: sums.sum + times.sum as f64,
                            count: sums.count + times.count as f64,
                        })
                    };
                    ratio(value, self.parts.iter().map(part))
                }
            },
        }
    }

    /// Estimates a rate from the counts of the batches.
    fn rate(
        &self,
        figure: &RunFigure,
        value: f64,
        of_kind: impl Fn(&IntervalKindRecord) -> u64,
    ) -> Result<FigureEstimate, IntervalUnavailable> {
        let rates = self.parts.iter().map(|part| {
            let count: u64 = kinds_of(part, figure.operation).map(&of_kind).sum();
            let length = part.end_ns.saturating_sub(part.start_ns).max(1);
            count as f64 * 1e9 / length as f64
        });
        let rates: Vec<f64> = rates.collect();
        if rates.iter().all(|rate| *rate == 0.0) {
            return Err(IntervalUnavailable::NotRecorded);
        }
        let mean = series::of_means(&rates).ok_or(IntervalUnavailable::NotRecorded)?;
        Ok(around(Estimate { value, ..mean }, rates.len()))
    }

    /// Estimates the number of errors: the mean per batch times the length of the run in batches.
    fn count(&self, figure: &RunFigure, value: f64) -> Result<FigureEstimate, IntervalUnavailable> {
        let counts = self.parts.iter().map(|part| {
            let kinds = part.kinds.iter();
            // Errors of all operations include those of unmeasured operations.
            let counted = kinds.filter(|kind| match figure.operation {
                Some(operation) => kind.role == Role::Measured && kind.operation == operation,
                None => true,
            });
            counted.map(|kind| kind.ledger.unexpected()).sum::<u64>() as f64
        });
        let counts: Vec<f64> = counts.collect();
        let mean = series::of_means(&counts).ok_or(IntervalUnavailable::NotRecorded)?;
        if mean.value <= 0.0 {
            return Err(IntervalUnavailable::NoSamples);
        }
        let standard_error = mean.standard_error * value / mean.value;
        let estimate = Estimate {
            value,
            standard_error,
            ..mean
        };
        Ok(around(estimate, counts.len()))
    }

    fn percentile(
        &self,
        operation: Option<OpKind>,
        timed: TimeKind,
        quantile: f64,
    ) -> Result<FigureEstimate, IntervalUnavailable> {
        let all = self
            .totals
            .times(operation, timed)
            .ok_or(IntervalUnavailable::NoOperations)?;
        let stretches = self.parts.iter().map(|part| {
            let times = kinds_of(part, operation).map(|kind| of(kind, timed));
            times.collect::<Vec<_>>()
        });
        let stretches: Vec<Vec<&DistributionRecord>> = stretches.collect();
        let found = quantile_interval::interval(all, &stretches, quantile);
        let found = found.ok_or(IntervalUnavailable::NotRecorded)?;
        let few_beyond = IntervalUnavailable::TooFewAbove { low: found.low };
        let high = found.high.ok_or(few_beyond)? as f64;
        let (value, low) = (found.value as f64, found.low as f64);
        let width = high.max(1.0).ln() - low.max(1.0).ln();
        let student = student_quantile(0.5 + CONFIDENCE / 2.0, found.share.freedom);
        Ok(FigureEstimate {
            estimate: Estimate {
                value,
                standard_error: value * width / (2.0 * student),
                freedom: found.share.freedom,
            },
            low,
            high,
            stretches: stretches.len(),
            method: WOODRUFF,
        })
    }

    fn kind(&self, operation: OpKind) -> Option<&'record KindRecord> {
        let mut kinds = self.totals.kinds.iter();
        kinds.find(|kind| kind.role == Role::Measured && kind.operation == operation)
    }
}

/// Returns the measured kinds of a batch that a figure is about.
fn kinds_of(
    part: &IntervalRecord,
    operation: Option<OpKind>,
) -> impl Iterator<Item = &IntervalKindRecord> {
    let measured = part.kinds.iter().filter(|kind| kind.role == Role::Measured);
    measured.filter(move |kind| operation.is_none_or(|operation| kind.operation == operation))
}

const fn of(kind: &IntervalKindRecord, timed: TimeKind) -> &DistributionRecord {
    match timed {
        TimeKind::Response => &kind.response_time_ns,
        TimeKind::Service => &kind.service_time_ns,
    }
}

pub(crate) const fn time(times: &DistributionRecord, statistic: Statistic) -> f64 {
    match statistic {
        Statistic::Mean => times.mean,
        Statistic::P50 => times.p50 as f64,
        Statistic::P90 => times.p90 as f64,
        Statistic::P99 => times.p99 as f64,
        Statistic::P999 => times.p99_9 as f64,
        Statistic::Max => times.max as f64,
    }
}

/// Estimates a mean over all operations of these batches. Times are skewed and never negative, so
/// their interval is symmetric on a logarithmic scale.
fn ratio(
    value: f64,
    parts: impl Iterator<Item = BatchSum>,
) -> Result<FigureEstimate, IntervalUnavailable> {
    let parts: Vec<BatchSum> = parts.collect();
    let skewed = series::of_skewed_ratio(&parts).ok_or(IntervalUnavailable::NotRecorded)?;
    let estimate = Estimate {
        value,
        freedom: skewed.freedom,
        ..skewed.mean
    };
    let logarithm = estimate
        .logarithm()
        .ok_or(IntervalUnavailable::NotRecorded)?;
    let factor = logarithm.half_width().exp();
    Ok(FigureEstimate {
        low: value / factor,
        high: (value * factor).max(value + skewed.above),
        ..around(estimate, parts.len())
    })
}

/// Returns the symmetric interval around the figure, cut off at 0.
fn around(estimate: Estimate, stretches: usize) -> FigureEstimate {
    let half = estimate.half_width();
    FigureEstimate {
        estimate,
        low: (estimate.value - half).max(0.0),
        high: estimate.value + half,
        stretches,
        method: BATCH_MEANS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_workload::recording::Distribution;
    use filestone_workload::recording::ledger::Ledger;

    const SECOND: u64 = 1_000_000_000;

    /// Returns a second with `count` READs with a mean of 100 µs, and one error.
    fn stretch(place: u64, count: u64) -> IntervalRecord {
        let mut times = Distribution::<u64>::new();
        (0..count).for_each(|index| times.record(50_000 + 100_000 * (index % 2)));
        let ledger = Ledger {
            scheduled: count,
            ok: count - 1,
            failed: 1,
            ..Ledger::default()
        };
        IntervalRecord {
            start_ns: place * SECOND,
            end_ns: (place + 1) * SECOND,
            phase: Phase::Measure,
            settings: None,
            ledger,
            bytes_sent: 0,
            bytes_received: 0,
            client_cpu_ns: 5000 * count,
            kinds: vec![IntervalKindRecord {
                operation: OpKind::Read,
                role: Role::Measured,
                ledger,
                data_bytes: 4096 * (count - 1),
                response_time_ns: times.to_record(),
                service_time_ns: times.to_record(),
            }],
        }
    }

    fn totals(parts: &[IntervalRecord]) -> Totals {
        let kinds = || parts.iter().flat_map(|part| &part.kinds);
        let mut ledger = Ledger::default();
        kinds().for_each(|kind| ledger.add(&kind.ledger));
        let times: Vec<_> = kinds().map(|kind| &kind.response_time_ns).collect();
        let times = DistributionRecord::merged(&times).expect("our own");
        let seconds = parts.len() as f64;
        let data_bytes: u64 = kinds().map(|kind| kind.data_bytes).sum();
        Totals {
            ledger,
            achieved_load_ops_per_s: ledger.ok as f64 / seconds,
            goodput_bytes_per_s: data_bytes as f64 / seconds,
            response_time_ns: times.clone(),
            service_time_ns: times.clone(),
            client_cpu_ns: parts.iter().map(|part| part.client_cpu_ns).sum(),
            client_cpu_ns_per_op: 5000.0,
            kinds: vec![KindRecord {
                operation: OpKind::Read,
                role: Role::Measured,
                ledger,
                response_time_ns: times.clone(),
                service_time_ns: times,
                failed_time_ns: DistributionRecord::default(),
                failed_service_sum_ns: 0,
                calls: 0,
                retransmissions: 0,
                bytes_sent: 0,
                bytes_received: 0,
                data_bytes,
                failures: vec![],
            }],
            ..Totals::default()
        }
    }

    fn known(parts: &[IntervalRecord], name: &str) -> Result<FigureEstimate, IntervalUnavailable> {
        let totals = totals(parts);
        let run = BatchMeans::of_parts(&totals, parts, SECOND);
        run.accuracy(&name.parse().expect("a figure"))
    }

    #[test]
    fn every_figure_has_its_interval_or_a_reason() {
        // 401 and 601 in turn, so that neighbours differ: the mean of ten is 501, its standard
        // error √(10·100²/9)/√10 = 33.3, and Student's quantile 2.262.
        let counts = [401, 601].into_iter().cycle().take(10);
        let parts: Vec<IntervalRecord> = (0..)
            .zip(counts)
            .map(|(place, n)| stretch(place, n))
            .collect();
        let achieved = known(&parts, "achieved").expect("ten stretches");
        assert_eq!((achieved.estimate.value, achieved.stretches), (500.0, 10));
        assert!((achieved.half_width() - 75.4).abs() < 0.1, "{achieved:?}");
        let of_kind = known(&parts, "read.achieved").expect("ten stretches");
        assert_eq!(of_kind, achieved);
        let goodput = known(&parts, "goodput").expect("ten stretches");
        let per_operation = goodput.half_width() / achieved.half_width();
        assert!((per_operation - 4096.0).abs() < 1e-6);
        let cpu = known(&parts, "cpu_per_operation").expect("ten stretches");
        assert_eq!((cpu.low, cpu.high), (5000.0, 5000.0));
        let errors = known(&parts, "errors").expect("one each");
        assert_eq!(
            (errors.low, errors.estimate.value, errors.high),
            (10.0, 10.0, 10.0)
        );
        for name in [
            "response_time.mean",
            "read.service_time.p50",
            "response_time.p90",
        ] {
            let found = known(&parts, name).expect("ten stretches");
            let value = found.estimate.value;
            assert!(
                found.low <= value && value <= found.high,
                "{name}: {found:?}"
            );
        }
        for (name, reason) in [
            ("response_time.max", IntervalUnavailable::Extreme),
            ("write.achieved", IntervalUnavailable::NoOperations),
        ] {
            assert_eq!(known(&parts, name), Err(reason), "{name}");
        }
        let few = IntervalUnavailable::FewStretches { stretches: 9 };
        assert_eq!(known(&parts[..9], "achieved"), Err(few));
    }

    #[test]
    fn parts_of_a_stretch_and_the_drain_are_left_out() {
        let mut parts: Vec<IntervalRecord> = (0..12).map(|place| stretch(place, 100)).collect();
        parts[10].end_ns -= SECOND / 2;
        parts[11].phase = Phase::Drain;
        let achieved = known(&parts, "achieved").expect("ten stretches");
        assert_eq!(achieved.stretches, 10);
    }
}
