//! File data that contain their position in the file.
//!
//! Word *i* of the period is splitmix64(*i*), little-endian, and the period repeats forever. Every
//! byte of a file is determined by its offset alone, so a reader can detect data from another
//! position, and by how much they are off, without a copy of the written data. Data that are off by
//! a whole number of periods are not detected.

use alloc::vec::Vec;

/// Bytes after which the pattern repeats: one mebibyte.
pub const PERIOD: usize = 1 << 20;

const WORD: usize = 8;
const WORDS: u64 = (PERIOD / WORD) as u64;

/// Returns the output of the generator splitmix64 (Steele, Lea and Flood, 2014) in state `x`.
#[inline]
const fn splitmix64(x: u64) -> u64 {
    let z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the word at file offset `WORD * index`.
#[inline]
const fn word(index: u64) -> [u8; WORD] {
    splitmix64(index % WORDS).to_le_bytes()
}

/// Splits the bytes at `offset` into those before the next word and the rest, with the index of the
/// word that contains the offset.
#[inline]
const fn head_len(offset: u64, len: usize) -> usize {
    let to_boundary = (offset.wrapping_neg() % WORD as u64) as usize;
    if to_boundary < len { to_boundary } else { len }
}

/// Writes the data of a file from `offset` on.
pub fn fill(offset: u64, out: &mut [u8]) {
    let head_len = head_len(offset, out.len());
    let mut index = offset / WORD as u64;
    let (head, rest) = out.split_at_mut(head_len);
    if !head.is_empty() {
        let skip = (offset % WORD as u64) as usize;
        for (place, byte) in head.iter_mut().zip(word(index).iter().skip(skip)) {
            *place = *byte;
        }
        index += 1;
    }
    let (words, tail) = rest.as_chunks_mut::<WORD>();
    for place in words {
        *place = word(index);
        index += 1;
    }
    for (place, byte) in tail.iter_mut().zip(word(index)) {
        *place = byte;
    }
}

/// Returns the file offset of the first byte that differs from the pattern at `offset` and after,
/// computed word by word.
pub fn first_mismatch(offset: u64, data: &[u8]) -> Option<u64> {
    const BLOCK: usize = 512;
    let mut expected = [0; BLOCK];
    let mut at = offset;
    for block in data.chunks(BLOCK) {
        let (expected, _) = expected.split_at_mut_checked(block.len())?;
        fill(at, expected);
        if let Some(index) = first_difference(expected, block) {
            return Some(at.wrapping_add(index));
        }
        at = at.wrapping_add(block.len() as u64);
    }
    None
}

/// Returns the same as [`first_mismatch`], by comparison with a [`table`]: the fast way, one memory
/// comparison for each period or part of one.
///
/// A table shorter than one period is not used.
#[inline]
pub fn first_mismatch_in(table: &[u8], offset: u64, data: &[u8]) -> Option<u64> {
    if table.len() < PERIOD {
        return first_mismatch(offset, data);
    }
    let mut at = offset;
    let mut rest = data;
    while !rest.is_empty() {
        let (_, expected) = table.split_at((at % PERIOD as u64) as usize);
        let (block, after) = rest.split_at(rest.len().min(expected.len()));
        let (expected, _) = expected.split_at(block.len());
        if let Some(index) = first_difference(expected, block) {
            return Some(at.wrapping_add(index));
        }
        at = at.wrapping_add(block.len() as u64);
        rest = after;
    }
    None
}

/// Returns the first position at which two slices of the same length differ.
#[inline]
fn first_difference(expected: &[u8], data: &[u8]) -> Option<u64> {
    // Equality of slices is one fast memory comparison; the position is only searched if they
    // differ.
    if expected == data {
        return None;
    }
    let index = expected
        .iter()
        .zip(data)
        .position(|(left, right)| left != right)?;
    Some(index as u64)
}

/// Two periods: any range of up to one period, from any offset, is one slice.
pub fn table() -> Vec<u8> {
    let mut table = alloc::vec![0; 2 * PERIOD];
    fill(0, &mut table);
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn the_words_are_those_of_splitmix64() {
        // The generator's published first output for seed 0.
        assert_eq!(splitmix64(0), 0xe220_a839_7b1d_cdaf);
        let mut out = [0; 16];
        fill(0, &mut out);
        assert_eq!(out[..8], 0xe220_a839_7b1d_cdaf_u64.to_le_bytes());
        assert_eq!(out[8..], splitmix64(1).to_le_bytes());
    }

    #[test]
    fn every_range_is_the_same_as_that_part_of_the_whole() {
        let table = table();
        for offset in [0, 1, 7, 8, 9, 1000, PERIOD - 9, PERIOD - 1, PERIOD] {
            for len in [0, 1, 2, 7, 8, 9, 15, 16, 17, 511, 512, 513, 5000] {
                let mut out = vec![0; len];
                fill(offset as u64 + (PERIOD as u64) * 5, &mut out);
                assert_eq!(out, table[offset..offset + len], "{len} bytes at {offset}");
                assert_eq!(first_mismatch(offset as u64, &out), None);
                assert_eq!(first_mismatch_in(&table, offset as u64, &out), None);
            }
        }
    }

    #[test]
    fn the_first_wrong_byte_is_found_wherever_it_is() {
        let table = table();
        let offset = 3 * PERIOD as u64 - 700;
        let mut data = vec![0; 2000];
        fill(offset, &mut data);
        for wrong in [0, 1, 511, 512, 699, 700, 701, 1999] {
            data[wrong] ^= 0x40;
            let found = Some(offset + wrong as u64);
            assert_eq!(first_mismatch(offset, &data), found);
            assert_eq!(first_mismatch_in(&table, offset, &data), found);
            assert_eq!(first_mismatch_in(&table[..PERIOD], offset, &data), found);
            data[wrong] ^= 0x40;
        }
    }

    #[test]
    fn data_from_elsewhere_does_not_pass() {
        let mut data = vec![0; 4096];
        fill(4096, &mut data);
        assert_eq!(first_mismatch(0, &data), Some(0));
        assert_eq!(first_mismatch(8192, &data), Some(8192));
        assert_eq!(first_mismatch(4096, &[0; 4096]), Some(4096));
    }

    #[test]
    fn the_end_of_all_offsets_is_not_the_end_of_the_program() {
        let mut data = [0; 100];
        fill(u64::MAX - 10, &mut data);
        assert_eq!(first_mismatch(u64::MAX - 10, &data), None);
    }
}
