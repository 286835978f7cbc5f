//! Bottlenecks of a load-response curve: what limits its peak, and where it bends.

use crate::explanation::Limit;
use crate::explanation::evidence::{Evidence, amount, rate};
use crate::measure::curve_record::{CurvePointRecord, CurveRecord, PeakLimit, SweepDirection};
use filestone_workload::text::time_text;

/// The lowest and the highest load of the upward curve that the server kept up with.
struct Ends<'curve> {
    low: &'curve CurvePointRecord,
    high: &'curve CurvePointRecord,
}

impl<'curve> Ends<'curve> {
    /// Returns the two ends; `None` unless there are two points with different loads.
    fn of(curve: &'curve CurveRecord) -> Option<Self> {
        let points = || {
            let points = curve.points.iter();
            points.filter(|point| {
                point.leg == SweepDirection::Up && point.kept_up && point.response_time_ns.count > 0
            })
        };
        let load = |point: &&CurvePointRecord| point.achieved_load_ops_per_s;
        let low = points().min_by(|one, other| load(one).total_cmp(&load(other)))?;
        let high = points().max_by(|one, other| load(one).total_cmp(&load(other)))?;
        (load(&high) > load(&low)).then_some(Self { low, high })
    }

    /// Returns the ratio of the mean response times at the high and the low end.
    fn growth(&self) -> f64 {
        self.high.response_time_ns.mean / self.low.response_time_ns.mean.max(1.0)
    }

    /// Returns whether the mean response times differ by more than chance explains.
    fn is_told(&self) -> bool {
        let half = |point: &CurvePointRecord| point.response_time_mean_half_width_ns.unwrap_or(0.0);
        let rise = self.high.response_time_ns.mean - self.low.response_time_ns.mean;
        rise > half(self.low).hypot(half(self.high))
    }

    /// Returns the operations in flight by Little's law, and their number if response times had
    /// stayed as at the low end.
    fn in_flight(&self) -> [f64; 2] {
        let load = self.high.achieved_load_ops_per_s;
        let of = |point: &CurvePointRecord| load * point.response_time_ns.mean / 1e9;
        [of(self.high), of(self.low)]
    }

    /// Describes the rise and its effect by Little's law.
    fn bend(&self) -> String {
        let [high, flat] = self.in_flight();
        format!(
            "from {}/s to {}/s the mean response time rose from {} to {}, so that {} operations were \
             in flight on average instead of {} (Little's law): about {} of them waited",
            rate(self.low.achieved_load_ops_per_s),
            rate(self.high.achieved_load_ops_per_s),
            time_text(self.low.response_time_ns.mean),
            time_text(self.high.response_time_ns.mean),
            amount(high),
            amount(flat),
            amount(high - flat)
        )
    }

    fn figures(&self, told: Limit) -> Limit {
        let [high, flat] = self.in_flight();
        told.with("low_ops_per_s", self.low.achieved_load_ops_per_s)
            .with("high_ops_per_s", self.high.achieved_load_ops_per_s)
            .with("low_response_time_mean_ns", self.low.response_time_ns.mean)
            .with(
                "high_response_time_mean_ns",
                self.high.response_time_ns.mean,
            )
            .with("in_flight", high)
            .with("in_flight_without_waiting", flat)
    }
}

const AT_SERVER: &str = "watch the server between the knee and the peak (its processors, disks and \
     locks): what is busy there all the time is what it waits for";

pub(super) fn peak_of_server(evidence: &Evidence<'_>, _: f64) -> Option<Limit> {
    let curve = evidence.record.curve.as_ref()?;
    if curve.peak_end != PeakLimit::Server || curve.peak_ops_per_s <= 0.0 {
        return None;
    }
    let peak = curve.peak_ops_per_s;
    let beyond = curve.points.iter().filter(|point| !point.kept_up);
    let beyond = beyond.map(|point| point.offered_load_ops_per_s);
    let beyond = beyond
        .filter(|offered| *offered > peak)
        .min_by(f64::total_cmp)?;
    let ends = Ends::of(curve).filter(Ends::is_told);
    let bend = ends
        .as_ref()
        .map_or_else(String::new, |ends| format!("; {}", ends.bend()));
    let told = Limit::new(
        format!(
            "the server's capacity: it kept up with {}/s and not with {}/s{bend}",
            rate(peak),
            rate(beyond)
        ),
        AT_SERVER,
    );
    let told = match &ends {
        Some(ends) => ends.figures(told),
        None => told,
    };
    Some(
        told.with("peak_ops_per_s", peak)
            .with("not_kept_up_ops_per_s", beyond),
    )
}

pub(super) fn peak_of_generator(evidence: &Evidence<'_>, _: f64) -> Option<Limit> {
    let curve = evidence.record.curve.as_ref()?;
    if curve.peak_end != PeakLimit::Generator {
        return None;
    }
    let peak = curve.peak_ops_per_s;
    let told = Limit::new(
        format!(
            "the load generator: the server kept up with all that it can offer, {}/s achieved",
            rate(peak)
        ),
        "more workers (--workers), or a second host, to see more of the curve",
    );
    Some(told.with("peak_ops_per_s", peak))
}

/// The highest load was set by the user, the server kept up with all loads, and the curve has not
/// bent.
pub(super) fn loads_given(evidence: &Evidence<'_>, most: f64) -> Option<Limit> {
    let curve = evidence.record.curve.as_ref()?;
    let ends = Ends::of(curve)?;
    let mut upward = curve
        .points
        .iter()
        .filter(|point| point.leg == SweepDirection::Up);
    let is_given = curve.peak_end == PeakLimit::Fixed && upward.all(|point| point.kept_up);
    if !is_given || ends.growth() >= most {
        return None;
    }
    let told = Limit::new(
        format!(
            "the loads that were given: the server kept up with the highest, {}/s, and from {}/s to \
             there the mean response time went from {} to {}, which is less than twice as long",
            rate(ends.high.achieved_load_ops_per_s),
            rate(ends.low.achieved_load_ops_per_s),
            time_text(ends.low.response_time_ns.mean),
            time_text(ends.high.response_time_ns.mean)
        ),
        "a higher --peak, or none, which is then looked for",
    );
    Some(ends.figures(told))
}

/// The curve bends: operations wait at the server.
pub(super) fn bend(evidence: &Evidence<'_>, least: f64) -> Option<Limit> {
    let curve = evidence.record.curve.as_ref()?;
    let ends = Ends::of(curve).filter(Ends::is_told)?;
    if ends.growth() < least {
        return None;
    }
    let told = Limit::new(format!("the server's queue: {}", ends.bend()), AT_SERVER);
    Some(ends.figures(told))
}
