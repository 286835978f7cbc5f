//! Sequential comparison: interim looks and an early stop without more false alarms than one test
//! at the end would have.
//!
//! The probability of a false alarm is spent step by step (Lan and DeMets 1983, "Discrete
//! sequential boundaries for clinical trials", *Biometrika* 70), little of it at first, by their
//! function that approximates O'Brien and Fleming's bounds. The probability of each look is
//! converted to a bound by recursive integration (Armitage, McPherson and Rowe 1969, "Repeated
//! significance tests on accumulating data", *Journal of the Royal Statistical Society* A 132).

use statrs::distribution::{Continuous, ContinuousCDF, Normal};

/// Number of grid points of the density of continued comparisons; odd, for Simpson's rule.
const GRID: usize = 401;
/// Upper limit of bounds, which is never reached.
const BOUND_MAX: f64 = 12.0;

/// Two-sided significance levels look by look, for comparison with p-values.
#[derive(Debug, Clone)]
pub struct AlphaSpending {
    alarm: f64,
    going_on: GoingOn,
    before: f64,
    spent: f64,
}

impl AlphaSpending {
    /// Creates the state before the first look, for this probability of a false alarm.
    pub fn new(alarm: f64) -> Self {
        Self {
            alarm,
            going_on: GoingOn::start(),
            before: 0.0,
            spent: 0.0,
        }
    }

    /// Returns the significance level of a look at this fraction; 0 if the fraction did not grow
    /// since the previous look.
    pub fn next(&mut self, fraction: f64) -> f64 {
        let fraction = fraction.clamp(0.0, 1.0);
        let step = fraction - self.before;
        if step <= 0.0 {
            return 0.0;
        }
        let may_be_spent = spending(fraction, self.alarm);
        let bound = self
            .going_on
            .bound(fraction, step, may_be_spent - self.spent);
        self.going_on = self.going_on.after(fraction, step, bound);
        (self.before, self.spent) = (fraction, may_be_spent);
        2.0 * Normal::standard().sf(bound)
    }
}

/// Returns the part of the probability of a false alarm that is spent up to this fraction: on each
/// side the value of Lan and DeMets' function for half of it.
fn spending(fraction: f64, alarm: f64) -> f64 {
    let normal = Normal::standard();
    let quantile = normal.inverse_cdf(1.0 - alarm / 4.0);
    4.0 * normal.sf(quantile / fraction.sqrt())
}

/// The density of the cumulative sum of comparisons that were not stopped.
#[derive(Debug, Clone)]
struct GoingOn {
    /// Points from −reach to reach, and the density there; one point of probability 1 at first.
    points: Vec<f64>,
    weights: Vec<f64>,
}

impl GoingOn {
    fn start() -> Self {
        Self {
            points: vec![0.0],
            weights: vec![1.0],
        }
    }

    /// Returns the probability that the sum leaves ±`reach` after a step of this variance.
    fn leaving(&self, reach: f64, step: f64) -> f64 {
        let (normal, deviation) = (Normal::standard(), step.sqrt());
        let points = self.points.iter().zip(&self.weights);
        points
            .map(|(at, weight)| {
                let above = normal.sf((reach - at) / deviation);
                let below = normal.cdf((-reach - at) / deviation);
                weight * (above + below)
            })
            .sum()
    }

    /// Returns the bound, in standard deviations, that is exceeded with this probability.
    fn bound(&self, fraction: f64, step: f64, probability: f64) -> f64 {
        let (mut low, mut high) = (0.0, BOUND_MAX);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if self.leaving(middle * fraction.sqrt(), step) > probability {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// Returns the density after a step, within the bound.
    fn after(&self, fraction: f64, step: f64, bound: f64) -> Self {
        let (reach, deviation) = (bound * fraction.sqrt(), step.sqrt());
        let width = 2.0 * reach / (GRID - 1) as f64;
        let normal = Normal::standard();
        let points: Vec<f64> = (0..GRID)
            .map(|place| -reach + width * place as f64)
            .collect();
        let density = |at: f64| -> f64 {
            let before = self.points.iter().zip(&self.weights);
            let from = before.map(|(from, weight)| weight * normal.pdf((at - from) / deviation));
            from.sum::<f64>() / deviation
        };
        let weights = (0..GRID).zip(&points).map(|(place, at)| {
            let simpson = match place {
                0 => 1.0,
                _ if place == GRID - 1 => 1.0,
                _ if place % 2 == 1 => 4.0,
                _ => 2.0,
            };
            simpson * width / 3.0 * density(*at)
        });
        Self {
            weights: weights.collect(),
            points,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(fractions: &[f64]) -> Vec<f64> {
        let mut spending = AlphaSpending::new(0.05);
        let next = |fraction: &f64| spending.next(*fraction);
        fractions.iter().map(next).collect()
    }

    fn bounds(levels: &[f64]) -> Vec<f64> {
        let normal = Normal::standard();
        let bound = |level: &f64| normal.inverse_cdf(1.0 - level / 2.0);
        levels.iter().map(bound).collect()
    }

    #[test]
    fn bounds_are_the_published_ones() {
        // Five looks at equal distances with two-sided α = 0.05: Lan and DeMets' function as
        // published by Reboussin et al. (2000), and gsDesign's sfLDOF.
        let found = bounds(&levels(&[0.2, 0.4, 0.6, 0.8, 1.0]));
        let golden = [4.8769, 3.3569, 2.6803, 2.2898, 2.0310];
        for (found, golden) in found.iter().zip(golden) {
            assert!((found - golden).abs() < 2e-3, "{found} instead of {golden}");
        }
    }

    #[test]
    fn one_look_is_the_test_that_it_is_without_a_plan() {
        let [level] = levels(&[1.0])[..] else {
            panic!("one look has one level");
        };
        assert!((level - 0.05).abs() < 1e-6, "{level}");
        assert_eq!(levels(&[]), Vec::<f64>::new());
        // A second look at the same fraction must not spend anything.
        let again = levels(&[0.5, 0.5, 1.0]);
        assert_eq!(again[1], 0.0);
    }
}
