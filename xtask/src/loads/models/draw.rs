//! Random numbers and sizes of the models, with integers only.

use super::SyntheticLoad;
use filestone_workload::random::{Generator, RandomStream, Rng, stream};

/// The seed of the published loads.
pub(super) const SEED: u64 = 1;

/// 1 in the fixed-point numbers of this module.
const ONE: i64 = 1 << 16;

/// 2^(1/2), 2^(1/4), … 2^(1/256), each times 2^30.
const ROOTS: [u64; 8] = [
    1_518_500_250,
    1_276_901_417,
    1_170_923_762,
    1_121_280_436,
    1_097_253_708,
    1_085_434_106,
    1_079_572_136,
    1_076_653_033,
];

/// The random stream of one load.
pub(super) struct LoadRng(Generator);

/// A log-normal distribution of sizes, truncated at both ends.
pub(super) struct LogNormal {
    /// Median size.
    pub median: u64,
    /// Standard deviation of the size's logarithm to the base 2, times 100.
    pub sigma_centioctaves: i64,
    /// Minimum size.
    pub min: u64,
    /// Maximum size.
    pub max: u64,
}

impl LoadRng {
    pub fn new(load: SyntheticLoad) -> Self {
        Self(stream(SEED, RandomStream::Synthetic, load as u64))
    }

    /// Returns a number below `bound`; 0 if that is 0.
    ///
    /// The result is the high half of the product of 64 random bits and the bound. The rule is
    /// implemented here, and not in a library, so that no release of a library can change a load.
    /// The bias is below bound / 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Returns true with a probability of 1/`times`.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Returns a number below `bound` with a preference for small ones: bound × u × u of a uniform
    /// u, so that a fifth of the numbers has 45 % of the samples.
    pub fn low_below(&mut self, bound: u64) -> u64 {
        let uniform = self.0.next_u64() >> 32;
        let square = (uniform * uniform) >> 32;
        (square * bound) >> 32
    }

    /// Returns one of `choices`.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// Returns a standard normal number times 2^16: the sum of twelve uniform ones minus six, which
    /// has variance 1 (Irwin and Hall) and no tail beyond ±6.
    fn normal(&mut self) -> i64 {
        let sum: i64 = (0..12).map(|_| (self.0.next_u64() >> 48) as i64).sum();
        sum - 6 * ONE
    }

    /// Returns a size.
    pub fn size(&mut self, of: &LogNormal) -> u64 {
        let octaves = (self.normal() * of.sigma_centioctaves).div_euclid(100);
        times_power_of_two(of.median, octaves).clamp(of.min, of.max)
    }
}

/// Returns `value` × 2^(octaves / 2^16), from the binary digits of the exponent.
fn times_power_of_two(value: u64, octaves: i64) -> u64 {
    let mut factor = 1u64 << 30;
    for (digit, root) in ROOTS.iter().enumerate() {
        if octaves & (ONE >> (digit + 1)) != 0 {
            factor = (factor * root) >> 30;
        }
    }
    let product = u128::from(value) * u128::from(factor);
    let shift = 30 - (octaves >> 16);
    if shift >= 0 {
        (product >> shift.min(127)) as u64
    } else {
        (product << (-shift).min(30)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roots_are_roots() {
        let mut square_of_next = 2u128 << 30;
        for root in ROOTS.map(u128::from) {
            let low = ((root - 1) * (root - 1)) >> 30;
            let high = ((root + 1) * (root + 1)) >> 30;
            assert!((low..=high).contains(&square_of_next), "{root}");
            square_of_next = root;
        }
    }

    #[test]
    fn powers_of_two_are_exact_at_whole_octaves_and_close_between() {
        assert_eq!(times_power_of_two(1000, 0), 1000);
        assert_eq!(times_power_of_two(1000, 3 * ONE), 8000);
        assert_eq!(times_power_of_two(1000, -2 * ONE), 250);
        assert_eq!(times_power_of_two(1000, ONE / 2), 1414);
        assert_eq!(times_power_of_two(1000, -ONE / 2), 707);
    }

    #[test]
    fn sizes_have_their_median_and_their_quartiles() {
        let distribution = LogNormal {
            median: 10_000,
            sigma_centioctaves: 200,
            min: 0,
            max: u64::MAX,
        };
        let mut draw = LoadRng::new(SyntheticLoad::Office);
        let mut sizes: Vec<u64> = (0..40_001).map(|_| draw.size(&distribution)).collect();
        sizes.sort_unstable();
        // Computed by hand: the quartiles of a normal distribution are at ±0.6745 standard
        // deviations, here a factor of 2^1.349 = 2.547.
        assert!(sizes[20_000].abs_diff(10_000) < 300, "{}", sizes[20_000]);
        assert!(sizes[30_000].abs_diff(25_470) < 1_000, "{}", sizes[30_000]);
        assert!(sizes[10_000].abs_diff(3_926) < 200, "{}", sizes[10_000]);
    }

    #[test]
    fn small_numbers_come_more_often_where_that_is_asked() {
        let mut draw = LoadRng::new(SyntheticLoad::Build);
        let low = (0..10_000).filter(|_| draw.low_below(100) < 20).count();
        // Computed by hand: the square root of 0.2 is 0.447.
        assert!(low.abs_diff(4_472) < 200, "{low}");
    }

    #[test]
    fn bounds_are_kept() {
        let mut draw = LoadRng::new(SyntheticLoad::Mail);
        for _ in 0..1000 {
            assert!(draw.below(3) < 3);
            assert!((5..=6).contains(&draw.between(5, 6)));
            assert!(draw.low_below(7) < 7);
        }
        assert_eq!(draw.below(0), 0);
    }
}
