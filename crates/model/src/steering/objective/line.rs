//! A straight line through what was seen at loads near the one that is looked for.
//!
//! The line is not in the figure itself but in what is nearly straight against the load for
//! a queue near its capacity: the logit of the share of responses above the bound, and the
//! reciprocal of the mean. For M/M/1 both are exact, R being exponential with rate μ − λ.
//! The line is fitted by iterated weighted least squares to counts and sums as they are
//! (McCullagh and Nelder, *Generalized Linear Models*, 2nd edition, 1989, sections 2.5 and
//! 9.2: quasi-likelihood), so that an interval without a single slow response needs no
//! special case and no average of reciprocals biases the mean. Where the line meets the
//! objective comes with Fieller's interval (*Some problems in interval estimation*, Journal
//! of the Royal Statistical Society B 16, 1954).

/// What is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Law {
    /// The share of responses above the bound; it must come to this.
    Share {
        /// 0.01 for p99.
        target: f64,
    },
    /// The mean response time as a multiple of the bound; it must come to 1.
    Mean,
}

impl Law {
    /// The linear predictor at which the objective just holds.
    fn target(self) -> f64 {
        match self {
            Law::Share { target } => (target / (1.0 - target)).ln(),
            Law::Mean => -1.0,
        }
    }

    /// How far from the target, in the linear predictor, it is worth measuring: shares of
    /// 0.6 and 1.6 times the target, means of 0.89 and 1.14 times the bound.
    fn reach(self) -> f64 {
        match self {
            Law::Share { .. } => 0.5,
            Law::Mean => 0.12,
        }
    }

    /// Where the linear predictor stops: shares and means beyond are as good as 0 or infinite.
    fn clamp(self, predictor: f64) -> f64 {
        match self {
            Law::Share { .. } => predictor.clamp(-16.0, 16.0),
            Law::Mean => predictor.clamp(-100.0, -0.03),
        }
    }

    /// Expected value, its slope against the linear predictor, and the variance of a single
    /// response up to a common factor.
    ///
    /// The variance of the mean of a queue's response times grows with the fourth power of
    /// the mean as the load comes near the capacity (Whitt, *Planning queueing simulations*,
    /// Management Science 35, 1989). Responses above a bound come in bursts that grow with the
    /// load, so that the scatter of a share relative to itself hardly falls as it grows: not
    /// the binomial variance, but its square. With both, all responses weigh the same.
    fn at(self, predictor: f64) -> (f64, f64, f64) {
        match self {
            Law::Share { .. } => {
                let share = 1.0 / (1.0 + (-predictor).exp());
                let slope = share * (1.0 - share);
                (share, slope, slope * slope)
            }
            Law::Mean => {
                let mean = -1.0 / predictor;
                (mean, mean * mean, mean.powi(4))
            }
        }
    }

    /// The longest response time to be expected, in units of the bound: of exponential
    /// response times that just keep the objective, one in 10¹⁸ is longer.
    pub(super) fn longest(self) -> f64 {
        let tail = 1e18_f64.ln();
        match self {
            Law::Share { target } => tail / -target.ln(),
            Law::Mean => tail,
        }
    }

    fn predictor_of(self, value: f64) -> f64 {
        self.clamp(match self {
            Law::Share { .. } => {
                let share = value.clamp(1e-7, 1.0 - 1e-7);
                (share / (1.0 - share)).ln()
            }
            Law::Mean => -1.0 / value.max(1e-3),
        })
    }
}

/// One interval's worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    /// Offered load.
    pub load: f64,
    /// Responses.
    pub count: f64,
    /// Of these above the bound; or the sum of response times in units of the bound.
    pub total: f64,
    /// The longest response time in units of the bound.
    pub longest: f64,
    /// Points of one batch, which follow each other, count as one observation.
    pub batch: u32,
}

/// The fitted line: predictor = height + slope × (load / centre − 1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    law: Law,
    centre: f64,
    height: f64,
    slope: f64,
    /// Covariances of height and slope: of the one, of both, of the other.
    covariance: [f64; 3],
    /// Independent observations beyond the two that a line takes.
    freedom: f64,
}

/// Sums of a weighted regression.
#[derive(Default)]
struct Sums {
    w: f64,
    wx: f64,
    wxx: f64,
    wz: f64,
    wxz: f64,
}

impl Sums {
    fn determinant(&self) -> f64 {
        self.w * self.wxx - self.wx * self.wx
    }
}

impl Line {
    /// Fits a line; `None` where the points do not give one that rises with the load.
    pub(super) fn fit(law: Law, centre: f64, points: &[Point]) -> Option<Self> {
        let count: f64 = points.iter().map(|point| point.count).sum();
        let total: f64 = points.iter().map(|point| point.total).sum();
        let mut line = Self {
            law,
            centre,
            height: law.predictor_of(total / count),
            slope: 0.0,
            covariance: [0.0; 3],
            freedom: 0.0,
        };
        for _ in 0..60 {
            let sums = line.sums(points);
            let determinant = sums.determinant();
            if determinant.is_nan() || determinant <= 1e-12 * sums.w * sums.wxx {
                return None;
            }
            let height = (sums.wxx * sums.wz - sums.wx * sums.wxz) / determinant;
            let slope = (sums.w * sums.wxz - sums.wx * sums.wz) / determinant;
            // A step that is too long leads out of where the approximation holds.
            let step = (height - line.height).clamp(-2.0, 2.0);
            let moved = step.abs() + (slope - line.slope).abs() / (1.0 + slope.abs());
            line.height = law.clamp(line.height + step);
            line.slope = slope;
            if moved < 1e-9 {
                break;
            }
        }
        if !line.height.is_finite() || line.slope.is_nan() || line.slope <= 0.0 {
            return None;
        }
        line.spread(points)?;
        Some(line)
    }

    fn x(&self, load: f64) -> f64 {
        load / self.centre - 1.0
    }

    fn predictor(&self, load: f64) -> f64 {
        self.law.clamp(self.height + self.slope * self.x(load))
    }

    fn sums(&self, points: &[Point]) -> Sums {
        points.iter().fold(Sums::default(), |mut sums, point| {
            let predictor = self.predictor(point.load);
            let (value, slope, variance) = self.law.at(predictor);
            let w = point.count * slope * slope / variance;
            let z = predictor + (point.total / point.count - value) / slope;
            let x = self.x(point.load);
            sums.w += w;
            sums.wx += w * x;
            sums.wxx += w * x * x;
            sums.wz += w * z;
            sums.wxz += w * x * z;
            sums
        })
    }

    /// How far a point is from the line, in units of the standard deviation.
    pub(super) fn residual(&self, point: &Point) -> f64 {
        let (value, _, variance) = self.law.at(self.predictor(point.load));
        (point.total - point.count * value) / (point.count * variance).sqrt()
    }

    /// Sets the covariance from how far batches are from the line.
    ///
    /// Response times that follow each other are alike, so batches scatter more than
    /// independent responses would; and batches that follow each other may still be alike,
    /// which their correlation tells: a sum of values with correlation r between neighbours
    /// has (1+r)/(1−r) times the variance.
    fn spread(&mut self, points: &[Point]) -> Option<()> {
        let mut residuals = Vec::new();
        for batch in points.chunk_by(|left, right| left.batch == right.batch) {
            let (mut off, mut variance) = (0.0, 0.0);
            for point in batch {
                let (value, _, each) = self.law.at(self.predictor(point.load));
                off += point.total - point.count * value;
                variance += point.count * each;
            }
            residuals.push(off / variance.sqrt());
        }
        let batches = residuals.len() as f64;
        if batches < 5.0 {
            return None;
        }
        let squares: f64 = residuals.iter().map(|r| r * r).sum();
        let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let alike = (products / squares.max(f64::MIN_POSITIVE)).clamp(0.0, 0.6);
        let inflation = (1.0 + alike) / (1.0 - alike);
        let factor = squares / (batches - 2.0);
        let sums = self.sums(points);
        let scale = factor * inflation / sums.determinant();
        self.covariance = [sums.wxx * scale, -sums.wx * scale, sums.w * scale];
        self.freedom = (batches / inflation - 2.0).max(3.0);
        Some(())
    }

    /// How uncertain the line's height is, in the linear predictor.
    pub(super) fn uncertainty(&self) -> f64 {
        self.covariance[0].sqrt()
    }

    /// The load at which the line meets the objective.
    pub(super) fn root(&self) -> f64 {
        self.centre * (1.0 + (self.law.target() - self.height) / self.slope)
    }

    /// How far from the root it is worth measuring, as a share of the load.
    pub(super) fn reach(&self) -> f64 {
        self.law.reach() / self.slope
    }

    /// The loads between which the root lies with 95 % confidence; `None` if the slope may
    /// as well be 0.
    pub(super) fn interval(&self) -> Option<(f64, f64)> {
        let [height, both, slope] = self.covariance;
        let t = student_975(self.freedom);
        let off = self.height - self.law.target();
        let a = self.slope * self.slope - t * t * slope;
        let b = off * self.slope - t * t * both;
        let c = off * off - t * t * height;
        let discriminant = b * b - a * c;
        if a <= 0.0 || discriminant.is_nan() || discriminant < 0.0 {
            return None;
        }
        let root = discriminant.sqrt();
        let at = |x: f64| self.centre * (1.0 + x);
        Some((at((-b - root) / a), at((-b + root) / a)))
    }
}

/// The 97.5 % quantile of Student's t, by Cornish and Fisher's expansion (Abramowitz and
/// Stegun, 26.7.5); 0.3 % off at three degrees of freedom, better beyond.
pub(super) fn student_975(freedom: f64) -> f64 {
    const Z: f64 = 1.959_963_984_540_054;
    let n = freedom.max(3.0);
    let square = Z * Z;
    let first = Z * (square + 1.0) / 4.0;
    let second = Z * ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = Z * (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    let fourth = Z
        * ((((79.0 * square + 776.0) * square + 1482.0) * square - 1920.0) * square - 945.0)
        / 92160.0;
    Z + (first + (second + (third + fourth / n) / n) / n) / n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_quantiles_are_those_of_the_tables() {
        for (freedom, truth) in [
            (3.0, 3.182),
            (5.0, 2.571),
            (10.0, 2.228),
            (30.0, 2.042),
            (1e9, 1.960),
        ] {
            let error = student_975(freedom) / truth - 1.0;
            assert!(error.abs() < 0.004, "{freedom}: {error}");
        }
    }

    #[test]
    fn a_line_through_the_expected_values_meets_the_objective_where_it_is() {
        // M/M/1 of capacity 1000: the mean in units of 10 ms is 100/(1000 − λ), which is 1
        // at 900; the share above 46.05 ms is e^(−46.05 (1 − λ/1000)), which is 1 % at 900.
        for law in [Law::Mean, Law::Share { target: 0.01 }] {
            let points: Vec<Point> = (0..12)
                .map(|index| {
                    let load = if index % 2 == 0 { 895.0 } else { 905.0 };
                    let value = match law {
                        Law::Mean => 100.0 / (1000.0 - load),
                        Law::Share { .. } => (-100_f64.ln() / 100.0 * (1000.0 - load)).exp(),
                    };
                    Point {
                        load,
                        count: 1e5,
                        total: 1e5 * value * if index % 4 < 2 { 1.001 } else { 0.999 },
                        longest: 1.0,
                        batch: index,
                    }
                })
                .collect();
            let line = Line::fit(law, 890.0, &points).expect("two loads");
            assert!((line.root() - 900.0).abs() < 0.2, "{}", line.root());
            let (lower, upper) = line.interval().expect("a clear slope");
            assert!(lower < line.root() && line.root() < upper);
        }
    }

    #[test]
    fn one_load_makes_no_line() {
        let point = |batch| Point {
            load: 100.0,
            count: 1000.0,
            total: 10.0,
            longest: 1.0,
            batch,
        };
        let points: Vec<Point> = (0..10).map(point).collect();
        assert_eq!(Line::fit(Law::Share { target: 0.01 }, 100.0, &points), None);
    }
}
