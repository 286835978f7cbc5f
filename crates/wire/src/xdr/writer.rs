//! Writing: values, and the padding after them.

use alloc::vec::Vec;

use super::padding;

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

    /// Reserves space for `additional` bytes.
    #[inline]
    pub fn reserve(&mut self, additional: usize) {
        self.out.reserve(additional);
    }

    /// Writes an unsigned integer, section 4.2.
    #[inline]
    pub fn u32(&mut self, value: u32) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    /// Writes an integer, section 4.1.
    #[inline]
    pub fn i32(&mut self, value: i32) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    /// Writes an unsigned hyper integer, section 4.5.
    #[inline]
    pub fn u64(&mut self, value: u64) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    /// Writes a boolean, section 4.4.
    #[inline]
    pub fn bool(&mut self, value: bool) {
        self.u32(value.into());
    }

    /// Writes several unsigned integers with one check of the capacity.
    #[inline]
    pub fn words<const N: usize>(&mut self, words: [u32; N]) {
        self.out
            .extend_from_slice(words.map(u32::to_be_bytes).as_flattened());
    }

    /// Writes fixed-length opaque data, section 4.9: the bytes and their padding.
    #[inline]
    pub fn fixed(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
        self.pad(bytes.len());
    }

    /// Writes variable-length opaque data or a string, sections 4.10 and 4.11.
    #[inline]
    pub fn opaque(&mut self, bytes: &[u8]) {
        self.u32(length(bytes.len()));
        self.fixed(bytes);
    }

    /// Writes the zero bytes that follow `len` bytes of opaque data.
    #[inline]
    pub fn pad(&mut self, len: usize) {
        const ZEROS: [u8; 3] = [0; 3];
        if let Some(zeros) = ZEROS.get(..padding(len)) {
            self.out.extend_from_slice(zeros);
        }
    }
}

/// Converts a length to XDR. No message of filestone approaches four gigabytes; a reader would
/// truncate such a message rather than mistake it for another.
#[inline]
pub(crate) fn length(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
