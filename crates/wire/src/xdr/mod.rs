//! Reader and writer for XDR, the external data representation (RFC 4506).
//!
//! All values are big-endian and multiples of four bytes long. The reader borrows from its input
//! and never allocates; only [`Vec`] (a linked list) does, one item at a time, so a list is never
//! larger than its bytes permit.
//!
//! Not here: anything that knows a protocol.

mod reader;
mod values;
mod writer;

use alloc::vec::Vec;

pub use reader::Reader;
pub use writer::Writer;
pub(crate) use writer::length;

/// Error when bytes are not the expected message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The input ends inside a value.
    #[error("{need} bytes expected at byte {at}, {have} left")]
    Short {
        /// Offset of the value from the start of the input.
        at: usize,
        /// Length of the value in bytes, including padding.
        need: usize,
        /// Number of bytes available.
        have: usize,
    },
    /// A length exceeds the standard's limit for this value.
    #[error("length {len} at byte {at} is over the limit of {limit}")]
    TooLong {
        /// Offset of the length.
        at: usize,
        /// The length.
        len: usize,
        /// The standard's limit.
        limit: usize,
    },
    /// A number has no meaning in the standard for this field.
    #[error("{field} is {value}, which the standard does not define")]
    BadDiscriminant {
        /// Name of the field in the standard.
        field: &'static str,
        /// The number.
        value: u32,
    },
    /// Bytes remain after the end of the message.
    #[error("{count} bytes left over after the message")]
    TrailingBytes {
        /// Number of remaining bytes.
        count: usize,
    },
}

/// A type that can be written as XDR.
pub trait Encode {
    /// Appends this value.
    fn encode(&self, out: &mut Writer<'_>);

    /// Returns the encoded value in a new buffer.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.encode(&mut Writer::new(&mut bytes));
        bytes
    }
}

/// A type that can be read from XDR, borrowing from the input.
pub trait Decode<'a>: Sized {
    /// Reads this value from the front of the reader.
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError>;

    /// Reads this value and refuses remaining bytes.
    fn from_bytes(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let value = Self::decode(&mut reader)?;
        reader.finish()?;
        Ok(value)
    }
}

/// Returns the number of bytes that pad a value of `len` bytes to a multiple of four.
#[inline]
const fn padding(len: usize) -> usize {
    len.wrapping_neg() & 3
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
