//! A figure and its standard error.

use super::CONFIDENCE;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Degrees of freedom above which Student's distribution equals the normal one to six digits.
const FREEDOM_MAX: f64 = 1e6;

/// A figure and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// The standard error of the figure.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error.
    pub freedom: f64,
}

impl Estimate {
    /// Returns the mean of independent values; `None` for fewer than two, or if one is not a
    /// number.
    pub fn of_independent(values: &[f64]) -> Option<Self> {
        let count = values.len();
        if count < 2 || !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        let variance = deviations_squared(values) / (count - 1) as f64;
        Some(Self {
            value: mean_of(values),
            standard_error: (variance / count as f64).sqrt(),
            freedom: (count - 1) as f64,
        })
    }

    /// Returns half of the width of the 95 % interval.
    pub fn half_width(&self) -> f64 {
        self.half_width_at(1.0 - CONFIDENCE)
    }

    /// Returns half of the width of the interval that misses the true value with this probability.
    pub fn half_width_at(&self, miss: f64) -> f64 {
        student_quantile(1.0 - miss / 2.0, self.freedom) * self.standard_error
    }

    /// Returns the figure's natural logarithm (delta method); `None` unless the figure is greater
    /// than 0.
    pub fn logarithm(&self) -> Option<Self> {
        (self.value > 0.0).then(|| Self {
            value: self.value.ln(),
            standard_error: self.standard_error / self.value,
            freedom: self.freedom,
        })
    }

    /// Returns the difference from an independent estimate (Welch 1947, "The generalization of
    /// 'Student's' problem when several different population variances are involved", *Biometrika*
    /// 34).
    pub fn minus(&self, base: &Estimate) -> Estimate {
        let (own, of_base) = (self.standard_error.powi(2), base.standard_error.powi(2));
        let squares = own.powi(2) / self.freedom + of_base.powi(2) / base.freedom;
        let freedom = if squares > 0.0 {
            (own + of_base).powi(2) / squares
        } else {
            self.freedom + base.freedom
        };
        Estimate {
            value: self.value - base.value,
            standard_error: (own + of_base).sqrt(),
            freedom,
        }
    }

    /// Returns the two-sided p-value of the hypothesis that the true value is 0.
    pub fn p_value(&self) -> f64 {
        if self.value == 0.0 {
            return 1.0;
        }
        if self.standard_error <= 0.0 {
            return 0.0;
        }
        2.0 * student_tail((self.value / self.standard_error).abs(), self.freedom)
    }
}

/// Returns the quantile of Student's distribution for this probability.
pub fn student_quantile(probability: f64, freedom: f64) -> f64 {
    let probability = probability.clamp(1e-12, 1.0 - 1e-12);
    match student(freedom) {
        Some(student) => student.inverse_cdf(probability),
        None => Normal::standard().inverse_cdf(probability),
    }
}

/// Returns the probability that a value of Student's distribution exceeds `t`.
fn student_tail(t: f64, freedom: f64) -> f64 {
    match student(freedom) {
        Some(student) => student.sf(t),
        None => Normal::standard().sf(t),
    }
}

/// Returns Student's distribution; `None` if it equals the normal one.
fn student(freedom: f64) -> Option<StudentsT> {
    let freedom = freedom.max(1.0);
    (freedom < FREEDOM_MAX).then(|| StudentsT::new(0.0, 1.0, freedom).ok())?
}

pub(super) fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

pub(super) fn deviations_squared(values: &[f64]) -> f64 {
    let mean = mean_of(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the difference from scipy's value.
    fn assert_near(found: f64, golden: f64) {
        let off = (found - golden).abs() / golden.abs().max(1e-9);
        assert!(off < 1e-6, "{found} instead of {golden}");
    }

    #[test]
    fn quantiles_are_those_of_scipy() {
        // t.ppf(0.975, f), t.ppf(0.9995, f)
        for (freedom, at_975, at_9995) in [
            (1.0, 12.706204736, 636.619248769),
            (4.0, 2.776445105, 8.610301581),
            (9.0, 2.262157163, 4.780912586),
            (7.3, 2.345066737, 5.283211759),
            (1e9, 1.959963987, 3.290526741),
        ] {
            assert_near(student_quantile(0.975, freedom), at_975);
            assert_near(student_quantile(0.9995, freedom), at_9995);
        }
    }

    #[test]
    fn quantiles_are_finite_and_grow_with_the_probability() {
        let probabilities = [
            0.5, 0.6, 0.75, 0.9, 0.95, 0.975, 0.99, 0.999, 0.9999, 0.99999,
        ];
        for freedom in [1.0, 1.3, 2.0, 5.7, 30.0, 1e3, 1e6] {
            let quantiles = probabilities.map(|probability| student_quantile(probability, freedom));
            let is_sound = quantiles.iter().all(|quantile| quantile.is_finite())
                && quantiles.is_sorted_by(|below, above| below < above);
            assert!(is_sound, "{freedom}: {quantiles:?}");
        }
    }

    #[test]
    fn two_samples_compare_as_scipy_compares_them() {
        // ttest_ind(b, a, equal_var=False) of these samples.
        let a = Estimate::of_independent(&[27.5, 21.0, 19.0, 23.6, 17.0, 17.9]).expect("six");
        let b = Estimate::of_independent(&[27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0])
            .expect("eight");
        let difference = b.minus(&a);
        assert_near(difference.value / difference.standard_error, 1.406927129);
        assert_near(difference.freedom, 7.046874534);
        assert_near(difference.p_value(), 0.201988677);
    }

    #[test]
    fn a_figure_without_spread_is_exact_and_one_value_says_nothing() {
        let same = Estimate::of_independent(&[2.0, 2.0]).expect("two");
        assert_eq!((same.value, same.half_width()), (2.0, 0.0));
        assert_eq!(same.minus(&same).p_value(), 1.0);
        let more = Estimate { value: 3.0, ..same };
        assert_eq!(more.minus(&same).p_value(), 0.0);
        assert_eq!(Estimate::of_independent(&[1.0]), None);
        assert_eq!(Estimate::of_independent(&[1.0, f64::NAN]), None);
        assert_eq!(Estimate { value: 0.0, ..same }.logarithm(), None);
    }
}
