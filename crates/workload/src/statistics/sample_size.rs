//! Number of runs that are necessary to detect a difference.

use super::estimate::student_quantile;

/// Returns the number of pairs of runs that detect a difference of `detect` with probability
/// `power`, in a test with false alarms of probability `alarm`, if the differences of pairs have
/// this standard deviation.
///
/// The two quantiles are those of Student's distribution, with the degrees of freedom for the
/// number of pairs (Guenther 1981, "Sample size formulas for normal theory t tests", *The American
/// Statistician* 35).
pub fn pairs(deviation: f64, detect: f64, alarm: f64, power: f64) -> u64 {
    const PAIRS_MAX: u64 = 1_000_000;
    let shown = |pairs: u64| {
        let freedom = (pairs - 1) as f64;
        let quantiles =
            student_quantile(1.0 - alarm / 2.0, freedom) + student_quantile(power, freedom);
        (pairs as f64).sqrt() * detect >= quantiles * deviation
    };
    // The power grows with the number of pairs.
    let (mut least, mut most) = (2, PAIRS_MAX);
    while least < most {
        let middle = u64::midpoint(least, most);
        if shown(middle) {
            most = middle;
        } else {
            least = middle + 1;
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_noncentral_t_or_one_more() {
        // The minimum for which scipy's nct gives a power of 0.8.
        for (deviation, exact) in [(1.0, 10), (2.0, 34), (5.0, 199)] {
            let found = pairs(deviation, 1.0, 0.05, 0.8);
            assert!((exact..=exact + 1).contains(&found), "{deviation}: {found}");
        }
        assert_eq!(pairs(0.0, 1.0, 0.05, 0.8), 2);
        assert_eq!(pairs(1.0, 0.0, 0.05, 0.8), 1_000_000);
    }
}
