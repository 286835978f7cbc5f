//! Lists whose members each contain the distance to the next one: messages of a compound, contexts
//! of a CREATE, entries of a directory.

use super::{DecodeError, Writer, length32};

/// Format of the links of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linked {
    /// Name of the field with the distance to the next member in the standard; 0 in the last.
    pub field: &'static str,
    /// Offset of the field in a member.
    pub at: usize,
    /// Smallest size of a member, in bytes.
    pub least: usize,
    /// Alignment of the distances, in bytes.
    pub align: usize,
}

impl Linked {
    /// Returns the members of the list that fills `bytes`.
    #[inline]
    pub const fn members(self, bytes: &[u8]) -> Chain<'_> {
        let rest = if bytes.is_empty() { None } else { Some(bytes) };
        Chain { linked: self, rest }
    }

    /// Pads the member that starts at `last`, and links it to the one that will be appended next.
    pub fn link(self, out: &mut Writer<'_>, last: usize) {
        out.pad_from(last, self.align);
        let distance = out.position().saturating_sub(last);
        out.patch_u32(last + self.at, length32(distance));
    }
}

/// The members of such a list: each with the padding after it, up to the next.
///
/// A distance must skip the fixed fields of its member and lead to an existing byte. So every step
/// advances by [`Linked::least`] bytes or more, and every list is finite. The list ends after an
/// error.
#[derive(Debug, Clone)]
pub struct Chain<'a> {
    linked: Linked,
    rest: Option<&'a [u8]>,
}

impl<'a> Iterator for Chain<'a> {
    type Item = Result<&'a [u8], DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.take()?;
        Some(self.split(rest))
    }
}

impl<'a> Chain<'a> {
    /// Returns the next member and all bytes after it.
    #[inline]
    pub const fn rest(&self) -> Option<&'a [u8]> {
        self.rest
    }

    #[inline]
    fn split(&mut self, rest: &'a [u8]) -> Result<&'a [u8], DecodeError> {
        let Linked {
            field,
            at,
            least,
            align,
        } = self.linked;
        let distance = rest
            .get(at..)
            .and_then(|tail| tail.first_chunk::<4>())
            .filter(|_| rest.len() >= least)
            .ok_or(DecodeError::Short {
                at: 0,
                need: least,
                have: rest.len(),
            })?;
        let distance = u32::from_le_bytes(*distance) as usize;
        if distance == 0 {
            return Ok(rest);
        }
        let (member, next) = rest
            .split_at_checked(distance)
            .filter(|(member, next)| {
                member.len() >= least && !next.is_empty() && distance.is_multiple_of(align)
            })
            .ok_or(DecodeError::Outside {
                field,
                offset: distance,
                len: least,
                have: rest.len(),
            })?;
        self.rest = Some(next);
        Ok(member)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const LINKED: Linked = Linked {
        field: "Next",
        at: 0,
        least: 8,
        align: 4,
    };

    fn members(bytes: &[u8]) -> Result<Vec<&[u8]>, DecodeError> {
        LINKED.members(bytes).collect()
    }

    #[test]
    fn members_are_linked_as_they_are_read() {
        let mut bytes = alloc::vec![0xee; 3];
        let mut out = Writer::new(&mut bytes);
        let mut last = None;
        for text in [&b"one"[..], b"three", b"seven"] {
            if let Some(last) = last {
                LINKED.link(&mut out, last);
            }
            last = Some(out.position());
            out.u32(0);
            out.bytes(text);
            out.bytes(b"!");
        }
        let expected = [
            &b"\x08\0\0\0one!"[..],
            b"\x0c\0\0\0three!\0\0",
            b"\0\0\0\0seven!",
        ];
        assert_eq!(members(&bytes[3..]), Ok(expected.to_vec()));
        assert_eq!(members(&[]), Ok(Vec::new()));
    }

    #[test]
    fn a_distance_leads_forward_to_an_aligned_byte_that_is_there() {
        let mut bytes = [0_u8; 16];
        for (distance, is_good) in [
            (0, true),
            (8, true),
            (4, false),
            (9, false),
            (12, false),
            (16, false),
            (20, false),
            (u32::MAX - 3, false),
        ] {
            bytes[..4].copy_from_slice(&distance.to_le_bytes());
            assert_eq!(members(&bytes).is_ok(), is_good, "{distance}");
        }
    }

    #[test]
    fn after_an_error_there_is_nothing_more() {
        let mut chain = LINKED.members(&[1; 100]);
        assert!(matches!(
            chain.next(),
            Some(Err(DecodeError::Outside { .. }))
        ));
        assert_eq!(chain.next(), None);
    }
}
