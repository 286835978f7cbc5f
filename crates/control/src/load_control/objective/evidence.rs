//! Evidence of intervals about an objective, and the selection of usable intervals.

use super::law::ResponseModel;
use super::line::FitPoint;
use filestone_measure::measure::curve_record::SearchStepRecord;
use filestone_measure::measure::run_record::IntervalRecord;
use filestone_measure::measure::verdict::has_kept_up;
use filestone_plan::plan::{Figure, Objective};
use filestone_workload::recording::distribution::HIGHEST_NANOS;
use filestone_workload::recording::sample::Role;
use hdrhistogram::Histogram;

/// Numbers of one interval.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct IntervalEvidence {
    pub start_ns: u64,
    pub end_ns: u64,
    /// Operations with a response time.
    pub ended: u64,
    /// Operations that took longer than the bound.
    pub above: u64,
    /// Sum of their response times.
    pub sum_ns: u64,
    /// Longest response time.
    pub max_ns: u64,
    /// Operations that succeeded.
    pub ok: u64,
    /// Operations that began and did not end here, less those that ended and began earlier.
    pub begun_more: i64,
}

impl IntervalEvidence {
    pub(super) fn seconds(&self) -> f64 {
        self.end_ns.saturating_sub(self.start_ns) as f64 / 1e9
    }

    pub(super) fn mean_ns(&self) -> f64 {
        self.sum_ns as f64 / self.ended.max(1) as f64
    }

    /// Returns the figure relative to the bound: 1 where the objective is just met. For a quantile
    /// it is the odds of a response above the bound over the permitted odds.
    pub(super) fn excess(&self, law: ResponseModel, objective: &Objective) -> f64 {
        let ended = self.ended.max(1) as f64;
        match law {
            ResponseModel::Share { target } => {
                let above = self.above as f64;
                above * (1.0 - target) / ((ended - above).max(0.5) * target)
            }
            ResponseModel::Mean => self.mean_ns() / objective.below_ns as f64,
        }
    }

    /// Returns whether this interval still worked off the backlog of an earlier load.
    pub(super) fn is_draining(&self) -> bool {
        self.begun_more < 0 && self.begun_more.unsigned_abs() > self.ended / 10 + 20
    }

    fn add(&mut self, other: &Self) {
        self.end_ns = other.end_ns;
        self.ended += other.ended;
        self.above += other.above;
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.ok += other.ok;
    }
}

/// Returns the response times of an interval's measured operations, and their counts.
///
/// A histogram that cannot be decoded counts as empty.
pub(super) fn read(
    interval: &IntervalRecord,
    objective: &Objective,
) -> (IntervalEvidence, Vec<(u64, u64)>) {
    let mut reading = IntervalEvidence {
        start_ns: interval.start_ns,
        end_ns: interval.end_ns,
        ok: interval.ledger.ok,
        ..IntervalEvidence::default()
    };
    let begun = interval.ledger.scheduled as i64 - interval.ledger.skipped as i64;
    reading.begun_more = begun - interval.ledger.ended() as i64;
    let mut steps = Vec::new();
    let measured = interval.kinds.iter();
    for kind in measured.filter(|kind| kind.role == Role::Measured) {
        let times = &kind.response_time_ns;
        let Ok(histogram) = times.decode() else {
            continue;
        };
        reading.ended += times.count;
        reading.max_ns = reading.max_ns.max(times.max);
        reading.sum_ns = reading.sum_ns.saturating_add(times.sum);
        for step in histogram.iter_recorded() {
            let value = step.value_iterated_to();
            let count = step.count_at_value();
            if histogram.median_equivalent(value) >= objective.below_ns {
                reading.above += count;
            }
            steps.push((value, count));
        }
    }
    (reading, steps)
}

/// Consecutive intervals at one load.
#[derive(Debug, Clone)]
pub(super) struct Dwell {
    pub load: f64,
    pub readings: Vec<IntervalEvidence>,
    pub total: IntervalEvidence,
    histogram: Histogram<u64>,
}

impl Dwell {
    pub(super) fn new(load: f64) -> Self {
        Self {
            load,
            readings: Vec::new(),
            total: IntervalEvidence::default(),
            histogram: Histogram::new_with_bounds(1, HIGHEST_NANOS, 3)
                .expect("1 ns to ten minutes with three digits is a valid histogram"),
        }
    }

    pub(super) fn take(&mut self, reading: IntervalEvidence, steps: &[(u64, u64)]) {
        if self.readings.is_empty() {
            self.total.start_ns = reading.start_ns;
        }
        self.total.add(&reading);
        self.readings.push(reading);
        for (value, count) in steps {
            self.histogram.saturating_record_n(*value, *count);
        }
    }

    pub(super) fn seconds(&self) -> f64 {
        self.readings.iter().map(IntervalEvidence::seconds).sum()
    }

    pub(super) fn achieved(&self) -> f64 {
        let seconds = self.seconds();
        if seconds > 0.0 {
            self.total.ok as f64 / seconds
        } else {
            0.0
        }
    }

    /// Returns whether the achieved load was at least 98 % of the offered load, within the scatter
    /// of Poisson arrivals: the root of their number.
    pub(super) fn kept_up(&self) -> bool {
        let offered = self.load * self.seconds();
        has_kept_up(self.total.ok as f64, offered)
    }

    /// Returns the distance of the objective from being just met, as in [`IntervalEvidence::excess`].
    pub(super) fn excess(&self, law: ResponseModel, objective: &Objective) -> f64 {
        self.total.excess(law, objective)
    }

    /// Returns whether the objective failed here by more than chance.
    pub(super) fn clearly_fails(&self, law: ResponseModel, objective: &Objective) -> bool {
        let ended = self.total.ended as f64;
        let by_chance = match law {
            ResponseModel::Share { target } => 4.0 / (ended * target).sqrt().max(0.1),
            ResponseModel::Mean => 4.0 / ended.sqrt().max(1.0),
        };
        !self.kept_up() || self.excess(law, objective) > 1.0 + by_chance
    }

    /// Returns whether this dwell left more in the server than one interval works off: the server
    /// did not keep up, or the end of the dwell was far from the objective.
    pub(super) fn overloads(&self, law: ResponseModel, objective: &Objective) -> bool {
        let last = self.readings.last();
        !self.kept_up() || last.is_some_and(|last| last.excess(law, objective) > 30.0)
    }

    pub(super) fn figure_ns(&self, figure: Figure) -> u64 {
        match figure {
            Figure::Mean => self.total.mean_ns().round() as u64,
            Figure::Quantile { quantile } => self.histogram.value_at_quantile(quantile),
        }
    }

    pub(super) fn to_record(&self, figure: Figure) -> SearchStepRecord {
        SearchStepRecord {
            offered_load_ops_per_s: self.load,
            achieved_load_ops_per_s: self.achieved(),
            ended: self.total.ended,
            figure_ns: self.figure_ns(figure),
            above: self.total.above,
            start_ns: self.total.start_ns,
            end_ns: self.total.end_ns,
        }
    }

    /// Returns the points of this dwell; half of a dwell is a batch.
    pub(super) fn points(&self, law: ResponseModel, bound_ns: u64, number: u32) -> Vec<FitPoint> {
        let half = self.readings.len().div_ceil(2);
        let readings = self.readings.iter().enumerate();
        readings
            .filter(|(_, reading)| reading.ended > 0)
            .map(|(index, reading)| FitPoint {
                load: self.load,
                count: reading.ended as f64,
                total: match law {
                    ResponseModel::Share { .. } => reading.above as f64,
                    ResponseModel::Mean => reading.sum_ns as f64 / bound_ns.max(1) as f64,
                },
                longest: reading.max_ns as f64 / bound_ns.max(1) as f64,
                batch: 2 * number + u32::from(index >= half),
            })
            .collect()
    }
}
