//! Seeded random numbers: the same seed gives the same run in all versions.
//!
//! The generator is named (xoshiro256++) so that a library's change of default cannot change the
//! meaning of a published seed. Every use has a separate stream, derived from the run's seed, a
//! purpose and an index, so that the number of workers does not affect the operations of a client.

use rand::SeedableRng;
pub use rand::{Rng, RngExt};
pub use rand_xoshiro::Xoshiro256PlusPlus as Generator;

/// Purpose of a random stream. Streams of different purposes are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RandomStream {
    /// Due times of operations.
    Arrivals = 1,
    /// Choice of operations.
    Workload = 2,
    /// Names of objects that a run creates.
    Names = 4,
    /// Random numbers and strings of a load file.
    Script = 5,
    /// Content of a generated load.
    Synthetic = 6,
    /// Order of a client's operations of a mix.
    Deck = 7,
    /// Choice of a file of a set.
    Popularity = 8,
    /// Lengths of the files of a set.
    FileSizes = 9,
    /// Permutations of a test.
    Permutations = 10,
    /// Order of runs.
    RunOrder = 11,
    /// Sizes and rates of a fleet's files, and start positions of random data.
    Fleet = 12,
    /// Order of the pieces of a fleet's files.
    Offsets = 13,
    /// Order of the load levels in a cycle.
    Levels = 14,
}

/// Returns the random stream for one purpose of one client (or worker).
pub fn stream(seed: u64, purpose: RandomStream, index: u64) -> Generator {
    // Distinct inputs must give distinct seeds: each step of splitmix64 is a bijection, so mixing
    // the values in sequentially cannot collide for streams that differ in one of them only.
    let mixed = mix(mix(mix(seed) ^ purpose as u64) ^ index);
    Generator::seed_from_u64(mixed)
}

/// Returns a sample of the exponential distribution with this mean.
pub fn exponential(generator: &mut impl Rng, mean: f64) -> f64 {
    // `random` is less than 1, so the logarithm is finite.
    let uniform: f64 = generator.random();
    -(1.0 - uniform).ln() * mean
}

/// Computes one step of splitmix64 (Steele, Lea and Flood 2014).
pub fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_means_the_same_for_ever() {
        let mut generator = stream(1, RandomStream::Arrivals, 0);
        let first: u64 = generator.random();
        let mut again = stream(1, RandomStream::Arrivals, 0);
        assert_eq!(first, again.random::<u64>());
        let mut other = stream(1, RandomStream::Workload, 0);
        assert_ne!(first, other.random::<u64>());
        let mut neighbour = stream(1, RandomStream::Arrivals, 1);
        assert_ne!(first, neighbour.random::<u64>());
    }
}
