//! Checksum of data that arrive in pieces, to detect changes between reads.
//!
//! The checksum is not safe against forgery. All steps of a lane are invertible, so data that
//! differ in a single word always have different sums. Eight lanes, because several multiplications
//! can be started during the latency of one.

/// The fractional part of the golden ratio; any odd number with well distributed bits works.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const LANES: usize = 8;
const BLOCK: usize = LANES * 8;

/// The checksum of the data added until now.
#[derive(Debug, Clone, Copy)]
pub struct Checksum {
    lanes: [u64; LANES],
    /// Data that do not fill a block yet.
    rest: [u8; BLOCK],
    len: u64,
}

#[inline]
const fn mixed(lane: u64, word: u64) -> u64 {
    (lane ^ word).wrapping_mul(FACTOR).rotate_left(29)
}

impl Checksum {
    /// The checksum of no data.
    pub const EMPTY: Self = Self {
        lanes: [1, 2, 3, 4, 5, 6, 7, 8],
        rest: [0; BLOCK],
        len: 0,
    };

    /// Returns the number of bytes in `rest`.
    #[inline]
    const fn waiting(&self) -> usize {
        (self.len % BLOCK as u64) as usize
    }

    /// Adds data; the sum does not depend on how the data are cut.
    #[inline]
    pub fn add(&mut self, data: &[u8]) {
        let waiting = self.waiting();
        self.len = self.len.wrapping_add(data.len() as u64);
        let mut data = data;
        if waiting > 0 {
            let (_, room) = self.rest.split_at_mut(waiting);
            let (first, after) = data.split_at(room.len().min(data.len()));
            room.iter_mut()
                .zip(first)
                .for_each(|(to, from)| *to = *from);
            if first.len() < room.len() {
                return;
            }
            let block = self.rest;
            self.add_block(&block);
            data = after;
        }
        let (blocks, rest) = data.as_chunks::<BLOCK>();
        blocks.iter().for_each(|block| self.add_block(block));
        self.rest
            .iter_mut()
            .zip(rest)
            .for_each(|(to, from)| *to = *from);
    }

    #[inline(always)]
    fn add_block(&mut self, block: &[u8; BLOCK]) {
        let (words, _) = block.as_chunks::<8>();
        for (lane, word) in self.lanes.iter_mut().zip(words) {
            *lane = mixed(*lane, u64::from_le_bytes(*word));
        }
    }

    /// Returns the sum.
    pub fn sum(&self) -> u64 {
        let (rest, _) = self.rest.split_at(self.waiting());
        let rest = rest.chunks(8).map(|piece| {
            let mut word = [0; 8];
            word.iter_mut()
                .zip(piece)
                .for_each(|(to, from)| *to = *from);
            u64::from_le_bytes(word)
        });
        let lanes = self.lanes.iter().copied();
        lanes.chain(rest).fold(self.len, mixed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(pieces: &[&[u8]]) -> u64 {
        let mut checksum = Checksum::EMPTY;
        pieces.iter().for_each(|piece| checksum.add(piece));
        checksum.sum()
    }

    fn data(len: usize) -> Vec<u8> {
        (0..len)
            .map(|index| (index * 7 + index / 256) as u8)
            .collect()
    }

    #[test]
    fn it_is_the_same_however_the_data_are_cut() {
        let data = data(500);
        for len in [0, 1, 63, 64, 65, 127, 128, 200, 500] {
            let whole = sum(&[&data[..len]]);
            for first in 0..=len {
                for second in [first, (first + 1).min(len), (first + 64).min(len), len] {
                    let pieces = [&data[..first], &data[first..second], &data[second..len]];
                    assert_eq!(
                        sum(&pieces),
                        whole,
                        "{len} bytes cut at {first} and {second}"
                    );
                }
            }
        }
    }

    #[test]
    fn any_bit_any_length_and_any_two_words_count() {
        let mut data = data(200);
        let whole = sum(&[&data]);
        for len in 0..200 {
            assert_ne!(sum(&[&data[..len]]), whole);
        }
        for bit in 0..8 * data.len() {
            data[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(sum(&[&data]), whole, "bit {bit}");
            // The same bit of another word, and of the same word one block on.
            for other in [bit + 64, bit + 512] {
                if let Some(byte) = data.get_mut(other / 8) {
                    *byte ^= 1 << (other % 8);
                    assert_ne!(sum(&[&data]), whole, "bits {bit} and {other}");
                    data[other / 8] ^= 1 << (other % 8);
                }
            }
            data[bit / 8] ^= 1 << (bit % 8);
        }
        assert_ne!(sum(&[&[0; 64]]), sum(&[&[0; 128]]));
    }
}
