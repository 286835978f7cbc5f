//! Confidence set of the position of a change.
//!
//! The model assumes normal values with one mean before the change, another one after it, and one
//! deviation; it gives the probability of each position (Smith 1975, "A Bayesian approach to
//! inference about a change-point in a sequence of random variables", *Biometrika* 62). If all
//! positions, both means and the logarithm of the deviation have uniform priors, a change after m
//! of n values has the weight (m·(n − m))^−½ · S^−(n−2)/2, where S is the sum of the squared
//! deviations from both means.

use super::CONFIDENCE;
use super::change_points::SIDE_MIN;
use super::estimate::{deviations_squared, mean_of};
use std::ops::RangeInclusive;

/// Returns the possible positions of a change, by the first value after it: from the first to the
/// last of the most probable positions with a total of 95 %. `None` if the values do not differ, or
/// are too few.
pub fn places(values: &[f64]) -> Option<RangeInclusive<usize>> {
    let mut places = weights(values)?;
    places.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    let whole: f64 = places.iter().map(|place| place.weight).sum();
    let (mut first, mut last, mut held) = (usize::MAX, 0, 0.0);
    for place in &places {
        (first, last) = (first.min(place.at), last.max(place.at));
        held += place.weight;
        if held >= CONFIDENCE * whole {
            break;
        }
    }
    Some(first..=last)
}

/// A position and its relative probability.
struct Place {
    at: usize,
    weight: f64,
}

fn weights(values: &[f64]) -> Option<Vec<Place>> {
    /// Lower limit of the deviation, relative to the total: below it only rounding errors are left.
    const LEAST: f64 = 1e-12;
    let count = values.len();
    let all = deviations_squared(values);
    if count < 2 * SIDE_MIN || all <= 0.0 || !all.is_finite() {
        return None;
    }
    let mean = mean_of(values);
    let deviations = values.iter().map(|value| value - mean);
    let mut sum: f64 = deviations.clone().take(SIDE_MIN - 1).sum();
    let mut logarithms = vec![];
    for (deviation, at) in deviations
        .skip(SIDE_MIN - 1)
        .zip(SIDE_MIN..=count - SIDE_MIN)
    {
        sum += deviation;
        let lengths = (at * (count - at)) as f64;
        // The sum of squares within the sides, each with its mean.
        let between = sum * sum * count as f64 / lengths;
        let within = (all - between).max(LEAST * all);
        logarithms.push(-0.5 * lengths.ln() - 0.5 * (count - 2) as f64 * within.ln());
    }
    let most = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let places = logarithms.iter().zip(SIDE_MIN..);
    let places = places.map(|(logarithm, at)| Place {
        at,
        weight: (logarithm - most).exp(),
    });
    Some(places.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{RandomStream, stream};
    use rand_distr::{Distribution, StandardNormal};

    #[test]
    fn weights_are_those_of_numpy() {
        // xtask/golden/statistics.py
        let values = [0.1, -0.4, 0.6, 0.2, -0.3, 1.1, 1.9, 1.2, 0.7, 1.5];
        let weights = weights(&values).expect("ten values");
        let golden = [
            0.016_531_198_688_290_7,
            0.028_595_891_975_526_6,
            0.819_998_974_578_933_4,
            0.123_455_620_364_972_6,
            0.011_418_314_392_276_4,
        ];
        assert_eq!(weights.len(), golden.len());
        let whole: f64 = weights.iter().map(|place| place.weight).sum();
        for (found, golden) in weights.iter().zip(golden) {
            let found = found.weight / whole;
            assert!((found - golden).abs() < 1e-9, "{found} instead of {golden}");
        }
        assert_eq!(places(&values), Some(4..=6));
    }

    #[test]
    fn a_change_without_noise_is_sure_and_values_without_change_have_none() {
        assert_eq!(places(&[0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]), Some(4..=4));
        assert_eq!(places(&[1.0; 20]), None);
        assert_eq!(places(&[0.0, 0.0, 1.0, 1.0, 1.0]), None);
        assert_eq!(places(&[f64::NAN; 20]), None);
    }

    #[test]
    fn the_range_holds_the_place_as_often_as_is_said() {
        let mut random = stream(5, RandomStream::Permutations, 0);
        let mut noise = || -> f64 { StandardNormal.sample(&mut random) };
        let mut held = 0;
        for _ in 0..1000 {
            let values = (0..60).map(|place| if place < 40 { 0.0 } else { 1.5 } + noise());
            let values: Vec<f64> = values.collect();
            held += u32::from(places(&values).is_some_and(|places| places.contains(&40)));
        }
        // The range from the first to the last position covers a little more than these positions:
        // numpy has 97 %.
        assert!((940..=985).contains(&held), "{held} of 1,000");
    }
}
