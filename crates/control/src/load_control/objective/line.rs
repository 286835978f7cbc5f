//! A straight line fitted to the results at loads near the one that is searched.
//!
//! The line is not fitted to the figure itself but to a function that is nearly straight against
//! the load for a queue near its capacity: the logit of the fraction of responses above the bound,
//! and the reciprocal of the mean. For M/M/1 both are exact, R being exponential with rate μ − λ.
//! The line is fitted by iterated weighted least squares to unmodified counts and sums (McCullagh
//! and Nelder, *Generalized Linear Models*, 2nd edition, 1989, sections 2.5 and 9.2:
//! quasi-likelihood), so that an interval without a single slow response needs no special case and
//! no average of reciprocals biases the mean. With several servers the line bends: the fit has a
//! quadratic term that a normal prior around 0 keeps small, so that the interval grows by the
//! uncertainty that the tried loads leave about it. The load where the line meets the objective has
//! Fieller's interval (*Some problems in interval estimation*, Journal of the Royal Statistical
//! Society B 16, 1954).

use super::law::ResponseModel;

/// Data of one interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FitPoint {
    /// Offered load.
    pub load: f64,
    /// Number of responses.
    pub count: f64,
    /// Number of responses above the bound; or the sum of response times in units of the bound.
    pub total: f64,
    /// Longest response time in units of the bound.
    pub longest: f64,
    /// Consecutive points of one batch count as one observation.
    pub batch: u32,
}

/// The fitted curve: predictor = height + slope·x + bend·x², x being load / centre − 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FittedCurve {
    law: ResponseModel,
    centre: f64,
    /// Height, slope and bend.
    terms: Vector,
    /// Covariances of the terms.
    covariance: Matrix,
    /// Variance of a batch of one response, in units of the model's variance.
    dispersion: f64,
    /// Independent observations beyond the two that a line requires.
    freedom: f64,
}

impl FittedCurve {
    /// Fits a line; `None` if the points do not give one that rises with the load.
    pub(super) fn fit(law: ResponseModel, centre: f64, points: &[FitPoint]) -> Option<Self> {
        let batches: Vec<FitPoint> = points
            .chunk_by(|left, right| left.batch == right.batch)
            .filter_map(joined)
            .collect();
        let points = batches.as_slice();
        let count: f64 = points.iter().map(|point| point.count).sum();
        let total: f64 = points.iter().map(|point| point.total).sum();
        let mut line = Self {
            law,
            centre,
            terms: [law.predictor_of(total / count), 0.0, 0.0],
            covariance: Matrix::default(),
            dispersion: 0.0,
            freedom: 0.0,
        };
        line.step_until_still(points, true)?;
        line.spread(points)?;
        Some(line.bent(points).unwrap_or(line))
    }

    /// Fits the line with a bend; `None` if the bent curve misses the objective.
    fn bent(mut self, points: &[FitPoint]) -> Option<Self> {
        // The bend depends on the scatter, and the scatter hardly on the bend.
        for _ in 0..2 {
            self.step_until_still(points, false)?;
            self.spread(points)?;
        }
        self.root_off().map(|_| self)
    }

    fn step_until_still(&mut self, points: &[FitPoint], is_straight: bool) -> Option<()> {
        for _ in 0..60 {
            let (mut squares, products) = self.sums(points);
            if is_straight {
                squares[2] = [0.0, 0.0, 1.0];
                squares[0][2] = 0.0;
                squares[1][2] = 0.0;
            } else {
                squares[2][2] += self.dispersion / self.bend_expected().powi(2);
            }
            let inverse = inverse(&squares)?;
            let mut terms = times(&inverse, &products);
            if is_straight {
                terms[2] = 0.0;
            }
            // Too long a step would leave the range where the approximation is valid.
            let [height, slope, _] = self.terms;
            let step = (terms[0] - height).clamp(-2.0, 2.0);
            let moved = step.abs() + (terms[1] - slope).abs() / (1.0 + slope.abs());
            self.terms = [self.law.clamp(height + step), terms[1], terms[2]];
            self.covariance = inverse;
            if terms[1].is_nan() || moved < 1e-9 {
                break;
            }
        }
        let [height, slope, _] = self.terms;
        (height.is_finite() && slope > 0.0).then_some(())
    }

    /// Returns the expected bend of the line, from the curves of queues.
    fn bend_expected(&self) -> f64 {
        let slope = self.terms[1].max(1e-3);
        0.5 * self.law.bend(slope) * slope * slope
    }

    fn x(&self, load: f64) -> f64 {
        load / self.centre - 1.0
    }

    fn predictor_at(&self, x: f64) -> f64 {
        let [height, slope, bend] = self.terms;
        height + (slope + bend * x) * x
    }

    fn predictor(&self, load: f64) -> f64 {
        self.law.clamp(self.predictor_at(self.x(load)))
    }

    /// Returns the sums of a weighted regression: squares of the abscissas, products with the
    /// ordinate.
    fn sums(&self, points: &[FitPoint]) -> (Matrix, Vector) {
        let mut squares = Matrix::default();
        let mut products = Vector::default();
        for point in points {
            let predictor = self.predictor(point.load);
            let (value, slope, variance) = self.law.at(predictor);
            let weight = point.count * slope * slope / variance;
            let z = predictor + (point.total / point.count - value) / slope;
            let row = powers(self.x(point.load));
            for (i, left) in row.iter().enumerate() {
                products[i] += weight * left * z;
                for (j, right) in row.iter().enumerate() {
                    squares[i][j] += weight * left * right;
                }
            }
        }
        (squares, products)
    }

    /// Returns the distance of a point from the line, in standard deviations.
    pub(super) fn residual(&self, point: &FitPoint) -> f64 {
        let (value, _, variance) = self.law.at(self.predictor(point.load));
        (point.total - point.count * value) / (point.count * variance).sqrt()
    }

    /// Sets the covariance from the distances of batches from the line.
    ///
    /// Consecutive response times are correlated, so batches scatter more than independent
    /// responses would; and consecutive batches may still be correlated: a sum of values with
    /// correlation r between neighbours has (1+r)/(1−r) times the variance.
    fn spread(&mut self, batches: &[FitPoint]) -> Option<()> {
        let residuals: Vec<f64> = batches.iter().map(|batch| self.residual(batch)).collect();
        let batches = batches.len() as f64;
        if batches < 5.0 {
            return None;
        }
        let squares: f64 = residuals.iter().map(|r| r * r).sum();
        let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let alike = (products / squares.max(f64::MIN_POSITIVE)).clamp(0.0, 0.6);
        let inflation = (1.0 + alike) / (1.0 - alike);
        let freedom = (batches / inflation - 2.0).max(3.0);
        let seen = squares / (batches - 2.0) * inflation;
        self.dispersion = seen.max(self.law.dispersion_of_queue(self.terms[1]));
        self.freedom = freedom;
        Some(())
    }

    /// Returns the standard error of the line's height, in the linear predictor.
    pub(super) fn uncertainty(&self) -> f64 {
        let height = powers(0.0);
        self.covariance_of(&height, &height).sqrt()
    }

    /// Returns the covariance of two linear combinations of the terms.
    fn covariance_of(&self, left: &Vector, right: &Vector) -> f64 {
        self.dispersion * dot(left, &times(&self.covariance, right))
    }

    /// Returns where the curve meets the objective, next to the centre and rising.
    fn root_off(&self) -> Option<f64> {
        let [height, slope, bend] = self.terms;
        let off = self.law.target() - height;
        let discriminant = slope * slope + 4.0 * bend * off;
        if discriminant < 0.0 {
            return None;
        }
        Some(2.0 * off / (slope + discriminant.sqrt()))
    }

    /// Returns the load at which the line meets the objective.
    pub(super) fn root(&self) -> f64 {
        self.centre * (1.0 + self.root_off().unwrap_or(0.0))
    }

    /// Returns the useful distance of measured loads from the root, as a fraction of the load.
    pub(super) fn reach(&self) -> f64 {
        self.law.reach() / self.terms[1]
    }

    /// Returns the 95 % confidence interval of the root, by the tangent at the root.
    ///
    /// A slope that may as well be 0 has no such interval by Fieller's method. That figures rise
    /// with the load is known a priori, however: a slope larger than its standard error is taken to
    /// be at least half of its estimate. `None` for a smaller slope.
    pub(super) fn interval(&self) -> Option<(f64, f64)> {
        let x = self.root_off()?;
        let t = student_975(self.freedom);
        let (height, tangent) = (powers(x), [0.0, 1.0, 2.0 * x]);
        let slope = dot(&tangent, &self.terms);
        let slope_variance = self.covariance_of(&tangent, &tangent);
        if slope.is_nan() || slope <= slope_variance.sqrt() {
            return None;
        }
        let a = slope * slope - (t * t * slope_variance).min(0.75 * slope * slope);
        let b = -t * t * self.covariance_of(&height, &tangent);
        let c = -t * t * self.covariance_of(&height, &height);
        let root = (b * b - a * c).sqrt();
        let at = |off: f64| self.centre * (1.0 + x + off);
        Some((at((-b - root) / a), at((-b + root) / a)))
    }
}

/// Combines the points of a batch into one.
fn joined(batch: &[FitPoint]) -> Option<FitPoint> {
    let joined = batch.iter().copied().reduce(|left, right| FitPoint {
        count: left.count + right.count,
        total: left.total + right.total,
        longest: left.longest.max(right.longest),
        ..left
    });
    joined.filter(|batch| batch.count > 0.0)
}

type Vector = [f64; 3];
type Matrix = [[f64; 3]; 3];

fn powers(x: f64) -> Vector {
    [1.0, x, x * x]
}

fn dot(left: &Vector, right: &Vector) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

fn times(matrix: &Matrix, vector: &Vector) -> Vector {
    matrix.map(|row| dot(&row, vector))
}

/// Returns the inverse of a symmetric matrix; `None` if it is nearly singular.
fn inverse(matrix: &Matrix) -> Option<Matrix> {
    let [[a, b, c], [_, d, e], [_, _, f]] = *matrix;
    let first = d * f - e * e;
    let second = c * e - b * f;
    let third = b * e - c * d;
    let determinant = a * first + b * second + c * third;
    if determinant.is_nan() || determinant <= 1e-14 * a * d * f {
        return None;
    }
    let fifth = (b * c - a * e) / determinant;
    let [first, second, third] = [first, second, third].map(|minor| minor / determinant);
    Some([
        [first, second, third],
        [second, (a * f - c * c) / determinant, fifth],
        [third, fifth, (a * d - b * b) / determinant],
    ])
}

/// Returns the 97.5 % quantile of Student's t, by Cornish and Fisher's expansion (Abramowitz and
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
        for law in [ResponseModel::Mean, ResponseModel::Share { target: 0.01 }] {
            let points: Vec<FitPoint> = (0..12)
                .map(|index| {
                    let load = if index % 2 == 0 { 895.0 } else { 905.0 };
                    let value = match law {
                        ResponseModel::Mean => 100.0 / (1000.0 - load),
                        ResponseModel::Share { .. } => {
                            (-100_f64.ln() / 100.0 * (1000.0 - load)).exp()
                        }
                    };
                    FitPoint {
                        load,
                        count: 1e5,
                        total: 1e5 * value * if index % 4 < 2 { 1.001 } else { 0.999 },
                        longest: 1.0,
                        batch: index,
                    }
                })
                .collect();
            let line = FittedCurve::fit(law, 890.0, &points).expect("two loads");
            assert!((line.root() - 900.0).abs() < 0.2, "{}", line.root());
            let (lower, upper) = line.interval().expect("a clear slope");
            assert!(lower < line.root() && line.root() < upper);
        }
    }

    #[test]
    fn one_load_makes_no_line() {
        let point = |batch| FitPoint {
            load: 100.0,
            count: 1000.0,
            total: 10.0,
            longest: 1.0,
            batch,
        };
        let points: Vec<FitPoint> = (0..10).map(point).collect();
        assert_eq!(
            FittedCurve::fit(ResponseModel::Share { target: 0.01 }, 100.0, &points),
            None
        );
    }
}
