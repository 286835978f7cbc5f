//! Rust types that are fields.

use super::{Decode, DecodeError, Encode, Fixed, Reader, Writer};

macro_rules! integer {
    ($type:ident, $len:literal) => {
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

        impl Fixed for $type {
            const LEN: usize = $len;
        }
    };
}

integer!(u8, 1);
integer!(u16, 2);
integer!(u32, 4);
integer!(u64, 8);

/// Bytes that a receiver does not interpret: GUIDs, keys, signatures.
impl<const N: usize> Encode for [u8; N] {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        out.bytes(self);
    }
}

impl<'a, const N: usize> Decode<'a> for [u8; N] {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.array().copied()
    }
}

impl<const N: usize> Fixed for [u8; N] {
    const LEN: usize = N;
}

/// A BOOLEAN of MS-FSCC: one byte, 0 or not.
impl Encode for bool {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        out.u8((*self).into());
    }
}

impl<'a> Decode<'a> for bool {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(reader.u8()? != 0)
    }
}

impl Fixed for bool {
    const LEN: usize = 1;
}
