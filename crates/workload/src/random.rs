//! Seeded randomness: the same seed means the same run, for ever.
//!
//! The generator is named (xoshiro256++) so that a library's change of default
//! cannot change what a published seed stands for. Every use draws from a
//! stream of its own, derived from the run's seed, a purpose and an index, so
//! that the number of workers does not change what a client does.

use rand::SeedableRng;
pub use rand::{Rng, RngExt};
pub use rand_xoshiro::Xoshiro256PlusPlus as Generator;

/// What a random stream is for. Streams of different purposes are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RandomStream {
    /// When operations are due.
    Arrivals = 1,
    /// What is asked.
    Workload = 2,
    /// Names of what a run creates.
    Names = 4,
    /// Random numbers and strings of a load file.
    Script = 5,
    /// What stands in a load of our own.
    Synthetic = 6,
    /// The order in which a client asks the operations of a mix.
    Deck = 7,
    /// Which file of a set is chosen.
    Popularity = 8,
    /// How long the files of a set are.
    FileSizes = 9,
    /// Orders that a test tries.
    Permutations = 10,
    /// The order in which runs are made.
    RunOrder = 11,
    /// Sizes and rates of a fleet's files, and where random data begin.
    Fleet = 12,
    /// The order in which the pieces of a fleet's files are moved.
    Offsets = 13,
    /// In which order the load levels of a cycle come.
    Levels = 14,
}

/// The random stream for one purpose of one client (or worker).
pub fn stream(seed: u64, purpose: RandomStream, index: u64) -> Generator {
    // Distinct inputs must give distinct seeds: each step of splitmix64 is a
    // bijection, so mixing one value in after the other cannot collide for
    // streams that differ in one of them only.
    let mixed = mix(mix(mix(seed) ^ purpose as u64) ^ index);
    Generator::seed_from_u64(mixed)
}

/// A number from the exponential distribution with this mean.
pub fn exponential(generator: &mut impl Rng, mean: f64) -> f64 {
    // `random` is less than 1, so the logarithm is finite.
    let uniform: f64 = generator.random();
    -(1.0 - uniform).ln() * mean
}

/// One step of splitmix64 (Steele, Lea and Flood 2014).
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
