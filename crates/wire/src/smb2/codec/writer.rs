//! Writer of values, and of lengths that are set after the data they count.

use alloc::vec::Vec;

/// Appends values to a byte vector.
#[derive(Debug)]
pub struct Writer<'b> {
    out: &'b mut Vec<u8>,
}

impl<'b> Writer<'b> {
    /// Creates a writer that appends to `out`.
    #[inline]
    pub const fn new(out: &'b mut Vec<u8>) -> Self {
        Self { out }
    }

    /// Returns the length of the whole buffer, including its contents before this writer.
    #[inline]
    pub const fn position(&self) -> usize {
        self.out.len()
    }

    /// Writes bytes unchanged.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Writes an integer of one byte.
    #[inline]
    pub fn u8(&mut self, value: u8) {
        self.out.push(value);
    }

    /// Writes an integer of two bytes.
    #[inline]
    pub fn u16(&mut self, value: u16) {
        self.bytes(&value.to_le_bytes());
    }

    /// Writes an integer of four bytes.
    #[inline]
    pub fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    /// Writes an integer of eight bytes.
    #[inline]
    pub fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    /// Writes zeros for reserved bytes and padding.
    #[inline]
    pub fn zeros(&mut self, len: usize) {
        self.out.resize(self.out.len() + len, 0);
    }

    /// Writes zeros up to a multiple of `align` bytes from `start` on.
    #[inline]
    pub fn pad_from(&mut self, start: usize, align: usize) {
        let len = self.out.len().saturating_sub(start);
        self.zeros(len.next_multiple_of(align) - len);
    }

    /// Truncates the whole buffer to `len` bytes.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.out.truncate(len);
    }

    /// Overwrites two bytes at `at` with an integer.
    #[inline]
    pub fn patch_u16(&mut self, at: usize, value: u16) {
        self.patch(at, value.to_le_bytes());
    }

    /// Overwrites four bytes at `at` with an integer.
    #[inline]
    pub fn patch_u32(&mut self, at: usize, value: u32) {
        self.patch(at, value.to_le_bytes());
    }

    #[inline]
    fn patch<const N: usize>(&mut self, at: usize, value: [u8; N]) {
        let tail = self.out.get_mut(at..);
        if let Some(place) = tail.and_then(|tail| tail.first_chunk_mut()) {
            *place = value;
        }
    }
}

/// Converts a length to a field of two bytes. A reader would truncate a message of filestone that
/// approaches 64 KiB in such a field, rather than mistake it for another.
#[inline]
pub fn length16(len: usize) -> u16 {
    u16::try_from(len).unwrap_or(u16::MAX)
}

/// Converts a length to a field of four bytes.
#[inline]
pub fn length32(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_little_endian_and_padding_counts_from_where_it_is_told() {
        let mut bytes = alloc::vec![0xee];
        let mut out = Writer::new(&mut bytes);
        out.u16(0x0102);
        out.u32(0x0304_0506);
        out.pad_from(1, 8);
        out.patch_u16(1, 0x0708);
        out.patch_u32(100, 1);
        assert_eq!(bytes, [0xee, 8, 7, 6, 5, 4, 3, 0, 0]);
    }
}
