//! Rates of the kinds of operation that bring the calls on the wire as close as possible to the
//! target: least squares under bounds.
//!
//! With x operations per second of each kind, which cause C x calls, and a target t:
//!
//! ```text
//!   minimise  Σ w (Cx − t)²  +  4 (Σ (Cx − t))²  +  1/100 Σ (x − preferred)²
//!   where     0 ≤ x ≤ bound
//! ```
//!
//! The weights w are 1 for calls in the mix, and less for others: a CREATE of NFSv4 is followed by
//! a CLOSE, and is still useful. The second sum keeps the load: a shortfall is distributed over the
//! procedures that can be caused. The third decides where the first two leave a choice, and keeps
//! operations that cause no calls at the rate of their share. All three are convex, so coordinate
//! descent, which sets one rate after the other to its optimum, converges to the global optimum.

use super::effects::{ROWS, Rates};

/// Weight of the sum of all deviations, relative to the single deviations.
const LOAD_WEIGHT: f64 = 4.0;
/// Weight of the distance from the preferred rates.
const PREFERENCE_WEIGHT: f64 = 0.01;
/// Maximum number of rounds, and the end condition: the largest change of a rate, as a share of the
/// largest rate.
const ROUNDS_MAX: usize = 2000;
const CHANGE_MIN: f64 = 1e-6;

/// A kind of operation.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Calls that one operation causes.
    pub calls: Rates,
    /// Rate if no other rate is better.
    pub preferred: f64,
    /// Maximum rate.
    pub bound: f64,
}

/// Returns the optimal rates, in the order of `variables`.
pub fn solve(variables: &[Variable], target: &Rates, weights: &Rates) -> Vec<f64> {
    let sums: Vec<f64> = variables.iter().map(|one| one.calls.iter().sum()).collect();
    let wanted: f64 = target.iter().sum();
    // Derivatives of the gradient of each rate by the other rates, and the gradient at 0.
    let products: Vec<Vec<f64>> = (variables.iter().zip(&sums))
        .map(|(one, sum)| {
            let others = variables.iter().zip(&sums);
            let product = others.map(|(other, other_sum)| {
                dot(&one.calls, &other.calls, weights) + LOAD_WEIGHT * sum * other_sum
            });
            product.collect()
        })
        .collect();
    let mut rates: Vec<f64> = variables
        .iter()
        .map(|one| one.preferred.clamp(0.0, one.bound.max(0.0)))
        .collect();
    for _ in 0..ROUNDS_MAX {
        let mut change = 0.0_f64;
        for (index, one) in variables.iter().enumerate() {
            let (own, others) = (products[index][index], &products[index]);
            let rest: f64 = dot_of(others, &rates) - own * rates[index];
            let pull = dot(&one.calls, target, weights) + LOAD_WEIGHT * sums[index] * wanted - rest;
            let best = (pull + PREFERENCE_WEIGHT * one.preferred) / (own + PREFERENCE_WEIGHT);
            let best = best.clamp(0.0, one.bound.max(0.0));
            change = change.max((best - rates[index]).abs());
            rates[index] = best;
        }
        let largest = rates.iter().copied().fold(0.0, f64::max);
        if change <= CHANGE_MIN * largest {
            break;
        }
    }
    rates
}

/// Returns the calls that operations at these rates cause.
pub fn caused(variables: &[Variable], rates: &[f64]) -> Rates {
    let mut sum = [0.0; ROWS];
    for (one, rate) in variables.iter().zip(rates) {
        for (sum, calls) in sum.iter_mut().zip(&one.calls) {
            *sum += rate * calls;
        }
    }
    sum
}

fn dot(one: &Rates, other: &Rates, weights: &Rates) -> f64 {
    let products = one.iter().zip(other).map(|(a, b)| a * b);
    products
        .zip(weights)
        .map(|(product, weight)| product * weight)
        .sum()
}

fn dot_of(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(numbers: &[f64]) -> Rates {
        let mut rates = [0.0; ROWS];
        rates[..numbers.len()].copy_from_slice(numbers);
        rates
    }

    fn variable(calls: &[f64], preferred: f64) -> Variable {
        Variable {
            calls: rates(calls),
            preferred,
            bound: 10.0 * preferred,
        }
    }

    const EVEN: Rates = [1.0; ROWS];

    fn check(found: &[f64], expected: &[f64]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() < 0.05 * (1.0 + expected),
                "{found} {expected}"
            );
        }
    }

    #[test]
    fn what_makes_its_own_call_is_asked_by_its_share() {
        let all = [variable(&[1.0], 30.0), variable(&[0.0, 1.0], 20.0)];
        check(&solve(&all, &rates(&[30.0, 20.0]), &EVEN), &[30.0, 20.0]);
    }

    #[test]
    fn what_makes_another_call_too_spares_asking_for_that() {
        // Each operation of the second kind also causes a call of the first.
        let all = [variable(&[1.0], 30.0), variable(&[1.0, 1.0], 20.0)];
        check(&solve(&all, &rates(&[30.0, 20.0]), &EVEN), &[10.0, 20.0]);
    }

    #[test]
    fn what_is_swallowed_is_asked_more_often_as_far_as_its_bound() {
        let mut all = [variable(&[0.5], 30.0), variable(&[0.0, 0.25], 20.0)];
        check(&solve(&all, &rates(&[30.0, 20.0]), &EVEN), &[60.0, 77.0]);
        all[1].bound = 40.0;
        let found = solve(&all, &rates(&[30.0, 20.0]), &EVEN);
        assert_eq!(found[1], 40.0);
        // The shortfall is distributed: here only one kind can replace it.
        assert!((65.0..80.0).contains(&found[0]), "{found:?}");
        // An operation of little use does not get ten times its rate for it.
        all[1] = variable(&[0.0, 0.01], 20.0);
        let found = solve(&all, &rates(&[30.0, 20.0]), &EVEN);
        assert!((20.0..100.0).contains(&found[1]), "{found:?}");
    }

    #[test]
    fn what_causes_nothing_is_asked_by_its_share_and_the_others_make_the_load() {
        let all = [
            variable(&[1.0], 23.0),
            variable(&[0.0, 1.0], 23.0),
            variable(&[], 4.0),
        ];
        let found = solve(&all, &rates(&[23.0, 23.0, 4.0]), &EVEN);
        assert!((found[2] - 4.0).abs() < 1e-6);
        check(&found[..2], &[24.8, 24.8]);
    }

    #[test]
    fn a_dear_operation_is_a_compromise() {
        // Each operation of the second kind causes two unwanted calls.
        let all = [
            variable(&[1.0], 40.0),
            variable(&[0.0, 1.0, 1.0, 1.0], 10.0),
        ];
        let found = solve(&all, &rates(&[40.0, 10.0]), &EVEN);
        let made = caused(&all, &found);
        assert!(made[1] < 3.7 && made[1] > 1.0, "{made:?}");
        let sum: f64 = made.iter().sum();
        assert!((sum - 50.0).abs() < 2.5, "{sum}");
        // Unwanted calls may weigh less.
        let mut weights = EVEN;
        weights[2..].fill(0.1);
        let made = caused(&all, &solve(&all, &rates(&[40.0, 10.0]), &weights));
        assert!(made[1] > 3.7, "{made:?}");
        assert!(solve(&[], &rates(&[1.0]), &EVEN).is_empty());
    }
}
