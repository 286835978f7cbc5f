//! One load point while it is measured.

use super::tally::{Tally, is_working_off};
use crate::measure::curve_record::{CurveLeg, CurvePointRecord};
use crate::measure::distribution::Distribution;
use crate::measure::run_record::IntervalRecord;
use crate::measure::sample::Role;
use crate::statistics::series::half_width;

/// What is known of a point so far.
#[derive(Debug)]
pub(crate) struct PointInProgress {
    leg: CurveLeg,
    offered_load_ops_per_s: f64,
    /// Mean response times of the intervals of its warm-up.
    pub warm_up_means: Vec<f64>,
    /// Time since the load was offered until it is measured.
    pub warm_up_ns: u64,
    /// Whether the test ended the warm-up.
    pub is_steady: bool,
    /// Counts of the measured intervals.
    pub tally: Tally,
    means: Vec<f64>,
    response_time: Distribution<u64>,
    service_time: Distribution<u64>,
    start_ns: u64,
    end_ns: u64,
}

impl PointInProgress {
    /// Nothing is known yet.
    pub fn new(leg: CurveLeg, offered_load_ops_per_s: f64) -> Self {
        Self {
            leg,
            offered_load_ops_per_s,
            warm_up_means: Vec::new(),
            warm_up_ns: 0,
            is_steady: false,
            tally: Tally::default(),
            means: Vec::new(),
            response_time: Distribution::new(),
            service_time: Distribution::new(),
            start_ns: 0,
            end_ns: 0,
        }
    }

    /// Its part of the curve.
    pub fn leg(&self) -> CurveLeg {
        self.leg
    }

    /// What is offered.
    pub fn offered_load(&self) -> f64 {
        self.offered_load_ops_per_s
    }

    /// Counts an interval of the warm-up.
    ///
    /// Until what a higher load left behind is worked off, there is no series to judge.
    pub fn warm_up(&mut self, interval: &IntervalRecord, is_whole: bool) {
        self.warm_up_ns += interval.end_ns.saturating_sub(interval.start_ns);
        if is_working_off(interval) {
            self.warm_up_means.clear();
        } else if is_whole {
            self.warm_up_means.extend(mean_response_time(interval));
        }
    }

    /// Counts an interval of the measured part.
    pub fn measure(&mut self, interval: &IntervalRecord) {
        if self.tally.intervals == 0 {
            self.start_ns = interval.start_ns;
        }
        self.end_ns = interval.end_ns;
        self.tally.add(interval);
        self.means.extend(mean_response_time(interval));
        for kind in &interval.kinds {
            if kind.role == Role::Measured {
                // A histogram of our own that cannot be read back has nothing to add.
                let _ = self.response_time.add_record(&kind.response_time_ns);
                let _ = self.service_time.add_record(&kind.service_time_ns);
            }
        }
    }

    /// Its record; `None` if nothing was measured.
    pub fn conclude(mut self) -> Option<CurvePointRecord> {
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
            response_time_mean_half_width_ns: half_width(&self.means),
            // Little's law: what is in flight is how many end per second times how long each is.
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

/// The mean response time of all measured kinds in an interval; `None` if nothing ended in it.
fn mean_response_time(interval: &IntervalRecord) -> Option<f64> {
    let measured = interval
        .kinds
        .iter()
        .filter(|kind| kind.role == Role::Measured);
    let (count, sum) = measured.fold((0_u64, 0_u64), |(count, sum), kind| {
        let times = &kind.response_time_ns;
        (count + times.count, sum.saturating_add(times.sum))
    });
    (count > 0).then(|| sum as f64 / count as f64)
}
