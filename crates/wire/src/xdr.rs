//! Reader and writer for XDR, the external data representation (RFC 4506).
//!
//! Everything is big-endian and a multiple of four bytes long. The reader
//! borrows from its input and never allocates; only [`Vec`] (a linked list)
//! does, one item at a time, so a list is never larger than its bytes allow.
//!
//! Not here: anything that knows a protocol.

use alloc::vec::Vec;

/// Why bytes are not the message they were taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The input ends inside a value.
    #[error("{need} bytes expected at byte {at}, {have} left")]
    Short {
        /// Where the value begins, counted from the start of the input.
        at: usize,
        /// Bytes the value takes, padding included.
        need: usize,
        /// Bytes there were.
        have: usize,
    },
    /// A length is over what the standard allows for this value.
    #[error("length {len} at byte {at} is over the limit of {limit}")]
    TooLong {
        /// Where the length stands.
        at: usize,
        /// The length.
        len: usize,
        /// The most the standard allows.
        limit: usize,
    },
    /// A number is none of those the standard lists for this field.
    #[error("{field} is {value}, which the standard does not define")]
    BadDiscriminant {
        /// The field, as the standard names it.
        field: &'static str,
        /// What was found.
        value: u32,
    },
    /// The message is complete and bytes are left over.
    #[error("{count} bytes left over after the message")]
    TrailingBytes {
        /// How many.
        count: usize,
    },
}

/// Something that can be written as XDR.
pub trait Encode {
    /// Appends this value.
    fn encode(&self, out: &mut Writer<'_>);

    /// This value alone, in a new buffer.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.encode(&mut Writer::new(&mut bytes));
        bytes
    }
}

/// Something that can be read from XDR, borrowing from the input.
pub trait Decode<'a>: Sized {
    /// Takes this value off the front of the reader.
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError>;

    /// Reads this value and refuses left-over bytes.
    fn from_bytes(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let value = Self::decode(&mut reader)?;
        reader.finish()?;
        Ok(value)
    }
}

/// Bytes that fill a value of `len` bytes up to a multiple of four.
#[inline]
const fn padding(len: usize) -> usize {
    len.wrapping_neg() & 3
}

/// Takes values off the front of a byte slice.
///
/// Padding bytes are not looked at. RFC 4506 (section 3) has them zero, but
/// servers in the field leave them as they were in memory, and the Linux and
/// BSD clients accept that; a benchmark that refused would measure nothing.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
    total: usize,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            total: bytes.len(),
        }
    }

    /// Bytes not read yet.
    #[inline]
    pub const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Bytes read so far.
    #[inline]
    pub const fn position(&self) -> usize {
        self.total - self.rest.len()
    }

    /// What has not been read yet, unread.
    #[inline]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Refuses left-over bytes: a message ends where its last field ends.
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

    /// Takes `len` bytes and the padding after them.
    #[inline]
    fn take_padded(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        // A length near the top of the address space, on a small machine, may
        // not be rounded up; it is more than there is either way.
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

    /// Unsigned integer, section 4.2.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_be_bytes(*self.array()?))
    }

    /// Integer, section 4.1.
    #[inline]
    pub fn i32(&mut self) -> Result<i32, DecodeError> {
        Ok(i32::from_be_bytes(*self.array()?))
    }

    /// Unsigned hyper integer, section 4.5.
    #[inline]
    pub fn u64(&mut self) -> Result<u64, DecodeError> {
        Ok(u64::from_be_bytes(*self.array()?))
    }

    /// Boolean, section 4.4. Only 0 and 1 are booleans.
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

    /// `N` unsigned integers with one check of the length.
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

    /// Fixed-length opaque data, section 4.9.
    #[inline]
    pub fn fixed<const N: usize>(&mut self) -> Result<&'a [u8; N], DecodeError> {
        let bytes = self.array::<N>()?;
        if padding(N) != 0 {
            self.take(padding(N))?;
        }
        Ok(bytes)
    }

    /// Variable-length opaque data or a string of at most `max` bytes,
    /// sections 4.10 and 4.11.
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

/// Appends values to a byte vector.
#[derive(Debug)]
pub struct Writer<'b> {
    out: &'b mut Vec<u8>,
}

impl<'b> Writer<'b> {
    /// A writer that appends to `out`.
    #[inline]
    pub const fn new(out: &'b mut Vec<u8>) -> Self {
        Self { out }
    }

    /// Length of the whole buffer, with what it held before this writer.
    #[inline]
    pub const fn position(&self) -> usize {
        self.out.len()
    }

    /// Makes room for `additional` bytes at once.
    #[inline]
    pub fn reserve(&mut self, additional: usize) {
        self.out.reserve(additional);
    }

    /// Unsigned integer, section 4.2.
    #[inline]
    pub fn u32(&mut self, value: u32) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    /// Integer, section 4.1.
    #[inline]
    pub fn i32(&mut self, value: i32) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    /// Unsigned hyper integer, section 4.5.
    #[inline]
    pub fn u64(&mut self, value: u64) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    /// Boolean, section 4.4.
    #[inline]
    pub fn bool(&mut self, value: bool) {
        self.u32(value.into());
    }

    /// Several unsigned integers with one check of the capacity.
    #[inline]
    pub fn words<const N: usize>(&mut self, words: [u32; N]) {
        self.out
            .extend_from_slice(words.map(u32::to_be_bytes).as_flattened());
    }

    /// Fixed-length opaque data, section 4.9: the bytes and their padding.
    #[inline]
    pub fn fixed(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
        self.pad(bytes.len());
    }

    /// Variable-length opaque data or a string, sections 4.10 and 4.11.
    #[inline]
    pub fn opaque(&mut self, bytes: &[u8]) {
        self.u32(length(bytes.len()));
        self.fixed(bytes);
    }

    /// The zero bytes that follow `len` bytes of opaque data.
    #[inline]
    pub fn pad(&mut self, len: usize) {
        const ZEROS: [u8; 3] = [0; 3];
        if let Some(zeros) = ZEROS.get(..padding(len)) {
            self.out.extend_from_slice(zeros);
        }
    }
}

/// A length as XDR counts it. No message of ours comes near four gigabytes;
/// one that did would be cut off by its reader, not taken for another.
#[inline]
pub(crate) fn length(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

macro_rules! primitive {
    ($type:ident) => {
        impl Encode for $type {
            #[inline]
            fn encode(&self, out: &mut Writer<'_>) {
                out.$type(*self);
            }
        }

        impl<'a> Decode<'a> for $type {
            #[inline]
            fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
                reader.$type()
            }
        }
    };
}

primitive!(u32);
primitive!(i32);
primitive!(u64);
primitive!(bool);

/// Void, section 4.16.
impl Encode for () {
    #[inline]
    fn encode(&self, _out: &mut Writer<'_>) {}
}

impl<'a> Decode<'a> for () {
    #[inline]
    fn decode(_reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(())
    }
}

/// Fixed-length opaque data, section 4.9.
impl<const N: usize> Encode for [u8; N] {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        out.fixed(self);
    }
}

impl<'a, const N: usize> Decode<'a> for [u8; N] {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.fixed().copied()
    }
}

/// Variable-length opaque data without a limit of its own (`opaque<>`,
/// `string<>`): the input is the limit.
impl Encode for &[u8] {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        out.opaque(self);
    }
}

impl<'a> Decode<'a> for &'a [u8] {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.opaque(usize::MAX)
    }
}

/// Optional data, section 4.19, and every union switched on a boolean whose
/// false arm is void; they are the same bytes.
impl<T: Encode> Encode for Option<T> {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        match self {
            Some(value) => {
                out.bool(true);
                value.encode(out);
            }
            None => out.bool(false),
        }
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for Option<T> {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        if reader.bool()? {
            T::decode(reader).map(Some)
        } else {
            Ok(None)
        }
    }
}

/// A linked list, section 4.19 (`struct entry *next`): before each item that
/// another follows, then that none does. The other form, a counted array, is
/// written out where it occurs.
impl<T: Encode> Encode for Vec<T> {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        for item in self {
            out.bool(true);
            item.encode(out);
        }
        out.bool(false);
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for Vec<T> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut items = Self::new();
        while reader.bool()? {
            items.push(T::decode(reader)?);
        }
        Ok(items)
    }
}

/// A union switched on a status: 0 and the result, or else the failure, which
/// begins with the status. All replies of NFSv3 and MOUNT have this shape.
///
/// A failure with status 0 is a mistake of the caller and does not decode as
/// what it was.
impl<T: Encode, F: Encode> Encode for Result<T, F> {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        match self {
            Ok(result) => {
                out.u32(0);
                result.encode(out);
            }
            Err(failure) => failure.encode(out),
        }
    }
}

impl<'a, T: Decode<'a>, F: Decode<'a>> Decode<'a> for Result<T, F> {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut ahead = reader.clone();
        if ahead.u32()? == 0 {
            *reader = ahead;
            T::decode(reader).map(Ok)
        } else {
            F::decode(reader).map(Err)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn opaque_data_is_padded_to_four_bytes() {
        // RFC 4506, section 4.10: length, bytes, zero to three zeros.
        for (len, padded) in [(0, 4), (1, 8), (2, 8), (3, 8), (4, 8), (5, 12)] {
            let data = vec![7_u8; len];
            let bytes = data.as_slice().to_bytes();
            assert_eq!(bytes.len(), padded);
            assert_eq!(<&[u8]>::from_bytes(&bytes), Ok(data.as_slice()));
        }
    }

    #[test]
    fn fixed_opaque_data_is_padded_too() {
        let bytes = [1_u8, 2, 3].to_bytes();
        assert_eq!(bytes, [1, 2, 3, 0]);
        assert_eq!(<[u8; 3]>::from_bytes(&bytes), Ok([1, 2, 3]));
        assert_eq!(
            <[u8; 3]>::from_bytes(&bytes[..3]),
            Err(DecodeError::Short {
                at: 3,
                need: 1,
                have: 0
            })
        );
    }

    #[test]
    fn padding_that_is_not_zero_is_accepted() {
        assert_eq!(
            <&[u8]>::from_bytes(&[0, 0, 0, 1, 7, 9, 9, 9]),
            Ok(&[7_u8][..])
        );
    }

    #[test]
    fn a_value_that_runs_short_says_where_and_by_how_much() {
        let mut reader = Reader::new(&[0, 0, 0, 1, 0, 0]);
        assert_eq!(reader.u32(), Ok(1));
        assert_eq!(
            reader.u64(),
            Err(DecodeError::Short {
                at: 4,
                need: 8,
                have: 2
            })
        );
        assert_eq!(reader.position(), 4);
        assert_eq!(reader.remaining(), 2);
    }

    #[test]
    fn a_length_over_the_limit_is_refused_before_the_bytes_are_looked_for() {
        let mut reader = Reader::new(&[0xff; 8]);
        assert_eq!(
            reader.opaque(64),
            Err(DecodeError::TooLong {
                at: 0,
                len: u32::MAX as usize,
                limit: 64
            })
        );
        assert!(matches!(
            <&[u8]>::from_bytes(&[0xff; 8]),
            Err(DecodeError::Short { at: 4, have: 4, .. })
        ));
    }

    #[test]
    fn left_over_bytes_are_refused() {
        assert_eq!(
            u32::from_bytes(&[0; 6]),
            Err(DecodeError::TrailingBytes { count: 2 })
        );
    }

    #[test]
    fn a_boolean_is_zero_or_one() {
        assert_eq!(
            bool::from_bytes(&[0, 0, 0, 2]),
            Err(DecodeError::BadDiscriminant {
                field: "bool",
                value: 2
            })
        );
    }

    #[test]
    fn a_list_that_claims_to_go_on_ends_with_its_bytes() {
        let endless = [0_u8, 0, 0, 1].repeat(1000);
        assert!(matches!(
            Vec::<u32>::from_bytes(&endless),
            Err(DecodeError::Short { .. })
        ));
    }
}
