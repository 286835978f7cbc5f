//! Reader with checks for truncated values and for offsets outside of the message.

use super::DecodeError;

/// Reads values from the front of a message, and resolves the offsets in its fields.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    message: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the start of `message`.
    #[inline]
    pub const fn new(message: &'a [u8]) -> Self {
        Self { message, at: 0 }
    }

    /// Creates a reader of a message whose first `at` bytes have been read.
    #[inline]
    pub const fn starting_at(message: &'a [u8], at: usize) -> Self {
        Self { message, at }
    }

    /// Returns the number of bytes read.
    #[inline]
    pub const fn position(&self) -> usize {
        self.at
    }

    /// Returns the unread bytes without consuming them.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.message.get(self.at..).unwrap_or_default()
    }

    #[cold]
    fn short(&self, need: usize) -> DecodeError {
        DecodeError::Short {
            at: self.at,
            need,
            have: self.rest().len(),
        }
    }

    /// Reads `len` bytes.
    #[inline]
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let bytes = self.rest().get(..len).ok_or_else(|| self.short(len))?;
        self.at += len;
        Ok(bytes)
    }

    /// Reads `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], DecodeError> {
        let bytes = self.rest().first_chunk().ok_or_else(|| self.short(N))?;
        self.at += N;
        Ok(bytes)
    }

    /// Skips `len` reserved bytes of any value: the standard requires receivers to ignore them.
    #[inline]
    pub fn skip(&mut self, len: usize) -> Result<(), DecodeError> {
        self.take(len).map(|_| ())
    }

    /// Reads an integer of one byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, DecodeError> {
        Ok(u8::from_le_bytes(*self.array()?))
    }

    /// Reads an integer of two bytes.
    #[inline]
    pub fn u16(&mut self) -> Result<u16, DecodeError> {
        Ok(u16::from_le_bytes(*self.array()?))
    }

    /// Reads an integer of four bytes.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_le_bytes(*self.array()?))
    }

    /// Reads an integer of eight bytes.
    #[inline]
    pub fn u64(&mut self) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(*self.array()?))
    }

    /// Reads StructureSize, which must be `expected`.
    #[inline]
    pub fn structure(&mut self, expected: u16) -> Result<(), DecodeError> {
        let found = self.u16()?;
        if found == expected {
            Ok(())
        } else {
            Err(DecodeError::Structure { expected, found })
        }
    }

    /// Returns all bytes from `offset` of the message on, under the same conditions; at least one.
    #[inline]
    pub fn buffer_from(&self, field: &'static str, offset: u32) -> Result<&'a [u8], DecodeError> {
        let have = self.message.len();
        let len = have.saturating_sub(offset as usize).max(1);
        self.buffer(field, offset, super::length32(len))
    }

    /// Returns the `len` bytes at `offset` of the message. Call it after reading all fixed fields:
    /// the bytes must not overlap them. With a `len` of 0 the offset is ignored.
    #[inline]
    pub fn buffer(
        &self,
        field: &'static str,
        offset: u32,
        len: u32,
    ) -> Result<&'a [u8], DecodeError> {
        let (offset, len) = (offset as usize, len as usize);
        if len == 0 {
            return Ok(&[]);
        }
        let end = offset.saturating_add(len);
        let bytes = self.message.get(offset..end);
        bytes
            .filter(|_| offset >= self.at)
            .ok_or(DecodeError::Outside {
                field,
                offset,
                len,
                have: self.message.len(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_runs_short_says_where_and_by_how_much() {
        let mut reader = Reader::new(&[1, 0, 0, 0, 9, 9]);
        assert_eq!(reader.u32(), Ok(1));
        let short = DecodeError::Short {
            at: 4,
            need: 8,
            have: 2,
        };
        assert_eq!(reader.u64(), Err(short));
        assert_eq!(reader.position(), 4);
    }

    #[test]
    fn a_buffer_lies_in_the_message_and_behind_its_fixed_fields() {
        let message = [0, 1, 2, 3, 4, 5, 6, 7];
        let reader = Reader::starting_at(&message, 4);
        assert_eq!(reader.buffer("Data", 5, 3), Ok(&[5, 6, 7][..]));
        assert_eq!(reader.buffer("Data", u32::MAX, 0), Ok(&[][..]));
        for (offset, len) in [(3, 2), (5, 4), (8, 1), (u32::MAX, u32::MAX)] {
            let outside = DecodeError::Outside {
                field: "Data",
                offset: offset as usize,
                len: len as usize,
                have: 8,
            };
            assert_eq!(reader.buffer("Data", offset, len), Err(outside));
        }
    }
}
