//! Trimmed mean: the mean without the smallest and largest values. A few outliers affect neither
//! the mean nor its error.

use super::estimate::{Estimate, mean_of};

/// One value is omitted at each end per this number of values.
const OF_EACH_LEFT_OUT: usize = 10;
/// Minimum number of values for trimming: with fewer, too large a part would be omitted.
const VALUES_MIN: usize = 8;
/// If the error of the mean of all values exceeds that of the trimmed mean by this factor, outliers
/// are the cause. For twenty normal values this happens in one of 10,000 cases, for eight in 2 of
/// 100.
const FAR_OFF: f64 = 2.0;

/// A mean, and the number of omitted values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrimmedMean {
    /// The mean.
    pub estimate: Estimate,
    /// Number of omitted values at both ends together.
    pub left_out: usize,
}

/// Returns the mean of independent values: of all of them, unless there are outliers. `None` for
/// fewer than two, or if one is not a number.
///
/// The choice depends on the spread of the values and not on their mean, and without outliers
/// nothing is lost.
pub fn mean_unless_far_off(values: &[f64]) -> Option<TrimmedMean> {
    let all = TrimmedMean {
        estimate: Estimate::of_independent(values)?,
        left_out: 0,
    };
    let trimmed = trimmed(values)?;
    let is_moved = all.estimate.standard_error > FAR_OFF * trimmed.estimate.standard_error;
    Some(if is_moved { trimmed } else { all })
}

/// Returns the mean of independent values without a tenth of them at each end, and at least one;
/// for fewer than eight values, the mean of all. `None` for fewer than two, or if one is not a
/// number.
///
/// Its error is that of values with winsorized ends (Tukey and McLaughlin 1963, "Less vulnerable
/// confidence and significance procedures for location based on a single sample:
/// trimming/Winsorization 1", *Sankhyā* A 25; for two samples it is Yuen's test, 1974).
pub fn trimmed(values: &[f64]) -> Option<TrimmedMean> {
    let all = Estimate::of_independent(values)?;
    let count = values.len();
    if count < VALUES_MIN {
        return Some(TrimmedMean {
            estimate: all,
            left_out: 0,
        });
    }
    let cut = (count / OF_EACH_LEFT_OUT).max(1);
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let kept = sorted.get(cut..count - cut)?;
    let (least, greatest) = (*kept.first()?, *kept.last()?);
    let drawn_in: Vec<f64> = values
        .iter()
        .map(|value| value.clamp(least, greatest))
        .collect();
    let drawn_in = Estimate::of_independent(&drawn_in)?;
    let (of_all, left) = (count as f64, kept.len() as f64);
    let deviation = drawn_in.standard_error * of_all.sqrt();
    Some(TrimmedMean {
        estimate: Estimate {
            value: mean_of(kept),
            standard_error: deviation * ((of_all - 1.0) / (left * (left - 1.0))).sqrt(),
            freedom: left - 1.0,
        },
        left_out: 2 * cut,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{RandomStream, stream};
    use rand_distr::{Distribution, StandardNormal};

    #[test]
    fn two_samples_compare_as_scipy_compares_them() {
        // ttest_ind(b, a, equal_var=False, trim=0.125): xtask/golden/statistics.py
        let a = trimmed(&[0.5, -1.2, 0.3, 9.0, 0.8, -0.4, 1.1, 0.2]).expect("eight");
        let b = trimmed(&[1.9, 0.7, 2.4, 1.1, 0.3, 1.6, 2.2, 1.4, -7.0, 1.2]).expect("ten");
        let (a, b) = (a.estimate, b.estimate);
        let difference = b.minus(&a);
        let found = [
            difference.value / difference.standard_error,
            difference.freedom,
            difference.p_value(),
            a.value,
            b.value,
        ];
        for (found, golden) in found.iter().zip([
            2.189_076_307_096_579,
            11.604_386_628_194_233,
            0.049_823_197_792_203_44,
            0.416_666_666_666_666_7,
            1.3,
        ]) {
            assert!((found - golden).abs() < 1e-9, "{found} instead of {golden}");
        }
    }

    #[test]
    fn a_value_far_off_says_nothing_however_far() {
        let with = |far: f64| trimmed(&[0.1, 0.3, 0.2, far, 0.0, 0.4, 0.2, 0.3, 0.1]);
        assert_eq!(with(9.0), with(1e9));
        let few = trimmed(&[1.0, 2.0, 9.0]).expect("three values");
        assert_eq!((few.estimate.value, few.left_out), (4.0, 0));
        assert_eq!(trimmed(&[1.0]), None);
    }

    #[test]
    fn only_what_is_far_off_is_left_out() {
        let near = [0.1, 0.3, 0.2, 0.5, 0.0, 0.4, 0.2, 0.3, 0.1];
        let all = mean_unless_far_off(&near).expect("nine values");
        assert_eq!(Some(all.estimate), Estimate::of_independent(&near));
        let far = [0.1, 0.3, 0.2, 5.0, 0.0, 0.4, 0.2, 0.3, 0.1];
        assert_eq!(mean_unless_far_off(&far), trimmed(&far));
        assert_eq!(trimmed(&far).map(|mean| mean.left_out), Some(2));
        assert_eq!(
            mean_unless_far_off(&[2.0; 9]).map(|mean| mean.left_out),
            Some(0)
        );
    }

    #[test]
    fn intervals_miss_about_as_often_as_is_said() {
        let mut random = stream(3, RandomStream::Permutations, 0);
        let mut noise = || -> f64 { StandardNormal.sample(&mut random) };
        for count in [8, 10, 20] {
            let missed = (0..4000).filter(|_| {
                let values: Vec<f64> = (0..count).map(|_| noise()).collect();
                trimmed(&values).is_some_and(|mean| mean.estimate.p_value() < 0.05)
            });
            let missed = missed.count();
            // 5 %, and up to 5.5 % of eight values (numpy), ± 3 standard deviations.
            assert!((159..=264).contains(&missed), "{missed} of 4,000");
        }
    }
}
