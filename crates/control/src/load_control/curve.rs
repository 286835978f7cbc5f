//! The load–response curve: finds the peak, then visits evenly spaced load points up to it, and
//! down again. `docs/reference/curve.md` explains the figures.
//!
//! Every point has a warm-up that ends by a test of its response times, see
//! [`filestone_measure::measure::warm_up`]. The samples of the test are not measured: the test
//! would prefer quiet intervals.

mod peak;
mod point;
mod tally;

use self::peak::{Peak, PeakSearch, PeakSearchStep};
use self::point::PointInProgress;
use self::tally::is_working_off;
use super::{IntervalResult, LoadController, NextLoad, RemainingTime, SteeredPoint};
use filestone_measure::measure::curve_record::{CurvePointRecord, CurveRecord, SweepDirection};
use filestone_measure::measure::hysteresis::hysteresis;
use filestone_measure::measure::knee::{KneeMethod, Plateau, upward_curve};
use filestone_measure::measure::overall_response_time::overall_response_time;
use filestone_measure::measure::run_record::{IntervalRecord, Phase};
use filestone_measure::measure::warm_up;
use filestone_plan::plan::CurvePlan;
use filestone_plan::plan::limits::POINTS_MAX;
use filestone_workload::text::thousands;

/// Loads that differ by less than this fraction are equal.
const SAME_LOAD: f64 = 1e-6;

/// Measurement time of a point, in relaxation times of its queue,
const RELAXATIONS_WANTED: f64 = 100.0;
/// limited to this multiple of the planned time.
const LONGER_TIMES_MAX: u64 = 4;
/// Longest warm-up while a backlog is worked off, as a multiple of the planned time.
const BACKLOG_TIMES_MAX: u64 = 10;

/// Stage of the run.
#[derive(Debug)]
enum Stage {
    Search(PeakSearch),
    WarmUp,
    Measure,
    Done,
}

/// Load controller that measures a load–response curve.
#[derive(Debug)]
pub struct CurveSteering {
    plan: CurvePlan,
    stage: Stage,
    peak: Option<Peak>,
    /// Index of the current point, from 0.
    place: u32,
    current: PointInProgress,
    points: Vec<CurvePointRecord>,
    /// Length of an interval.
    interval_ns: u64,
}

impl CurveSteering {
    /// Creates a controller for the planned curve. The search for the peak is limited by the load
    /// generator's capacity, if known.
    pub fn new(plan: &CurvePlan, generator_limit_ops_per_s: Option<f64>) -> Self {
        let given = plan
            .peak_ops_per_s
            .filter(|peak| peak.is_finite() && *peak > 0.0);
        let search = PeakSearch::new(generator_limit_ops_per_s);
        let mut steering = Self {
            plan: plan.clone(),
            current: PointInProgress::new(SweepDirection::Search, search.load()),
            stage: Stage::Search(search),
            peak: None,
            place: 0,
            points: Vec::new(),
            interval_ns: 0,
        };
        if let Some(peak) = given {
            steering.climb(Peak::given(peak));
        }
        steering
    }

    fn points_up(&self) -> u32 {
        self.plan.points.clamp(1, POINTS_MAX)
    }

    /// Returns the number of points; the top point is visited once.
    fn points_all(&self) -> u32 {
        let up = self.points_up();
        if self.plan.down { 2 * up - 1 } else { up }
    }

    /// Returns direction and load of the point with this number.
    fn itinerary(&self, place: u32) -> Option<(SweepDirection, f64)> {
        let peak = self.peak?.load_ops_per_s;
        let up = self.points_up();
        let (leg, step) = if place < up {
            (SweepDirection::Up, place + 1)
        } else {
            (SweepDirection::Down, self.points_all().checked_sub(place)?)
        };
        (step > 0).then(|| (leg, peak * f64::from(step) / f64::from(up)))
    }

    /// Starts with the points of the curve.
    fn climb(&mut self, peak: Peak) -> NextLoad {
        self.peak = Some(peak);
        self.place = 0;
        if peak.load_ops_per_s > 0.0 {
            self.visit()
        } else {
            self.finish()
        }
    }

    /// Completes the curve.
    fn finish(&mut self) -> NextLoad {
        self.stage = Stage::Done;
        self.start(self.current.leg(), self.current.offered_load());
        NextLoad::Finish
    }

    /// Starts the point at `place`, or ends the curve.
    fn visit(&mut self) -> NextLoad {
        let Some((leg, load)) = self.itinerary(self.place) else {
            return self.finish();
        };
        self.stage = Stage::WarmUp;
        self.start(leg, load);
        NextLoad::Set(load)
    }

    /// Closes the current point and starts another.
    fn start(&mut self, leg: SweepDirection, load: f64) {
        let ended = std::mem::replace(&mut self.current, PointInProgress::new(leg, load));
        self.points.extend(ended.into_record(self.unqueued_ns()));
    }

    /// Returns the mean response time at the lowest load that was measured.
    fn unqueued_ns(&self) -> Option<f64> {
        let on_curve = self.points.iter();
        let on_curve = on_curve.filter(|point| point.leg != SweepDirection::Search);
        let lowest = on_curve.min_by(|one, other| {
            let loads = (one.offered_load_ops_per_s, other.offered_load_ops_per_s);
            loads.0.total_cmp(&loads.1)
        })?;
        Some(lowest.response_time_ns.mean)
    }

    /// Returns the measurement time of the current point: longer than planned if its queue has a
    /// long relaxation time.
    fn measured_ns(&self) -> u64 {
        let relaxation_ns = self.current.relaxation_time_ns(self.unqueued_ns());
        let wanted_ns = RELAXATIONS_WANTED * relaxation_ns;
        let most_ns = self.plan.point_ns.saturating_mul(LONGER_TIMES_MAX);
        (wanted_ns as u64).clamp(self.plan.point_ns, most_ns)
    }

    fn search(&mut self, observed: &IntervalResult<'_>, is_whole: bool) -> NextLoad {
        let Stage::Search(search) = &mut self.stage else {
            return NextLoad::Hold;
        };
        let nanos = nanos_of(observed.interval);
        let step = if search.is_resting() && is_whole {
            search.rest(observed.interval, nanos)
        } else if is_whole {
            self.current.measure(observed.interval);
            search.observe(&self.current.tally, nanos)
        } else {
            search.pass(nanos)
        };
        match step {
            PeakSearchStep::Hold => NextLoad::Hold,
            PeakSearchStep::Repeat => {
                let load = search.load();
                self.start(SweepDirection::Search, load);
                NextLoad::Hold
            }
            PeakSearchStep::Try(load) => {
                self.start(SweepDirection::Search, load);
                NextLoad::Set(load)
            }
            PeakSearchStep::Done(peak) => self.climb(peak),
        }
    }

    fn warm_up(&mut self, observed: &IntervalResult<'_>, is_whole: bool) -> NextLoad {
        let times = if is_working_off(observed.interval) {
            BACKLOG_TIMES_MAX
        } else {
            1
        };
        let most_ns = self.plan.warm_up_max_ns.saturating_mul(times);
        if is_whole && self.current.warm_up_ns >= most_ns {
            self.stage = Stage::Measure;
            return self.measure(observed, true);
        }
        self.current.warm_up(observed.interval, is_whole);
        if is_whole && warm_up::is_steady(&self.current.warm_up_means) {
            self.current.is_steady = true;
            self.stage = Stage::Measure;
        }
        NextLoad::Hold
    }

    fn measure(&mut self, observed: &IntervalResult<'_>, is_whole: bool) -> NextLoad {
        if is_whole {
            self.current.measure(observed.interval);
        }
        if self.current.tally.nanos < self.measured_ns() {
            return NextLoad::Hold;
        }
        self.place += 1;
        self.visit()
    }

    /// Returns the estimated duration of a point: the mean of the earlier points, or, before the
    /// first, the shortest warm-up plus the measurement time.
    fn point_ns(&self) -> u64 {
        let before = self.points.iter();
        let before = before.filter(|point| point.leg != SweepDirection::Search);
        let took = |point: &CurvePointRecord| {
            point.warm_up_ns + point.end_ns.saturating_sub(point.start_ns)
        };
        let (count, sum) = before.fold((0, 0u64), |(count, sum), point| {
            (count + 1, sum.saturating_add(took(point)))
        });
        let shortest = self.interval_ns.saturating_mul(warm_up::MEANS_MIN as u64);
        let warm_up_ns = shortest.min(self.plan.warm_up_max_ns);
        sum.checked_div(count)
            .unwrap_or_else(|| self.plan.point_ns.saturating_add(warm_up_ns))
    }

    /// Returns the curve, up to the last measured point.
    pub fn into_record(self) -> CurveRecord {
        let peak = match (&self.stage, self.peak) {
            (Stage::Search(search), None) => search.unfinished(),
            (_, peak) => peak.unwrap_or(Peak::given(0.0)),
        };
        let unqueued_ns = self.unqueued_ns();
        let mut points = self.points;
        points.extend(self.current.into_record(unqueued_ns));
        let on_curve = points
            .iter()
            .filter(|point| point.leg != SweepDirection::Search && point.kept_up);
        let peak_ops_per_s = on_curve
            .map(|point| point.achieved_load_ops_per_s)
            .fold(0.0, f64::max);
        let curve = upward_curve(&points);
        let knee = KneeMethod::default().find(&curve);
        let plateau = Plateau::of(&points).filter(|_| knee.is_some());
        let swallowed = plateau.filter(|plateau| !plateau.names_a_knee());
        CurveRecord {
            peak_ops_per_s,
            peak_end: peak.end,
            peak_method: peak.method(),
            overall_response_time_ns: overall_response_time(&curve),
            knee: knee.filter(|_| swallowed.is_none()),
            knee_between_ops_per_s: swallowed
                .map(|plateau| [plateau.from_ops_per_s, plateau.to_ops_per_s]),
            hysteresis: hysteresis(&points),
            points,
        }
    }
}

impl From<&CurvePointRecord> for SteeredPoint {
    fn from(point: &CurvePointRecord) -> Self {
        let times = &point.response_time_ns;
        Self {
            part: match point.leg {
                SweepDirection::Search => "looking for the peak",
                SweepDirection::Up => "upwards",
                SweepDirection::Down => "downwards",
            },
            offered_load_ops_per_s: point.offered_load_ops_per_s,
            achieved_load_ops_per_s: point.achieved_load_ops_per_s,
            response_times_ns: vec![
                (
                    "mean".into(),
                    times.mean,
                    point.response_time_mean_half_width_ns,
                ),
                ("p50".into(), times.p50 as f64, None),
                ("p99".into(), times.p99 as f64, None),
            ],
        }
    }
}

impl LoadController for CurveSteering {
    fn points_since(&self, count: usize) -> Vec<SteeredPoint> {
        let points = self.points.get(count..).unwrap_or_default();
        points.iter().map(SteeredPoint::from).collect()
    }

    fn first(&mut self) -> f64 {
        self.current.offered_load()
    }

    fn next(&mut self, observed: &IntervalResult<'_>) -> NextLoad {
        let wanted = self.current.offered_load();
        self.interval_ns = self.interval_ns.max(nanos_of(observed.interval));
        // The interval may have started before the last decision took effect.
        let is_wanted =
            (observed.offered_load_ops_per_s - wanted).abs() <= SAME_LOAD * wanted.abs();
        let is_whole = observed.is_whole && is_wanted && observed.interval.phase == Phase::Measure;
        match self.stage {
            Stage::Search(_) => self.search(observed, is_whole),
            Stage::WarmUp => self.warm_up(observed, is_whole),
            Stage::Measure => self.measure(observed, is_whole),
            Stage::Done => NextLoad::Finish,
        }
    }

    fn progress(&self) -> String {
        let load = thousands(self.current.offered_load().round() as u64);
        let (place, all) = (self.place + 1, self.points_all());
        match self.stage {
            Stage::Search(_) => format!("looking for the peak, {load}/s"),
            Stage::WarmUp => format!("load point {place} of {all}, {load}/s, warming up"),
            Stage::Measure => format!("load point {place} of {all}, {load}/s"),
            Stage::Done => "curve complete".into(),
        }
    }

    fn left(&self) -> Option<RemainingTime> {
        let point_ns = self.point_ns();
        let all = u64::from(self.points_all());
        match self.stage {
            Stage::Search(_) => Some(RemainingTime::AtLeast(all.saturating_mul(point_ns))),
            Stage::WarmUp | Stage::Measure => {
                let (current, place) = (&self.current, u64::from(self.place));
                let so_far = current.warm_up_ns.saturating_add(current.tally.nanos);
                let after = all.saturating_sub(place + 1).saturating_mul(point_ns);
                Some(RemainingTime::About(
                    after.saturating_add(point_ns.saturating_sub(so_far)),
                ))
            }
            Stage::Done => None,
        }
    }
}

fn nanos_of(interval: &IntervalRecord) -> u64 {
    interval.end_ns.saturating_sub(interval.start_ns)
}

#[cfg(test)]
mod tests;
