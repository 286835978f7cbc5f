//! Straight lines by weighted least squares.
//!
//! With weights wᵢ, means x̄ = Σwx/Σw and ȳ = Σwy/Σw, and S = Σw(x − x̄)², the slope is
//! Σw(x − x̄)(y − ȳ)/S and its variance s²/S, where s² = Σw·r²/(n − 2) with the residuals r. The
//! intercept ȳ − slope·x̄ has the variance s²(1/Σw + x̄²/S). Both follow Student's distribution with
//! n − 2 degrees of freedom if the residuals are normal with variances ∝ 1/w (Draper and Smith,
//! *Applied Regression Analysis*, sections 1.4 and 9.2).

use super::Estimate;

/// Minimum number of points for an estimate of the error of a line.
pub const POINTS_MIN: usize = 3;

/// A point for the fit of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedPoint {
    /// The independent variable.
    pub x: f64,
    /// The dependent variable.
    pub y: f64,
    /// The weight: the inverse of the variance, in any unit.
    pub weight: f64,
}

/// A fitted line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedLine {
    /// The slope.
    pub slope: Estimate,
    /// The value of y at x = 0.
    pub intercept: Estimate,
}

/// Error returned when no line can be fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// There are too few points to estimate the error of the line.
    #[error("there are {count} points, and it takes {POINTS_MIN}")]
    FewPoints {
        /// Number of points.
        count: usize,
    },
    /// All points have the same x, so slope and intercept cannot be separated.
    #[error("all points are at one load, and it takes two, one of which may be none")]
    OneLoad,
    /// A point is not finite, or has no positive weight.
    #[error("a point is not a number")]
    NotANumber,
}

/// Fits a line to these points.
pub fn fit(points: &[FittedPoint]) -> Result<FittedLine, FitError> {
    check(points.iter(), POINTS_MIN)?;
    let sum = |of: fn(&FittedPoint) -> f64| points.iter().map(|p| p.weight * of(p)).sum::<f64>();
    let weight = sum(|_| 1.0);
    let (x, y) = (sum(|p| p.x) / weight, sum(|p| p.y) / weight);
    let rest = |p: &FittedPoint| FittedPoint {
        x: p.x - x,
        y: p.y - y,
        weight: p.weight,
    };
    let rests: Vec<FittedPoint> = points.iter().map(rest).collect();
    through(FittedPoint { x, y, weight }, || rests.iter(), 2)
}

/// Returns the line through the mean of all points, which has their total weight, with the slope
/// that fits their deviations best. `taken` is the number of parameters estimated from the points,
/// including the slope.
fn through<'rest, I: Iterator<Item = &'rest FittedPoint>>(
    mean: FittedPoint,
    rests: impl Fn() -> I,
    taken: usize,
) -> Result<FittedLine, FitError> {
    let sum = |of: &dyn Fn(&FittedPoint) -> f64| rests().map(|p| p.weight * of(p)).sum::<f64>();
    let spread = sum(&|p| p.x * p.x);
    // Loads that differ only by rounding are one load.
    if spread <= mean.weight * (mean.x.abs().max(1e-300) * 1e-9).powi(2) {
        return Err(FitError::OneLoad);
    }
    let slope = sum(&|p| p.x * p.y) / spread;
    let freedom = rests().count().saturating_sub(taken) as f64;
    let variance = sum(&|p| (p.y - slope * p.x).powi(2)) / freedom;
    let estimate = |value, variance: f64| Estimate {
        value,
        standard_error: variance.sqrt(),
        freedom,
    };
    Ok(FittedLine {
        slope: estimate(slope, variance / spread),
        intercept: estimate(
            mean.y - slope * mean.x,
            variance * (1.0 / mean.weight + mean.x.powi(2) / spread),
        ),
    })
}

/// Checks that all points are finite and that there are at least `needed`.
fn check<'point>(
    points: impl Iterator<Item = &'point FittedPoint>,
    needed: usize,
) -> Result<(), FitError> {
    let mut count = 0;
    for p in points {
        let is_finite = p.x.is_finite() && p.y.is_finite() && p.weight.is_finite();
        if !is_finite || p.weight <= 0.0 {
            return Err(FitError::NotANumber);
        }
        count += 1;
    }
    if count < needed {
        return Err(FitError::FewPoints { count });
    }
    Ok(())
}

/// A point and its time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimedPoint {
    /// The time, in any unit.
    pub time: f64,
    /// The point.
    pub point: FittedPoint,
}

/// Fits lines with a common slope to groups of points. Each group has an intercept that may drift
/// linearly with time, so that neither differences between groups nor drifts affect the slope. The
/// intercept is the mean of the groups' intercepts at the middle of their times. Groups of fewer
/// than three points contain no information and are ignored.
///
/// With x and y as deviations from the lines of their groups over time, the slope is Σwxy/Σwx², and
/// its variance s²/Σwx² with s² = Σw·r²/(n − 2g − 1) for n points in g groups (Frisch and Waugh
/// 1933, "Partial time regressions as compared with individual trends", *Econometrica* 1).
pub fn fit_groups(groups: &[Vec<TimedPoint>]) -> Result<FittedLine, FitError> {
    let groups: Vec<Group> = groups
        .iter()
        .filter(|group| group.len() >= POINTS_MIN)
        .map(|group| Group::of(group))
        .collect::<Result<_, _>>()?;
    let rests = || groups.iter().flat_map(|group| &group.rests);
    let (count, taken) = (rests().count(), 2 * groups.len() + 1);
    if count <= taken {
        return Err(FitError::FewPoints { count });
    }
    let over_groups = |of: fn(&FittedPoint) -> f64| groups.iter().map(|g| of(&g.mean)).sum::<f64>();
    let weight = over_groups(|mean| mean.weight);
    let mean = FittedPoint {
        x: over_groups(|mean| mean.weight * mean.x) / weight,
        y: over_groups(|mean| mean.weight * mean.y) / weight,
        weight,
    };
    through(mean, rests, taken)
}

/// A group: its means, and the residuals of its points after means and linear drift are removed.
struct Group {
    mean: FittedPoint,
    rests: Vec<FittedPoint>,
}

impl Group {
    fn of(points: &[TimedPoint]) -> Result<Self, FitError> {
        check(points.iter().map(|timed| &timed.point), POINTS_MIN)?;
        let sum = |of: &dyn Fn(&TimedPoint) -> f64| -> f64 {
            points.iter().map(|p| p.point.weight * of(p)).sum()
        };
        let weight = sum(&|_| 1.0);
        let mean = |of: &dyn Fn(&TimedPoint) -> f64| sum(of) / weight;
        let (time, x, y) = (
            mean(&|p| p.time),
            mean(&|p| p.point.x),
            mean(&|p| p.point.y),
        );
        let spread = sum(&|p| (p.time - time).powi(2));
        let change = |of: &dyn Fn(&TimedPoint) -> f64| {
            let change = sum(&|p| (p.time - time) * of(p)) / spread;
            if spread > 0.0 { change } else { 0.0 }
        };
        let (x_change, y_change) = (change(&|p| p.point.x - x), change(&|p| p.point.y - y));
        let rest = |p: &TimedPoint| FittedPoint {
            x: p.point.x - x - x_change * (p.time - time),
            y: p.point.y - y - y_change * (p.time - time),
            weight: p.point.weight,
        };
        Ok(Self {
            mean: FittedPoint { x, y, weight },
            rests: points.iter().map(rest).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_distr::{Distribution, Normal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn points(x: &[f64], y: &[f64], weights: &[f64]) -> Vec<FittedPoint> {
        let all = x.iter().zip(y).zip(weights);
        all.map(|((&x, &y), &weight)| FittedPoint { x, y, weight })
            .collect()
    }

    #[track_caller]
    fn assert_near(found: f64, golden: f64) {
        assert!(
            (found - golden).abs() < 1e-9 * golden.abs().max(1.0),
            "{found} instead of {golden}"
        );
    }

    /// Computed by hand: x = 0, 1, 2 and y = 0, 1, 1. Means 1 and 2/3, S = 2, slope 1/2, intercept
    /// 1/6; residuals -1/6, 1/3, -1/6, so s2 = 1/6 with one degree of freedom, the slope's standard
    /// error is sqrt(1/12), and the intercept's sqrt(1/6 (1/3 + 1/2)).
    #[test]
    fn three_points_on_paper() {
        let line = fit(&points(&[0.0, 1.0, 2.0], &[0.0, 1.0, 1.0], &[1.0; 3])).unwrap();
        assert_near(line.slope.value, 0.5);
        assert_near(line.intercept.value, 1.0 / 6.0);
        assert_near(line.slope.standard_error, (1.0_f64 / 12.0).sqrt());
        let of_intercept: f64 = 1.0 / 6.0 * (1.0 / 3.0 + 1.0 / 2.0);
        assert_near(line.intercept.standard_error, of_intercept.sqrt());
        assert_eq!(line.slope.freedom, 1.0);
    }

    /// Ascending and descending loads, one per second: y grows by 10 per second, and by 3 per x.
    fn there_and_back(higher: f64, off: [f64; 6]) -> Vec<TimedPoint> {
        let loads = [0.0, 1.0, 2.0, 2.0, 1.0, 0.0];
        let times = (0..6).map(f64::from);
        let points = times
            .zip(loads)
            .zip(off)
            .map(|((time, x), off)| TimedPoint {
                time,
                point: FittedPoint {
                    x,
                    y: higher + 10.0 * time + 3.0 * x + off,
                    weight: 1.0,
                },
            });
        points.collect()
    }

    #[test]
    fn what_groups_differ_by_and_what_grows_is_in_no_slope() {
        let few = there_and_back(7.0, [0.0; 6])[..2].to_vec();
        let groups = [0.0, 1000.0].map(|higher| there_and_back(higher, [0.0; 6]));
        let line = fit_groups(&[groups[0].clone(), few, groups[1].clone()]).unwrap();
        assert_near(line.slope.value, 3.0);
        assert!(line.slope.standard_error < 1e-9, "{line:?}");
        // At the middle of the times, the drift is 25.
        assert_near(line.intercept.value, 525.0);
        assert_eq!(line.slope.freedom, 7.0);
    }

    /// Computed by hand: x from its mean is -1, 0, 1, 1, 0, -1, so Σx² = 4, and errors of 1, -1, 0,
    /// 0, -1, 1 reduce the slope by 2/4. The residuals are ½, -1, ½, ½, -1, ½, so Σr² = 3 with 6 -
    /// 2 - 1 degrees of freedom, s² = 1, and the slope's standard error is √(1/4). Two of these
    /// have √(6/7/8).
    #[test]
    fn the_error_of_groups_is_that_on_paper() {
        let group = there_and_back(0.0, [1.0, -1.0, 0.0, 0.0, -1.0, 1.0]);
        let one = fit_groups(std::slice::from_ref(&group)).unwrap();
        assert_near(one.slope.value, 2.5);
        assert_near(one.slope.standard_error, 0.5);
        assert_eq!(one.slope.freedom, 3.0);
        let two = fit_groups(&[group.clone(), group]).unwrap();
        assert_near(two.slope.value, 2.5);
        assert_near(two.slope.standard_error, (6.0_f64 / 7.0 / 8.0).sqrt());
    }

    #[test]
    fn groups_of_one_load_each_tell_nothing() {
        let group = |load: f64| {
            let mut points = there_and_back(0.0, [0.0; 6]);
            points.iter_mut().for_each(|timed| timed.point.x = load);
            points
        };
        assert_eq!(
            fit_groups(&[group(5.0), group(7.0)]),
            Err(FitError::OneLoad)
        );
        let three = group(5.0)[..3].to_vec();
        assert_eq!(fit_groups(&[three]), Err(FitError::FewPoints { count: 3 }));
        assert_eq!(fit_groups(&[]), Err(FitError::FewPoints { count: 0 }));
    }

    /// Golden values of numpy and scipy: xtask/golden/statistics.py.
    #[test]
    fn weighted_lines_are_those_of_numpy() {
        let x = [0.0, 0.0, 1000.0, 2000.0, 2000.0, 4000.0];
        let y = [310.0, 290.0, 5290.0, 10_320.0, 10_270.0, 20_330.0];
        let line = fit(&points(&x, &y, &[3.0, 1.0, 2.0, 1.0, 0.5, 4.0])).unwrap();
        assert_near(line.slope.value, 5.0071834625323);
        assert_near(line.intercept.value, 297.7519379844951);
        assert_near(line.slope.standard_error, 0.003_810_767_262_890_268_6);
        assert_near(line.intercept.standard_error, 9.535_198_835_153_363);
        assert_near(line.slope.half_width(), 0.010_580_386_114_099_68);
    }

    #[test]
    fn what_tells_nothing_is_refused() {
        let two = points(&[0.0, 1.0], &[0.0, 1.0], &[1.0; 2]);
        assert_eq!(fit(&two), Err(FitError::FewPoints { count: 2 }));
        let one_load = points(&[1e5, 1e5, 1e5], &[1.0, 2.0, 3.0], &[1.0; 3]);
        assert_eq!(fit(&one_load), Err(FitError::OneLoad));
        assert_eq!(
            fit(&points(&[0.0; 4], &[1.0; 4], &[1.0; 4])),
            Err(FitError::OneLoad)
        );
        for (y, weight) in [(f64::NAN, 1.0), (f64::INFINITY, 1.0), (1.0, 0.0)] {
            let mut some = points(&[0.0, 1.0, 2.0], &[0.0, 1.0, 2.0], &[1.0; 3]);
            some[1] = FittedPoint { x: 1.0, y, weight };
            assert_eq!(fit(&some), Err(FitError::NotANumber));
        }
    }

    /// Returns the number of 1,000 seeds whose 95 % interval contains 5 us per operation, with a
    /// background of `idle_ns` per second with this standard deviation.
    fn coverage(idle_ns: f64, deviation_ns: f64) -> usize {
        let rates = [0.0, 0.0, 0.0, 2e3, 2e3, 5e3, 5e3, 1e4, 1e4, 2e4];
        let noise = Normal::new(0.0, deviation_ns).unwrap();
        let holds = |seed| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let y = rates.map(|rate| 5000.0 * rate + idle_ns + noise.sample(&mut random));
            let slope = fit(&points(&rates, &y, &[1.0; 10])).unwrap().slope;
            (slope.value - 5000.0).abs() <= slope.half_width()
        };
        (0..1000).filter(|&seed| holds(seed)).count()
    }

    /// 950 of 1,000 are expected, with a standard deviation of 6.9. A constant background of 30 %
    /// of the CPU is part of the intercept and not of the slope.
    #[test]
    fn intervals_hold_the_true_cost_as_often_as_they_say() {
        for (idle_ns, deviation_ns) in [(0.0, 1e6), (3e8, 1e7)] {
            let held = coverage(idle_ns, deviation_ns);
            assert!((929..=971).contains(&held), "{held} of 1,000");
        }
    }
}
