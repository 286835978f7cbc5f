//! Names and paths: UTF-16 on the wire (MS-DTYP, section 2.3.10).

use core::fmt;

use super::{DecodeError, Encode, Writer};

/// A name or a path: a peer's UTF-16, or the caller's string.
///
/// A peer's text may contain unpaired surrogates, which are invalid in UTF-16; file systems of
/// Windows allow them in names, so they are kept. There is no terminating 0.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    source: Source<'a>,
}

#[derive(Clone, Copy)]
enum Source<'a> {
    Str(&'a str),
    Units(&'a [[u8; 2]]),
}

impl<'a> From<&'a str> for Text<'a> {
    #[inline]
    fn from(text: &'a str) -> Self {
        let source = Source::Str(text);
        Self { source }
    }
}

impl<'a> Text<'a> {
    /// UTF-16, little-endian; with an odd number of bytes the last one is half a code unit.
    #[inline]
    pub const fn from_units(bytes: &'a [u8], field: &'static str) -> Result<Self, DecodeError> {
        let (units, rest) = bytes.as_chunks();
        if let [half] = rest {
            let value = *half as u32;
            return Err(DecodeError::Undefined { field, value });
        }
        let source = Source::Units(units);
        Ok(Self { source })
    }

    /// Returns the length on the wire, in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        match self.source {
            Source::Str(text) => 2 * text.encode_utf16().count(),
            Source::Units(units) => 2 * units.len(),
        }
    }

    /// Returns whether the text is empty.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        match self.source {
            Source::Str(text) => text.is_empty(),
            Source::Units(units) => units.is_empty(),
        }
    }

    /// Iterates over the UTF-16 code units.
    pub fn units(self) -> impl Iterator<Item = u16> + 'a {
        let (text, units): (&str, &[[u8; 2]]) = match self.source {
            Source::Str(text) => (text, &[]),
            Source::Units(units) => ("", units),
        };
        let units = units.iter().map(|unit| u16::from_le_bytes(*unit));
        text.encode_utf16().chain(units)
    }

    /// Iterates over the characters; invalid ones become U+FFFD.
    pub fn chars(self) -> impl Iterator<Item = char> + 'a {
        char::decode_utf16(self.units()).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}

impl Encode for Text<'_> {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        match self.source {
            Source::Str(text) => text.encode_utf16().for_each(|unit| out.u16(unit)),
            Source::Units(units) => out.bytes(units.as_flattened()),
        }
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.units().eq(other.units())
    }
}

impl Eq for Text<'_> {}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chars().try_for_each(|c| fmt::Write::write_char(f, c))
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        self.chars()
            .flat_map(char::escape_debug)
            .try_for_each(|c| fmt::Write::write_char(f, c))?;
        f.write_str("\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_string_and_its_units_are_the_same_text() {
        let text = Text::from("a\\ä\u{1f600}");
        let bytes = text.to_bytes();
        assert_eq!(bytes, [b'a', 0, b'\\', 0, 0xe4, 0, 0x3d, 0xd8, 0x00, 0xde],);
        assert_eq!(text.len(), 10);
        let read = Text::from_units(&bytes, "Name").unwrap();
        assert_eq!(read, text);
        assert_eq!(read.len(), 10);
        assert_eq!(read.to_string(), "a\\ä\u{1f600}");
    }

    #[test]
    fn half_a_pair_is_kept_and_shown_as_no_character() {
        let half = Text::from_units(&[0x3d, 0xd8], "Name").unwrap();
        assert_eq!(half.to_bytes(), [0x3d, 0xd8]);
        assert_eq!(half.to_string(), "\u{fffd}");
        assert_ne!(half, Text::from("\u{fffd}"));
    }

    #[test]
    fn half_a_unit_is_an_error() {
        let field = "Name";
        let error = DecodeError::Undefined { field, value: 9 };
        assert_eq!(Text::from_units(&[1, 0, 9], field), Err(error));
    }
}
