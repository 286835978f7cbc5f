//! Reader of XDR values, with checks for truncated and excessive lengths.

use super::{DecodeError, padding};

/// Reads values from the front of a byte slice.
///
/// Padding bytes are not checked. RFC 4506 (section 3) requires zeros, but real servers leave them
/// uninitialized, and the Linux and BSD clients accept that; a benchmark that refused them could
/// not measure such servers.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
    total: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the start of `bytes`.
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            total: bytes.len(),
        }
    }

    /// Returns the number of unread bytes.
    #[inline]
    pub const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Returns the number of bytes read.
    #[inline]
    pub const fn position(&self) -> usize {
        self.total - self.rest.len()
    }

    /// Returns the unread bytes without consuming them.
    #[inline]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Refuses remaining bytes: a message ends where its last field ends.
    #[inline]
    pub const fn finish(self) -> Result<(), DecodeError> {
        match self.rest.len() {
            0 => Ok(()),
            count => Err(DecodeError::TrailingBytes { count }),
        }
    }

    #[cold]
    const fn short(&self, need: usize) -> DecodeError {
        DecodeError::Short {
            at: self.position(),
            need,
            have: self.rest.len(),
        }
    }

    #[inline]
    fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let (head, rest) = self
            .rest
            .split_at_checked(len)
            .ok_or_else(|| self.short(len))?;
        self.rest = rest;
        Ok(head)
    }

    /// Reads `len` bytes and the padding after them.
    #[inline]
    fn take_padded(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        // A length near the end of the address space, on a small machine, may not be rounded up; it
        // exceeds the input either way.
        let padded = len.saturating_add(padding(len));
        let (head, rest) = self
            .rest
            .split_at_checked(padded)
            .ok_or_else(|| self.short(padded))?;
        self.rest = rest;
        head.get(..len).ok_or(DecodeError::Short {
            at: 0,
            need: len,
            have: head.len(),
        })
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], DecodeError> {
        let (head, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or_else(|| self.short(N))?;
        self.rest = rest;
        Ok(head)
    }

    /// Reads an unsigned integer, section 4.2.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_be_bytes(*self.array()?))
    }

    /// Reads an integer, section 4.1.
    #[inline]
    pub fn i32(&mut self) -> Result<i32, DecodeError> {
        Ok(i32::from_be_bytes(*self.array()?))
    }

    /// Reads an unsigned hyper integer, section 4.5.
    #[inline]
    pub fn u64(&mut self) -> Result<u64, DecodeError> {
        Ok(u64::from_be_bytes(*self.array()?))
    }

    /// Reads a boolean, section 4.4. Only 0 and 1 are valid.
    #[inline]
    pub fn bool(&mut self) -> Result<bool, DecodeError> {
        match self.u32()? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(DecodeError::BadDiscriminant {
                field: "bool",
                value,
            }),
        }
    }

    /// Reads `N` unsigned integers with one check of the length.
    #[inline]
    pub fn words<const N: usize>(&mut self) -> Result<[u32; N], DecodeError> {
        let need = N * 4;
        let (chunks, _) = self.take(need)?.as_chunks::<4>();
        let chunks: &[[u8; 4]; N] = chunks.try_into().map_err(|_| DecodeError::Short {
            at: 0,
            need,
            have: 0,
        })?;
        Ok(chunks.map(u32::from_be_bytes))
    }

    /// Reads fixed-length opaque data, section 4.9.
    #[inline]
    pub fn fixed<const N: usize>(&mut self) -> Result<&'a [u8; N], DecodeError> {
        let bytes = self.array::<N>()?;
        if padding(N) != 0 {
            self.take(padding(N))?;
        }
        Ok(bytes)
    }

    /// Reads variable-length opaque data or a string of at most `max` bytes, sections 4.10 and
    /// 4.11.
    #[inline]
    pub fn opaque(&mut self, max: usize) -> Result<&'a [u8], DecodeError> {
        let at = self.position();
        let len = self.u32()? as usize;
        if len > max {
            return Err(DecodeError::TooLong {
                at,
                len,
                limit: max,
            });
        }
        self.take_padded(len)
    }
}
