//! Choice of a client's next file: uniform, or few files most of the time.

use super::FileSetError;
use crate::file_set::Popularity;
use filestone_workload::random::{Generator, RngExt};
use rand_distr::{Distribution, Zipf};

/// Maximum exponent: with it, the second file is chosen once in 2^100 times.
const EXPONENT_MAX: f64 = 100.0;

impl Popularity {
    /// Checks that files can be chosen by it.
    pub fn check(&self) -> Result<(), FileSetError> {
        match self {
            Popularity::Uniform => Ok(()),
            Popularity::Zipf { exponent } if (0.0..=EXPONENT_MAX).contains(exponent) => Ok(()),
            Popularity::Zipf { exponent } => Err(FileSetError::Exponent(*exponent)),
        }
    }
}

/// Samples indices of files.
#[derive(Debug, Clone)]
pub struct FileSampler {
    count: u32,
    /// `None` if all files are equally popular.
    zipf: Option<Zipf<f64>>,
}

impl FileSampler {
    /// Creates a sampler of `0..count`; 0 is the most popular index, unless all are equal.
    pub fn new(popularity: &Popularity, count: u32) -> Result<Self, FileSetError> {
        popularity.check()?;
        if count == 0 {
            return Err(FileSetError::NoFiles);
        }
        let zipf = match popularity {
            Popularity::Uniform => None,
            Popularity::Zipf { exponent } => {
                let zipf = Zipf::new(f64::from(count), *exponent);
                Some(zipf.map_err(|_| FileSetError::Exponent(*exponent))?)
            }
        };
        Ok(Self { count, zipf })
    }

    /// Returns the next index.
    #[inline]
    pub fn choose(&self, generator: &mut Generator) -> u32 {
        match &self.zipf {
            None => generator.random_range(0..self.count),
            // Ranks start at 1.
            Some(zipf) => (zipf.sample(generator) as u32)
                .saturating_sub(1)
                .min(self.count - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_workload::random::{self, RandomStream};

    const DRAWS: u32 = 200_000;

    fn counts(popularity: Popularity, count: u32) -> Vec<u32> {
        let chooser = FileSampler::new(&popularity, count).expect("a chooser");
        let mut generator = random::stream(1, RandomStream::Popularity, 0);
        let mut counts = vec![0; count as usize];
        for _ in 0..DRAWS {
            counts[chooser.choose(&mut generator) as usize] += 1;
        }
        counts
    }

    fn check(counts: &[u32], shares: impl Iterator<Item = f64>) {
        for (index, (count, share)) in counts.iter().zip(shares).enumerate() {
            let expected = f64::from(DRAWS) * share;
            // Five standard deviations of a count.
            let bound = 5.0 * (expected * (1.0 - share)).sqrt();
            let off = f64::from(*count) - expected;
            assert!(off.abs() <= bound, "{index}: {count}, not {expected}");
        }
    }

    #[test]
    fn uniform_files_are_chosen_equally_often() {
        let counts = counts(Popularity::Uniform, 10);
        check(&counts, std::iter::repeat_n(0.1, 10));
    }

    #[test]
    fn zipfs_law_gives_each_rank_its_share() {
        for (exponent, files) in [(1.0, 4), (1.0, 40), (0.8, 40), (2.0, 10), (0.0, 10)] {
            let weight = |rank: u32| f64::from(rank).powf(-exponent);
            let sum: f64 = (1..=files).map(weight).sum();
            let counts = counts(Popularity::Zipf { exponent }, files);
            check(&counts, (1..=files).map(|rank| weight(rank) / sum));
        }
        // Computed by hand: 1 + 1/2 + 1/3 + 1/4 = 25/12.
        let shares = [12.0 / 25.0, 6.0 / 25.0, 4.0 / 25.0, 3.0 / 25.0];
        check(
            &counts(Popularity::Zipf { exponent: 1.0 }, 4),
            shares.into_iter(),
        );
    }

    #[test]
    fn one_file_is_always_the_one() {
        assert_eq!(counts(Popularity::Zipf { exponent: 1.0 }, 1), [DRAWS]);
        assert_eq!(counts(Popularity::Uniform, 1), [DRAWS]);
        assert_eq!(
            counts(Popularity::Zipf { exponent: 100.0 }, 3),
            [DRAWS, 0, 0]
        );
    }

    #[test]
    fn no_files_and_no_exponents_are_refused() {
        let refused = |popularity, count| {
            FileSampler::new(&popularity, count)
                .map(|_| ())
                .expect_err("refused")
        };
        assert_eq!(refused(Popularity::Uniform, 0), FileSetError::NoFiles);
        for exponent in [f64::NAN, -1.0, f64::INFINITY, 101.0] {
            let error = refused(Popularity::Zipf { exponent }, 10);
            assert!(matches!(error, FileSetError::Exponent(_)), "{error}");
        }
    }
}
