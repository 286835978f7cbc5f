//! Knee of a load–response curve: three methods of the literature.
//!
//! The default is the point of maximum **power**, load over response time (Kleinrock 1979, "Power
//! and deterministic rules of thumb for probabilistic problems in computer communications", ICC
//! '79). It is a property of the server: on an M/M/1 queue it is at exactly half of the capacity,
//! where the response time is twice the service time. The other two depend on the measured part of
//! the curve: the greatest distance from the chord (Satopää et al. 2011, "Finding a 'kneedle' in a
//! haystack") moves towards the capacity with the highest point, and the doubling of the response
//! time depends on the lowest point.

use crate::measure::curve_record::{CurvePointRecord, KneeRecord, SweepDirection};

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadResponse {
    /// Achieved load.
    pub load_ops_per_s: f64,
    /// Mean response time.
    pub response_time_mean_ns: f64,
}

/// Points that may have the maximum power, because the intervals of their mean response times do
/// not separate them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plateau {
    /// Lowest load among them.
    pub from_ops_per_s: f64,
    /// Highest load among them.
    pub to_ops_per_s: f64,
    /// Number of points.
    pub points: usize,
    /// Whether the highest measured load is one of them, so that the maximum may be beyond it.
    pub is_open: bool,
}

impl Plateau {
    /// Finds the plateau of the upward points where the server kept up; `None` without any. Two
    /// points differ if their powers differ by more than chance explains at 95 %: the root of the
    /// sum of the squares of both half widths. A point without half width counts as exact.
    pub fn of(points: &[CurvePointRecord]) -> Option<Self> {
        let upward = points.iter();
        let mut powers: Vec<(f64, f64, f64)> = upward
            .filter(|point| point.leg == SweepDirection::Up && point.kept_up)
            .filter(|point| point.response_time_ns.mean > 0.0)
            .map(|point| {
                let (load, mean) = (point.achieved_load_ops_per_s, point.response_time_ns.mean);
                let half_width = point.response_time_mean_half_width_ns.unwrap_or(0.0);
                (load, load / mean, load / mean * half_width / mean)
            })
            .collect();
        powers.sort_by(|one, other| one.0.total_cmp(&other.0));
        let highest = powers.iter().copied();
        let highest = highest.max_by(|one, other| one.1.total_cmp(&other.1))?;
        let is_told = |point: &(f64, f64, f64)| highest.1 - point.1 > highest.2.hypot(point.2);
        let place = powers.iter().position(|point| *point == highest)?;
        let (below, above) = powers.split_at(place);
        let below = below
            .iter()
            .rev()
            .take_while(|point| !is_told(point))
            .count();
        let above = above
            .iter()
            .take_while(|point| **point == highest || !is_told(point))
            .count();
        let flat = powers.get(place - below..place + above)?;
        Some(Self {
            from_ops_per_s: flat.first()?.0,
            to_ops_per_s: flat.last()?.0,
            points: flat.len(),
            is_open: place + above == powers.len(),
        })
    }

    /// Returns whether a knee can be named: the intervals of its neighbours do not include it. With
    /// one neighbour of equal power, the knee is between the two.
    pub const fn names_a_knee(&self) -> bool {
        self.points <= 2 && !self.is_open
    }
}

impl LoadResponse {
    fn power(&self) -> f64 {
        self.load_ops_per_s / self.response_time_mean_ns
    }
}

/// Returns the upward curve: points with measurements where the server kept up, by achieved load.
pub fn upward_curve(points: &[CurvePointRecord]) -> Vec<LoadResponse> {
    let upward = points
        .iter()
        .filter(|point| point.leg == SweepDirection::Up && point.kept_up);
    let mut curve: Vec<LoadResponse> = upward
        .map(|point| LoadResponse {
            load_ops_per_s: point.achieved_load_ops_per_s,
            response_time_mean_ns: point.response_time_ns.mean,
        })
        .filter(|point| point.load_ops_per_s > 0.0 && point.response_time_mean_ns > 0.0)
        .collect();
    curve.sort_by(|one, other| one.load_ops_per_s.total_cmp(&other.load_ops_per_s));
    curve
}

/// Method to find a knee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KneeMethod {
    /// Maximum of load over response time.
    #[default]
    Power,
    /// Greatest distance below the chord of the curve, scaled to a square.
    Chord,
    /// Response time is twice that of the lowest point.
    Doubling,
}

impl KneeMethod {
    /// Returns the description of the method, with its source.
    pub fn name(self) -> &'static str {
        match self {
            KneeMethod::Power => "maximum of load over mean response time (Kleinrock 1979)",
            KneeMethod::Chord => {
                "greatest distance from the chord of the scaled curve (Satopää et al. 2011)"
            }
            KneeMethod::Doubling => "mean response time twice that of the lowest load",
        }
    }

    /// Finds the knee of a curve sorted by load; `None` if it is not on the measured part of the
    /// curve.
    pub fn find(self, curve: &[LoadResponse]) -> Option<KneeRecord> {
        let (load_ops_per_s, response_time_mean_ns) = match self {
            KneeMethod::Power => of_power(curve),
            KneeMethod::Chord => of_chord(curve),
            KneeMethod::Doubling => of_doubling(curve),
        }?;
        let is_found = load_ops_per_s.is_finite() && response_time_mean_ns.is_finite();
        is_found.then(|| KneeRecord {
            load_ops_per_s,
            response_time_mean_ns,
            method: self.name().into(),
        })
    }
}

/// Power is 0 without load, which is the point before the first. A parabola is fitted through the
/// highest point and its neighbours: on an M/M/1 queue power is a parabola.
fn of_power(curve: &[LoadResponse]) -> Option<(f64, f64)> {
    let origin = std::iter::once((0.0, 0.0));
    let measured = curve
        .iter()
        .map(|point| (point.load_ops_per_s, point.power()));
    let powers: Vec<(f64, f64)> = origin.chain(measured).collect();
    let (load, power) = summit(&powers)?;
    Some((load, load / power))
}

/// The difference of load and response time, both scaled to 0–1, has its maximum at the knee of a
/// curve that bends upwards.
fn of_chord(curve: &[LoadResponse]) -> Option<(f64, f64)> {
    let (first, last) = (curve.first()?, curve.last()?);
    let load_span = last.load_ops_per_s - first.load_ops_per_s;
    let time_span = last.response_time_mean_ns - first.response_time_mean_ns;
    if load_span <= 0.0 || time_span <= 0.0 {
        return None;
    }
    let distances: Vec<(f64, f64)> = curve
        .iter()
        .map(|point| {
            let load = (point.load_ops_per_s - first.load_ops_per_s) / load_span;
            let time = (point.response_time_mean_ns - first.response_time_mean_ns) / time_span;
            (point.load_ops_per_s, load - time)
        })
        .collect();
    let (load, distance) = summit(&distances)?;
    let scaled = (load - first.load_ops_per_s) / load_span - distance;
    Some((load, first.response_time_mean_ns + scaled * time_span))
}

/// The response time is interpolated linearly between the last point below and the first above.
fn of_doubling(curve: &[LoadResponse]) -> Option<(f64, f64)> {
    let wanted = 2.0 * curve.first()?.response_time_mean_ns;
    let (below, above) = curve
        .iter()
        .zip(curve.iter().skip(1))
        .find(|(_, above)| above.response_time_mean_ns >= wanted)?;
    let step = above.response_time_mean_ns - below.response_time_mean_ns;
    let share = (wanted - below.response_time_mean_ns) / step;
    let load = below.load_ops_per_s + share * (above.load_ops_per_s - below.load_ops_per_s);
    Some((load, wanted))
}

/// Returns the vertex of the parabola through the highest value and its two neighbours; `None` if
/// the highest value is at an end, since the maximum is then beyond it.
fn summit(values: &[(f64, f64)]) -> Option<(f64, f64)> {
    let highest = (0..values.len()).max_by(|one, other| {
        let height = |index: &usize| values.get(*index).map_or(f64::MIN, |value| value.1);
        height(one).total_cmp(&height(other))
    })?;
    let around = values.get(highest.checked_sub(1)?..highest + 2)?;
    let &[(x0, y0), (x1, y1), (x2, y2)] = around else {
        return None;
    };
    // Newton's form: y1 + slope·(x − x1) + bend·(x − x1)·(x − x0).
    let slope = (y1 - y0) / (x1 - x0);
    let bend = ((y2 - y1) / (x2 - x1) - slope) / (x2 - x0);
    if bend >= 0.0 || !bend.is_finite() {
        return Some((x1, y1));
    }
    let x = ((x0 + x1) / 2.0 - slope / (2.0 * bend)).clamp(x0, x2);
    Some((x, y1 + slope * (x - x1) + bend * (x - x1) * (x - x0)))
}
