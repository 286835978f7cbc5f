//! Detection of a bend: two straight lines that meet, through points in order of their positions
//! (Hudson 1966, "Fitting segmented curves whose join points have to be estimated", *Journal of the
//! American Statistical Association* 61).
//!
//! Errors are assumed to be relative to each value, as for times and rates. An F test of two lines
//! against one decides whether there is a bend; since its position is searched for, the level is
//! divided by the number of possible positions (Bonferroni), which is conservative.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// Minimum number of points for two lines and their intersection.
pub const POINTS_MIN: usize = 6;
/// Probability that a bend is reported for a straight line.
pub const FALSE_ALARMS: f64 = 0.01;
/// Number of parameters of two lines that meet at an unknown position.
const PARAMETERS: usize = 4;
/// Number of positions that are tried for the ends of the interval.
const PLACES: u32 = 2000;
/// Residuals below this share of the total are rounding errors.
const ROUNDING: f64 = 1e-18;

/// A value at a position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PositionedValue {
    /// The position.
    pub x: f64,
    /// The value; more than 0.
    pub y: f64,
}

/// A bend of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Breakpoint {
    /// Position of the intersection of both lines.
    pub x: f64,
    /// Value at the intersection.
    pub y: f64,
    /// The lower end of the 95 % interval of `x`.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Slope of the first line.
    pub slope_before: f64,
    /// Slope of the second line.
    pub slope_after: f64,
    /// Weighted sum of the squared residuals of both lines.
    pub(super) rest: f64,
}

/// A fit of two lines that meet at a position; or of one line, if they do not bend.
#[derive(Debug, Clone, Copy)]
struct Fit {
    at: f64,
    value: f64,
    slope_before: f64,
    slope_after: f64,
    /// Weighted sum of the squared residuals.
    rest: f64,
}

/// Returns the bend of the line through these points, in order of their positions; `None` if it is
/// not significant.
pub fn bend(points: &[PositionedValue]) -> Option<Breakpoint> {
    let scaled = Scaled::of(points)?;
    let bent = scaled.best()?;
    if !scaled.is_told(bent.rest, scaled.places())? {
        return None;
    }
    let (low, high) = scaled.interval(&bent)?;
    Some(Breakpoint {
        x: scaled.x(bent.at),
        y: bent.value,
        low: scaled.x(low),
        high: scaled.x(high),
        slope_before: bent.slope_before / scaled.span,
        slope_after: bent.slope_after / scaled.span,
        rest: bent.rest,
    })
}

/// Whether the residual of two lines is significantly smaller than that of one.
fn is_better(straight: f64, bent: f64, freedom: f64, places: usize) -> bool {
    let more = (PARAMETERS - 2) as f64;
    let ratio = (straight - bent) / more / (bent / freedom);
    if !ratio.is_finite() {
        return straight > bent;
    }
    let level = FALSE_ALARMS / places.max(1) as f64;
    FisherSnedecor::new(more, freedom).is_ok_and(|f| f.sf(ratio.max(0.0)) < level)
}

/// The points with positions from 0 to 1, so that sums of their squares keep their precision.
pub(super) struct Scaled {
    pub(super) points: Vec<PositionedValue>,
    first: f64,
    span: f64,
}

impl Scaled {
    /// Creates the scaled points; `None` if they are too few, unordered, or not more than 0.
    pub(super) fn of(points: &[PositionedValue]) -> Option<Self> {
        let is_sound =
            |point: &PositionedValue| point.x.is_finite() && point.y.is_finite() && point.y > 0.0;
        let is_ordered = points.is_sorted_by(|one, other| one.x < other.x);
        if points.len() < POINTS_MIN || !points.iter().all(is_sound) || !is_ordered {
            return None;
        }
        let (first, last) = (points.first()?.x, points.last()?.x);
        let span = last - first;
        let scaled = points.iter().map(|point| PositionedValue {
            x: (point.x - first) / span,
            y: point.y,
        });
        Some(Self {
            points: scaled.collect(),
            first,
            span,
        })
    }

    /// Whether a fit with four parameters, one of them searched at `places` positions, has a
    /// significantly smaller residual than a straight line.
    pub(super) fn is_told(&self, rest: f64, places: usize) -> Option<bool> {
        let straight = self.straight()?.rest;
        let is_rounding = straight <= ROUNDING * self.points.len() as f64;
        Some(!is_rounding && is_better(straight, rest, self.freedom(), places))
    }

    fn freedom(&self) -> f64 {
        (self.points.len() - PARAMETERS) as f64
    }

    /// Returns the maximum residual of positions in the 95 % interval of the likelihood ratio.
    pub(super) fn most(&self, best: f64) -> Option<f64> {
        let freedom = self.freedom();
        let quantile = FisherSnedecor::new(1.0, freedom).ok()?.inverse_cdf(0.95);
        Some(best * (1.0 + quantile / freedom) + ROUNDING)
    }

    pub(super) fn x(&self, place: f64) -> f64 {
        self.first + self.span * place
    }

    /// Returns the points with at least one other on either side.
    fn inner(&self) -> &[PositionedValue] {
        let last = self.points.len().saturating_sub(1);
        self.points.get(1..last).unwrap_or_default()
    }

    fn places(&self) -> usize {
        self.inner().len()
    }

    fn straight(&self) -> Option<Fit> {
        line(&self.points)
    }

    /// Returns the best of all fits: the two lines of each split that meet between its sides, and
    /// lines that meet at a point.
    fn best(&self) -> Option<Fit> {
        let at_points = self.inner().iter().map(|point| point.x);
        let between = (2..self.points.len() - 1).filter_map(|split| self.meeting(split));
        let fits = at_points
            .chain(between)
            .filter_map(|at| meeting_at(&self.points, at));
        fits.min_by(|one, other| one.rest.total_cmp(&other.rest))
    }

    /// Returns the intersection of the lines of the points before and after a split, if it is
    /// between them.
    fn meeting(&self, split: usize) -> Option<f64> {
        let (before, after) = self.points.split_at(split);
        let between = before.last()?.x..=after.first()?.x;
        let (one, other) = (line(before)?, line(after)?);
        // Lines are given by their values at 0.
        let at = (one.value - other.value) / (other.slope_before - one.slope_before);
        between.contains(&at).then_some(at)
    }

    /// Returns the range of positions with a residual hardly larger than the best: the 95 %
    /// interval of the likelihood ratio.
    fn interval(&self, best: &Fit) -> Option<(f64, f64)> {
        let most = self.most(best.rest)?;
        let (from, to) = (self.inner().first()?.x, self.inner().last()?.x);
        let places =
            (0..=PLACES).map(|place| from + (to - from) * f64::from(place) / f64::from(PLACES));
        let likely =
            places.filter(|at| meeting_at(&self.points, *at).is_some_and(|fit| fit.rest <= most));
        Some(likely.fold((best.at, best.at), |(low, high), at| {
            (low.min(at), high.max(at))
        }))
    }
}

/// Fits a straight line to points.
fn line(points: &[PositionedValue]) -> Option<Fit> {
    let mut sums = [0.0; 5];
    for PositionedValue { x, y } in points {
        let weight = 1.0 / (y * y);
        let terms = [1.0, *x, x * x, *y, x * y];
        sums.iter_mut()
            .zip(terms)
            .for_each(|(sum, term)| *sum += weight * term);
    }
    let [ones, xs, squares, ys, products] = sums;
    let determinant = ones * squares - xs * xs;
    if determinant <= ones * squares * f64::EPSILON {
        return None;
    }
    let slope = (ones * products - xs * ys) / determinant;
    let value = (squares * ys - xs * products) / determinant;
    let rest = points
        .iter()
        .map(|point| left(point, value + slope * point.x));
    Some(Fit {
        at: 0.0,
        value,
        slope_before: slope,
        slope_after: slope,
        rest: rest.sum(),
    })
}

/// Returns the weighted squared residual of a point.
fn left(point: &PositionedValue, fitted: f64) -> f64 {
    ((point.y - fitted) / point.y).powi(2)
}

/// Fits the two lines that meet at this position:
/// `value + before·min(x − at, 0) + after·max(x − at, 0)`, by the normal equations of these three.
fn meeting_at(points: &[PositionedValue], at: f64) -> Option<Fit> {
    let ([value, before, after], rest) = fitted(points, |x| terms(x, at))?;
    Some(Fit {
        at,
        value,
        slope_before: before,
        slope_after: after,
        rest,
    })
}

/// Returns the factors of three terms for the best fit to the points, and the residual.
pub(super) fn fitted(
    points: &[PositionedValue],
    terms: impl Fn(f64) -> [f64; 3],
) -> Option<([f64; 3], f64)> {
    let mut matrix = [[0.0; 4]; 3];
    for point in points {
        let weight = 1.0 / (point.y * point.y);
        let terms = terms(point.x);
        for (row, term) in matrix.iter_mut().zip(terms) {
            let all = terms.into_iter().chain([point.y]);
            row.iter_mut()
                .zip(all)
                .for_each(|(sum, other)| *sum += weight * term * other);
        }
    }
    let factors = solved(matrix)?;
    let value = |x: f64| -> f64 {
        let both = terms(x).into_iter().zip(factors);
        both.map(|(term, factor)| term * factor).sum()
    };
    let rest = points.iter().map(|point| left(point, value(point.x)));
    Some((factors, rest.sum()))
}

fn terms(x: f64, at: f64) -> [f64; 3] {
    [1.0, (x - at).min(0.0), (x - at).max(0.0)]
}

/// Solves three linear equations (Gauss, with the largest pivot of each column).
fn solved(mut rows: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for column in 0..3 {
        let pivot = (column..3).max_by(|one, other| {
            let size = |row: &usize| rows[*row][column].abs();
            size(one).total_cmp(&size(other))
        })?;
        rows.swap(column, pivot);
        let lead = rows[column];
        if lead[column].abs() < f64::MIN_POSITIVE {
            return None;
        }
        for (number, row) in rows.iter_mut().enumerate() {
            if number != column {
                let factor = row[column] / lead[column];
                row.iter_mut()
                    .zip(lead)
                    .for_each(|(cell, of_lead)| *cell -= factor * of_lead);
            }
        }
    }
    Some([0, 1, 2].map(|number| rows[number][3] / rows[number][number]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{RandomStream, stream};
    use rand_distr::{Distribution as _, StandardNormal};

    /// 100 + x/10 up to 1472, and twice the slope from there.
    fn bent(x: f64) -> f64 {
        100.0 + x / 10.0 + (x - 1472.0).max(0.0) / 10.0
    }

    fn placed(x: impl IntoIterator<Item = u32>, y: impl Fn(f64) -> f64) -> Vec<PositionedValue> {
        let placed = |x: u32| PositionedValue {
            x: x.into(),
            y: y(x.into()),
        };
        x.into_iter().map(placed).collect()
    }

    #[test]
    fn the_bend_of_two_lines_is_found_between_points_and_at_one() {
        for places in [
            (1..=32).map(|step| step * 100).collect::<Vec<_>>(),
            vec![1, 800, 1472, 2000, 2600, 3000],
            vec![
                1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192,
            ],
        ] {
            let found = bend(&placed(places, bent)).expect("it bends");
            assert!((found.x - 1472.0).abs() < 1e-3, "{found:?}");
            assert!((found.y - 247.2).abs() < 1e-6, "{found:?}");
            assert!((found.slope_before - 0.1).abs() < 1e-9, "{found:?}");
            assert!((found.slope_after - 0.2).abs() < 1e-9, "{found:?}");
            assert!(found.low <= found.x && found.x <= found.high, "{found:?}");
        }
    }

    #[test]
    fn a_straight_line_and_too_few_points_have_none() {
        assert_eq!(
            bend(&placed((1..20).map(|x| x * 100), |x| 7.0 + 3.0 * x)),
            None
        );
        assert_eq!(bend(&placed((1..20).map(|x| x * 100), |_| 7.0)), None);
        assert_eq!(bend(&placed([1, 2, 3, 4, 5], |x| x.powi(4))), None);
        assert_eq!(
            bend(&placed([1, 2, 3, 3, 5, 6, 7], bent)),
            None,
            "two at one place"
        );
        assert_eq!(
            bend(&placed(1..20, |x| x - 5.0)),
            None,
            "not all are more than 0"
        );
        assert_eq!(bend(&[]), None);
    }

    #[test]
    fn a_throughput_that_stops_growing_bends_at_saturation() {
        let in_flight = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16];
        let found = bend(&placed(in_flight, |x| 1000.0 * x.min(4.0))).expect("it bends");
        assert!(
            (found.x - 4.0).abs() < 1e-9 && found.slope_after.abs() < 1e-6,
            "{found:?}"
        );
    }

    #[test]
    fn with_noise_the_interval_holds_the_bend_and_straight_lines_seldom_bend() {
        let mut random = stream(5, RandomStream::Permutations, 0);
        let tries = 400;
        let (mut held, mut told, mut alarms) = (0, 0, 0);
        for _ in 0..tries {
            let mut noisy = |line: &dyn Fn(f64) -> f64| {
                let mut points = placed((1..=32).map(|step| step * 100), line);
                for point in &mut points {
                    let noise: f64 = StandardNormal.sample(&mut random);
                    point.y *= 1.0 + 0.02 * noise;
                }
                bend(&points)
            };
            if let Some(found) = noisy(&bent) {
                told += 1;
                held += u32::from((found.low..=found.high).contains(&1472.0));
            }
            alarms += u32::from(noisy(&|x| 100.0 + x / 10.0).is_some());
        }
        assert_eq!(told, tries);
        // 95 % would be 380 ± 4.4; the rate of alarms is 1 % at most.
        assert!((365..=395).contains(&held), "{held}");
        assert!(alarms <= 8, "{alarms}");
    }
}
