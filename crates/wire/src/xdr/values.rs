//! Rust types that are XDR values (RFC 4506, section 4).

use alloc::vec::Vec;

use super::{Decode, DecodeError, Encode, Reader, Writer};

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

/// Variable-length opaque data without a specified limit (`opaque<>`, `string<>`): the input is the
/// limit.
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

/// Optional data, section 4.19, and every union switched on a boolean whose false arm is void; both
/// have the same encoding.
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

/// A linked list, section 4.19 (`struct entry *next`): a true before each item, and a false at the
/// end. The other form, a counted array, is encoded where it occurs.
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
        // Allocated once, and never larger than the bytes that are present. A list that grows item
        // by item would move its contents each time its capacity is doubled.
        let mut items = Self::with_capacity(reader.remaining() / size_of::<T>().max(1));
        while reader.bool()? {
            items.push(T::decode(reader)?);
        }
        Ok(items)
    }
}

/// A union switched on a status: 0 and the result, or else the failure, which begins with the
/// status. All replies of NFSv3 and MOUNT have this form.
///
/// A failure with status 0 is an error of the caller and does not decode to the same value.
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
