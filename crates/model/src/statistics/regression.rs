//! A straight line through points, by weighted least squares.
//!
//! With weights wᵢ, means x̄ = Σwx/Σw and ȳ likewise, and S = Σw(x − x̄)², the slope is
//! Σw(x − x̄)(y − ȳ)/S and its variance s²/S, where s² = Σw·r²/(n − 2) of the residuals r. The
//! intercept ȳ − slope·x̄ has the variance s²(1/Σw + x̄²/S). Both follow Student's distribution with
//! n − 2 degrees of freedom where the residuals are normal with variances ∝ 1/w (Draper and Smith,
//! *Applied Regression Analysis*, sections 1.4 and 9.2).

use super::Estimate;

/// The fewest points that leave something to tell by how far off a line is.
pub const POINTS_MIN: usize = 3;

/// A point that a line is fitted to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedPoint {
    /// What was set.
    pub x: f64,
    /// What came of it.
    pub y: f64,
    /// How much it counts: the inverse of its variance, in any unit.
    pub weight: f64,
}

/// A fitted line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedLine {
    /// How much y grows with x.
    pub slope: Estimate,
    /// What y is where x is 0.
    pub intercept: Estimate,
}

/// Why no line can be fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoLine {
    /// Through two points there is always one, and nothing tells how far off it is.
    #[error("there are {count} points, and it takes {POINTS_MIN}")]
    FewPoints {
        /// How many there are.
        count: usize,
    },
    /// All have the same x, so nothing tells slope and intercept apart.
    #[error("all points are at one load, and it takes two, one of which may be none")]
    OneLoad,
    /// One of them is not finite, or has no positive weight.
    #[error("a point is not a number")]
    NotANumber,
}

/// The line that is nearest to these points.
pub fn fit(points: &[FittedPoint]) -> Result<FittedLine, NoLine> {
    let is_sound = |p: &FittedPoint| {
        p.x.is_finite() && p.y.is_finite() && p.weight.is_finite() && p.weight > 0.0
    };
    if !points.iter().all(is_sound) {
        return Err(NoLine::NotANumber);
    }
    let count = points.len();
    if count < POINTS_MIN {
        return Err(NoLine::FewPoints { count });
    }
    let sum =
        |of: &dyn Fn(&FittedPoint) -> f64| points.iter().map(|p| p.weight * of(p)).sum::<f64>();
    let weights = sum(&|_| 1.0);
    let (x_mean, y_mean) = (sum(&|p| p.x) / weights, sum(&|p| p.y) / weights);
    let spread = sum(&|p| (p.x - x_mean).powi(2));
    // Loads that differ by rounding alone are one load.
    if spread <= weights * (x_mean.abs().max(1e-300) * 1e-9).powi(2) {
        return Err(NoLine::OneLoad);
    }
    let slope = sum(&|p| (p.x - x_mean) * (p.y - y_mean)) / spread;
    let intercept = y_mean - slope * x_mean;
    let freedom = (count - 2) as f64;
    let variance = sum(&|p| (p.y - intercept - slope * p.x).powi(2)) / freedom;
    let estimate = |value, variance: f64| Estimate {
        value,
        standard_error: variance.sqrt(),
        freedom,
    };
    Ok(FittedLine {
        slope: estimate(slope, variance / spread),
        intercept: estimate(
            intercept,
            variance * (1.0 / weights + x_mean.powi(2) / spread),
        ),
    })
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

    /// On paper: x = 0, 1, 2 and y = 0, 1, 1. Means 1 and 2/3, S = 2, slope 1/2, intercept 1/6;
    /// residuals -1/6, 1/3, -1/6, so s2 = 1/6 with one degree of freedom, the slope's standard error
    /// is sqrt(1/12), and the intercept's sqrt(1/6 (1/3 + 1/2)).
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
        assert_eq!(fit(&two), Err(NoLine::FewPoints { count: 2 }));
        let one_load = points(&[1e5, 1e5, 1e5], &[1.0, 2.0, 3.0], &[1.0; 3]);
        assert_eq!(fit(&one_load), Err(NoLine::OneLoad));
        assert_eq!(
            fit(&points(&[0.0; 4], &[1.0; 4], &[1.0; 4])),
            Err(NoLine::OneLoad)
        );
        for (y, weight) in [(f64::NAN, 1.0), (f64::INFINITY, 1.0), (1.0, 0.0)] {
            let mut some = points(&[0.0, 1.0, 2.0], &[0.0, 1.0, 2.0], &[1.0; 3]);
            some[1] = FittedPoint { x: 1.0, y, weight };
            assert_eq!(fit(&some), Err(NoLine::NotANumber));
        }
    }

    /// How often, of 1,000 seeds, the 95 % interval holds 5 us for each operation, where a
    /// background takes `idle_ns` in each second with this standard deviation.
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

    /// 950 are expected of 1,000, with a standard deviation of 6.9. What others use of the processor
    /// all the time, 30 % of it, is in the intercept and not in the slope.
    #[test]
    fn intervals_hold_the_true_cost_as_often_as_they_say() {
        for (idle_ns, deviation_ns) in [(0.0, 1e6), (3e8, 1e7)] {
            let held = coverage(idle_ns, deviation_ns);
            assert!((929..=971).contains(&held), "{held} of 1,000");
        }
    }
}
