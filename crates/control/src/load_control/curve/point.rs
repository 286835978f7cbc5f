//! A load point during its measurement.

use super::tally::{Tally, is_working_off};
use filestone_measure::measure::curve_record::{CurvePointRecord, SweepDirection};
use filestone_measure::measure::run_record::IntervalRecord;
use filestone_workload::recording::distribution::Distribution;
use filestone_workload::recording::sample::Role;
use filestone_workload::statistics::relaxation_time_ns;
use filestone_workload::statistics::series::half_width;

/// The two-sided 95 % quantile of the normal distribution.
const NORMAL_95: f64 = 1.959_964;

/// Measurements of an incomplete point.
#[derive(Debug)]
pub(crate) struct PointInProgress {
    leg: SweepDirection,
    offered_load_ops_per_s: f64,
    /// Mean response times of the intervals of its warm-up.
    pub warm_up_means: Vec<f64>,
    /// Time from the offer of the load to the start of the measurement.
    pub warm_up_ns: u64,
    /// Whether the test ended the warm-up.
    pub is_steady: bool,
    /// Counts of the measured intervals.
    pub tally: Tally,
    means: Vec<f64>,
    /// Number of measured response times, and their sum.
    ended: (u64, u64),
    response_time: Distribution<u64>,
    service_time: Distribution<u64>,
    start_ns: u64,
    end_ns: u64,
}

impl PointInProgress {
    /// Creates an empty point.
    pub fn new(leg: SweepDirection, offered_load_ops_per_s: f64) -> Self {
        Self {
            leg,
            offered_load_ops_per_s,
            warm_up_means: Vec::new(),
            warm_up_ns: 0,
            is_steady: false,
            tally: Tally::default(),
            means: Vec::new(),
            ended: (0, 0),
            response_time: Distribution::new(),
            service_time: Distribution::new(),
            start_ns: 0,
            end_ns: 0,
        }
    }

    /// Returns the point's part of the curve.
    pub fn leg(&self) -> SweepDirection {
        self.leg
    }

    /// Returns the offered load.
    pub fn offered_load(&self) -> f64 {
        self.offered_load_ops_per_s
    }

    /// Adds an interval of the warm-up.
    ///
    /// The series for the test starts only when the backlog of a higher load is worked off.
    pub fn warm_up(&mut self, interval: &IntervalRecord, is_whole: bool) {
        self.warm_up_ns += interval.end_ns.saturating_sub(interval.start_ns);
        if is_working_off(interval) {
            self.warm_up_means.clear();
        } else if is_whole {
            self.warm_up_means.extend(mean_response_time(interval));
        }
    }

    /// Adds an interval of the measured part.
    pub fn measure(&mut self, interval: &IntervalRecord) {
        if self.tally.intervals == 0 {
            self.start_ns = interval.start_ns;
        }
        self.end_ns = interval.end_ns;
        self.tally.add(interval);
        self.means.extend(mean_response_time(interval));
        let (count, sum) = response_times(interval);
        self.ended = (self.ended.0 + count, self.ended.1.saturating_add(sum));
        for kind in &interval.kinds {
            if kind.role == Role::Measured {
                // A histogram of filestone that cannot be decoded adds nothing.
                let _ = self.response_time.add_record(&kind.response_time_ns);
                let _ = self.service_time.add_record(&kind.service_time_ns);
            }
        }
    }

    /// Returns the mean of the measured response times; `None` if no operation has ended.
    fn mean_ns(&self) -> Option<f64> {
        let (count, sum) = self.ended;
        mean_of(count, sum)
    }

    /// Returns the relaxation time of the queue, from the excess of its response times over those
    /// of a server without a queue (`unqueued_ns`); see [`relaxation_time_ns`].
    pub fn relaxation_time_ns(&self, unqueued_ns: Option<f64>) -> f64 {
        let (Some(mean_ns), Some(unqueued_ns)) = (self.mean_ns(), unqueued_ns) else {
            return 0.0;
        };
        relaxation_time_ns(self.offered_load_ops_per_s, mean_ns - unqueued_ns)
    }

    /// Returns the smallest half-width of the mean's 95 % interval for a queue with this relaxation
    /// time: an interval in which the queue happened to be short does not show how long it gets.
    /// Allows for twice the variance, as with constant service times.
    fn half_width_of_queue(&self, unqueued_ns: Option<f64>) -> f64 {
        let relaxation_ns = self.relaxation_time_ns(unqueued_ns);
        let wait_ns = self.mean_ns().zip(unqueued_ns);
        let wait_ns = wait_ns.map_or(0.0, |(mean_ns, unqueued_ns)| mean_ns - unqueued_ns);
        let relaxations = self.tally.nanos.max(1) as f64 / relaxation_ns.max(1e-3);
        NORMAL_95 * wait_ns.max(0.0) * (2.0 / relaxations).sqrt()
    }

    /// Returns the record of the point; `None` if nothing was measured.
    pub fn into_record(mut self, unqueued_ns: Option<f64>) -> Option<CurvePointRecord> {
        if self.tally.intervals == 0 {
            return None;
        }
        let seconds = self.tally.nanos.max(1) as f64 / 1e9;
        let service_time_ns = self.service_time.to_record();
        let ended_per_s = service_time_ns.count as f64 / seconds;
        Some(CurvePointRecord {
            leg: self.leg,
            offered_load_ops_per_s: self.offered_load_ops_per_s,
            achieved_load_ops_per_s: self.tally.achieved(),
            ledger: self.tally.ledger,
            response_time_ns: self.response_time.to_record(),
            response_time_mean_half_width_ns: half_width(&self.means)
                .map(|half| half.max(self.half_width_of_queue(unqueued_ns))),
            // Little's law: the number in flight is the number of ends per second times the
            // response time.
            relaxation_time_ns: self.relaxation_time_ns(unqueued_ns),
            in_flight_mean: ended_per_s * service_time_ns.mean / 1e9,
            service_time_ns,
            start_ns: self.start_ns,
            end_ns: self.end_ns,
            warm_up_ns: self.warm_up_ns,
            is_steady: self.is_steady,
            kept_up: self.tally.keeps_up(self.offered_load_ops_per_s),
        })
    }
}

/// Returns the mean response time of all measured kinds in an interval; `None` if no operation
/// ended in it.
fn mean_response_time(interval: &IntervalRecord) -> Option<f64> {
    let (count, sum) = response_times(interval);
    mean_of(count, sum)
}

fn mean_of(count: u64, sum: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}

/// Returns the number of response times of measured kinds in an interval, and their sum.
fn response_times(interval: &IntervalRecord) -> (u64, u64) {
    let measured = interval
        .kinds
        .iter()
        .filter(|kind| kind.role == Role::Measured);
    measured.fold((0_u64, 0_u64), |(count, sum), kind| {
        let times = &kind.response_time_ns;
        (count + times.count, sum.saturating_add(times.sum))
    })
}
