//! Lengths of the files of a set: the distributions, sampled file by file.

use super::{CLASSES_MAX, FileSetError, LENGTH_MAX};
use crate::file_set::{FileSizes, SizeClass};
use filestone_workload::random::{self, Generator, RandomStream, RngExt};
use rand_distr::{Distribution, LogNormal};

/// The seed of all lengths. It differs from that of the run, so that runs with any seed find the
/// same set.
const SEED: u64 = 0x6e68_6673_7374_6f6e;

const KIB: u64 = 1 << 10;

impl FileSizes {
    /// Checks that lengths can be sampled, and that none of them is too long.
    pub fn check(&self) -> Result<(), FileSetError> {
        match self {
            FileSizes::Nhfsstone => Ok(()),
            FileSizes::Fixed { bytes } => within_limit(*bytes),
            FileSizes::Uniform {
                min_bytes,
                max_bytes,
            } if min_bytes > max_bytes => Err(FileSetError::Reversed {
                min_bytes: *min_bytes,
                max_bytes: *max_bytes,
            }),
            FileSizes::Uniform { max_bytes, .. } => within_limit(*max_bytes),
            FileSizes::LogNormal {
                median_bytes: 0, ..
            } => Err(FileSetError::Median),
            FileSizes::LogNormal { sigma, .. } if !(0.0..=16.0).contains(sigma) => {
                Err(FileSetError::Sigma(*sigma))
            }
            FileSizes::LogNormal { median_bytes, .. } => within_limit(*median_bytes),
            FileSizes::Classes { classes } => check_classes(classes),
        }
    }
}

fn within_limit(bytes: u64) -> Result<(), FileSetError> {
    if bytes > LENGTH_MAX {
        return Err(FileSetError::TooLong(bytes));
    }
    Ok(())
}

fn check_classes(classes: &[SizeClass]) -> Result<(), FileSetError> {
    if classes.is_empty() || classes.len() > CLASSES_MAX {
        return Err(FileSetError::Classes(classes.len()));
    }
    let sum: u128 = classes.iter().map(|class| u128::from(class.weight)).sum();
    if sum == 0 || sum > u128::from(u64::MAX) {
        return Err(FileSetError::Weights(sum));
    }
    classes
        .iter()
        .try_for_each(|class| within_limit(class.bytes))
}

/// A checked distribution.
#[derive(Debug, Clone)]
enum Draw {
    Nhfsstone,
    Fixed(u64),
    Uniform(u64, u64),
    LogNormal(LogNormal<f64>),
    Classes(Box<[SizeClass]>, u64),
}

impl Draw {
    fn of(sizes: &FileSizes) -> Result<Self, FileSetError> {
        sizes.check()?;
        Ok(match sizes {
            FileSizes::Nhfsstone => Draw::Nhfsstone,
            FileSizes::Fixed { bytes } => Draw::Fixed(*bytes),
            FileSizes::Uniform {
                min_bytes,
                max_bytes,
            } => Draw::Uniform(*min_bytes, *max_bytes),
            FileSizes::LogNormal {
                median_bytes,
                sigma,
            } => {
                // The median of exp(N(mu, sigma)) is exp(mu).
                let mu = (*median_bytes as f64).ln();
                Draw::LogNormal(
                    LogNormal::new(mu, *sigma).map_err(|_| FileSetError::Sigma(*sigma))?,
                )
            }
            FileSizes::Classes { classes } => {
                let sum = classes.iter().map(|class| class.weight).sum();
                Draw::Classes(classes.clone().into(), sum)
            }
        })
    }

    fn next(&self, generator: &mut Generator) -> u64 {
        match self {
            Draw::Nhfsstone => nhfsstone(generator),
            Draw::Fixed(bytes) => *bytes,
            Draw::Uniform(min, max) => generator.random_range(*min..=*max),
            // The distribution has no upper limit; the length of a file has one.
            Draw::LogNormal(distribution) => {
                let bytes = distribution.sample(generator).round();
                (bytes as u64).min(LENGTH_MAX)
            }
            Draw::Classes(classes, sum) => {
                let mut left = generator.random_range(0..*sum);
                for class in classes {
                    match left.checked_sub(class.weight) {
                        Some(rest) => left = rest,
                        None => return class.bytes,
                    }
                }
                0
            }
        }
    }
}

/// Samples a length as nhfsstone 1.22 does when it writes a file: half of the files take 1 to 3
/// writes of 1 KiB, 47 % take 1 to 6 writes of 8 KiB, 3 % take 32 writes of 8 KiB.
fn nhfsstone(generator: &mut Generator) -> u64 {
    match generator.random_range(0..100_u32) {
        0..50 => generator.random_range(1..=3) * KIB,
        50..97 => generator.random_range(1..=6) * 8 * KIB,
        _ => 32 * 8 * KIB,
    }
}

/// The lengths of one client's data files, in their order.
#[derive(Debug, Clone)]
pub struct FileSizeSampler {
    draw: Draw,
    generator: Generator,
    left: u32,
}

impl FileSizeSampler {
    /// Returns the lengths of the first `files` files of client `client`. A larger number of files
    /// only adds lengths at the end, and lengths do not depend on the number of clients.
    pub fn of(sizes: &FileSizes, client: u32, files: u32) -> Result<Self, FileSetError> {
        Ok(Self {
            draw: Draw::of(sizes)?,
            generator: random::stream(SEED, RandomStream::FileSizes, client.into()),
            left: files,
        })
    }
}

impl Iterator for FileSizeSampler {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        Some(self.draw.next(&mut self.generator))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for FileSizeSampler {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const DRAWS: u32 = 100_000;

    fn lengths(sizes: &str, files: u32) -> Vec<u64> {
        let sizes = sizes.parse().expect("file sizes");
        FileSizeSampler::of(&sizes, 0, files)
            .expect("drawn")
            .collect()
    }

    #[test]
    fn nhfsstones_classes_have_their_shares_and_lengths() {
        let mut counts = BTreeMap::new();
        for bytes in lengths("nhfsstone", DRAWS) {
            *counts.entry(bytes / KIB).or_insert(0_u32) += 1;
        }
        let expected: BTreeMap<u64, f64> = (1..=3)
            .map(|kib| (kib, 0.5 / 3.0))
            .chain((1..=6).map(|blocks| (8 * blocks, 0.47 / 6.0)))
            .chain([(256, 0.03)])
            .collect();
        assert!(counts.keys().eq(expected.keys()), "{counts:?}");
        for (kib, share) in expected {
            // Five standard deviations of a count.
            let bound = 5.0 * (f64::from(DRAWS) * share * (1.0 - share)).sqrt();
            let off = f64::from(counts[&kib]) - f64::from(DRAWS) * share;
            assert!(off.abs() < bound, "{kib} KiB: off by {off}");
        }
    }

    #[test]
    fn uniform_lengths_have_their_bounds_and_mean() {
        let drawn = lengths("10..20", DRAWS);
        assert_eq!(drawn.iter().min(), Some(&10));
        assert_eq!(drawn.iter().max(), Some(&20));
        let mean = drawn.iter().sum::<u64>() as f64 / f64::from(DRAWS);
        // sqrt(10/n) is the mean's standard deviation: (11^2 - 1)/12 is the variance of a sample.
        assert!((mean - 15.0).abs() < 5.0 * (10.0 / f64::from(DRAWS)).sqrt());
    }

    #[test]
    fn log_normal_lengths_have_their_median_and_one_sigma() {
        let mut drawn = lengths("lognormal:16K,1.5", DRAWS);
        drawn.sort_unstable();
        let below = |bytes: f64| {
            drawn.partition_point(|drawn| (*drawn as f64) < bytes) as f64 / f64::from(DRAWS)
        };
        assert!((below(16384.0) - 0.5).abs() < 0.01);
        // The normal distribution's value at one standard deviation.
        assert!((below(16384.0 * 1.5_f64.exp()) - 0.841_345).abs() < 0.01);
        assert!((below(16384.0 / 1.5_f64.exp()) - 0.158_655).abs() < 0.01);
        let longest = lengths("lognormal:1T,16", 1000).into_iter().max();
        assert_eq!(longest, Some(LENGTH_MAX));
    }

    #[test]
    fn classes_come_with_their_weights() {
        let drawn = lengths("1K*50,8K*40,256K*10,7*0", DRAWS);
        let count = |bytes| drawn.iter().filter(|drawn| **drawn == bytes).count();
        for (bytes, share) in [(KIB, 0.5), (8 * KIB, 0.4), (256 * KIB, 0.1)] {
            assert!((count(bytes) as f64 / f64::from(DRAWS) - share).abs() < 0.01);
        }
        assert_eq!(count(7), 0);
    }

    #[test]
    fn a_set_stays_the_same_for_ever() {
        // Existing sets on servers were created with these lengths.
        assert_eq!(
            lengths("nhfsstone", 8),
            [2048, 24576, 2048, 3072, 49152, 40960, 3072, 16384]
        );
        assert_eq!(lengths("0..1M", 3), lengths("0..1M", 5)[..3]);
        let of_client = |client| -> Vec<u64> {
            let drawn = FileSizeSampler::of(&FileSizes::Nhfsstone, client, 40);
            drawn.expect("drawn").collect()
        };
        assert_ne!(of_client(0), of_client(1));
    }

    #[test]
    fn what_a_plan_cannot_mean_is_refused() {
        let uniform = |min_bytes, max_bytes| FileSizes::Uniform {
            min_bytes,
            max_bytes,
        };
        let log_normal = |median_bytes, sigma| FileSizes::LogNormal {
            median_bytes,
            sigma,
        };
        let classes = |weights: &[u64]| {
            let class = |weight: &u64| SizeClass {
                weight: *weight,
                bytes: 1,
            };
            FileSizes::Classes {
                classes: weights.iter().map(class).collect(),
            }
        };
        for sizes in [
            FileSizes::Fixed {
                bytes: LENGTH_MAX + 1,
            },
            uniform(2, 1),
            uniform(0, u64::MAX),
            log_normal(0, 1.0),
            log_normal(1, f64::NAN),
            log_normal(1, -1.0),
            log_normal(1, f64::INFINITY),
            log_normal(u64::MAX, 1.0),
            classes(&[]),
            classes(&[0, 0]),
            classes(&[u64::MAX, 1]),
            classes(&[1; CLASSES_MAX + 1]),
        ] {
            let error = FileSizeSampler::of(&sizes, 0, 1)
                .map(|_| ())
                .expect_err("refused");
            assert!(!error.to_string().is_empty() && !error.help().is_empty());
        }
    }
}
