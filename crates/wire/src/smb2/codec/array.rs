//! Lists of things that are all equally long.

use core::fmt;
use core::marker::PhantomData;

use super::{Decode, DecodeError, Encode, Fixed, Reader, Writer};

/// A list whose members all have the same length: a peer's bytes, or the caller's values.
#[derive(Clone, Copy)]
pub struct Array<'a, T> {
    source: Source<'a, T>,
}

#[derive(Clone, Copy)]
enum Source<'a, T> {
    Values(&'a [T]),
    /// Whole members.
    Bytes(&'a [u8], PhantomData<T>),
}

impl<'a, T> From<&'a [T]> for Array<'a, T> {
    #[inline]
    fn from(values: &'a [T]) -> Self {
        let source = Source::Values(values);
        Self { source }
    }
}

impl<'a, T, const N: usize> From<&'a [T; N]> for Array<'a, T> {
    #[inline]
    fn from(values: &'a [T; N]) -> Self {
        Self::from(values.as_slice())
    }
}

impl<'a, T> Array<'a, T>
where
    T: Copy + Fixed + Encode + for<'x> Decode<'x>,
{
    /// Reads the next `count` members.
    #[inline]
    pub fn decode(reader: &mut Reader<'a>, count: usize) -> Result<Self, DecodeError> {
        let bytes = reader.take(count.saturating_mul(T::LEN))?;
        let source = Source::Bytes(bytes, PhantomData);
        Ok(Self { source })
    }

    /// Returns the number of members.
    #[inline]
    pub const fn len(&self) -> usize {
        match self.source {
            Source::Values(values) => values.len(),
            Source::Bytes(bytes, _) => bytes.len() / T::LEN,
        }
    }

    /// Returns whether the list is empty.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the member at `index`, from 0.
    #[inline]
    pub fn get(&self, index: usize) -> Option<T> {
        match self.source {
            Source::Values(values) => values.get(index).copied(),
            Source::Bytes(bytes, _) => {
                let tail = bytes.get(index.checked_mul(T::LEN)?..)?;
                T::from_bytes(tail).ok()
            }
        }
    }

    /// Iterates over the members.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = T> + 'a
    where
        T: 'a,
    {
        (0..self.len()).filter_map(move |index| self.get(index))
    }
}

impl<T> Encode for Array<'_, T>
where
    T: Copy + Fixed + Encode + for<'x> Decode<'x>,
{
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        match self.source {
            Source::Values(values) => values.iter().for_each(|value| value.encode(out)),
            Source::Bytes(bytes, _) => out.bytes(bytes),
        }
    }
}

impl<T> PartialEq for Array<'_, T>
where
    T: Copy + PartialEq + Fixed + Encode + for<'x> Decode<'x>,
{
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<T> Eq for Array<'_, T> where T: Copy + Eq + Fixed + Encode + for<'x> Decode<'x> {}

impl<T> fmt::Debug for Array<'_, T>
where
    T: Copy + fmt::Debug + Fixed + Encode + for<'x> Decode<'x>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_their_bytes_are_the_same_list() {
        let values = Array::from(&[1_u16, 0x0203]);
        let bytes = values.to_bytes();
        assert_eq!(bytes, [1, 0, 3, 2]);
        let read = Array::decode(&mut Reader::new(&bytes), 2);
        assert_eq!(read, Ok(values));
        assert_eq!(read.map(|list| list.len()), Ok(2));
    }

    #[test]
    fn a_count_that_no_message_can_hold_is_too_much() {
        let list = Array::<u64>::decode(&mut Reader::new(&[0; 32]), usize::MAX);
        assert!(matches!(list, Err(DecodeError::Short { have: 32, .. })));
    }
}
