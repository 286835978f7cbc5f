//! The subset of DER (X.690) that SPNEGO needs: elements with a tag of one byte and a definite
//! length.

use alloc::vec::Vec;

use super::TokenError;

/// Reads elements from the front of a token.
#[derive(Debug, Clone)]
pub struct DerReader<'a> {
    rest: &'a [u8],
}

impl<'a> DerReader<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Returns the tag of the next element, if any.
    pub fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Returns the contents of the next element, which must have this tag.
    pub fn element(&mut self, tag: u8) -> Result<&'a [u8], TokenError> {
        match self.rest.split_first() {
            None => Err(TokenError::Short { tag }),
            Some((found, _)) if *found != tag => Err(TokenError::Tag {
                expected: tag,
                found: *found,
            }),
            Some((_, rest)) => {
                self.rest = rest;
                self.contents(tag)
            }
        }
    }

    /// Returns the contents of the next element if it has this tag; otherwise leaves the element
    /// unread.
    pub fn optional(&mut self, tag: u8) -> Result<Option<&'a [u8]>, TokenError> {
        if self.peek() == Some(tag) {
            self.element(tag).map(Some)
        } else {
            Ok(None)
        }
    }

    fn contents(&mut self, tag: u8) -> Result<&'a [u8], TokenError> {
        let short = TokenError::Short { tag };
        let len = self.length().ok_or(short)?;
        let (contents, rest) = self.rest.split_at_checked(len).ok_or(short)?;
        self.rest = rest;
        Ok(contents)
    }

    /// Reads a length, in one byte or in up to four that follow it.
    fn length(&mut self) -> Option<usize> {
        let (first, rest) = self.rest.split_first()?;
        let more = usize::from(*first & 0x7f);
        if *first < 0x80 {
            self.rest = rest;
            return Some(more);
        }
        let (bytes, rest) = rest.split_at_checked(more)?;
        if !(1..=4).contains(&more) {
            return None;
        }
        self.rest = rest;
        Some(
            bytes
                .iter()
                .fold(0, |len, byte| len << 8 | usize::from(*byte)),
        )
    }
}

/// Appends an element around what `contents` appends.
pub fn element(out: &mut Vec<u8>, tag: u8, contents: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    let start = out.len();
    contents(out);
    let len = (out.len() - start) as u32;
    let bytes = len.to_be_bytes();
    let skip = (len.leading_zeros() / 8).min(3) as usize;
    let long = bytes.into_iter().skip(skip);
    if len < 0x80 {
        out.insert(start, len as u8);
    } else {
        let first = 0x80 | (4 - skip) as u8;
        out.splice(start..start, core::iter::once(first).chain(long));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// X.690, section 8.1.3: lengths of one byte up to 127, then a count of bytes.
    #[test]
    fn lengths_are_as_short_as_they_can_be() {
        for (len, head) in [
            (0, &[4, 0][..]),
            (127, &[4, 127]),
            (128, &[4, 0x81, 128]),
            (255, &[4, 0x81, 255]),
            (256, &[4, 0x82, 1, 0]),
            (65_536, &[4, 0x83, 1, 0, 0]),
        ] {
            let mut out = Vec::new();
            element(&mut out, 4, |out| out.resize(out.len() + len, 7));
            assert_eq!(&out[..out.len() - len], head);
            let mut reader = DerReader::new(&out);
            assert_eq!(reader.element(4).map(<[u8]>::len), Ok(len));
            assert_eq!(reader.peek(), None);
        }
    }

    #[test]
    fn a_length_that_is_not_there_is_missed() {
        let short = Err(TokenError::Short { tag: 4 });
        for bytes in [
            &[4][..],
            &[4, 1],
            &[4, 0x80, 0, 0],
            &[4, 0x81],
            &[4, 0x84, 0xff, 0xff, 0xff, 0xff],
            &[4, 0x85, 0, 0, 0, 0, 1, 7],
            &[4, 0xff, 7],
        ] {
            assert_eq!(DerReader::new(bytes).element(4), short, "{bytes:?}");
        }
    }
}
